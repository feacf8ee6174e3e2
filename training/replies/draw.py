"""Dialogues with replies that are right, wrong in one place, or about something else, with exact labels.

One person says facts of `facts.txt` with values of `values.toml`, among other facts; one of them may change. The reply
says one in other words, with another value in its place, its opposite, what nobody said, what is over, or what is only
guessed or asked. What labels cannot be sure of is left out. The replies of assistants to people in LongMemEval come
in as they are (no contradiction) and with a number of the turn changed.

    python training/replies/draw.py --out cases.jsonl --count 1200 --seed 1
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from slots import CURRENCIES, SLOT, SPEC, Value, draw, other, written

E, N, C = 0, 1, 2
NOT_C, NOT_E = (0, 1), (1, 2)
NUMBER = re.compile(r"(?<![\w.,])\$?\d[\d,]*(?:\.\d+)?(?![\w])")
SOFT = dict.fromkeys(SPEC["labels"]["n"].split(), (N,)) | dict.fromkeys(SPEC["labels"]["nc"].split(), NOT_E)
VERB = re.compile(r"^you (?P<verb>[a-z]+)\b")
PLAIN = frozenset(
    "have your with that this from will would could since there they were been their some does didn haven "
    "don't didn't isn't aren't wasn't haven't doesn't every still never more than like good time".split()
)
LOOSE = frozenset("n num name day date time unit kin age".split())
"""Slots that two facts may share and be about different things."""


@dataclass(frozen=True, slots=True)
class Block:
    """One fact: its lines by their letter."""

    lines: dict[str, list[str]]
    stay: frozenset[int]

    @property
    def topic(self) -> set[str]:
        """The pools that it speaks of."""
        return {found["name"] for line in self.lines["S"] for found in SLOT.finditer(line)}

    def words(self, letters: str) -> set[str]:
        """The longer words of some of its lines."""
        lines = " ".join(line for letter in letters for line in self.lines.get(letter, []))
        return set(re.findall(r"[a-z]{4,}", SLOT.sub("", lines).lower())) - PLAIN

    def touches(self, two: Block) -> bool:
        """Tell whether one may say what the other rules out."""
        return bool(self.words("X") & two.words("SNT") or two.words("X") & self.words("SNT"))


@dataclass(slots=True)
class Said:
    """A fact with its values, and the turns that say it."""

    block: Block
    values: dict[str, Value]
    turns: list[str] = field(default_factory=list)
    known: set[str] = field(default_factory=set)
    """The slots that the turns tell."""


def read_blocks(path: Path) -> list[Block]:
    """The facts of a file, in its order."""
    blocks = []
    for part in path.read_text(encoding="utf-8").split("\n\n"):
        rows = [row for row in part.splitlines() if row and not row.startswith("#")]
        lines = {row[0]: [one.strip() for one in row[3:].split(" | ")] for row in rows}
        if "S" in lines:
            stay = frozenset(int(one) for one in lines.pop("K", [""])[0].split())
            blocks.append(Block(lines, stay))
    return blocks


class Pairs:
    """Draws pairs from facts, with sentences of open dialogues between them."""

    def __init__(self, blocks: Sequence[Block], talk: Sequence[str], rng: random.Random) -> None:
        self.blocks, self.talk, self.rng = blocks, talk, rng

    def pair(self) -> tuple[list[str], str, tuple[int, ...]]:
        """The turns, a reply, and what it may be to them."""
        rng = self.rng
        said = self.said(rng.choice(self.blocks))
        changed = "C" in said.block.lines and rng.random() < 0.4
        if changed:
            self.say(said, "C")
        twin = self.twin(said) if rng.random() < 0.3 else None
        hypothesis, allowed = self.after(said) if changed else self.before(said, twin)
        others = self.others(said, hypothesis)
        if rng.random() < 0.15 and not hypothesis.endswith("?"):
            hypothesis, turn = self.joined(hypothesis, said)
            others += [turn] if turn else []
        if twin is not None:
            others.append(twin.turns[0])
        turns = self.mixed(said.turns, others)
        hypothesis = hypothesis[:1].upper() + hypothesis[1:]
        return turns, hypothesis, allowed

    def said(self, block: Block, values: dict[str, Value] | None = None) -> Said:
        """A fact with random values, said once."""
        found = Said(block, values or {})
        self.say(found, "S")
        return found

    def say(self, said: Said, letter: str) -> None:
        form = self.rng.choice(said.block.lines[letter])
        said.known |= {slot["name"] + slot["nth"] for slot in SLOT.finditer(form)}
        text = self.filled(form, said)
        said.turns.append(text[:1].upper() + text[1:])

    def value(self, said: Said, key: str, pool: str) -> Value:
        """The value of a slot, drawn at its first use, different from the others of its pool."""
        if key not in said.values:
            form = next((one.form for one in said.values.values() if one.form), self.rng.choice(CURRENCIES))
            taken = [one.what for one in said.values.values() if one.pool == pool]
            value = draw(pool, self.rng, form)
            while value.what in taken:
                value = draw(pool, self.rng, form)
            said.values[key] = value
        return said.values[key]

    def filled(self, form: str, said: Said, instead: dict[str, Value] | None = None) -> str:
        """A form with its values written out."""

        def one(slot: re.Match[str]) -> str:
            key = slot["name"] + slot["nth"]
            value = (instead or {}).get(key) or self.value(said, key, slot["name"])
            return written(value, self.rng)

        return re.sub(r"\b(a)(?= [aeiou])", "an", SLOT.sub(one, form))

    def known(self, said: Said, letter: str) -> list[str]:
        """The lines of a letter whose slots the turns tell."""
        keys = lambda line: {slot["name"] + slot["nth"] for slot in SLOT.finditer(line)}  # noqa: E731
        lines = said.block.lines.get(letter, [])
        if letter == "T" and len(said.turns) > 1:
            lines = [line for place, line in enumerate(lines, 1) if place not in said.block.stay]
        return [line for line in lines if keys(line) <= said.known]

    def before(self, said: Said, twin: Said | None) -> tuple[str, tuple[int, ...]]:
        """A hypothesis about a fact that has not changed."""
        kinds = ["true", "also", "swap", "not", "opposite", "denied", "open", "elsewhere", "hedge", "kin"]
        kind = self.rng.choices(kinds, [4, 0.8, 6, 0.6, 2.6, 1.6, 2.2, 2.2, 1.2, 0.8])[0]
        told = self.known(said, "T")
        line = self.rng.choice(told) if told else ""
        match kind:
            case "swap" if told:
                return self.swapped(said, line, twin)
            case "not" if told and not line.startswith("!"):
                text, allowed = self.swapped(said, line, twin, bare=True)
                denial = denied(text)
                return (self.framed(denial), NOT_C) if denial and allowed == (C,) else self.right(said, line)
            case "denied" if told:
                denial = None if line.startswith("!") else denied(self.filled(line, said))
                return (self.framed(denial), (C,)) if denial else self.swapped(said, line, twin)
            case "opposite" if lines := self.known(said, "X"):
                return self.framed(self.filled(self.rng.choice(lines), said)), (C,)
            case "also" if lines := self.known(said, "A"):
                return self.framed(self.filled(self.rng.choice(lines), said)), NOT_C
            case "open" if "O" in said.block.lines:
                return self.framed(self.filled(self.rng.choice(said.block.lines["O"]), said)), (N,)
            case "elsewhere":
                return self.elsewhere(said)
            case "hedge" if plain := [one for one in told if not one.startswith("!")]:
                line = self.rng.choice(plain)
                text = self.filled(line, said)
                if self.rng.random() < 0.5:
                    text, _ = self.swapped(said, line, twin, bare=True)
                return self.hedged(text), NOT_C
            case "kin" if plain := [one for one in told if "{_kin}" in one and "{name}" not in one]:
                instead = {key: other(one, self.rng) for key, one in said.values.items()}
                return self.framed(self.filled(self.rng.choice(plain), said, instead)), (N,)
        return self.right(said, line) if told else self.elsewhere(said)

    def right(self, said: Said, line: str) -> tuple[str, tuple[int, ...]]:
        text = self.filled(line, said)
        numbers = [slot for slot in SLOT.finditer(line) if slot["name"] in ("money", "num")]
        if numbers and self.rng.random() < 0.12:
            text = rounded(text, said, self.rng) or text
        return self.framed(text), NOT_C

    def swapped(self, said: Said, line: str, twin: Said | None, *, bare: bool = False) -> tuple[str, tuple[int, ...]]:
        """What was said with another value, new or of another fact, in one place."""
        slots = [slot for slot in SLOT.finditer(line) if slot["mark"] != "_"]
        if not slots:
            text = self.filled(line, said)
            return (text if bare else self.framed(text)), NOT_C
        slot = self.rng.choice(slots)
        key = slot["name"] + slot["nth"]
        new = other(said.values[key], self.rng)
        if twin is not None and key in twin.values and self.rng.random() < 0.5:
            new = twin.values[key]
        if new.what in {one.what for one in said.values.values()}:
            new = other(said.values[key], self.rng)
        text = self.filled(line, said, {key: new})
        allowed = SOFT.get(slot["name"], (C,))
        if slot["mark"] == "*":
            allowed = (N,)
        elif slot["name"] in ("name", "petname", "mr") and line.lstrip("!").startswith(slot[0]):
            allowed = NOT_E if "you" in line else (N,)
        return (text if bare else self.framed(text)), allowed

    def after(self, said: Said) -> tuple[str, tuple[int, ...]]:
        """A hypothesis about a fact that has changed since."""
        kind = self.rng.choices(["over", "now", "swap", "past", "hedge"], [4, 3, 2.2, 2, 0.6])[0]
        now, past, over = self.known(said, "N"), self.known(said, "P"), self.known(said, "T")
        if kind == "over" and over:
            return self.framed(self.filled(self.rng.choice(over), said)), (C,)
        if kind == "swap" and (new := [line for line in now if re.search(r"\w2\}", line)]):
            return self.swapped_after(said, self.rng.choice(new))
        if kind == "past" and past:
            return self.framed(self.filled(self.rng.choice(past), said)), NOT_C
        if kind == "hedge" and (plain := [line for line in over if not line.startswith("!")]):
            return self.hedged(self.filled(self.rng.choice(plain), said)), NOT_C
        return self.framed(self.filled(self.rng.choice(now), said)), NOT_C

    def swapped_after(self, said: Said, line: str) -> tuple[str, tuple[int, ...]]:
        slot = self.rng.choice([one for one in SLOT.finditer(line) if one["nth"] == "2"])
        key = slot["name"] + "2"
        new = other(said.values[key], self.rng)
        while new.what in {one.what for one in said.values.values()}:
            new = other(said.values[key], self.rng)
        return self.framed(self.filled(line, said, {key: new})), SOFT.get(slot["name"], (C,))

    def elsewhere(self, said: Said) -> tuple[str, tuple[int, ...]]:
        """What is said of another fact, which nobody told."""
        for _ in range(20):
            block = self.rng.choice(self.blocks)
            apart = block is not said.block and block.topic & said.block.topic <= LOOSE
            lines = [line for line in block.lines["T"] + block.lines.get("O", []) if "{" in line]
            if lines and apart and not block.touches(said.block):
                named = {key: one for key, one in said.values.items() if key.startswith("name")}
                unsaid = Said(block, named if self.rng.random() < 0.3 else {})
                return self.framed(self.filled(self.rng.choice(lines), unsaid)), (N,)
        return self.advice().capitalize() + ".", (N,)

    def twin(self, said: Said) -> Said | None:
        """The same fact of another relative or friend; None where it has none."""
        form = said.block.lines["S"][0]
        people = [
            key for key in ("kin", "name", "petname", "thing", "parent", "exam", "event", "appt") if f"{key}}}" in form
        ]
        if not people:
            return None
        found = self.said(said.block)
        if any(key in said.values and found.values.get(key) == said.values[key] for key in people):
            return None
        return found

    def joined(self, hypothesis: str, said: Said) -> tuple[str, str]:
        """The hypothesis with what is right of another fact, and the turn that says that."""
        block = self.rng.choice(self.blocks)
        if block.topic & said.block.topic or block.touches(said.block):
            return hypothesis, ""
        more = self.said(block)
        clauses = [line for line in self.known(more, "T") if not line.startswith("!")]
        if not clauses:
            return hypothesis, ""
        clause, whole = self.filled(self.rng.choice(clauses), more), hypothesis.rstrip(".!")
        if self.rng.random() < 0.4 and whole.startswith("You"):
            return f"{clause[:1].upper()}{clause[1:]}, and {whole[:1].lower()}{whole[1:]}.", more.turns[0]
        return f"{whole}, and {clause}.", more.turns[0]

    def others(self, said: Said, hypothesis: str) -> list[str]:
        """Other turns, which decide nothing."""
        rng, found = self.rng, list[str]()
        for _ in range(rng.choices([0, 1, 2, 3], [3, 3, 2, 1])[0]):
            if rng.random() < 0.5 and self.talk:
                found.append(rng.choice(self.talk))
                continue
            block = rng.choice(self.blocks)
            shared = block.topic & said.block.topic - {
                "n",
                "num",
                "name",
                "day",
                "date",
                "time",
                "unit",
                "age",
                "money",
            }
            if block is not said.block and not shared and not block.touches(said.block):
                turn = self.said(block)
                told = [written(one, rng).lower() for key, one in turn.values.items() if not key.startswith("name")]
                if not any(len(one) > 2 and one in hypothesis.lower() for one in told):
                    found.append(turn.turns[0])
        return found

    def mixed(self, turns: list[str], others: list[str]) -> list[str]:
        """The turns in their order with others between them."""
        found = list(turns)
        for turn in others:
            found.insert(self.rng.randint(0, len(found)), turn)
        return found

    def advice(self) -> str:
        return self.rng.choice(SPEC["advice"]["all"])

    def framed(self, clause: str) -> str:
        """A clause as a sentence of a reply."""
        if clause.startswith("!"):
            return clause[1:]
        kind = self.rng.choices(["plain", "since", "told"], [5, 3, 2])[0]
        return self.frame(clause, self.rng.choice(SPEC["frames"][kind]))

    def hedged(self, clause: str) -> str:
        if self.rng.random() < 0.35 and (question := asked(clause)):
            return question
        return self.frame(clause, self.rng.choice(SPEC["frames"]["hedge"]))

    def frame(self, clause: str, form: str) -> str:
        advice = self.advice()
        text = form.replace("{S}", clause[:1].upper() + clause[1:]).replace("{s}", clause)
        return text.replace("{advice}", advice).replace("{Advice}", advice[:1].upper() + advice[1:])


def rounded(text: str, said: Said, rng: random.Random) -> str | None:
    """A clause with its number told roughly."""
    for key in ("money", "num"):
        what = said.values[key].what if key in said.values else 0
        if isinstance(what, int) and what >= 20:
            near = round(what, -1) if what < 200 else round(what, -2)
            for old in (f"{what:,}", str(what)):
                if old in text and near != what:
                    lead = ("almost ", "nearly ") if near > what else ("a little over ", "more than ")
                    lead += ("about ", "roughly ", "around ")
                    return re.sub(rf"([€$£]?){re.escape(old)}", rf"{rng.choice(lead)}\g<1>{near}", text, count=1)
    return None


def denied(clause: str) -> str | None:
    """The clause with "not"; None where it has one or is of another form."""
    if re.search(r"\b(?:not|never|no|nobody|nothing|without)\b|n't|!", clause):
        return None
    if clause.startswith("you've "):
        return "you haven't " + clause[7:]
    found = re.search(r"\b(are|is|was|were|can|has|does)\b", clause)
    start = re.match(r"(?:you|your [\w' ]+?|[A-Z]\w+|the [\w ]+?) (?=are|is|was|were|can|has|does)", clause)
    if found and start and start.end() == found.start():
        if found[1] == "has" and not re.match(r"has \w+ed\b|has been", clause[found.start() :]):
            return f"{clause[: found.start()]}doesn't have{clause[found.end() :]}"
        return f"{clause[: found.end()].replace('can', 'ca')}n't{clause[found.end() :]}"
    if (verb := VERB.match(clause)) is not None:
        word = verb["verb"]
        base = BASE.get(word, word[:-2] if word.endswith("ened") else word[:-1] if word.endswith("ed") else word)
        if word.endswith("ed") or word in BASE:
            return None if word not in BASE else f"you didn't {base}{clause[verb.end() :]}"
        return f"you don't {word}{clause[verb.end() :]}"
    return None


BASE = dict(
    pair.split("/")
    for pair in (
        "bought/buy sold/sell paid/pay lost/lose went/go got/get took/take "
        "beat/beat won/win lent/lend gave/give hurt/hurt passed/pass failed/fail "
        "invited/invite booked/book ordered/order hired/hire painted/paint joined/join visited/visit "
        "finished/finish came/come "
    ).split()
)
"""Base forms of the past tenses in facts.txt."""


def asked(clause: str) -> str | None:
    """The clause as a question; None where its form is another one."""
    if (found := re.match(r"you are (.+)", clause)) is not None:
        return f"Are you {found[1]}?"
    if (found := re.match(r"(your \w+|[A-Z]\w+) (is|was) (.+)", clause)) is not None:
        return f"{found[2].capitalize()} {found[1]} {found[3]}?"
    if (verb := VERB.match(clause)) is not None and not verb["verb"].endswith("ed") and verb["verb"] not in BASE:
        return f"Do you {clause[4:]}?"
    return None


@cache
def facts() -> tuple[Block, ...]:
    """The facts of `facts.txt`."""
    return tuple(read_blocks(Path(__file__).parent / "facts.txt"))


def replied(data: Path, rng: random.Random) -> Iterator[tuple[list[str], str, tuple[int, ...]]]:
    """What assistants replied in LongMemEval's sessions, as it is and with a number of the turn changed."""
    pool = data / "open" / "longmemeval" / "haystack_session_pool.json"
    for session in json.loads(pool.read_text(encoding="utf-8")):
        said = ""
        for turn in session["turns"]:
            if turn["role"] == "user":
                said = turn["content"]
                continue
            lines = [line for line in sentences(turn["content"]) if 4 <= len(line.split()) <= 32]
            mine = [line for line in lines if re.search(r"\byou", line)]
            if 3 < len(said.split()) < 120 and mine:
                yield [said], rng.choice(mine), NOT_C
                wrong = [other for line in mine if (other := renumbered(line, said, rng)) is not None]
                yield from (([said], one, (C,)) for one in wrong[:1])


