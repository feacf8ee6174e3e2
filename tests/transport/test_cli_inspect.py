"""`doxa inspect` opens the inspector for as long as it runs, to whoever has its address."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest

SRC = str(Path(__file__).parents[2] / "src")


@pytest.fixture
def inspector(cli, tmp_path):
    """What a running inspector says of itself."""
    transcript = cli.file("talk.txt", "Ana: I live in Lisbon.\n")
    assert cli("ingest", transcript, "--db", cli.db, "--user", "ana").exit_code == 0
    command = [sys.executable, "-m", "doxa", "inspect", "--db", str(cli.db), "--json", "--no-browser"]
    settings = {"PYTHONPATH": SRC, "DOXA_ENCODER": "hash", "DOXA_GRADER": "none", "DOXA_READER": "none"}
    running = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path, env=os.environ | settings
    )
    try:
        yield json.loads(running.stdout.readline())
        running.send_signal(signal.SIGINT)
        assert running.wait(30) == 0, running.stderr.read()
    finally:
        running.kill()
        running.communicate()


def test_its_address_holds_the_key_and_leads_to_what_is_believed(inspector):
    parts = urlsplit(inspector["url"])
    with httpx2.Client(base_url=f"{parts.scheme}://{parts.netloc}", follow_redirects=True) as browser:
        assert browser.get("/inspect/now").url.path == "/inspect/enter"
        page = browser.get(parts.path, params=parse_qs(parts.query)).text
        token = page.partition('X-Doxa-Form": "')[2].partition('"')[0]
        sent = {"token": token, "key": parts.fragment, "next": parse_qs(parts.query)["next"][0]}
        inside = browser.post("/inspect/enter", data=sent)
        assert str(inside.url).endswith("/inspect/now?user=ana")
        assert "Lisbon" in inside.text


def test_a_memory_that_is_not_there_is_said_so(cli):
    done = cli("inspect", "--db", cli.db, "--no-browser")
    assert done.exit_code == 1
    assert "There is no memory at" in done.output
