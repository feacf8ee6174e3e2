"""Config -> who plays each role, and what is missing for it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from doxa.core.config import Config, environment_name
from doxa.core.errors import ConfigError
from doxa.core.roles import PRESETS
from doxa.engine.wiring.parsing import needs_model

__all__ = ["Played", "played", "require_players"]

ROLES = {
    "extract": ("reads the turns", "the parser"),
    "distil": ("writes a turn as plain statements first", ""),
    "validate": ("has to say yes to every fact", ""),
    "judge": ("finds what clashes", "the axioms and the solver"),
    "rewrite": ("reads what a query leaves to the dialogue", "rules"),
    "reason": ("searches for answers that facts do not give", "heuristics"),
    "write": ("writes the answers", "the built-in writer"),
    "tasks": ("reads what the tasks are told", "a grammar"),
    "infer": ("infers what background is about", "the base of knowledge"),
}
"""What each role does, and who does it without a model; nobody where that is empty."""
FALLS_TO = {"reason": "the answer that memory has without a search"}
"""What takes the place of a role that fails, where that is not who plays it without a model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """A role and who plays it."""

    role: str
    setting: str
    """The value of its setting."""
    does: str
    by: str
    """Who plays it, in words; empty for nobody."""
    falls_to: str = ""
    """What takes its place where that fails; empty where it does not fail, or nothing does."""
    missing: str = ""
    """Why it cannot be played as configured, with what to do; empty where it can."""
    fix: str = ""
    """The command that mends it."""


def played(config: Config) -> Iterator[Played]:
    """Yield every role with who plays it under the settings, in their order."""
    for role, (does, builtin) in ROLES.items():
        setting = str(getattr(config.roles, role))
        missing, fix = _missing(role, setting, config)
        yield Played(
            role=role,
            setting=setting,
            does=does,
            by=_player(setting, builtin, config),
            falls_to="" if setting == "builtin" else FALLS_TO.get(role, builtin),
            missing=missing,
            fix=fix,
        )


def require_players(config: Config) -> None:
    """Raise ConfigError for the first role that is left to a language model, or an AMR parser, that is not configured.

    The message says which role, what asks for it (the profile or a single setting) and what to set.
    """
    for one in played(config):
        if one.missing:
            raise ConfigError(one.missing)


def _player(setting: str, builtin: str, config: Config) -> str:
    match setting:
        case "builtin":
            return builtin
        case "prompted":
            return str(config.llm.name)
        case "hybrid":
            return f"{builtin}, and {config.llm.name} where that is unsure"
        case "amr":
            return f"the AMR parser {config.amr.name}"
        case _:
            return setting


def _missing(role: str, setting: str, config: Config) -> tuple[str, str]:
    """Return why a role cannot be played as configured and the command that mends it; nothing where it can."""
    parser = config.amr.name if setting == "amr" else None
    if setting == "amr" and parser is None:
        needed, name, example, command = "an AMR parser", "amr.name", "spring:URL, amrlib or llm", "spring:URL"
    elif config.llm.name is None and (setting in ("prompted", "hybrid") or needs_model(parser or "")):
        needed, name, example, command = "a language model", "llm.name", "openai:NAME", "openai:NAME"
    else:
        return "", ""
    variable = environment_name(name.removesuffix(".name"))
    preset = PRESETS[config.profile].get("roles", {})
    if preset.get(role) == setting:
        asked, instead = f"the profile {config.profile!r}", "set profile to 'offline'"
    else:
        asked, instead = f"the setting roles.{role}", f"set roles.{role} to 'builtin'"
    missing = (
        f"Role {role} is {setting!r} by {asked}, which needs {needed}, and none is configured. Set {name} "
        f"({variable}={example}), or {instead}."
    )
    return missing, f"export {variable}={command}"
