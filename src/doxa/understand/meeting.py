"""Claims and the atoms of rules that speak of one thing in other words -> claims in the words of the rules.

"She signed up for judo" is what "Amira can do ballet or judo, not both" is about, "it's pouring" what "if it rains"
waits for. The solver joins facts and rules by what they say, so a claim that meets an atom is told in its words too.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cache
from importlib.resources import files

from doxa.core.values import Act, Atom, Claim, Interval, Modality, Rule, Term, Turn
from doxa.language import stems
from doxa.language.syntax import FORMS
from doxa.language.verbs import base_of
from doxa.memory import predicate_of
from doxa.understand.atoms import AtomReader, atoms_of
from doxa.understand.clauses import PREPOSITIONS
from doxa.understand.referents import Referents, clean, kin_of

__all__ = ["Rules", "met"]

TOLD = re.compile(
    r"^(?:(?:I|we|he|she|they|[A-Z]\w+)(?: have| has| had| just| already)*? (?:told|promised|assured|informed|"
    r"texted|wrote|let|"
    r"confirmed to|confirmed|said|replied|answered|RSVP'd|decided|agreed|announced)(?: to)?(?: (?:the |my |"
    r"our |his |her |their )?[\w']+(?: know)?)?"
    r"(?: that)? )(?=(?:I|we|he|she|they) )",
)
PLAN = re.compile(
    r"\b(?:plan|planning|going with|going for|for now|for the moment|for the time being|so far|default|"
    r"currently|at the moment|stick(?:ing)? "
    r"with|sticking to|decided|opted|opting|settled|chose|counting on|intend|intention|as things stand|still)\b",
    re.IGNORECASE,
)
DENIED = re.compile(r"\b(?:not|no longer|never|no)\b", re.IGNORECASE)
LACKING = re.compile(
    r"^(?:there (?:is|was|will be) )?no (?P<what>[a-z]+(?: [a-z]+)?)(?= (?:this|today|for|after|yet|any)\b|[,;:.]|$)",
    re.IGNORECASE,
)
"""What does not come: "no bonus this year"."""
WEATHER = frozenset(["it", "weather", "sky"])
LEAST = 2
"""Letters of a stem that may tell two things apart."""
ROLES = frozenset(["works_as", "is_a", "has_role", "become", "start_as", "job", "occupation", "profession"])


@cache
def _classes() -> tuple[tuple[frozenset[str], frozenset[str]], ...]:
    rows = tomllib.loads(files("doxa.understand").joinpath("meeting.toml").read_text(encoding="utf-8"))["class"]
    return tuple((frozenset(row["same"].split()), frozenset(row["opposite"].split())) for row in rows)


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules that hold when a sentence is read, and who reads it."""

    stated: Sequence[Rule]
    turn: Turn
    referents: Referents

    def atoms(self) -> Iterator[Atom]:
        """Yield the atoms of the rules, the latest rule first."""
        for rule in reversed(self.stated):
            yield from (*rule.if_, *rule.then)


def met(claims: Sequence[Claim], text: str, rules: Rules) -> list[Claim]:
    """Return the claims of a sentence, and those that they are in the words of the rules that they meet.

    Args:
        claims: what the sentence says.
        text: the sentence, written out.
        rules: what holds in general.

    Deterministic. Cost O(claims x atoms of the rules), nothing without rules.
    """
    if not rules.stated:
        return list(claims)
    atoms = list(dict.fromkeys(rules.atoms()))
    spoken = [claim for claim in claims if claim.act is not Act.WITHDRAW]
    spoken += [_claim(atom, text, rules) for atom in _read(text, rules)]
    found: dict[tuple[str, str], Claim] = {}
    for claim in spoken:
        for atom in atoms:
            told = _told(claim, atom, atoms, rules)
            if told is not None:
                found.setdefault(_key(told), told)
    if not found:
        for told in _named(text, atoms, rules):
            found.setdefault(_key(told), told)
    known = {_key(claim) for claim in claims}
    fresh = [claim for key, claim in found.items() if key not in known]
    return [*(_relabelled(claim, fresh) for claim in claims), *(told for told in fresh if not _same_fact(told, claims))]


def _same_fact(told: Claim, claims: Sequence[Claim]) -> bool:
    """Tell whether a claim differs from one of others in the words of its relation alone."""
    said = (told.subject, told.relation.name, told.object)
    return any((claim.subject, claim.relation.name, claim.object) == said for claim in claims)


