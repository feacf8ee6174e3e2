"""Names that look alike -> how probable it is that they stand for one person or thing.

A name of the turn is compared with the few known names that it shares a block with (`memory.NameIndex`). Features for
and against add up to log-odds with the weights of `people.toml`; the best candidate must pass the threshold and be
clearly ahead of the next.

Source: the decision model of I. P. Fellegi and A. B. Sunter, "A Theory for Record Linkage" (JASA 64(328), 1969), with
one threshold: what is not sure stays apart.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from doxa.core.values import Claim, Modality, Status, Term
from doxa.memory import Beliefs, Name, full_forms, is_name, is_tie
from doxa.understand.people import Tie, base_name, conflict, linking, ties_of, words_of

__all__ = ["kind_of", "variants"]

FEMALE = frozenset("mrs ms miss lady madame frau senora senhora signora dona aunt auntie dame sister mother".split())
MALE = frozenset("mr sir lord herr monsieur senor senhor signor don uncle brother father".split())
ALIKE = (("ph", "f"), ("ck|c(?![eihy])|q", "k"), ("w", "v"), ("y|j(?=[aeiou])", "i"), ("z", "s"))
"""Letters that sound alike."""
SEVERAL = re.compile(r" and | & |,")
"""In a label that names more than one person."""
RECENT = 32
"""Claims of a name that are looked at: the latest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Profile:
    """What is known of a name when it is compared."""

    names: tuple[Name, ...]
    keys: frozenset[str]
    kind: str
    ties: frozenset[Tie]
    values: dict[str, str]
    """Key of the present value of every relation that has one at a time."""
    introduced: bool
    """It comes with a tie in the turn that is read."""


def variants(
    claims: Sequence[Claim], beliefs: Beliefs, *, skip: Collection[str] = ()
) -> Iterator[tuple[Term, Term, float, str]]:
    """Yield pairs of names that stand for one entity, with the probability and the evidence in words.

    Args:
        claims: what a turn says.
        beliefs: what was believed before it.
        skip: keys of names about which more is known.
    """
    mentioned = {term.key: term for claim in claims for term in (claim.subject, claim.object) if is_name(term)}
    for key, term in mentioned.items():
        if key in skip or len(beliefs.identity.names(key)) > 1 or base_name(key) != key:
            continue
        profile = _profile(key, term.label, beliefs, claims)
        ranked: dict[str, tuple[float, str, str]] = {}
        for other in beliefs.names.alike(key, term.label):
            entity = beliefs.key(other)
            if entity in ranked or beliefs.identity.one(key, other) or not beliefs.said_of(other):
                continue
            known = _profile(other, beliefs.identity.seen[other].term.label, beliefs, ())
            told_apart = beliefs.identity.apart(key, other) or base_name(other) != other
            ranked[entity] = (0.0, "", other) if told_apart else (*_score(profile, known), other)
        probability, evidence, other = _clear(ranked.values())
        if other:
            yield term, beliefs.identity.seen[other].term, probability, evidence


def _clear(ranked: Iterable[tuple[float, str, str]]) -> tuple[float, str, str]:
    """Return the best candidate when it is good enough and clearly ahead of the next; else one without a key."""
    best = [*sorted(ranked, reverse=True)[:2], (0.0, "", ""), (0.0, "", "")]
    decision = linking()["decision"]
    sure = best[0][0] >= decision["threshold"] and best[0][0] - best[1][0] >= decision["margin"]
    return best[0] if sure else (0.0, "", "")


def kind_of(claims: Sequence[Claim], keys: Collection[str]) -> str:
    """Return what an entity is by the relations that it stands in, the latest first; empty when they do not say."""
    for claim in reversed(claims):
        if is_tie(claim.relation.name) and claim.object.key in keys:
            return "animal" if claim.relation.name in words_of("groups", "animal") else "person"
        for side, term in (("subject", claim.subject), ("object", claim.object)):
            if term.key in keys:
                found = next((kind for kind in linking()[side] if claim.relation.name in words_of(side, kind)), "")
                if found:
                    return found
    return ""


def _profile(key: str, label: str, beliefs: Beliefs, more: Sequence[Claim]) -> _Profile:
    keys = beliefs.identity.names(key)
    said = [claim for name in keys for claim in beliefs.said_of(name)[-RECENT:]]
    labels = dict.fromkeys([label, *(beliefs.identity.seen[name].term.label for name in keys if name != key)])
    fresh = [claim for claim in more if key in (claim.subject.key, claim.object.key)]
    held = {
        fact.relation.name: fact.object.key
        for fact in beliefs.about(key, latest=RECENT)
        if fact.functional and fact.polarity and fact.status is Status.HELD and fact.modality is Modality.ASSERTED
    }
    told = {
        claim.relation.name: beliefs.key(claim.object.key)
        for claim in fresh
        if claim.functional and claim.polarity and claim.subject.key == key and claim.modality is Modality.ASSERTED
    }
    introduced = any(is_tie(claim.relation.name) and claim.object.key == key for claim in fresh)
    return _Profile(
        names=tuple(Name.of(name) for name in labels if "'s " not in name),
        keys=frozenset(keys),
        kind=kind_of([*said, *fresh], {*keys, key}),
        ties=frozenset(ties_of(key, beliefs, fresh)),
        values=held | told,
        introduced=introduced,
    )


