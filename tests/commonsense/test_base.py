"""A base of knowledge: what is in it, how its build goes on, and how it takes the place of another."""

import importlib
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from doxa.backends import load
from doxa.commonsense.base import KnowledgeBase, build, read_card
from doxa.commonsense.base import parts as parts_module
from doxa.commonsense.base.files import CARD, FILES, ROWS
from doxa.commonsense.base.groups import grouped
from doxa.commonsense.base.packing import packed, unit
from doxa.commonsense.base.parts import FOLDER
from doxa.commonsense.base.texts import Texts, write_texts
from doxa.core.errors import BackendError, InputError, StoreLockedError, StoreReadOnlyError

from .doubles import CountingEncoder, CountingNli, CountingParser, rows_of

build_module = importlib.import_module("doxa.commonsense.base.build")  # the package has a function of that name
SENTENCES = [
    f"The {one} eats the {other}." for one in ("tiger", "horse", "snake", "mouse") for other in ("bread", "apple")
]
TUPLES = ["PersonX eats lunch\txEffect\tgets full", "PersonX eats lunch\txWant\tto rest", "PersonX sleeps\txNeed\tbed"]


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(parts_module, "BLOCK", 3)


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "sentences.txt"
    path.write_text("\n".join(SENTENCES), encoding="utf-8")
    return path


@pytest.fixture
def tuples(tmp_path):
    path = tmp_path / "tuples.tsv"
    path.write_text("\n".join(TUPLES), encoding="utf-8")
    return path


def made(source, folder, **options):
    return build([source], folder, **{"encoder": CountingEncoder(), "parser": CountingParser(), **options})


