"""Functions -> tools: their errors said to the model, their results as compact JSON and as structured content."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import Annotated, Any, Union, get_args

from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from mcp.types import CallToolResult, InputRequiredResult, TextContent, ToolAnnotations
from pydantic import BaseModel, ConfigDict

from doxa.core.errors import DoxaError

__all__ = ["Act", "Given", "changes", "reads"]


class Given(BaseModel):
    """What a tool gives back."""

    model_config = ConfigDict(populate_by_name=True)

    def words(self) -> str:
        """Return it as text, for clients that show a model no structured content."""
        return self.model_dump_json(by_alias=True, exclude_none=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """A function that is offered as a tool. Its docstring tells a model when to use it."""

    function: Callable[..., Any]
    title: str
    hints: ToolAnnotations

    @property
    def name(self) -> str:
        """The name of the tool."""
        return self.function.__name__

    def tool(self) -> Tool:
        """Return the tool."""
        described = " ".join((inspect.getdoc(self.function) or "").split())
        made = Tool.from_function(
            _answering(self.function), title=self.title, description=described, annotations=self.hints
        )
        made.parameters = _untitled(made.parameters)
        made.fn_metadata.output_schema = _untitled(made.fn_metadata.output_schema)
        return made


def reads(function: Callable[..., Any], title: str) -> Act:
    """Return the act of a function that changes nothing."""
    hints = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
    return Act(function=function, title=title, hints=hints)


def changes(function: Callable[..., Any], title: str, *, destroys: bool = False, idempotent: bool = False) -> Act:
    """Return the act of a function that changes the memory.

    Args:
        function: what is done.
        title: its name for people.
        destroys: whether something may be gone, or believed no longer, afterwards.
        idempotent: whether doing it again with the same arguments changes nothing more.
    """
    hints = ToolAnnotations(
        read_only_hint=False, destructive_hint=destroys, idempotent_hint=idempotent, open_world_hint=False
    )
    return Act(function=function, title=title, hints=hints)


def _answering(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that answers as a tool does; the SDK reads its arguments and its result from its signature."""
    signature = inspect.signature(function, eval_str=True)
    given = signature.return_annotation
    arms = [one for one in get_args(given) or (given,) if one is not InputRequiredResult]
    result: Any = Annotated[CallToolResult, arms[0]]
    result = Union[result, InputRequiredResult] if InputRequiredResult in get_args(given) else result  # noqa: UP007

    if inspect.iscoroutinefunction(function):

        @wraps(function)
        async def later(*args: Any, **kwargs: Any) -> Any:
            with _told():
                return _shown(await function(*args, **kwargs))

        run: Callable[..., Any] = later
    else:

        @wraps(function)
        def now(*args: Any, **kwargs: Any) -> Any:
            with _told():
                return _shown(function(*args, **kwargs))

        run = now
    run.__signature__ = signature.replace(return_annotation=result)  # type: ignore[attr-defined]
    return run


def _untitled(schema: Any) -> Any:
    """Return a schema without titles that only repeat names: every model that is offered the tool reads them."""
    if isinstance(schema, list):
        return [_untitled(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {key: value for key, value in schema.items() if key != "title" or not isinstance(value, str)}
    return {key: _untitled(value) for key, value in kept.items()}


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except DoxaError as exc:
        raise ToolError(str(exc)) from exc


def _shown(given: Given | InputRequiredResult) -> CallToolResult | InputRequiredResult:
    if isinstance(given, InputRequiredResult):
        return given
    data = given.model_dump(mode="json", by_alias=True, exclude_none=True)
    return CallToolResult(content=[TextContent(type="text", text=given.words())], structured_content=data)
