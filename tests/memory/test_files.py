"""Files of learned arrays are whole, or it is said that they are not."""

import numpy as np
import pytest

from doxa.core.errors import FormatError, NotFoundError
from doxa.memory import load_arrays, save_arrays

ARRAYS = {"format": np.array("x/1"), "weights": np.arange(8, dtype=np.float32), "names": np.array(["a", "b"])}


def load(path):
    return load_arrays(path, format="x/1", what="weights", missing="none", again="again")


def test_arrays_come_back_as_they_were(tmp_path):
    save_arrays(ARRAYS, tmp_path / "a.npz")
    assert load(tmp_path / "a.npz")["weights"].tolist() == ARRAYS["weights"].tolist()
    with pytest.raises(NotFoundError, match="none"):
        load(tmp_path / "b.npz")


def test_any_byte_that_is_another_is_found_or_harmless(tmp_path):
    """zlib, the zip and the header of an array each have errors of their own; none of them comes out."""
    path = tmp_path / "a.npz"
    save_arrays(ARRAYS, path)
    whole, found = path.read_bytes(), 0
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        try:
            assert load(path)["weights"].tolist() == ARRAYS["weights"].tolist()
        except FormatError:
            found += 1
    assert found > len(whole) / 3
