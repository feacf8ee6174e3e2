"""The TypeScript client: made from the page that the server tells, and run against a server that listens."""

import importlib.util
import json
import os
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import uvicorn

from doxa import Doxa
from doxa.core.access import RIGHTS
from doxa.core.config import Config, EncoderConfig, GraderConfig, ReaderConfig
from doxa.engine import Keys
from doxa.transport.http import application

CLIENTS = Path(__file__).parents[2] / "clients"
HERE = CLIENTS / "typescript"


@pytest.fixture(scope="module")
def npm() -> str:
    """npm, where it and the packages of the client are installed."""
    found = shutil.which("npm")
    if found is None or shutil.which("node") is None:
        pytest.skip("node is not installed")
    if not (HERE / "node_modules").is_dir():
        pytest.skip("the client's packages are not installed: npm ci in clients/typescript")
    return found


def run(npm: str, script: str, *arguments: str, **environ: str) -> "subprocess.CompletedProcess[str]":
    command = [npm, "run", "--silent", script, "--", *arguments]
    return subprocess.run(
        command, cwd=HERE, env=os.environ | environ, capture_output=True, text=True, timeout=120, check=False
    )


def test_the_page_that_the_client_is_made_from_is_fresh():
    """`make client` writes what the server tells now."""
    spec = importlib.util.spec_from_file_location("openapi", CLIENTS / "openapi.py")
    assert spec is not None and spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    assert json.loads((HERE / "openapi.json").read_text()) == json.loads(json.dumps(script.own_page())), "make client"


def test_the_types_are_those_of_the_page(npm):
    """They are generated and never written by hand."""
    done = run(npm, "generate", "--check")
    assert done.returncode == 0, done.stdout + done.stderr + "make client"


def test_a_program_that_uses_the_client_checks(npm):
    """What is right compiles, and what is misspelt does not."""
    done = run(npm, "types")
    assert done.returncode == 0, done.stdout


def test_what_is_installed_names_no_place_that_it_came_from():
    """The lock holds versions and digests alone, so that it works with any registry."""
    assert '"resolved"' not in (HERE / "package-lock.json").read_text()


@pytest.fixture
def server(loopback: None) -> Iterator[tuple[str, str]]:
    """The address of a server that listens, and a key of one user with all rights."""
    config = Config(
        encoder=EncoderConfig(name="hash"), grader=GraderConfig(name="none"), reader=ReaderConfig(name="none")
    )
    with Doxa.open(":memory:", config=config) as doxa, socket.create_server(("127.0.0.1", 0)) as listening:
        _, key = Keys(doxa).add(users=["ana"], rights=RIGHTS)
        running = uvicorn.Server(uvicorn.Config(application(doxa), log_config=None, lifespan="on"))
        thread = threading.Thread(target=running.run, kwargs={"sockets": [listening]})
        thread.start()  # what comes before it listens waits in the socket
        yield f"http://127.0.0.1:{listening.getsockname()[1]}", key
        running.should_exit = True
        thread.join(20)


def test_the_client_works_with_a_server(npm, server):
    """Turns, questions, events, errors, conditional reads, files, erasure: from a process of its own."""
    url, key = server
    done = run(npm, "test", DOXA_URL=url, DOXA_KEY=key)
    assert done.returncode == 0, done.stdout + done.stderr
