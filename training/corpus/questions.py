"""Questions over annotated dialogues: a text file -> who asks what, and what answers it.

    python training/corpus/questions.py FILE_OF_QUESTIONS FILE_OF_DIALOGUES     # checks, and counts

How they are written: `QUESTIONS.md`.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from corpus import CorpusError, Dialogue, read_dialogues

KINDS = frozenset("one list count time yesno changed before hop why none".split())


@dataclass(frozen=True, slots=True)
class Question:
    """One question over a dialogue."""

    dialogue: str
    asker: str
    """Who says "I"; empty where nobody does."""
    text: str
    answers: tuple[str, ...]
    turns: tuple[int, ...]
    """The turns that answer it, counted from 0."""
    kind: str


def read_questions(path: Path, dialogues: Sequence[Dialogue]) -> list[Question]:
    """Return the questions of a file.

    Raises:
        CorpusError: a line is no question, or names a turn or person that is not there; all such lines are told.
    """
    known = {one.id: one for one in dialogues}
    found: list[Question] = []
    wrong: list[str] = []
    name = ""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            if line.startswith("# "):
                name = line[2:].split(" | ")[0].strip()
                if name not in known:
                    raise CorpusError(f"there is no dialogue {name}")
            elif line.strip():
                found.append(_question(line.strip(), known[name]))
        except (CorpusError, ValueError, KeyError) as exc:
            wrong.append(f"{path.name}:{number}: {exc}: {line.strip()}")
    if wrong:
        raise CorpusError("\n".join(wrong))
    return found


def _question(line: str, dialogue: Dialogue) -> Question:
    parts = [part.strip() for part in line.removeprefix("q ").split(" | ")]
    if not line.startswith("q ") or len(parts) != 4 or not all(parts):
        raise CorpusError("expected 'q question | answer | turns | kind'")
    text, answer, turns, kind = parts
    asker = ""
    if text.startswith("@"):
        asker = next((one.speaker for one in dialogue.turns if text[1:].startswith(f"{one.speaker} ")), "")
        if not asker:
            raise CorpusError("nobody of this name speaks")
        text = text[len(asker) + 2 :]
    if kind not in KINDS:
        raise CorpusError(f"{kind!r} is no kind")
    if (kind == "none") != (answer == "-") or (kind == "none") != (turns == "-"):
        raise CorpusError("answer and turns are '-' for the kind none, and only there")
    places = () if turns == "-" else tuple(int(one) - 1 for one in turns.replace(" ", "").split(","))
    if any(not 0 <= one < len(dialogue.turns) for one in places):
        raise CorpusError(f"there are {len(dialogue.turns)} turns")
    answers = () if answer == "-" else tuple(one.strip() for one in answer.split(";") if one.strip())
    return Question(dialogue.id, asker, text, answers, places, kind)


def main() -> None:
    """Check and count."""
    questions, dialogues = (Path(one) for one in sys.argv[1:])
    try:
        found = read_questions(questions, read_dialogues(dialogues))
    except CorpusError as exc:
        sys.exit(str(exc))
    kinds = Counter(one.kind for one in found)
    asked = sum(bool(one.asker) for one in found)
    print(f"{len(found)} questions, {asked} in the first person; {dict(kinds.most_common())}")


if __name__ == "__main__":
    main()
