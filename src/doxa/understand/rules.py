"""Sentences that hold in general or on a condition -> rules.

`rules.toml` says which wording makes which kind of rule; the halves are read by `atoms_of`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from typing import Any

from doxa.core.values import Atom, Rule, Term, Turn
from doxa.understand.alternatives import split_alternatives
from doxa.understand.answers import asked_statement
from doxa.understand.atoms import ANYONE, AtomReader, atoms_of, contrasted, left_out
from doxa.understand.classes import class_halves
from doxa.understand.exclusions import EXCLUSIONS, Halves
from doxa.understand.halves import split_halves
from doxa.understand.referents import NAME, PET, Referents, clean, kin_of, named, term
from doxa.understand.svo import base_form, read_predication
from doxa.understand.text import words

__all__ = ["find_rules"]

PIECES = re.compile(
    r"\s*;\s*|:\s+|\s+[-—–]+\s+|\.\s+|,? (?:and|but) (?=(?:if|unless|when|whenever|as long as|every time) )"
)
LEAD = re.compile(
    r"^(?:(?:(?:and|but|so|also|plus|because|in general|generally|usually|normally|as a rule|apparently|in our \w+|"
    r"at our place|"
    r"(?:please )?(?:note|remember)|keep in mind|(?:just )?so you know|you should know|the (?:\w+ )?"
    r"(?:rule|deal|agreement|thing|point|plan|fact) is|"
    r"I (?:think|guess|believe|suppose|know|promise|promised|said|told you|mean|swear|decided|have decided|agreed)|"
    r"we (?:agreed|decided|said|have agreed|have decided)|(?:she|he|they) (?:say|says|said)|"
    r"it is (?:true|clear|agreed|settled|a fact|known))(?: that)?[,:]? )|"
    r"(?:well|now|ok|okay|oh|by the way|yes|yeah|no|sure|maybe|probably|honestly|basically|of course|unfortunately|"
    r"then|remember|from now on|starting \w+|these days|at (?:work|school|home|the office)), )+"
    r"(?=\S)",
    re.IGNORECASE,
)
TOLD = re.compile(
    rf"^(?P<who>(?i:my|his|her|our|the) [\w-]+(?: {NAME})?|{NAME}) (?:just |also |has |once )?"
    r"(?:says?|said|told (?:me|us)|promised(?: me| us)?|thinks?|thought|insists?|mentioned|warned(?: me| us)?|"
    r"claims?|wrote|explained)(?: that)?,? (?P<what>.+)$"
)
HEDGED = re.compile(
    r"\b(?:maybe|perhaps|probably|apparently|possibly|I (?:think|guess|suppose|believe))\b", re.IGNORECASE
)
ELLIPTIC = re.compile(
    r"^(?:(?:yes|yeah|yep|no|well|sure|maybe|probably|ok|okay|of course),? ?(?:but )?)*"
    r"(?P<how>only (?:if|when|once|after)|not unless|unless|if|as long as|provided(?: that)?|assuming(?: that)?|"
    r"not if|not when|whenever|every time|when) (?P<if>.+)$",
    re.IGNORECASE,
)
CONDITION = re.compile(
    r",? (?:but )?(?:only )?on (?:one|the one|the|a single) condition(?: only)?(?:,|:| -)? (?:that |if )?",
    re.IGNORECASE,
)
"""A condition that is called so: "I come on one condition: that Sol drives"."""
MOTTO = re.compile(r"^no (?P<a>[^,;]{2,40}), no (?P<b>[^,;]{2,40})$", re.IGNORECASE)
ANYBODY = re.compile(r"(?=.*\byou\b)(?!.*\b(?:I|me|we|us|mine|ours)\b)", re.IGNORECASE)
"""A sentence in which "you" is anybody: it speaks of nobody who is there."""
CLAUSE_WORDS = frozenset("i he she we they it you is are was were am that which when if because just".split())
"""Words that show that a would-be noun phrase is a clause."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pattern:
    kind: str
    say: re.Pattern[str]
    unwanted: re.Pattern[str] | None = None


@dataclass(slots=True)
class _Reading:
    """One sentence while it is read; every rule of it gets readers of its own, that start from the same referents."""

    referents: Referents
    turn: Turn
    found: list[Halves] = field(default_factory=list)

    generic: bool = False
    teller: Term | None = None

    def reader(self) -> AtomReader:
        return AtomReader(referents=self.referents, at=self.turn.at, generic=self.generic, teller=self.teller)


@cache
def _data() -> dict[str, Any]:
    return tomllib.loads(files("doxa.understand").joinpath("rules.toml").read_text(encoding="utf-8"))


@cache
def _patterns() -> tuple[_Pattern, ...]:
    rows = _data()["rule"]
    return tuple(
        _Pattern(
            kind=row["kind"],
            say=re.compile(row["say"], re.IGNORECASE),
            unwanted=re.compile(row["not"], re.IGNORECASE) if "not" in row else None,
        )
        for row in rows
    )


