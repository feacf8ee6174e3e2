"""A grader that knows the grades it was given, for tests and examples."""

from collections.abc import Mapping, Sequence

import numpy as np

from doxa.backends.grader import GRADES, Grades, Pair, Task
from doxa.core.errors import ClosedError, ConfigError

__all__ = ["ScriptedGrader", "open_grader"]

SURE = 0.98


class ScriptedGrader:
    """Gives the grade that it was given for a text, and a default for all others; keeps what it was asked."""

    def __init__(self, grades: Mapping[str, str] | None = None, name: str = "scripted") -> None:
        """Takes grades by text ("right" by "Ana lives in Bonn").

        Raises:
            ConfigError: A grade is none of any task.
        """
        known = {grade for of in GRADES.values() for grade in of}
        if unknown := sorted(set((grades or {}).values()) - known):
            raise ConfigError(f"Expected grades out of {', '.join(sorted(known))}, got {unknown[0]!r}.")
        self._grades = dict(grades or {})
        self._name = name
        self._closed = False
        self.asked: list[tuple[Task, Pair]] = []

    @property
    def name(self) -> str:
        """The name it was given."""
        return self._name

    def grade(self, task: Task, pairs: Sequence[Pair]) -> Grades:
        """Gives back one row per pair: sure of the grade of its text, by default right, or elsewhere."""
        if self._closed:
            raise ClosedError("The grader was closed; open a new one.")
        self.asked += [(task, pair) for pair in pairs]
        columns = GRADES[task]
        rows = np.full((len(pairs), len(columns)), (1 - SURE) / (len(columns) - 1), dtype=np.float32)
        for row, (text, _) in enumerate(pairs):
            default = "right" if task == "claim" else "elsewhere"
            grade = self._grades.get(text, default)
            rows[row, columns.index(grade if grade in columns else default)] = SURE
        return rows

    def close(self) -> None:
        """Takes no more pairs."""
        self._closed = True


def open_grader(name: str = "", *, grades: Mapping[str, str] | None = None) -> ScriptedGrader:
    """Gives back a grader that knows some grades."""
    return ScriptedGrader(grades, name or "scripted")
