"""cli: command line -> engine call.

One file per concern; a command is a function from a `Request` and its arguments to an exit code. Exit codes: 0 done,
1 error, 2 wrong usage, 3 partly done, 130 interrupted. The order of the imports is the order of the help.
"""

# isort: off
from doxa.transport.cli import (
    ingest,
    ask,
    chat,
    answers,
    looking,
    concepts,
    tasks,
    sparql,
    verify,
    check,
    change,
    carrying,
    migrate,
    learn,
    drift,
    teach,
    kb,
    amr,
    serve,
    cluster,
    inspect,
    keys,
    mcp,
    doctor,
    demo,
    version,
)
from doxa.transport.cli.app import app, main
# isort: on

__all__ = [
    "amr",
    "answers",
    "app",
    "ask",
    "carrying",
    "change",
    "chat",
    "check",
    "cluster",
    "concepts",
    "demo",
    "doctor",
    "drift",
    "ingest",
    "inspect",
    "keys",
    "kb",
    "learn",
    "looking",
    "main",
    "mcp",
    "migrate",
    "serve",
    "sparql",
    "tasks",
    "teach",
    "verify",
    "version",
]