@cache
def _guard(name: str) -> re.Pattern[str]:
    text = _data()["words"][name]
    if name == "asking":
        text = (
            rf"\b(?:(?:{text}),?|(?:ask|asks|asked|asking|tell|text|texted|check with)(?: \w+){{1,3}}) "
            r"(?:if|when|whenever|unless|whether|once)\b"
        )
    return re.compile(text, re.IGNORECASE)


def find_rules(
    text: str, turn: Turn, context: Sequence[Turn], referents: Referents, *, first: bool = True
) -> tuple[tuple[Rule, ...], str]:
    """Return the rules that a sentence states, and what is left of it for the patterns that find claims.

    Args:
        text: a written-out sentence.
        turn: the turn that it stands in.
        context: earlier turns, for an answer such as "Only if it rains."
        referents: who is who.
        first: it opens its turn, so it may answer a question.

    Deterministic; never raises on any text. Cost O(rows of the table x len(text)).
    """
    rules: list[Rule] = []
    left: list[str] = []
    for piece in _pieces(_regular(text, referents)):
        if (motto := MOTTO.match(piece)) is not None:  # "no Greta, no marathon: I run it only if she does"
            if named(motto["a"]):
                referents.mention(term(motto["a"]))
            referents.topic = term(clean(motto["b"]))
            continue
        halves = _read(piece, turn, context, referents, first=first)
        rules.extend(_rule(pair, turn, text, hedged=bool(HEDGED.search(piece))) for pair in halves)
        if not halves:
            left.append(piece)
            _introduced(piece, referents)
    return tuple(dict.fromkeys(rules)), "; ".join(left) if rules else text


def _regular(text: str, referents: Referents) -> str:
    """Return a sentence with roundabout conditions in plain words, and with the place that "there" means."""
    text = CONDITION.sub(" only if ", text)
    if referents.place is not None:
        text = re.sub(
            r"\b(mov(?:e|es|ing)|go(?:es|ing)?|fl(?:y|ies|ying)|travel(?:s|ling)?) there\b",
            rf"\1 to {referents.place.label}",
            text,
        )
        text = re.sub(
            r"(?<!^)(?<=\w )there\b(?! (?:is|are|was|were|will|has|have)\b)", f"in {referents.place.label}", text
        )
    return text


def _introduced(piece: str, referents: Referents) -> None:
    """Note whom a part of a sentence is about, for a rule that follows it."""
    said = read_predication(words(piece))
    who = referents.resolve(said.subject) if said else None
    if who is None or who == referents.speaker:
        return
    noun = who.label.rpartition("'s ")[2]
    if named(who.label) or kin_of(noun) or noun in PET:
        referents.mention(who)


def _pieces(text: str) -> list[str]:
    return [piece.strip(" ,") for piece in PIECES.split(text) if piece.strip(" ,")]


def _rule(halves: Halves, turn: Turn, span: str, *, hedged: bool) -> Rule:
    return Rule(
        if_=halves[0],
        then=halves[1],
        turn_id=turn.turn_id,
        speaker=turn.speaker,
        role=turn.role,
        span=span,
        known_at=turn.at,
        confidence=0.5 if hedged else 0.8,
    )


def _read(
    piece: str,
    turn: Turn,
    context: Sequence[Turn],
    referents: Referents,
    *,
    first: bool,
    teller: Term | None = None,
    depth: int = 0,
) -> list[Halves]:
    if depth > 3 or _guard("asking").search(piece):
        return []
    if first and (answered := _answered(piece, turn, context, referents)):
        return answered
    lead = LEAD.match(piece)
    if lead:
        return _read(piece[lead.end() :], turn, context, referents, first=False, teller=teller, depth=depth + 1)
    told = TOLD.match(piece)
    if told and (who := referents.resolve(told["who"])) is not None:
        referents.mention(who)
        teller = who if named(who.label) or "'s " in who.label else None
        return _read(told["what"], turn, context, referents, first=False, teller=teller, depth=depth + 1)
    person = next((other.role == "user" for other in reversed(context) if other.speaker != turn.speaker), False)
    for wording in (piece, *_verbose(piece)):
        generic = not person and bool(ANYBODY.match(wording))
        found = _matched(wording, _Reading(referents=referents, turn=turn, generic=generic, teller=teller))
        if found:
            return found
    return []


def _verbose(piece: str) -> Iterable[str]:
    """Yield a sentence with each "'s" in turn read as "is" ("if Ben's late")."""
    for match in list(re.finditer(r"(?<=\w)'s (?!own\b)", piece))[:3]:
        yield f"{piece[: match.start()]} is {piece[match.end() :]}"


