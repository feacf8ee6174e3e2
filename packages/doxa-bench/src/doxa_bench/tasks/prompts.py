"""How many tokens a prompt is, of a linear history or of a task memory.

Counted as `doxa.core.tokens.estimate_tokens` does, with the four tokens that a chat template puts around each message;
no model's own tokenizer is needed. Both kinds of prompt open with the same system message.
"""

from __future__ import annotations

from collections.abc import Iterable

from doxa.core.tokens import estimate_tokens

__all__ = ["ACKNOWLEDGED", "CONTEXT_TOKENS", "TOKENIZER", "history_tokens", "memory_tokens", "message_tokens"]

TOKENIZER = "doxa.core.tokens.estimate_tokens: max(UTF-8 bytes / 4, words and marks), and 4 a message"
PER_MESSAGE = 4
SYSTEM = "You keep the tasks of the user up to date and answer from what is current."
ACKNOWLEDGED = "Great, thank you!"
"""What the assistant says in a linear history after each turn: short, in favour of that history."""
CONTEXT_TOKENS = 400
"""The most that the subgraph of a turn may take in a prompt."""


def history_tokens(turns: Iterable[str]) -> int:
    """Return the tokens of a prompt with all turns of the user so far, each but the last with its acknowledgement."""
    messages = [SYSTEM]
    for number, turn in enumerate(turns):
        messages += [ACKNOWLEDGED, turn] if number else [turn]
    return message_tokens(messages)


def memory_tokens(context: str, turn: str) -> int:
    """Return the tokens of a prompt with the subgraph that answers a turn, and the turn."""
    return message_tokens([f"{SYSTEM}\n{context}".strip(), turn])


def message_tokens(messages: Iterable[str]) -> int:
    """Return the tokens of messages."""
    return sum(estimate_tokens(message) + PER_MESSAGE for message in messages)
