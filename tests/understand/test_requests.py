"""What is asked of the memory itself."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from doxa.backends import load
from doxa.understand.requests import REQUESTS, kept_words, request_of

EXAMPLES = Path(__file__).parents[2] / "training/requests/examples.tsv"


@pytest.fixture(scope="module")
def encoder():
    """The built-in one, which the weights were taught with."""
    model = load("encoder", "builtin")
    yield model
    model.close()


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("so what have you got on me then", "overview"),
        ("could you tell me everything you have stored about me", "overview"),
        ("anything in the diary for friday?", "agenda"),
        ("delete what you have on my landlord", "erase"),
        ("i want all my data gone", "erase_all"),
        ("could you keep in mind that I cannot stand fennel", "remember"),
        ("I moved to Bonn in May.", "other"),
        ("What is my sister's phone number?", "other"),
        ("Mia forgot her keys again", "other"),
    ],
)
def test_a_message_that_was_in_no_example_is_told(encoder, text: str, kind: str) -> None:
    """By its meaning: none of these is among the examples."""
    assert request_of(text, encoder.encode([text])[0]) == kind


def test_what_tells_something_is_seldom_taken_for_a_request(encoder) -> None:
    """Of the examples that ask nothing of the memory at most one in fifty is, and every kind is found."""
    with EXAMPLES.open(encoding="utf-8") as file:
        rows = [(kind, text) for kind, text in csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)]
    vectors = encoder.encode([text for _, text in rows])
    found = [request_of(text, vector) for (_, text), vector in zip(rows, vectors, strict=True)]
    other = [told for (kind, _), told in zip(rows, found, strict=True) if kind == "other"]
    assert sum(told != "other" for told in other) <= len(other) / 50
    assert set(found) == set(REQUESTS)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Can you remember that I am allergic to walnuts?", "I am allergic to walnuts."),
        ("Could you keep in mind that my mum hates lilies?", "My mum hates lilies."),
        ("bins go out tuesday", "bins go out tuesday"),
    ],
)
def test_what_is_to_be_remembered_is_the_clause_under_the_request(parser, text: str, kept: str) -> None:
    """Without a clause it is the whole."""
    assert kept_words(text, parser) == kept
