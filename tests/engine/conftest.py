"""An engine whose encoder needs no model and that nothing grades, so that these tests are about the engine."""

import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import doxa as doxa_package
from doxa.core.config import Config, EncoderConfig, EngineConfig, GraderConfig, ReaderConfig, StoreConfig
from doxa.engine import Doxa


@pytest.fixture(autouse=True)
def unlearned(monkeypatch):
    """What tells concepts by vectors is learned once a process for an encoder; here every test begins without."""
    monkeypatch.setattr("doxa.recall.concepts.concepts._LEARNED", {})


@pytest.fixture
def config():
    """Settings that read neither file nor environment."""
    return Config(
        encoder=EncoderConfig(name="hash"), engine=EngineConfig(settle_s=10), grader=GraderConfig(name="none")
    )


@pytest.fixture(scope="session")
def light():
    """A function of engine settings that gives all settings, with the models that open at once."""
    return lambda **engine: Config(
        encoder=EncoderConfig(name="hash"),
        engine=EngineConfig(settle_s=10, **engine),
        grader=GraderConfig(name="none"),
        reader=ReaderConfig(name="none"),
        store=StoreConfig(pool_size=2, pool_overflow=8),
    )


@pytest.fixture(params=["file", "postgres"])
def location(request, tmp_path):
    """The address of a database that is empty, or not there yet."""
    return request.getfixturevalue("postgres_url") if request.param == "postgres" else str(tmp_path / "memory.db")


@pytest.fixture
def doxa(config):
    """An engine in memory."""
    with Doxa.open(":memory:", config=config) as engine:
        yield engine


@pytest.fixture
def started():
    """Give a function that starts Python on a text and its arguments, in a process that is ended with the test."""
    processes = []

    def start(text, *arguments):
        command = [sys.executable, "-c", text, *map(str, arguments)]
        path = os.pathsep.join([str(Path(doxa_package.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": path}
        )
        processes.append(process)
        return process

    yield start
    for process in processes:
        process.kill()
        process.wait()
        process.stdout.close()
        process.stderr.close()


class ChatHandler(BaseHTTPRequestHandler):
    """Answers like an OpenAI-compatible server; keeps the requests."""

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append(body)
        if self.server.failing:
            self.send_response(503)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        if self.server.fault is not None and self.server.fault(self, body):
            return
        says = self.server.says(body) if callable(self.server.says) else self.server.says
        self.say(body, says)

    def say(self, body, says, *, finish="stop", **message):
        """Send a chat completion."""
        prompt, completion = self.server.tokens
        said = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": says} | message}
        usage = {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
        head = {"id": "1", "object": "chat.completion", "created": 1, "model": body["model"]}
        self.give(head | {"choices": [said], "usage": usage})

    def give(self, reply, *, status=200, kind="application/json", headers=()):
        """Send a whole body."""
        data = reply if isinstance(reply, bytes) else json.dumps(reply).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        """Say nothing."""


@pytest.fixture
def chat_server(loopback):
    """A real server on this machine: a function from what it says, and at what cost in tokens, to the server.

    What it says is a text, or a function from the request to one; a `fault` may answer in its place.
    """
    running = ThreadingHTTPServer(("127.0.0.1", 0), ChatHandler)
    running.requests, running.failing, running.fault = [], False, None
    thread = threading.Thread(target=running.serve_forever, args=(0.01,))
    thread.start()

    def saying(says, *, tokens):
        running.says, running.tokens = says, tokens
        return running

    yield saying
    running.shutdown()
    thread.join()
    running.server_close()
