"""What a reader of turns hears -> propositions: who is meant, which relation it is, when it holds."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from doxa.backends.parser import Heard, Line, Parse, Parser, Place, Told, TurnReader
from doxa.core.values import Act, Claim, Interval, Modality, Term, Turn
from doxa.language.stemming import stems_of
from doxa.language.times import TimeSpan, find_times
from doxa.language.verbs import Form, base_of, gerund_of
from doxa.language.words import POINTING, SPEAKING, SPOKEN_TO
from doxa.memory import RelationType, attribute, is_tie, relation_names, relation_type, verb_type
from doxa.understand.earlier import Earlier
from doxa.understand.grounding import named_by
from doxa.understand.referents import Referents, clean, kin_of, term
from doxa.understand.repairs import put_right
from doxa.understand.scene import Proposition

__all__ = ["Hearing", "amended", "heard_lines", "hearing_of"]

BEFORE = 2
"""Turns before that help to read one."""
SURE = 0.97
"""Least probability of a claim. What the readers of syntax say is surer, so what is added to it has to be."""
NOUNS = frozenset(
    "reference_number phone_number email_address shoe_size star_sign blood_type hair_colour eye_colour colour breed "
    "surname nickname height temperature capital headcount address password salary deadline appointment anniversary "
    "birthday price insurance car bike team hobby school university skill religion nationality marital_status".split()
)
"""Relations of the corpus that are nouns, beside those of the inventory."""
DATED = frozenset("takes_place_on begins_on ends_on deadline birthday born_on died_on anniversary appointment".split())
"""Relations whose object is a day."""
ACTIVITIES = frozenset(("likes", "enjoy", "prefers"))
"""Relations whose object may be something to do."""
DENIALS = {"hate": "likes"}
"""Relations of the corpus that are the denial of one of the inventory."""
MODES = (("wish", Modality.DESIRED), ("maybe", Modality.POSSIBLE), ("plan", Modality.PLANNED))
ACTS = (("withdraw", Act.WITHDRAW), ("correct", Act.CORRECT))
FORMS: tuple[Form, ...] = ("base", "third", "past", "participle", "gerund")


@dataclass(frozen=True, slots=True)
class Hearing:
    """A turn as it was heard, and the lines that its places are in."""

    turn: Turn
    lines: Sequence[Line]
    heard: Heard

    def propositions(self, referents: Referents, start: int, end: int) -> Iterator[Proposition]:
        """Yield what the characters `start` to `end` of the turn say that is worth keeping, in order."""
        before: set[tuple[str, str, str, bool]] = set()
        for told in sorted(self.heard.claims, key=lambda one: (one.anchor.start, one.object)):
            own = told.anchor.line == len(self.lines) - 1
            if told.p < SURE or "minor" in told.flags or self._repeated(told) or self._commanded(told):
                continue
            if start <= told.anchor.start < end if own else not start:
                found = self._proposition(told, referents)
                if found is None:
                    continue
                same = found.subject.key, found.kind.name, found.object.key, found.polarity
                if same not in before:
                    before.add(same)
                    yield found

    def _repeated(self, told: Told) -> bool:
        """Tell whether the speaker has said a claim as it is in lines before, where it was read; they answer no one."""
        places = (told.anchor, told.subject, *told.words, told.object, *(place for _, place in told.times))
        speakers = {self.lines[place.line].speaker for place in places}
        own = len(self.lines) - 1
        return not told.flags and speakers == {self.turn.speaker} and all(place.line < own for place in places)

    def _commanded(self, told: Told) -> bool:
        """Tell whether a claim is what one is told to say: "answer that I live in Porto", but "tell Ana that I do"."""
        found = self._parsed(told.anchor)
        if found is None:
            return False
        (word, *_), _, parse = found
        arcs = list(zip(parse.forms, parse.heads, parse.deprels, strict=True))
        others = {
            head
            for form, head, label in arcs
            if label in ("obj", "iobj") or ("subj" in label and form.casefold() not in SPOKEN_TO)
        }
        while (above := parse.heads[word]) >= 0:
            bare = parse.forms[above].casefold() == parse.lemmas[above]
            if parse.deprels[word] == "ccomp" and bare and above not in others:
                return True
            word = above
        return False

    def _parsed(self, place: Place) -> tuple[list[int], Sequence[int], Parse] | None:
        """Return the words at a place of the turn, where all words of their sentence start, and its parse."""
        if place.line != len(self.lines) - 1:
            return None
        for starts, parse in self.heard.parses:
            if inside := [k for k, start in enumerate(starts) if place.start <= start < place.end]:
                return inside, starts, parse
        return None

    def _proposition(self, told: Told, referents: Referents) -> Proposition | None:
        subject = self._who(told.subject, referents) if self._nominal(told.subject) else None
        if subject is None or not (self._nominal(told.object) or told.object == told.anchor):
            return None
        kind, holds = self._kind(told), told.relation not in DENIALS
        thing = self._what(told, kind, referents)
        if thing is None or thing == subject:
            return None
        if kind.name not in relation_names():
            kind, holds = named_by(kind, thing, self.turn, referents)
        modality = next((mode for flag, mode in MODES if flag in told.flags), Modality.ASSERTED)
        act = next((act for flag, act in ACTS if flag in told.flags), Act.STATE)
        over = "over" in told.flags
        valid = self._valid(told)
        lasting = kind.name in relation_names() and kind.nature == "state" and not over
        if lasting and valid.start is not None and any(part == "on" for part, _ in told.times):
            valid = Interval(start=valid.start, start_precision=valid.start_precision)
        if modality is Modality.ASSERTED and not over and valid.start and valid.start > self.turn.at.date():
            modality = Modality.PLANNED
        values = dict(told.times)
        return Proposition(
            subject=subject,
            kind=kind,
            object=thing,
            polarity=("not" not in told.flags) == holds,
            modality=modality,
            valid=valid,
            ended=over,
            act=act,
            confidence=told.p,
            source=clean(self._text(values["by"])) if "by" in values else "",
            instead=clean(self._text(values["instead"])) if "instead" in values else "",
        )

    def _nominal(self, place: Place) -> bool:
        """Tell whether words can be of somebody or something: they end in no adverb, conjunction or interjection."""
        found = self._parsed(place)
        return found is None or found[2].upos[found[0][-1]] not in ("INTJ", "ADV", "SCONJ", "CCONJ", "PUNCT")

    def _text(self, place: Place) -> str:
        line = self.lines[place.line]
        return line.speaker if place.start < 0 else line.text[place.start : place.end]

    def _who(self, place: Place, referents: Referents) -> Term | None:
        """Return whom or what words mean."""
        line = self.lines[place.line]
        text = re.sub(r"(?:'s|\u2019s)$", "", self._text(place))
        word = text.casefold().replace("\u2019", "'")
        if place.start < 0 or word in SPEAKING:
            return term(line.speaker)
        if word in SPOKEN_TO:
            others = [one.speaker for one in self.lines if one.speaker != line.speaker]
            return term(others[-1]) if others else referents.other
        if word in POINTING:
            meant = self.heard.antecedent(place)
            if meant is not None and meant != place:
                who = self._who(meant, referents)  # those who talk with each other are no "she" to each other
                return None if who is not None and who.label in {one.speaker for one in self.lines} else who
            known = referents.topic if word in ("it", "its") else referents.resolve(text)
            return None if known is None or known.key in POINTING else known
        owner, _, noun = text.partition(" ")
        if noun and owner.casefold() in POINTING:
            size = len(owner)
            meant = self.heard.antecedent(replace(place, end=place.start + size))
            whose = self._who(meant, referents) if meant is not None else None
            if whose is not None:
                return referents.possession(whose, clean(noun))
        if place.line != len(self.lines) - 1 and owner.casefold() in ("my", "our") and noun:
            return referents.possession(term(line.speaker), clean(noun))
        return referents.resolve(text)

    def _what(self, told: Told, kind: RelationType, referents: Referents) -> Term | None:
        text = self._text(told.object)
        if told.words == (told.object,) and _verb_of(text) == _verb_of(kind.label):
            return term("")  # "she sings"
        word = text.casefold()
        if word in SPEAKING | SPOKEN_TO | POINTING or told.object.start < 0:
            return self._who(told.object, referents)
        if kind.range == "Date" or kind.name in DATED:
            for span in self._times(told.object):
                if span.valid.start is not None and span.kind != "clock":
                    return term(Interval.format(span.valid.start, span.valid.start_precision))
        if re.match(r"(?:my|our|his|her|your|their) ", text, re.IGNORECASE) or "'s " in text:
            noun = clean(text)
            if kin_of(noun.partition(" ")[0]) or kin_of(noun):
                return self._who(told.object, referents) or term(noun)
        verb, _, rest = clean(text).removeprefix("to ").partition(" ")
        if kind.name in ACTIVITIES and (base := base_of(verb.casefold(), "base")):
            return term(f"{gerund_of(base)} {rest}".strip())
        return term(clean(text) or text)

    def _kind(self, told: Told) -> RelationType:
        name = DENIALS.get(told.relation, told.relation)
        said = " ".join(self._text(place) for place in told.words)
        if kin := kin_of(said.casefold()):
            return attribute(kin)
        if name in relation_names():
            return relation_type(name)
        if name:
            words = name.replace("_", " ")
            if name in NOUNS or is_tie(name) or kin_of(words) or name.startswith("favourite_"):
                return attribute(words)
            return relation_type(name) if "_" in name else verb_type(base_of(name, "third") or name)
        lemma, *rest = self._named(told)
        if kin := kin_of(lemma):
            return attribute(kin)
        if lemma in relation_names() or is_tie(lemma):
            return relation_type(lemma)
        if lemma == "have" and not rest:
            return relation_type("has")
        return relation_type("_".join([lemma, *rest])) if rest else verb_type(lemma)

    def _named(self, told: Told) -> list[str]:
        """Return the words that name the relation, a verb in its base form, and after "be" in the passive."""
        found = self._parsed(told.words[0])
        if found is None:
            forms = [form for place in told.words for form in self._text(place).casefold().split()]
            return [base_of(forms[0], *FORMS) or forms[0], *forms[1:]]
        _, starts, parse = found
        said = [k for k, start in enumerate(starts) for place in told.words if place.start <= start < place.end]
        verbs = [k for k in said if parse.upos[k] == "VERB"]
        said = [k for k in said if parse.upos[k] != "AUX" or not verbs or k > verbs[0]]
        at = said[0]
        forms = [parse.forms[k].casefold() for k in said]
        rest = forms[1:] or self._led(told, at, starts, parse)
        if parse.upos[at] in ("ADP", "ADJ"):
            return ["be", *forms[:1], *rest]
        if any(head == at and label == "aux:pass" for head, label in zip(parse.heads, parse.deprels, strict=True)):
            return ["be", forms[0], *rest]
        return [base_of(forms[0], *FORMS) or parse.lemmas[at].casefold(), *rest]

    def _led(self, told: Told, at: int, starts: Sequence[int], parse: Parse) -> list[str]:
        """Return the particle of a verb, or the preposition before its object."""
        for k, (head, label) in enumerate(zip(parse.heads, parse.deprels, strict=True)):
            if head == at and label == "compound:prt":
                return [parse.forms[k].casefold()]
        if told.object.start in starts:
            before = starts.index(told.object.start) - 1
            if before > at and parse.upos[before] == "ADP":
                return [parse.forms[before].casefold()]
        return []

    def _times(self, place: Place) -> list[TimeSpan]:
        found = find_times(self.lines[place.line].text, self.turn.at)
        return [one for one in found if one.start < place.end and place.start < one.end]

    def _valid(self, told: Told) -> Interval:
        found = Interval()
        for part, place in told.times:
            spans = self._times(place) if part in ("from", "to", "on") else []
            for span in spans[:1]:
                valid = span.valid
                if part == "on":
                    end = valid.end or valid.start
                    precision = valid.end_precision if valid.end else valid.start_precision
                    found = replace(valid, end=end, end_precision=precision)
                elif part == "from" and valid.start is not None:
                    found = replace(found, start=valid.start, start_precision=valid.start_precision)
                elif part == "to" and (end := valid.end or valid.start) is not None:
                    precision = valid.end_precision if valid.end else valid.start_precision
                    found = replace(found, end=end, end_precision=precision)
        if found.start and found.end and found.end < found.start:
            return Interval(start=found.start, start_precision=found.start_precision)
        return found


def _verb_of(phrase: str) -> str:
    first = phrase.casefold().partition(" ")[0]
    return base_of(first, *FORMS) or first


def amended(claim: Claim, instead: str, earlier: Earlier, text: str) -> Iterator[Claim]:
    """Yield what a claim that takes something back or puts it right does to what was said before.

    Args:
        claim: as it was read, its act being what it does.
        instead: the words of the old value, where they are said.
        earlier: what stands.
        text: the sentence.
    """
    if claim.act is Act.STATE:
        yield claim
        return
    wrong = _meant(claim, instead, earlier)
    if claim.act is Act.CORRECT:
        plain = replace(claim, act=Act.STATE)
        yield from put_right(wrong, plain, earlier, text) if wrong is not None else (plain,)
    elif wrong is not None:
        turn = earlier.turn
        yield replace(
            wrong, act=Act.WITHDRAW, replaces=None, turn_id=turn.turn_id, speaker=turn.speaker, role=turn.role,
            known_at=turn.at, span=text, confidence=claim.confidence,
        )  # fmt: skip


def _meant(claim: Claim, instead: str, earlier: Earlier) -> Claim | None:
    """Return the claim that is taken back or put right: of the same thing, and as like in words as there is one."""
    wanted = stems_of(instead) if instead else stems_of(claim.object.label) if claim.act is Act.WITHDRAW else set()
    best, most = None, 0.0
    for one in earlier.claims:
        if one.act is Act.WITHDRAW or (
            claim.act is Act.CORRECT
            and one.object == claim.object
            and one.subject == claim.subject
            and one.valid == claim.valid
        ):
            continue
        own = stems_of(one.object.label)
        same = (one.subject == claim.subject) + (one.relation.name == claim.relation.name)
        like = len(wanted & own) / max(1, len(wanted | own)) if wanted else 0.0
        score = same + 1.5 * like
        if score >= most and score >= (2.0 if not like else 1.5):
            best, most = one, score
    return best


def hearing_of(turn: Turn, context: Sequence[Turn], parser: Parser | None) -> Hearing | None:
    """Return what a turn says, heard with the turns before it.

    None where the parser reads sentences alone, and for an assistant, which mostly repeats what it was told.

    Raises:
        BackendError: the parser failed.
    """
    lines = heard_lines(turn, context)
    if not lines or not isinstance(parser, TurnReader):
        return None
    return Hearing(turn, lines, parser.hear([lines])[0])


def heard_lines(turn: Turn, context: Sequence[Turn]) -> list[Line]:
    """Return what a reader of turns hears of a turn; nothing of an assistant's."""
    if turn.role != "user":
        return []
    return [*(Line(one.speaker, one.text) for one in context[-BEFORE:]), Line(turn.speaker, turn.text)]
