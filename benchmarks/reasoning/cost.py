"""What an answer costs with a language model of a set latency: wall time, calls and tokens of one turn.

    python benchmarks/reasoning/cost.py [--latency-ms 500] [--depth 5] [--json FILE]

Three ways to answer the same question over the same memory, against the same stand-in server, in one run:

- paper: Algorithm 2 of D-SMART as its appendix B counts it. For each state of the beam S prompts for an action, one
  after the other, a prompt for the value of each new state and one for the text of each ANSWER. Then, for the memory, a
  statement, a knowledge fragment (a service; counted as one call) and a conflict check over the whole graph. Prompts
  are filled up to the length of those in its appendix E.
- one at a time: our search, one call after the other.
- ours: our search as it is, the calls of a level at the same time.

The stand-in never answers before the last move, so this is the most that a search costs. Bounds: equation 6 (calls at
most Mexp x B x 2S, wall time that many latencies), and for ours wall time <= (depth + 1) x 2L + 10%.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from standin import StandIn

from doxa.backends.llm import LanguageModel, posed
from doxa.backends.registry import load
from doxa.backends.transcripts import read
from doxa.core.config import Config, EncoderConfig, LLMConfig, ReasonConfig, RolesConfig
from doxa.core.tokens import estimate_tokens
from doxa.engine import Doxa

EXAMPLE = Path(__file__).parents[2] / "examples" / "ana.jsonl"
QUESTION = "What should I plan with my sister for the summer, and why would both of us like it?"
TEMPLATES = {"policy": 443, "promise": 362, "worth": 366, "response": 115, "statement": 358, "conflict": 1233}
"""Tokens of the prompts of appendix E without what is filled in, by `estimate_tokens`."""
SLACK = 1.1


def main() -> None:
    """Measure, print the table, and tell with the exit code whether the bounds hold."""
    options = _arguments()
    server = StandIn(latency_s=options.latency_ms / 1000, jitter_s=options.jitter_ms / 1000, seed=options.seed)
    report: dict[str, Any] = {"latency_ms": options.latency_ms, "jitter_ms": options.jitter_ms, "runs": []}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memory.db"
        remember(path)
        for depth in options.depth:
            report["runs"].append(measured(server, path, depth, options))
    print(table(report))
    if options.json is not None:
        options.json.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    if not all(check for run in report["runs"] for check in run["checks"].values()):
        sys.exit("A bound does not hold; see `checks`.")


def _arguments() -> argparse.Namespace:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--latency-ms", type=float, default=500.0, help="Latency of one call (L).")
    arguments.add_argument("--jitter-ms", type=float, default=0.0, help="Most that is added to it, uniformly drawn.")
    arguments.add_argument("--depth", type=int, nargs="+", default=[5], help="Greatest depths of the search.")
    arguments.add_argument("--seed", type=int, default=0)
    arguments.add_argument("--json", type=Path, help="File for the report.")
    return arguments.parse_args()


def measured(server: StandIn, path: Path, depth: int, options: argparse.Namespace) -> dict[str, Any]:
    """Return what the three ways cost at one depth, with the bounds and whether they hold."""
    spec = ReasonConfig(depth=depth, seconds=3600, calls=1000, tokens=10_000_000)
    rows: dict[str, dict[str, Any]] = {}
    for name, parallel in (("one at a time", 1), ("ours", spec.parallel)):
        with opened(path, server, spec.model_copy(update={"parallel": parallel})) as doxa:
            warm(server, doxa)
            rows[name] = counted(server, lambda doxa=doxa: ask(doxa))
            facts = [doxa.memory(user="Ana").describe(fact) for fact in doxa.memory(user="Ana").facts()]
    model = load("llm", "openai:stand-in", base_url=server.url, timeout_s=600.0, max_retries=0)
    rows = {"paper": counted(server, lambda: Paper(model, facts, spec).answer()), **rows}
    rows["paper"]["memory"] = counted(server, lambda: Paper(model, facts, spec).maintain())
    model.close()
    latency = (options.latency_ms + options.jitter_ms) / 1000
    bounds = {
        "calls": spec.expansions * spec.beam * 2 * spec.branching,
        "wall_s": round((depth + 1) * 2 * latency * SLACK, 3),
        "equation_6_s": round(spec.expansions * spec.beam * 2 * spec.branching * latency, 3),
    }
    ours, single = rows["ours"], rows["one at a time"]
    checks = {
        "wall <= (depth + 1) x 2L + 10%": ours["wall_s"] <= bounds["wall_s"],
        "calls <= Mexp x B x 2S": max(ours["calls"], single["calls"]) <= bounds["calls"],
        "same calls, one at a time or together": ours["calls"] == single["calls"],
    }
    if depth > 1:  # one level has too few calls
        checks[">= 3x faster than one call at a time"] = single["wall_s"] >= 3 * ours["wall_s"]
    return {"depth": depth, "facts": len(facts), "ways": rows, "bounds": bounds, "checks": checks}


def remember(path: Path) -> None:
    """Put the example conversation into a memory, without a model."""
    with Doxa.open(path, config=Config(encoder=EncoderConfig(name="hash"))) as doxa:
        chat = doxa.dialogue(user="Ana")
        for conversation in read(EXAMPLE).conversations:
            for line in conversation.lines:
                chat.absorb(line.text, role=line.role, at=line.at, turn_id=line.turn_id)
        chat.flush()


def opened(path: Path, server: StandIn, spec: ReasonConfig) -> Doxa:
    """Return that memory with the stand-in as its model."""
    llm = LLMConfig(name="openai:stand-in", base_url=server.url, timeout_s=600.0, max_retries=0)
    roles, encoder = RolesConfig(reason="prompted"), EncoderConfig(name="hash")
    return Doxa.open(path, config=Config(profile="writer", encoder=encoder, llm=llm, reason=spec, roles=roles))


def warm(server: StandIn, doxa: Doxa) -> None:
    """Ask once without latency: what is loaded at first use is no part of what an answer costs."""
    latency, server.latency_s = server.latency_s, 0.0
    ask(doxa)
    server.latency_s = latency


def ask(doxa: Doxa) -> dict[str, Any]:
    """Ask the question; what its trace tells of the search."""
    reply = doxa.dialogue(user="Ana").ask(QUESTION)
    step = next((step for step in reply.trace.steps if step.name == "search"), None)
    if step is None:
        sys.exit("The question was answered without a search, so nothing was measured; change QUESTION.")
    tree = step.detail["tree"]
    return {"expanded": tree["expanded"], "states": len(tree["states"]), "stopped_because": tree["stopped_because"]}


def counted(server: StandIn, run: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Run something and return what it cost."""
    server.reset()
    start = time.perf_counter()
    told = run()
    return {"wall_s": round(time.perf_counter() - start, 3), **asdict(server.account), **told}


