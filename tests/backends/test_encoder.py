"""Every encoder gives unit vectors that depend on the text alone; each maps the errors of its library to ours."""

import hashlib
import json
import random
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from doxa.backends import load
from doxa.backends.encoder import CachedEncoder, Encoder, TokenEncoder
from doxa.core.errors import (
    BackendError,
    BackendReplyError,
    BackendUnavailableError,
    ClosedError,
    MissingDependencyError,
)

Reply = Callable[[dict[str, Any]], tuple[int, object]]

TEXTS = (
    "I moved to Berlin in March.",
    "My sister has two cats.",
    "What did we have for dinner?",
    "Good morning!",
    "",
)
JUNK = (
    "\ud800\udfff lone",
    "\x00\x01\x02",
    "🧑‍🚀" * 50,
    "\u202eright to left",
    "   \n\t ",
    "ẍ" * 300,
    "漢字かな交じり文",
)


class Server:
    """A small embeddings endpoint on this machine; `reply` turns a request into status and body."""

    def __init__(self) -> None:
        self.double = load("encoder", "hash:16")
        self.requests: list[dict[str, Any]] = []
        self.reply: Reply = self.embeddings
        handler = type("Handler", (_Handler,), {"server_of_test": self})
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.url = f"http://127.0.0.1:{self._http.server_port}/v1"
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()

    def embeddings(self, request: dict[str, Any]) -> tuple[int, object]:
        """The vectors of the double, twice too long and in reverse order, as the protocol allows."""
        rows = self.double.encode(request["input"]) * 2
        items = [{"object": "embedding", "index": i, "embedding": row.tolist()} for i, row in enumerate(rows)]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        return 200, {"object": "list", "model": request["model"], "data": items[::-1], "usage": usage}

    def close(self) -> None:
        """Stops the server."""
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()


