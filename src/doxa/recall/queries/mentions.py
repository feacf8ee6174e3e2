"""Text -> whom and what it mentions: names, relatives, places, as far as a pronoun may mean them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from doxa.language import stems
from doxa.language.times import DAYS, MONTHS
from doxa.memory import KIN, PET, UserState, is_tie, kin_of, sex_of

__all__ = ["Mention", "mentions"]

Sex = Literal["f", "m", ""]
TITLES: dict[str, Sex] = {
    "mr": "m", "mrs": "f", "ms": "f", "miss": "f", "herr": "m", "frau": "f", "monsieur": "m", "madame": "f", "sir": "m",
    "lady": "f", "lord": "m", "senor": "m", "senora": "f", "señor": "m", "señora": "f", "signor": "m", "signora": "f",
    "uncle": "m", "aunt": "f", "auntie": "f", "brother": "m", "sister": "f", "king": "m", "queen": "f",
}  # fmt: skip
"""Words before a name that tell of a sex; they are no part of it."""
SORTS: dict[str, Sex] = {
    "man": "m", "woman": "f", "lady": "f", "guy": "m", "boy": "m", "girl": "f", "gentleman": "m", "bloke": "m",
    "lad": "m",
}  # fmt: skip
"""Nouns for somebody beside the ties: "a woman called Maeve"."""
PLACING = frozenset("in at to from near into around across outside inside towards through".split())
NAME = r"[^\W\d_a-z][\w'’-]*(?: (?:(?:de|da|van|von|der|del|la|di|al|of|the)(?= [^\W\d_a-z])|[^\W\d_a-z][\w'’-]*))*"
WORDS = re.compile(rf"(?P<name>{NAME})|(?P<word>[a-zà-ÿ][\w'’-]*)|(?P<end>[.!?…:;\n]+)")
NOT_NAMES = frozenset([*MONTHS, *DAYS, *(f"{day}s" for day in DAYS)]) | frozenset(
    "i i'm i've i'd i'll ok okay yes no not hi hello hey thanks mr mrs ms dr sir new year christmas easter english "
    "german french spanish italian".split()
)
TIED_WITHIN = 3
"""Words between a noun and the name that goes with it ("a bridge engineer called Matej")."""
ADVERBS = frozenset("called named is was are my the a an our his her".split())
OWNER = re.compile(r"(?P<owner>my|our|your|his|her|their|[^\W\d_a-z][\w-]*['’]s?) (?:[a-z-]+ )?$", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """Somebody or something with a name or a tie, as a text mentions it."""

    label: str
    kind: Literal["person", "place", "name"]
    """`name` is something with a name of which the text does not tell what it is."""
    sex: Sex = ""

    @property
    def terms(self) -> tuple[str, ...]:
        """The stems of its label."""
        return tuple(stems(self.label))


def mentions(text: str, state: UserState) -> list[Mention]:
    """Return whom and what a text mentions, in order, each once; what was said of them may tell more about their sex.

    Args:
        text: one turn.
        state: who is known.

    Cost O(words of the text + what was said lately of those it names).
    """
    found: dict[str, Mention] = {}
    for one in _spotted(text, state):
        key = one.label.casefold()
        found[key] = max(found.get(key, one), one, key=lambda seen: (seen.kind == "person", bool(seen.sex)))
    return list(found.values())


def _spotted(text: str, state: UserState) -> Iterator[Mention]:
    before: list[str] = []
    start = True
    for match in WORDS.finditer(text[:2000]):
        if match["end"]:
            before, start = [], True
        elif match["word"]:
            word = match["word"].removesuffix("'s").removesuffix("’s").casefold()
            before.append(word)
            start = False
            if (word in KIN or word in PET or word in SORTS) and OWNER.search(text, 0, match.start()):
                yield Mention(label=word, kind="person", sex=SORTS.get(word) or sex_of(kin_of(word) or word))
        else:
            yield from _named(match["name"], before, state, start=start)
            before, start = [match["name"].casefold()], False


def _named(name: str, before: list[str], state: UserState, *, start: bool) -> Iterator[Mention]:
    """Yield what a run of capitalised words names; the first word of a sentence counts when it is known."""
    words = [word.removesuffix("'s").removesuffix("’s").rstrip("'’") for word in name.split()]
    sex: Sex = ""
    while words and (
        words[0].casefold() in TITLES or words[0].casefold() in NOT_NAMES or (start and not _known(words, state))
    ):
        sex, start = TITLES.get(words[0].casefold(), ""), False
        words = words[1:]
    if not words or (not stems(" ".join(words)) and not _known(words, state)):
        return
    label = " ".join(words)
    near = [word for word in before if word not in ADVERBS][-TIED_WITHIN:]
    nouns = [word for word in near if word in KIN or word in SORTS or word in PET]
    sex = (
        sex or next((SORTS.get(noun) or sex_of(kin_of(noun) or noun) for noun in nouns), "") or _sex_known(label, state)
    )
    person = bool(sex or nouns) or _is_person(label, state)
    placed = not person and bool(before) and (before[-1] in PLACING or before[-2:-1] == ["in"])
    yield Mention(label=label, kind="person" if person else "place" if placed else "name", sex=sex)


def _known(words: list[str], state: UserState) -> bool:
    """Tell whether a word is part of a name that the memory knows: a speaker's or a belief's."""
    first = words[0].casefold()
    return any(first == speaker.split()[0].casefold() for speaker in state.columns.speakers if speaker.split()) or bool(
        state.beliefs.names.namesakes(first)
    )


def _relations(label: str, state: UserState) -> list[str]:
    """Return the ties in which others have somebody of this name ("sister"), by what was said lately."""
    beliefs = state.beliefs
    keys = [label.casefold(), *beliefs.names.namesakes(label.split()[0])[:4]]
    claims = (claim for key in dict.fromkeys(keys) for claim in beliefs.said_of(key)[-16:])
    return [claim.relation.name for claim in claims if claim.object.key in keys and is_tie(claim.relation.name)]


def _sex_known(label: str, state: UserState) -> Sex:
    return next(filter(None, (sex_of(name) for name in _relations(label, state))), "")


def _is_person(label: str, state: UserState) -> bool:
    first = label.split()[0].casefold()
    speakers = (speaker.split()[0].casefold() for speaker in state.columns.speakers if speaker.split())
    return first in speakers or bool(_relations(label, state))
