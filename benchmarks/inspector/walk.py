"""Walk through the inspector with a browser: what it complains of, what leaves the host, how long pages take.

    python benchmarks/inspector/walk.py MEMORY.db --user ana [--out pictures/] [--axe axe.min.js] [--loads 40]

The memory is copied first, so that nothing is changed. Needs `playwright` from PyPI and a Chromium (`--chromium`);
`axe.min.js` is in the package `axe-core` of npm. It prints one JSON object: complaints of the console, requests to
other hosts, serious and critical findings of axe-core, the first paint, and the time of the server for each page over
`--loads` requests of different addresses (p50, p95 and the longest, in milliseconds, as a client on this machine sees
them).
"""

from __future__ import annotations

import argparse
import http.client
import json
import random
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import uvicorn
from playwright.sync_api import Browser, sync_playwright

from doxa.core.config import Config, ServerConfig
from doxa.engine import Doxa, View
from doxa.transport.http import application
from doxa.transport.http.serving import SWITCH_S

GRAVE = ("serious", "critical")
INJECTED = """[...document.querySelectorAll("*")].filter((one) =>
    ["IFRAME", "OBJECT", "EMBED", "BASE", "MATH"].includes(one.nodeName) ||
    (one.nodeName === "SCRIPT" && !one.src && one.type !== "application/json") ||
    [...one.attributes].some(({name, value}) => /^on/.test(name) || /^\\s*(javascript|data:text)/i.test(value))
).map((one) => one.outerHTML.slice(0, 200))"""
"""What a page of ours never has: what is written in a turn must not become any of it."""
LOOKS = {"wide": (1280, 800, "light"), "dark": (1280, 800, "dark"), "phone": (360, 740, "light")}
START_S = 30.0


def main() -> None:
    """Serve, walk, and print what was found."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("memory", type=Path)
    arguments.add_argument("--user", default="ana")
    arguments.add_argument("--out", type=Path)
    arguments.add_argument("--axe", type=Path)
    arguments.add_argument("--every", action="store_true", help="look at every person, fact and turn as well")
    arguments.add_argument("--loads", type=int, default=40)
    arguments.add_argument("--chromium", default=shutil.which("chromium") or "chromium")
    arguments.add_argument("--seed", type=int, default=0)
    options = arguments.parse_args()
    with served(options.memory, options.user) as (port, doxa):
        view = View(doxa.parts, options.user)
        chance = random.Random(options.seed)
        pages = {
            name: [next(some) for _ in range(options.loads)]
            for name, some in addresses(view, doxa, options.user, chance).items()
        }
        told: dict[str, Any] = {"facts": view.counts().facts, "turns": view.counts().turns}
        told["server_ms"] = {name: timed(port, some) for name, some in pages.items()}
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=options.chromium, args=["--no-sandbox"])
            told["seen"] = {
                f"{name}, {look}": seen(browser, port, some[0], name, look, options)
                for name, some in pages.items()
                for look in LOOKS
            }
            if options.every:
                told["every"] = every(browser, port, view, doxa, options)
            browser.close()
    told["summary"] = {
        "complaints": sum(len(one["complaints"]) for one in told["seen"].values()),
        "elsewhere": sum(len(one["elsewhere"]) for one in told["seen"].values()),
        "axe": sum(len(one["axe"]) for one in told["seen"].values()),
        "too_wide": sum(one["too_wide"] for one in told["seen"].values()),
        "first_paint_ms": max(one["paint_ms"] for one in told["seen"].values()),
        "server_p95_ms": max(one[1] for one in told["server_ms"].values()),
    }
    print(json.dumps(told, indent=1))


@contextmanager
def served(memory: Path, user: str) -> Iterator[tuple[int, Doxa]]:
    """Serve a copy of a memory, and give the port."""
    sys.setswitchinterval(SWITCH_S)  # as `doxa serve` does
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copy(memory, folder)
        config = Config.load().model_copy(update={"user": user})
        with Doxa.open(copy, config=config) as doxa:
            doxa.memory(user=user).stats()
            server = uvicorn.Server(
                uvicorn.Config(application(doxa, ServerConfig(open=True)), port=0, log_level="error", access_log=False)
            )
            running = threading.Thread(target=server.run)
            running.start()
            until = time.monotonic() + START_S
            while not server.started and time.monotonic() < until:
                time.sleep(0.05)
            try:
                yield server.servers[0].sockets[0].getsockname()[1], doxa
            finally:
                server.should_exit = True
                running.join()


def addresses(view: View, doxa: Doxa, user: str, chance: random.Random) -> dict[str, Iterator[str]]:
    """Return for each page its addresses, the plain one first, then others at random."""
    keys = [one.entity.key for one in view.people(limit=2_000).items]
    people = [quote(key) for key in keys]
    facts = [fact.fact_id for key in keys[:200] for fact in view.about(key, "firm", limit=20).items]
    facts += [side.fact_id for one in view.review(limit=100).items for side in one.facts]
    turns = [quote(turn.turn_id) for turn in doxa.memory(user=user).turns(limit=2_000)]
    answers = [one.answer.answer_id for one in doxa.memory(user=user).answers()]
    days = [f"20{chance.randint(23, 25)}-{chance.randint(1, 12):02}-{chance.randint(1, 28):02}" for _ in range(100)]

    def pages(name: str, *kinds: Any) -> Iterator[str]:
        yield f"/inspect/{name}"
        while True:
            kind = chance.choice(kinds)
            yield f"/inspect/{name}?{kind()}" if kind is not None else f"/inspect/{name}"

    def of() -> str:
        return f"of={chance.choice(people)}"

    return {
        "now": pages("now", of, lambda: f"q={chance.choice(people)[:3]}", None),
        "timeline": pages(
            "timeline", of, lambda: f"{of()}&true={chance.choice(days)}&known={chance.choice(days)}", None
        ),
        "why": pages("why", lambda: f"fact={chance.choice(facts)}", lambda: f"turn={chance.choice(turns)}", None),
        "recall": pages("recall", *([lambda: f"answer={chance.choice(answers)}"] if answers else []), None),
        "conflicts": pages("conflicts", lambda: f"kind={chance.choice(('disputed', 'doubtful', 'tentative'))}", None),
        "tasks": pages("tasks", None),
        "graph": pages("graph", of, None),
        "health": pages("health", None),
        "chat": pages("chat", None),
    }


def timed(port: int, some: list[str]) -> list[float]:
    """Return p50, p95 and the longest of the times that pages take, in milliseconds."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    took = []
    for address in (some[0], *some):  # the first one, which opens what there is to open, is not counted
        start = time.perf_counter()
        connection.request("GET", address)
        answer = connection.getresponse()
        answer.read()
        took.append((time.perf_counter() - start) * 1000)
        if answer.status != 200:
            raise RuntimeError(f"{address}: {answer.status}")
    return [round(float(one), 1) for one in np.percentile(took[1:], (50, 95, 100))]