class _Handler(BaseHTTPRequestHandler):
    server_of_test: Server

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server_of_test.requests.append(request | {"key": self.headers["Authorization"]})
        status, body = self.server_of_test.reply(request)
        content = (body if isinstance(body, str) else json.dumps(body)).encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/html" if isinstance(body, str) else "application/json")
        self.send_header("Content-Length", str(len(content)))
        with suppress(ConnectionError):  # who stopped waiting has hung up
            self.end_headers()
            self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing."""


@pytest.fixture
def server(loopback: None) -> Iterator[Server]:
    """A running endpoint."""
    running = Server()
    yield running
    running.close()


@pytest.fixture
def remote(server: Server) -> Iterator[Encoder]:
    """An encoder that asks the running endpoint."""
    encoder = load("encoder", "openai:tiny", base_url=server.url, api_key="sk-secret", max_retries=0, batch_size=3)
    yield encoder
    encoder.close()


@pytest.fixture(scope="module")
def builtin() -> Iterator[Encoder]:
    """The encoder in the wheel, loaded once."""
    encoder = load("encoder", "builtin", threads=2)
    yield encoder
    encoder.close()


@pytest.fixture(params=["builtin", "hash", "remote", "cached"])
def encoder(request: pytest.FixtureRequest) -> Encoder:
    """Each implementation in turn; a new one adds a line."""
    if request.param in ("builtin", "remote"):
        found: Encoder = request.getfixturevalue(request.param)
        return found
    double: Encoder = load("encoder", "hash")
    return CachedEncoder(double, capacity=3) if request.param == "cached" else double


def cosine(encoder: Encoder, first: str, second: str) -> float:
    """How near two texts are."""
    rows = encoder.encode([first, second])
    return float(rows[0] @ rows[1])


class TestContract:
    """What holds for every encoder."""

    def test_gives_one_unit_float32_row_per_text(self, encoder: Encoder) -> None:
        """Rows have length one, the announced size, and the type that the store expects."""
        rows = encoder.encode(TEXTS)
        assert rows.shape == (len(TEXTS), encoder.dims)
        assert rows.dtype == np.float32
        np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-5)

    def test_a_text_has_one_vector_in_any_company(self, encoder: Encoder) -> None:
        """Alone, among others, in another order and twice: bit for bit the same."""
        rows = encoder.encode(TEXTS)
        order = random.Random(3).sample(range(len(TEXTS)), len(TEXTS))
        np.testing.assert_array_equal(encoder.encode([TEXTS[i] for i in order]), rows[order])
        np.testing.assert_array_equal(np.concatenate([encoder.encode([text]) for text in TEXTS]), rows)
        np.testing.assert_array_equal(encoder.encode(TEXTS * 3), np.concatenate([rows] * 3))

    def test_no_texts_give_no_rows(self, encoder: Encoder) -> None:
        """The empty list keeps the second dimension."""
        assert encoder.encode([]).shape == (0, encoder.dims)

    @pytest.mark.parametrize("text", ["", *JUNK], ids=ascii)
    def test_any_string_has_a_finite_vector(self, encoder: Encoder, text: str) -> None:
        """Emptiness, control characters, lone surrogates and rare scripts do not stop it."""
        row = encoder.encode([text])[0]
        assert np.isfinite(row).all()
        assert np.linalg.norm(row) == pytest.approx(1.0, abs=1e-5)

    def test_a_text_of_a_megabyte_is_cut(self, encoder: Encoder) -> None:
        """What stands behind the cut does not change the vector."""
        start = "The meeting is on Tuesday. " * 400
        long = start + "noise " * 170_000
        np.testing.assert_array_equal(encoder.encode([long]), encoder.encode([start]))

    def test_the_name_tells_the_model(self, encoder: Encoder) -> None:
        """Scheme and model, as stored beside vectors."""
        assert encoder.name in ("builtin:minilm-l6-int8", "hash:64", "openai:tiny")

    def test_threads_may_share_it(self, encoder: Encoder) -> None:
        """Calls from several threads give what one thread gives."""
        expected = encoder.encode(TEXTS)
        found: list[np.ndarray[Any, Any]] = []
        threads = [threading.Thread(target=lambda: found.append(encoder.encode(TEXTS))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(found) == len(threads)
        for rows in found:
            np.testing.assert_array_equal(rows, expected)


@pytest.mark.parametrize("name", ["builtin", "hash", "openai:m", "hf:m"])
def test_a_closed_encoder_says_so(name: str) -> None:
    """After `close()`, which may be called twice, `encode` raises our error."""
    options = {"base_url": "http://127.0.0.1:9/v1"} if name.startswith("openai") else {}
    encoder = load("encoder", name, **options)
    encoder.close()
    encoder.close()
    with pytest.raises(ClosedError):
        encoder.encode(["text"])


class TestBuiltin:
    """The encoder in the wheel."""

    @pytest.mark.parametrize(
        ("query", "near", "far"),
        [
            ("Where does she live?", "Her home is in Lisbon.", "The soup was too salty."),
            ("I am a physician.", "I work as a doctor.", "I work as a baker."),
            ("We bought a puppy.", "We got a young dog.", "We sold the car."),
            ("He is ill today.", "He feels sick today.", "He plays chess today."),
        ],
        ids=["home", "doctor", "puppy", "ill"],
    )
    def test_near_in_meaning_is_near_in_space(self, builtin: Encoder, query: str, near: str, far: str) -> None:
        """Texts that mean the same without sharing words come before texts that do not."""
        assert cosine(builtin, query, near) > cosine(builtin, query, far)

    def test_threads_do_not_change_vectors(self, builtin: Encoder) -> None:
        """One thread and two give the same bits."""
        alone = load("encoder", "builtin", threads=1)
        np.testing.assert_array_equal(alone.encode(TEXTS), builtin.encode(TEXTS))
        alone.close()

    def test_the_card_agrees_with_the_model(self) -> None:
        """`model.json` holds the checksum of the file that ships, and its size."""
        folder = files("doxa.backends.encoder") / "minilm-l6-int8"
        card = json.loads((folder / "model.json").read_text(encoding="utf-8"))
        model = (folder / "model.onnx").read_bytes()
        assert card["sha256"] == hashlib.sha256(model).hexdigest()
        assert card["dims"] == 384
        assert len(model) <= 25_000_000

    def test_the_tokenizer_cuts_at_the_length_on_the_card(self) -> None:
        """Longer texts are cut at `max_tokens`, shorter ones are not padded."""
        tokenizers = pytest.importorskip("tokenizers")
        folder = Path(str(files("doxa.backends.encoder"))) / "minilm-l6-int8"
        tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
        card = json.loads((folder / "model.json").read_text(encoding="utf-8"))
        assert len(tokenizer.encode("word " * 1_000).ids) == card["max_tokens"]
        assert len(tokenizer.encode("word").ids) == 3


class TestTokenVectors:
    """The tokens of a text, one vector each, from the built-in encoder."""

    def test_a_word_piece_has_one_unit_row(self, builtin: TokenEncoder) -> None:
        """As many rows as the tokenizer makes pieces, without the two that frame a text."""
        tokenizer = pytest.importorskip("tokenizers").Tokenizer.from_file(
            str(Path(str(files("doxa.backends.encoder"))) / "minilm-l6-int8" / "tokenizer.json")
        )
        texts = [*TEXTS, *JUNK, "word " * 1_000]
        rows = builtin.token_vectors(texts)
        pieces = [len(tokenizer.encode(text.encode("utf-8", "replace").decode())) - 2 for text in texts]
        assert [len(row) for row in rows] == pieces
        for row in rows:
            assert row.shape[1:] == (builtin.dims,) and row.dtype == np.float32
            np.testing.assert_allclose(np.linalg.norm(row, axis=1), 1.0, atol=1e-5)

    def test_an_empty_text_has_no_tokens(self, builtin: TokenEncoder) -> None:
        """Nothing but the frame, which is left out; no text at all gives an empty list."""
        assert [row.shape for row in builtin.token_vectors(["", "  \n"])] == [(0, builtin.dims)] * 2
        assert builtin.token_vectors([]) == []

    def test_their_mean_points_where_the_vector_of_the_text_does(self, builtin: TokenEncoder) -> None:
        """Sentences: cosine above 0.97 (the frame is in the pool of `encode`), and nearer to their own than others."""
        sentences = [text for text in TEXTS if len(text.split()) > 2]
        means = np.stack([row.mean(axis=0) for row in builtin.token_vectors(sentences)])
        cosines = (means / np.linalg.norm(means, axis=1, keepdims=True)) @ builtin.encode(sentences).T
        assert np.diag(cosines).min() > 0.97
        assert (cosines.argmax(axis=1) == np.arange(len(sentences))).all()

    def test_a_token_depends_on_its_context(self, builtin: TokenEncoder) -> None:
        """The same word has another vector in another sentence, nearer to that of a sentence about the same thing."""
        river, water, money = builtin.token_vectors(
            ["We sat on the bank of the river.", "They swam to the bank of the lake.", "He went to the bank to pay in."]
        )
        assert river[4] @ water[4] > river[4] @ money[4]

    def test_a_text_has_the_same_tokens_in_any_company(self, builtin: TokenEncoder) -> None:
        """Alone, among others and in another encoder: bit for bit the same."""
        together = builtin.token_vectors(TEXTS)
        other = load("encoder", "builtin", threads=1)
        for text, row in zip(TEXTS, together, strict=True):
            np.testing.assert_array_equal(other.token_vectors([text])[0], row)
        other.close()

    def test_the_vector_of_a_text_does_not_change(self, builtin: TokenEncoder) -> None:
        """Tokens come from a second session: `encode` gives the same bits before and after."""
        fresh = load("encoder", "builtin", threads=1)
        before = fresh.encode(TEXTS)
        fresh.token_vectors(TEXTS)
        np.testing.assert_array_equal(fresh.encode(TEXTS), before)
        fresh.close()
        with pytest.raises(ClosedError):
            fresh.token_vectors(TEXTS)


class TestCached:
    """The wrapper that remembers vectors."""

    class Counting:
        """A double that writes down what it was asked."""

        name = "counting"
        dims = 64

        def __init__(self) -> None:
            self.asked: list[str] = []
            self._inner: Encoder = load("encoder", "hash")

        def encode(self, texts: Sequence[str]) -> np.ndarray[Any, np.dtype[np.float32]]:
            """Notes the texts and encodes them."""
            self.asked += texts
            return self._inner.encode(texts)

        def close(self) -> None:
            """Closes the double."""
            self._inner.close()

    def test_a_text_reaches_the_model_once(self) -> None:
        """Repeats, in one call or later, come from the cache."""
        inner = self.Counting()
        cached = CachedEncoder(inner)
        cached.encode(["a", "b", "a"])
        cached.encode(["b", "a"])
        assert inner.asked == ["a", "b"]

    def test_the_longest_unused_text_is_forgotten_first(self) -> None:
        """At capacity two, a third text pushes out the one not used since."""
        inner = self.Counting()
        cached = CachedEncoder(inner, capacity=2)
        for text in ("a", "b", "a", "c", "a", "b"):
            cached.encode([text])
        assert inner.asked == ["a", "b", "c", "b"]

    def test_a_caller_cannot_change_what_is_kept(self) -> None:
        """Rows are handed out as copies."""
        cached = CachedEncoder(load("encoder", "hash"))
        first = cached.encode(["a"])
        kept = first.copy()
        first[:] = 0
        np.testing.assert_array_equal(cached.encode(["a"]), kept)


class TestOpenAI:
    """The encoder behind an HTTP endpoint."""

    def test_sends_batches_with_model_and_key(self, server: Server, remote: Encoder) -> None:
        """Five texts at three per request are two requests, in order, without base64."""
        remote.encode(TEXTS)
        assert [len(request["input"]) for request in server.requests] == [3, 2]
        assert {request["model"] for request in server.requests} == {"tiny"}
        assert {request["key"] for request in server.requests} == {"Bearer sk-secret"}
        assert {request["encoding_format"] for request in server.requests} == {"float"}

    def test_asks_for_dims_when_given(self, server: Server) -> None:
        """`dims` goes out as `dimensions`, and a reply of that length is taken."""
        encoder = load("encoder", "openai:tiny", base_url=server.url, dims=16)
        assert encoder.encode(["a"]).shape == (1, 16)
        assert server.requests[0]["dimensions"] == 16
        encoder.close()

    @pytest.mark.parametrize(
        ("status", "error"),
        [
            (400, BackendReplyError),
            (401, BackendUnavailableError),
            (404, BackendUnavailableError),
            (429, BackendUnavailableError),
            (500, BackendUnavailableError),
        ],
    )
    def test_a_refusal_becomes_our_error(
        self, server: Server, remote: Encoder, status: int, error: type[BackendError]
    ) -> None:
        """The status decides the error; the key that a server repeats is not shown."""
        server.reply = lambda request: (status, {"error": {"message": "no, sk-secret"}})
        with pytest.raises(error) as caught:
            remote.encode(["a"])
        assert "sk-secret" not in str(caught.value)
        assert "no, ****" in str(caught.value)

    @pytest.mark.parametrize(
        "body",
        [
            "<html>hello</html>",
            {"data": []},
            {"data": "vectors"},
            {"data": [{"index": 0, "embedding": []}]},
            {"data": [{"index": 0, "embedding": [0.0, 0.0]}]},
            {"data": [{"index": 0, "embedding": ["x", "y"]}]},
            {"data": [{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": [1.0]}]},
        ],
        ids=["page", "empty", "text", "no-numbers", "zero", "words", "too-many"],
    )
    def test_an_unusable_answer_becomes_our_error(self, server: Server, remote: Encoder, body: object) -> None:
        """Whatever a server answers, the error is ours."""
        server.reply = lambda request: (200, body)
        with pytest.raises(BackendReplyError):
            remote.encode(["a"])

    def test_a_server_error_is_tried_again(self, server: Server) -> None:
        """`max_retries` further attempts are made before giving up."""
        answers = iter([(500, {"error": {"message": "busy"}})])
        server.reply = lambda request: next(answers, None) or server.embeddings(request)
        encoder = load("encoder", "openai:tiny", base_url=server.url, max_retries=1)
        assert encoder.encode(["a"]).shape == (1, 16)
        assert len(server.requests) == 2
        encoder.close()

    def test_a_late_answer_becomes_our_error(self, server: Server) -> None:
        """An attempt ends after `timeout_s`."""
        late = threading.Event()
        server.reply = lambda request: (200 if late.wait(5) else 504, {})
        encoder = load("encoder", "openai:tiny", base_url=server.url, timeout_s=0.2, max_retries=0)
        with pytest.raises(BackendUnavailableError, match="timeout_s"):
            encoder.encode(["a"])
        late.set()
        encoder.close()

    def test_nobody_there_becomes_our_error(self) -> None:
        """A refused connection is a backend that is not available."""
        encoder = load("encoder", "openai:tiny", base_url="http://127.0.0.1:9/v1", max_retries=0)
        with pytest.raises(BackendUnavailableError):
            encoder.encode(["a"])
        encoder.close()


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BERT of one tiny layer with a mean pooling, saved as a sentence-transformers model."""
    for package in ("sentence_transformers", "torch"):
        if find_spec(package) is None:
            pytest.skip(f"{package} is not installed (extra `hf`)")
    from sentence_transformers import SentenceTransformer, models
    from transformers import BertConfig, BertModel, BertTokenizerFast

    folder = tmp_path_factory.mktemp("checkpoint")
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"abcdefghijklmnopqrstuvwxyz"]
    (folder / "vocab.txt").write_text("\n".join(words + [f"##{word}" for word in words[5:]]))
    sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    BertModel(BertConfig(vocab_size=60, max_position_embeddings=64, **sizes)).save_pretrained(folder / "bert")
    BertTokenizerFast(vocab=str(folder / "vocab.txt"), model_max_length=64).save_pretrained(folder / "bert")
    words_model = models.Transformer(str(folder / "bert"), max_seq_length=32)
    SentenceTransformer(modules=[words_model, models.Pooling(8)], device="cpu").save(str(folder / "model"))
    return folder / "model"


