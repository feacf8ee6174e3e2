"""A head mends what a reader of turns says: nothing untaught, what marks say once taught, and never for the worse."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from doxa.backends.parser import Heard, Line, Parse, Place, Told, TurnReader
from doxa.core.errors import FormatError, NotFoundError, StoreReadOnlyError
from doxa.core.marks import Mark, MarkedLine, MarkedTurn, Missed
from doxa.core.values import Turn
from doxa.understand import (
    Head,
    append_marks,
    drop_marks,
    load_head,
    read_marks,
    save_head,
    taught,
    taught_by,
    teach,
    unsure_of,
)
from doxa.understand.hearing import SURE

FOODS = "bread soup rice figs cheese plums beans honey olives pears".split()
CITIES = "Oslo Rome Bonn Riga Faro Lyon Turin Basel Ghent Split".split()


class Reader:
    """Hears of every turn "I VERB OBJECT" one claim, as surely as a test says."""

    name = "scripted"

    def __init__(self, p: float = 0.9, relation: str = "") -> None:
        self.p, self.relation, self.calls = p, relation, 0

    def parse(self, sentences: Sequence[Sequence[str]]) -> list[Parse]:
        """Sees no syntax."""
        raise NotImplementedError

    def hear(self, turns: Sequence[Sequence[Line]]) -> list[Heard]:
        """One claim a turn."""
        self.calls += 1
        return [Heard(claims=(self._told(lines),), meant=(), parses=()) for lines in turns]

    def close(self) -> None:
        """Has nothing to close."""

    def _told(self, lines: Sequence[Line]) -> Told:
        text, own = lines[-1].text, len(lines) - 1
        verb, thing = text.index(" ") + 1, text.rindex(" ") + 1
        place = Place(own, thing, len(text))
        return Told(
            anchor=place,
            subject=Place(own, 0, 1),
            relation=self.relation,
            words=(Place(own, verb, thing - 1),),
            object=place,
            times=(),
            flags=frozenset(),
            p=self.p,
        )


def marked(verb: str, thing: str, *, keep: bool, relation: str = "", right: bool = True) -> MarkedTurn:
    """A turn with the mark on its claim."""
    mark = Mark(subject="I", words=verb, object=thing, right=right, keep=keep, relation=relation)
    return MarkedTurn(lines=(MarkedLine(speaker="Ana", text=f"I {verb} {thing}"),), claims=(mark,))


def tastes() -> Iterator[MarkedTurn]:
    """A user who wants to keep where she was, and not what she ate."""
    for food, city in zip(FOODS, CITIES, strict=True):
        for verb in ("ate", "cooked", "bought"):
            yield marked(verb, food, keep=False)
        for verb in ("visited", "left", "saw"):
            yield marked(verb, city, keep=True)


def heard(reader: TurnReader, text: str) -> Told:
    """The claim of a turn."""
    (found,) = reader.hear([[Line("Ana", text)]])
    return found.claims[0]


def test_an_untaught_head_is_the_identity() -> None:
    """Not one digit differs, down to the object itself."""
    for p in (0.5, 0.9, 0.97, 0.9999, 1.0):
        told = heard(Reader(p), "I ate bread")
        assert Head.untaught().mended(told, [Line("Ana", "I ate bread")]) is told


def test_nothing_is_wrapped_where_there_is_no_head() -> None:
    """The parser is the one that was given."""
    reader = Reader()
    assert taught(reader, None) is reader and taught_by(reader) == 0


def test_a_planted_preference_is_learned() -> None:
    """On turns that no mark is on, what is like what was wanted is kept, and the rest is not."""
    reader = Reader(0.9)
    head, told = teach(list(tastes()), reader)
    assert told.accepted and told.trained + told.dev == told.marks == 60
    assert told.after["f1"] > told.before["f1"] and told.after["log_loss"] < told.before["log_loss"]
    wise = taught(reader, head)
    assert isinstance(wise, TurnReader)
    assert heard(wise, "I visited Cadiz").p >= SURE > heard(wise, "I ate cake").p
    assert taught_by(wise) == told.trained and "taught by" in wise.name


def test_another_name_of_a_relation_is_learned() -> None:
    """ "joined" is where one works, once that was said often enough; what it is not said of keeps its name."""
    turns = [marked("joined", city, keep=True, relation="works_at") for city in CITIES]
    turns += [marked("joined the", city, keep=True, relation="works_at") for city in CITIES]
    turns += [marked("visited", city, keep=True) for city in CITIES]
    reader = Reader(0.99, relation="member_of")
    head, told = teach(turns, reader)
    assert told.accepted and head.relations == ("works_at",)
    wise = taught(reader, head)
    assert isinstance(wise, TurnReader)
    assert heard(wise, "I joined Siemens").relation == "works_at"
    assert heard(wise, "I visited Siemens").relation == "member_of"


def test_what_does_worse_on_the_turns_left_out_is_refused() -> None:
    """Marks that say the opposite where it is measured are not learned from, and it is said why."""
    turns = list(tastes())
    head, good = teach(turns, Reader())
    assert good.accepted
    wrong = [
        replace(turn, claims=(replace(turn.claims[0], keep=not turn.claims[0].keep),)) if held_out(turn) else turn
        for turn in turns
    ]
    _, bad = teach(wrong, Reader())
    assert not bad.accepted and bad.dev == good.dev
    assert "does worse" in bad.reason and "mark more claims" in bad.reason
    assert bad.after["log_loss"] > bad.before["log_loss"]
    assert head.marks == good.trained


def held_out(turn: MarkedTurn) -> bool:
    """Whether `teach` compares on a turn; of one mark it says so without learning."""
    return teach([turn], Reader())[1].dev == 1


def test_the_same_marks_give_the_same_head() -> None:
    """To the last bit."""
    one, other = (teach(list(tastes()), Reader())[0] for _ in range(2))
    assert one.checksum() == other.checksum()


def test_too_few_marks_teach_nothing_and_say_how_many_more() -> None:
    """Nothing is fitted; the identity comes back."""
    head, told = teach(list(tastes())[:13], Reader())
    assert not told.accepted and "7 more" in told.reason and told.trained == 0
    assert not head.weight.any()


def test_marks_on_what_is_not_heard_are_counted_and_left_out() -> None:
    """As after a change of the reader, or a slip of the hand in the file."""
    turns = [*tastes(), replace(marked("ate", "bread", keep=True), claims=(gone(),))]
    _, told = teach(turns, Reader())
    assert (told.unheard, told.marks) == (1, 60)


def gone() -> Mark:
    """A mark on a claim that nobody hears."""
    return Mark(subject="She", words="ate", object="bread", right=True, keep=True)


def test_the_last_mark_on_a_claim_counts() -> None:
    """Who thinks again marks it again."""
    turns = [*(replace(one, claims=(replace(one.claims[0], keep=True),)) for one in tastes()), *tastes()]
    _, again = teach(turns, Reader())
    _, once = teach(list(tastes()), Reader())
    assert again.marks == 60 and again.after == once.after


def test_missed_claims_count_as_not_found() -> None:
    """They lower what is found of what is right, before and after alike."""
    turns = list(tastes())
    some = [replace(one, missed=(Missed(subject="I", relation="owns", object="a dog"),)) for one in turns]
    _, plain = teach(turns, Reader(0.99))
    _, told = teach(some, Reader(0.99))
    assert told.missed == 60 and told.before["recall"] < plain.before["recall"]


def test_a_head_comes_back_from_its_file_as_it_was(tmp_path: Path) -> None:
    """All of it, and what it says of a claim."""
    head, _ = teach(list(tastes()), Reader())
    save_head(head, tmp_path / "deep" / "head.npz")
    again = load_head(tmp_path / "deep" / "head.npz")
    assert again.checksum() == head.checksum() and again.marks == head.marks
    told = heard(Reader(), "I ate figs")
    assert again.mended(told, [Line("Ana", "I ate figs")]) == head.mended(told, [Line("Ana", "I ate figs")])


@pytest.mark.parametrize("content", [b"", b"no archive", None], ids=["empty", "text", "other arrays"])
def test_a_file_that_is_no_head_is_refused(tmp_path: Path, content: bytes | None) -> None:
    """With what was expected, and what to do."""
    path = tmp_path / "head.npz"
    if content is None:
        np.savez(path, weight=np.zeros(3))
    else:
        path.write_bytes(content)
    with pytest.raises(FormatError, match="expected a head.*doxa teach"):
        load_head(path)


def test_a_changed_head_is_refused(tmp_path: Path) -> None:
    """The checksum does not fit any more."""
    path = tmp_path / "head.npz"
    save_head(Head.untaught(), path)
    with np.load(path) as stored:
        arrays = {name: stored[name] for name in stored.files}
    np.savez(path, **(arrays | {"line": np.array(0.0)}))
    with pytest.raises(FormatError, match="checksum"):
        load_head(path)


def test_a_head_that_is_not_there_is_not_found(tmp_path: Path) -> None:
    """The command that makes one is named."""
    with pytest.raises(NotFoundError, match="doxa teach"):
        load_head(tmp_path / "head.npz")


def test_marks_come_back_from_their_file_as_they_were(tmp_path: Path) -> None:
    """With every field, in order."""
    path = tmp_path / "marks.jsonl"
    turns = [
        MarkedTurn(
            lines=(MarkedLine(speaker="Bo", text="And?"), MarkedLine(speaker="Ana", text="Ça va.", turn_id="t1")),
            claims=(Mark(subject="I", words="am", object="Ça", right=True, keep=False, relation="feels"),),
            missed=(Missed(subject="I", relation="owns", object="a dog"),),
        ),
        *tastes(),
    ]
    for one in turns:
        append_marks(one, path)
    read = read_marks(path)
    assert read.turns == tuple(turns) and read.broken == ()


BROKEN = {
    "no JSON": ("{oops", "JSON"),
    "no lines": ('{"claims": []}', "lines"),
    "a word for a yes": (
        '{"lines": [{"speaker": "A", "text": "I ate"}], "claims": [{"subject": "I", "words": "ate", "object": "x", '
        '"right": "yes"}]}',
        "right",
    ),
    "a field that is not known": ('{"lines": [{"speaker": "A", "text": "x"}], "claim": []}', "claim"),
    "no name of a relation": (
        '{"lines": [{"speaker": "A", "text": "x"}], "claims": [{"subject": "I", "words": "ate", "object": "x", '
        '"right": true, "relation": "works at!"}]}',
        "works_at",
    ),
}


@pytest.mark.parametrize(("line", "says"), BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_line_is_told_by_its_number_and_stays(tmp_path: Path, line: str, says: str) -> None:
    """What was expected, what is wrong; the lines around it are read, and nothing is rewritten."""
    path = tmp_path / "marks.jsonl"
    append_marks(marked("ate", "figs", keep=True), path)
    with path.open("a") as file:
        file.write(f"# a note of mine\n\n{line}")  # and no end of the line
    append_marks(marked("saw", "Rome", keep=True), path)
    read = read_marks(path)
    assert len(read.turns) == 2
    (error,) = read.broken
    assert error.line == 4 and "expected" in str(error) and says in str(error)
    assert line in path.read_text().splitlines()


def test_what_is_right_is_kept_unless_it_says_otherwise(tmp_path: Path) -> None:
    """`keep` may be left out by hand."""
    path = tmp_path / "marks.jsonl"
    claim = {"subject": "I", "words": "ate", "object": "figs", "right": True}
    path.write_text(json.dumps({"lines": [{"speaker": "A", "text": "I ate figs"}], "claims": [claim]}))
    assert read_marks(path).turns[0].claims[0].keep is True


def test_marks_that_cannot_be_written_say_so(tmp_path: Path) -> None:
    """A folder stands where the file should be."""
    (tmp_path / "marks.jsonl").mkdir()
    with pytest.raises(StoreReadOnlyError, match="cannot be written"):
        append_marks(marked("ate", "figs", keep=True), tmp_path / "marks.jsonl")


def test_lines_that_repeat_what_is_erased_are_dropped(tmp_path: Path) -> None:
    """By the turn and its words; of a broken line by the words alone. Other people's same words stay."""
    path = tmp_path / "marks.jsonl"
    append_marks(said("t1", "My PIN is 4711."), path)
    append_marks(said("t2", "My PIN is 4711."), path)
    append_marks(said("t1", "I ate figs."), path)
    with path.open("a") as file:
        file.write('{"lines": "My PIN is 4711."\n')
    assert drop_marks(path, ids={"t1"}, texts={"My PIN is 4711."}) == 2
    assert [one.lines[0].turn_id for one in read_marks(path).turns] == ["t2", "t1"]
    assert drop_marks(tmp_path / "none.jsonl", ids={"t1"}, texts={"x"}) == 0


