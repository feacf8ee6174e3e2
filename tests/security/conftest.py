"""Engines whose models cost nothing, and names that somebody chooses to be taken for somebody else."""

import random
from collections.abc import Callable, Iterator

import pytest
from fastapi.testclient import TestClient

from doxa.core.config import Config, EncoderConfig, EngineConfig, GraderConfig, NliConfig, ReaderConfig, ServerConfig
from doxa.engine import Doxa, Keys
from doxa.transport.http import application

ALIKE = {
    "case": ["ana", "Ana", "ANA", "aNa"],
    "letters of another script": ["аna", "anа", "αna", "ａｎａ"],  # Cyrillic, Greek, full width
    "composed and decomposed": ["josé", "jose\u0301", "ﬁn", "fin", "Å", "A\u030a", "\u212b"],
    "case of one letter that is two": ["ß", "ss", "SS", "ẞ", "i", "I", "İ", "ı", "i\u0307"],
    "blanks": ["ana ", " ana", "ana\t", "ana\n", "\nana", "ana\u00a0", "ana\u3000", "a na"],
    "what is not seen": ["ana\x00", "ana\x00b", "a\u200bna", "ana\u200b", "\ufeffana", "\u202eana", "ana\u00ad"],
    "paths": [
        "a/b",
        "a//b",
        "a",
        "b",
        "../ana",
        "..",
        ".",
        "./ana",
        "/ana",
        "a\\b",
        "ana/",
        "C:ana",
        "~",
        "nul",
        "con",
    ],
    "scopes": ["default/ana", "default%2Fana", "default", "/", "default/", "ana%2Fb", "%2F", "user:ana", "%"],
    "wildcards": ["an_", "a%", "_na", "*", "?", "a*", "an?", "[a]na", "ana%", "__", "%%", "ana'--", 'ana"'],
    "ids and files": ["t1", "f1", "shared:ana", "shared:ana/t1", "ana.npz", "ana.part", "=ana", "ana.before", "oa1-x"],
    "long": ["x" * 199, "x" * 200, "X" * 200, "x" * 201, "😀" * 200, "é" * 200, "😀" * 199 + "é"],
    "halves of characters": ["\ud800", "ana\udc00"],
}
DRAWN = 40
"""Names that are drawn beside these: `ana` with a few characters that something might take for nothing."""


def drawn() -> Iterator[str]:
    """Give names of one word each time with other odd characters in it; the same in every run."""
    dice, odd = random.Random(30), "\u200d\u2060\u0301\u0307%_/. '\"|:;\\A\u0410\u00a0\x1f\x7f"
    for _ in range(DRAWN):
        letters = list("ana")
        for _ in range(dice.randint(1, 3)):
            letters.insert(dice.randint(0, len(letters)), dice.choice(odd))
        yield "".join(letters)


NAMES = list(dict.fromkeys([*(name for names in ALIKE.values() for name in names), *drawn()]))


@pytest.fixture(scope="session")
def names() -> list[str]:
    """Names that look alike, that mean something to a database or a disk, or that are none."""
    return NAMES


def light(**more: object) -> Config:
    """Return settings under which no model is loaded."""
    return Config(
        encoder=EncoderConfig(name="hash"),
        engine=EngineConfig(settle_s=10),
        grader=GraderConfig(name="none"),
        nli=NliConfig(name="none"),
        reader=ReaderConfig(name="none"),
    ).model_copy(update=more)


@pytest.fixture
def config() -> Config:
    """Settings that read neither file nor environment."""
    return light()


@pytest.fixture
def doxa(config: Config) -> Iterator[Doxa]:
    """An engine in memory."""
    with Doxa.open(":memory:", config=config) as engine:
        yield engine


@pytest.fixture
def client() -> Iterator[Callable[..., TestClient]]:
    """A function from an engine, and the secret of a key, to a client of a server on it."""
    entered = []

    def opened(doxa: Doxa, secret: str = "", **settings: object) -> TestClient:
        headers = {"Authorization": f"Bearer {secret}"} if secret else {}
        app = application(doxa, ServerConfig(**settings))
        one = TestClient(app, "http://localhost", headers=headers, raise_server_exceptions=False)
        entered.append(one.__enter__())
        return one

    yield opened
    for one in entered:
        one.__exit__(None, None, None)


@pytest.fixture
def secret_for() -> Callable[..., str]:
    """A function from an engine and users to the secret of a key that opens their memories, with every right."""
    return lambda doxa, *users: Keys(doxa).add(users=users, rights=["read", "write", "erase", "admin"])[1]
