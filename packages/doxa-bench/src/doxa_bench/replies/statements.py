"""Gold facts and gold questions with their answers -> statements, said to the one whose memory it is.

The morphology is the little that this needs; nothing of it is shared with what reads the replies.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

__all__ = ["Statement", "denied", "from_question", "from_relation", "table"]

WH = re.compile(
    r"^(?:(?P<prep>at|on|in|for|since) )?(?P<wh>where|when|who|what|which|how much|how many|how old|how long|how)\b"
    r"(?P<noun>[^?]*?) (?P<aux>is|are|was|were|does|do|did|has|have|had|can|will)(?: (?P<rest>[^?]+))?\?$",
    re.IGNORECASE,
)
YESNO = re.compile(r"^(?P<aux>is|are|was|were|does|do|did|has|have|can|will) (?P<rest>[^?]+)\?$", re.IGNORECASE)
SOURCE = re.compile(r"^(?P<source>(?:according to|given) [^,]+), (?P<rest>.+)$", re.IGNORECASE)
ARTICLE = re.compile(r"^(?:an?|the|my|your|his|her|their|our) ", re.IGNORECASE)
UNSAYABLE = re.compile(
    r"\b(?:ever|still|settled|known|mentioned|named|said|for work|last known|also|been|vouches|in mid)\b"
)
"""Words that a question holds and its answer says in another way."""
TRAILING = re.compile(r"(?P<what>.*?)(?P<when> (?:now|at the moment|per month|any more|still|on .*|in (?:\w+ )?\d{4}|"
                      r"in mid-.*|as of .*|in total|right before .*|before the .*))$")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Statement:
    """A clause in its parts: it can be denied, and said to its subject."""

    subject: str
    verb: str
    """Finite: "lives", "is", "did"."""
    rest: str
    lead: str = ""
    """What stands before the subject ("in June 2023")."""
    negative: bool = False

    def said_to(self, person: str) -> str:
        """Return the clause as it is said to a person, who is "you" in it."""
        own = self.subject.casefold() == person.casefold()
        subject = "you" if own else _yours(self.subject, person)
        verb = _second(self.verb) if own else self.verb
        rest = _to(person, self.rest)
        if self.negative:
            aux = verb in ("is", "are", "was", "were", "has", "have", "can", "will", "had") and not self._owns(verb)
            verb = f"{verb} not" if aux else f"{_do(verb)} not {_base(verb)}"
        lead = f"{_to(person, self.lead)}, " if self.lead else ""
        return " ".join(f"{lead}{subject} {verb} {rest}".split()).replace(" ,", ",")

    def _owns(self, verb: str) -> bool:
        """Tell whether "has" is the verb itself ("has a dog") and no auxiliary ("has sold it")."""
        first = self.rest.split(" ")[0] if self.rest else ""
        return verb in ("has", "have", "had") and not (first.endswith(("ed", "en")) or first in _words("participles"))


def denied(statement: Statement) -> Statement:
    """Return the opposite."""
    return Statement(statement.subject, statement.verb, statement.rest, statement.lead, not statement.negative)


@cache
def table() -> dict[str, Any]:
    """Return `replies.toml`."""
    return tomllib.loads(files("doxa_bench.replies").joinpath("replies.toml").read_text(encoding="utf-8"))


def from_relation(subject: str, phrases: Sequence[str], thing: str, *, polarity: bool, past: bool) -> Statement | None:
    """Return the statement of a gold fact: its subject, its accepted relation phrases, its object."""
    phrase = phrases[0]
    first, _, tail = phrase.partition(" ")
    named = f"have {phrase}" in phrases or phrase in ("age", "birthday", "name") or phrase in _single("nouns")
    if named:
        statement = Statement(f"{subject}'s {phrase}", "was" if past else "is", thing)
    elif first in _words("base") or first in ("be", "have", "do", "go"):
        happened = past or first in _words("events") or tail.startswith(("born", "raised", "promoted"))
        statement = Statement(subject, _past(first) if happened else _third(first), f"{tail} {thing}".strip())
    else:
        return None
    return statement if polarity else denied(statement)


def from_question(question: str, answer: str, *, yes: bool | None) -> Statement | None:
    """Return what a question and its answer say together; None where the question is too involved.

    Args:
        question: such as "Where does Ana live now?".
        answer: the value; not used for yes and no.
        yes: whether the answer is yes; None for a question after a value.
    """
    lead = ""
    if (sourced := SOURCE.match(question)) is not None:
        if sourced["source"].casefold().startswith("given"):
            return None
        lead, question = sourced["source"], sourced["rest"]
        lead = lead[0].lower() + lead[1:]
    if yes is not None:
        asked = YESNO.match(question)
        statement = _inverted(asked["aux"].lower(), asked["rest"], "") if asked else None
        if statement is not None and not yes:
            statement = denied(statement)
    else:
        statement = _of_value(question, answer)
    if statement is None or not statement.rest:
        return None
    return Statement(statement.subject, statement.verb, statement.rest, lead or statement.lead, statement.negative)


def _of_value(question: str, answer: str) -> Statement | None:
    asked = WH.match(question)
    if asked is None:
        return None
    wh, noun, aux, rest = (
        asked["wh"].lower(),
        asked["noun"].strip(),
        asked["aux"].lower(),
        (asked["rest"] or "").strip(),
    )
    if wh == "who" and aux in ("is", "are", "has") and (aux == "has" or _is_predicate(rest)):
        return Statement(answer, aux, rest)  # "Who is on call now?"
    placed = answer if re.search(r"\b(?:to|for|with)$", rest) else _placed(wh, noun, asked["prep"] or "", answer)
    if placed is None:
        return None
    if wh == "what" and not noun and aux in ("is", "was") and _inner_verb(rest, bare=False) is None:
        return Statement(_capitalised(rest), aux, answer)
    if wh == "how" and not noun and rest.endswith("related to " + rest.split(" ")[-1]):
        who, _, whom = rest.partition(" related to ")
        return Statement(who, aux, f"{whom}'s {answer}")
    if wh == "how":
        return None
    return _inverted(aux, rest, placed)


def _placed(wh: str, noun: str, prep: str, answer: str) -> str | None:
    """Return an answer with the preposition that it needs where it is put."""
    match wh:
        case "where":
            if re.match(r"(?:in|at|on|to) ", answer):
                return answer
            return f"{'at' if answer[:1].isdigit() else 'in'} {answer}"
        case "when":
            if re.fullmatch(r"\d{4}", answer):
                return f"in {answer}"
            return f"at {answer}" if re.match(r"\d{1,2}(?::\d\d)?(?: ?pm| ?am)?$", answer) else f"on {answer}"
        case "which" | "what" if prep:
            words = noun.split()
            plain = answer.removeprefix(f"{words[-1]} ") if words else answer
            named = f"{words[-1]} {plain}" if words and words[-1] in ("room", "platform", "gate") else answer
            return f"{prep.lower()} {named}"
        case "how many" if noun:
            return f"{answer} {noun}" if not prep else f"{prep.lower()} {answer} {noun}"
        case "what" | "which" if noun:
            return None if noun.split()[0] in ("breed", "car", "kind") else answer
    return answer if wh in ("who", "how much", "what", "how old") else None


def _inverted(aux: str, rest: str, value: str) -> Statement | None:
    """Return a statement with its subject before its verb."""
    if UNSAYABLE.search(f"{rest} "):
        return None
    found = _inner_verb(rest, bare=aux in ("does", "do", "did", "can", "will"))
    if aux in ("does", "do", "did", "can", "will"):
        if found is None:
            return None
        subject, verb, tail = found
        finite = {"does": _third(verb), "do": verb, "did": _past(verb)}.get(aux, f"{aux} {verb}")
        if aux in ("can", "will"):
            return Statement(_capitalised(subject), aux, _with(f"{verb} {tail}".strip(), value))
        return Statement(_capitalised(subject), finite, _with(tail, value))
    if found is not None:
        subject, verb, tail = found
        return Statement(_capitalised(subject), aux, _with(f"{verb} {tail}".strip(), value))
    timed = TRAILING.match(rest)
    if value and re.search(r"\w (?:at|in|on|from|of) ", timed["what"] if timed else rest):
        return None  # "For how many years was Ana at the tax office?"
    if value:
        subject, when = (timed["what"], timed["when"]) if timed else (rest, "")
        return Statement(_capitalised(subject), aux, f"{value}{when}")
    words = rest.split(" ")
    possessive = next((place for place, word in enumerate(words) if word.endswith("'s")), -1)
    split = possessive + 2 if possessive >= 0 else (2 if ARTICLE.match(rest) else 1)
    if split >= len(words):
        return None
    return Statement(_capitalised(" ".join(words[:split])), aux, " ".join(words[split:]))


def _with(tail: str, value: str) -> str:
    """Return what follows a verb with the value in its place: before the time that closes it."""
    timed = TRAILING.match(f" {tail}") if tail else None
    if timed and value:
        return f"{timed['what'].strip()} {value}{timed['when']}".strip()
    return f"{tail} {value}".strip()


def _inner_verb(rest: str, *, bare: bool) -> tuple[str, str, str] | None:
    """Return what stands before the verb of a clause, the verb, and what follows; None where there is none.

    Args:
        rest: a question without its question word and auxiliary.
        bare: the verb is a base form ("does Ana live"); else a participle ("is Ana dating").
    """
    words = rest.split(" ")
    known = {*_words("base"), "be", "have", "do", "go"} if bare else _words("participles")
    for place in range(1, len(words)):
        word = words[place].casefold()
        if words[place - 1].endswith("'s") or words[place - 1].casefold() in ("the", "a", "an"):
            continue
        if word in known or (not bare and word.endswith("ing") and len(word) > 4):
            return " ".join(words[:place]), words[place], " ".join(words[place + 1 :])
    return None


def _is_predicate(rest: str) -> bool:
    return bool(re.match(r"(?:on|in|at|allergic|the spare|a|an) ?\w*", rest)) and not re.match(r"(?:the|[A-Z])", rest)


def _single(name: str) -> frozenset[str]:
    return frozenset(table()["single"][name].split("|"))


@cache
def _words(name: str) -> frozenset[str]:
    return frozenset(table()["verbs"][name].split())


@cache
def _irregular() -> dict[str, tuple[str, str, str]]:
    rows = (row.split("/") for row in table()["verbs"]["irregular"].split())
    return {base: (third, second, past) for base, third, second, past, _ in rows}


PAST = {
    "eat": "ate", "drive": "drove", "speak": "spoke", "pay": "paid", "run": "ran", "bring": "brought",
    "teach": "taught", "take": "took", "keep": "kept", "fly": "flew", "sleep": "slept", "wear": "wore",
    "drink": "drank", "write": "wrote", "sing": "sang", "grow": "grew", "lend": "lent", "win": "won", "lose": "lost",
    "sell": "sold", "buy": "bought", "leave": "left", "meet": "met", "see": "saw", "break": "broke", "get": "got",
    "give": "gave", "make": "made", "know": "knew", "hold": "held", "build": "built", "draw": "drew", "lead": "led",
    "begin": "began", "come": "came", "swim": "swam", "rise": "rose", "quit": "quit", "cost": "cost", "read": "read",
    "fit": "fit", "ring": "rang",
}  # fmt: skip


def _third(base: str) -> str:
    if base in _irregular():
        return _irregular()[base][0]
    if re.search(r"(?:s|x|z|ch|sh|o)$", base):
        return base + "es"
    return base[:-1] + "ies" if re.search(r"[^aeiou]y$", base) else base + "s"


def _past(base: str) -> str:
    if base in _irregular():
        return _irregular()[base][2]
    if base in PAST:
        return PAST[base]
    if base.endswith("e"):
        return base + "d"
    if re.search(r"[^aeiou]y$", base):
        return base[:-1] + "ied"
    return base + base[-1] + "ed" if re.fullmatch(r"[^aeiou]*[aeiou][bdgmnpt]", base) else base + "ed"


def _second(verb: str) -> str:
    known = {"is": "are", "was": "were", "has": "have", "does": "do", "goes": "go"}
    if verb in known:
        return known[verb]
    base = _base(verb)
    return base if _third(base) == verb else verb


def _base(verb: str) -> str:
    """Return the base of a finite form."""
    forms = {"is": "be", "are": "be", "was": "be", "were": "be", "has": "have", "had": "have", "did": "do"}
    if verb in forms:
        return forms[verb]
    bases = (*_words("base"), "have", "go", "do")
    return next((base for base in bases if verb in (_third(base), _past(base), base)), verb)


def _do(verb: str) -> str:
    base = _base(verb)
    return "did" if verb == _past(base) and verb != base else "does" if verb == _third(base) else "do"


def _yours(subject: str, person: str) -> str:
    subject = re.sub(rf"^{re.escape(person)}(?:'s|’s) ", "your ", subject)
    subject = _to(person, subject)
    bare = subject[:1].islower() and not ARTICLE.match(subject) and not subject.endswith("s")
    return f"the {subject}" if bare else subject


def _to(person: str, text: str) -> str:
    """Name a person as "you" where he is spoken to."""
    text = re.sub(rf"\b{re.escape(person)}(?:'s|’s)", "your", text)
    return re.sub(rf"\b{re.escape(person)}\b", "you", text)


def _capitalised(subject: str) -> str:
    return subject
