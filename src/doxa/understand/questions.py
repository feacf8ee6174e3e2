"""Questions: a question becomes a declarative with a hole, and what reads statements reads it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

from doxa.backends.parser import Parser
from doxa.core.values import Asks, Interval, Question, QuestionKind, Term, Turn
from doxa.language import stems
from doxa.language.syntax import trees
from doxa.language.times import find_times
from doxa.memory import Beliefs, relation_type
from doxa.understand.asked import Asked, asked_by_tree, trimmed
from doxa.understand.declaratives import AUX, Declarative, declare, find_question
from doxa.understand.predications import predications
from doxa.understand.propose import HOLE, Proposition, propose_parsed
from doxa.understand.referents import NAME, NOT_NAMES, Referents, clean, kin_of, named
from doxa.understand.text import sentences

__all__ = ["find_question", "read_question"]

ONLY_ASKED = re.compile(r"\b(?:ever|any) ", re.IGNORECASE)
"""What a question has and no statement (negative polarity items)."""
HISTORY = re.compile(
    r"\b(?:used to|(?<!how )old(?= \w)|former|previous|before|"
    r"ever|previously|formerly|originally|in the past|back then|last known|earlier|once)\b",
    re.I,
)
PAST = re.compile(r"\b(?:did|was|were|had)\b", re.IGNORECASE)
JOB = re.compile(r"(.+?) (?:do|does|did) do (?:(?:Qhole )?(?:for (?:a )?(?:living|work)|for Qhole)|Qhole(?: now)?$)")
"""What somebody does, in general, is an occupation."""
TELLING = (
    r"(?:told?|tells?|said|says?|mention(?:ed|s)?|vouch(?:ed|es)?|confirm(?:ed|s)?|claim(?:ed|s)?|report(?:ed|s)?|"
    r"stands? (?:behind|by)|stood (?:behind|by)|backs?(?: up)?|backed(?: up)?|supports?)"
)
VOUCHING = re.compile(r"vouch|stand$|back$|support$")
SOURCES = re.compile(
    r"^(?:who|which source|what source|whose word)(?: else)?(?: (?:still|also|now|has|have|had|was it that))* "
    rf"{TELLING}\b"
    r"(?: (?:me|us|you|for|that|about|of))* ?(?P<what>.*)$|^whose word (?:is|was) (?:it|that) ?(?P<more>.*)$|"
    r"^(?:where|from whom|who) (?:do|does|did) (?:I|we|you|\w+) (?:have|know|hear|learn|get) (?:that|this|it|about)"
    r"(?: that| from)? ?(?P<rest>.*)$",
    re.IGNORECASE,
)
"""Questions for the source of what is believed."""
PLACES = frozenset(
    "city town village country state county region continent island neighbourhood neighborhood district suburb borough "
    "street road avenue square address place location room building floor office venue area part".split()
)
TIMES = {
    "date": "date", "day": "day", "weekday": "day", "month": "month", "year": "year", "time": "clock", "hour": "clock",
    "o'clock": "clock",
}  # fmt: skip
TYPES: dict[QuestionKind, str] = {
    "who": "person", "where": "place", "when": "time", "how_long": "duration", "how_much": "number", "count": "number",
}  # fmt: skip
TITLE = re.compile(r"(?:Dr|Mr|Mrs|Ms|Prof|Miss|Sir)\.?")
UNITS = re.compile(r"(?:\w+ )?(year|month|week|day)s?$")


def read_question(
    text: str, *, asker: str, at: datetime, context: Sequence[Turn], beliefs: Beliefs, parser: Parser | None = None
) -> Question:
    """Return what a question asks for.

    Args:
        text: the question, or a message that contains it.
        asker: whose "I" it is.
        at: the time of asking; times in the question resolve against it.
        context: earlier turns, oldest first.
        beliefs: who is known.
        parser: gives the trees of the question and of its statement; without one its relation is not read.

    A question that no pattern reads asks for "anything" about its `terms`. Cost: O(len(text)) and, with a parser, the
    parses of the question and of its declarative.

    Raises:
        BackendError: the parser failed.
    """
    sentence = " ".join((find_question(text) or text).split())
    written = next((s.text for s in sentences(sentence) if s.text), "")
    asked = trimmed(written, at, past=bool(PAST.search(written)))
    if parser is not None:
        asked = asked_by_tree(asked, parser)
    turn = Turn(turn_id="", user="", session="", speaker=asker, role="user", text=sentence, at=at)
    referents = Referents.of(turn, context, beliefs)
    declarative = _declared(asked)
    base = _base(sentence, written, asked, declarative, referents, at)
    sources = SOURCES.match(asked.text)
    if sources:
        return _about_source(base, next(filter(None, sources.groups()), ""), referents)
    base = replace(base, expects=_expected(base.kind, asked, declarative))
    found = list(_readings(base, declarative, referents, at, parser)) if declarative and parser else []
    found.sort(key=lambda one: _apart_from(one, base.head))
    if not found:
        subject = _named_subject(written, referents) if declarative is None or not base.about else base.about[0]
        return replace(base, subject=subject)
    return replace(found[0], alternatives=tuple(_distinct(found)))


def _base(
    sentence: str, written: str, asked: Asked, declarative: Declarative | None, referents: Referents, at: datetime
) -> Question:
    """Return what a question tells of itself before its relation is read."""
    past = bool(PAST.search(written))
    kind: QuestionKind = declarative.kind if declarative else "yesno" if _tests(asked) else "value"
    focus = _undescribed(asked, referents)
    return Question(
        text=sentence, kind=kind,
        asks=declarative.asks if declarative else "truth" if _tests(asked) else "anything",
        as_of=_as_of(written, at, past), within=_period(written, at, past),
        past=past or bool(HISTORY.search(written)), terms=tuple(dict.fromkeys(stems(written))),
        source=asked.source, settled=asked.settled, before=asked.before, after=asked.after,
        focus=focus, head=asked.head if asked.head in focus or asked.head not in asked.focus else "",
        loose=asked.loose, about=_about(asked, referents),
        noun=asked.noun or (declarative.noun if declarative else ""),
        tests=ONLY_ASKED.sub("", declarative.text) if declarative and declarative.asks == "truth" else "",
    )  # fmt: skip


def _declared(asked: Asked) -> Declarative | None:
    """Return the question as a statement with a hole, with what is asked of jobs in plain words."""
    if asked.settled:
        return Declarative(text=asked.text, kind="yesno", asks="truth")
    declarative = declare(asked.text, subject=asked.subject)
    if declarative is None:
        return None
    done = re.search(rf"\b(ha(?:s|ve|d)) {HOLE} (\w+)", declarative.text)
    if done and asked.head and done[2][:3].casefold() == asked.head[:3]:  # "what has she | banned"
        text = declarative.text.replace(done[0], f"{done[1]} {done[2]} {HOLE}")
        declarative = replace(declarative, text=text)
    if declarative.asks == "count" and UNITS.fullmatch(asked.noun) and re.match(r"(?:for )?how many", asked.text, re.I):
        text = re.sub(rf"(?: for)? {HOLE}$| for {HOLE}(?= )| {HOLE}(?= )", "", declarative.text)
        declarative = replace(declarative, text=text, kind="how_long", asks="duration", noun="")
    job = JOB.match(declarative.text)
    if job:
        return replace(declarative, text=f"{job[1]} does work as {HOLE}")
    return declarative


def _tests(asked: Asked) -> bool:
    """Tell whether a question opens with its auxiliary, so that it wants yes or no."""
    return asked.settled or asked.text.casefold().split(" ")[0] in AUX


def _about(asked: Asked, referents: Referents) -> tuple[Term, ...]:
    """Return whom and what a question speaks of: its subject, then owners and other names."""
    found: dict[str, Term] = {}
    owned = [name for name in asked.names if "'s " in name]
    owners: set[str] = set()
    for phrase in (asked.subject, *owned, *asked.names):
        if (
            not phrase
            or TITLE.fullmatch(phrase)
            or clean(phrase).casefold() in ("it", "that", "this", "what", "who", "")
        ):
            continue
        owner = re.match(rf"({NAME}?)'s ", phrase)
        inner = phrase[owner.end() :] if owner else ""
        thing = referents.resolve(inner if named(inner) and referents.beliefs.about(inner.casefold()) else phrase)
        by_name = thing is not None and thing.label != phrase and named(thing.label)
        if thing is not None and thing.key not in owners:
            found.setdefault(thing.key, thing)
        whose = referents.resolve(owner[1]) if owner and owner[1] else None
        if whose is not None and by_name:
            owners.add(whose.key)  # "Ana's brother Leo": Leo is meant, whoever tells of him
        elif whose is not None:
            found.setdefault(whose.key, whose)
    if re.search(r"\b(?:I|my|me|we|our|us|mine)\b", asked.text):
        found.setdefault(referents.speaker.key, referents.speaker)
    return tuple(found.values())


def _undescribed(asked: Asked, referents: Referents) -> tuple[str, ...]:
    """Return the words that are asked about, less those that only describe somebody who is named ("uncle Feliks")."""
    described: set[str] = set()
    for phrase in (asked.subject, *asked.names):
        thing = referents.resolve(phrase) if phrase and " " in phrase else None
        if thing is not None and thing.label in phrase and thing.label != phrase and named(thing.label):
            described.update(stems(phrase.replace(thing.label, " ")))
    for match in re.finditer(rf"\b({NAME}?)'s ({NAME})", asked.text):
        described.update(stems(match[1]) if referents.beliefs.about(match[2].casefold()) else ())
    for match in re.finditer(rf"\b([a-z]+(?:-[a-z]+)*) (?={NAME})", asked.text):
        described.update(stems(match[1]) if kin_of(match[1]) else ())
    return tuple(word for word in asked.focus if not set(stems(word)) & described) or asked.focus


def _expected(kind: QuestionKind, asked: Asked, declarative: Declarative | None) -> str:
    """Return what kind of thing a question asks for; empty when it may be anything."""
    noun = asked.noun or (declarative.noun if declarative else "")
    head = noun.casefold().split()[-1] if noun else ""
    lowered = asked.text.casefold()
    if kind == "yesno":
        return ""
    if head in ("way", "route"):
        return "place"
    if head in TIMES and not lowered.startswith("how"):
        return TIMES[head]
    if re.search(r"^(?:at|by|from|until|since)? ?what time\b", lowered):
        return "clock"
    if re.match(r"(?:for )?how (?:many|much) ", lowered) or kind in ("count", "how_much"):
        return "number"
    if kind == "value" and re.search(
        r"\b(?:first |last |full |family )?names?\b(?! of the (?:day|month))|\b(?:called|named)$", lowered
    ):
        return "name"
    typed = re.match(r"the (number|date|time|age|price|cost|weight|height|year|day|month) of ", asked.subject)
    if typed and kind == "value":
        return TIMES.get(typed[1], "number")
    if head:
        return noun.casefold() if head not in PLACES else head
    if kind == "who" and re.search(r"\bemployer\b|\bwork(?:s|ed|ing)? for\b", lowered):
        return ""
    return TYPES.get(kind, "")


def _about_source(base: Question, what: str, referents: Referents) -> Question:
    """Return the question who said something, by what was said."""
    focus = tuple(word for word in base.focus if not re.fullmatch(TELLING, word) and not VOUCHING.match(word))
    return replace(
        base, kind="who", asks="source", expects="person", focus=focus or tuple(stems(what)), head="", loose=(),
        subject=next((thing for thing in base.about if thing != referents.speaker), None),
    )  # fmt: skip


def _readings(
    base: Question, declarative: Declarative, referents: Referents, at: datetime, parser: Parser
) -> Iterator[Question]:
    """Yield what a question asks for, by the tree of its statement."""
    kin = kin_of(declarative.noun) if declarative.noun else None
    text = declarative.text
    for tree in trees(f"{text[:1].upper()}{text[1:]}.", parser):
        for predication in predications(tree, [], terse=False):
            for told in propose_parsed(predication, referents, at):
                if HOLE in declarative.text and HOLE not in (told.object.label, told.subject.label):
                    continue
                if kin and told.kind.name == "has" and told.object.label == HOLE:  # "how many sisters has she"
                    told = replace(told, kind=relation_type(kin.replace(" ", "_")))
                yield _with(base, declarative, told)


def _apart_from(reading: Question, head: str) -> int:
    """Tell how far a relation is from the verb of the question: its own, another, or the auxiliary taken for one."""
    if not head or reading.relation is None:
        return 1
    if set(stems(head)) & set(stems(reading.relation.label)):
        return 0
    return 2 if reading.relation.name == "has" and head != "have" else 1


def _distinct(readings: Sequence[Question]) -> Iterator[Question]:
    """Yield the readings after the first that differ in what they ask for."""
    seen = set()
    for number, one in enumerate(readings):
        key = (one.subject, one.relation and one.relation.name, one.object, one.asks, one.polarity)
        if key not in seen and number:
            yield one
        seen.add(key)


def _with(base: Question, declarative: Declarative, proposition: Proposition) -> Question:
    subject = None if HOLE in proposition.subject.label else proposition.subject
    value = None if HOLE in proposition.object.label or not proposition.object.key else proposition.object
    asks: Asks = declarative.asks
    stopped = asks == "start" and not proposition.polarity and "not" not in base.text.split()
    if stopped:  # "when did I quit my job" wants the end of what held
        asks, proposition = "end", replace(proposition, polarity=True)
    if asks in ("object", "subject"):
        asks = "subject" if subject is None else "object" if value is None else "anything"
    return replace(
        base, subject=subject, object=value, relation=proposition.kind.relation, asks=asks,
        polarity=proposition.polarity, functional=proposition.kind.functional,
        past=base.past or proposition.ended,
    )  # fmt: skip


def _named_subject(text: str, referents: Referents) -> Term | None:
    for match in re.finditer(rf"\b({NAME})(?:'s)?", text):
        first = match[1].split()[0].casefold()
        if first not in NOT_NAMES and first not in AUX:
            return referents.resolve(match[1].removesuffix("'s"))
    return referents.speaker if re.search(r"\b(?:I|my|me|we|our)\b", text) else None


def _as_of(text: str, at: datetime, past: bool) -> date | None:
    """Return the day that a question names: "before 2019" is the day before, "as of" a day the day itself."""
    when = at if at.tzinfo else at.replace(tzinfo=UTC)
    for span in find_times(text, when, past=past):
        if span.kind in ("point", "range"):
            return middle(span.valid)
        if span.kind == "since" and re.match(r"as of\b", span.text, re.IGNORECASE):
            return span.valid.start
        if span.kind == "until" and re.match(r"before\b", span.text, re.IGNORECASE) and span.valid.end:
            return span.valid.end - timedelta(days=1)
    return None


def _period(text: str, at: datetime, past: bool) -> Interval | None:
    """Return the month, year or stretch that a question names; None for a day, or for none."""
    when = at if at.tzinfo else at.replace(tzinfo=UTC)
    spans = (s.valid for s in find_times(text, when, past=past) if s.kind in ("point", "range"))
    return next((v for v in spans if v.start is not None and (v.start != v.end or v.start_precision != "day")), None)


def middle(valid: Interval) -> date | None:
    """Return a day that stands for a stated time: the middle of a month or year, else its first day."""
    if valid.start is None or valid.start_precision == "day":
        return valid.start
    return valid.start.replace(day=15) if valid.start_precision == "month" else valid.start.replace(month=7, day=1)
