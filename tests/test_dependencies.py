"""What Doxa needs may be used with it, and an audit that could not be made is none."""

import re
import runpy
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
COPYLEFT = re.compile(r"\bA?GPL|(?<!Lesser )General Public|Affero", re.I)
"""Licences that a program which is handed on would have to have itself; LGPL asks that of the library alone."""
NEEDED = ("", "server", "postgres")
"""No extra, and those that a server is installed with."""


def needed(name, extras, found):
    """Add to `found` what a distribution needs to run, by name."""
    try:
        metadata = distribution(name)
    except PackageNotFoundError:
        return  # of another platform
    for line in metadata.requires or ():
        wanted = Requirement(line)
        wants = wanted.marker is None or any(wanted.marker.evaluate({"extra": extra}) for extra in extras)
        if wants and wanted.name not in found:
            found[wanted.name] = True
            needed(wanted.name, ("", *wanted.extras), found)


def licence(name):
    """Return what a distribution says of its licence: the expression, else its classifiers, else its text."""
    about = distribution(name).metadata
    classified = [line for line in about.get_all("Classifier") or () if line.startswith("License ::")]
    return about.get("License-Expression") or "; ".join(classified) or (about.get("License") or "")[:200]


def test_nothing_that_runs_with_doxa_is_under_the_gpl():
    """Whoever hands on a program with Doxa in it is bound by Doxa's own licence and by those that let it be."""
    found: dict[str, bool] = {}
    needed("doxa", NEEDED, found)
    told = {}
    for name in found:
        try:
            told[name] = licence(name)
        except PackageNotFoundError:
            continue
    assert len(told) > 30 and {"numpy", "SQLAlchemy", "fastapi", "psycopg"} <= told.keys()
    assert {name: said for name, said in told.items() if COPYLEFT.search(said.replace("LGPL", ""))} == {}


@pytest.mark.parametrize(
    ("said", "bad"),
    [
        ("GPL-3.0-only", True),
        ("AGPL-3.0-or-later", True),
        ("License :: OSI Approved :: GNU General Public License v3 (GPLv3)", True),
        ("License :: OSI Approved :: GNU Lesser General Public License v3 (LGPLv3)", False),
        ("LGPL-3.0-only", False),
        ("MIT", False),
    ],
)
def test_licences_are_told_apart(said, bad):
    """By their names."""
    assert bool(COPYLEFT.search(said.replace("LGPL", ""))) is bad


@pytest.fixture(scope="module")
def audit():
    """The script of `make vulnerabilities`."""
    return runpy.run_path(str(ROOT / "deploy" / "vulnerabilities.py"))


SOUND = {"name": "numpy", "version": "2.0", "vulns": []}
HOLE = {"name": "aiohttp", "version": "1.0", "vulns": [{"id": "PYSEC-1", "fix_versions": ["1.1"]}]}
UNASKED = {"name": "rich", "skip_reason": "Dependency not found on PyPI and could not be audited: rich (13.7)"}


@pytest.mark.parametrize(
    ("packages", "offline", "code", "says"),
    [
        ([SOUND], False, 0, "1 packages asked about, 0 known holes"),
        ([SOUND, HOLE], False, 1, "aiohttp 1.0: PYSEC-1, mended in 1.1"),
        ([SOUND, UNASKED], False, 0, "1 could not be asked about: rich"),
        ([UNASKED], False, 2, "could not be asked"),
        ([UNASKED], True, 0, "could not be asked"),
        ([], False, 2, "could not be asked"),
    ],
    ids=["sound", "a hole", "one unknown", "no service", "allowed", "nothing"],
)
def test_an_audit_that_asked_nobody_is_none(audit, packages, offline, code, says):
    """It is said so, and passes only where that is allowed."""
    told, found = audit["judged"]({"dependencies": packages}).told(allow_offline=offline)
    assert found == code and says in told
