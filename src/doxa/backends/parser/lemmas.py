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
NAMED: Final = ("PROPN", "PRON")  # `i` is `I`


def script(form: str, lemma: str) -> str:
    """Gives back the script with the least edit that turns `form` into `lemma`; `apply` undoes it exactly."""
    if lemma == form:
        return KEEP if form != form.lower() else "lower;0;"
    cases = ("lower",) if lemma == lemma.lower() else ("keep", "title")
    edits = [(case, *_edit(_cased(form, case), lemma)) for case in cases]
    case, cut, end = min(edits, key=lambda edit: edit[1] + len(edit[2]))
    return f"{case};{cut};{end}"


def _edit(base: str, lemma: str) -> tuple[int, str]:
    """How much is cut from the end, and what is put there."""
    same = 0
    while same < min(len(base), len(lemma)) and base[same] == lemma[same]:
        same += 1
    return len(base) - same, lemma[same:]


def _cased(form: str, case: str) -> str:
    return form.lower() if case == "lower" else form.capitalize() if case == "title" else form


def apply(form: str, script: str) -> str:
    """Gives back the lemma; a script that cuts more than there is leaves the form as it stands."""
    case, cut, end = script.split(";", 2)
    base = _cased(form, case)
    size = len(base) - int(cut)
    return (base[:size] + end) if size >= 0 and (size or end) else base


def lemma(form: str, upos: str, script: str, exceptions: Mapping[str, str]) -> str:
    """Gives back the lemma of a word: of its entry `form|UPOS` among the exceptions, else by the script.

    Only names are given a capital letter that they do not have.
    """
    known = exceptions.get(f"{form.lower()}|{upos}")
    if known is None and script.startswith("title") and upos not in NAMED:
        known = apply(form, script.replace("title", "lower", 1))
    return (apply(form, script) if known is None else known) or form