def _matched(piece: str, reading: _Reading) -> list[Halves]:
    """Return what the first row of the table makes of a sentence."""
    for pattern in _patterns():
        match = pattern.say.match(piece)
        if match is None or (pattern.unwanted and pattern.unwanted.search(piece)):
            continue
        reading.found.clear()
        if pattern.kind in EXCLUSIONS:
            reading.found.extend(EXCLUSIONS[pattern.kind](match, reading.reader))
        else:
            KINDS[pattern.kind](match, reading)
        found = [pair for pair in reading.found if _well_formed(pair)]
        if found:
            return list(dict.fromkeys(found))
    return []


def _well_formed(halves: Halves) -> bool:
    """Tell whether both halves say something, and none of their parts is a clause that was taken for a noun."""
    if not halves[0] or not halves[1] or halves[0] == halves[1]:
        return False
    for atom in (*halves[0], *halves[1]):
        subject, thing = atom.subject.key.split(), atom.object.key.split()
        named_clause = set(subject) & CLAUSE_WORDS and len(subject) > 1
        if not subject or len(subject) > 6 or named_clause or ", " in atom.subject.key:
            return False
        if len(thing) > 9 or ", " in atom.object.key or (set(thing[1:]) & CLAUSE_WORDS):
            return False
    return True


def _answered(piece: str, turn: Turn, context: Sequence[Turn], referents: Referents) -> list[Halves]:
    """Read an answer that is only a condition ("Only if it rains.") with the question before it."""
    match = ELLIPTIC.match(piece)
    if match is None or split_halves(match["if"]) or _polite(match["if"]):
        return []
    statement = asked_statement(context, turn.speaker)
    if statement is None:
        return []
    reader = AtomReader(referents=referents, at=turn.at)
    then = atoms_of(statement, reader)
    if_ = atoms_of(match["if"], reader)
    how = match["how"].casefold()
    if not then or not if_:
        return []
    if how.startswith(("only", "not unless")):
        return [(then, if_)]
    if how == "unless":
        return [((_negated(atom),), then) for atom in if_]
    return [(if_, tuple(map(_negated, then)))] if how.startswith("not") else [(if_, then)]


def _polite(if_: str) -> bool:
    return bool(_guard("polite").match(if_)) or _unreal(if_)


def _unreal(if_: str) -> bool:
    """Tell whether a condition is known not to hold: "if I had known", "if I were you"."""
    perfect = re.search(r"\b(?:had|had not) (?:just |only |ever )?(\w+)", if_)
    happened = perfect and base_form(perfect[1], "participle", "past") and perfect[1] not in ("to", "a")
    return bool(happened or re.search(r"\bwere (?:you|me|him|her|in (?:your|my|his|her))\b", if_))


def _negated(atom: Atom) -> Atom:
    return replace(atom, polarity=not atom.polarity)


def _say(reading: _Reading, if_: str, then: str, *, then_first: bool = False, denied: bool = False) -> Halves | None:
    """Read two clauses that belong together; the one that stands first names who the other speaks of."""
    if _polite(if_):
        return None
    reader = reading.reader()
    reader.denied = denied
    first, second = (then, if_) if then_first else (if_, then)
    lone = re.match(r"(?:he|she|they|it)\b", first, re.IGNORECASE) and not re.match(r"it\b", second, re.IGNORECASE)
    if lone and re.match(rf"{NAME} ", second) and not re.match(r"(?:he|she|they|I|we)\b", second):
        b = _half(second, reader, follows=not then_first)
        a = _half(first, reader, follows=then_first)
    else:
        a = _half(first, reader, follows=then_first)
        b = left_out(first, second, reader) or _half(second, reader, follows=not then_first)
    a, b = _elliptic(a, b), _elliptic(b, a)
    return (b, a) if then_first else (a, b)


def _elliptic(atoms: tuple[Atom, ...], others: tuple[Atom, ...]) -> tuple[Atom, ...]:
    """Return a half with the object that it leaves out, of the same verb in the other half ("... if Leo goes")."""

    def whole(atom: Atom) -> Atom:
        if atom.object.key or atom.subject.key == "it":
            return atom
        same = (o for o in others if o.object.key and o.relation.name.split("_")[0] == atom.relation.name.split("_")[0])
        other = next(same, None)
        return atom if other is None else replace(atom, relation=other.relation, object=other.object)

    return tuple(map(whole, atoms))


def _half(text: str, reader: AtomReader, *, follows: bool) -> tuple[Atom, ...]:
    reader.follows = follows
    return contrasted(text, reader) or atoms_of(text, reader)


def _either_half(if_: str) -> list[str]:
    """Return a condition once for each of its alternatives ("Dario or Nuno calls")."""
    return split_alternatives(if_) or [if_]


