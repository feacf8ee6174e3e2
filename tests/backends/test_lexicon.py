"""WordNet's database files, small ones made here and the real ones where they are installed."""

import json
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doxa.backends import load
from doxa.backends.lexicon import Lexicon, Synset
from doxa.backends.lexicon.scripted import ScriptedLexicon
from doxa.core.errors import BackendError, BackendUnavailableError, ClosedError

LICENCE = "  1 This software and database is provided to you.\n  2 WordNet 3.0 Copyright 2006 by somebody.\n"
NOUNS = [
    # lexicographer's file, words with their ids, pointers as (symbol, number of the target), gloss
    (3, [("entity", 0)], [], "whatever there is"),
    (17, [("slope", 0)], [("@", 0)], "ground that is not level"),
    (17, [("bank", 0)], [("@", 1)], 'sloping land beside water; "we sat on the bank"; "a steep bank"'),
    (14, [("finance_house", 0), ("bank", 1)], [("@", 0)], "a company that keeps money"),
    (15, [("Bank", 2)], [("@i", 0)], "a place of that name"),
]
INDEX = {"entity": [0], "slope": [1], "bank": [2, 3, 4], "finance_house": [3]}
COUNTS = "bank%1:14:01:: 2 20\nbank%1:17:00:: 1 25\nnice%5:00:00:good:00 1 3\n"
ADJECTIVES = [
    (0, "a", [("good", 0)], [("&", 1)], "as it should be"),
    (0, "s", [("nice(p)", 0)], [("&", 0)], "pleasant"),
]


def data(entries: list[tuple], pos: str) -> tuple[str, list[int]]:
    """Return the text of a data file and the offsets of its entries; all offsets have eight digits."""
    entries = [entry if len(entry) == 5 else (entry[0], pos, *entry[1:]) for entry in entries]
    offsets = [0] * len(entries)
    for _ in range(2):
        text, at = LICENCE, []
        for number, (file, kind, words, pointers, gloss) in enumerate(entries):
            at.append(len(text.encode()))
            said = " ".join(f"{word} {lex_id:x}" for word, lex_id in words)
            points = " ".join(f"{symbol} {offsets[to]:08d} {pos} 0000" for symbol, to in pointers)
            head = (
                f"{offsets[number]:08d} {file:02d} {kind} {len(words):02x} {said} {len(pointers):03d} {points}".rstrip()
            )
            text += f"{head} | {gloss}  \n"
        offsets = at
    return text, offsets


def index(words: dict[str, list[int]], offsets: list[int], pos: str) -> str:
    """Return the text of an index file."""
    lines = []
    for word in sorted(words):
        at = " ".join(f"{offsets[n]:08d}" for n in words[word])
        lines.append(f"{word} {pos} {len(words[word])} 1 @ {len(words[word])} 0 {at}  \n")
    return LICENCE + "".join(lines)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A WordNet of a few words."""
    place = tmp_path / "dict"
    place.mkdir()
    nouns, at = data(NOUNS, "n")
    adjectives, beside = data(ADJECTIVES, "a")
    files = {"data.noun": nouns, "index.noun": index(INDEX, at, "n"), "data.adj": adjectives}
    files["index.adj"] = index({"good": [0], "nice": [1]}, beside, "a")
    for name in ("data.verb", "index.verb", "data.adv", "index.adv"):
        files[name] = LICENCE
    for name, text in {**files, "cntlist.rev": COUNTS}.items():
        (place / name).write_text(text)
    return place


def test_senses_come_in_order_with_all_that_is_known(folder):
    lexicon: Lexicon = load("lexicon", f"wordnet:{folder}")
    land, house, place = lexicon.senses("bank", "n")
    assert land == Synset(
        name="synset-bank-noun-1",
        pos="n",
        words=("bank",),
        definition="sloping land beside water",
        examples=("we sat on the bank", "a steep bank"),
        supersense="noun.object",
        count=25,
        broader=("slope",),
    )
    assert (house.name, house.words, house.count) == ("synset-finance_house-noun-1", ("finance house", "bank"), 20)
    assert place.broader == ("entity",)
    assert lexicon.name == f"wordnet 3.0 ({folder})"


def test_a_word_of_two_parts_is_found_with_a_space(folder):
    assert [s.words[0] for s in load("lexicon", f"wordnet:{folder}").senses("Finance  House", "n")] == ["finance house"]


def test_a_satellite_adjective_is_counted_by_its_head(folder):
    """Its sense key names the head of its cluster, and the mark of its position is no part of the word."""
    (nice,) = load("lexicon", f"wordnet:{folder}").senses("nice", "a")
    assert (nice.words, nice.count, nice.name) == (("nice",), 3, "synset-nice-adjectivesatellite-1")


@given(st.text(max_size=20), st.sampled_from("nvar"))
def test_any_word_has_senses_or_none(folder_of_session, word, pos):
    assert isinstance(folder_of_session.senses(word, pos), tuple)


@pytest.fixture(scope="session")
def folder_of_session(tmp_path_factory) -> Lexicon:
    """The same files for many words."""
    return load("lexicon", f"wordnet:{folder.__wrapped__(tmp_path_factory.mktemp('wordnet'))}")


def test_a_zip_file_of_nltk_is_read(folder, tmp_path):
    path = tmp_path / "wordnet.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for file in folder.iterdir():
            archive.write(file, f"wordnet/{file.name}")
    assert len(load("lexicon", f"wordnet:{path}").senses("bank", "n")) == 3


def test_counts_may_be_missing(folder):
    (folder / "cntlist.rev").unlink()
    assert [s.count for s in load("lexicon", f"wordnet:{folder}").senses("bank", "n")] == [0, 0, 0]


def test_a_missing_wordnet_says_how_to_get_it(tmp_path):
    with pytest.raises(BackendUnavailableError, match="apt install wordnet-base"):
        load("lexicon", f"wordnet:{tmp_path}")


def test_damaged_files_are_told(folder):
    (folder / "index.noun").write_text(LICENCE + "bank n x y z\n")
    with pytest.raises(BackendError, match="damaged"):
        load("lexicon", f"wordnet:{folder}").senses("bank", "n")
    (folder / "data.adv").write_text("")
    with pytest.raises(BackendError, match="cannot be read"):
        load("lexicon", f"wordnet:{folder}")


@pytest.mark.parametrize("make", [lambda place: load("lexicon", f"wordnet:{place}"), lambda _: ScriptedLexicon({})])
def test_a_closed_lexicon_says_so(folder, make):
    lexicon = make(folder)
    lexicon.close()
    lexicon.close()
    with pytest.raises(ClosedError):
        lexicon.senses("bank", "n")


@pytest.fixture(scope="session")
def wordnet() -> Lexicon:
    """The real one."""
    try:
        return load("lexicon", "wordnet")
    except BackendUnavailableError as exc:
        pytest.skip(f"no WordNet: {exc}")


def test_the_real_wordnet_is_read_to_the_last_field(wordnet):
    """Each sense of the hand-labelled sample is found, and names are unique within a word."""
    path = Path(__file__).parents[2] / "benchmarks" / "senses.jsonl"
    for item in map(json.loads, path.read_text().splitlines()):
        names = [synset.name for synset in wordnet.senses(item["lemma"], item["pos"])]
        assert set(item["synsets"]) <= set(names)
        assert len(set(names)) == len(names)


def test_the_senses_of_the_real_wordnet_come_by_frequency(wordnet):
    counts = [synset.count for synset in wordnet.senses("believe", "v")]
    assert counts == sorted(counts, reverse=True) and counts[0] > 100