def renumbered(line: str, said: str, rng: random.Random) -> str | None:
    """A sentence with another number in the place of one that was said; None where none was."""
    for found in NUMBER.finditer(line):
        if re.search(rf"(?<![\w.,]){re.escape(found[0])}(?![\w])", said):
            value = int(found[0].strip("$").replace(",", "").split(".")[0])
            new = rng.choice([value + 1, value + 2, value * 2, value + 10, max(1, value - 1), value + 5])
            if str(new) not in said and new != value:
                return line[: found.start()] + ("$" if found[0][0] == "$" else "") + str(new) + line[found.end() :]
    return None


def sentences(text: str) -> list[str]:
    """The sentences of a text, without its marks of lists."""
    plain = re.sub(r"\*+|^[#\-\d.) ]+", "", text, flags=re.MULTILINE)
    return [one.strip() for one in re.split(r"(?<=[.!?])\s+|\n+", plain) if one.strip()]


def main() -> None:
    """Write the dialogues."""
    parser = argparse.ArgumentParser(description="Dialogues and replies.")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--count", type=int, default=1_200)
    parser.add_argument("--real", type=int, default=300, help="replies of LongMemEval")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("DOXA_DATA", "../shared/data")))
    args = parser.parse_args()
    rng = random.Random(args.seed)
    source = Pairs(facts(), [], rng)
    real = list(replied(args.data, rng))
    drawn = [source.pair() for _ in range(args.count)] + rng.sample(real, min(args.real, len(real)))
    kept = [one for one in drawn if one[2] in ((C,), (N,), (E,), NOT_C)]
    with args.out.open("w", encoding="utf-8") as file:
        for number, (turns, reply, allowed) in enumerate(kept):
            said = [
                {"speaker": "Robin", "text": text, "at": f"2025-0{1 + day % 9}-11"} for day, text in enumerate(turns)
            ]
            label = "contradicted" if allowed == (C,) else "clean"
            row = {"id": f"d{number}", "turns": said, "replies": [{"text": reply, "label": label, "kind": "drawn"}]}
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
    print(f"{len(kept)} replies, {sum(one[2] == (C,) for one in kept)} contradictions", file=sys.stderr)


if __name__ == "__main__":
    main()
