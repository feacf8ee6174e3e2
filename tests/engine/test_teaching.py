"""Teaching from end to end: what is unsure is marked, a head is fitted, and turns are read with it from then on."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from doxa import AsyncDoxa, Config, Doxa
from doxa.backends.parser import Heard, Line, Parse, Place, Told, cached
from doxa.core.errors import ConfigError, InputError, NotFoundError
from doxa.core.marks import Unsure
from doxa.engine import Teaching

TREE = {
    "encoder": {"name": "hash"},
    "engine": {"settle_s": 10},
    "grader": {"name": "none"},
    "reader": {"name": "none"},
    "nli": {"name": "none"},
}
CONFIG = Config.from_tree(TREE)
MADE = [
    f"zzyx {verb} {thing}"
    for verb in ("brumbles", "fnords", "quuxes")
    for thing in "abode ebony ibis oboe unit".split()
]
EATEN = [
    f"zzyx munches {thing}"
    for thing in "abode ebony ibis oboe unit aloe idea era ogre urn apse elk ion orb ewe".split()
]
"""Words that syntax says nothing of: the reader is the only one that hears a claim in them."""


class Reader:
    """Hears of every turn one claim of its speaker: the last two words, not quite surely enough to keep it."""

    name = "scripted"

    def parse(self, sentences: Sequence[Sequence[str]]) -> list[Parse]:
        """Words that hang on the first one, each of an unknown kind."""
        return [flat(tuple(one)) for one in sentences]

    def hear(self, turns: Sequence[Sequence[Line]]) -> list[Heard]:
        """One claim a turn of three words."""
        return [Heard(claims=tuple(self._claims(lines)), meant=(), parses=()) for lines in turns]

    def close(self) -> None:
        """Has nothing to close."""

    def _claims(self, lines: Sequence[Line]) -> Iterator[Told]:
        own, text = len(lines) - 1, lines[-1].text.rstrip(".")
        if text.count(" ") == 2:
            verb, thing = text.index(" ") + 1, text.rindex(" ") + 1
            place = Place(own, thing, len(text))
            yield Told(
                anchor=place, subject=Place(own, -1, -1), relation="likes", words=(Place(own, verb, thing - 1),),
                object=place, times=(), flags=frozenset(), p=0.96,
            )  # fmt: skip


def flat(forms: tuple[str, ...]) -> Parse:
    """A parse that says nothing."""
    same, outside = ("X",) * len(forms), ("O",) * len(forms)
    heads, labels = (-1, *(0 for _ in forms[1:])), ("root", *("dep" for _ in forms[1:]))
    return Parse(
        forms=forms, lemmas=forms, upos=same, heads=heads, deprels=labels, tags=outside, confidences=(1.0,) * len(forms)
    )


def opened(path: Path | str, config: Config = CONFIG) -> Doxa:
    """A memory with the scripted reader."""
    doxa = Doxa.open(path, config=config)
    doxa.parts.parser.close()
    doxa.parts.parser = cached(Reader())
    return doxa


@pytest.fixture
def doxa(tmp_path: Path) -> Iterator[Doxa]:
    """A memory of thirty turns, nothing of which was kept."""
    with opened(tmp_path / "memory.db") as doxa:
        chat = doxa.dialogue(user="ana")
        for number, text in enumerate([*MADE, *EATEN]):
            chat.absorb(text, turn_id=f"t{number}")
        chat.flush()
        assert liked(doxa) == []
        yield doxa


def teaching(doxa: Doxa) -> Teaching:
    """What teaches the reader for Ana."""
    return doxa.memory(user="ana").teaching()


def mark_all(doxa: Doxa) -> None:
    """Ana wants everything but what was munched."""
    for claim in teaching(doxa).unsure(limit=100):
        teaching(doxa).mark(claim, keep=claim.words != "munches")


def say(doxa: Doxa, *texts: str) -> None:
    """Say something new."""
    chat = doxa.dialogue(user="ana", session="later")
    for text in texts:
        chat.absorb(text, turn_id=text)
    chat.flush()


def liked(doxa: Doxa) -> list[str]:
    """What Ana is believed to like."""
    return [str(fact.object) for fact in doxa.memory(user="ana").facts(relation="likes")]


def test_what_is_said_after_teaching_is_read_as_it_was_taught(doxa: Doxa) -> None:
    """What came before stays as it was read."""
    mark_all(doxa)
    told = teaching(doxa).teach()
    assert told.accepted and told.in_use and told.marks == 30
    assert liked(doxa) == []
    say(doxa, "zzyx brumbles opal", "zzyx munches agar")
    assert liked(doxa) == ["opal"]
    found = teaching(doxa).head()
    assert found is not None and found.marks == told.trained and found.path.exists()


def test_others_are_read_as_before(doxa: Doxa) -> None:
    """A head belongs to one user."""
    mark_all(doxa)
    teaching(doxa).teach()
    chat = doxa.dialogue(user="ben")
    chat.absorb("zzyx brumbles opal")
    chat.flush()
    assert doxa.memory(user="ben").facts() == [] and doxa.memory(user="ben").teaching().head() is None


def test_what_was_read_with_a_head_stays_when_the_memory_is_opened_again(doxa: Doxa, tmp_path: Path) -> None:
    """The log has the claims: neither with the head nor without is anything read again, and the event says who read."""
    mark_all(doxa)
    teaching(doxa).teach()
    say(doxa, "zzyx brumbles opal")
    with doxa.parts.log.user("ana") as state:
        assert state.notes["zzyx brumbles opal"].taught > 0
    head = teaching(doxa).head()
    assert head is not None
    head.path.unlink()
    with opened(tmp_path / "memory.db") as again:
        assert liked(again) == ["opal"]
        with again.parts.log.user("ana") as state:
            assert state.notes["zzyx brumbles opal"].taught > 0


def test_the_trace_says_that_the_reader_was_taught(doxa: Doxa) -> None:
    """By how many marks."""
    mark_all(doxa)
    told = teaching(doxa).teach()
    reply = doxa.dialogue(user="ana").respond("zzyx brumbles opal")
    (step,) = [step for step in reply.trace.steps if step.name == "understand"]
    assert step.detail["taught_by"] == told.trained


def test_a_dry_run_changes_nothing(doxa: Doxa) -> None:
    """It says what the head would be worth."""
    mark_all(doxa)
    told = teaching(doxa).teach(dry_run=True)
    assert told.accepted and not told.in_use and teaching(doxa).head() is None
    say(doxa, "zzyx brumbles opal")
    assert liked(doxa) == []


def test_marked_claims_are_not_asked_about_again(doxa: Doxa) -> None:
    """Those that are left come next."""
    first, *rest = teaching(doxa).unsure(limit=100)
    teaching(doxa).mark(first, keep=True)
    assert [one.turn_id for one in teaching(doxa).unsure(limit=100)] == [one.turn_id for one in rest]
    assert len(teaching(doxa).unsure(limit=3)) == 3 and len(teaching(doxa).unsure(limit=100, latest=5)) == 5


def test_what_cannot_be_a_mark_is_refused_and_nothing_written(doxa: Doxa) -> None:
    """With what was expected."""
    (claim,) = teaching(doxa).unsure(limit=1)
    with pytest.raises(InputError, match="cannot be worth keeping"):
        teaching(doxa).mark(claim, keep=True, right=False)
    with pytest.raises(InputError, match="works_at"):
        teaching(doxa).mark(claim, keep=True, relation="Works at")
    with pytest.raises(NotFoundError, match="nowhere"):
        teaching(doxa).mark_missed("nowhere", subject="I", relation="owns", object="a dog")
    with pytest.raises(InputError, match="object"):
        teaching(doxa).mark_missed("t1", subject="I", relation="owns", object=" ")
    with pytest.raises(InputError, match="limit"):
        teaching(doxa).unsure(limit=0)
    assert not doxa.parts.heads.marks("ana").exists()


def test_a_file_of_marks_from_elsewhere_teaches_as_well(doxa: Doxa, tmp_path: Path) -> None:
    """It stays where it is."""
    mark_all(doxa)
    moved = doxa.parts.heads.marks("ana").rename(tmp_path / "mine.jsonl")
    with pytest.raises(NotFoundError, match="marks"):
        teaching(doxa).teach()
    assert teaching(doxa).teach(moved).in_use and moved.exists()


def test_erasing_a_turn_erases_its_marks_and_what_was_learned_from_them(doxa: Doxa) -> None:
    """And those on turns that have it in their context; a head that was fitted to others stays."""
    for claim in teaching(doxa).unsure(limit=100):
        if claim.turn_id != "t29":
            teaching(doxa).mark(claim, keep=claim.words != "munches")
    assert teaching(doxa).teach().in_use
    memory, marks = doxa.memory(user="ana"), doxa.parts.heads.marks("ana")
    memory.forget(turn_id="t29")
    assert teaching(doxa).head() is not None
    memory.forget(turn_id="t0")
    assert teaching(doxa).head() is None
    assert MADE[0] not in marks.read_text() and MADE[5] in marks.read_text()


def test_erasing_a_turn_drops_a_head_that_others_marks_taught(doxa: Doxa, tmp_path: Path) -> None:
    """Nobody knows what it rests on. A slip of the hand drops nothing."""
    mark_all(doxa)
    moved = doxa.parts.heads.marks("ana").rename(tmp_path / "mine.jsonl")
    teaching(doxa).teach(moved)
    with pytest.raises(NotFoundError):
        doxa.memory(user="ana").forget(turn_id="nowhere")
    assert teaching(doxa).head() is not None
    doxa.memory(user="ana").forget(turn_id="t3")
    assert teaching(doxa).head() is None


def test_erasing_everything_leaves_neither_marks_nor_head(doxa: Doxa) -> None:
    """No file of the user is left."""
    mark_all(doxa)
    teaching(doxa).teach()
    folder = doxa.parts.heads.marks("ana").parent
    doxa.memory(user="ana").forget(everything=True)
    assert list(folder.iterdir()) == []


def test_a_head_that_cannot_be_read_is_told_and_not_used(doxa: Doxa, caplog: pytest.LogCaptureFixture) -> None:
    """Turns go on being read."""
    path = doxa.parts.heads.path("ana")
    assert path is not None
    path.parent.mkdir(parents=True)
    path.write_bytes(b"no head")
    say(doxa, "zzyx brumbles opal")
    assert liked(doxa) == [] and "read without what was taught" in caplog.text


def test_without_a_file_there_has_to_be_a_place_for_marks(tmp_path: Path) -> None:
    """The setting that names one is named, and is enough."""
    with opened(":memory:") as doxa:
        say(doxa, *MADE)
        (claim,) = teaching(doxa).unsure(limit=1)
        with pytest.raises(ConfigError, match="DOXA_PARSER_HEAD"):
            teaching(doxa).mark(claim, keep=True)
    shared = Config.from_tree({**TREE, "parser": {"head": str(tmp_path / "head.npz")}})
    with opened(":memory:", shared) as doxa:
        say(doxa, *MADE, *EATEN)
        mark_all(doxa)
        assert teaching(doxa).teach().in_use and (tmp_path / "head.jsonl").exists()
        chat = doxa.dialogue(user="ben")
        chat.absorb("zzyx brumbles opal")
        chat.flush()
        assert [str(fact.object) for fact in doxa.memory(user="ben").facts()] == ["opal"]
        doxa.memory(user="ana").forget(everything=True)
        assert not (tmp_path / "head.npz").exists() and (tmp_path / "head.jsonl").read_text() == ""


def test_a_parser_of_sentences_alone_cannot_be_taught(doxa: Doxa) -> None:
    """And it is said which one can."""

    class Syntax:
        name, parse, close = "syntax", Reader.parse, Reader.close

    doxa.parts.parser = cached(Syntax())
    with pytest.raises(ConfigError, match="reads sentences alone"):
        teaching(doxa).unsure()


async def _asynchronously(path: Path) -> list[Unsure]:
    twin = AsyncDoxa(opened(path))
    found = await twin.memory(user="ana").teaching().unsure(limit=2)
    await twin.close()
    return found


def test_the_asynchronous_twin_teaches_too(doxa: Doxa, tmp_path: Path) -> None:
    """The same claims."""
    import asyncio

    expected = teaching(doxa).unsure(limit=2)
    doxa.close()
    assert asyncio.run(_asynchronously(tmp_path / "memory.db")) == expected


@pytest.mark.parametrize("everything", [False, True], ids=["a turn", "everything"])
def test_forgetting_removes_what_a_killed_process_left_of_writing_marks(doxa: Doxa, everything: bool) -> None:
    """It repeats them; that of another user stays."""
    memory = doxa.memory(user="ana")
    marks = doxa.parts.heads.marks("ana")
    memory.teaching().mark_missed("t3", subject="Ana", relation="likes", object="oboe")
    left, other = marks.with_name("ana.jsonl.4194304-7.part"), marks.with_name("ana.b.jsonl.4194304-7.part")
    for path in (left, other):
        path.write_bytes(marks.read_bytes())
    memory.forget(everything=True) if everything else memory.forget(turn_id="t3")
    assert not left.exists() and other.exists()