def _relabelled(claim: Claim, fresh: Sequence[Claim]) -> Claim:
    """Return a claim with the words that a rule has for its relation ("moves to" for "lives in")."""
    return next((replace(claim, relation=told.relation) for told in fresh if _same_fact(told, [claim])), claim)


def _key(claim: Claim) -> tuple[str, str]:
    return claim.subject.key, predicate_of(claim.relation, claim.object)


def _read(text: str, rules: Rules) -> Iterable[Atom]:
    """Return the sentence, and what it says that it told somebody, as rules are read."""
    reader = AtomReader(referents=rules.referents, at=rules.turn.at)
    told = TOLD.match(text)
    return [*atoms_of(text, reader), *(atoms_of(text[told.end() :], reader) if told else ())]


def _claim(atom: Atom, text: str, rules: Rules) -> Claim:
    turn = rules.turn
    return Claim(
        subject=atom.subject, relation=atom.relation, object=atom.object, polarity=atom.polarity, valid=atom.valid,
        confidence=0.7, turn_id=turn.turn_id, speaker=turn.speaker, role=turn.role, known_at=turn.at, span=text,
    )  # fmt: skip


def _told(claim: Claim, atom: Atom, atoms: Sequence[Atom], rules: Rules) -> Claim | None:
    """Return a claim in the words of an atom that speaks of the same; None when it does not."""
    if claim.modality in (Modality.POSSIBLE, Modality.HYPOTHETICAL, Modality.DESIRED) or claim.ended:
        return None
    if atom.subject.key.startswith("?"):
        return _classed(claim, atom) or _anybody(claim, atom)
    if not _one(claim.subject, atom.subject, rules):
        return None
    sign = _sign(claim, atom)
    if sign is None or not _about_one(claim, atom, atoms, sign=sign):
        return None
    when = _when(claim, atom, rules)
    if when is None:
        return None
    return replace(
        claim, subject=atom.subject, relation=atom.relation, object=atom.object, valid=when, functional=False,
        polarity=claim.polarity == sign, replaces=None,
    )  # fmt: skip


def _one(one: Term, other: Term, rules: Rules) -> bool:
    if one.key == other.key:
        return True
    return {one.key, other.key} <= WEATHER or _ends(one.key, other.key)


def _ends(one: str, other: str) -> bool:
    """Tell whether one noun phrase is the other with less said ("the test", "her swimming test")."""
    short, long = sorted((one.replace("'s ", " ").split(), other.replace("'s ", " ").split()), key=len)
    return bool(short) and len(short) < len(long) and long[-len(short) :] == short


def _sign(claim: Claim, atom: Atom) -> bool | None:
    """Tell whether two relations mean the same (true), the opposite (false), or have nothing to do (None)."""
    if claim.relation.name == atom.relation.name:
        return True
    mine, its = _verbs(claim), _verbs(atom)
    if mine & its:
        return True
    for same, opposite in _classes():
        if its & same and mine & same:
            return True
        if (its & same and mine & opposite) or (its & opposite and mine & same):
            return False
    return None


def _verbs(said: Claim | Atom) -> set[str]:
    """Return the base forms of a relation: whole, and without its last preposition."""
    parts = said.relation.name.split("_")
    base = base_of(parts[0], *FORMS) or parts[0]
    base = {"is": "be", "located": "be", "works": "work", "does": "do", "takes": "take"}.get(base, base)
    whole = "_".join([base, *parts[1:]])
    found = {whole}
    if len(parts) > 1 and parts[-1] in PREPOSITIONS | {"to"} and base != "be":
        found.add("_".join([base, *parts[1:-1]]))
    words = said.object.key.split()
    if said.relation.name == "has_state" and len(words) == 1:
        found.add(f"be_{words[0]}")
    if base == "do" and words and words[0].endswith("ing"):
        found.add(base_of(words[0], "gerund") or words[0])
    if (
        words
        and not said.object.key[:1].isupper()
        and len(words) == 1
        and words[0] in ("ahead", "there", "through", "home", "out", "off")
    ):
        found.add(f"{base}_{words[0]}")
    return found


