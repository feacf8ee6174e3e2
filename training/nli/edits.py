"""Labelled pairs from sentences that people wrote: the sentence in the other person, or with one thing changed.

The sentences are profiles and turns of Synthetic-Persona-Chat and turns of users in LongMemEval. "I have two dogs"
gives "You have two dogs" (entailment), "You have five dogs", "You do not have two dogs" (contradiction), and a sentence
of somebody else's profile without shared words (neutral). A value that is not the only one (what is liked, where
somebody has been) is never swapped.

    python training/nli/edits.py --work WORK --count 15000
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
import re
from collections.abc import Iterator
from pathlib import Path

from worlds import LEADS, VALUES, WORDS

E, N, C = 0, 1, 2
PERSON = [
    ("i am", "you are"),
    ("i'm", "you're"),
    ("i was", "you were"),
    ("i've", "you've"),
    ("i'll", "you'll"),
    ("i'd", "you'd"),
    ("am i", "are you"),
    ("myself", "yourself"),
    ("mine", "yours"),
    ("my", "your"),
    ("me", "you"),
    ("i", "you"),
]
SWITCH = re.compile(r"\b(" + "|".join(re.escape(one) for one, _ in PERSON) + r")\b", re.IGNORECASE)
AUX = re.compile(r"\b(am|are|is|was|were|can|could|will|would|should|have been|has been)\b(?! not|n't)", re.IGNORECASE)
VERBS = "|".join(
    "like love have live work play own enjoy eat drink want need go hate know speak drive teach run read write study "
    "collect watch wear prefer make sing volunteer listen travel believe".split()
)
SIMPLE = re.compile(rf"\b(I|you|we|they) (?:really |also |just |still |always |usually )?({VERBS})\b", re.IGNORECASE)
OPPOSITES = [
    ("love", "hate"),
    ("like", "dislike"),
    ("enjoy", "can't stand"),
    ("always", "never"),
    ("older", "younger"),
    ("married", "single"),
    ("big", "small"),
    ("before", "after"),
    ("more", "less"),
    ("morning", "evening"),
    ("best", "worst"),
    ("easy", "difficult"),
    ("cheap", "expensive"),
    ("happy", "unhappy"),
    ("young", "old"),
    ("tall", "short"),
    ("rich", "poor"),
    ("vegan", "meat eater"),
    ("summer", "winter"),
    ("brother", "sister"),
    ("mother", "father"),
    ("wife", "husband"),
    ("daughter", "son"),
    ("mom", "dad"),
    ("boy", "girl"),
    ("dog", "cat"),
    ("dogs", "cats"),
    ("first", "last"),
    ("early", "late"),
    ("healthy", "sick"),
    ("hot", "cold"),
    ("indoors", "outdoors"),
    ("left", "right"),
    ("near", "far from"),
    ("bought", "sold"),
    ("started", "finished"),
    ("won", "lost"),
]
OPPOSITE = {one: other for pair in OPPOSITES for one, other in (pair, pair[::-1]) if " " not in one}
KIN = {
    "brother",
    "sister",
    "mother",
    "father",
    "wife",
    "husband",
    "daughter",
    "son",
    "mom",
    "dad",
    "dog",
    "cat",
    "dogs",
    "cats",
}
ONLY = ("day", "month", "colour", "season")
LISTS = {value.lower(): kind for kind in ONLY for value in VALUES[kind] if value not in ("May", "orange")}
MANY = re.compile(
    r"\b(like|love|enjoy|favou?rite|been to|visit\w*|speak|play\w*|hate|eat|read|watch\w*|all|any|every)\b",
    re.IGNORECASE,
)
NUMBER = re.compile(
    r"\b(\d[\d,]*|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b(?!st|nd|rd|th)", re.IGNORECASE
)


def main() -> None:
    """Write the pairs."""
    parser = argparse.ArgumentParser(description="Edit sentences of open dialogues.")
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("DOXA_DATA", "../shared/data")))
    parser.add_argument("--count", type=int, default=15_000)
    parser.add_argument("--seed", type=int, default=13)
    args = parser.parse_args()
    profiles, turns = read(args.data)
    chooser = random.Random(args.seed)
    rows = list(dict.fromkeys(pairs(profiles, turns, chooser)))
    chooser.shuffle(rows)
    kept = balanced(rows, args.count)
    for name, part in (("edits.held", kept[:1_000]), ("edits", kept[1_000:])):
        lines = [
            json.dumps({"premise": one, "hypothesis": other, "allowed": [label], "source": "edits"}, ensure_ascii=False)
            for one, other, label in part
        ]
        (args.work / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
        print(
            f"{name}: {len(part)} of {len(rows)}, by label {[sum(row[2] == one for row in part) for one in (E, N, C)]}"
        )


def balanced(rows: list[tuple[str, str, int]], count: int) -> list[tuple[str, str, int]]:
    """At most a third of the count of each label, in the order given."""
    left = dict.fromkeys((E, N, C), count // 3)
    kept = []
    for row in rows:
        if left[row[2]] > 0:
            left[row[2]] -= 1
            kept.append(row)
    return kept


def pairs(profiles: list[list[str]], turns: list[str], chooser: random.Random) -> Iterator[tuple[str, str, int]]:
    """All pairs that some edit gives."""
    lines = [line for profile in profiles for line in profile]
    for profile in profiles:
        for line in profile:
            premise = among(line, profile, chooser)
            yield from edited(line, premise, chooser)
            other = chooser.choice(lines)
            if not content(other) & content(" ".join(profile)):
                yield premise, reply(other, chooser), N
    for turn in turns:
        yield from edited(turn, turn, chooser)


def edited(line: str, premise: str, chooser: random.Random) -> Iterator[tuple[str, str, int]]:
    """One sentence: kept, with another value, denied, turned into its opposite."""
    yield premise, reply(line, chooser), E
    changed = [
        found
        for found in (number(line, chooser), listed(line, chooser), opposite(line, chooser), denied(line))
        if found
    ]
    for text in chooser.sample(changed, min(2, len(changed))):
        yield premise, reply(text, chooser), C


def number(line: str, chooser: random.Random) -> str | None:
    """Another number in its place."""
    found = NUMBER.search(line)
    if found is None:
        return None
    said = found[1]
    if said.lower() in WORDS:
        new = chooser.choice([word for word in WORDS[2:] if word != said.lower()])
    else:
        value = int(said.replace(",", "") or 0)
        new = str(
            chooser.choice(
                [one for one in (value + 1, value + 2, value + 5, value * 2, max(2, value - 3)) if one != value]
            )
        )
    return line[: found.start()] + new + line[found.end() :]


def listed(line: str, chooser: random.Random) -> str | None:
    """Another day, month, season or colour in its place, where there is only one."""
    if MANY.search(line):
        return None
    for found in re.finditer(r"[A-Za-z]+", line):
        kind = LISTS.get(found[0].lower())
        if kind and (kind in ("colour", "season") or found[0][0].isupper()):
            new = chooser.choice([value for value in VALUES[kind] if value.lower() != found[0].lower()])
            return line[: found.start()] + new + line[found.end() :]
    return None


def opposite(line: str, chooser: random.Random) -> str | None:
    """An opposite in its place; relatives and animals only in the subject's own, single one."""
    places = [found for found in re.finditer(r"[a-z]+", line) if found[0] in OPPOSITE]
    if not places:
        return None
    found = chooser.choice(places)
    if found[0] in KIN and not re.search(rf"\bmy (only )?{found[0]}\b.* (is|are|was|named|called)\b", line):
        return None
    return line[: found.start()] + OPPOSITE[found[0]] + line[found.end() :]


