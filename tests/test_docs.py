"""The documentation is true: its examples run, its generated parts are fresh, and nothing is missing from it."""

import re
import subprocess
import sys
from pathlib import Path

import generate
import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
GENERATED = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs/reference").glob("*.md"))]
BLOCK = re.compile(
    r"(?P<skip><!-- skip: [^\n]+ -->\s*\n)?^(?P<fence>```+)python[^\n]*\n(?P<code>.*?)^(?P=fence)$", re.M | re.S
)
NEEDS = re.compile(r"^<!-- needs: (?P<module>\w+) -->$", re.M)
LINK = re.compile(r"(?<!!)\[[^\]]*\]\((?!https?:|mailto:|#)(?P<target>[^)#\s]+)")


def blocks(text: str) -> list[tuple[int, str]]:
    """Return `(first line, code)` of every Python block that is not marked `<!-- skip: reason -->`."""
    return [(text.count("\n", 0, m.start("code")) + 1, m["code"]) for m in BLOCK.finditer(text) if not m["skip"]]


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("page", [p for p in PAGES if p.exists() and blocks(p.read_text())], ids=name_of)
def test_every_python_block_runs(page, tmp_path, monkeypatch):
    """The blocks of one page run in order, in one namespace and an empty folder.

    A page that says `<!-- needs: module -->` is left out where that cannot be installed beside the others.
    """
    for needed in NEEDS.finditer(page.read_text()):
        pytest.importorskip(needed["module"])
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DOXA_ENGINE_SETTLE_S", "60")  # what a page shows does not depend on how busy the machine is
    monkeypatch.setenv("CREWAI_DISABLE_TELEMETRY", "true")  # it would reach for the network
    namespace: dict[str, object] = {"__name__": "__main__"}
    for line, code in blocks(page.read_text()):
        exec(compile("\n" * (line - 1) + code, str(page), "exec"), namespace)


def test_blocks_are_found_with_their_line_and_skips_are_left_out():
    text = "a\n```python\nx = 1\n```\n<!-- skip: needs a server -->\n```python\ny\n```\n```text\nz\n```\n"
    assert blocks(text) == [(3, "x = 1\n")]


def test_generated_parts_are_fresh():
    """`cog --check` over the pages; `make docs` mends it."""
    command = [sys.executable, "-m", "cogapp", "--check", "-I", "docs", *map(str, GENERATED)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, f"run `make docs`\n{done.stdout}{done.stderr}"


def test_every_command_is_in_the_reference():
    page = (ROOT / "docs/reference/cli.md").read_text()
    assert [name for name, _ in generate.commands() if f"## `{name}`" not in page] == []


def test_every_setting_is_in_the_reference():
    page = (ROOT / "docs/reference/config.md").read_text()
    assert [s.path for s in generate.settings() if f"`{s.path}`" not in page or f"`{s.env}`" not in page] == []


def test_every_setting_says_what_it_means():
    assert [s.path for s in generate.settings() if not s.description] == []


@pytest.mark.parametrize("page", [p for p in PAGES if p.exists()], ids=name_of)
def test_links_to_files_lead_somewhere(page):
    targets = [m["target"] for m in LINK.finditer(page.read_text())]
    assert [target for target in targets if not (page.parent / target).exists()] == []
