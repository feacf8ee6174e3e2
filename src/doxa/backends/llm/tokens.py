"""How many tokens a conversation is, estimated without the model's own tokenizer."""

from collections.abc import Sequence

from doxa.backends.llm.model import Message
from doxa.core.tokens import estimate_tokens

__all__ = ["estimate_prompt_tokens", "estimate_tokens"]

# Chat templates wrap each message in a role and separators of about this many tokens.
_TOKENS_PER_MESSAGE = 4


def estimate_prompt_tokens(messages: Sequence[Message]) -> int:
    """About how many tokens a conversation is, with the chat template around each message."""
    return sum(estimate_tokens(message.content) + _TOKENS_PER_MESSAGE for message in messages)
