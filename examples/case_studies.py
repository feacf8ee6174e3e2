"""Three dialogues that language models lose the thread of, answered by memory alone: no network, no language model.

    python examples/case_studies.py [sit-ups | rooms | risks]

After the case studies of D-SMART (appendix D), in words of our own. Each shows what was said, the answer with its
working, the turns that it rests on, and what checking it against the memory found.
"""

import sys

from doxa import Config, Doxa

SIT_UPS = (
    "Our PE class is being tested on sit-ups and the standard is 28. Whoever exceeds the standard gets a "
    "positive number, whoever falls short gets a negative one. The list for the 10 girls reads -2, +5, -1, 0, +1, +3, "
    "0, +8, +1, +6. "
    "How many sit-ups did each girl actually do?",
    "How many girls met or exceeded the standard, and what percentage of the girls is that?",
    "Which are the most and the least sit-ups that a girl did?",
)
ROOMS = (
    "If Room 1 is occupied, then Room 2 is not. If Room 2 is occupied, then Room 1 is not. I looked into Room 1 and it "
    "was occupied. What can you conclude about Room 2?",
    "There is a Room 3 as well. Room 3 is occupied only if Room 2 is not. Is Room 3 occupied?",
    "Suppose there is a rule that not all rooms can be occupied. Does this change your conclusion?",
)
RISKS = (
    "Artificial intelligence threatens jobs. Artificial intelligence inherits the bias of its data. "
    "Artificial intelligence invades privacy."
)
LATER = ("Artificial intelligence invades privacy.", "Artificial intelligence does not threaten jobs.")
"""What the assistant might say in a later turn: the first agrees with what it said, the second does not."""


def answer(turns: tuple[str, ...]) -> list[str]:
    """Return the values that a dialogue is answered with, and print how they came about."""
    values: list[str] = []
    with Doxa.open(":memory:", config=Config()) as doxa:
        dialogue = doxa.dialogue(user="ana")
        for text in turns:
            reply = dialogue.respond(text)
            dialogue.flush()
            print(f"{dialogue.speaker}: {text}\n  -> {reply.text}")
            print(f"     rests on {', '.join(citation.turn_id for citation in reply.citations) or 'nothing'}")
            print(f"     checked: {reply.verdict.label}")
            values.append(reply.value or "")
    return values


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


CASES = {"sit-ups": lambda: answer(SIT_UPS), "rooms": lambda: answer(ROOMS), "risks": check}

if __name__ == "__main__":
    for name in sys.argv[1:] or CASES:
        print(f"== {name}")
        CASES[name]()