def _about_one(claim: Claim, atom: Atom, atoms: Sequence[Atom], *, sign: bool) -> bool:
    """Tell whether the objects are one; one that is left out is understood when no other atom could be meant."""
    mine, its = claim.object.key, atom.object.key
    if base_of(mine, "gerund") in _verbs(atom):
        mine = ""  # "is not running": the verb as a noun
    if claim.relation.name == "has_state" and not its and f"be_{mine}" in _verbs(atom):
        mine = ""
    if mine == its or (_content(mine) and _content(mine) == _content(its)):
        return True
    if not mine or not its:
        rivals = {a.object.key for a in atoms if a.subject == atom.subject and _sign(claim, a) is sign and a.object.key}
        verbs = _verbs(claim) & _verbs(atom)
        motion = bool({"go", "come"} & (_verbs(claim) | _verbs(atom)))
        return len(rivals) <= 1 and (bool(verbs) or motion or not mine)
    short, long = sorted((_content(mine), _content(its)), key=len)
    return bool(short) and short < long and (_ends(mine, its) or _starts(mine, its))


def _starts(one: str, other: str) -> bool:
    short, long = sorted((one.split(), other.split()), key=len)
    return long[: len(short)] == short


def _content(key: str) -> frozenset[str]:
    return frozenset(stem for stem in stems(clean(key)) if len(stem) >= LEAST)


def _when(claim: Claim, atom: Atom, rules: Rules) -> Interval | None:
    """Return when a claim holds, in the words of an atom with a time; None when it is another time."""
    start, wanted = claim.valid.start, atom.valid.start
    if wanted is None:
        return claim.valid
    said = start or rules.turn.at.date()
    if atom.valid.holds_on(said) or (start is None and claim.modality is Modality.PLANNED):
        return atom.valid
    if start is not None and start == wanted + timedelta(days=7):  # "this Saturday", on that very day
        return atom.valid
    return claim.valid if start is None else None


def _classed(claim: Claim, atom: Atom) -> Claim | None:
    """Return that somebody is of a class that a rule speaks of ("Ben started as a trainee", "my sister Mia")."""
    if atom.relation.name not in ("is_a", "has_state"):
        return None
    thing = atom.object.key
    role = claim.relation.name in ROLES or claim.relation.name.endswith("_as")
    if role and _head_of(claim.object.key, thing):
        return replace(claim, relation=atom.relation, object=atom.object, functional=False, replaces=None)
    work = base_of(claim.object.key, "gerund") if claim.relation.name == "does" else None
    if work is not None and thing.split()[0] in (work, f"{work}er", f"{work}r", f"{work}or"):
        return replace(claim, relation=atom.relation, object=atom.object, functional=False, replaces=None)
    owner, _, noun = thing.rpartition("'s ")
    kin = kin_of(noun) or kin_of(noun.removesuffix("s"))
    if owner and kin and claim.polarity and claim.subject.key == owner and claim.relation.name == kin.replace(" ", "_"):
        return replace(
            claim, subject=claim.object, relation=atom.relation, object=atom.object, functional=False, replaces=None
        )
    return None


def _anybody(claim: Claim, atom: Atom) -> Claim | None:
    """Return what somebody does in the words of a rule about anybody who does it."""
    alike = bool(_content(claim.object.key)) and _content(claim.object.key) == _content(atom.object.key)
    sign = _sign(claim, atom) if alike and atom.relation.name not in ("is_a", "has_state") else None
    if sign is None:
        return None
    told = replace(claim, relation=atom.relation, object=atom.object, functional=False, replaces=None)
    return replace(told, polarity=claim.polarity == sign)


def _head_of(one: str, other: str) -> bool:
    """Tell whether a role is a class, or the class with what follows its noun left out ("a volunteer at the fair")."""
    mine, its = clean(one).split(), clean(other).split()
    return bool(mine) and (_content(one) == _content(other) or its[: len(mine)] == mine)


def _named(text: str, atoms: Sequence[Atom], rules: Rules) -> Iterator[Claim]:
    """Yield what a sentence says that only names a part of a rule ("the plan is the garden", "still swollen")."""
    said = frozenset(stems(text))
    plan = PLAN.search(text)
    lacking = LACKING.match(text)
    for atom in atoms:
        if lacking and not atom.object.key and _content(lacking["what"]) == _content(atom.subject.key):
            yield _claim(replace(atom, polarity=False), text, rules)
            continue
        content = _content(atom.object.key)
        if atom.subject.key.startswith("?") or not content or not content <= said:
            continue
        short = len(said - content) <= 1 and len(text.split()) <= 5
        objects = {_content(other.object.key) for other in atoms} - {frozenset()}
        alone = sum(1 for other in objects if other <= said)
        if (plan or short) and alone == 1:
            polarity = not DENIED.search(text)
            claim = _claim(replace(atom, polarity=polarity), text, rules)
            yield replace(claim, modality=Modality.PLANNED if plan and not short else Modality.ASSERTED)
