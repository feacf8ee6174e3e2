"""An inverted index that grows turn by turn."""

from collections import Counter
from io import BytesIO

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from doxa.memory import MAX_TERM
from doxa.memory.lexical import LATEST_POSTINGS, MOST_POSTINGS, InvertedIndex
from doxa.memory.paged import Pack, PackWriter

STEMS = st.sampled_from("abcdefgh")


def again(index: InvertedIndex) -> InvertedIndex:
    """Return an index as it is once it was written and read."""
    file, loaded = BytesIO(), InvertedIndex()
    writer = PackWriter(file)
    index.save(writer, "words")
    writer.close({})
    loaded.load(Pack(file.getvalue()), "words")
    return loaded


def of(documents: list[str]) -> InvertedIndex:
    index = InvertedIndex()
    for document in documents:
        index.add(document.split())
    return index


def test_a_rare_word_counts_more_and_a_long_document_less():
    index = of(["tea", "tea tea tea", "tea and much else besides", "coffee"])
    scores = index.held(["tea", "coffee", "milk"], np.array([0, 1, 2, 3, -1]))
    assert scores[0, 1] > scores[0, 0] > scores[0, 2] > 0 and scores[0, 3] == 0
    assert scores[1, 3] > scores[0, 1] and scores[1, 3] < MAX_TERM * index.idf("coffee")
    assert not scores[2].any() and not scores[:, 4].any()


def test_all_stems_of_a_document_are_held_by_it():
    index = again(of(["a b", "b", "a b c", "c a"]))
    index.add(["b", "a"])
    assert index.holding(["a", "b"]) == [0, 2, 4]
    assert index.holding(["a", "z"]) == index.holding([]) == []


@given(st.lists(st.tuples(st.booleans(), st.lists(STEMS, max_size=6)), max_size=25), st.lists(STEMS, unique=True))
def test_an_index_is_the_same_once_it_was_saved(steps, asked):
    """Whenever it is saved and loaded, it answers as if it had never been."""
    plain, held = InvertedIndex(), InvertedIndex()
    for saved, words in steps:
        held = again(held) if saved else held
        assert plain.add(words) == held.add(words)
    places = np.arange(-1, len(plain))
    assert np.array_equal(plain.held(asked, places), held.held(asked, places))
    assert plain.holding(asked) == held.holding(asked)
    terms = [(stem, 1.0) for stem in asked]
    assert plain.best(terms, 3).tolist() == held.best(terms, 3).tolist()
    documents = [Counter(words) for _, words in steps]
    assert plain.holding(asked) == [
        at for at, words in enumerate(documents) if asked and all(words[stem] for stem in asked)
    ]


@pytest.fixture(scope="module")
def long() -> InvertedIndex:
    """A history in which two words are common, and few turns hold both."""
    index = InvertedIndex()
    for number in range(200_000):
        index.add({0: ["dog", "walk"], 1: ["beach", "sand"]}.get(number % 8, ["tea", "cup"]))
        if number % 10_000 == 0:
            index.add(["dog", "beach"])
    return again(index)


def test_of_common_words_those_turns_are_found_that_hold_both(long):
    """However early, though not all postings are read."""
    read = long.read
    best = long.best([("dog", 1.0), ("beach", 1.0)], 20)
    assert long.read - read <= MOST_POSTINGS + LATEST_POSTINGS
    both = long.holding(["dog", "beach"])
    assert len(both) == 20 and set(both) <= set(best.tolist())


def test_a_filter_finds_the_latest_that_it_leaves(long):
    """Turns that are not searched take no room, even where they are nearly all."""
    searched = np.zeros(len(long), dtype=np.bool_)
    searched[:300] = True
    best = long.best([("dog", 1.0)], 10, searched=searched)
    assert len(best) and best.max() < 300
