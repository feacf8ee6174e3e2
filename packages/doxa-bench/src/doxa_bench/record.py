"""Run records: what was measured, and everything that is needed to measure it again.

Nothing secret is written: keys and passwords show as `****`.
"""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Any

from pydantic import BaseModel, SecretStr

from doxa.core.config import Config

__all__ = ["environment", "models_of", "write_record"]

FOLDER = Path("runs")
MASK = "****"
OURS = ("doxa", "doxa-bench")
MODEL_ROLES = ("encoder", "parser", "llm")
PASSWORD = re.compile(r"(?<=://)([^/@:\s]*):[^/@\s]*(?=@)")
REQUIREMENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def environment() -> dict[str, Any]:
    """Return what a number depends on beside the settings: git revision, versions of packages, machine."""
    return {"revision": _revision(), "versions": _versions(), "machine": _machine()}


def models_of(described: Mapping[str, Any]) -> dict[str, str | None]:
    """Return role -> model id from what `Doxa.describe()` gives; a role that the engine does not have is left out."""
    named = {role: described[role] for role in MODEL_ROLES if role in described}
    return {role: model["name"] if isinstance(model, Mapping) else model for role, model in named.items()}


def write_record(
    name: str,
    report: Mapping[str, Any],
    *,
    config: Config,
    models: Mapping[str, str | None],
    seeds: Mapping[str, int] | None = None,
    folder: Path = FOLDER,
) -> Path:
    """Write a run record and return its path, `folder/20240501T120000Z-name.json`; no record is ever overwritten.

    Args:
        name: name of the benchmark.
        report: what was measured, as plain JSON data.
        config: the effective settings.
        models: role -> model id.
        seeds: what randomness was started from; empty when there is none.
        folder: where records lie; made when it is missing.
    """
    now = datetime.now(UTC)
    record = {
        "name": name,
        "at": now.isoformat(timespec="seconds"),
        **environment(),
        "models": dict(models),
        "seeds": dict(seeds or {}),
        "config": masked(config),
        "report": dict(report),
    }
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(record, indent=2, ensure_ascii=False) + "\n"
    return _write_new(folder, f"{now:%Y%m%dT%H%M%SZ}-{name}", text)


def masked(value: Any) -> Any:
    """Return settings as plain JSON data in which every secret is `****`."""
    if isinstance(value, BaseModel):
        return {name: masked(getattr(value, name)) for name in type(value).model_fields}
    if isinstance(value, SecretStr):
        return MASK
    if isinstance(value, Path):
        return str(value)
    return PASSWORD.sub(rf"\1:{MASK}", value) if isinstance(value, str) else value


def _write_new(folder: Path, stem: str, text: str) -> Path:
    number = 1
    while True:
        path = folder / (f"{stem}.json" if number == 1 else f"{stem}-{number}.json")
        try:
            with path.open("x", encoding="utf-8") as file:
                file.write(text)
            return path
        except FileExistsError:
            number += 1


def _revision() -> str | None:
    """Return the commit of this source, with `+changes` when files differ from it; None outside its repository."""
    here = Path(__file__)
    # An installed copy may lie inside somebody else's repository: only a tracked file has a revision.
    if _git(here.parent, "ls-files", "--error-unmatch", here.name) is None:
        return None
    commit = _git(here.parent, "rev-parse", "HEAD")
    changed = _git(here.parent, "status", "--porcelain", "--untracked-files=no", ":/")
    return commit and commit + ("+changes" if changed else "")


def _git(folder: Path, *arguments: str) -> str | None:
    command = ["git", "-C", str(folder), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _versions() -> dict[str, str]:
    """Return the versions of Doxa and of the packages that it needs, as installed."""
    versions = {"python": platform.python_version()}
    try:
        lines = [line for name in OURS for line in requires(name) or ()]
    except PackageNotFoundError:
        return versions
    needed = {match.group() for line in lines if (match := REQUIREMENT.match(line))}
    for name in (*OURS, *sorted(needed.difference(OURS))):
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue  # an extra that is not installed
    return versions


def _machine() -> dict[str, Any]:
    return {"system": platform.system(), "arch": platform.machine(), "cpus": os.cpu_count()}
