"""What texts are about: words, vectors and the lexicon joined."""

from __future__ import annotations

import numpy as np
import pytest

from doxa.backends import load
from doxa.backends.encoder import Encoder
from doxa.backends.lexicon import Synset
from doxa.recall import concepts_of, learn_directions
from doxa.recall.concepts import concepts
from doxa.recall.concepts.concepts import FEATURES, MOST, evidence_of, inventory


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    return load("encoder", "builtin")


def named(text: str, encoder: Encoder) -> dict[str, float]:
    return dict(concepts_of(text, encoder.encode([text])[0], encoder=encoder.name))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("What should I watch this weekend?", {"film", "series"}),
        ("Where should we eat tonight?", {"food", "food/restaurants"}),
        ("How should I plan my morning?", {"work", "work/mornings"}),
        ("Where could I sleep when I am in Lyon?", {"travel"}),
        ("What should I read on the plane?", {"books"}),
    ],
    ids=["watch", "eat", "morning", "sleep", "read"],
)
def test_a_question_has_concepts_that_it_does_not_name(text: str, wanted: set[str], encoder: Encoder) -> None:
    assert wanted <= set(named(text, encoder))


def test_a_statement_is_about_all_that_it_names(encoder: Encoder) -> None:
    found = named("I absolutely loved Titanic, the romance and soundtrack were perfect", encoder)
    assert {"film/romance", "music/soundtrack"} <= set(found)


@pytest.mark.parametrize("text", ["", "Thanks, that helps a lot!", "My name is Daniel.", "🙂"])
def test_small_talk_is_about_nothing(text: str, encoder: Encoder) -> None:
    assert not named(text, encoder)


def test_a_kind_comes_with_its_domain_of_no_less_weight(encoder: Encoder) -> None:
    for text in ("I always order sushi", "jazz records", "We camped by the lake and hiked up the mountain"):
        found = named(text, encoder)
        assert found and len(found) <= MOST
        for name, weight in found.items():
            parent = inventory()[name].parent
            assert not parent or found[parent] >= weight


def test_without_a_vector_words_alone_decide() -> None:
    nothing = np.zeros(384, dtype=np.float32)
    assert "food/cuisine/japanese" in dict(concepts_of("I always order sushi", None))
    assert concepts_of("I always order sushi", nothing) == concepts_of("I always order sushi", None)


def test_another_encoder_learns_the_directions_at_its_first_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(concepts, "_LEARNED", {})
    encoder = load("encoder", "hash")
    text = "I loved that comedy"
    vector = encoder.encode([text])[0]
    meaning = FEATURES.index("meaning")
    learn_directions(encoder)
    learn_directions(encoder)
    known = inventory()
    learned = evidence_of(text, vector, encoder=encoder.name)[meaning]
    assert not evidence_of(text, vector, encoder="somebody:else")[meaning].any()
    assert learned[known.place["film/comedy"]] > np.median(learned)


class Words:
    """A lexicon of one hypernym."""

    name = "scripted"

    def senses(self, word: str, pos: str) -> tuple[Synset, ...]:
        found = {"halibut": ("halibut", ("seafood",)), "seafood": ("seafood", ())}.get(word)
        if found is None or pos != "n":
            return ()
        return (Synset(name=word, pos="n", words=(found[0],), definition="", broader=found[1], supersense="noun.food"),)

    def close(self) -> None:
        """Nothing to close."""


def test_what_the_lexicon_puts_under_a_concept_speaks_for_it() -> None:
    column = FEATURES.index("lexicon")
    known = inventory()
    found = evidence_of("halibut again", None, lexicon=Words())[column]
    assert {known.concepts[row].name for row in np.flatnonzero(found)} == {"food/seafood", "food"}


def test_what_the_ontology_says_of_its_objects_speaks_for_a_concept() -> None:
    column = FEATURES.index("classes")
    found = evidence_of("I follow it", None, classes=["Diet"])[column]
    assert [inventory().concepts[row].name for row in np.flatnonzero(found)] == ["food"]


def test_every_concept_can_be_told_by_words_or_sentences() -> None:
    for concept in inventory().concepts:
        assert concept.label and (concept.cues or concept.says), concept.name
        assert concept.name.rpartition("/")[0] == concept.parent
