"""`doxa mcp`: the server over standard input and output."""

import json
import os
import subprocess
import sys
from pathlib import Path

import anyio
import pytest
from mcp import StdioServerParameters
from typer.testing import CliRunner

from doxa.engine import Doxa
from doxa.transport.cli import app

from .conftest import connected, settings

SRC = Path(__file__).parents[3] / "src"
FAST = {"DOXA_ENCODER": "hash", "DOXA_GRADER": "none", "DOXA_READER": "none", "DOXA_NLI": "none"}


def command(tmp_path, *more):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("DOXA_")}
    return StdioServerParameters(
        command=sys.executable,
        args=["-m", "doxa", "mcp", "--user", "ana", "--db", str(tmp_path / "ana.db"), *more],
        env={**kept, **FAST, "PYTHONPATH": str(SRC)},
        cwd=tmp_path,
    )


def test_a_client_that_starts_the_command_has_the_users_memory(tmp_path):
    """A client of the stateless revision reads what is there already, with the rights of the start command."""
    with Doxa.open(tmp_path / "ana.db", config=settings()) as doxa:
        doxa.dialogue(user="ana").absorb("I live in Porto.")

    async def run():
        async with connected(command(tmp_path, "--profile", "mem0", "--right", "read"), "auto") as host:
            assert host.client.protocol_version == "2026-07-28"
            (found,) = (await host.call("get_memories"))["results"]
            assert (found["memory"], found["user_id"]) == ("Ana lives in Porto", "ana")
            assert "may read, not write" in await host.fails("add_memory", text="x")

    anyio.run(run)


def test_standard_output_carries_the_protocol_alone(tmp_path):
    """Of a session, every line is a message; the command ends with its input, and what was remembered is kept."""
    parameters = command(tmp_path)
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
    }
    call = {"name": "remember", "arguments": {"text": "I live in Porto."}}
    lines = [
        hello,
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call},
    ]
    with subprocess.Popen(
        [parameters.command, *parameters.args],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=parameters.env,
        cwd=tmp_path,
    ) as process:
        for line in lines:
            process.stdin.write(json.dumps(line).encode() + b"\n")
            process.stdin.flush()
        answers = [json.loads(process.stdout.readline()) for _ in range(2)]
        rest, errors = process.communicate(timeout=60)
    assert [one["id"] for one in answers] == [1, 2] and rest == b""
    assert answers[0]["result"]["protocolVersion"] == "2025-06-18"
    assert process.returncode == 0, errors
    with Doxa.open(tmp_path / "ana.db", config=settings()) as doxa:
        assert [turn.text for turn in doxa.memory(user="ana").turns()] == ["I live in Porto."]


@pytest.mark.parametrize("wrong", [("--profile", "mem"), ("--right", "delete")])
def test_wrong_options_are_told_on_standard_error(tmp_path, wrong):
    """A slip ends the command with words, and nothing on standard output."""
    done = CliRunner().invoke(app, ["mcp", "--db", str(tmp_path / "x.db"), *wrong])
    assert done.exit_code == 1 and done.stdout == "" and wrong[1] in done.stderr


def test_where_the_packages_are_missing_the_command_says_which(tmp_path, monkeypatch):
    """The server's packages are an extra."""
    monkeypatch.setitem(sys.modules, "doxa.transport.mcp", None)
    done = CliRunner().invoke(app, ["mcp", "--db", str(tmp_path / "x.db")])
    assert done.exit_code == 1 and "pip install" in done.stderr