class Paper:
    """Algorithm 2 with the stand-in for every role: what is asked, not what it is good for."""

    def __init__(self, model: LanguageModel, facts: list[str], spec: ReasonConfig) -> None:
        self.model, self.facts, self.spec = model, facts, spec

    def say(self, role: str, *filled: str) -> str:
        """Ask one prompt of a role, as long as the paper's."""
        padding = " and".join(["Do"] + [""] * (TEMPLATES[role] - 1))
        return self.model.complete(posed(padding, "\n".join(filled)), temperature=0.8, max_tokens=400).text

    def answer(self) -> dict[str, Any]:
        """Search as in lines 3 to 25; every state is known by its trajectory. Terminal at the greatest depth only."""
        spec, beam, expanded = self.spec, [("",)], 0
        for depth in range(spec.depth):
            found: list[tuple[str, ...]] = []
            for state in beam[: spec.expansions - expanded]:
                expanded += 1
                known = "\n".join(self.facts[: 4 * depth])  # a few more triples with every move
                for sample in range(spec.branching):
                    action = self.say("policy", QUESTION, known, "\n".join(state))
                    child = (*state, f"{sample}: {action}")
                    last = depth == spec.depth - 1
                    text = self.say("response", QUESTION, known, "\n".join(child)) if last else ""
                    self.say("worth" if last else "promise", QUESTION, text, known, "\n".join(child))
                    found.append(child)
            beam = found[: spec.beam]
        return {"expanded": expanded}

    def maintain(self) -> dict[str, Any]:
        """Bring the memory up to date after the turn, as appendix B counts it."""
        statement = self.say("statement", QUESTION, "It is known, I think.")
        fragment = self.say("response", statement)  # the service that makes a graph of it
        self.say("conflict", "\n".join(self.facts), fragment)
        return {"graph_tokens": estimate_tokens("\n".join(self.facts))}


def table(report: dict[str, Any]) -> str:
    """Return the report as Markdown."""
    lines = [
        f"L = {report['latency_ms']:g} ms" + (f" + up to {report['jitter_ms']:g} ms" if report["jitter_ms"] else ""),
        "",
        "| depth | way | wall s | in L | calls | at once | prompt tokens | repeated | cached | answer tokens |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    latency = report["latency_ms"] / 1000
    for run in report["runs"]:
        for name, row in run["ways"].items():
            shown = [run["depth"], name, f"{row['wall_s']:.2f}", f"{row['wall_s'] / latency:.1f}", row["calls"]]
            shown += [row["most_at_once"], f"{row['prompt_tokens']:,}", f"{row['repeated_tokens']:,}"]
            shown += [f"{row['cached_tokens']:,}", f"{row['completion_tokens']:,}"]
            lines.append(f"| {' | '.join(map(str, shown))} |")
            if "memory" in row:
                more = row["memory"]
                lines.append(
                    f"| {run['depth']} | {name}, memory after the turn | {more['wall_s']:.2f} | "
                    f"{more['wall_s'] / latency:.1f} | {more['calls']} | {more['most_at_once']} | "
                    f"{more['prompt_tokens']:,} | {more['repeated_tokens']:,} | {more['cached_tokens']:,} | "
                    f"{more['completion_tokens']:,} |"
                )
        bounds, ours = run["bounds"], run["ways"]["ours"]
        lines.append(
            f"| {run['depth']} | bound | {bounds['wall_s']:.2f} (equation 6: {bounds['equation_6_s']:.2f}) | | "
            f"{bounds['calls']} | | | | | |"
        )
        faster = {name: run["ways"][name]["wall_s"] / ours["wall_s"] for name in ("paper", "one at a time")}
        told = ", ".join(f"{times:.1f}x faster than {name}" for name, times in faster.items())
        lines += ["", f"Depth {run['depth']}: {told}."]
        lines += [f"- {'holds' if holds else 'DOES NOT HOLD'}: {name}" for name, holds in run["checks"].items()] + [""]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
