#!/bin/sh
# Install the MCP project's conformance suite into a folder, with the Node.js that it needs, and run it against our server.
# Usage: benchmarks/serve/conformance.sh FOLDER
set -eu
folder=${1:?usage: benchmarks/serve/conformance.sh FOLDER}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
if [ ! -e "$folder/node_modules/@modelcontextprotocol/conformance" ]; then
    # `node` is the package of the runtime: the suite wants version 22 or later.
    npm install --no-audit --no-fund --prefix "$folder" @modelcontextprotocol/conformance@0.1.16 node@22
fi
cd "$(dirname "$0")/../.."
DOXA_MCP_CONFORMANCE=$folder exec "${PYTHON:-.venv/bin/python}" -m pytest -q -s tests/transport/mcp/test_conformance.py
