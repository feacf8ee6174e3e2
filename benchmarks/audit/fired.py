"""Stand-ins that count: a pattern that notes when it matches, a set of words that notes when one of them is asked for.

They take the place of the constants of the packages that read language, wherever those are imported.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

__all__ = ["FIRED", "constants", "count_all"]

FIRED: Counter[str] = Counter()
"""How often each constant fired, by `module.NAME`."""


class CountingPattern:
    """A compiled pattern that counts its matches."""

    def __init__(self, pattern: re.Pattern[str], name: str) -> None:
        self._pattern = pattern
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(self._pattern, name)

    def _noted(self, match: Any) -> Any:
        FIRED[self._name] += bool(match)
        return match

    def match(self, *args: Any) -> Any:
        return self._noted(self._pattern.match(*args))

    def search(self, *args: Any) -> Any:
        return self._noted(self._pattern.search(*args))

    def fullmatch(self, *args: Any) -> Any:
        return self._noted(self._pattern.fullmatch(*args))

    def findall(self, *args: Any) -> Any:
        return self._noted(self._pattern.findall(*args))

    def finditer(self, *args: Any) -> Any:
        return iter(self._noted(list(self._pattern.finditer(*args))))

    def split(self, *args: Any, **given: Any) -> Any:
        found = self._pattern.split(*args, **given)
        self._noted(len(found) > 1)
        return found

    def sub(self, *args: Any, **given: Any) -> Any:
        text, count = self._pattern.subn(*args, **given)
        self._noted(count)
        return text


class CountingSet(frozenset[Any]):
    """A set that counts how often one of its members was asked for."""

    name = ""

    def __contains__(self, one: object) -> bool:
        found = super().__contains__(one)
        FIRED[self.name] += found
        return found

    def __and__(self, other: Any) -> Any:
        found = frozenset(self) & other
        FIRED[self.name] += bool(found)
        return found

    __rand__ = __and__

    def isdisjoint(self, other: Any) -> bool:
        apart = frozenset(self).isdisjoint(other)
        FIRED[self.name] += not apart
        return apart


def constants(packages: Sequence[str]) -> Iterator[tuple[str, str, Any]]:
    """Yield the module, the name and the value of every pattern and set of words that packages define."""
    for package in packages:
        root = importlib.import_module(package)
        for found in pkgutil.walk_packages(root.__path__, f"{package}."):
            importlib.import_module(found.name)
    seen: set[int] = set()
    for module_name, module in sorted(sys.modules.items()):
        if not any(module_name == one or module_name.startswith(f"{one}.") for one in packages):
            continue
        for name, value in sorted(vars(module).items()):
            kind = isinstance(value, re.Pattern) or (isinstance(value, frozenset | set) and len(value) > 0)
            if kind and name.strip("_").isupper() and id(value) not in seen and _is_its_own(module, name):
                seen.add(id(value))
                yield module_name, name, value


def _is_its_own(module: Any, name: str) -> bool:
    source = Path(str(module.__file__)).read_text(encoding="utf-8")
    return re.search(rf"^{name}\b[^=\n]*=", source, re.MULTILINE) is not None


def count_all(packages: Sequence[str]) -> list[str]:
    """Put a counting stand-in in the place of every constant; return their names."""
    names = []
    for module_name, name, value in list(constants(packages)):
        full = f"{module_name}.{name}"
        names.append(full)
        FIRED[full] += 0
        stand_in: Any
        if isinstance(value, re.Pattern):
            stand_in = CountingPattern(value, full)
        else:
            stand_in = type(name, (CountingSet,), {"name": full})(value)
        for module in [one for key, one in sys.modules.items() if key.startswith("doxa")]:
            for other, held in list(vars(module).items()):
                if held is value:
                    setattr(module, other, stand_in)
    return names