def said(turn_id: str, text: str) -> MarkedTurn:
    """A turn of the memory without a mark."""
    return MarkedTurn(lines=(MarkedLine(speaker="Ana", text=text, turn_id=turn_id),))


def test_the_most_unsure_claims_come_first_and_marked_ones_not_at_all() -> None:
    """On both sides of where a claim is kept."""

    class Several(Reader):
        def _told(self, lines: Sequence[Line]) -> Told:
            told = super()._told(lines)
            return replace(told, p={"figs": 0.6, "rice": 0.96, "soup": 0.98, "plums": 0.9999}[lines[-1].text[6:]])

    turns = [turn(food) for food in ("plums", "figs", "soup", "rice")]
    found = unsure_of([(one, ()) for one in turns], Several(), Head.untaught(), ())
    assert [one.object for one in found][:2] == ["rice", "soup"] and len(found) == 4
    assert [one.kept for one in found][:2] == [False, True]
    assert found[0].turn_id == "rice" and found[0].p == 0.96
    left = unsure_of([(one, ()) for one in turns], Several(), Head.untaught(), [marked("ate", "rice", keep=True)])
    assert "rice" not in [one.object for one in left] and len(left) == 3


def turn(food: str) -> Turn:
    """What Ana said."""
    from datetime import UTC, datetime

    at = datetime(2026, 3, 2, tzinfo=UTC)
    return Turn(turn_id=food, user="ana", session="s", speaker="Ana", role="user", text=f"I ate {food}", at=at)
