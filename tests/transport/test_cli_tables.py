"""`doxa bench tables`: what is shown of a report, and what is refused."""

import io

from rich.console import Console

from doxa_bench.cli.tables import show_tables

ROW = ["doxa", [0.5, 0.4, 0.6], 0.25]
FOUND = {
    "tables": {"main": {"title": "Main", "heads": ["system", "R", "n"], "rows": [ROW], "note": "N."}},
    "left_out": {"locomo": "no file"},
    "files": ["out/tables.md"],
    "revision": None,
}


def test_tables_are_shown_with_intervals_notes_and_what_was_left_out():
    """Everything that a reader of the terminal needs to find the files."""
    out = io.StringIO()
    show_tables(Console(file=out, width=100), FOUND)
    shown = out.getvalue()
    assert "0.500 (0.40-0.60)" in shown and "0.250" in shown and "N." in shown
    assert "Not measured: locomo: no file." in shown and "out/tables.md" in shown


def test_options_of_other_benchmarks_are_refused(cli):
    """With the name of the option."""
    done = cli("bench", "tables", "--limit", "3")
    assert done.exit_code != 0 and "--limit" in done.stderr
