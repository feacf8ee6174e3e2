"""A seed -> dialogues with stated preferences, distractors, and later questions that share no word with them.

Source: the paper's Implicit Preference Recall benchmark, sections 2.2 and B.3; its data is not public, so this is a
generator after its description. What each part of a dialogue is for is said in `dialogue`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from random import Random

from doxa_bench.implicit.asking import Stated, draw_queries
from doxa_bench.implicit.chatter import Chatter
from doxa_bench.implicit.dialogue import Part, PreferenceDialogue, PreferenceTurn
from doxa_bench.implicit.material import WORKLOADS, Concept, Split, Workload, fill, talk, workload

__all__ = ["draw_dialogues"]

EPISODES = (3, 4)
"""How often a recurring taste shows, each time in another session; 3 is what the paper's gate asks for (A.4)."""
RECURRING, REVISED, SECOND_WORKLOAD, LONG_GAP = 0.45, 0.2, 0.3, 0.35
"""Shares: of tastes that show repeatedly, of dialogues in which a taste is given up or taken on, of dialogues with
tastes of a second workload, and of dialogues whose last session comes weeks after the others."""
HINTED = 0.85
"""Share of statements about a thing that also tell the subject, as the paper's "the romance and soundtrack were
perfect" does: without it, nothing but knowledge of the title leads from a question to a statement."""
NEAR = (6, 11)
"""Remarks on the subject that are nobody's or somebody else's preference, per dialogue."""
LONG_EPISODES = (4, 5)
"""How often a recurring taste shows in a long dialogue: in any but the last sessions."""
LONG_SESSION = 24
"""Turns of a session of a long dialogue, on average."""
LONG_NEAR = 0.1
"""Share of remarks on the subject among what lies between the statements of a long dialogue."""
LONG_QUIET = 0.2
"""Share of the sessions of a long dialogue, the last ones, in which no taste shows."""
FIRST_DAY = datetime(2025, 1, 6, 9, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Taste:
    """One concept of the user, with the sentences that will be said of it, in order."""

    concept: Concept
    texts: tuple[tuple[str, str, str], ...]
    """(part, sentence, the thing in it or "")."""
    choice: str = ""
    """What the assistant offers before the first sentence, where that one chooses."""
    turned: bool = False


def draw_dialogues(
    count: int, *, seed: int = 0, split: Split = "test", chatter: Chatter | None = None, long: int = 0
) -> Iterator[PreferenceDialogue]:
    """Yield dialogues, the workloads in the paper's proportions.

    The same for the same arguments, and the first ones the same whatever `count` is.

    Args:
        count: how many.
        seed: of everything that is drawn.
        split: `train` to learn on, `test` to measure on; they share no frame, no filler and no question.
        chatter: unrelated talk; by default built in.
        long: turns of each dialogue, in which tastes then show again and again over months; 0 for the usual ones.
    """
    chatter = chatter or Chatter(source="built in", conversations=(), split=split)
    given = dict.fromkeys(WORKLOADS, 0)
    whole = sum(workload(name, split).share for name in WORKLOADS)
    for number in range(count):
        name = max(WORKLOADS, key=lambda one: workload(one, split).share * (number + 1) / whole - given[one])
        given[name] += 1
        drawn = f"implicit/{split}/{seed}/{number}" + (f"/{long}" if long else "")
        yield _Drawing(name, number, split, chatter, Random(drawn), long).dialogue()


class _Drawing:
    """One dialogue in the making."""

    def __init__(self, name: str, number: int, split: Split, chatter: Chatter, rng: Random, long: int) -> None:
        self._long, self._episodes = long, LONG_EPISODES if long else EPISODES
        self._workload, self._talk, self._split = workload(name, split), talk(split), split
        self._chatter, self._rng = chatter, rng
        self._name = f"{split}-{name}-{number:04}" + (f"-{long}" if long else "")
        self._speaker = rng.choice(self._talk.names)
        self._sessions: list[list[PreferenceTurn]] = []
        self._used: set[str] = set()
        self._hints = {name: rng.choice(sorted(workload(name, split).hints)) for name in WORKLOADS}

    def dialogue(self) -> PreferenceDialogue:
        """Return it: early sessions with the tastes, later ones without, and the questions."""
        tastes = self._tastes()
        if self._long:
            self._long_sessions(tastes)
        else:
            self._usual_sessions(tastes)
        turns = tuple(turn for session in self._sessions for turn in session)
        stated = [
            Stated(concept=taste.concept, turned=taste.turned, turns=tuple(self._said(taste, turns)))
            for taste in tastes
        ]
        asks = self._workload.asks + self._talk.asks
        queries, leads = draw_queries(asks, stated, turns, self._rng)
        return PreferenceDialogue(
            user=self._name,
            workload=self._workload.name,
            split=self._split,
            speaker=self._speaker,
            turns=turns + leads,
            queries=queries,
        )

    def _said(self, taste: _Taste, turns: Sequence[PreferenceTurn]) -> Iterator[PreferenceTurn]:
        return (turn for turn in turns if turn.concept == _id(taste.concept) and turn.part in ("evidence", "stale"))

    def _tastes(self) -> list[_Taste]:
        rng, chosen = self._rng, list[Concept]()
        with_things = [concept for concept in self._workload.concepts if concept.things]
        chosen.append(rng.choice(with_things))
        pool = list(self._workload.concepts)
        if rng.random() < SECOND_WORKLOAD:
            other = rng.choice([name for name in WORKLOADS if name != self._workload.name])
            chosen += rng.sample([one for one in workload(other, self._split).concepts if one.things], 1)
        wanted = len(chosen) + rng.choice((1, 2, 2))
        for concept in rng.sample(pool, len(pool)):
            names = {one.name for one in chosen}
            clash = any(concept.name in one.excludes or one.name in concept.excludes for one in chosen)
            if len(chosen) < wanted and concept.name not in names and not clash:
                chosen.append(concept)
        turned = rng.random() < REVISED
        return [self._taste(concept, turned=turned and place == 0) for place, concept in enumerate(chosen)]

    def _taste(self, concept: Concept, *, turned: bool) -> _Taste:
        rng, home = self._rng, workload(concept.workload, self._split)
        polarity = rng.choice(concept.polarities)
        if not concept.things:
            count = rng.choice(self._episodes) if rng.random() < RECURRING else 1
            texts = rng.sample(concept.said[polarity], min(count, len(concept.said[polarity])))
            return _Taste(concept=concept, texts=tuple(("evidence", text, "") for text in texts))
        if turned:
            return self._turned(concept, home, polarity)
        count = min(rng.choice(self._episodes) if rng.random() < RECURRING else 1, len(concept.things))
        texts, things = self._frames(home, polarity, count), rng.sample(concept.things, count)
        said = [
            self._hinted(self._fill(home, concept, frame, thing), home, polarity)
            for frame, thing in zip(texts, things, strict=True)
        ]
        offer = ""
        if texts[0] in home.frames["like"].get("choice", ()) and polarity == "like":
            other = rng.choice(self._others(concept))
            offer = fill(rng.choice(home.offers), {"thing": things[0], "other": other})
        parts = tuple(("evidence", text, thing) for text, thing in zip(said, things, strict=True))
        return _Taste(concept=concept, texts=parts, choice=offer)

    def _turned(self, concept: Concept, home: Workload, polarity: str) -> _Taste:
        """A taste that changes: what was said before is stale, what is said last is the evidence."""
        rng = self._rng
        things = rng.sample(concept.things, 3)
        before = rng.randint(1, 2)
        stale = [
            ("stale", self._fill(home, concept, frame, thing), thing)
            for frame, thing in zip(self._frames(home, polarity, before), things, strict=False)
        ]
        frame = rng.choice(home.frames["revised"]["against" if polarity == "like" else "towards"])
        thing = things[2] if "{thing}" in frame else ""
        now = ("evidence", self._fill(home, concept, frame, things[2]), thing)
        return _Taste(concept=concept, texts=(*stale, now), turned=True)

    def _frames(self, home: Workload, polarity: str, count: int) -> list[str]:
        """Return wordings of different manners, as far as there are so many."""
        rng, manners, drawn = self._rng, home.frames[polarity], list[str]()
        names = rng.sample(sorted(manners), len(manners))
        for place in range(count):
            name = names[place % len(names)]
            # A choice answers an offer: it can only come first.
            texts = manners["indirect" if name == "choice" and place else name]
            fresh = [text for text in texts if text not in self._used]
            drawn.append(rng.choice(fresh or texts))
            self._used.add(drawn[-1])
        return drawn

    def _fill(self, home: Workload, concept: Concept, frame: str, thing: str) -> str:
        rng = self._rng
        other = rng.choice(self._others(concept))
        slots = {"thing": thing, "aspect": rng.choice(concept.aspects), "label": concept.label, "other": other}
        slots["alias"] = concept.aliases.get(thing, thing)
        return fill(frame, slots, several=home.several(thing))

    def _hinted(self, text: str, home: Workload, polarity: str) -> str:
        """Return a statement as it is, or with a remark that tells the subject."""
        hints = home.hints[self._hints[home.name]][polarity]
        return f"{text} {self._rng.choice(hints)}" if self._rng.random() < HINTED else text

    def _others(self, concept: Concept) -> list[str]:
        home = workload(concept.workload, self._split)
        return [thing for one in home.concepts if one.name != concept.name for thing in one.things]

    def _dates(self, count: int) -> list[datetime]:
        rng = self._rng
        day, days = FIRST_DAY + timedelta(days=rng.randint(0, 500), hours=rng.randint(0, 10)), []
        for number in range(count):
            days.append(day)
            long = number == count - 2 and rng.random() < LONG_GAP
            day += timedelta(days=rng.randint(30, 75) if long else rng.randint(2, 9), minutes=rng.randint(0, 300))
        return days

    def _usual_sessions(self, tastes: Sequence[_Taste]) -> None:
        early = max(3, *(len(taste.texts) for taste in tastes))
        late = self._rng.randint(2, 4)
        self._days = self._dates(early + late)
        for number in range(early):
            self._early_session(number, tastes)
        self._late_sessions(late, tastes)

    def _long_sessions(self, tastes: Sequence[_Taste]) -> None:
        """Tell every taste now and then over all but the last sessions, with talk and near remarks between."""
        rng, count = self._rng, max(8, self._long // LONG_SESSION)
        self._days = self._dates(count)
        told: list[list[list[PreferenceTurn]]] = [[] for _ in range(count)]
        for taste in tastes:
            sessions = sorted(rng.sample(range(count - round(LONG_QUIET * count)), len(taste.texts)))
            for number, session in enumerate(sessions):
                told[session].append(self._statement(taste, number))
        for unit in self._bridges(tastes):
            told[-1].append(unit)
        for units in told:
            while sum(map(len, units)) < self._long / count:
                units.append(self._near(tastes) if rng.random() < LONG_NEAR else self._chat())
            rng.shuffle(units)
            self._put(units)

    def _early_session(self, number: int, tastes: Sequence[_Taste]) -> None:
        rng = self._rng
        units = [self._statement(taste, number) for taste in tastes if number < len(taste.texts)]
        units += [self._chat() for _ in range(rng.randint(1, 2))]
        units += [self._near(tastes) for _ in range(rng.randint(0, 1))]
        rng.shuffle(units)
        if number and rng.random() < 0.3:
            units.insert(0, [self._turn("near", "user", rng.choice(self._workload.openers))])
        self._put(units)

    def _late_sessions(self, count: int, tastes: Sequence[_Taste]) -> None:
        """Fill the rest with distractors: exactly the drawn number of turns after the last evidence."""
        rng, (low, high) = self._rng, self._workload.distractors
        wanted = round(rng.triangular(low, high, low))
        said = [turn for session in self._sessions for turn in session]
        tail = next(place for place, turn in enumerate(reversed(said)) if turn.part in ("evidence", "stale"))
        units = [self._near(tastes) for _ in range(rng.randint(*NEAR))] + self._bridges(tastes)
        left = wanted - tail - sum(map(len, units))
        while left > 0:
            unit = self._chat()[:left]
            units.append(unit)
            left -= len(unit)
        rng.shuffle(units)
        cuts = sorted(rng.sample(range(3, len(units) - 3), count - 1))
        for start, end in zip((0, *cuts), (*cuts, len(units)), strict=True):
            self._put(units[start:end])

    def _statement(self, taste: _Taste, number: int) -> list[PreferenceTurn]:
        part, text, thing = taste.texts[number]
        said = replace(self._turn(_part(part), "user", text, taste.concept), thing=thing)
        unit = [said, self._turn("reply", "assistant", self._rng.choice(self._talk.replies))]
        if taste.choice and number == 0:
            unit.insert(0, self._turn("near", "assistant", taste.choice))
        return unit

    def _chat(self) -> list[PreferenceTurn]:
        unit = []
        for said, answered in self._chatter.draw(self._rng):
            unit.append(self._turn("talk", "user", said))
            if answered:
                unit.append(self._turn("talk", "assistant", answered))
        return unit

    def _near(self, tastes: Sequence[_Taste]) -> list[PreferenceTurn]:
        """Another's taste, a mention, a question, an errand, a suggestion; half about the user's own subjects."""
        rng = self._rng
        with_things = [concept for concept in self._workload.concepts if concept.things]
        own = [taste.concept for taste in tastes if taste.concept in with_things]
        concept = rng.choice(own) if own and rng.random() < 0.5 else rng.choice(with_things)
        manners = self._workload.frames["near"]
        manner = rng.choice(sorted(manners))
        text = self._fill(self._workload, concept, rng.choice(manners[manner]), rng.choice(concept.things))
        if manner == "assistant":
            return [self._turn("near", "assistant", text, concept)]
        unit = [self._turn("near", "user", text, concept)]
        if rng.random() < 0.5:
            unit.append(self._turn("reply", "assistant", rng.choice(self._talk.prompts + self._talk.replies)))
        return unit

    def _bridges(self, tastes: Sequence[_Taste]) -> list[list[PreferenceTurn]]:
        """A turn that says what another name stands for, so that a question can use the name."""
        units = []
        for taste in tastes:
            named = [thing for part, _, thing in taste.texts if part == "evidence" and thing in taste.concept.aliases]
            if named and taste.concept.workload == self._workload.name:
                frame = self._rng.choice(self._workload.frames["alias"]["bridge"])
                text = self._fill(self._workload, taste.concept, frame, named[0])
                units.append([replace(self._turn("bridge", "user", text, taste.concept), thing=named[0])])
        return units

    def _turn(self, part: Part, role: str, text: str, concept: Concept | None = None) -> PreferenceTurn:
        """Return a turn without its place, which `_put` gives it."""
        speaker = self._speaker if role == "user" else "assistant"
        name = "" if concept is None else _id(concept)
        return PreferenceTurn(
            turn_id="", session="", at=FIRST_DAY, role=role, speaker=speaker, text=text, part=part, concept=name
        )

    def _put(self, units: Sequence[Sequence[PreferenceTurn]]) -> None:
        number = len(self._sessions)
        placed = [
            replace(
                turn,
                turn_id=f"S{number + 1}:{place}",
                session=f"S{number + 1}",
                at=self._days[number] + timedelta(seconds=40 * place),
            )
            for place, turn in enumerate((turn for unit in units for turn in unit), start=1)
        ]
        self._sessions.append(placed)


def _id(concept: Concept) -> str:
    return f"{concept.workload}.{concept.name}"


def _part(name: str) -> Part:
    return "stale" if name == "stale" else "evidence"
