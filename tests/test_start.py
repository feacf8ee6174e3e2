"""What is imported before it is needed: counted in modules, since seconds depend on the machine."""

import json
import subprocess
import sys

import pytest

READING = {
    "doxa.understand",
    "doxa.reason",
    "doxa.recall",
    "doxa.revise",
    "doxa.tasks",
    "doxa.verify",
    "doxa.commonsense",
}
MODELS = {"onnxruntime", "openai", "py3langid", "pysat", "scipy", "tokenizers"}
STATE = {"alembic", "doxa.backends.store", "doxa.logic", "doxa.memory", "numpy", "pyoxigraph", "sqlalchemy"}
CIPHERS = {"cryptography", "sqlcipher3"}
SERVER = {"fastapi", "mcp", "starlette", "uvicorn"}
FRAMEWORKS = {
    "agent_framework",
    "agents",
    "anthropic",
    "autogen_core",
    "crewai",
    "google.adk",
    "graphiti_core",
    "langchain_core",
    "langgraph",
    "langmem",
    "llama_index",
    "mem0",
    "pydantic_ai",
    "strands",
}


def loaded_after(code):
    """Return the modules that a new interpreter has loaded after some code."""
    shown = subprocess.run(
        [sys.executable, "-c", f"import json, sys\n{code}\nprint(json.dumps(sorted(sys.modules)))"],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return set(json.loads(shown.stdout))


@pytest.mark.parametrize("name", ["Doxa", "AsyncDoxa"])
def test_importing_the_engine_loads_neither_what_reads_nor_what_keeps(name):
    found = loaded_after(f"from doxa import {name}")
    assert "doxa.engine.api.doxa" in found
    assert found & (READING | MODELS | STATE | SERVER | FRAMEWORKS) == set()


def test_opening_a_database_loads_nothing_that_reads_or_answers(tmp_path):
    path = str(tmp_path / "memory.db")
    found = loaded_after(f"from doxa import Doxa\nDoxa.open({path!r}).close()\nDoxa.open({path!r})")
    assert "doxa.memory" in found
    assert found & (READING | MODELS | SERVER | CIPHERS) == set()


def test_the_command_line_loads_no_engine_to_say_what_it_can():
    found = loaded_after("from doxa.transport.cli import app")
    assert found & (READING | MODELS | STATE | SERVER | FRAMEWORKS) == set()


def test_the_server_is_put_together_without_what_reads_and_the_tools_for_models():
    found = loaded_after("from doxa.transport.http import application")
    assert "fastapi" in found
    assert found & (READING | MODELS | STATE | {"mcp"}) == set()


def test_every_name_that_is_loaded_late_can_be_had():
    from doxa import engine

    assert all(getattr(engine, name) is not None for name in engine.__all__)
