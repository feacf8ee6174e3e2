"""The tokeniser: words are slices of the text that together hold all of it, cut in the manner of UD English EWT."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from doxa.backends.parser import split
from doxa.backends.parser.features import SIZES, features
from doxa.backends.parser.lemmas import apply, lemma, script
from doxa.backends.parser.words import words

TYPED = st.text(st.sampled_from("aAbs I.,!?'’\"-/:;()@#$%&0159\n\t…—é\u0301\u200d👩🚀🏽<3"), max_size=60)
TEXTS = st.one_of(st.text(max_size=200), TYPED)


def forms(text: str) -> list[list[str]]:
    """The words of each sentence."""
    return [[word.form for word in sentence] for sentence in split(text)]


class TestLaws:
    """What holds for every text."""

    @given(TEXTS)
    @example("\ud800 lone \udfff")
    @example("cafe\u0301s 👩\u200d🚀")
    def test_words_are_slices_in_order_that_hold_every_visible_character(self, text: str) -> None:
        """Offsets reproduce the form, nothing overlaps, and only white space is left out."""
        at = 0
        for word in (word for sentence in split(text) for word in sentence):
            assert word.form == text[word.start : word.end] != ""
            assert word.start >= at and not text[at : word.start].strip()
            at = word.end
        assert not text[at:].strip()

    @given(TEXTS)
    def test_sentences_are_never_empty_and_keep_all_words(self, text: str) -> None:
        """Splitting into sentences loses and invents nothing."""
        sentences = split(text)
        assert all(sentences)
        assert [word for sentence in sentences for word in sentence] == words(text)

    @given(TEXTS)
    def test_no_word_holds_white_space(self, text: str) -> None:
        """A space always parts words."""
        assert not any(char.isspace() for word in words(text) for char in word.form)

    @pytest.mark.parametrize(
        "unit",
        ["a", "a.a-", "'", "a@", "1,", "1.1:", ". ", "A.B.", "-", ":)", "\"'", "http://", "a/b-", "\u0301", "don't "],
        ids=ascii,
    )
    @pytest.mark.timeout(60)
    def test_a_long_text_is_split_in_one_pass(self, unit: str) -> None:
        """100,000 characters take a fraction of a second; steps that grow with the square would take an hour."""
        text = unit * (100_000 // len(unit))
        found = split(text)
        assert sum(len(word.form) for sentence in found for word in sentence) == len("".join(text.split()))

    @given(st.text(min_size=1, max_size=12), st.text(min_size=1, max_size=12))
    def test_a_script_gives_its_lemma_back(self, form: str, base: str) -> None:
        """Making a script and applying it is the identity on lemmas."""
        assert apply(form, script(form, base)) == base

    @given(st.lists(st.text(max_size=20), max_size=8))
    def test_features_are_rows_of_their_tables(self, texts: list[str]) -> None:
        """Any word has four numbers in range; row 0 is the root's."""
        rows = features(texts)
        assert rows.shape == (len(texts), len(SIZES))
        assert (rows >= 1).all() and (rows < SIZES).all()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I don't", "I do n't"),
        ("I’m sure they’re", "I ’m sure they ’re"),
        ("Ana's dogs' beds", "Ana 's dogs ' beds"),
        ("gonna wanna cannot dunno", "gon na wan na can not du n no"),
        ("dont im cant", "do nt i m ca nt"),
        ("shouldn't've", "should n't 've"),
        ("$5 or £3,000.50", "$ 5 or £ 3,000.50"),
        ("5kg 3.5k 10am 7 p.m.", "5 kg 3.5 k 10 am 7 p.m."),
        ("e.g. Dr. Lee in the U.S. etc.", "e.g. Dr. Lee in the U.S. etc."),
        ("at 3:30 on 04/05/2021", "at 3:30 on 04/05/2021"),
        ("call 555-1234 or 212-555-1234", "call 555-1234 or 212-555-1234"),
        ("me@example.com, https://x.org/a?b=1.", "me@example.com , https://x.org/a?b=1 ."),
        ("a 15-year-old e-mail by my co-worker", "a 15 - year - old e-mail by my co-worker"),
        ("and/or 24/7 w/o b/c", "and / or 24 / 7 w/o b/c"),
        ("nice :) <3 xD :-(", "nice :) <3 xD :-("),
        ("well... no?! ok!!", "well ... no ?! ok !!"),
        ("1990s the 80's '90s 4th", "1990s the 80's '90s 4th"),
        ("(100%) #1 #tag @user", "( 100 % ) # 1 #tag @user"),
        ("O'Neill at 5 o'clock", "O'Neill at 5 o'clock"),
        ("day,I came", "day , I came"),
        ("tell 'em rock'n'roll", "tell 'em rock'n'roll"),
        ("cafe\u0301s 👩\u200d🚀👍🏽", "cafe\u0301s 👩\u200d🚀 👍🏽"),
    ],
    ids=lambda value: value if value.isascii() else ascii(value),
)
def test_words_follow_the_treebank(text: str, expected: str) -> None:
    """One convention per row."""
    assert [word.form for word in words(text)] == expected.split(" ")


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("I live in Rome. My dog is old. Is he? Yes!", 4),
        ("i like it. my dog too", 2),
        ("Dr. Lee met J. Smith in Jan. 2020 at No. 5.", 1),
        ("She lives in the U.S. It is big.", 2),
        ('"Really?" he asked. "Yes." Then he left.', 3),
        ("Wait... what is it", 1),
        ("First line\nSecond line\n\nthird", 3),
        ("a wrapped\nline of text", 1),
        ("Great :) I love it", 2),
        ("1. Eggs and milk.", 1),
        ("", 0),
        (" \n ", 0),
    ],
    ids=ascii,
)
def test_sentences_end_where_readers_would_end_them(text: str, count: int) -> None:
    """Abbreviations, quotations, dots, lines and smileys."""
    assert len(forms(text)) == count


@pytest.mark.parametrize(
    ("form", "upos", "rule", "expected"),
    [
        ("Dogs", "NOUN", "lower;1;", "dog"),
        ("went", "VERB", "lower;0;", "go"),
        ("paris", "PROPN", "title;0;", "Paris"),
        ("sushi", "NOUN", "title;0;", "sushi"),
        ("a", "X", "lower;4;", "a"),
        ("Apple", "PROPN", "lower;0;", "Apple"),
        ("Emails", "NOUN", "keep;1;", "email"),
        ("submitted", "VERB", "lower;2;", "submit"),
        ("provoked", "VERB", "lower;2;", "provoke"),
        ("tweeted", "VERB", "lower;2;", "tweet"),
        ("clashes", "NOUN", "lower;1;", "clash"),
        ("A.B@x.com", "PROPN", "lower;0;", "A.B@x.com"),
    ],
)
def test_lemmas_know_exceptions_names_and_words_that_exist(form: str, upos: str, rule: str, expected: str) -> None:
    """The table of exceptions comes first, names keep capitals, and a script never empties a word."""
    words = frozenset({"submit", "provoke", "clash"})
    assert lemma(form, upos, rule, {"went|VERB": "go"}, words) == expected
