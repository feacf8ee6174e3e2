"""The verb group: auxiliaries, negation, mood and the main verb, read from left to right."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from doxa.core.values import Modality
from doxa.language.verbs import base_of, participle_of
from doxa.language.words import ADVERBS, BE, DETERMINERS, DO, HAVE, MODALS, Tense

__all__ = ["VerbGroup", "read_group"]

PARTICLES = frozenset("in up out off down back away over on together".split())
PHRASAL = frozenset(
    "grow+up give+up take+up break+up move+in bring+up get+up give+away settle+down move+back sign+up pick+up split+up "
    "work+out go+up go+down come+out set+up look+after pay+off move+over throw+away hand+in put+down call+off fall+out "
    "end+up turn+down cut+down cut+out get+back come+back go+out put+up hang+out stand+up "
    "grow+apart drop+out pass+away close+down".split()
)


@dataclass(slots=True)
class VerbGroup:
    """The verb group while it is read, left to right."""

    tokens: list[str]
    place: int
    tense: Tense = "present"
    negated: bool = False
    modality: Modality = Modality.ASSERTED
    progressive: bool = False
    passive: bool = False
    ended: bool = False
    ability: bool = False
    aspect: Literal["", "start", "stop"] = ""
    adverbs: set[str] = field(default_factory=set)
    bare: bool = False
    """After "do", a modal or "to": only a base form may follow."""

    def word(self, ahead: int = 0) -> str:
        place = self.place + ahead
        return self.tokens[place].casefold() if place < len(self.tokens) else ""

    def skip(self) -> None:
        """Pass over adverbs and negations, and note them."""
        while self.place < len(self.tokens):
            word = self.word()
            if word in ("not", "never", "hardly", "rarely"):
                self.negated = True
            elif word == "no" and self.word(1) in ("longer", "more"):
                self.negated = self.ended = True
                self.place += 1
            elif word == "any" and self.word(1) == "longer":
                self.place += 1
            elif word in ADVERBS and not (word in ("here", "there", "kind", "sort", "first") and not self.word(1)):
                self.adverbs.add(word)
            else:
                return
            self.place += 1


def read_group(group: VerbGroup) -> str | None:
    """Read the verb group; return its main verb, and leave `place` after it."""
    for _ in range(8):
        group.skip()
        word = group.word()
        if not word:
            return None
        step = _auxiliary(group, word)
        if step == "again":
            continue
        if step is not None:
            return step
        verb = _main(group, word)
        if verb is None:
            return None
        chained = _chain(group, verb)
        if chained != "again":
            return chained
    return None


def _auxiliary(group: VerbGroup, word: str) -> str | None:
    """Read one auxiliary: "again" to go on, a verb when the group is complete, None when this is a full verb."""
    if word in BE and not (group.bare and word != "be"):
        return _be(group, word)
    if word == "been":
        group.place += 1
        return _after_be(group)
    if (word in HAVE and not group.bare) or (word == "have" and group.bare):
        return _have(group, word)
    if word in DO and not group.bare:
        after = _next_word(group, 1)
        if base_of(after, "base") or after in ("be", "have"):
            group.tense = "past" if word == "did" else group.tense
            group.bare = True
            group.place += 1
            return "again"
        return None
    if word in MODALS and not group.bare:
        return _modal(group, word)
    if word == "used" and group.word(1) == "to":
        group.ended, group.tense, group.bare = True, "past", True
        group.place += 2
        return "again"
    return None


def _next_word(group: VerbGroup, ahead: int) -> str:
    """Return the next word that is no adverb, seen from `ahead` words on; the group stays as it is."""
    place = group.place + ahead
    while place < len(group.tokens) and group.tokens[place].casefold() in ADVERBS | {"not", "never"}:
        place += 1
    return group.tokens[place].casefold() if place < len(group.tokens) else ""


def _be(group: VerbGroup, word: str) -> str:
    if not group.bare and group.tense == "present":
        group.tense = "past" if BE[word] == "past" else "present"
    group.place += 1
    return _after_be(group)


def _after_be(group: VerbGroup) -> str:
    group.skip()
    word, following = group.word(), group.word(1)
    if (word == "going" and following == "to" and base_of(group.word(2), "base")) or (
        word == "going" and following == "to" and group.word(2) == "be"
    ):
        group.modality, group.bare = Modality.PLANNED, True
        group.place += 2
        return "again"
    if word in ("planning", "hoping", "thinking", "considering", "wanting", "dying", "looking") or (
        word == "about" and following == "to"
    ):
        return _intent(group, word)
    if word == "able" and following == "to":
        group.bare = True
        group.place += 2
        return "again"
    if base_of(word, "gerund"):
        group.progressive = True
        return "again"
    if participle_of(word) and (
        word not in ("tired", "interested", "close", "married", "retired", "closed", "set", "broken")
        or following in ("to", "by")
    ):
        group.passive = True
        return "again"
    return "be"


def _intent(group: VerbGroup, word: str) -> str:
    """Read "planning to", "hoping to", "thinking of" after "be"."""
    modality = {
        "planning": Modality.PLANNED,
        "about": Modality.PLANNED,
        "thinking": Modality.POSSIBLE,
        "considering": Modality.POSSIBLE,
    }
    for length in (1, 2, 3):
        after = group.word(length)
        if after in ("to", "of", "about", "on", "forward"):
            continue
        if base_of(after, "base", "gerund"):
            group.modality = modality.get(word, Modality.DESIRED)
            group.place += length
            group.bare = True
            return "again"
        break
    group.progressive = True
    return "again" if base_of(word, "gerund") else "be"


def _have(group: VerbGroup, word: str) -> str | None:
    following = _next_word(group, 1)
    if following == "to" and base_of(group.word(2), "base"):
        group.modality = Modality.POSSIBLE
        group.bare = True
        group.place += 2
        return "again"
    if following == "got" and not (participle_of(group.word(2)) or group.word(2) in ("to", "into", "better", "worse")):
        group.place = next(i for i in range(group.place, len(group.tokens)) if group.tokens[i].casefold() == "got") + 1
        return "have"
    if following == "been" or (participle_of(following) and group.word(1) not in DETERMINERS):
        group.tense = "past" if word == "had" else "perfect"
        group.place += 1
        group.bare = False
        group.skip()
        if group.word() == "been":
            return "again"
        return None if not participle_of(group.word()) else _participle(group)
    return None


def _participle(group: VerbGroup) -> str:
    verb = participle_of(group.word()) or "be"
    group.place += 1
    verb = _particle(group, verb)
    return _chain(group, verb)


def _modal(group: VerbGroup, word: str) -> str:
    kind = MODALS[word]
    group.place += 1
    group.skip()
    group.bare = True
    if kind == "future":
        group.tense, group.modality = "future", Modality.PLANNED
    elif kind == "would":
        wish = group.word() in ("like", "love", "prefer", "rather")
        group.modality = Modality.DESIRED if wish else Modality.HYPOTHETICAL
        if wish and group.word(1) == "to":
            group.place += 2
        elif wish and group.word() in ("like", "love"):
            group.place += 1
            group.tokens = [*group.tokens[: group.place], "want", *group.tokens[group.place :]]
    elif kind == "can":
        group.ability = True
    else:
        group.modality = Modality.POSSIBLE if kind == "may" else Modality.HYPOTHETICAL
    return "again"


def _main(group: VerbGroup, word: str) -> str | None:
    if group.passive:
        verb = participle_of(word)
    elif group.progressive:
        verb = base_of(word, "gerund")
    elif group.bare:
        verb = base_of(word, "base", "gerund") or ("have" if word == "have" else None)
    else:
        verb = base_of(word, "base", "third", "past", "participle", "gerund")
        if verb and base_of(word, "past") and base_of(word, "base") != word:
            group.tense = "past"
            verb = base_of(word, "past")
        elif verb and base_of(word, "gerund"):
            group.progressive = True
    if verb is None:
        return None
    group.place += 1
    return _particle(group, verb)


def _particle(group: VerbGroup, verb: str) -> str:
    word = group.word()
    if word in PARTICLES and f"{verb}+{word}" in PHRASAL:
        group.place += 1
        return f"{verb}+{word}"
    return verb


def _chain(group: VerbGroup, verb: str) -> str:
    """Read verbs that take a verb: "want to sell", "started learning", "gave up climbing"."""
    become = participle_of(group.word()) if verb == "get" else None
    if become in ("marry", "engage", "divorce", "promote", "hire", "fire"):
        group.passive = True
        group.place += 1
        return become
    to_verb = (group.word() == "to" and base_of(group.word(1), "base") is not None) or (
        group.word() == "to" and group.word(1) in ("be", "have")
    )
    modality = {
        "want": Modality.DESIRED, "hope": Modality.DESIRED, "wish": Modality.DESIRED, "need": Modality.DESIRED,
        "plan": Modality.PLANNED, "intend": Modality.PLANNED, "decide": Modality.PLANNED, "arrange": Modality.PLANNED,
        "expect": Modality.PLANNED, "agree": Modality.PLANNED, "promise": Modality.PLANNED,
    }  # fmt: skip
    if to_verb and verb in modality:
        group.modality = modality[verb] if group.modality is Modality.ASSERTED else group.modality
        group.place += 1
        group.bare, group.progressive, group.passive, group.tense = True, False, False, "present"
        return "again"
    if to_verb and verb in ("start", "begin", "learn", "like", "love", "hate", "prefer", "refuse"):
        if verb in ("start", "begin"):
            group.aspect = "start"
            group.place += 1
            group.bare, group.progressive = True, False
            return "again"
        return verb
    if verb in ("keep", "continue") and base_of(group.word(), "gerund"):
        group.bare = True
        return "again"
    gerund = base_of(group.word(), "gerund") is not None and group.word() not in ("painting", "building", "training")
    if gerund and verb in ("start", "begin", "take+up"):
        group.aspect, group.progressive, group.bare = "start", True, False
        return "again"
    if gerund and verb in ("stop", "quit", "give+up"):
        group.aspect, group.progressive, group.bare = "stop", True, False
        return "again"
    return verb
