"""Memories that everybody reads under their own: their setting, and the ids of what comes from one.

`shared:acme-handbook/t1` is the turn (fact, rule) `t1` of the memory `acme-handbook`. Ids of two memories may be alike;
these never are, and no memory has them for turns of its own.
"""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import quote, unquote

from pydantic import Field, field_validator

from doxa.core.roles import Group

__all__ = ["PREFIX", "MemoryConfig", "Origin", "origin_of", "qualified"]

PREFIX = "shared:"


class MemoryConfig(Group):
    """What is read beside the memory of a user."""

    shared: tuple[str, ...] = Field(
        (),
        description="Users of the tenant whose memories everybody reads beneath their own, the first before the next: "
        "an organisation's handbook; in the environment separated by commas. They are written under their own names.",
    )

    @field_validator("shared", mode="before")
    @classmethod
    def _several(cls, value: object) -> object:
        return [name.strip() for name in value.split(",") if name.strip()] if isinstance(value, str) else value

    @field_validator("shared")
    @classmethod
    def _names(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if not all(name.strip() for name in value):
            raise ValueError("expected names of users, none of them empty")
        return tuple(dict.fromkeys(value))


class Origin(NamedTuple):
    """The shared memory that something is from, and its id there."""

    memory: str
    key: str


def qualified(memory: str, key: str) -> str:
    """Return the id of something of a shared memory, as everybody else knows it."""
    return f"{PREFIX}{quote(memory, safe='')}/{key}"


def origin_of(key: str) -> Origin | None:
    """Return where something is from, by its id; None where it is of the memory itself."""
    if not key.startswith(PREFIX):
        return None
    memory, slash, own = key.removeprefix(PREFIX).partition("/")
    return Origin(unquote(memory), own) if slash and memory and own else None
