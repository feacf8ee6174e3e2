"""A dialogue that language models lose the thread of, checked by memory alone: no network, no language model.

    python examples/case_study.py

After a case study of D-SMART (appendix D), in words of our own: what the assistant says later, held against what it
said first.
"""

from doxa import Config, Doxa

RISKS = (
    "Artificial intelligence threatens jobs. Artificial intelligence inherits the bias of its data. "
    "Artificial intelligence invades privacy."
)
LATER = ("Artificial intelligence invades privacy.", "Artificial intelligence does not threaten jobs.")
"""What the assistant might say in a later turn: the first agrees with what it said, the second does not."""


def check() -> list[str]:
    """Return the verdicts on two later wordings of what the assistant said first, and print them."""
    with Doxa.open(":memory:", config=Config()) as doxa:
        dialogue = doxa.dialogue(user="ana")
        dialogue.absorb("What are the dangers of artificial intelligence?")
        dialogue.absorb(RISKS, role="assistant")
        dialogue.flush()
        print(f"{dialogue.agent}: {RISKS}")
        verdicts = [doxa.memory(user="ana").check(text).label for text in LATER]
        for text, label in zip(LATER, verdicts, strict=True):
            print(f"  later: {text}\n     checked: {label}")
    return verdicts


if __name__ == "__main__":
    check()
