"""Form and edit script -> lemma: `went` and `lower;4;go` give `go`.

A script says what happens to the letter case, how many characters are cut from the end, and what is put there. A
classifier over scripts can lemmatise words that it never saw. Source: Chrupala 2006, shortest edit scripts; Straka
2018, UDPipe 2.0 (casing and edit kept apart), here with suffixes only, which English needs.
"""

from collections.abc import Mapping, Set
from typing import Final

__all__ = ["KEEP", "apply", "lemma", "script"]

KEEP: Final = "keep;0;"
"""The script that changes nothing."""
NAMED: Final = ("PROPN", "PRON")  # `i` is `I`
NONE: Final[Set[str]] = frozenset()


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


def lemma(form: str, upos: str, script: str, exceptions: Mapping[str, str], words: Set[str] = NONE) -> str:
    """Gives back the lemma of a word: of its entry `form|UPOS` among the exceptions, else by the script, made regular.

    Args:
        form: The word as it stands.
        upos: Its part of speech. Names keep a capital letter, nouns and verbs lose it.
        script: What the model proposes.
        exceptions: Lemmas of irregular words.
        words: Words that are known to exist, in lower case: `barred` is `bar`, as no `barr` is.
    """
    known = exceptions.get(f"{form.lower()}|{upos}")
    if known is not None:
        return known
    if ("@" in form or "://" in form) and upos in ("PROPN", "X"):
        return form
    case, _, edit = script.partition(";")
    if upos == "PROPN" and case == "lower" and form[:1].isupper():
        case = "keep"
    elif upos in ("NOUN", "VERB") or (case == "title" and upos not in NAMED):
        case = "lower"
    found = apply(form, f"{case};{edit}") or form
    return found if found in words or upos not in ("NOUN", "VERB") else _regular(form.lower(), found, words)


def _regular(form: str, found: str, words: Set[str]) -> str:
    """The base of a regular form that exists, where what was found does not."""
    if found == form:
        return found
    bases: list[str] = []
    for ending in ("ing", "ed"):
        if form.endswith(ending):
            stem = form.removesuffix(ending)
            bases += [stem, stem + "e", stem[:-1] if stem[-1:] == stem[-2:-1] else stem, stem[:-1] + "y"]
    if form.endswith("s"):
        bases += [form[:-1], form[:-2], form[:-3] + "y"]
    return next((base for base in bases if base in words), found)
