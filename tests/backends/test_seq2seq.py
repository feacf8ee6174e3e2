import sys
from functools import cache

import pytest

from doxa.backends import load
from doxa.backends.seq2seq import Generated, huggingface
from doxa.core.errors import (
    BackendError,
    BackendUnavailableError,
    ClosedError,
    ConfigError,
    InputError,
    MissingDependencyError,
)

TEXTS = ["ann lost her job xWant [GEN]", "ann runs xNeed [GEN]", "", "job " * 900, "\ud800 naïve 🙂"]
WORDS = "<pad> <s> </s> <unk> [GEN] ann lost her job runs to save money rest xWant xNeed a the new look for".split()
SPECIAL = range(4)
OPENING = {"bart": [2, 1], "t5": [0]}
"""What is written before anything is chosen: the decoder's start, and for BART the `<s>` that it is made to write."""
CLOSE = 1e-4
"""What float32 leaves between two ways to compute a probability, generously."""


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    """Makes very small checkpoints with random weights, far from uniform: BART opens its texts with `<s>`, T5 not."""
    torch = pytest.importorskip("torch", reason="checkpoints are made with torch")
    transformers = pytest.importorskip("transformers", reason="checkpoints are made with transformers")
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    def made(kind):
        folder = tmp_path_factory.mktemp(kind)
        words = Tokenizer(models.WordLevel({word: place for place, word in enumerate(WORDS)}, unk_token="<unk>"))
        words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
        words.post_processor = processors.TemplateProcessing(
            single="<s> $A </s>", special_tokens=[("<s>", 1), ("</s>", 2)]
        )
        names = {"pad_token": "<pad>", "bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}
        transformers.PreTrainedTokenizerFast(tokenizer_object=words, **names).save_pretrained(folder)
        ids = {"vocab_size": len(WORDS), "pad_token_id": 0, "eos_token_id": 2}
        torch.manual_seed(7)
        if kind == "bart":
            sizes = dict.fromkeys(("encoder_layers", "decoder_layers"), 1)
            sizes |= dict.fromkeys(("encoder_attention_heads", "decoder_attention_heads"), 2)
            sizes |= dict.fromkeys(("encoder_ffn_dim", "decoder_ffn_dim", "d_model"), 16)
            starts = {"bos_token_id": 1, "decoder_start_token_id": 2}
            settings = transformers.BartConfig(init_std=0.8, max_position_embeddings=520, **ids, **sizes, **starts)
            model = transformers.BartForConditionalGeneration(settings)
            model.generation_config.update(forced_bos_token_id=1, forced_eos_token_id=None)
        else:
            sizes = {"d_model": 16, "d_kv": 8, "d_ff": 16, "num_layers": 1, "num_heads": 2}
            settings = transformers.T5Config(decoder_start_token_id=0, initializer_factor=3.0, **ids, **sizes)
            model = transformers.T5ForConditionalGeneration(settings)
        model.save_pretrained(folder)
        return folder

    return {kind: made(kind) for kind in ("bart", "t5")}


@pytest.fixture(params=["bart", "t5"])
def kind(request):
    return request.param


def opened(folder, **options):
    return load("seq2seq", f"hf:{folder}", local_files_only=True, **options)


@cache
def library(folder):
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    return AutoTokenizer.from_pretrained(folder), AutoModelForSeq2SeqLM.from_pretrained(folder).eval()


def next_odds(folder, text, written):
    """Return the probability of every token after some, by a whole pass of the model."""
    import torch

    tokenizer, model = library(folder)
    with torch.no_grad():
        read = tokenizer(text, return_tensors="pt")
        return model(**read, decoder_input_ids=torch.tensor([written])).logits[0, -1].softmax(0).tolist()


def searched(folder, text, *, n, max_tokens):
    """Return the sequences of the library's own beam search, which keeps no score of ours."""
    tokenizer, model = library(folder)
    read, beams = tokenizer(text, return_tensors="pt"), {"num_beams": 5, "num_return_sequences": n}
    return model.generate(**read, **beams, do_sample=False, max_new_tokens=max_tokens).tolist()


def spelled(tokens):
    return " ".join(WORDS[token] for token in tokens if token not in SPECIAL)


def test_the_score_is_the_mean_probability_of_the_words(checkpoint, kind):
    (beams,) = opened(checkpoint[kind]).generate([TEXTS[0]], n=4, max_tokens=8)
    sequences = searched(checkpoint[kind], TEXTS[0], n=4, max_tokens=8)
    assert [beam.text for beam in beams] == [spelled(sequence) for sequence in sequences]
    for beam, sequence in zip(beams, sequences, strict=True):
        places = [place for place in range(1, len(sequence)) if sequence[place] not in SPECIAL]
        odds = [next_odds(checkpoint[kind], TEXTS[0], sequence[:place])[sequence[place]] for place in places]
        assert beam.score == pytest.approx(sum(odds) / len(odds), abs=CLOSE)
    assert max(beam.score for beam in beams) - min(beam.score for beam in beams) > 10 * CLOSE


def test_one_beam_takes_the_likeliest_token_each_time(checkpoint, kind):
    ((one,),) = opened(checkpoint[kind], beams=1).generate([TEXTS[1]], n=1, max_tokens=6)
    written = list(OPENING[kind])
    while WORDS[written[-1]] != "</s>" and len(written) < 7:
        odds = next_odds(checkpoint[kind], TEXTS[1], written)
        written.append(odds.index(max(odds)))
    assert one.text == spelled(written) != ""


def test_any_text_gets_as_many_as_were_asked_for(checkpoint, kind):
    model = opened(checkpoint[kind])
    rows = model.generate(TEXTS, n=3, max_tokens=8)
    assert [len(row) for row in rows] == [3] * len(TEXTS)
    assert all(0 <= one.score <= 1 and "<" not in one.text for row in rows for one in row)
    assert model.generate(TEXTS, n=3, max_tokens=8) == rows
    assert model.generate([], n=3, max_tokens=8) == []
    assert model.name == f"hf:{checkpoint[kind]}"


def test_a_batch_writes_what_each_text_gets_alone(checkpoint, kind):
    together = opened(checkpoint[kind], batch_size=8).generate(TEXTS, n=2, max_tokens=8)
    alone = opened(checkpoint[kind], batch_size=1).generate(TEXTS, n=2, max_tokens=8)
    assert [[one.text for one in row] for row in together] == [[one.text for one in row] for row in alone]
    assert [one.score for row in together for one in row] == pytest.approx(
        [one.score for row in alone for one in row], abs=CLOSE
    )


def test_of_a_long_text_the_end_is_read(checkpoint, kind):
    model = opened(checkpoint[kind], input_tokens=5)
    long, short, other = model.generate(
        ["money rest " * 50 + "runs xNeed [GEN]", "runs xNeed [GEN]", "money rest money"], n=2, max_tokens=8
    )
    assert [one.text for one in long] == [one.text for one in short]
    assert [one.score for one in long] == pytest.approx([one.score for one in short], abs=CLOSE)
    assert [one.score for one in long] != pytest.approx([one.score for one in other], abs=10 * CLOSE)


def test_a_closed_hub_model_says_so(checkpoint):
    model = opened(checkpoint["t5"])
    model.close()
    model.close()
    with pytest.raises(ClosedError):
        model.generate(TEXTS, n=1, max_tokens=4)


@pytest.mark.parametrize("wanted", [{"n": 0, "max_tokens": 4}, {"n": 1, "max_tokens": 0}], ids=str)
@pytest.mark.parametrize("name", ["hf:anything", "scripted"])
def test_numbers_below_one_are_refused(name, wanted):
    with pytest.raises(InputError, match="1 or more"):
        load("seq2seq", name).generate(["a"], **wanted)


@pytest.mark.parametrize("options", [{"batch_size": 0}, {"beams": 0}, {"input_tokens": 0}], ids=str)
def test_a_hub_model_refuses_settings_below_one(options):
    with pytest.raises(ConfigError, match="1 or more"):
        load("seq2seq", "hf:anything", **options)


def test_a_hub_model_needs_a_name():
    with pytest.raises(ConfigError, match="hf:NAME"):
        load("seq2seq", "hf")


def test_a_hub_model_that_is_not_there_is_named(tmp_path):
    pytest.importorskip("transformers", reason="what is missing is the model, not its library")
    with pytest.raises(BackendUnavailableError, match="absent"):
        opened(tmp_path / "absent").generate(["a"], n=1, max_tokens=4)


def test_a_hub_model_that_is_not_there_is_looked_for_once(tmp_path, monkeypatch):
    tries = []

    def missing(name, settings):
        tries.append(name)
        raise BackendError("no such model")

    monkeypatch.setattr(huggingface, "_load", missing)
    model = load("seq2seq", f"hf:{tmp_path / 'none'}")
    for said in ("no such model", "start again"):
        with pytest.raises(BackendError, match=said):
            model.generate(["PersonX eats"], n=1, max_tokens=2)
    assert len(tries) == 1


def test_a_checkpoint_of_another_kind_is_refused(checkpoint, tmp_path):
    import transformers

    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    transformers.BertModel(transformers.BertConfig(vocab_size=len(WORDS), **sizes)).save_pretrained(tmp_path)
    transformers.AutoTokenizer.from_pretrained(checkpoint["t5"]).save_pretrained(tmp_path)
    with pytest.raises(BackendError, match="encoder-decoder"):
        opened(tmp_path).generate(["a"], n=1, max_tokens=4)


def test_a_text_that_the_model_has_no_room_for_is_an_error_of_the_backend(checkpoint):
    with pytest.raises(BackendError, match="failed on 2 texts"):
        opened(checkpoint["bart"], input_tokens=900).generate(["ann", "job " * 900], n=1, max_tokens=4)


def test_without_its_library_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(MissingDependencyError, match=r"pip install .*sentence-transformers"):
        load("seq2seq", "hf:anything").generate(["a"], n=1, max_tokens=4)


def test_the_double_writes_what_it_was_given_and_nothing_otherwise():
    rest, save = Generated(text="to rest", score=0.5), Generated(text="to save money", score=0.25)
    model = load("seq2seq", "scripted", answers={"a": [rest, save], "b": [], "c": BackendError("it is away")})
    assert model.generate(["b", "a", "else"], n=1, max_tokens=8) == [[], [rest], []]
    assert model.generate(["a"], n=9, max_tokens=8) == [[rest, save]]
    assert model.asked == [("b", "a", "else"), ("a",)]
    with pytest.raises(BackendError, match="it is away"):
        model.generate(["a", "c"], n=1, max_tokens=8)
    model.close()
    with pytest.raises(ClosedError):
        model.generate(["a"], n=1, max_tokens=8)


@pytest.mark.parametrize("score", [-0.1, 1.5, float("nan")])
def test_the_double_refuses_what_is_no_score(score):
    with pytest.raises(ConfigError, match="from 0 to 1"):
        load("seq2seq", "scripted", answers={"a": [Generated(text="to rest", score=score)]})
