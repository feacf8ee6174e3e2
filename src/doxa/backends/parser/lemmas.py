"""Form and edit script -> lemma: `went` and `lower;4;go` give `go`.

A script says what happens to the letter case, how many characters are cut from the end, and what is put there. A
classifier over scripts can lemmatise words that it never saw. Source: Chrupala 2006, shortest edit scripts; Straka
2018, UDPipe 2.0 (casing and edit kept apart), here with suffixes only, which English needs.
"""

from collections.abc import Mapping
from typing import Final

__all__ = ["KEEP", "apply", "lemma", "script"]

KEEP: Final = "keep;0;"
"""The script that changes nothing."""


def script(form: str, lemma: str) -> str:
    """Gives back the shortest script that turns `form` into `lemma`; `apply` undoes it exactly."""
    if lemma == form:
        return KEEP if form != form.lower() else "lower;0;"
    case = "keep" if lemma != lemma.lower() else "lower"
    base = form if case == "keep" else form.lower()
    same = _common(base, lemma)
    if case == "keep" and same == 0 and _common(form.capitalize(), lemma):
        case, base = "title", form.capitalize()
        same = _common(base, lemma)
    return f"{case};{len(base) - same};{lemma[same:]}"


def apply(form: str, script: str) -> str:
    """Gives back the lemma; a script that cuts more than there is leaves the form as it stands."""
    case, cut, end = script.split(";", 2)
    base = form.lower() if case == "lower" else form.capitalize() if case == "title" else form
    size = len(base) - int(cut)
    return (base[:size] + end) if size >= 0 and (size or end) else base


def lemma(form: str, upos: str, script: str, exceptions: Mapping[str, str]) -> str:
    """Gives back the lemma of a word: of its entry `form|UPOS` among the exceptions, else by the script."""
    known = exceptions.get(f"{form.lower()}|{upos}")
    return known if known is not None else apply(form, script) or form


def _common(first: str, second: str) -> int:
    """How many characters both begin with."""
    size = 0
    while size < min(len(first), len(second)) and first[size] == second[size]:
        size += 1
    return size
