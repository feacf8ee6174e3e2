"""AMR parsers: a real HTTP server on this machine for `spring:`, a stand-in module for `amrlib`, else scripts."""

import json
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import ModuleType, SimpleNamespace
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doxa.backends import load
from doxa.backends.amr.notation import Unreadable, find_graph
from doxa.core.errors import (
    BackendError,
    BackendReplyError,
    BackendUnavailableError,
    ClosedError,
    ConfigError,
    MissingDependencyError,
)
from doxa.logic import read_amr

GO = "(g / go-02 :ARG0 (i / i))"


class Service:
    """A SPRING service that answers in order and keeps what it was asked."""

    def __init__(self) -> None:
        self.answers: list[tuple[int, bytes]] = []
        self.asked: list[tuple[str, dict[str, list[str]]]] = []
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                parts = urlsplit(self.path)
                service.asked.append((parts.path, parse_qs(parts.query)))
                status, body = service.answers.pop(0)
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args: object) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._http.server_port}/api"

    def close(self) -> None:
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()


@pytest.fixture
def service(loopback: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    found = Service()
    yield found
    found.close()


@pytest.mark.parametrize(
    "body", [json.dumps({"penman": GO}), json.dumps([{"penman": GO}]), json.dumps(GO), f"# ::snt I go\n{GO}"]
)
def test_spring_asks_for_each_sentence(service, body):
    service.answers = [(200, body.encode()), (200, body.encode())]
    parser = load("amr", f"spring:{service.url}")
    assert [read_amr(graph).nodes["g"].concept for graph in parser.parse(["I go & see.", "Ça?"])] == ["go-02"] * 2
    assert service.asked[0] == ("/api/text-to-amr", {"sentence": ["I go & see."]})
    assert service.asked[1][1] == {"sentence": ["Ça?"]}


def test_spring_takes_the_whole_address(service):
    service.answers = [(200, GO.encode())]
    load("amr", f"spring:{service.url}/text-to-amr/").parse(["I go."])
    assert service.asked[0][0] == "/api/text-to-amr"


@pytest.mark.parametrize("body", [b"<html>Welcome</html>", b'{"error": "no"}', b"", b"(g / go-02 :ARG0 )", b"\xff\xfe"])
def test_spring_that_answers_no_graph_is_a_reply_error(service, body):
    service.answers = [(200, body)]
    with pytest.raises(BackendReplyError, match="AMR graph"):
        load("amr", f"spring:{service.url}").parse(["I go."])


def test_spring_that_fails_or_is_away_is_unavailable(service):
    service.answers = [(503, b"busy")]
    with pytest.raises(BackendUnavailableError, match="503"):
        load("amr", f"spring:{service.url}").parse(["I go."])
    with pytest.raises(BackendUnavailableError, match="did not answer"):
        load("amr", "spring:http://127.0.0.1:9", timeout_s=2).parse(["I go."])


@pytest.mark.parametrize("url", ["", "localhost:8080", "ftp://host/x", "file:///etc/passwd"])
def test_spring_needs_an_address_of_http(url):
    with pytest.raises(ConfigError, match="spring:URL"):
        load("amr", f"spring:{url}")


@pytest.fixture
def amrlib(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """A module in amrlib's place; it keeps how it was loaded, and gives the graphs that it holds."""
    found = SimpleNamespace(graphs=[GO], loaded=[])

    class Model:
        def parse_sents(self, sentences: list[str], add_metadata: bool = True) -> list[str | None]:
            assert add_metadata is False
            if found.graphs == "fail":
                raise RuntimeError("out of memory")
            return found.graphs

    def load_stog_model(model_dir: str | None = None, **settings: object) -> Model:
        if model_dir is None and found.graphs == []:
            raise FileNotFoundError("model_stog")
        found.loaded.append((model_dir, settings))
        return Model()

    module = ModuleType("amrlib")
    module.load_stog_model = load_stog_model  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "amrlib", module)
    return found


def test_amrlib_loads_its_model_once_and_late(amrlib, tmp_path):
    parser = load("amr", f"amrlib:{tmp_path}", device="cpu")
    assert amrlib.loaded == []
    assert parser.parse([]) == []
    assert parser.parse(["I go."]) == parser.parse(["I go."]) == [GO]
    assert amrlib.loaded == [(str(tmp_path), {"device": "cpu", "batch_size": 12, "num_beams": 4})]


def test_amrlib_without_its_model_says_where_to_get_one(amrlib):
    amrlib.graphs = []
    with pytest.raises(BackendError, match="amrlib:FOLDER"):
        load("amr", "amrlib").parse(["I go."])


def test_amrlib_that_finds_no_graph_is_a_reply_error(amrlib):
    amrlib.graphs = [None]
    with pytest.raises(BackendReplyError, match="I go"):
        load("amr", "amrlib").parse(["I go."])


def test_amrlib_that_fails_is_a_backend_error(amrlib):
    amrlib.graphs = "fail"
    with pytest.raises(BackendError, match="out of memory"):
        load("amr", "amrlib").parse(["I go."])


def test_a_missing_amrlib_names_the_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "amrlib", None)
    with pytest.raises(MissingDependencyError, match=r"pip install .*amrlib"):
        load("amr", "amrlib").parse(["I go."])


