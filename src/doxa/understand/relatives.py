"""A sentence that names relatives in passing ("my sister Mia sings") -> the sentence, and who is whose what."""

from __future__ import annotations

import re

from doxa.understand.referents import KIN, NAME, PET

__all__ = ["name_relatives"]

KIN_WORDS = "|".join(sorted((re.escape(word) for word in [*KIN, *PET]), key=len, reverse=True))
ADJ = r"(?:(?:older|younger|elder|little|big|best|old|new|oldest|youngest|eldest|twin|dear|good|current|former) )*"
APPOSED = re.compile(
    rf"\b(?P<owner>(?i:my|our|his|her)|{NAME}'s) (?P<kin>{ADJ}(?:{KIN_WORDS})),? (?:called |"
    rf"named )?(?P<name>{NAME})(?='s|\b)(?:(?<=[\w]),(?= (?:has|have|had|is|was|will|can|[a-z]+s|"
    rf"[a-z]+ed) ))?"
)
CHILDREN = re.compile(
    rf"\b(?P<owner>(?i:my|our|his|her)|{NAME}'s) (?:(?:two|three|four|five|\d) )?(?:little |grown-up )?"
    rf"(?P<kin>children|kids|sons|daughters|sisters|brothers|cats|dogs|nephews|nieces|friends|"
    rf"parents|twins|cousins|grandchildren|grandkids|aunts|uncles|colleagues|flatmates|neighbours|neighbors),? "
    rf"(?P<names>{NAME}(?:(?:, | and |, and ){NAME})+)"
)
SINGULAR = {"children": "child", "kids": "child", "grandchildren": "grandchild", "grandkids": "grandchild"}


def name_relatives(text: str) -> tuple[str, list[tuple[str, str, str]]]:
    """Return a sentence with names for "my sister Mia", and who is whose what: ("my", "sister", "Mia")."""
    found: list[tuple[str, str, str]] = []

    def children(match: re.Match[str]) -> str:
        kin = SINGULAR.get(match["kin"], match["kin"].removesuffix("s"))
        for name in re.split(r", and |, | and ", match["names"]):
            found.append((match["owner"], kin, name))
        return match["names"]

    def apposed(match: re.Match[str]) -> str:
        if match["name"].split()[0].casefold() in ("i", "is"):
            return match[0]
        found.append((match["owner"], match["kin"], match["name"]))
        return match["name"]

    return APPOSED.sub(apposed, CHILDREN.sub(children, text)), found
