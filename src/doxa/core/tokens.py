"""How many tokens a text is, estimated without a model's own tokenizer."""

import re

__all__ = ["estimate_tokens"]

# Subword vocabularies average about four UTF-8 bytes a token on prose, in most scripts.
_BYTES_PER_TOKEN = 4
_PIECE = re.compile(r"\w+|[^\w\s]")


def estimate_tokens(text: str) -> int:
    """About how many tokens a text is: the larger of bytes / 4 and its words and marks.

    Meant for budgets, so it leans high: bytes bound long words and scripts without spaces, pieces
    bound lists, code and short words. Deterministic; 0 for an empty text.

    Cost: O(n).
    """
    size = len(text.encode("utf-8", "replace"))
    return max(-(-size // _BYTES_PER_TOKEN), sum(1 for _ in _PIECE.finditer(text)))