def denied(line: str) -> str | None:
    """The sentence with "not"; None where it has one, or is a question."""
    if re.search(r"\b(not|never|no|nobody|nothing|none)\b|n't|\?", line, re.IGNORECASE):
        return None
    found = AUX.search(line)
    simple = SIMPLE.search(line)
    if simple and (found is None or simple.start() < found.start()):
        return f"{line[: simple.start(2)]}do not {line[simple.start(2) :]}"
    if found is None or re.search(r",|\b(and|but|because|so)\b", line[: found.start()]):
        return None
    return f"{line[: found.end()]} not{line[found.end() :]}" if "been" not in found[1] else None


def among(line: str, profile: list[str], chooser: random.Random) -> str:
    """The sentence alone, or with others of the same profile."""
    if chooser.random() < 0.4:
        return line
    rest = [one for one in profile if one != line]
    chosen = [*chooser.sample(rest, min(len(rest), chooser.randint(1, 3))), line]
    chooser.shuffle(chosen)
    return " ".join(chosen)


def reply(line: str, chooser: random.Random) -> str:
    """The sentence as the other side says it (three of four times), now and then with a lead."""
    text = switched(line) if chooser.random() < 0.75 else line
    if chooser.random() < 0.1:
        text = f"{chooser.choice(LEADS)} {text if text.startswith('I') else text[:1].lower() + text[1:]}"
    return text


def switched(line: str) -> str:
    """First person as second person."""
    text = SWITCH.sub(lambda found: dict(PERSON)[found[1].lower()], line)
    return text[:1].upper() + text[1:]


def content(line: str) -> set[str]:
    """The longer words, without their endings."""
    return {word.lower()[:5] for word in re.findall(r"[A-Za-z]{4,}", line)} - {
        "have",
        "like",
        "love",
        "with",
        "that",
        "from",
        "favor",
    }


def read(data: Path) -> tuple[list[list[str]], list[str]]:
    """Profiles, and statements in the first person out of the turns of users."""
    profiles, turns = [], []
    for name in ("test", "valid"):
        path = data / "open" / "synthetic_persona_chat" / f"Synthetic-Persona-Chat_{name}.csv"
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                for side in ("user 1 personas", "user 2 personas"):
                    lines = [line.strip() for line in row[side].splitlines() if line.strip()]
                    profiles.append([line if line[-1] in ".!?" else f"{line}." for line in lines])
                for line in row["Best Generated Conversation"].splitlines():
                    turns += statements(line.partition(": ")[2])
    evidence = data / "open" / "longmemeval" / "longmemeval_evidence_turns_500.json"
    for text in re.findall(r'"(?:content|text)": "((?:[^"\\]|\\.)*)"', evidence.read_text(encoding="utf-8")):
        turns += statements(text.replace('\\"', '"').replace("\\n", " "))
    return profiles, list(dict.fromkeys(turns))


def statements(text: str) -> list[str]:
    """Sentences of 4 to 28 words in the first person that ask nothing."""
    found = re.split(r"(?<=[.!?])\s+", text.strip())
    return [
        one
        for one in found
        if 4 <= len(one.split()) <= 28 and re.search(r"\b(I|my)\b", one) and not re.search(r"[?\[]|\byou", one)
    ]


if __name__ == "__main__":
    main()
