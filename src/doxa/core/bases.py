"""Where background knowledge comes from, and how it is searched for: the settings."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field, field_validator

from doxa.core.roles import Group

__all__ = ["CommonsenseConfig"]


class CommonsenseConfig(Group):
    """Where background knowledge comes from, and how it is searched for."""

    base: Path | str | None = Field(
        None,
        description="Folder of a base of knowledge, or the database (`postgresql://...`) of one that many read, as "
        "`doxa kb build` writes it; without one there is no background.",
    )
    use: Literal["auto", "off"] = Field(
        "auto",
        description="Whether `respond` adds background by itself: to a turn that tells or chats and asks nothing "
        "(`auto`), or never (`off`); `respond(..., background=True)` always does.",
    )
    k: int = Field(5, gt=0, description="How many inferences are chosen, and so how many sentences are found at most.")
    least: float = Field(
        1.0,
        description="The score from which a sentence is added where nobody asked for it; good ones have 1 to 2.",
    )
    expansions: int | None = Field(
        None, gt=0, description="Most expansions of each search for background; 64 for the region, then 40 each."
    )
    ms: float | None = Field(
        None,
        gt=0,
        description="Most milliseconds of each search for background; without a limit, and with the same `seed`, equal "
        "conversations have equal background.",
    )
    seed: int = Field(0, ge=0, description="Decides between moves that a search for background finds alike.")

    @field_validator("base", mode="before")
    @classmethod
    def _place(cls, value: object) -> object:
        return Path(value) if isinstance(value, str) and "://" not in value else value
