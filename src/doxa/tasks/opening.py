"""opening: clauses -> what in them opens a task: a request, a heading with its parts, a plan with its day.

What somebody says of the world, or asks about it, opens none: "I live in Lisbon", "my sister moved to Oslo", "where do
I live?".
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from doxa.core.tasks import ValueKind
from doxa.tasks.amounts import Typed
from doxa.tasks.asking import asks
from doxa.tasks.phrases import stem
from doxa.tasks.reading import Clause
from doxa.tasks.telling import LISTS
from doxa.tasks.verbs import WH, Token, lexicon, verbs_of

__all__ = [
    "HEADS",
    "SPENDING",
    "is_again",
    "is_money",
    "is_request",
    "is_to_come",
    "may_open",
    "nouns_of",
    "opens",
    "said_before",
]

PLANNING = frozenset(
    "add arrange assign block book buy claim create draft enter file fill hire include invite log order organise "
    "organize pack pencil plan prepare put register rent reserve schedule sign start".split()
)
"""Verbs that ask for something to be planned, whatever it is."""
BOOKING = frozenset(
    "add arrange book buy claim file fill hire order organise organize plan register rent reserve schedule".split()
)
"""Those of them that are a request where somebody only wishes to do them: "I'd like to book a table"."""
TO_DO = frozenset(
    "buy call clean collect email finish fix get order pay phone pick print renew return send submit".split()
)
"""What somebody has to do where it is said to be a duty: "I need to call the plumber"."""
ARRANGING = frozenset("organise organize plan host arrange prepare throw apply write".split())
HEADS = LISTS | frozenset(
    "checklist budget deadline timetable seating form application booking todo chore project".split()
)
COUNTED = frozenset("thing task errand order appointment job chore reminder item booking visit claim".split())
"""What a turn announces with its number: "two things this week"."""
VAGUE = frozenset("something anything thing stuff time chat way fun day life future talk call smile".split())
"""What may be planned and is no plan: "let's plan something soon"."""
SPECIFIC = re.compile(
    r"\b(?:\d{1,2}(?::\d\d)? ?(?:am|pm)|\d{1,2}[:.]\d\d|o'?clock|noon|midnight|half past|quarter (?:to|past)|"
    r"tomorrow|next \w+|\d{1,2}(?:st|nd|rd|th)?|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|jan\w*|feb\w*|march|april|"
    r"may|june|july|aug\w*|sept\w*|oct\w*|nov\w*|dec\w*)\b",
    re.IGNORECASE,
)
"""Times that are said so exactly as those of plans are."""
GONE = re.compile(
    r"\b(?:last|yesterday|ago|since|past|today|tonight|now|every|each|daily|always|once|recent\w*|(?:19|20)\d\d)\b|days$",
    re.IGNORECASE,
)
"""Times that are over, or that come back: what has them is told, not planned."""
SAID_BEFORE = re.compile(r"\b(?:what|that|everything|anything) (?:i|we) (?:just )?(?:said|told|wrote|gave|mentioned)\b")
DUTY = re.compile(r"\b(?:need|have|got) to\b")
DUE = re.compile(r"\b(?:due|deadline)\b")
WISHING = frozenset("want need like rather plan planning hope prefer must should".split())
ASKED = frozenset("let help please try remember can could will would may might feel be make".split())
FEELING = frozenset("thank love like guess imagine hope".split())
WANTED = ("i want", "we want", "i 'd like", "we 'd like", "i would like", "we would like")
SUMS = (ValueKind.MONEY, ValueKind.NUMBER)
SUBJECTS = frozenset("i you he she it we they who there".split())
NOMINAL = frozenset("nsubj obj iobj obl nmod appos".split())
NUMBERS = frozenset("two three four five six seven eight nine ten eleven twelve dozen couple few".split())
CUES = PLANNING | TO_DO | HEADS | COUNTED | NUMBERS | frozenset(("need", "due", "set"))
STEMS = tuple(verb[:5] for verb in ARRANGING)
TIMES = (ValueKind.CLOCK, ValueKind.DATE)


def may_open(text: str) -> bool:
    """Tell whether a turn has a word, a number or a sign without which none opens a task; then it is worth parsing."""
    lowered = text.lower()
    if re.search(r"[\d:]", lowered) or SPECIFIC.search(lowered) or lowered.startswith("to "):
        return True
    words = re.findall(r"[a-z]+", lowered)
    lists = words[:1] == ["the"] and "and" in words  # "the hall needs chairs, tables and a lectern"
    if lists or words[:1] == ["ask"] or KEPT.search(lowered) or SPENDING.search(lowered):
        return True
    return any(word in CUES or stem(word) in CUES or word.startswith(STEMS) for word in words)


def opens(clauses: Sequence[Clause]) -> str:
    """Say what makes a turn open a task; empty where nothing does."""
    for clause in clauses:
        if clause.mood == "question" or asks(clause) or said_before(clause):
            continue
        if why := _bound(clause):
            return f"“{clause.text}” {why}"
        reads = {"request": _request, "fragment": _fragment}.get(clause.mood, _plan)
        if why := reads(clause) or _kept(clause) or _happening(clause):
            return f"“{clause.text}” {why}"
    if any(clause.verb in ARRANGING for clause in clauses if _is_going(clause)) and any(
        is_money(one) for clause in clauses for one in clause.values
    ):
        return "it says what somebody arranges, and for how much"
    first = clauses[0] if clauses else None
    purpose = first is not None and first.tokens[0].lower == "to" and first.mood == "statement" and first.verb != "be"
    if purpose and any(is_request(clause) for clause in clauses):
        return "it says what something is to be done for"
    return ""


def _bound(clause: Clause) -> str:
    """Say whether a clause bounds a plan: "deadline is the 14th", "budget 1500"."""
    if DUE.search(clause.lowered) and any(is_to_come(one) for one in clause.values):
        return "gives a deadline"
    spent = any(one.value is not None and one.value.kind in SUMS for one in clause.values)
    return "gives a budget" if spent and re.search(r"\bbudget\b", clause.lowered) else ""


def _kept(clause: Clause) -> str:
    """Say whether a clause asks for something to be kept, spent or done: "keep track of ...", "ask Wes to ..."."""
    if clause.negated or clause.mark:
        return ""
    if clause.mood == "request" and KEPT.search(clause.lowered):
        return "asks for something to be kept"
    asked = clause.mood == "request" and clause.verb in ("ask", "get", "tell") and len(clause.rest) > 3
    if asked and clause.rest[0].upos == "PROPN" and any(token.lower == "to" for token in clause.rest[1:3]):
        return "says who is to do what"
    sums = any(one.value is not None and one.value.kind in SUMS for one in clause.values)
    if sums and SPENDING.search(clause.lowered):
        return "gives a budget"
    nouns = nouns_of(clause.rest)
    needs = clause.verb in ("need", "take", "get") and len(clause.subject) > 1 and clause.subject[0].lower == "the"
    listed = needs and sum(token.deprel == "conj" for token in nouns) > 1 and clause.mood == "statement"
    if listed and not any(token.upos == "PROPN" for token in nouns):
        return "lists what something needs"
    labelled = clause.label and clause.mood == "statement" and clause.subject and clause.subject[0].upos == "PROPN"
    return "has a heading and its parts" if labelled else ""


KEPT = re.compile(r"\b(?:keep (?:track|a (?:list|record|note|tally)|tabs)|start a (?:list|record)|make a list)\b")
SPENDING = re.compile(
    r"\d\S*(?: [a-z]+)? to spend\b|\bspend\b.*\bat most\b|\b(?:at most|no more than|up to)\b.*\bspend\b"
)
COMING = frozenset("be come start begin leave meet sail go arrive close open have".split())


def _happening(clause: Clause) -> str:
    """Say whether a statement gives an event its day: "the boiler man is coming on Wednesday", not "my sister ..."."""
    if clause.mood != "statement" or clause.negated or clause.mark or clause.verb not in COMING:
        return ""
    said = [token for token in clause.subject if token.upos not in ("ADV", "CCONJ")]
    if clause.listed and said and said[0].lower in ("the", "my", "our") and clause.verb == "be":
        return "has a heading and its parts"
    plain = bool(said) and said[0].lower == "the" and all(token.upos == "NOUN" for token in said[1:]) and len(said) < 5
    past = any(token.lower in ("was", "were", "had", "did", "came", "went", "left", "began") for token in clause.tokens)
    return "gives an event its day" if plain and not past and any(map(is_to_come, clause.values)) else ""


def _is_going(clause: Clause) -> bool:
    """Tell whether a clause says what its speaker is doing: "we're throwing a party"."""
    own = any(token.lower in ("i", "we") for token in clause.subject) and clause.mood == "statement"
    return own and clause.tokens[clause.at].lower.endswith("ing") and not clause.negated and not clause.mark


def _request(clause: Clause) -> str:
    telling = [token for token in _outside(clause) if stem(token.lower) not in VAGUE]
    if not is_request(clause) or clause.negated or not telling:
        return ""
    wished = clause.wrapped.split()[:1] in (["i"], ["we"])
    if clause.verb in (BOOKING if wished else PLANNING) or (clause.verb == "set" and clause.particle == "up"):
        return "asks for something to be planned"
    if clause.verb in TO_DO and DUTY.search(clause.lowered):
        return "is something to do"
    if not {clause.verb, f"{clause.verb} {clause.particle}".strip()} & verbs_of("add"):
        return ""
    if any(is_to_come(one) for one in clause.values):
        return "asks for something at a time"
    listed = any(stem(token.lower) in HEADS for token in nouns_of(clause.rest))
    return "asks for something on a list" if listed else ""


def _fragment(clause: Clause) -> str:
    if clause.tokens[0].lower in ("there", "here", "this", "that") and not clause.listed:
        return ""  # "there's a wedding on Saturday" may be news
    if clause.listed:
        return "has a heading and its parts" if _is_heading(clause) else ""
    nouns = nouns_of(clause.rest)
    parts, counted = sum(token.deprel == "conj" for token in nouns), any(token.upos == "NUM" for token in clause.rest)
    if clause.wrapped in ("i need", "we need"):
        return "says what is needed" if nouns and (parts > 1 or counted) else ""
    if clause.wrapped in WANTED:
        listed = any(stem(token.lower) in HEADS for token in nouns)
        return "says what is wanted" if parts and (listed or (parts > 1 and counted)) else ""
    if clause.wrapped:
        planned = clause.wrapped.endswith("planning") and nouns and clause.values and clause.rest[0].upos == "DET"
        return "is a plan with its parts" if planned else ""
    if counted and any(stem(token.lower) in COUNTED for token in nouns):
        return "announces what is to be done"
    outside = _outside(clause)
    if outside and any(is_to_come(one) or is_money(one) for one in clause.values):
        return "names something with its time or price"
    return "names a list" if outside and stem(outside[-1].lower) in HEADS and len(clause.rest) <= 4 else ""


def _outside(clause: Clause) -> list[Token]:
    """Return the nouns behind the verb of a clause that are no part of a time: none in "make it Saturday"."""
    inside = [(one.start, one.end) for one in clause.values if one.value is None or one.value.kind in TIMES]
    return [t for t in nouns_of(clause.rest) if not any(start <= t.start < end for start, end in inside)]


def _is_heading(clause: Clause) -> bool:
    """Tell whether what stands before a colon names what is behind it: "Name: Ann Lee", and not "he said: no"."""
    nouns, head = nouns_of(clause.rest), [token.lower for token in clause.rest]
    parts = [token for part in clause.listed for token in part]
    told = any(token.deprel.startswith("nsubj") or token.upos == "AUX" for token in parts)
    if told or not nouns or len(head) > 10 or set(head) & (SUBJECTS | WH):
        return False
    own = head[0] in ("my", "our") or any(token.upos == "AUX" for token in clause.rest)
    return not own or bool(clause.values) or any(stem(token.lower) in HEADS for token in nouns)


def _plan(clause: Clause) -> str:
    """Say whether a statement is of a plan: "I'm organising dad's 60th, budget 1500", "race is Sunday 12 October"."""
    if clause.negated or clause.mark:
        return ""
    dated = any(is_to_come(one) for one in clause.values)
    going = _is_going(clause)
    arranged = clause.verb in ARRANGING and (dated or any(map(is_money, clause.values)))
    if (len(clause.listed) > 1 and (going or dated)) or (going and arranged):
        return "is a plan with its parts"
    said = [token for token in clause.subject if token.upos != "ADV"]
    if dated and said and all(token.upos == "NOUN" for token in said) and clause.verb in ("be", "start", "begin"):
        return "gives an event its day"
    return ""


def is_request(clause: Clause) -> bool:
    """Tell whether a clause asks for something; "sold the car", "you should try it" and "I can imagine" do not."""
    verb, wrapped = clause.tokens[clause.at], clause.wrapped.split()
    bare = clause.mood == "statement" and not clause.subject and verb.upos == "VERB"
    if (clause.mood != "request" and not bare) or said_before(clause) or clause.verb in FEELING:
        return False
    if verb.lower not in (clause.verb, verb.lemma) or verb.upos == "AUX" or _is_idiom(clause):
        return False
    if not wrapped:
        return verb.deprel not in ("xcomp", "ccomp", "acl", "acl:relcl")
    if wrapped[0] in ("i", "we"):
        duty = bool(DUTY.search(clause.lowered)) and clause.verb in PLANNING | TO_DO
        return duty or (bool(WISHING & set(wrapped)) and not {"have", "got"} & set(wrapped))
    return wrapped[0] in ASKED and wrapped[-1] != "i"


def _is_idiom(clause: Clause) -> bool:
    """Tell whether a verb asks for nothing: "make sure you rest", "take care"."""
    behind = clause.rest[0].lower if clause.rest else ""
    return (clause.verb, behind) in (("make", "sure"), ("take", "care"), ("take", "it"), ("have", "a"))


def is_again(clause: Clause) -> bool:
    """Tell whether something is to be like what there is: "same again next week", "the same day, scones"."""
    return bool(clause.has(lexicon()["cues"]["again"])) or bool(clause.has(("same day", "same time")))


def said_before(clause: Clause) -> bool:
    """Tell whether a clause is about what was said: "forget what I told you about my job"."""
    return SAID_BEFORE.search(clause.lowered) is not None


def is_to_come(one: Typed) -> bool:
    """Tell whether a value is a time that may be one of a plan."""
    timed = one.value is not None and one.value.kind in TIMES
    return timed and SPECIFIC.search(str(one.value)) is not None and GONE.search(str(one.value)) is None


def is_money(one: Typed) -> bool:
    """Tell whether a value is a sum of money."""
    return one.value is not None and one.value.kind is ValueKind.MONEY


def nouns_of(tokens: Sequence[Token]) -> list[Token]:
    """Return the nouns and names among some words; also a rare name that is tagged as something else ("Drop Nadia")."""
    return [token for token in tokens if token.upos in ("NOUN", "PROPN") or _is_rare_name(token)]


def _is_rare_name(token: Token) -> bool:
    return token.form[:1].isupper() and token.upos != "PRON" and token.deprel in NOMINAL