def _score(new: _Profile, known: _Profile) -> tuple[float, str]:
    """Return the probability that two names are one's, and the evidence in words."""
    weights = linking()["weights"]
    alike = [_likeness(one, other, new, known) for one in new.names for other in known.names]
    feature, one, other = max(alike, key=lambda found: weights.get(found[0], 0.0), default=("", "", ""))
    if not feature:
        return 0.0, ""
    odds = weights["prior"] + weights[feature]
    if _unlike(new, known):
        odds += weights["unlike"]
    if feature not in ("same_letters", "acronym"):
        odds += _circumstances(new, known, weights)
    return 1 / (1 + math.exp(-odds)), f"{one} and {other}: {feature.replace('_', ' ')}"


def _circumstances(new: _Profile, known: _Profile, weights: dict[str, float]) -> float:
    odds = 0.0
    if new.ties & known.ties:
        odds += weights["same_tie"]
    elif new.introduced:
        odds += weights["introduced"]
    for relation in new.values.keys() & known.values.keys():
        odds += weights["shared_value" if new.values[relation] == known.values[relation] else "other_value"]
    lasts = [{name.tokens[-1] for name in names if len(name.tokens) > 1} for names in (new.names, known.names)]
    if lasts[0] & lasts[1]:
        odds += weights["surname"]
    return odds


def _likeness(one: Name, other: Name, new: _Profile, known: _Profile) -> tuple[str, str, str]:
    """Return the way in which two names are alike with their labels; empty when they are not."""
    feature = ""
    kinds = {new.kind, known.kind}
    person = "person" in kinds and kinds <= {"person", ""}
    if one.letters in (other.letters, "".join(other.spelled_out)) or "".join(one.spelled_out) == other.letters:
        feature = "same_letters" if one.title == other.title else "title"
    elif _sounds_alike(one, other, strict=person):
        feature = "spelling"
    elif _acronym(one, other) and new.kind == known.kind and new.kind in ("place", "organisation"):
        feature = "acronym"
    elif person and not SEVERAL.search(f"{one.label}|{other.label}") and _short(one, other):
        feature = "short_form"
    elif (new.kind if len(one.tokens) > 1 else known.kind) == "person" and person and _part(one, other):
        feature = "part"
    return (feature, one.label, other.label) if feature else ("", "", "")


def _sounds_alike(one: Name, other: Name, *, strict: bool) -> bool:
    if len(one.tokens) != len(other.tokens):
        return False
    pairs = [(a, b) for a, b in zip(one.tokens, other.tokens, strict=True) if a != b]
    if any(not a.isalpha() or not b.isalpha() for a, b in pairs) or (len(one.tokens) == 1 and len(one.letters) < 5):
        return False
    plural = not strict and all(a.rstrip("s") == b.rstrip("s") and min(len(a), len(b)) > 3 for a, b in pairs)
    return plural or all(_plain(a) == _plain(b) for a, b in pairs)


def _plain(word: str) -> str:
    """Return a word with letters that sound alike as one: "philipp" and "filip" are the same."""
    for pattern, letters in ALIKE:
        word = re.sub(pattern, letters, word)
    word = word[:1] + word[1:].replace("h", "")
    return re.sub(r"(.)\1+", r"\1", word)


def _acronym(one: Name, other: Name) -> bool:
    return (one.acronym and one.letters in other.initials) or (other.acronym and other.letters in one.initials)


def _short(one: Name, other: Name) -> bool:
    """Tell whether a first name is a short form of the other, and nothing else differs."""
    if not one.tokens or not other.tokens or one.tokens[0] == other.tokens[0]:
        return False
    formal = {one.tokens[0]} & other.full_names or {other.tokens[0]} & one.full_names
    rest = (one.tokens[1:], other.tokens[1:])
    return bool(formal or _diminutive(one, other)) and (rest[0] == rest[1] or not all(rest))


def _diminutive(one: Name, other: Name) -> bool:
    """Tell whether one first name is the other with an ending of endearment ("Ann", "Annie"), not one of its own."""
    shorter, longer = sorted((one, other), key=lambda name: len(name.tokens[0]))
    stem, form = shorter.tokens[0], longer.tokens[0]
    ending = form[len(stem) :].removeprefix(stem[-1])
    own = form in full_forms()
    return len(stem) > 2 and form.startswith(stem) and ending in ("y", "ie", "i", "ey", "ee") and not own


def _part(one: Name, other: Name) -> bool:
    """Tell whether one is the first name, or the title and last name, of the other."""
    shorter, longer = sorted((one, other), key=lambda name: len(name.tokens))
    if len(shorter.tokens) != 1 or len(longer.tokens) < 2 or SEVERAL.search(longer.label):
        return False
    if shorter.title:
        return shorter.tokens[0] == longer.tokens[-1] and shorter.title == longer.title
    return shorter.tokens[0] == longer.tokens[0]


def _unlike(new: _Profile, known: _Profile) -> bool:
    """Tell whether something rules out that two names are one's."""
    if new.kind and known.kind and new.kind != known.kind:
        return True
    if conflict(new.ties, known.ties) or _sexes(new) | _sexes(known) == {"f", "m"}:
        return True
    return any(_other_person(one, other) for one in new.names for other in known.names)


def _sexes(profile: _Profile) -> set[str]:
    titles = {name.title for name in profile.names}
    return ({"f"} if titles & FEMALE else set()) | ({"m"} if titles & MALE else set())


def _other_person(one: Name, other: Name) -> bool:
    """Tell whether two full names have another first or last name, or other numbers."""
    if [word for word in one.tokens if word.isdigit()] != [word for word in other.tokens if word.isdigit()]:
        return True
    if len(one.tokens) < 2 or len(other.tokens) < 2:
        return False
    first = one.full_names & other.full_names or _plain(one.tokens[0]) == _plain(other.tokens[0])
    first = first or _diminutive(one, other)
    return not first or _plain(one.tokens[-1]).rstrip("s") != _plain(other.tokens[-1]).rstrip("s")
