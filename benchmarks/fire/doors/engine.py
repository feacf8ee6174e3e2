"""The Python interface: calls of dialogues, memories and tasks, several in a row on one memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from inspect import signature
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any, get_type_hints

from pydantic import ConfigDict, TypeAdapter, ValidationError

from doors.base import Fault, Renewed, decoded, encoded, opened, ours
from doxa.core.values import Turn

__all__ = ["Api", "Kept"]

MOST = 4
"""Calls of one input."""
UNTYPED = (TypeError, ValueError, AttributeError, LookupError)
"""What a call may raise that no type checker lets pass."""
GONE = ("forget", "import_")
"""Calls after which a turn may be gone."""
DIALOGUE = ("absorb", "ask", "respond", "add", "correct")
MEMORY = (
    *(
        "search",
        "check",
        "summary",
        "facts",
        "history",
        "sparql",
        "turns",
        "turn",
        "claims",
        "annotate",
        "why",
        "rules",
    ),
    *("feedback", "merge", "split", "retract", "accept", "keep_both", "withdraw", "undo", "what_if", "forget", "stats"),
    *("promotions", "demote", "enable", "why_promoted", "answers", "why_answered", "inferred", "disputes", "entities"),
    *("untold", "withdrawn", "tasks", "drift", "describe"),
)
TASKS = ("tell", "state", "summary", "context", "value", "undo", "redo", "rollback", "history", "forest")
SEEDS: Sequence[Any] = (
    [["absorb", {"text": "I live in Oslo.", "turn_id": "a1", "at": "2024-05-01T10:00:00Z", "metadata": {"k": 1}}]],
    [
        [
            "absorb",
            {"text": "Kim lives in Rome.", "speaker": "Kim", "role": "user", "verbatim": False, "called": ["User"]},
        ]
    ],
    [["absorb", {"text": "I moved to Bergen."}], ["ask", {"text": "Where do I live?", "as_of": "2024-05-02"}]],
    [
        [
            "ask",
            {"text": "And Kim?", "known_at": "2024", "at": "2024-06-01", "said": [{"role": "user", "content": "Hi"}]},
        ]
    ],
    [["respond", {"text": "Add milk to my list.", "to": "tasks", "turn_id": "r1", "n": 1, "background": False}]],
    [["respond", {"text": "I like tea. What do I like?", "at": "2024-05-03"}], ["undo", {}]],
    [["add", {"messages": [{"role": "user", "content": "I work at Acme.", "id": "m1"}], "verbatim": True}]],
    [["correct", {"text": "I live in Paris.", "turn_id": "a1", "reason": "no"}]],
    [["correct", {"text": "I live in Paris.", "fact_id": "@fact"}]],
    [
        [
            "search",
            {"query": "Oslo", "k": 3, "recent": [["Ana", "Hi."]], "since": "2023", "until": "2025-01", "session": "s"},
        ]
    ],
    [
        [
            "search",
            {"query": "Oslo", "as_of": "2024-05-02", "known_at": "2024-05-02", "superseded": True, "speaker": "Ana"},
        ]
    ],
    [["check", {"text": "You live in Rome. You like tea.", "agent": "bot", "speaker": "Ana"}]],
    [["summary", {"query": "Ana", "max_tokens": 50, "history": True}], ["facts", {"current": False, "subject": "Ana"}]],
    [["facts", {"relation": "lives in", "as_of": "2024-05-02", "known_at": "2024-05-09"}], ["history", {"of": "Ana"}]],
    [["history", {"of": ["Ana", "lives in"]}], ["rules", {"known_at": "2024"}]],
    [["sparql", {"query": "SELECT * { ?p doxa:livesIn ?q }", "as_of": "2024-05-02", "limit_s": 1.0}]],
    [
        ["turns", {"ids": ["a1"], "session": "s", "after": 0, "limit": 5, "withdrawn": True}],
        ["turn", {"turn_id": "a1"}],
    ],
    [["claims", {"turn_id": "a1"}], ["annotate", {"turn_id": "a1", "metadata": {"x": [1, {"y": None}]}}]],
    [
        ["why", {"fact_id": "@fact"}],
        ["retract", {"fact_id": "@fact", "reason": "no"}],
        ["accept", {"fact_id": "@fact"}],
    ],
    [["feedback", {"query": "Where?", "needed": ["a1"]}], ["keep_both", {"fact_ids": ["@fact", "@other"]}]],
    [["merge", {"one": "Kim", "other": "Ana"}], ["split", {"one": "Kim", "other": "Ana"}]],
    [["withdraw", {"source": "Kim"}], ["undo", {"expected": 3}]],
    [["withdraw", {"turn_id": "a1"}], ["what_if", {"say": "I live in Lima.", "speaker": "Ana"}]],
    [["what_if", {"retract": "@fact"}], ["what_if", {"merge": ["Kim", "Ana"]}]],
    [["forget", {"turn_id": ["a1", "x"]}], ["stats", {}]],
    [["tell", {"text": "Plan a dinner on Friday at 7 pm.", "at": "2024-05-01", "intent": "new"}], ["state", {}]],
    [["tell", {"text": "Make it 8 pm.", "said_before": "When?"}], ["rollback", {"path": "dinner/time", "to": 1}]],
    [["context", {"text": "dinner", "budget": 40}], ["value", {"text": "8 pm", "at": "2024-05-01"}], ["redo", {}]],
    [["promotions", {"active": False}], ["demote", {"promotion_id": "p"}], ["answers", {"stale": True}]],
    [["ask", {"text": "Where do I live?"}], ["why_answered", {"answer_id": "@answer"}], ["inferred", {}]],
    [["disputes", {}], ["entities", {}], ["untold", {}], ["drift", {}]],
    [["export", {"format": "turtle"}], ["export", {"format": "notes"}]],
)
FORMATS = ("jsonl", "turtle", "nquads", "jsonld", "markdown", "mem0", "mcp", "letta", "graphiti", "messages")


class Kept:
    """What was acknowledged of one user, held against what is there."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        """Texts by the ids of their turns, of what nobody may have erased."""

    def check(self, there: Mapping[str, Turn | None]) -> None:
        """Compare, and begin anew.

        Raises:
            Fault: something is not there, or is another one.
        """
        held, self.texts = self.texts, {}
        for key, text in held.items():
            turn = there.get(key)
            if turn is None:
                raise Fault("an acknowledged turn is gone")
            if turn.text != text.encode("utf-8", "replace").decode("utf-8"):
                raise Fault("an acknowledged turn has another text")


class Api(Renewed):
    """Calls in a row, `[[name, {argument: value}], ...]`; what is no such list is absorbed as a text."""

    seeds: Sequence[bytes] = encoded(*SEEDS)
    words: Sequence[str] = (*DIALOGUE, *MEMORY, *TASKS, *FORMATS, "@fact", "@other", "@answer", "a1", "Ana", "Kim")

    def __init__(self, models: bool) -> None:
        """Open it: an engine in memory."""
        self._models, self._kept = models, Kept()
        self._folder = Path(mkdtemp(prefix="fuzz-"))
        self._begin()

    def _begin(self) -> None:
        self._doxa = opened(self._models)

    def _end(self) -> None:
        self._doxa.close()

    def __call__(self, data: bytes) -> None:
        given = decoded(data)
        self._renew()
        calls = given if isinstance(given, list) else [["absorb", {"text": given}]]
        for call in calls[:MOST]:
            if isinstance(call, list) and len(call) == 2 and isinstance(call[1], dict):
                with ours():
                    self._called(str(call[0]), self._filled(call[1]))
        self._doxa.wait("ana", rest_s=0.0)  # what was stopped by something that is no error of ours is raised here
        self._check()

    def _check(self) -> None:
        memory = self._doxa.memory(user="ana")
        found = memory.turns([*self._kept.texts], withdrawn=True) if self._kept.texts else []
        self._kept.check({turn.turn_id: turn for turn in found})
        if self._models and (read := [why for why in self._degraded().values() if "could not be understood" in why]):
            raise Fault(f"a turn could not be understood: {read[0].rpartition(': ')[2][:80]}")

    def _degraded(self) -> dict[str, str]:
        with self._doxa.parts.log.user("ana") as state:
            found = dict(state.degraded)
            state.degraded.clear()
            return found

    def _filled(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return arguments with ids that there are in the place of `@fact`, `@other` and `@answer`."""
        if "@" not in str(given):
            return dict(given)
        memory = self._doxa.memory(user="ana")
        facts = [fact.fact_id for fact in memory.facts(current=False)[-2:]] or ["none"]
        answers = [one.answer.answer_id for one in memory.answers()[-1:]] or ["none"]
        known = {"@fact": facts[0], "@other": facts[-1], "@answer": answers[0]}
        return {k: [_one(x, known) for x in v] if isinstance(v, list) else _one(v, known) for k, v in given.items()}

    def _called(self, name: str, given: dict[str, Any]) -> None:
        if name in GONE:
            self._kept.texts.clear()
        of = self._object(name)
        if name == "export":
            self._export(given)
            return
        call: Callable[..., Any] | None = getattr(of, name, None) if of is not None else None
        if call is None:
            return
        takes = arguments(type(of), name)
        given = {key: value for key, value in given.items() if key in takes}
        if any(key not in given for key, (_, optional) in takes.items() if not optional):
            return
        try:
            typed = {key: takes[key][0].validate_python(value) for key, value in given.items()}
        except ValidationError:  # a type checker says so; but what holds must hold all the same
            with suppress(*UNTYPED):
                call(**given)
        else:
            self._note(name, typed, call(**typed))

    def _object(self, name: str) -> Any:
        if name in DIALOGUE:
            return self._doxa.dialogue(user="ana", session="s")
        if name in MEMORY:
            return self._doxa.memory(user="ana")
        return self._doxa.tasks(user="ana") if name in TASKS else None

    def _export(self, given: Mapping[str, Any]) -> None:
        format = given.get("format")
        if format in FORMATS:
            self._doxa.memory(user="ana").export(self._folder / "out", format=format)

    def _note(self, name: str, given: Mapping[str, Any], result: Any) -> None:
        if name in ("absorb", "correct") and not result.duplicate:
            self._kept.texts[result.turn_id] = given["text"]
        elif name == "add":
            stored = {one.turn_id for one in result if not one.duplicate}
            there = {turn.turn_id for turn in self._doxa.memory(user="ana").turns([*stored], withdrawn=True)}
            if stored - there:
                raise Fault("an acknowledged message is gone")
        elif name in ("ask", "respond"):
            assert isinstance(result.text, str)

    def close(self) -> None:
        """Close the engine."""
        self._doxa.close()
        rmtree(self._folder)


def _one(value: Any, known: Mapping[str, str]) -> Any:
    return known.get(value, value) if isinstance(value, str) else value


@cache
def arguments(kind: type, name: str) -> Mapping[str, tuple[TypeAdapter[Any], bool]]:
    """Return the types of the arguments of a method, and whether each may be left out."""
    call = getattr(kind, name)
    hints, taken = get_type_hints(call, include_extras=False), signature(call).parameters
    arbitrary = ConfigDict(arbitrary_types_allowed=True, strict=True)
    return {
        key: (TypeAdapter(hints[key], config=arbitrary), one.default is not one.empty)
        for key, one in taken.items()
        if key != "self"
    }
