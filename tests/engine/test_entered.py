"""How much of the package one turn and one question go through: who reads a trace has to know that much."""

import sys
import threading
from pathlib import Path

import pytest

import doxa
from doxa import Config, Doxa

ROOT = str(Path(doxa.__file__).parent)
ABSORB, ASK = 155, 190
"""Files of the package that may be entered; some hang on how far promotion and search have come meanwhile."""


class Entered:
    """The files of the package whose functions are called while it is switched on, in all threads that begin later."""

    def __init__(self):
        self.files = set()
        self.on = False

    def __call__(self, frame, event, _):
        code = frame.f_code
        if self.on and event == "call" and code.co_filename.startswith(ROOT) and code.co_name != "<module>":
            self.files.add(code.co_filename.removeprefix(ROOT))


@pytest.fixture
def entered():
    found = Entered()
    before = sys.getprofile()
    threading.setprofile(found)
    sys.setprofile(found)
    yield found
    sys.setprofile(before)
    threading.setprofile(None)


def test_one_turn_and_one_question_enter_few_files(entered):
    with Doxa.open(":memory:", config=Config()) as engine:
        dialogue = engine.dialogue(user="ana", speaker="Ana")
        dialogue.absorb("My sister Mia moved to Graz last May.")
        dialogue.flush()
        dialogue.ask("Where does Mia live?")
        entered.on = True
        dialogue.absorb("I started as a nurse at the harbour clinic on Monday.")
        dialogue.flush()
        absorbed, entered.files = entered.files, set()
        answer = dialogue.ask("Where does Ana work?")
        entered.on = False
    assert "clinic" in answer.text
    assert (len(absorbed) <= ABSORB, len(entered.files) <= ASK) == (True, True), (len(absorbed), len(entered.files))
