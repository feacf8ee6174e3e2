"""The MCP project's own conformance suite against our server over HTTP, where it is installed.

`benchmarks/serve/conformance.sh FOLDER` installs it; DOXA_MCP_CONFORMANCE names that folder.
"""

import os
import re
import subprocess
from pathlib import Path

import pytest

from doxa.core.config import ServerConfig
from doxa.transport.http import application

from .conformance_server import add_fixtures
from .conftest import listening

FOLDER = Path(os.environ.get("DOXA_MCP_CONFORMANCE") or "-")
NODE, SUITE = FOLDER / "node_modules/.bin/node", FOLDER / "node_modules/@modelcontextprotocol/conformance/dist/index.js"


class AsAna:
    """Requests of the suite carry no header that says whose memory is meant."""

    def __init__(self, app):
        self.app = app

    async def __call__(self, scope, receive, send):
        if scope["type"] == "http":
            scope = {**scope, "headers": [*scope["headers"], (b"doxa-user", b"ana")]}
        await self.app(scope, receive, send)


@pytest.mark.filterwarnings("ignore:The (logging|sampling) capability:mcp.MCPDeprecationWarning")
@pytest.mark.skipif(not (NODE.exists() and SUITE.exists()), reason="DOXA_MCP_CONFORMANCE names no installed suite")
def test_the_protocols_own_suite_passes(doxa, loopback, tmp_path):
    """Every scenario of the suite for servers passes."""
    app = application(doxa, ServerConfig(open=True))
    add_fixtures(app.state.mcp.servers["doxa"])
    app.add_middleware(AsAna)
    with listening(app) as address:
        done = subprocess.run(
            [NODE, SUITE, "server", "--url", f"{address}/mcp", "--suite", "all"],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            timeout=200,
        )
    print(done.stdout[done.stdout.rfind("=== SUMMARY") :])  # noqa: T201  the script shows it
    passed = re.findall(r"✓ (\S+): (\d+) passed, 0 failed", done.stdout)
    assert done.returncode == 0, done.stdout[-3000:]
    assert len(passed) >= 30
