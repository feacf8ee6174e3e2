"""What ships with Doxa is opened once in a process, whoever has it open, and keeps nothing of what it was given."""

import gc
import os
import shutil
from inspect import getclosurevars
from pathlib import Path
from weakref import WeakValueDictionary

import pytest

import doxa.backends
from doxa.backends import load, onnx
from doxa.backends.encoder import onnx as encoders
from doxa.backends.parser.network import open_network, read_card

ROOM = Path(doxa.backends.__file__).parent


@pytest.fixture
def opened(monkeypatch):
    """The files of models that were opened, where nobody has any open yet."""
    files = []

    def counted(path, what, **given):
        files.append(path)
        return onnx.open_session(path, what, **given)

    monkeypatch.setattr(onnx, "_OPENED", WeakValueDictionary())
    monkeypatch.setattr(encoders, "open_session", counted)
    return files


def test_two_who_have_a_model_open_share_it(opened):
    one, other = load("encoder", "builtin"), load("encoder", "builtin")
    assert (one.encode(["tea"]) == other.encode(["tea"])).all() and len(opened) == 1
    one.close()
    assert other.encode(["coffee"]).shape == (1, 384)
    other.close()


def test_a_model_goes_with_the_last_who_has_it_open(opened):
    for count in (1, 2):
        encoder = load("encoder", "builtin")
        encoder.encode(["tea"])
        encoder.close()
        del encoder
        gc.collect()
        assert len(opened) == count and not onnx._OPENED


def test_another_file_in_the_folder_is_another_model(opened, tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(ROOM / "encoder" / encoders.MODEL, folder)
    one, other = (encoders.OnnxEncoder(folder, threads=1) for _ in range(2))
    one.encode(["tea"])
    os.utime(folder / "model.onnx", ns=(1, 1))
    other.encode(["tea"])
    assert len(opened) == 2


def test_the_parser_remembers_no_names():
    """It outlives what is erased; words of its vocabulary say nothing of anybody."""
    network = open_network(read_card(ROOM / "parser" / "minilm-l6-frames-int8"))
    assert len(network.pieces("Quxblorn")) > 1 and network.pieces("house") == network.pieces("house")
    assert [*getclosurevars(network.pieces).nonlocals["known"]] == ["house"]
