"""REALTALK: is the evidence of a question about weeks of chat between two real people found, and is it answered?

The chats are in LoCoMo's form but for the times, which every message has, and everything is measured as there
(`locomo`, `locomo_answers`), baselines always with it. Names that questions have for a speaker and the chat has not are
put right by `realtalk.toml`. Source: Lee et al. 2025, "REALTALK: A 21-Day Real-World Dataset for Long-Term
Conversation".
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from doxa.backends.transcripts import Conversation, Line
from doxa.core.config import Config
from doxa.core.errors import FormatError, NotFoundError
from doxa_bench import locomo, locomo_answers
from doxa_bench.locomo import LocomoReport, Progress, Sample, Source, sample_of
from doxa_bench.locomo_answers import LocomoAnswersReport

__all__ = ["CATEGORIES", "read_chats", "run", "run_answers"]

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "commonsense"}
"""Source: the paper's section on question answering over memory."""
SESSION = re.compile(r"session_(\d+)")
STAMP = "%d.%m.%Y, %H:%M:%S"


def run(
    path: Path | str,
    *,
    k: int = 10,
    config: Config | None = None,
    limit: int | None = None,
    progress: Progress | None = None,
) -> LocomoReport:
    """Return how well evidence is found in the chats of a folder, beside BM25, dense and RRF.

    Arguments, errors and guarantees are those of `locomo.run`.
    """
    source = Source("realtalk", read_chats)
    return locomo.run(path, k=k, config=config, limit=limit, baselines=True, progress=progress, source=source)


def run_answers(
    path: Path | str,
    *,
    config: Config | None = None,
    limit: int | None = None,
    out: Path | None = None,
    progress: Progress | None = None,
) -> LocomoAnswersReport:
    """Return how well the questions about the chats of a folder are answered. As `locomo_answers.run` otherwise."""
    source = Source("realtalk", read_chats)
    return locomo_answers.run(path, config=config, limit=limit, out=out, progress=progress, source=source)


def read_chats(folder: Path) -> list[Sample]:
    """Return the chats of a folder with their questions, by file name.

    Raises:
        NotFoundError: there is no chat in it.
        FormatError: a file is not in the form of REALTALK.
    """
    paths = sorted(folder.glob("Chat_*.json"))
    if not paths:
        raise NotFoundError(f"No REALTALK in {folder}: expected chats, Chat_1_NAME_NAME.json and the like.")
    return [_read(path) for path in paths]


def _read(path: Path) -> Sample:
    chat = "_".join(path.stem.split("_")[:2])
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        conversation = Conversation(name=chat, lines=tuple(_lines(content)))
        names = _speakers().get(chat, {})
        entries = [_renamed(entry, names) for entry in content["qa"]]
        return sample_of(entries, conversation, chat, CATEGORIES)
    except (ValueError, KeyError, TypeError, AttributeError) as exc:
        raise FormatError(
            f"expected a chat of REALTALK in {path}, {{'session_1': [{{'clean_text', 'speaker', 'date_time', "
            f"'dia_id'}}], 'qa': [...]}}, got something else: {exc!r}."
        ) from exc


def _lines(content: Mapping[str, Any]) -> Iterator[Line]:
    """Yield the messages, session by session; a caption stands behind the text as the reader of LoCoMo has it."""
    numbers = sorted(int(match[1]) for key in content if (match := SESSION.fullmatch(key)))
    for number in numbers:
        for turn in content[f"session_{number}"]:
            caption = str(turn.get("blip_caption") or "").strip()
            parts = (turn["clean_text"].strip(), f"[image: {caption}]" if caption else "")
            text = " ".join(part for part in parts if part)
            if text:
                at = datetime.strptime(turn["date_time"], STAMP).replace(tzinfo=UTC)
                yield Line(
                    text=text, speaker=turn["speaker"], at=at, session=f"session_{number}", turn_id=turn["dia_id"]
                )


def _renamed(entry: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Return a question and its answer with the names that the speakers have in the chat."""
    renamed = dict(entry)
    for name, speaker in names.items():
        for part in ("question", "answer"):
            renamed[part] = re.sub(rf"\b{re.escape(name)}\b", speaker, str(renamed.get(part, "")))
    return renamed


@cache
def _speakers() -> dict[str, dict[str, str]]:
    """Return chat -> name in its questions -> speaker."""
    return tomllib.loads(files(__package__).joinpath("realtalk.toml").read_text(encoding="utf-8"))
