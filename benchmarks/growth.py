"""How long `ask` takes over a long history.

    python benchmarks/growth.py LOCOMO_JSON --turns 30000 --distinct 1000 [--db FILE]

With `--db` the memory, of user `ana`, is kept, for `benchmarks/scale/cold.py`. The first `--distinct` turns are told
again and again until there are enough. While they are told, what the networks say of a text is remembered, so that
filling takes minutes; revision, storing and indexing do all their work. Questions run in full.
"""

import argparse
import hashlib
import json
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import numpy as np

from doxa.backends import onnx
from doxa.backends.transcripts import read
from doxa.core.config import Config
from doxa.engine import Doxa

WARM = 5
"""Questions before counting begins."""


def main() -> None:
    """Fill, ask, and print one JSON object."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("locomo", type=Path)
    arguments.add_argument("--turns", type=int, default=30_000)
    arguments.add_argument("--distinct", type=int, default=1_000)
    arguments.add_argument("--db", type=Path, help="A file that is not there yet.")
    options = arguments.parse_args()
    lines = [line for one in read(options.locomo).conversations for line in one.lines][: options.distinct]
    talks = json.loads(options.locomo.read_text(encoding="utf-8"))
    questions = [one["question"] for talk in talks for one in talk["qa"][:40]][: 55 + WARM]
    with (
        tempfile.TemporaryDirectory() as folder,
        Doxa.open(options.db or Path(folder) / "long.db", config=Config()) as doxa,
    ):
        talk = doxa.dialogue(user="ana")
        start = time.perf_counter()
        with remembering():
            for number, line in enumerate(islice(cycle(lines), options.turns)):
                talk.absorb(line.text, speaker=line.speaker, at=line.at, turn_id=str(number))
                if number % 1_000 == 999:
                    talk.flush()
            talk.flush()
        filled = time.perf_counter() - start
        took = []
        for question in questions:
            start = time.perf_counter()
            talk.ask(question)
            took.append((time.perf_counter() - start) * 1000)
    p50, p95 = np.percentile(took[WARM:], (50, 95))
    print(
        json.dumps(
            {"turns": options.turns, "fill_s": round(filled), "ask_p50_ms": round(p50), "ask_p95_ms": round(p95)}
        )
    )


@contextmanager
def remembering() -> Iterator[None]:
    """Let every network say the same of the same input without running again."""
    run = onnx.Session.run
    known: dict[bytes, Any] = {}

    def remembered(self: onnx.Session, outputs: Sequence[str] | None, feed: dict[str, Any], **rest: Any) -> Any:
        key = hashlib.sha1(f"{self._what} {outputs}".encode())
        for name, value in sorted(feed.items()):
            key.update(f"{name} {value.shape}".encode() + value.tobytes())
        if (found := key.digest()) not in known:
            known[found] = run(self, outputs, feed, **rest)
        return known[found]

    onnx.Session.run = remembered  # type: ignore[method-assign, assignment]
    try:
        yield
    finally:
        onnx.Session.run = run  # type: ignore[method-assign]


if __name__ == "__main__":
    main()
