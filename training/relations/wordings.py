"""Encode the wordings of the ontology once, so that nobody has to wait for it: `src/doxa/understand/wordings.npz`.

    python training/relations/wordings.py

To be run when the phrases of `ontology.ttl` or the built-in encoder change; a test says when. Takes seconds.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from doxa.backends import load
from doxa.logic import builtin_ontology
from doxa.understand.relations import wordings

TARGET = Path(__file__).parents[2] / "src" / "doxa" / "understand" / "wordings.npz"


def main() -> None:
    """Write the file; half precision moves a cosine by less than 0.001."""
    encoder, texts = load("encoder", "builtin"), wordings(builtin_ontology())
    vectors = encoder.encode(texts).astype(np.float16)
    np.savez(TARGET, encoder=np.array(encoder.name), texts=np.array(texts), vectors=vectors)
    print(f"{TARGET}: {len(texts)} wordings, {TARGET.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
