"""How many tokens a text is, estimated without the model's own tokenizer."""

import re
from collections.abc import Sequence

from doxa.backends.llm import Message

__all__ = ["estimate_prompt_tokens", "estimate_tokens"]

# Subword vocabularies average about four UTF-8 bytes a token on prose, in most scripts.
_BYTES_PER_TOKEN = 4
# Chat templates wrap each message in a role and separators of about this many tokens.
_TOKENS_PER_MESSAGE = 4
_PIECE = re.compile(r"\w+|[^\w\s]")


def estimate_tokens(text: str) -> int:
    """About how many tokens a text is: the larger of bytes / 4 and its words and marks.

    Meant for budgets, so it leans high: bytes bound long words and scripts without spaces, pieces
    bound lists, code and short words. Deterministic; 0 for an empty text.

    Cost: O(n).
    """
    size = len(text.encode("utf-8", "replace"))
    return max(-(-size // _BYTES_PER_TOKEN), sum(1 for _ in _PIECE.finditer(text)))


def estimate_prompt_tokens(messages: Sequence[Message]) -> int:
    """About how many tokens a conversation is, with the chat template around each message."""
    return sum(estimate_tokens(message.content) + _TOKENS_PER_MESSAGE for message in messages)
