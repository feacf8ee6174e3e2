"""What follows from stated conditions: "If Room 1 is occupied, then Room 2 is not", "C is on only if B is off".

Statements about states become propositions, conditions implications, and an answer is what holds in every assignment of
truth values that agrees with all of them. Where that leaves a state open whose stated condition is met ("only if"), the
answer says so, and reads the condition as sufficient, as people do who state it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import product

from doxa.language import stems
from doxa.language.sentence import Frame, Sentence
from doxa.reason.compute.ledger import Speakers, opposites
from doxa.reason.compute.solve import Result

__all__ = ["CONDITION", "infer", "is_conditional"]

CONDITION = re.compile(r"\b(?:if|unless|either|not all|not both|at most one|only one|exactly one)\b", re.IGNORECASE)
"""What a text has to say for anything here to follow from it."""
MOST_ATOMS = 12
"""Propositions whose truth values are enumerated."""
OPEN = re.compile(
    r"\b(?:what|anything)\b.*\b(?:infer|conclude|deduce|follow|say|know)\b.*\babout\b|\bwhat about\b", re.IGNORECASE
)
CHANGES = re.compile(
    r"\b(?:change|affect|alter|contradict)\b.*\b(?:conclusion|answer|anything|inference|result|this|that|it)\b", re.I
)
TRUTH = re.compile(
    r"^(?:(?:and|so|now|then|ok|okay|well),? )*(?:is|are|was|were|does|do|did|must|can|will)\b", re.IGNORECASE
)
TAUTOLOGY = re.compile(r"\bor not\b", re.IGNORECASE)
NOT_ALL = re.compile(r"\bnot all (?:of )?(?:the )?", re.IGNORECASE)
QUANTIFIED = re.compile(
    r"\b(?P<which>not all|at most one|only one|exactly one|at least one)(?: of)?(?: the)? (?P<noun>\w+)", re.IGNORECASE
)

Atom = tuple[frozenset[str], str]


@dataclass(frozen=True, slots=True)
class _Literal:
    atom: Atom
    holds: bool
    label: str
    state: str

    def __str__(self) -> str:
        return f"{self.label} is {'' if self.holds else 'not '}{self.state}"


@dataclass(frozen=True, slots=True)
class _Rule:
    """If all of `when` hold, `then` does; `only` where that was said of what is necessary."""

    when: tuple[_Literal, ...]
    then: _Literal
    only: bool
    source: Sentence


@dataclass(slots=True)
class _World:
    facts: dict[Atom, tuple[_Literal, Sentence]]
    rules: list[_Rule]
    limits: list[tuple[str, str, str, Sentence]]
    """Quantifier, noun, state."""
    labels: dict[Atom, _Literal]


def is_conditional(text: str) -> bool:
    """Tell whether a text states a condition."""
    return CONDITION.search(text) is not None


def infer(question: Sentence, sentences: Sequence[Sentence]) -> Result | None:
    """Return what follows for the state that a question asks about, or None when it asks for none.

    Sound and complete for the propositions that were read; cost 2^propositions, of which there are 12 at most.
    """
    if not any(is_conditional(s.text) for s in sentences):
        return None
    world = _read(sentences)
    text = question.text
    if CHANGES.search(text):
        return _changed(world)
    if not world.rules or len(world.labels) > MOST_ATOMS:
        return None
    if OPEN.search(text):
        about = {s for c in question.frames for p in c.arguments if p.role == "about" for s in p.words}
        atoms = [atom for atom in world.labels if about and about <= atom[0]]
        return _told(world, [world.labels[atom] for atom in atoms]) if atoms else None
    if TRUTH.match(text):
        asked = [lit for frame in question.frames[:1] for lit in _literals(frame, question, Speakers(), None)]
        if len(asked) == 1 and asked[0].atom in world.labels:
            positive = asked[0] if TAUTOLOGY.search(text) is None else replace(asked[0], holds=True)
            return _truth(world, positive)
    return None


# --- reading ---------------------------------------------------------------------------------------------------------


def _read(sentences: Sequence[Sentence]) -> _World:
    world = _World({}, [], [], {})
    speakers = Speakers()
    for sentence in sentences:
        if sentence.question:
            continue
        limit = QUANTIFIED.search(sentence.text)
        found = list(_of_sentence(sentence, speakers))
        if limit:
            state = next((lit.state for _, lit in found if set(stems(limit["noun"])) & lit.atom[0]), "")
            if state:
                world.limits.append((limit["which"].casefold(), (stems(limit["noun"]) or [""])[-1], state, sentence))
        else:
            _take(world, sentence, found)
        for frame in sentence.frames:
            speakers.hear(frame, sentence.turn)
    return world


def _take(world: _World, sentence: Sentence, found: Sequence[tuple[Frame, _Literal]]) -> None:
    conditions = [lit for frame, lit in found if frame.conditional]
    results = [lit for frame, lit in found if not frame.conditional]
    if re.search(r"\bunless\b", sentence.text, re.IGNORECASE):
        conditions = [replace(lit, holds=not lit.holds) for lit in conditions]
    if TAUTOLOGY.search(sentence.text) and not conditions:
        for lit in results:
            world.labels.setdefault(lit.atom, replace(lit, holds=True))
        return
    for lit in (*conditions, *results):
        world.labels.setdefault(lit.atom, replace(lit, holds=True))
    if conditions and results:
        only = bool(re.search(r"\bonly if\b|\bonly when\b", sentence.text, re.IGNORECASE))
        exact = bool(re.search(r"\bif and only if\b", sentence.text, re.IGNORECASE))
        for lit in results:
            if only or exact:  # the result needs the condition
                world.rules.extend(_Rule((lit,), condition, not exact, sentence) for condition in conditions)
            if exact or not only:
                world.rules.append(_Rule(tuple(conditions), lit, False, sentence))
    elif len(results) == 2 and re.search(r"\beither\b", sentence.text, re.IGNORECASE):
        one, other = results
        world.rules.append(_Rule((replace(one, holds=not one.holds),), other, False, sentence))
        world.rules.append(_Rule((one,), replace(other, holds=not other.holds), False, sentence))
    elif not conditions:
        for lit in results:
            world.facts[lit.atom] = (lit, sentence)


def _of_sentence(sentence: Sentence, speakers: Speakers) -> Iterator[tuple[Frame, _Literal]]:
    """Yield the states that the frames of a sentence tell of; one that leaves its state out has that of the other."""
    states: list[_Literal] = []
    for frame in sentence.frames:
        states.extend(_literals(frame, sentence, speakers, None))
        speakers.hear(frame, sentence.turn)
    for frame in sentence.frames:
        for lit in _literals(frame, sentence, speakers, states[0] if states else None):
            yield frame, lit


def _literals(frame: Frame, sentence: Sentence, speakers: Speakers, other: _Literal | None) -> Iterator[_Literal]:
    if frame.subject is None:
        return
    words, label = speakers.resolve(frame.subject, sentence.turn)
    predicate = next((p for p in frame.arguments if p.role in ("predicate", "in", "at") and p.number is None), None)
    if frame.state or frame.passive:
        state = frame.state or frame.participle
    elif frame.verb == "be" and predicate is not None:
        state = predicate.head if predicate.role == "predicate" else f"{predicate.role} {predicate.label}"
    elif frame.verb == "be" and other is not None and frame.negative:
        yield _Literal((words, other.atom[1]), False, label, other.state)
        return
    else:
        return
    if state and words and frame.subject.head not in ("there", "who", "what"):
        name, flipped = _canonical(state)
        yield _Literal((words, name), frame.negative == flipped, label, _canonical_label(state))


@cache
def _canonical(state: str) -> tuple[str, bool]:
    """Return the state that a word names, and whether it denies it ("closed": open, denied)."""
    positive = opposites().get(state)
    name = positive or state
    return " ".join(stems(name)) or name, positive is not None


def _canonical_label(state: str) -> str:
    return opposites().get(state) or state


# --- deciding --------------------------------------------------------------------------------------------------------


def _models(world: _World) -> list[dict[Atom, bool]]:
    atoms = list(world.labels)
    found: list[dict[Atom, bool]] = []
    for values in product((True, False), repeat=len(atoms)):
        model = dict(zip(atoms, values, strict=True))
        facts = all(model[atom] == lit.holds for atom, (lit, _) in world.facts.items() if atom in model)
        if facts and all(_satisfied(rule, model) for rule in world.rules) and _within(world, model):
            found.append(model)
    return found


def _satisfied(rule: _Rule, model: dict[Atom, bool]) -> bool:
    return not all(model[lit.atom] == lit.holds for lit in rule.when) or model[rule.then.atom] == rule.then.holds


def _within(world: _World, model: dict[Atom, bool]) -> bool:
    for which, noun, state, _ in world.limits:
        values = [value for (words, name), value in model.items() if noun in words and name == _canonical(state)[0]]
        count = sum(values)
        tests = {
            "not all": not values or count < len(values), "at most one": count <= 1, "only one": count == 1,
            "exactly one": count == 1, "at least one": count >= 1,
        }  # fmt: skip
        if not tests[which]:
            return False
    return True


def _decided(world: _World, atom: Atom) -> bool | None:
    values = {model[atom] for model in _models(world)}
    return values.pop() if len(values) == 1 else None


def _met(world: _World, atom: Atom) -> _Rule | None:
    """Return the "only if" of a state whose condition is met."""
    for rule in world.rules:
        if rule.only and rule.when[0].atom == atom and rule.when[0].holds:
            value = _decided(world, rule.then.atom)
            if value is not None and value == rule.then.holds:
                return rule
    return None


def _truth(world: _World, asked: _Literal) -> Result | None:
    value = _decided(world, asked.atom)
    rule = _met(world, asked.atom) if value is None else None
    if value is None and rule is None:
        return None
    yes = (value if value is not None else True) == asked.holds
    lit = replace(world.labels[asked.atom], holds=value if value is not None else True)
    note = ""
    if rule is not None:
        note = f" This takes the condition to be sufficient: strictly, “{rule.source.text.rstrip('.')}” only allows it"
    return _result(world, "yes" if yes else "no", f"{'Yes' if yes else 'No'}. {_capital(lit)}.{note}", [lit])


def _told(world: _World, asked: Sequence[_Literal]) -> Result | None:
    decided = [(lit, _decided(world, lit.atom)) for lit in asked]
    known = [replace(lit, holds=value) for lit, value in decided if value is not None]
    if not known:
        return None
    text = " ".join(f"{_capital(lit)}." for lit in known)
    return _result(world, "; ".join(map(str, known)), text, known)


def _changed(world: _World) -> Result | None:
    """Return whether the latest limit ("not all rooms can be occupied") changes what followed without it."""
    if not world.limits or len(world.labels) > MOST_ATOMS:
        return None
    _, noun, state, sentence = world.limits[-1]
    without = _World(world.facts, world.rules, world.limits[:-1], world.labels)
    name = _canonical(state)[0]
    before = {atom: _assumed(without, atom) for atom in world.labels if noun in atom[0] and atom[1] == name}
    assumed = {atom: (replace(world.labels[atom], holds=v), sentence) for atom, v in before.items() if v is not None}
    kept = bool(_models(_World({**assumed, **world.facts}, world.rules, world.limits, world.labels)))
    stated = [replace(world.labels[atom], holds=value) for atom, value in before.items() if value is not None]
    if not stated:
        return None
    states = "; ".join(_capital(lit) for lit in stated)
    text = f"No. {states}: that agrees with the rule" if kept else f"Yes. Not all of this can be so any more: {states}"
    return _result(world, "no" if kept else "yes", text, stated)


def _assumed(world: _World, atom: Atom) -> bool | None:
    """Return whether a state holds, taking an "only if" whose condition is met as sufficient."""
    value = _decided(world, atom)
    return value if value is not None else True if _met(world, atom) else None


def _capital(lit: _Literal) -> str:
    text = str(lit)
    return text[:1].upper() + text[1:]


def _result(world: _World, value: str, text: str, about: Sequence[_Literal]) -> Result:
    """Return an answer with the statements that its states hang together with."""
    wanted = {lit.atom for lit in about}
    used: list[Sentence] = []
    for _ in world.rules:
        for rule in world.rules:
            atoms = {lit.atom for lit in (*rule.when, rule.then)}
            if atoms & wanted and rule.source not in used:
                used.append(rule.source)
                wanted |= atoms
    used += [sentence for atom, (_, sentence) in world.facts.items() if atom in wanted and sentence not in used]
    used += [sentence for *_, sentence in world.limits if sentence not in used]
    ordered = sorted(used, key=lambda s: (s.turn.ordinal, s.number))
    lines = tuple(dict.fromkeys(sentence.text.rstrip(".") for sentence in ordered))
    return Result(value=value, text=text, working=lines, turn_ids=tuple(dict.fromkeys(s.turn.turn_id for s in ordered)))
