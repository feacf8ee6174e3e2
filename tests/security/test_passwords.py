"""The password of a server is in no error and no note, however its address is written."""

from pathlib import Path

import pytest

from doxa.core.access import without_password
from doxa.core.config import Config
from doxa.core.errors import DoxaError
from doxa.core.sealing import MemoryKey
from doxa.engine import Doxa, Worker, check_file, mend_file, migrate, rekey
from doxa.transport.cli.request import Options, Request

SECRET = "s3cretpw"
CALLS = {
    "open": lambda place: Doxa.open(place, config=Config()),
    "worker": lambda place: Worker.open(place, config=Config()),
    "check-file": lambda place: check_file(place, Config()),
    "mend": lambda place: mend_file(place, Config()),
    "rekey": lambda place: rekey(place, MemoryKey("x"), config=Config()),
    "migrate": lambda place: migrate(place, "to.db", config=Config()),
}
PLACES = {
    "no server": f"postgresql://doxa:{SECRET}@127.0.0.1:1/doxa",
    "port that is no number": f"postgresql://doxa:{SECRET}@127.0.0.1:x/doxa",
    "port with a space": f"postgresql://doxa:{SECRET}@127.0.0.1:1 /doxa",
    "another driver": f"mysql://doxa:{SECRET}@127.0.0.1:1/doxa",
    "a capital": f"Postgres://doxa:{SECRET}@127.0.0.1:1/doxa",
    "in the query": f"postgresql:///doxa?host=127.0.0.1&port=1&user=doxa&password={SECRET}",
}


@pytest.mark.parametrize("place", PLACES.values(), ids=list(PLACES))
@pytest.mark.parametrize("call", CALLS.values(), ids=list(CALLS))
def test_no_error_tells_the_password(call, place, tmp_path, monkeypatch):
    """Every one is ours, and leaves no file with the address for its name."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DoxaError) as caught:
        call(place)
    assert SECRET not in str(caught.value) and [*Path().iterdir()] == []


@pytest.mark.parametrize(
    ("place", "shown"),
    [
        (f"postgresql://doxa:{SECRET}@db/doxa", "postgresql://doxa:****@db/doxa"),
        (f"postgresql://doxa:a@{SECRET}@db/doxa", "postgresql://doxa:****@db/doxa"),
        (f"postgresql:///doxa?user=a&password={SECRET}&host=db", "postgresql:///doxa?user=a&password=****&host=db"),
        (f"postgresql:///doxa?password={SECRET}", "postgresql:///doxa?password=****"),
        ("postgresql://doxa@db/doxa", "postgresql://doxa@db/doxa"),
        ("ana@home/memory.db", "ana@home/memory.db"),
    ],
    ids=["user", "sign in it", "query", "end of the query", "none", "file"],
)
def test_what_commands_say_of_a_place_has_no_password(place, shown):
    assert without_password(place) == shown
    assert Request(options=Options(db=place)).place == shown