def content(folder):
    """Return every file of a folder with its bytes."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


# -- what is in it


def test_a_base_links_sentences_by_their_concepts(source, tuples, tmp_path):
    card = made(source, tmp_path / "base", inferences=[tuples], groups=2)
    base = KnowledgeBase(tmp_path / "base")
    assert base.card == card == read_card(tmp_path / "base")
    assert list(base.sentences) == SENTENCES and len(base) == 8
    assert list(base.concepts) == ["apple", "bread", "eats", "horse", "mouse", "snake", "tiger"] == list(base.words)
    assert [base.concepts[number] for number in base.sentence_concepts[0]] == ["tiger", "eats", "bread"]
    assert (card.groups, card.events, card.inferences) == (2, 2, 3)
    assert card.sources == ("sentences.txt", "tuples.tsv") and (card.encoder, card.dims) == ("hash:32", 32)
    assert list(base.events) == ["PersonX eats lunch", "PersonX sleeps"]
    assert [base.inference(number) for number in range(3)] == [
        ("xEffect", "gets full"),
        ("xWant", "to rest"),
        ("xNeed", "bed"),
    ]
    assert rows_of(base.event_inferences) == [[0, 1], [2]]


def test_vectors_are_those_of_the_encoder(source, tuples, tmp_path):
    made(source, tmp_path / "base", inferences=[tuples])
    base, encoder = KnowledgeBase(tmp_path / "base"), CountingEncoder()
    close = {"rtol": 0, "atol": 4e-3}  # a byte for each number
    np.testing.assert_allclose(base.vectors(np.arange(8)), encoder.encode(SENTENCES), **close)
    np.testing.assert_allclose(base.concept_vectors(np.arange(7)), encoder.encode(list(base.concepts)), **close)
    np.testing.assert_allclose(base.word_vectors(np.arange(7)), encoder.encode(list(base.words)), **close)
    follows = ["as a result, the person gets full", "as a result, the person wants to rest"]
    np.testing.assert_allclose(base.inference_vectors(np.arange(2)), encoder.encode(follows), **close)
    np.testing.assert_allclose(base.event_vectors(np.array([1]))[0], encoder.encode(["the person sleeps"])[0], **close)


def test_a_group_has_the_sentences_of_its_concepts_once(source, tmp_path):
    made(source, tmp_path / "base", groups=3)
    base = KnowledgeBase(tmp_path / "base")
    for group, sentences in enumerate(rows_of(base.group_sentences)):
        concepts = set(np.flatnonzero(base.concept_group == group).tolist())
        assert sentences == [n for n in range(8) if concepts & set(base.sentence_concepts[n].tolist())]


def test_a_concept_may_hold_any_character(tmp_path):
    path = tmp_path / "odd.jsonl"
    odd = [
        "pipe|line tab\there",
        'quote"mark back\\slash',
        "caf\u00e9s \u4e16\u754c\u4e16\u754c \U0001f600\U0001f600\U0001f600\U0001f600",
        "\ud800 lone surrogate",
        "new\nline",
    ]
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in odd), encoding="utf-8")
    made(path, tmp_path / "base")
    base = KnowledgeBase(tmp_path / "base")
    assert list(base.sentences)[:2] == ["pipe|line tab here", 'quote"mark back\\slash']
    assert base.sentences[3] == "? lone surrogate" and base.sentences[4] == "new line"
    for number in range(len(base)):
        words = [base.words[word] for word in base.sentence_words[number]]
        assert all(word in base.sentences[number].lower() for word in words) and words


def test_a_sentence_that_comes_twice_is_kept_once(tmp_path):
    path = tmp_path / "twice.txt"
    path.write_text("Dogs bark.\n\n Dogs  bark. \nCats meow.\n", encoding="utf-8")
    assert made(path, tmp_path / "base").sentences == 2


def test_the_built_in_models_find_noun_phrases(tmp_path):
    path = tmp_path / "one.txt"
    path.write_text("The old fire truck needs water.\nHow are you?\n", encoding="utf-8")
    encoder, parser = CountingEncoder(), load("parser", "builtin")
    try:
        build([path], tmp_path / "base", encoder=encoder, parser=parser)
    finally:
        parser.close()
    base = KnowledgeBase(tmp_path / "base")
    assert {base.concepts[one] for one in base.sentence_concepts[0]} == {"old fire truck", "water"}
    assert len(base.sentence_concepts[1]) == 0 and len(base.sentence_words[1]) > 0


def test_it_says_what_nothing_at_all_entails(source, tmp_path):
    nli = CountingNli()
    card = made(source, tmp_path / "base", nli=nli)
    assert card.nli == "double" and nli.pairs == [("", text) for text in SENTENCES]
    base = KnowledgeBase(tmp_path / "base")
    np.testing.assert_allclose(base.truisms(np.arange(8)), [len(text) / 64 for text in SENTENCES], atol=1e-3)


def test_without_an_nli_model_nothing_is_a_truism(source, tmp_path):
    assert made(source, tmp_path / "base").nli == ""
    assert not KnowledgeBase(tmp_path / "base").truisms(np.arange(8)).any()


# -- the same again


def test_the_same_input_and_seed_give_the_same_bytes(source, tuples, tmp_path):
    for name in "ab":
        made(source, tmp_path / name, inferences=[tuples], groups=3, seed=7)
    assert content(tmp_path / "a") == content(tmp_path / "b")
    assert set(content(tmp_path / "a")) == {CARD, *FILES}


def test_a_finished_base_is_left_as_it_is(source, tmp_path):
    folder, told = tmp_path / "base", []
    card = made(source, folder)
    before = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    encoder, parser = CountingEncoder(), CountingParser()
    again = made(source, folder, encoder=encoder, parser=parser, tell=lambda *step: told.append(step))
    assert again == card and not encoder.texts and not parser.sentences and not told
    assert {path.name: path.stat().st_mtime_ns for path in folder.iterdir()} == before
    made(source, folder, encoder=encoder, parser=parser, force=True)
    assert len(encoder.texts) > 8 and parser.sentences == 8


def test_a_finished_base_that_lost_a_file_is_built_again(source, tmp_path):
    made(source, tmp_path / "base")
    (tmp_path / "base" / "words.txt").unlink()
    made(source, tmp_path / "base")
    assert len(KnowledgeBase(tmp_path / "base").words) == 7


@pytest.mark.parametrize(
    "change", [{"groups": 4}, {"seed": 5}, {"encoder": CountingEncoder(dims=16)}, {"nli": CountingNli()}]
)
def test_other_settings_make_another_base(source, tmp_path, change):
    first = made(source, tmp_path / "base", groups=2)
    assert made(source, tmp_path / "base", **{"groups": 2, **change}).digest != first.digest


def test_inferences_in_other_words_make_another_base(source, tuples, tmp_path, monkeypatch):
    """Their vectors are made of their statements."""
    first = made(source, tmp_path / "base", inferences=[tuples])
    monkeypatch.setattr(build_module, "statement", lambda event, relation, tail: f"{event}, so {tail}")
    assert made(source, tmp_path / "base", inferences=[tuples]).digest != first.digest
    told, encoder = KnowledgeBase(tmp_path / "base").inference_vectors(np.array([0]))[0], CountingEncoder()
    np.testing.assert_allclose(told, encoder.encode(["PersonX eats lunch, so gets full"])[0], rtol=0, atol=1e-3)


def test_progress_ends_where_the_whole_is(source, tuples, tmp_path):
    told = {}
    made(
        source,
        tmp_path / "base",
        inferences=[tuples],
        tell=lambda step, done, whole: told.update({step: (done, whole)}),
    )
    assert all(done == whole for done, whole in told.values())
    assert told["vectors of sentences"] == told["concepts"] == (8, 8) and "groups" in told


# -- interrupted builds


@pytest.mark.parametrize("calls", range(12))
def test_what_was_encoded_is_not_encoded_again(source, tuples, tmp_path, calls):
    """3 + 3 + 3 blocks of sentences, words and concepts, and one each of events and inferences make 11 calls."""
    whole = CountingEncoder()
    made(source, tmp_path / "whole", encoder=whole, inferences=[tuples])
    cut, rest = CountingEncoder(calls=calls), CountingEncoder()
    if calls < 11:
        with pytest.raises(BackendError):
            made(source, tmp_path / "base", encoder=cut, inferences=[tuples])
        with pytest.raises(InputError):
            KnowledgeBase(tmp_path / "base")
    else:
        made(source, tmp_path / "base", encoder=cut, inferences=[tuples])
    made(source, tmp_path / "base", encoder=rest, inferences=[tuples])
    assert cut.texts + rest.texts == whole.texts
    assert content(tmp_path / "base") == content(tmp_path / "whole")


@pytest.mark.parametrize("calls", range(3))
def test_what_was_parsed_is_not_parsed_again(source, tmp_path, calls):
    cut, rest = CountingParser(calls=calls), CountingParser()
    with pytest.raises(BackendError):
        made(source, tmp_path / "base", parser=cut)
    made(source, tmp_path / "base", parser=rest)
    assert (cut.sentences, rest.sentences) == (3 * calls, 8 - 3 * calls)
    made(source, tmp_path / "whole")
    assert content(tmp_path / "base") == content(tmp_path / "whole")


@pytest.mark.parametrize("calls", range(3))
def test_what_was_judged_is_not_judged_again(source, tmp_path, calls):
    cut, rest = CountingNli(calls=calls), CountingNli()
    with pytest.raises(BackendError):
        made(source, tmp_path / "base", nli=cut)
    made(source, tmp_path / "base", nli=rest)
    assert cut.pairs + rest.pairs == [("", text) for text in SENTENCES]
    made(source, tmp_path / "whole", nli=CountingNli())
    assert content(tmp_path / "base") == content(tmp_path / "whole")


@pytest.mark.parametrize("name", ["sentence_vectors.npy", "phrases.jsonl", "word_vectors.npy"])
@pytest.mark.parametrize("bytes_lost", [1, 40, 150, 100_000])
def test_a_block_that_was_cut_in_half_is_made_again(source, tmp_path, name, bytes_lost):
    """A process that is killed may leave half a write."""
    with pytest.raises(BackendError):
        made(source, tmp_path / "base", encoder=CountingEncoder(calls=8))
    part = tmp_path / "base" / FOLDER / name
    held = part.read_bytes()
    part.write_bytes(held[: max(0, len(held) - bytes_lost)])
    made(source, tmp_path / "base")
    made(source, tmp_path / "whole")
    assert content(tmp_path / "base") == content(tmp_path / "whole")


@pytest.mark.parametrize("moves", [0, 1, 13, len(FILES)])
def test_a_kill_while_files_are_put_in_place_leaves_no_card_over_mixed_files(source, tmp_path, monkeypatch, moves):
    folder, other = tmp_path / "base", tmp_path / "other.txt"
    other.write_text("Birds sing songs.\nFish swim.\n", encoding="utf-8")
    made(other, folder)
    left, replace = [moves], Path.replace

    def cut(self, target):
        if self.parent.name == FOLDER and Path(target).parent == folder:
            if not left[0]:
                raise KeyboardInterrupt
            left[0] -= 1
        return replace(self, target)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", cut)
        with pytest.raises(KeyboardInterrupt):
            made(source, folder)
    with pytest.raises(InputError, match="no base of knowledge"):
        KnowledgeBase(folder)
    encoder = CountingEncoder()
    made(source, folder, encoder=encoder)
    assert not encoder.texts and list(KnowledgeBase(folder).sentences) == SENTENCES


def test_the_old_base_can_be_used_until_the_new_one_is_there(source, tmp_path):
    folder, other = tmp_path / "base", tmp_path / "other.txt"
    other.write_text("Birds sing songs.\nFish swim.\n", encoding="utf-8")
    made(other, folder)
    opened = KnowledgeBase(folder)
    with pytest.raises(BackendError):
        made(source, folder, encoder=CountingEncoder(calls=7))
    assert list(KnowledgeBase(folder).sentences) == ["Birds sing songs.", "Fish swim."]
    made(source, folder)
    assert list(KnowledgeBase(folder).sentences) == SENTENCES
    assert list(opened.sentences) == ["Birds sing songs.", "Fish swim."] and opened.vectors(np.array([1])).any()


def test_other_groups_cost_no_encoding_where_the_build_was_cut_off(source, tuples, tmp_path):
    with pytest.raises(BackendError):
        made(source, tmp_path / "base", encoder=CountingEncoder(calls=10), inferences=[tuples], groups=2)
    rest = CountingEncoder()
    card = made(source, tmp_path / "base", encoder=rest, inferences=[tuples], groups=3)
    assert card.groups == 3 and len(rest.texts) == 3  # the inferences
    made(source, tmp_path / "whole", inferences=[tuples], groups=3)
    assert content(tmp_path / "base") == content(tmp_path / "whole")


def test_parts_of_another_content_are_dropped(source, tmp_path):
    other = tmp_path / "other.txt"
    other.write_text("Birds sing songs.\nFish swim.\n", encoding="utf-8")
    with pytest.raises(BackendError):
        made(other, tmp_path / "base", encoder=CountingEncoder(calls=1))
    made(source, tmp_path / "base")
    made(source, tmp_path / "whole")
    assert content(tmp_path / "base") == content(tmp_path / "whole")


# -- folders and files that are not as they should be


def test_two_builds_do_not_meet_in_a_folder(source, tmp_path):
    def begin_again(step, done, whole):
        with pytest.raises(StoreLockedError, match="Another build is at work"):
            made(source, tmp_path / "base")
        told.append(step)

    told = []
    made(source, tmp_path / "base", tell=begin_again)
    assert told and len(KnowledgeBase(tmp_path / "base")) == 8


def test_a_folder_with_other_things_is_left_alone(source, tmp_path):
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "words.txt").write_text("mine")
    with pytest.raises(InputError, match=r"holds 'words.txt'"):
        made(source, folder)
    assert content(folder) == {"words.txt": b"mine"}


def test_a_base_that_lost_its_card_is_built_again(source, tmp_path):
    made(source, tmp_path / "base")
    (tmp_path / "base" / CARD).unlink()
    assert made(source, tmp_path / "base") == KnowledgeBase(tmp_path / "base").card


def test_a_finished_base_that_is_damaged_is_built_again(source, tmp_path):
    made(source, tmp_path / "base")
    (tmp_path / "base" / "words.npy").write_bytes(b"")
    made(source, tmp_path / "base")
    assert len(KnowledgeBase(tmp_path / "base").words) == 7


def test_sentences_without_concepts_make_no_base(tmp_path):
    source = tmp_path / "none.txt"
    source.write_text("!\n?\n", encoding="utf-8")
    with pytest.raises(InputError, match="no concept .* in any of 2, such as '!'"):
        made(source, tmp_path / "base")


def test_a_file_where_the_folder_should_be_is_an_error(source):
    with pytest.raises(InputError, match="is a file"):
        made(source, source)
    with pytest.raises(InputError, match="is a file"):
        made(source, source / "base")


def test_a_full_or_locked_disk_is_told_and_what_was_done_is_kept(source, tmp_path, monkeypatch):
    def refused(file):
        raise PermissionError(13, "Permission denied", "x.npy")

    with monkeypatch.context() as patched:
        patched.setattr(parts_module, "_to_disk", refused)
        with pytest.raises(StoreReadOnlyError, match=r"x\.npy cannot be written.*again to go on"):
            made(source, tmp_path / "base")
    assert made(source, tmp_path / "base").sentences == 8


def test_groups_are_counted_from_one(source, tmp_path):
    for groups in (0, 2.5):
        with pytest.raises(InputError, match="groups of concepts, 1 or more"):
            made(source, tmp_path / "base", groups=groups)
    with pytest.raises(InputError, match="a seed of 0 or more"):
        made(source, tmp_path / "base", seed=-1)


def test_no_files_make_no_base(tmp_path):
    with pytest.raises(InputError, match="files of sentences"):
        build([], tmp_path / "base", encoder=CountingEncoder(), parser=CountingParser())
    assert not (tmp_path / "base").exists()


@pytest.mark.parametrize("name", [name for name in FILES if name != "inferences.txt" and name != "events.txt"])
@pytest.mark.parametrize("harm", ["gone", "empty", "cut"])
def test_a_broken_base_is_told_when_it_is_opened(source, tuples, tmp_path, name, harm):
    made(source, tmp_path / "base", inferences=[tuples])
    path = tmp_path / "base" / name
    held = path.read_bytes()
    path.unlink() if harm == "gone" else path.write_bytes(b"" if harm == "empty" else held[:-1])
    with pytest.raises(InputError, match="broken.*doxa kb build"):
        KnowledgeBase(tmp_path / "base")


@pytest.mark.parametrize(
    "name", [*(f"{name}{end}" for name in ROWS for end in ("_ids.npy", "_starts.npy")), "concept_group.npy"]
)
def test_a_base_whose_numbers_are_damaged_is_told_when_it_is_opened(source, tuples, tmp_path, name):
    made(source, tmp_path / "base", inferences=[tuples])
    path = tmp_path / "base" / name
    held = path.read_bytes()
    path.write_bytes(held[:-4] + b"\xff\xff\xff\x7f")
    with pytest.raises(InputError, match="broken.*doxa kb build"):
        KnowledgeBase(tmp_path / "base")


def test_texts_that_are_damaged_raise_no_error_of_python(source, tuples, tmp_path):
    made(source, tmp_path / "base", inferences=[tuples])
    for name in ("sentences.txt", "inferences.txt"):
        path = tmp_path / "base" / name
        path.write_bytes(b"\xff" * path.stat().st_size)
    base = KnowledgeBase(tmp_path / "base")
    assert set(base.sentences[0]) == {"\ufffd"}
    with pytest.raises(InputError, match=r"inferences\.txt is broken"):
        base.inference(0)


def test_files_of_two_bases_do_not_go_together(source, tmp_path):
    other = tmp_path / "other.txt"
    other.write_text("Birds sing songs.\nFish swim.\n", encoding="utf-8")
    made(source, tmp_path / "base")
    made(other, tmp_path / "other")
    (tmp_path / "other" / "word_vectors.npy").replace(tmp_path / "base" / "word_vectors.npy")
    with pytest.raises(InputError, match="expected 7 words"):
        KnowledgeBase(tmp_path / "base")


@pytest.mark.parametrize(
    ("card", "said"),
    [
        ("{", "cannot be read"),
        ('{"format": 99}', "expected format 2, it is 99"),
        ('{"format": 2}', "cannot be read"),
        ('{"format": 1}', "Build it again"),
    ],
)
def test_a_card_that_cannot_be_read_is_told(tmp_path, card, said):
    (tmp_path / CARD).write_text(card)
    with pytest.raises(InputError, match=said):
        read_card(tmp_path)


# -- its parts


def test_texts_are_found_by_place_and_by_value(tmp_path):
    texts = sorted(["", "a", "caf\u00e9", "zebra", "\U0001f600"], key=str.encode)
    write_texts(tmp_path / "texts", texts)
    held = Texts(tmp_path / "texts")
    assert list(held) == texts and held[-1] == texts[-1] and held[np.int64(1)] == texts[1]
    assert [held.find(text) for text in texts] == list(range(5)) and held.find("b") == -1 == held.find("\U0001f601")
    for place in (5, -6):
        with pytest.raises(IndexError):
            held[place]
    write_texts(tmp_path / "none", [])
    assert list(Texts(tmp_path / "none")) == []


def test_groups_are_of_what_is_near():
    """Two bundles of directions, each around its own."""
    draw = np.random.default_rng(3)
    both = (np.eye(8)[[0] * 30 + [5] * 20] + 0.1 * draw.standard_normal((50, 8))).astype(np.float32)
    both /= np.linalg.norm(both, axis=1, keepdims=True)
    centres, group = grouped(both, groups=2, seed=1)
    assert len(set(group[:30])) == len(set(group[30:])) == 1 and group[0] != group[30]
    np.testing.assert_allclose(np.linalg.norm(centres, axis=1), 1, atol=1e-5)
    again = grouped(both, groups=2, seed=1)
    np.testing.assert_array_equal(again[1], group)
    assert len(grouped(both, groups=500)[0]) == 50 and len(grouped(both[:0])[0]) == 0


@given(arrays(np.float32, st.tuples(st.integers(0, 5), st.integers(1, 40)), elements=st.floats(-1, 1, width=32)))
def test_a_vector_in_bytes_points_where_it_pointed(vectors):
    found = unit(packed(vectors))
    lengths = np.linalg.norm(vectors, axis=1)
    some = lengths > 1e-6
    assert found.shape == vectors.shape and not found[lengths == 0].any()
    assert ((found[some] * vectors[some]).sum(axis=1) / lengths[some] > 0.999).all()
