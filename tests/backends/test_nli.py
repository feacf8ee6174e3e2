import numpy as np
import pytest

from doxa.backends import load
from doxa.backends.nli import LABELS
from doxa.core.errors import BackendError, BackendUnavailableError, ClosedError, ConfigError

PAIRS = [
    ("I live in Oslo.", "You live in Oslo."),
    ("A man is sleeping.", "A man is running a marathon."),
    ("A woman plays the piano.", "A woman is a famous artist."),
]
ODD = [("", ""), ("x" * 20_000, "y"), ("\ud800 broken", "naïve 🙂"), ("   ", "\n\t")]


@pytest.fixture(scope="module")
def classifier(tmp_path_factory):
    """Makes a checkpoint of a very small classifier whose classes stand in the order of the cross-encoder models."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")

    def made(id2label):
        folder = tmp_path_factory.mktemp("classifier")
        words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "i", "you", "live", "in", "oslo", "rome", "."]
        (folder / "vocab.txt").write_text("\n".join(words))
        torch.manual_seed(4)
        settings = transformers.BertConfig(
            vocab_size=len(words),
            hidden_size=16,
            num_hidden_layers=1,
            num_attention_heads=2,
            intermediate_size=16,
            id2label=id2label,
            label2id={label: place for place, label in id2label.items()},
        )
        model = transformers.BertForSequenceClassification(settings)
        with torch.no_grad():
            model.classifier.bias.copy_(torch.arange(float(len(id2label))))
        model.save_pretrained(folder)
        vocabulary = {word: place for place, word in enumerate(words)}
        transformers.BertTokenizer(vocab=vocabulary, model_max_length=512).save_pretrained(folder)
        return folder

    return made


def test_the_double_gives_what_it_was_given_and_neutral_otherwise():
    nli = load("nli", "scripted", answers={PAIRS[0]: "entailment", PAIRS[1]: (0.1, 0.2, 0.7)})
    rows = nli.classify(PAIRS)
    assert rows.shape == (3, 3)
    assert rows.dtype == np.float32
    assert [LABELS[column] for column in rows.argmax(axis=1)] == ["entailment", "contradiction", "neutral"]
    assert rows.sum(axis=1) == pytest.approx(1.0)
    assert nli.asked == PAIRS
    assert nli.classify([]).shape == (0, 3)
    nli.close()
    with pytest.raises(ClosedError):
        nli.classify(PAIRS)


@pytest.mark.parametrize("answer", ["perhaps", (0.5, 0.5), (0.9, 0.9, -0.8), (0.2, 0.2, 0.2)], ids=str)
def test_the_double_refuses_what_is_no_answer(answer):
    with pytest.raises(ConfigError):
        load("nli", "scripted", answers={PAIRS[0]: answer})


def test_a_hub_model_is_read_by_the_names_of_its_classes(classifier):
    folder = classifier({0: "contradiction", 1: "entailment", 2: "neutral"})
    nli = load("nli", f"hf:{folder}", local_files_only=True)
    rows = nli.classify([*PAIRS, *ODD])
    assert rows.shape == (7, 3)
    assert rows.sum(axis=1) == pytest.approx(1.0)
    assert (rows.argmax(axis=1) == LABELS.index("neutral")).all()  # its third class has the largest bias
    assert (rows[:, 0] > rows[:, 2]).all()  # its second, entailment, more than its first
    assert nli.name == f"hf:{folder}"
    nli.close()
    with pytest.raises(ClosedError):
        nli.classify(PAIRS)


def test_upper_case_and_longer_names_of_classes_are_known(classifier):
    nli = load("nli", f"hf:{classifier({0: 'ENTAILMENT', 1: 'Neutral', 2: 'contradictory'})}", local_files_only=True)
    assert (nli.classify(PAIRS).argmax(axis=1) == LABELS.index("contradiction")).all()
    nli.close()


@pytest.mark.parametrize(
    "id2label",
    [{0: "LABEL_0", 1: "LABEL_1", 2: "LABEL_2"}, {0: "entailment", 1: "not_entailment"}],
    ids=["unnamed", "two"],
)
def test_a_hub_model_with_other_classes_is_refused(classifier, id2label):
    nli = load("nli", f"hf:{classifier(id2label)}", local_files_only=True)
    with pytest.raises(BackendError, match="Expected a model with the classes entailment, neutral, contradiction"):
        nli.classify(PAIRS)


def test_a_hub_model_that_is_not_there_is_named(tmp_path):
    pytest.importorskip("transformers")
    nli = load("nli", f"hf:{tmp_path / 'absent'}", local_files_only=True)
    with pytest.raises(BackendUnavailableError, match="absent"):
        nli.classify(PAIRS)


def test_a_hub_model_needs_a_name():
    with pytest.raises(ConfigError, match="hf:NAME"):
        load("nli", "hf")


def test_the_builtin_model_has_one_name():
    with pytest.raises(ConfigError, match="no built-in NLI model called 'other'"):
        load("nli", "builtin:other")


def test_a_folder_without_a_model_is_named(tmp_path):
    with pytest.raises(BackendError, match="is not complete"):
        load("nli", "builtin", folder=tmp_path)


@pytest.fixture(scope="module")
def builtin():
    """The model that ships."""
    nli = load("nli", "builtin", threads=2)
    yield nli
    nli.close()


def test_the_builtin_model_gives_probabilities_for_any_text(builtin):
    rows = builtin.classify([*PAIRS, *ODD])
    assert rows.shape == (7, 3)
    assert rows.dtype == np.float32
    assert np.isfinite(rows).all()
    assert rows.sum(axis=1) == pytest.approx(1.0, abs=1e-5)
    assert builtin.name == "builtin:minilm-l6-nli-int8"
    assert builtin.classify([]).shape == (0, 3)


def test_the_builtin_model_says_the_same_in_any_batch_and_order(builtin):
    together = builtin.classify(PAIRS)
    assert np.array_equal(together, np.concatenate([builtin.classify([pair]) for pair in PAIRS]))
    assert np.array_equal(together[::-1], builtin.classify(PAIRS[::-1]))


@pytest.mark.parametrize(
    ("premise", "hypothesis", "label"),
    [
        ("Two women are hugging in a park.", "Two women are embracing outdoors.", "entailment"),
        ("Two women are hugging in a park.", "Two women are asleep at home.", "contradiction"),
        ("Two women are hugging in a park.", "Two sisters say goodbye after lunch.", "neutral"),
        ("I live in Oslo with my two kids.", "You live in Oslo.", "entailment"),
        ("I live in Oslo with my two kids.", "You live in Rome.", "contradiction"),
        ("I live in Oslo with my two kids.", "You play the violin.", "neutral"),
        ("Thanks! I have three cats. They sleep all day.", "You have five cats.", "contradiction"),
        ("The meeting was moved from Monday to Thursday.", "The meeting is on Monday.", "contradiction"),
        ("I do not eat meat.", "You eat meat every day.", "contradiction"),
        ("Nora: I work as a nurse.", "Nora is a nurse.", "entailment"),
        ("My dog is called Rex.", "Your dog's name is Luna.", "contradiction"),
    ],
)
def test_the_builtin_model_judges_plain_pairs(builtin, premise, hypothesis, label):
    assert LABELS[int(builtin.classify([(premise, hypothesis)]).argmax())] == label


def test_a_closed_builtin_model_says_so():
    nli = load("nli", "builtin", threads=1)
    nli.close()
    with pytest.raises(ClosedError):
        nli.classify(PAIRS)
