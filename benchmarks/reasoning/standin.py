"""A stand-in for a language model: an OpenAI-compatible server on this machine with a set latency that counts tokens.

It knows the roles of the reasoning tree by the name of the schema that it is asked for and answers so that the search
goes to its greatest depth: no answer before the last move, no two moves alike. Any other schema it answers with the
least that fits, unless it is told what to say. What it says is of no use; what is measured is how often, how long and
with how many tokens it is asked.
"""

from __future__ import annotations

import hashlib
import json
import random
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from doxa.core.tokens import estimate_tokens

BLOCK, LEAST = 128, 1024
"""Providers cache the beginnings of prompts from 1,024 tokens on, in steps of 128 (OpenAI, "Prompt caching")."""
CHARS = 4
"""Characters a token, where blocks of a prompt are cut."""


@dataclass(slots=True)
class Account:
    """What was asked since it was last reset."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    """Of the prompts, those that a provider would have had in its cache."""
    repeated_tokens: int = 0
    """Of the prompts, those in beginnings that an answered call had before, of any length."""
    most_at_once: int = 0
    roles: dict[str, int] = field(default_factory=dict)


class StandIn(ThreadingHTTPServer):
    """The server; `latency_s` and `jitter_s` (a uniform draw on top, seeded) may be changed between questions."""

    request_queue_size = 64
    daemon_threads = True

    def __init__(
        self,
        *,
        latency_s: float,
        jitter_s: float = 0.0,
        seed: int = 0,
        says: Mapping[str, Callable[[str], str]] | None = None,
    ) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.says = {**ROLES, **(says or {})}
        self.latency_s, self.jitter_s = latency_s, jitter_s
        self.account = Account()
        self._random, self._guard, self._seen = random.Random(seed), threading.Lock(), set[str]()
        self._under_way = 0
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def url(self) -> str:
        """The address for `llm.base_url`."""
        return f"http://127.0.0.1:{self.server_port}/v1"

    def reset(self) -> None:
        """Begin a new account with an empty cache."""
        with self._guard:
            self.account, self._seen = Account(), set()

    def begin(self, role: str, prompt: str) -> tuple[float, list[str]]:
        """Note a call; returns how long it takes and the blocks of its prompt."""
        blocks = _blocks(prompt)
        with self._guard:
            self._under_way += 1
            account = self.account
            known = next((n for n, block in enumerate(blocks) if block not in self._seen), len(blocks)) * BLOCK
            account.calls += 1
            account.roles[role] = account.roles.get(role, 0) + 1
            account.prompt_tokens += estimate_tokens(prompt)
            account.repeated_tokens += known
            account.cached_tokens += known if known >= LEAST else 0
            account.most_at_once = max(account.most_at_once, self._under_way)
            return self.latency_s + self.jitter_s * self._random.random(), blocks

    def end(self, blocks: list[str], said: str) -> None:
        """Note that a call was answered: from now on its prompt is in the cache."""
        with self._guard:
            self._under_way -= 1
            self._seen.update(blocks)
            self.account.completion_tokens += estimate_tokens(said)


def _blocks(prompt: str) -> list[str]:
    """Return a name for each beginning of a prompt, in steps of `BLOCK` tokens."""
    digest, names, step = hashlib.blake2s(digest_size=12), [], BLOCK * CHARS
    for start in range(0, len(prompt) - step + 1, step):
        digest.update(prompt[start : start + step].encode())
        names.append(digest.copy().hexdigest())
    return names


class Handler(BaseHTTPRequestHandler):
    """One call."""

    protocol_version = "HTTP/1.1"
    server: StandIn

    def do_POST(self) -> None:
        """Wait as long as a model would, and answer."""
        began = time.perf_counter()
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        prompt = "\n".join(message["content"] for message in body["messages"])
        asked = body.get("response_format", {}).get("json_schema", {})
        role, schema = _role(asked), asked.get("schema", {})
        wait, blocks = self.server.begin(role, prompt)
        says = self.server.says.get(role)
        said = says(prompt) if says is not None else json.dumps(least(schema)) if schema else _text(prompt)
        time.sleep(max(0.0, wait - (time.perf_counter() - began)))
        self.server.end(blocks, said)
        used = {"prompt_tokens": estimate_tokens(prompt), "completion_tokens": estimate_tokens(said)}
        message = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": said}}
        reply = {"id": "1", "object": "chat.completion", "created": 1, "model": body["model"], "choices": [message]}
        data = json.dumps(reply | {"usage": used | {"total_tokens": sum(used.values())}}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def _role(asked: Mapping[str, Any]) -> str:
    """Return the title of the schema that is asked for, or the fields of one without a title."""
    name = str(asked.get("name", "text"))
    return "+".join(asked["schema"]["properties"]) if name == "reply" else name


def least(schema: Mapping[str, Any]) -> Any:
    """Return the smallest value that fits a schema: nothing in lists, null where it may be, the first of choices."""
    if "enum" in schema or "const" in schema:
        return schema["const"] if "const" in schema else schema["enum"][0]
    if "anyOf" in schema or "oneOf" in schema:
        return least((schema.get("anyOf") or schema["oneOf"])[-1])
    kinds = schema.get("type", "object")
    if isinstance(kinds, list):
        kinds = "null" if "null" in kinds else kinds[0]
    fields = {name: schema["properties"][name] for name in schema.get("required", ()) if kinds == "object"}
    plain = {"array": [], "string": "", "integer": 0, "number": 0, "boolean": False, "null": None}
    return {name: least(one) for name, one in fields.items()} if kinds == "object" else plain[kinds]


def _moves(prompt: str) -> str:
    """Return as many moves as are wanted, no two alike anywhere in the tree; an answer when no move is left."""
    state: Mapping[str, Any] = json.loads(prompt.rpartition("\n")[2])
    name = hashlib.blake2s(json.dumps(state["path"]).encode(), digest_size=4).hexdigest()
    likelihood = round(0.9 / state["width"], 3)
    texts = [f"Line of thought {name}-{n}: what was said about it comes next." for n in range(state["width"])]
    moves = [{"move": "think", "likelihood": likelihood, "text": text} for text in texts]
    if not state["left"]:
        moves[0] = {"move": "answer", "likelihood": likelihood, "text": f"It is known, I think ({name})."}
    return json.dumps({"moves": moves})


def _promise(prompt: str) -> str:
    draw = int(hashlib.blake2s(prompt.encode(), digest_size=2).hexdigest(), 16) / 65536
    return json.dumps({"bears": round(0.7 + 0.2 * draw, 2), "closer": 0.8, "reach": 0.8})


def _worth(prompt: str) -> str:
    first = '"path": [{"move": "ANSWER"}]' in prompt or '"path": [{"move": "ANSWER", ' in prompt
    return json.dumps({"true": 0.2, "whole": 0.2, "clear": 0.2} if first else {"true": 0.9, "whole": 0.8, "clear": 0.9})


def _answer(prompt: str) -> str:
    return json.dumps({"answer": "It is known, I think.", "value": None, "citations": [], "abstained": False})


def _text(prompt: str) -> str:
    return "This is what can be said about it, in one sentence of the usual length, with what was asked for."


ROLES = {"moves": _moves, "promise": _promise, "worth": _worth, "answer": _answer}
"""What is said to whom, by the name of the schema."""
