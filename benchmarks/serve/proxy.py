"""What the proxy costs: one conversation after the other, directly and through it, turn about in the same run.

    python benchmarks/serve/proxy.py --requests 10000

The upstream is a stand-in in a process of its own that answers one fixed reply after `--upstream-ms`; a real model
takes longer and varies more, so nothing here says how long a reply takes, only how much longer through the proxy.
Checks of replies are off. The memory begins with `--known` turns of other sessions and takes in every message and reply
of the run.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import platform
import tempfile
import time
from collections.abc import Sequence
from multiprocessing.connection import Connection
from pathlib import Path

import httpx2

from doxa.core.config import Config, ServerConfig
from doxa.engine import Doxa, Keys
from doxa.transport.http import application, serve

TURNS = 6
"""Messages of the user in one conversation."""
REPLY = json.dumps(
    {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1764130000,
        "model": "stand-in",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "I see."}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 3, "total_tokens": 13},
    }
).encode()
PLACES = ["Lisbon", "Bonn", "Rome", "Porto", "Graz", "Oslo", "Turin", "Cork", "Lyon", "Bath", "Bern", "Riga"]
SAID = [
    "I went to {place} with my sister last week.",
    "My friend {name} moved to {place}.",
    "Do you remember where {name} lives now?",
    "I like the food in {place} a lot.",
    "{name} works at the harbour of {place}.",
    "What should I pack for a week in {place}?",
]
NAMES = ["Bea", "Tom", "Ida", "Paul", "Rosa", "Emil", "Lena", "Otto", "Nora", "Max"]


def said(number: int) -> str:
    """Return the message of a number; no two are the same."""
    text = SAID[number % len(SAID)].format(
        place=PLACES[number // 3 % len(PLACES)], name=NAMES[number // 7 % len(NAMES)]
    )
    return f"{text} That is message {number}."


def upstream(told: Connection, delay_s: float) -> None:
    """Answer every request with the same reply."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nx-request-id: req_1\r\ncontent-length: %d\r\n\r\n"
        while True:
            try:
                asked = await reader.readuntil(b"\r\n\r\n")
            except asyncio.IncompleteReadError:
                break
            lines = asked.decode("latin-1").lower().split("\r\n")
            sizes = [line.partition(":")[2] for line in lines if line.startswith("content-length:")]
            await reader.readexactly(int(sizes[0]) if sizes else 0)
            await asyncio.sleep(delay_s)
            writer.write(head % len(REPLY) + REPLY)
            await writer.drain()
        writer.close()

    async def main() -> None:
        server = await asyncio.start_server(handle, "127.0.0.1", 0)
        told.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(main())


def proxy(told: Connection, folder: str, address: str, known: int) -> None:
    """Serve the proxy on a database with some turns in it."""
    with Doxa.open(Path(folder) / "memory.db", config=Config()) as doxa:
        earlier = doxa.dialogue(user="ana", session="earlier")
        for number in range(known):
            earlier.absorb(said(10_000_000 + number))
        earlier.flush()
        _, key = Keys(doxa).add(users=["ana"])
        app = application(doxa, ServerConfig(upstream=address))
        serve(app, ServerConfig(port=0), started=lambda at: told.send((int(at.rpartition(":")[2]), key)))


def ask(client: httpx2.Client, url: str, headers: dict[str, str], messages: list[dict[str, str]]) -> float:
    """Return the milliseconds of one request."""
    body = json.dumps({"model": "stand-in", "messages": messages}).encode()
    started = time.perf_counter()
    answer = client.post(f"{url}/chat/completions", content=body, headers=headers)
    took = (time.perf_counter() - started) * 1000
    answer.raise_for_status()
    return took


def measured(direct: str, proxied: str, key: str, requests: int, pause_s: float) -> list[tuple[float, float]]:
    """Return the milliseconds of each request, directly and through the proxy, turn about."""
    took: list[tuple[float, float]] = []
    plain = {"content-type": "application/json", "authorization": "Bearer sk-client"}
    messages: list[dict[str, str]] = []
    with httpx2.Client(timeout=60) as one, httpx2.Client(timeout=60) as other:
        for number in range(requests):
            if number % TURNS == 0:
                messages = []
            messages.append({"role": "user", "content": said(number)})
            through = {**plain, "doxa-key": key, "doxa-session": f"s{number // TURNS}"}
            pair = {}
            for which in ("direct", "proxied") if number % 2 else ("proxied", "direct"):
                if which == "direct":
                    pair[which] = ask(one, direct, plain, messages)
                else:
                    pair[which] = ask(other, proxied, through, messages)
                time.sleep(pause_s)
            took.append((pair["direct"], pair["proxied"]))
            messages.append({"role": "assistant", "content": "I see."})
    return took


def percentile(values: Sequence[float], part: float) -> float:
    """Return the value below which a part of the values lie."""
    return sorted(values)[min(len(values) - 1, int(part * len(values)))]


def told(name: str, took: Sequence[tuple[float, float]]) -> str:
    """Return a line about some requests."""
    columns = [[one for one, _ in took], [two for _, two in took], [two - one for one, two in took]]
    cells = [f"{percentile(column, 0.5):8.2f} {percentile(column, 0.95):8.2f}" for column in columns]
    return f"{name:<16} {len(took):>6}  " + "  ".join(cells)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--upstream-ms", type=float, default=100.0, help="how long the stand-in takes")
    parser.add_argument("--pause-ms", type=float, default=0.0, help="pause after each request")
    parser.add_argument("--known", type=int, default=200, help="turns in the memory at the beginning")
    given = parser.parse_args()
    spawn = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        ours, theirs = spawn.Pipe()
        stand_in = spawn.Process(target=upstream, args=(theirs, given.upstream_ms / 1000), daemon=True)
        stand_in.start()
        direct = f"http://127.0.0.1:{ours.recv()}/v1"
        server = spawn.Process(target=proxy, args=(theirs, folder, direct, given.known), daemon=True)
        server.start()
        port, key = ours.recv()
        proxied = f"http://127.0.0.1:{port}/openai/v1"
        measured(direct, proxied, key, 2 * TURNS, 0.2)  # models are loaded at their first use
        took = measured(direct, proxied, key, given.requests, given.pause_ms / 1000)
        server.terminate()
        server.join()
        stand_in.terminate()
    print(f"Python {platform.python_version()}, {platform.machine()}; a stand-in upstream that takes ", end="")
    print(f"{given.upstream_ms:g} ms, pauses of {given.pause_ms:g} ms, {given.known} turns known before.")
    print(f"{'milliseconds':<16} {'n':>6}  {'direct p50, p95':>17}  {'proxied p50, p95':>17}  {'more p50, p95':>17}")
    print(told("all", took))
    if len(took) >= 2000:
        print(told("first 1,000", took[:1000]))
        print(told("last 1,000", took[-1000:]))


if __name__ == "__main__":
    main()