def _if(match: re.Match[str], reading: _Reading) -> None:
    parts = _condition(match)
    if parts is None:
        return
    if_, then, then_first = parts
    if then_first and _guard("opinion").match(then) and not re.search(r"\bnot\b", then):
        return
    for one in _either_half(if_):
        pair = _say(reading, one, then, then_first=then_first)
        if pair:
            reading.found.append(pair)


def _condition(match: re.Match[str]) -> tuple[str, str, bool] | None:
    groups = match.groupdict()
    if groups.get("both"):
        halves = split_halves(groups["both"])
        return (*halves, False) if halves else None
    return groups["if"], groups["then"], True


def _habit(match: re.Match[str], reading: _Reading) -> None:
    """A habit is told in the present; "when I was a child" and "when I get home I will call" are no rules."""
    parts = _condition(match)
    if parts is None:
        return
    if_, then, then_first = parts
    if then_first and _guard("opinion").match(then):
        return
    tenses = [found.tense for part in (if_, then) if (found := read_predication(words(part)))]
    loose = match[0].casefold().startswith(("when ", "once ", "as soon as", "the moment")) or not re.search(
        r"whenever|(?:every|each|any) ?time|always", match[0], re.IGNORECASE
    )
    if "past" in tenses or (loose and ("future" in tenses or "would" in tenses or _under_way(then))):
        return
    _if(match, reading)


def _under_way(clause: str) -> bool:
    return bool(re.search(r"\b(?:am|is|are) (?:\w+ly )?[a-z]+ing\b", clause))


def _only(match: re.Match[str], reading: _Reading) -> None:
    pair = _say(reading, match["if"], match["then"], then_first=True)
    if pair:
        reading.found.append((pair[1], pair[0]))


def _only_inside(match: re.Match[str], reading: _Reading) -> None:
    pair = _say(reading, match["if"], f"{match['head']} {match['tail']}", then_first=True)
    if pair:
        reading.found.append((pair[1], pair[0]))


def _only_inverted(match: re.Match[str], reading: _Reading) -> None:
    inverted = words(match["inverted"])
    for size in range(1, min(5, len(inverted) - 1)):
        statement = " ".join([*inverted[1 : size + 1], inverted[0], *inverted[size + 1 :]])
        found = read_predication(words(statement))
        if (
            found
            and len(found.subject.split()) == size
            and (size > 1 or inverted[1].casefold() not in ("the", "my", "our"))
        ):
            pair = _say(reading, match["if"], statement)
            if pair:
                reading.found.append((pair[1], pair[0]))
            return


def _unless(match: re.Match[str], reading: _Reading) -> None:
    parts = _condition(match)
    if parts is None:
        return
    if_, then, then_first = parts
    pair = _say(reading, if_, then, then_first=then_first, denied=True)
    if pair:
        reading.found.extend(((_negated(atom),), pair[1]) for atom in pair[0])


def _except(match: re.Match[str], reading: _Reading) -> None:
    pair = _say(reading, match["if"], match["then"], then_first=True)
    if pair:
        reading.found.append((pair[0], tuple(replace(atom, polarity=False) for atom in pair[1])))


def _iff(match: re.Match[str], reading: _Reading) -> None:
    pair = _say(reading, match["if"], match["then"], then_first=True)
    if pair:
        reading.found.extend([pair, (pair[1], pair[0])])


def _split(match: re.Match[str], reading: _Reading) -> None:
    groups = match.groupdict()
    halves = (groups["if"], groups["then"]) if groups.get("then") else split_halves(groups["if"])
    if halves is None:
        return
    pair = _say(reading, *halves)
    other = _say(reading, halves[0], match["else"])
    if pair and other:
        reading.found.append(pair)
        reading.found.extend(((_negated(atom),), other[1]) for atom in pair[0])


def _aim(match: re.Match[str], reading: _Reading) -> None:
    pair = _say(reading, f"{ANYONE} {match['if']}", f"{ANYONE} {match['then']}")
    if pair:
        reading.found.append(pair)


def _class(match: re.Match[str], reading: _Reading) -> None:
    found = class_halves(match[0], reading.reader(), spans=_guard("times"), granted=_guard("granted"))
    if found:
        reading.found.append(found)


def _reserved(match: re.Match[str], reading: _Reading) -> None:
    found = class_halves(f"only {match['clause']}", reading.reader(), spans=_guard("times"), granted=_guard("granted"))
    if found:
        reading.found.append(found)


KINDS: dict[str, Callable[[re.Match[str], _Reading], None]] = {
    "if": _if,
    "habit": _habit,
    "only": _only,
    "only-inside": _only_inside,
    "only-inverted": _only_inverted,
    "unless": _unless,
    "except": _except,
    "iff": _iff,
    "split": _split,
    "aim": _aim,
    "class": _class,
    "none": _class,
    "reserved": _reserved,
    "kind": _class,
    "generic": _class,
}
"""How each kind of the table is read."""
