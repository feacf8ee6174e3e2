"""Annotated turns -> what is learned of them: words with the turns before, frames over them, and claims over frames.

    python training/frames/spoken.py training/corpus/train/*.txt      # how much of the annotation finds its words

A turn is read behind the two before it, each behind the name of its speaker, since roles and subjects may stand
there. A claim hangs on the head word of its object, its anchor, with spans for its subject, object and times, and for
the verb or noun that names its relation. What is not said in words of the turns (three objects in ten) cannot be
learned and is left out.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "corpus"))

import corpus
import marked
from roles import Span
from turns import ACTS, FRAME_FLAGS, PREPOSITIONS, Said, Spoken, Told

from doxa.backends.parser import Line
from doxa.backends.parser.sequences import BEFORE, sequenced
from doxa.backends.parser.sequences import Said as Word
from doxa.backends.parser.words import words
from doxa.language.stemming import stems_of
from doxa.language.times import Clock, find_times, read_times
from doxa.language.verbs import base_of

IDLE = frozenset("a an the my our your his her its their some this that these those to of 's ’s is".split())
OWNING = frozenset("my our your his her its their".split())
ME = frozenset("i me my mine we us our ours myself im".split())
WHOSE = frozenset("his their its who whose which there then".split())
VAGUE = frozenset("he she it they that this him them these those one".split())
YOU = frozenset("you your yours u ur yourself".split())


def read(paths: Iterable[Path]) -> Iterator[Spoken]:
    """The turns of annotated files; those in a folder `marked` are marked ones."""
    for path in paths:
        if path.parent.name == "marked":
            for told in marked.read_marked(path):
                yield from (_marked(told, at) for at in range(len(told.turns)))
        else:
            for dialogue in corpus.read_dialogues(path):
                yield from (_Placing(dialogue, at).placed() for at in range(len(dialogue.turns)))


def _bare(dialogue: corpus.Dialogue | marked.Dialogue, at: int) -> Spoken:
    """A turn of which nothing is known yet; its words have the numbers of their turns."""
    first = max(0, at - BEFORE)
    one = sequenced([Line(turn.speaker, turn.text) for turn in dialogue.turns[first : at + 1]])
    found = tuple(Word(word.form, word.line + first, word.start, word.end) for word in one.words)
    return Spoken(f"{dialogue.id}:{at}", found, one.begin)


def _inside(words: Sequence[Word], span: corpus.Span, turn: int, role: str = "") -> Span | None:
    """The words at the characters of a turn; None where they are not among those that are read."""
    inside = [
        place
        for place, one in enumerate(words)
        if one.line == turn and one.start >= 0 and one.start < span.end and span.start < one.end
    ]
    return Span(inside[0], inside[-1] + 1, role) if inside else None


def _marked(dialogue: marked.Dialogue, at: int) -> Spoken:
    """A turn whose claims were marked in words."""
    turn, out = dialogue.turns[at], _bare(dialogue, at)
    out.marked = True

    def placed(span: corpus.Span, role: str) -> Span | None:
        assert span.turn is not None  # a mark says in which turn its words stand
        return _inside(out.words, span, span.turn, role)

    out.open_points = {k for k in range(out.begin, len(out.words)) if out.words[k].form.casefold() in VAGUE | WHOSE}
    for source, goal in turn.references:
        ends = placed(source, ""), placed(goal, "")
        if ends[0] is not None and ends[1] is not None and ends[0] != ends[1]:
            out.points[ends[0].end - 1] = ends[1].end - 1
            out.open_points.discard(ends[0].end - 1)
    for claim in turn.claims:
        out.lost["claims"] += 1
        verb = [found for word in claim.words if (found := placed(word, "verb")) is not None]
        if claim.object is None:
            object_ = replace(verb[0], role="object") if verb else None
        else:
            object_ = placed(claim.object, "object")
        if object_ is None:
            out.lost["objects"] += 1
            continue
        anchor = head_word(out.words, object_)
        speaker = Span(out.begin - 2, out.begin - 1, "subject")
        subject = speaker if claim.subject is None else placed(claim.subject, "subject")
        if subject is None or any(one.anchor == anchor and one.relation != claim.relation for one in out.claims):
            out.lost["subjects" if subject is None else "doubles"] += 1
            out.open_anchors.add(anchor)
            continue
        values = [found for part, span in claim.values if (found := placed(span, part)) is not None]
        named = [] if claim.object is None else [one for one in verb if not object_.start <= one.start < object_.end]
        flags = claim.flags | ({"correct"} if any(one.role == "instead" for one in values) else set())
        out.claims.append(Told(anchor, claim.relation, (object_, subject, *_joined(named), *values), flags))
    return out


def _joined(spans: Sequence[Span]) -> Iterator[Span]:
    """Neighbours as one."""
    left = sorted(set(spans))
    while left:
        one = left.pop(0)
        while left and left[0].start == one.end:
            one = Span(one.start, left.pop(0).end, one.role)
        yield one


def head_word(words: Sequence[Word], span: Span) -> int:
    """The word before the first preposition within a phrase, else its last one."""
    for at in range(span.start + 1, span.end):
        if words[at].form.casefold() in PREPOSITIONS:
            return at - 1
    return span.end - 1


class _Placing:
    """One turn, whose annotation looks for its words."""

    def __init__(self, dialogue: corpus.Dialogue, at: int) -> None:
        self.turn, self.at, self.out = dialogue.turns[at], at, _bare(dialogue, at)
        self.speakers = {one.speaker for one in dialogue.turns}
        self.stems = [_stem(one.form) for one in self.out.words]
        self.meant = [(self._span(words), meaning) for words, meaning in self.turn.references]

    def placed(self) -> Spoken:
        for frame in self.turn.frames:
            self._frame(frame)
        for place, meaning in self.meant:
            if place is not None and (goal := self._named(meaning, before=place.start)) is not None:
                self.out.points[place.end - 1] = goal.end - 1
        for claim in self.turn.claims:
            self._claim(claim)
        return self.out

    def _span(self, span: corpus.Span, role: str = "") -> Span | None:
        """The words that an annotation copies."""
        if span.start < 0:
            return None
        return _inside(self.out.words, span, self.at if span.turn is None else span.turn, role)

    def _frame(self, frame: corpus.Frame) -> None:
        roles = [found for role, span in frame.roles if (found := self._span(span, role)) is not None]
        self.out.lost["roles"] += len(frame.roles) - len(roles)
        place = self._span(frame.predicate)
        if place is not None:
            word = place.start
        else:  # an implied predicate hangs on the last word of what is said of it
            own = [one for one in roles if one.start >= self.out.begin]
            order = ("value", "content", "goal", "place", "time", "theme")
            own.sort(key=lambda one: order.index(one.role) if one.role in order else 9)
            if not own:
                self.out.lost["frames"] += 1
                return
            word = own[0].end - 1
        if any(one.word == word for one in self.out.frames):
            free = [place for one in roles for place in range(one.start, one.end) if place >= self.out.begin]
            free = [place for place in free if all(one.word != place for one in self.out.frames)]
            if place is not None or not free:
                self.out.lost["frames"] += 1
                return
            word = free[-1]
        flags = set(frame.flags) & set(FRAME_FLAGS)
        values = dict(frame.values)
        if frame.implied:
            flags.add("implied")
        if "by" in values:
            flags.add("quoted")
        act = next((one for one in ACTS[1:] if one in frame.flags), ACTS[0])
        apart: list[Span] = []
        for one in sorted(roles, key=lambda one: (one.end - one.start, one.start)):
            if all(one.end <= other.start or other.end <= one.start for other in apart):
                apart.append(one)
        self.out.lost["roles"] += len(roles) - len(apart)
        self.out.frames.append(Said(word, tuple(sorted(apart)), frozenset(flags), act, values.get("asks", "")))

    def _claim(self, claim: corpus.Claim) -> None:
        lost = self.out.lost
        lost["claims"] += 1
        object_ = None if claim.object == "-" else self._object(claim)
        verb = self._verb(claim, near=object_)
        if claim.object == "-" and verb is not None:
            object_ = Span(verb, verb + 1, "object")
        if object_ is None or object_.start < self.out.begin:
            lost["objects"] += 1
            goal = set(_content(claim.object))
            self.out.open_anchors |= {at for at in range(self.out.begin, len(self.stems)) if self.stems[at] in goal}
            return
        anchor = head_word(self.out.words, object_)
        subject = self._subject(claim.subject, near=object_)
        relation = claim.relation
        named = verb is not None and self._names(verb, relation)
        if subject is None or any(one.anchor == anchor and one.relation != relation for one in self.out.claims):
            lost["subjects" if subject is None else "doubles"] += 1
            self.out.open_anchors.add(anchor)
            return
        spans = [Span(object_.start, object_.end, "object"), Span(subject.start, subject.end, "subject")]
        if named and not object_.start <= verb < object_.end:
            spans.append(Span(verb, verb + 1, "verb"))
        values = dict(claim.values)
        for part in ("from", "to", "on"):
            if part in values and (found := self._date(values[part])) is not None:
                spans.append(Span(found.start, found.end, part))
            elif part in values:
                lost[part] += 1
        for part in ("instead", "by"):
            if part in values and (found := self._named(values[part])) is not None:
                spans.append(Span(found.start, found.end, part))
        flags = set(claim.flags) | ({"correct"} if "instead" in values else set())
        self.out.claims.append(Told(anchor, relation, tuple(spans), frozenset(flags)))

    def _verb(self, claim: corpus.Claim, near: Span | None) -> int | None:
        """The word that names the relation, else the predicate of the smallest frame that holds the object."""
        begin = self.out.begin
        named = [_stem(one) for one in claim.relation.replace("_", " ").split()]
        at = near.start if near else begin
        same = [
            one
            for one in range(begin, len(self.stems))
            if self._names(one, claim.relation) or _tie(self.stems[one], named)
        ]
        if same:
            return min(same, key=lambda one: abs(one - at))
        holding = [
            (span.end - span.start, abs(frame.word - at), frame.word)
            for frame in self.out.frames
            for span in frame.roles
            if near and span.start < near.end and near.start < span.end and not near.start <= frame.word < near.end
        ]
        return min(holding)[2] if holding else None

    def _names(self, word: int, relation: str) -> bool:
        """Whether a word is the verb or noun of a relation, in any form."""
        first = relation.replace("_", " ").split()[0]
        form = self.out.words[word].form.casefold()
        bases = {form, base_of(form, "base", "third", "past", "participle", "gerund")}
        return self.stems[word] == _stem(first) or bool({first, base_of(first, "third") or first} & bases)

    def _object(self, claim: corpus.Claim) -> Span | None:
        text = claim.object
        if re.fullmatch(r"\d{4}(-\d\d){0,2}", text) and (found := self._date(text)):
            return found
        if re.fullmatch(r"(?:about |before |after |by )?\d\d:\d\d.*", text) and (found := self._clock(text)):
            return found
        return self._named(text)

    def _subject(self, name: str, near: Span) -> Span | None:
        """The mention of somebody that is nearest to the object: before it rather than behind, and in its turn."""
        found = [place for place, meaning in self.meant if place is not None and meaning == name]
        if name == self.turn.speaker:
            found += self._pronouns(ME)
        elif name in self.speakers:
            found += self._pronouns(YOU)
        explicit = self._named(name, refer=False)
        found += [explicit] if explicit is not None else []
        found = [one for one in found if one.end <= near.start or one.start >= near.end]
        own = [one for one in found if one.start >= self.out.begin]
        if not own and name == self.turn.speaker:
            return self._name_of(self.at)
        if own:
            owning = [
                one for one in own if self.out.words[one.start].form.casefold() in OWNING and one.end == one.start + 1
            ]
            return min(own, key=lambda one: (one in owning, one.start > near.start, abs(one.start - near.start)))
        if found:
            return max(found)
        inside = [one for one in self.out.frames if any(s.start < near.end and near.start < s.end for s in one.roles)]
        for frame in sorted(inside, key=lambda one: abs(one.word - near.start)):
            for role in ("agent", "theme"):
                for one in frame.roles:
                    vague = self.out.words[one.start].form.casefold() in VAGUE and one.end == one.start + 1
                    if one.role == role and vague and one.end <= near.start:
                        return one
        return None

    def _pronouns(self, forms: frozenset[str]) -> list[Span]:
        own = range(self.out.begin, len(self.out.words))
        return [Span(place, place + 1, "") for place in own if self.out.words[place].form.casefold() in forms]

    def _name_of(self, turn: int) -> Span | None:
        place = next((at for at, one in enumerate(self.out.words) if one.line == turn and one.start < 0), None)
        return None if place is None else Span(place, place + 1, "")

    def _named(self, text: str, *, before: int | None = None, refer: bool = True) -> Span | None:
        """The words that say a name or phrase: of the turn first, then what refers to it, then of the turns before."""
        found = self._said(text, before)
        if found is not None and (found.start >= self.out.begin or before is not None):
            return found
        for place, meaning in self.meant:
            if refer and before is None and place is not None and meaning.casefold() == text.casefold():
                return place
        return found

    def _said(self, text: str, before: int | None) -> Span | None:
        goal = _content(text)
        if "'s " not in text:
            return self._search(goal, before) or (self._likest(goal) if before is None else None)
        owner, _, noun = text.rpartition("'s ")
        found = None
        if owner != self.turn.speaker:
            found = self._search(goal, before)
        found = found or self._search(_content(noun), before)
        if found is None:
            return self._likest(_content(noun)) if before is None else None
        start = found.start
        while start > 0 and self.out.words[start - 1].form.casefold() in OWNING:
            start -= 1
        return Span(start, found.end, "")

    def _likest(self, goal: Sequence[str]) -> Span | None:
        """The role of the turn that shares most of its words with a phrase, half of all of both at least."""
        spans = {one for frame in self.out.frames for one in frame.roles if one.start >= self.out.begin}
        best, most = None, 0.5
        for one in sorted(spans):
            own = {stem for stem in self.stems[one.start : one.end] if stem not in IDLE}
            like = len(own & set(goal)) / max(1, len(own | set(goal)))
            if like > most or (like == most and best is None):
                best, most = Span(one.start, one.end, ""), like
        return best

    def _search(self, goal: Sequence[str], before: int | None) -> Span | None:
        if not goal:
            return None
        end = len(self.stems)
        hits: list[Span] = []
        for start in range(end):
            if self.stems[start] != goal[0]:
                continue
            at, left = start, 0
            for one in goal:
                while at < end and self.stems[at] != one and at > start and (self.stems[at] in IDLE or left < 1):
                    left += self.stems[at] not in IDLE
                    at += 1
                if at >= end or self.stems[at] != one or self.out.words[at].turn != self.out.words[start].turn:
                    break
                at += 1
            else:
                hits.append(Span(start, at, ""))
        if before is not None:
            hits = [one for one in hits if one.end <= before]
            return hits[-1] if hits else None
        own = [one for one in hits if one.start >= self.out.begin]
        return own[0] if own else (hits[-1] if hits else None)

    def _date(self, text: str) -> Span | None:
        at = datetime.combine(self.turn.day, time(12), UTC)
        for turn, said in self._texts():
            for past in (None, True, False):
                for one in find_times(said, at, past=past):
                    bounds = [str(day) for day in (one.valid.start, one.valid.end) if day is not None]
                    if any(day.startswith(text) or text.startswith(day) for day in bounds):
                        return self._span(corpus.Span(one.text, one.start, one.end, turn))
        return self._search([_stem(part) for part in text.split("-")[:1]], None)

    def _clock(self, text: str) -> Span | None:
        match = re.search(r"(\d\d):(\d\d)", text)
        assert match is not None
        at = datetime.combine(self.turn.day, time(12), UTC)
        for turn, said in self._texts():
            for one in read_times(said, at):
                if isinstance(one.value, Clock) and one.value.hour % 12 == int(match[1]) % 12:
                    return self._span(corpus.Span(one.text, one.start, one.end, turn))
            for found in re.finditer(r"\d\d?(?:[:.]\d\d)?", said):
                hour, _, minute = found[0].replace(".", ":").partition(":")
                if int(hour) % 12 == int(match[1]) % 12 and int(minute or 0) == int(match[2]):
                    return self._span(corpus.Span(found[0], *found.span(), turn))
        return None

    def _texts(self) -> Iterator[tuple[int, str]]:
        yield self.at, self.turn.text


def _tie(stem: str, named: Sequence[str]) -> bool:
    same = {"mum": "mother", "mom": "mother", "dad": "father", "husband": "husband"}
    return len(named) == 1 and same.get(stem) == named[0]


def _content(text: str) -> list[str]:
    found = [_stem(one.form) for one in words(text)]
    return [one for one in found if one not in IDLE] or found


def _stem(form: str) -> str:
    form = form.casefold().replace("’", "'")
    return next(iter(stems_of(form)), form)


def main() -> None:
    """Count what finds its words, and show some turns."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--show", type=int, default=0)
    args = parser.parse_args()
    lost: Counter[str] = Counter()
    found: Counter[str] = Counter()
    relations: Counter[str] = Counter()
    for one in read(args.files):
        lost += one.lost
        found.update(
            turns=1, words=len(one.words), frames=len(one.frames), claims=len(one.claims), points=len(one.points)
        )
        found.update(roles=sum(len(frame.roles) for frame in one.frames))
        relations.update(claim.relation for claim in one.claims)
        if found["turns"] <= args.show:
            print(" ".join(one.forms))
            for claim in one.claims:
                parts = {s.role: " ".join(one.forms[s.start : s.end]) for s in claim.spans}
                print("   ", one.forms[claim.anchor], claim.relation, parts, set(claim.flags))
    print("found", dict(found))
    print("lost", dict(lost))
    print(len(relations), relations.most_common(60))


if __name__ == "__main__":
    main()