def seen(
    browser: Browser, port: int, address: str, name: str, look: str, options: argparse.Namespace
) -> dict[str, Any]:
    """Look at a page, and return what was found."""
    width, height, scheme = LOOKS[look]
    home = f"http://127.0.0.1:{port}"
    told: dict[str, Any] = {"complaints": [], "elsewhere": [], "axe": []}
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
    page = context.new_page()
    page.on("dialog", lambda one: (told["complaints"].append(f"dialog: {one.message}"), one.dismiss()))
    page.on("console", lambda said: told["complaints"].append(said.text) if said.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: told["complaints"].append(str(error)))
    page.on(
        "request", lambda sent: None if sent.url.startswith((home, "data:")) else told["elsewhere"].append(sent.url)
    )
    page.goto(home + address, wait_until="load")
    page.wait_for_timeout(900)
    told["paint_ms"] = round(
        page.evaluate("performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? -1")
    )
    told["complaints"] += page.evaluate(INJECTED)
    told["too_wide"] = page.evaluate("document.documentElement.scrollWidth > innerWidth")
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=options.out / f"{name}-{look}.png")
    context.close()
    if options.axe:
        context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme, bypass_csp=True)
        page = context.new_page()
        page.goto(home + address, wait_until="load")
        page.wait_for_timeout(900)
        page.add_script_tag(path=options.axe)
        found = page.evaluate("axe.run()")["violations"]
        told["axe"] = [[one["id"], one["nodes"][0]["html"][:200]] for one in found if one["impact"] in GRAVE]
        context.close()
    return told


def every(browser: Browser, port: int, view: View, doxa: Doxa, options: argparse.Namespace) -> dict[str, Any]:
    """Look at all that is said and believed, and return how many pages that were and what was found."""
    home = f"http://127.0.0.1:{port}"
    turns = [quote(turn.turn_id) for turn in doxa.memory(user=options.user).turns()]
    people = [quote(one.entity.key) for one in view.people(limit=100_000).items]
    facts = [fact.fact_id for fact in doxa.memory(user=options.user).facts(current=False)]
    some = [f"why?turn={one}" for one in turns] + [f"why?fact={one}" for one in facts]
    some += [f"{page}?of={one}" for one in people for page in ("now", "timeline", "graph")]
    found: list[str] = []
    page = browser.new_page()
    page.on("dialog", lambda one: (found.append(f"dialog: {one.message}"), one.dismiss()))
    page.on("console", lambda said: found.append(said.text) if said.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: found.append(str(error)))
    page.on("request", lambda sent: None if sent.url.startswith((home, "data:")) else found.append(sent.url))
    for address in some:
        answer = page.goto(f"{home}/inspect/{address}", wait_until="load")
        found += [f"{address}: {answer.status}"] if answer is None or answer.status != 200 else []
        found += [f"{address}: {one}" for one in page.evaluate(INJECTED)]
    page.close()
    return {"pages": len(some), "found": found[:50]}


if __name__ == "__main__":
    main()