def test_a_model_is_told_what_was_wrong_and_asked_again():
    replies = iter(["I cannot.", "(g / go-02 :ARG0", f"Here it is:\n```penman\n{GO}\n```"])
    asked: list[list[tuple[str, str]]] = []

    def ask(messages):
        asked.append(list(messages))
        return next(replies)

    assert load("amr", "llm", ask=ask).parse(["I go."]) == [GO]
    assert [role for role, _ in asked[0]] == ["system", "user"]
    assert "Sentence: I go." in asked[0][1][1]
    assert [role for role, _ in asked[2]] == ["system", "user", "assistant", "user"]
    assert "cannot be used" in asked[2][3][1]


def test_a_model_that_never_writes_a_graph_is_a_reply_error():
    calls: list[int] = []

    def ask(messages):
        calls.append(1)
        return "no"

    with pytest.raises(BackendReplyError, match="asked 2 times"):
        load("amr", "llm", ask=ask, attempts=2).parse(["I go."])
    assert len(calls) == 2


def test_a_model_parser_needs_a_model():
    with pytest.raises(ConfigError, match="DOXA_LLM"):
        load("amr", "llm")


def test_the_examples_of_the_prompt_are_readable():
    """What a model is shown has to be right."""
    parser = load("amr", "llm", ask=lambda messages: messages[0][1].split("Examples:")[1])
    assert "move-01" in parser.parse(["x"])[0]
    shown = parser._prompt.split("Examples:")[1].split("Sentence: ")[1:]
    for example in shown:
        graph = read_amr(example.split("\n", 1)[1])
        assert graph.warnings == () and len(graph.nodes) > 3


MENDED = {
    "prose around it": (f"Sure!\n{GO}\nDone.", GO),
    "a fence": (f"```\n{GO}\n```", GO),
    "thoughts before it": (f"<think>(x / y)</think>{GO}", GO),
    "brackets left open": ("(g / go-02 :ARG0 (i / i", GO),
    "a node written out twice": (
        "(w / want-01 :ARG0 (i / i) :ARG1 (g / go-02 :ARG0 (i / i)))",
        "(w / want-01 :ARG0 (i / i) :ARG1 (g / go-02 :ARG0 i))",
    ),
    "a variable for two nodes": ("(s / see-01 :ARG0 (s / snake))", "(s / see-01 :ARG0 (s2 / snake))"),
    "a bracket in a string": ('(n / name :op1 "a (b")', '(n / name :op1 "a (b")'),
}


@pytest.mark.parametrize(("text", "graph"), MENDED.values(), ids=MENDED.keys())
def test_a_graph_is_found_and_mended(text, graph):
    assert find_graph(text) == graph


@pytest.mark.parametrize("text", ["", "no graph", "(a)", "(a / b :ARG0 )", "(a / b :ARG0 (c))", "(x / y" * 200])
def test_what_cannot_be_mended_is_unreadable(text):
    with pytest.raises(Unreadable):
        find_graph(text)


@given(st.text('(abc/ :"ARG01-of\n\\', max_size=60))
def test_what_is_found_can_be_read(text):
    """Whatever comes in, what goes out is one graph."""
    try:
        found = find_graph(text)
    except Unreadable:
        return
    assert read_amr(found).nodes


def test_finding_a_graph_twice_changes_nothing():
    for _, graph in MENDED.values():
        assert find_graph(graph) == graph


@pytest.mark.parametrize(
    "make",
    [
        lambda: load("amr", "spring:http://127.0.0.1:9"),
        lambda: load("amr", "amrlib"),
        lambda: load("amr", "llm", ask=lambda _: GO),
        lambda: load("amr", "scripted", graphs={"I go.": GO}),
    ],
    ids=["spring", "amrlib", "llm", "scripted"],
)
def test_every_parser_keeps_the_contract(make):
    """It has a name, may be closed twice, and says so when it is used afterwards."""
    parser = make()
    assert parser.name
    parser.close()
    parser.close()
    with pytest.raises(ClosedError):
        parser.parse(["I go."])


def test_the_script_knows_its_sentences_and_no_others():
    parser = load("amr", "scripted", graphs={"I go.": GO})
    assert parser.parse(["I go."]) == [GO]
    with pytest.raises(BackendError, match="no graph for 'No.'"):
        parser.parse(["No."])
