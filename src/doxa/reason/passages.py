"""Answers read off what was said: of the sentences that give a value of the kind that is asked for, the valid one.

Facts answer first (`reason.facts`). What no reader of turns could turn into a fact is still there in the words, and the
same questions of time arise: of two sentences that give the rent, the later one gives the rent of today, and one that
says "from 1 July" gives none before July. So sentences are lined up by when what they say begins, and the question
picks one of them as it would pick a fact.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from dateutil import parser as dateparser

from doxa.core.values import Act, Claim, Draft, Question, Status, Turn
from doxa.language import stems, stems_of
from doxa.memory import Beliefs, measures
from doxa.reason.drafts import citation_of, quote
from doxa.reason.kinds import MONTHS, NUMBER_WORDS, PATTERNS, PLACES, absolute, fitting, weekdays
from doxa.reason.telling import SENTENCE

__all__ = ["answer_from_passages", "taken_back"]

ENOUGH = 0.55
"""Share of what a question speaks of that a sentence, with what stands before it, has to speak of as well."""
BEFORE_IT, TOPIC = 0.8, 0.75
"""How much a word counts that stands in an earlier sentence of the turn, and in an earlier statement of its speaker."""
LIGHT = frozenset(
    stems(
        "pay cost live work use get call name keep stay plan take give make know want need run start come currently "
        "moment today much many long often last known first date day time number month year week per total"
    )
)
"""Words of a question that say little about which sentence answers it."""
LIGHT_WEIGHT = 0.25
NAME = re.compile(r"\b(?!(?:I|Is|Are|Was|Were|Does|Do|Did|Has|Have|How|What|Which|Who|Where|When|At|In|On|According)\b)"
                  r"[A-Z][\w'\u2019-]*[a-z][\w'\u2019-]*")  # fmt: skip
YEAR_MONTHS = "|".join(MONTHS[:12])
FROM = re.compile(
    r"\b(?:from|as of|as from|starting(?: on| from)?|since|beginning|effective|with effect from) "
    rf"(?P<when>(?:the )?(?:\d|first|{YEAR_MONTHS})[\w ,]*?)"
    r"(?= on\b|[,;:.]| it| the| my| our| we| I| she| he| they|$)",
    re.IGNORECASE,
)
UNREAL = re.compile(
    r"^(?:if|unless|should|suppose|supposing|provided|whenever|in case|imagine)\b|"
    r"\b(?:only if|would have|if only|not both|forget|ignore|disregard|scratch|strike|take (?:it|that|mine) back|"
    r"take back|withdraw|don't go by|drop what|delete|joking|kidding|wasn't it|isn't it)\b",
    re.IGNORECASE,
)
"""Opens what is said on a condition, or takes something back."""
AMOUNT = rf"(?:[€$£]\s?)?(?:\d[\d.,]*\d|\d|{'|'.join(NUMBER_WORDS)})"
CURRENCY = "euros?|dollars?|pounds?|quid|bucks|cents?|pence|francs?|crowns?|zloty|yen|rupees?|kroner|pesos?|eur|usd|gbp"
MONEY = re.compile(
    rf"[€$£]\s?\d[\d.,]*\d|[€$£]\s?\d|\b{AMOUNT} ?(?:{CURRENCY})\b(?:,? (?:a|an|per|each|every) [a-z]+)?",
    re.IGNORECASE,
)
CODE = r"(?:number |no\.? |nr\.? |is |to |at |: ?)*(?P<code>[A-Z]?\d[\w.:/-]*\w|[A-Z]?\d)"
KIN = re.compile(
    r"\b(?:my|his|her|our|their) (?:\w+ )?(?:mum|mom|dad|mother|father|sister|brother|wife|husband|partner|friend|boss|"
    r"son|daughter|uncle|aunt|cousin|grandma|grandpa|neighbour|neighbor)\b",
    re.IGNORECASE,
)
PLACED = re.compile(r"\b(?:in|at|to|near|from|into) ((?:the )?[A-Z][\w'\u2019-]*(?: (?:of )?[A-Z][\w'\u2019-]*)*)")
TIME = re.compile(
    rf"\b(?:as of|on|in|at) (?:mid-)?(?:\d{{1,2}} )?(?:{YEAR_MONTHS})(?: \d{{1,2}},?)?(?: \d{{4}})?", re.IGNORECASE
)
EARLIER = re.compile(r"\b(?:before|previously|originally|formerly|used to|earlier|at first)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Passage:
    """A sentence that gives a value."""

    turn: Turn
    sentence: str
    value: str
    fit: float
    begins: date

    @property
    def dimension(self) -> str:
        return measures(self.value)


def answer_from_passages(
    question: Question,
    turns: Sequence[Turn],
    beliefs: Beliefs,
    *,
    day: date | None,
    today: date | None,
    unasserted: Collection[str] = (),
) -> Draft | None:
    """Return the value that the sentences said so far give for a question, or None when none gives one of its kind.

    Args:
        question: what is asked; only kinds whose values have a form of their own are answered (amounts, dates, clock
            times, codes, people, places).
        turns: turns that bear on it.
        beliefs: tells which statements were taken back.
        day: the day of the world that is asked about; None is today.
        today: the memory's today.
        unasserted: sentences that say nothing by themselves, such as rules.

    Deterministic; cost O(words of the turns).
    """
    if question.asks == "truth" or question.kind in ("yesno", "list", "why") or question.source:
        return None
    passages = _lined_up(question, turns, beliefs, unasserted)
    chosen = _chosen(question, passages, day, today)
    if not chosen:
        return None
    last = chosen[-1]
    cited = tuple(citation_of(passage.turn) for passage in chosen)
    text = quote(last.turn, last.sentence)
    return Draft(text=text, value=absolute(last.value, last.turn.at.date()), citations=cited, confidence=0.5 * last.fit)


def _lined_up(
    question: Question, turns: Sequence[Turn], beliefs: Beliefs, unasserted: Collection[str]
) -> list[_Passage]:
    """Return the sentences that give a value of the right kind, in the order in which what they say begins."""
    weights, asked_days = _weights(question), weekdays(question.text)
    if not weights:
        return []
    rules = [rule.casefold() for rule in unasserted]
    found: list[_Passage] = []
    for turn in sorted(turns, key=lambda turn: (turn.at, turn.ordinal)):
        if turn.role != "user" or turn.generated:
            continue
        before: set[str] = {*stems_of(turn.speaker)}
        gone = _given_up(turn, beliefs)
        for sentence in SENTENCE.split(turn.text):
            said = stems_of(sentence)
            plain = sentence.strip().rstrip(".!").casefold()
            days = weekdays(sentence) if asked_days else frozenset()
            real = (
                not UNREAL.search(sentence)
                and (not days or bool(days & asked_days))
                and not sentence.rstrip().endswith("?")
            )
            if real and plain and not any(plain in rule for rule in rules) and not _same(said, gone):
                for value in _values(question, sentence):
                    topic = {word for p in found if _continues(p, turn, value) for word in stems_of(p.sentence)}
                    fit = _fit(weights, said, before, topic)
                    if fit >= ENOUGH:
                        begins = _begins(sentence, turn)
                        found.append(_Passage(turn, sentence.strip(), value, fit, begins))
                        break
            before |= said
    return sorted(found, key=lambda passage: passage.begins)


def _weights(question: Question) -> dict[str, float]:
    """Return the stems that a question speaks of, with how much each says about which sentence answers it."""
    text = TIME.sub(" ", question.text)
    text = re.sub(r"\b(?:(?:right )?before|after) .*$", " ", text, flags=re.IGNORECASE)
    kind = set(stems(f"{question.noun} {question.expects}"))
    weights = {word: LIGHT_WEIGHT if word in LIGHT or word in kind else 1.0 for word in stems_of(text)}
    return weights if any(weight == 1.0 for weight in weights.values()) else {}


def _fit(weights: dict[str, float], said: set[str], before: set[str], topic: set[str]) -> float:
    got = 0.0
    for word, weight in weights.items():
        got += weight * (1.0 if word in said else BEFORE_IT if word in before else TOPIC if word in topic else 0.0)
    return got / sum(weights.values())


def _continues(passage: _Passage, turn: Turn, value: str) -> bool:
    """Tell whether a later value of the same speaker may be news of an earlier one: it measures the same."""
    same = passage.turn.speaker == turn.speaker and passage.turn.ordinal < turn.ordinal
    return same and bool(passage.dimension) and passage.dimension == measures(value)


def _values(question: Question, sentence: str) -> Iterator[str]:
    """Yield the parts of a sentence that are of the kind that is asked for, the most telling first."""
    asked, expects = stems_of(question.text), question.expects
    if question.kind == "how_much" or expects in ("money", "price"):
        yield from (match[0] for match in MONEY.finditer(sentence))
    if question.kind in ("count", "how_much") or expects == "number":
        yield from _amounts(question, sentence)
    elif expects in PATTERNS:
        part = fitting(sentence, expects)
        if part and len(part.split()) < len(sentence.split()):
            yield part.strip()
    elif question.kind == "who" or expects == "person":
        names = [
            name for name in NAME.findall(_inner(sentence)) if not stems_of(name) & asked and fitting(name, "person")
        ]
        yield from [*dict.fromkeys(names)][:1] if len(set(names)) == 1 else [m[0] for m in KIN.finditer(sentence)][:1]
    elif question.kind == "where" or expects in PLACES:
        found = [match[1] for match in PLACED.finditer(sentence) if not stems_of(match[1]) & asked]
        found = [place for place in found if not expects or fitting(place, expects)]
        yield from found if len(set(found)) == 1 else []
    if question.noun:
        noun = re.escape(question.noun.split()[-1].removesuffix("s"))
        match = re.search(rf"\b{noun}s? {CODE}", sentence, re.IGNORECASE)
        if match:
            yield match["code"]


def _amounts(question: Question, sentence: str) -> Iterator[str]:
    """Yield the number that stands before the noun that is counted, else the only number of the sentence."""
    noun = re.escape(question.noun.split()[-1].removesuffix("s")) if question.noun else ""
    if noun:
        match = re.search(rf"\b({AMOUNT})[- ](?:\w+ ){{0,2}}?{noun}", sentence, re.IGNORECASE)
        if match:
            yield match[0] if question.kind != "count" else match[1]
    numbers = re.findall(
        rf"\b({AMOUNT})\b", re.sub(r"\b(?:[12]\d{3}|no one|one of|no)\b", " ", sentence), re.IGNORECASE
    )
    if len(numbers) == 1:
        yield numbers[0]


def _inner(sentence: str) -> str:
    """Return a sentence without the capital letter of its first word, unless that is a name by its looks."""
    first, _, rest = sentence.partition(" ")
    return sentence if NAME.match(rest) else f"{first[:1].lower()}{first[1:]} {rest}"


def _begins(sentence: str, turn: Turn) -> date:
    """Return when what a sentence says begins: the day that it names, else the day on which it is said."""
    match = FROM.search(sentence)
    said = turn.at.date()
    if match is None:
        return said
    try:
        return dateparser.parse(re.sub(r"\bthe\b|\bof\b", " ", match["when"]), default=turn.at).date()
    except (ValueError, OverflowError):
        return said


def _given_up(turn: Turn, beliefs: Beliefs) -> list[set[str]]:
    """Return the words of what a turn said and is not believed any more."""
    gone: list[set[str]] = []
    for claim in beliefs.said_in(turn.turn_id):
        if claim.act is not Act.WITHDRAW and _retracted(claim, beliefs):
            gone.append(stems_of(claim.span))
    return gone


def taken_back(turn: Turn, beliefs: Beliefs) -> bool:
    """Tell whether all that was read out of a turn was retracted since."""
    said = [claim for claim in beliefs.said_in(turn.turn_id) if claim.act is not Act.WITHDRAW]
    return bool(said) and all(_retracted(claim, beliefs) for claim in said)


def _retracted(claim: Claim, beliefs: Beliefs) -> bool:
    told = beliefs.identity.told(claim)
    facts = [
        f
        for f in beliefs.in_slot(beliefs.slot(claim))
        if f.object.key == told.object.key and f.polarity == told.polarity
    ]
    return bool(facts) and all(fact.status is Status.RETRACTED for fact in facts)


def _same(said: set[str], gone: Sequence[set[str]]) -> bool:
    return any(len(said & words) >= 0.6 * min(len(said), len(words)) for words in gone if words)


def _chosen(
    question: Question, passages: Sequence[_Passage], day: date | None, today: date | None
) -> Sequence[_Passage]:
    """Return the passages that give the value at the time that is asked about, the one to quote last."""
    if not passages:
        return []
    best = max(passage.fit for passage in passages)
    line = [passage for passage in passages if passage.fit >= 0.8 * best]
    at = day or today
    begun = [passage for passage in line if at is None or passage.begins <= at]
    if day is None and EARLIER.search(question.text):
        older = [passage for passage in begun[:-1] if passage.value != begun[-1].value]
        return older[-1:]
    return begun[-1:] or (line[:1] if day is not None or question.kind == "when" else [])