@pytest.mark.filterwarnings("ignore")  # of the libraries, about each other
class TestHuggingFace:
    """The loader of sentence-transformers models."""

    def test_loads_a_checkpoint(self, checkpoint: Path) -> None:
        """A folder gives unit rows of its own size, the same in any company."""
        encoder = load("encoder", f"hf:{checkpoint}", local_files_only=True)
        rows = encoder.encode([*TEXTS, *JUNK])
        assert rows.shape == (len(TEXTS) + len(JUNK), 8)
        assert rows.dtype == np.float32
        np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-5)
        np.testing.assert_array_equal(encoder.encode([TEXTS[1]])[0], rows[1])
        assert encoder.encode([]).shape == (0, 8)
        encoder.close()

    def test_a_model_that_is_not_there_becomes_our_error(self, checkpoint: Path) -> None:
        """A folder without a model is a backend error with the next step."""
        with pytest.raises(BackendError, match="cannot be"):
            load("encoder", f"hf:{checkpoint.parent / 'absent'}", local_files_only=True).encode(["a"])

    @pytest.mark.skipif(find_spec("sentence_transformers") is not None, reason="the extra `hf` is installed")
    def test_a_missing_package_names_the_extra(self) -> None:
        """Without the package, the error holds the command that installs it."""
        with pytest.raises(MissingDependencyError, match=r'pip install "sentence-transformers'):
            load("encoder", "hf:any").encode(["a"])
