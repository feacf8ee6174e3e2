"""The vectors of single tokens, from a model whose file gives only their mean.

The file that ships has one output, the pooled vector. A second one is declared when the model is opened, not on disk:
in protobuf's wire format, bytes appended to a message are merged into it, and a repeated field grows by theirs.
So a `ModelProto` that holds nothing but a graph with one more output is all that has to follow the file.

Source: Protocol Buffers, Encoding ("Last One Wins", concatenated messages merge); field numbers: onnx.proto, IR 8.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from doxa.backends.encoder.rows import clean
from doxa.backends.onnx import model_input, open_session, open_tokenizer

__all__ = ["open_token_model"]

LAST_HIDDEN_STATE: Final = "/model/encoder/layer.5/output/LayerNorm/LayerNormalization_output_0"
"""The tensor that the model pools, `(1, n, dims)`: the output of its last layer."""

MODEL_GRAPH: Final = 7  # ModelProto.graph
GRAPH_OUTPUT: Final = 12  # GraphProto.output
VALUE_NAME: Final = 1  # ValueInfoProto.name; type and shape are inferred

Vector = NDArray[np.float32]


def open_token_model(folder: Path, max_chars: int) -> Callable[[str], Vector]:
    """Gives back the function from a text to the unit vectors of its tokens, `(n, dims) float32`.

    Args:
        folder: Of `model.onnx` and `tokenizer.json`.
        max_chars: How much of a text is read.

    Raises:
        MissingDependencyError: ONNX Runtime or the tokenizer's library is not installed.
        BackendError: The files are not there, or the model has no such tensor; on a call, the model failed.
    """
    session = open_session(folder / "model.onnx", "encoder", patch=output_patch(LAST_HIDDEN_STATE))
    tokenizer = open_tokenizer(folder / "tokenizer.json", "encoder")

    def run(text: str) -> Vector:
        tokens = tokenizer.encode(clean(text, max_chars))
        about = f"a text of {len(text)} characters"
        hidden: Vector = session.run([LAST_HIDDEN_STATE], model_input(tokens), about=about)[0][0]
        own = hidden[np.array(tokens.special_tokens_mask) == 0]
        unit: Vector = own / np.linalg.norm(own, axis=1, keepdims=True)
        return unit

    return run


def output_patch(name: str) -> bytes:
    """Gives back the bytes that, behind an ONNX model, declare a tensor of its graph as one more output."""
    return _field(MODEL_GRAPH, _field(GRAPH_OUTPUT, _field(VALUE_NAME, name.encode())))


def _field(number: int, content: bytes) -> bytes:
    """Return a length-delimited field of the wire format: its key, the length as a varint, the content."""
    length, size = bytearray(), len(content)
    while size > 0x7F:
        length.append(size & 0x7F | 0x80)
        size >>= 7
    return bytes([number << 3 | 2, *length, size]) + content
