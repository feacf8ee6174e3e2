"""What a turn and a question cost with a language model under each profile: calls, tokens and seconds.

    python benchmarks/roles/cost.py [--latency-ms 500] [--json FILE]

The model is a stand-in on this machine (`benchmarks/reasoning/standin.py`): it answers after a set latency, counts
what it is asked, and has nothing to say. It reads one fact out of each of ten turns, finds no clash, leaves queries as
they are, and searches to the greatest depth, so a searched question is the most that one costs; a model that finds the
answer on the way stops earlier. This is about cost; how good answers are it cannot tell.

Turns are told twice: with `absorb`, and with `respond`, which replies to them as well. Five questions are asked
(`ask`): three that facts answer at once, and two that are searched for.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "reasoning"))
from standin import StandIn

from doxa.core.config import Config, EncoderConfig, EngineConfig, LLMConfig, ReasonConfig
from doxa.engine import Dialogue, Doxa

TOLD = {
    "I live in Lisbon.": ("Ana", "lives_in", "Lisbon"),
    "I work as a nurse.": ("Ana", "works_as", "nurse"),
    "My sister Eva lives in Graz.": ("Eva", "lives_in", "Graz"),
    "Eva works at Siemens.": ("Eva", "works_at", "Siemens"),
    "I love hiking.": ("Ana", "likes", "hiking"),
    "My dog is called Rex.": ("Ana's dog", "is_called", "Rex"),
    "Ben is my boss.": ("Ben", "is_a", "boss of Ana"),
    "Ben lives in Porto.": ("Ben", "lives_in", "Porto"),
    "I am allergic to nuts.": ("Ana", "allergic_to", "nuts"),
    "Eva plays the cello.": ("Eva", "plays", "cello"),
}
SURE = ("Where do I live?", "Where does Eva live?", "Where does Ben live?")
SEARCHED = (
    "Where does the person who works at Siemens live?",
    "What should I plan with my sister for the summer, and why would both of us like it?",
)
PROFILES = ("offline", "writer", "full")


def main() -> None:
    """Measure every profile and print the table."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--latency-ms", type=float, default=500.0, help="Latency of one call.")
    arguments.add_argument("--json", type=Path, help="File for the report.")
    options = arguments.parse_args()
    says = {"entries": _facts, "question+words+seeks": _query}
    server = StandIn(latency_s=options.latency_ms / 1000, says=says)
    runs = {profile: measured(server, profile) for profile in PROFILES}
    print(table(runs, options.latency_ms))
    if options.json is not None:
        report = {"latency_ms": options.latency_ms, "model": "stand-in", "profiles": runs}
        options.json.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


def _facts(prompt: str) -> str:
    """Read what a turn tells, off the table of those that are told."""
    text = json.loads(prompt.rpartition("\n")[2])["message"]["text"]
    found = TOLD.get(text)
    if found is None:
        return json.dumps({"entries": []})
    named = dict(zip(("subject", "relation", "object"), found, strict=True))
    plain = {"kind": "fact", "holds": True, "mood": "asserted", "from": None, "to": None, "over": False}
    return json.dumps({"entries": [{**plain, **named, "beside": False, "source": None, "quote": text.rstrip(".")}]})


def _query(prompt: str) -> str:
    query = json.loads(prompt.rpartition("\n")[2])["query"]
    return json.dumps({"question": query, "words": [], "seeks": "other"})


def measured(server: StandIn, profile: str) -> dict[str, dict[str, Any]]:
    """Return what each kind of turn and question costs on average under a profile."""
    config = Config(
        profile=profile,  # type: ignore[arg-type]
        encoder=EncoderConfig(name="hash"),
        engine=EngineConfig(settle_s=600),
        llm=LLMConfig(name="openai:stand-in", base_url=server.url, timeout_s=600.0, max_retries=0),
        reason=ReasonConfig(seconds=600),
    )
    with Doxa.open(":memory:", config=config) as doxa:
        warm(server, doxa)
        chat, other = doxa.dialogue(user="ana"), doxa.dialogue(user="ana too", speaker="Ana")
        return {
            "told": averaged(server, TOLD, lambda text: processed(chat, chat.absorb, text)),
            "told and replied to": averaged(server, TOLD, lambda text: processed(other, other.respond, text)),
            "asked, facts answer": averaged(server, SURE, chat.ask),
            "asked, searched for": averaged(server, SEARCHED, chat.ask),
        }


def warm(server: StandIn, doxa: Doxa) -> None:
    """Tell and ask once without latency: what is loaded at first use is no part of what a turn costs."""
    latency, server.latency_s = server.latency_s, 0.0
    chat = doxa.dialogue(user="warm")
    processed(chat, chat.respond, "I live in Lisbon.")
    chat.ask(SEARCHED[1])
    server.latency_s = latency


def processed(chat: Dialogue, tell: Callable[[str], object], text: str) -> None:
    """Tell a turn and wait until it is processed, which a conversation does not."""
    tell(text)
    chat.flush()


def averaged(server: StandIn, texts: Sequence[str] | dict[str, Any], run: Callable[[str], object]) -> dict[str, Any]:
    """Run something for each text and return what one costs on average."""
    server.reset()
    start = time.perf_counter()
    for text in texts:
        run(text)
    seconds, account, n = time.perf_counter() - start, asdict(server.account), len(texts)
    tokens = {name: account[name] / n for name in ("prompt_tokens", "completion_tokens")}
    return {"n": n, "calls": account["calls"] / n, "seconds": seconds / n, **tokens, "roles": account["roles"]}


def table(runs: dict[str, dict[str, dict[str, Any]]], latency_ms: float) -> str:
    """Return the report as Markdown."""
    lines = [
        f"A stand-in that answers after {latency_ms:g} ms, no model; means of one turn or question.",
        "",
        "| profile | | calls | prompt tokens | answer tokens | seconds |",
        "|---|---|---|---|---|---|",
    ]
    for profile, kinds in runs.items():
        for kind, row in kinds.items():
            shown = (f"{row['calls']:.1f}", f"{row['prompt_tokens']:,.0f}", f"{row['completion_tokens']:,.0f}")
            lines.append(f"| {profile} | {kind} | {' | '.join(shown)} | {row['seconds']:.2f} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
