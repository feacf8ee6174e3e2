"""The properties of a note: YAML between two lines of `---` at its beginning."""

import math
import re
from dataclasses import dataclass, field
from typing import Any, Final

import yaml

__all__ = ["Head", "head_of"]

HEAD: Final = re.compile(r"---[ \t]*\r?\n(?P<head>(?:.*\n)*?)(?:---|\.\.\.)[ \t]*\r?(?:\n|\Z)")
MOST_VALUES: Final = 1000
"""Nobody writes more; a few names of YAML (`&a`, `*a`) can make millions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """What stands at the beginning of a note, and the rest of it."""

    body: str
    properties: dict[str, Any] = field(default_factory=dict)
    """Plain JSON data."""
    lines: int = 0
    """How many lines of the file stand above the body."""
    broken: str = ""
    """Why the properties could not be read."""


class _Loader(yaml.SafeLoader):  # type: ignore[misc]  # PyYAML ships no types
    """Reads YAML as `yaml.safe_load` does, but for dates, which stay as they are written: a bad one is no bad YAML."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith(":timestamp")]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def head_of(text: str) -> Head:
    """Return the properties of a note and its body; text between two rules that names nothing is of the body."""
    found = HEAD.match(text)
    if found is None:
        return Head(body=text)
    body, lines = text[found.end() :], text.count("\n", 0, found.end())
    try:
        loaded = _plain(yaml.load(found["head"], Loader=_Loader), [MOST_VALUES])  # noqa: S506  it is a `SafeLoader`
    except yaml.YAMLError as exc:
        return Head(body=body, lines=lines, broken=" ".join(str(exc).split()))
    except RecursionError:
        return Head(body=body, lines=lines, broken="they are nested too deeply")
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as exc:
        # What a tag such as `!!int` makes of a text that is none, or a number of thousands of digits.
        return Head(body=body, lines=lines, broken=str(exc) or type(exc).__name__)
    if loaded is not None and not isinstance(loaded, dict):
        return Head(body=text)
    return Head(body=body, lines=lines, properties=loaded or {})


def _plain(value: Any, left: list[int]) -> Any:
    """Return a value as JSON has it; `left` counts how many more may follow."""
    left[0] -= 1
    if left[0] < 0:
        raise ValueError(f"they are more than {MOST_VALUES:,}")
    if isinstance(value, dict):
        return {str(name): _plain(one, left) for name, one in value.items()}
    if isinstance(value, list | tuple | set):
        return [_plain(one, left) for one in value]
    if value is None or isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    return str(value)
