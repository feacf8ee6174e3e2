"""Who plays each role of the method, and the profiles that say it for all of them at once.

A profile is a small tree of settings under those that are given, in file, environment or arguments.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

__all__ = ["MOVED", "PRESETS", "Group", "Profile", "RolesConfig", "resolved", "without_preset"]

Player = Literal["builtin", "prompted"]
Profile = Literal["offline", "writer", "full"]


class Group(BaseModel):
    """One table of settings."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


with warnings.catch_warnings():  # pydantic has a method `validate`, kept for its version 1, that nobody calls here
    warnings.filterwarnings("ignore", message='Field name "validate"')

    class RolesConfig(Group):
        """Who plays each role of the method: what is built in, or the language model (`prompted`; see `llm`)."""

        extract: Literal["builtin", "prompted", "amr"] = Field(
            "builtin",
            description="What finds the facts of a turn: `builtin`, syntax and a reader of turns; `prompted`, the "
            "language model; or `amr`, the graphs of the AMR parser (see `amr`).",
        )
        distil: Player = Field(
            "builtin",
            description="With `extract` prompted: whether the model first writes the turn as plain statements.",
        )
        validate: Player = Field(  # type: ignore[assignment]
            "builtin", description="With `extract` prompted: whether the model also has to say yes to every fact."
        )
        judge: Player = Field(
            "builtin",
            description="What finds that a new statement clashes with a belief: `builtin`, the axioms and the solver; "
            "or `prompted`, the model as well, shown the new statements and at most 20 facts near them.",
        )
        rewrite: Player = Field(
            "builtin",
            description="Who reads what a query leaves to the dialogue: `builtin`, rules for pronouns and ellipsis; or "
            "`prompted`, the model, one call for every search, which also adds other words for it.",
        )
        reason: Player = Field(
            "builtin",
            description="Who chooses the moves of the search for an answer and judges what they lead to: `builtin`, "
            "heuristics; or `prompted`, the model, within the limits of `reason`.",
        )
        write: Player = Field(
            "builtin",
            description="Who writes the answer: `builtin`, in the words of facts and turns; or `prompted`, the model.",
        )
        tasks: Literal["builtin", "prompted", "hybrid"] = Field(
            "builtin",
            description="Who reads what the tasks are told: `builtin`, a grammar; `prompted`, the model (see "
            "`understand.max_tokens`), one call a turn; or `hybrid`, the model where the grammar is unsure.",
        )
        infer: str = Field(
            "builtin",
            pattern=r"^(builtin|prompted|hf:.+)$",
            description="Who infers what the background is to support: `builtin`, the inferences of the base; "
            "`prompted`, the model, one call a reply; or `hf:NAME`, a COMET checkpoint (extra `hf`).",
        )


_ASKED = ("extract", "judge", "rewrite", "reason", "write", "tasks")
PRESETS: Mapping[str | None, Mapping[str, Mapping[str, str]]] = {
    "offline": {},
    "writer": {"roles": {"write": "prompted"}},
    "full": {"roles": dict.fromkeys(_ASKED, "prompted"), "verify": {"mode": "repair"}},
}
MOVED = {
    "understand.extract": "roles.extract",
    "understand.distil": "roles.distil",
    "understand.check": "roles.validate",
    "revise.judge": "roles.judge",
    "recall.rewrite": "roles.rewrite",
    "reason.roles": "roles.reason",
    "tasks.reader": "roles.tasks",
    "commonsense.reasoner": "roles.infer",
}
"""Settings by their old names, and where they are now."""


def resolved(tree: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings with their profile named and its preset under what was given.

    Without a profile it is `full` where a language model is named, else `offline`. An unknown profile is left as it is,
    for validation to refuse.

    Args:
        tree: settings as they were given: groups as plain data, or as the values of their classes.
    """
    profile = tree.get("profile")
    if profile is None:
        profile = "offline" if _given(tree.get("llm")).get("name") is None else "full"
    whole = {**tree, "profile": profile}
    for group, preset in PRESETS.get(profile, {}).items() if isinstance(profile, str) else ():
        own = whole.get(group, {})
        if isinstance(own, Mapping | BaseModel):
            whole[group] = {**preset, **_given(own)}
    return whole


def without_preset(group: str, value: BaseModel, profile: str | None) -> dict[str, Any]:
    """Return what was given of a group of settings, without what agrees with the preset of a profile."""
    preset = PRESETS[profile].get(group, {})
    return {name: one for name, one in _given(value).items() if preset.get(name) != one}


def _given(group: object) -> Mapping[str, Any]:
    """Return what was said of a group, without its defaults."""
    if isinstance(group, BaseModel):
        return {name: getattr(group, name) for name in group.model_fields_set}
    return group if isinstance(group, Mapping) else {}
