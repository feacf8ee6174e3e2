"""Pairs with exact labels, drawn from made-up people: what somebody said, and what is then said of them.

Every pair starts from one fact (a relation of `worlds.toml` with a value). The premise says it among other things; the
hypothesis says the same in other words (entailment), denies it or gives the only value another (contradiction), or
speaks of something else (neutral). Speaker and person change between the sides as in a dialogue: "I live in Oslo",
"You live in Oslo", "Nora lives in Oslo". Further kinds: numbers with "at least", states that ended, plans, order in
time, lists, questions with a short answer.

    python training/nli/worlds.py --work WORK --count 30000
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
import re
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SPEC = tomllib.loads((Path(__file__).parent / "worlds.toml").read_text(encoding="utf-8"))
VALUES: dict[str, list[str]] = SPEC["values"]
E, N, C = 0, 1, 2
HIS = set("Ben David Frank Henry Jack Leo Oscar Quentin Sam Victor Yusuf Omar Carlos Ahmed Peter Tom".split())
BE = {"I": "am", "you": "are"}
WORDS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
OPENERS = ["Hi!", "Hello.", "Guess what?", "By the way,", "So,", "Well,", "Oh,", "Actually,", "You know,", "Honestly,"]
LEADS = [
    "As you said,",
    "I remember that",
    "As far as I know,",
    "Right,",
    "Sure,",
    "Yes,",
    "Got it:",
    "You told me that",
]
TAILS = ["How about you?", "Anyway, how are you?", "What do you think?", "It was a long day.", "Thanks for asking!"]
SHORT = [
    (" am not ", " 'm not "),
    (" do not ", " don't "),
    (" does not ", " doesn't "),
    (" did not ", " didn't "),
    (" is not ", " isn't "),
    (" are not ", " aren't "),
    (" was not ", " wasn't "),
    (" have not ", " haven't "),
    (" has not ", " hasn't "),
    (" cannot ", " can't "),
    ("I am ", "I'm "),
    ("You are ", "You're "),
    ("I have ", "I've "),
    ("You have ", "You've "),
    (" will not ", " won't "),
]


@dataclass(frozen=True, slots=True)
class Person:
    """Who a sentence is about: `I`, `you`, or a name."""

    name: str

    @property
    def third(self) -> bool:
        return self.name not in ("I", "you")


@dataclass(frozen=True, slots=True)
class Fact:
    """A relation with its value: `kind` functional, open or states; `forms` say it, `no` denies it."""

    kind: str
    spec: dict[str, Any]
    value: str
    about: str  # an event or a relative, where the relation has one


class World:
    """Draws facts, sentences and pairs with one source of chance."""

    def __init__(self, chooser: random.Random, talk: Sequence[str], own: Sequence[str]) -> None:
        """Takes sentences of open dialogues, to stand around what matters: talk, and statements in the first person."""
        self.chooser = chooser
        self.talk = talk
        self.own = own

    def fact(self) -> Fact:
        """A fact of a random relation."""
        kind = self.chooser.choices(["functional", "open", "states"], [5, 2, 2.5])[0]
        spec = self.chooser.choice(SPEC[kind])
        if kind == "states":
            return Fact(kind, spec, "", "")
        about = ""
        if spec["value"].startswith("event"):
            about = self.chooser.choice(VALUES["event"])
        elif spec["value"].startswith("relative"):
            about = self.chooser.choice(VALUES["relative"])
        return Fact(kind, spec, self.value(spec), about)

    def value(self, spec: dict[str, Any], other: str = "") -> str:
        """A value of a relation, another one than `other`."""
        domain = spec["value"].removeprefix("event_").removeprefix("relative_")
        while True:
            found = self.date() if domain == "date" else self.chooser.choice(VALUES[domain])
            if found != other and not _inside(found, other):
                return found

    def date(self) -> str:
        """A day of a month, in one of three notations."""
        month, day = self.chooser.choice(VALUES["month"]), self.chooser.randint(1, 28)
        return self.chooser.choice([f"{month} {day}", f"the {day}{_ordinal(day)} of {month}", f"{day} {month}"])

    def say(self, fact: Fact, person: Person, *, side: str = "forms", value: str | None = None) -> str:
        """A sentence that says (`forms`, `yes`) or denies (`no`) a fact."""
        form = self.chooser.choice(fact.spec[side])
        return render(form, person, self.same(fact.value if value is None else value), fact.about)

    def same(self, value: str) -> str:
        """The value, now and then in another notation: 3 for three, another form of the same date."""
        if value in WORDS and self.chooser.random() < 0.4:
            return str(WORDS.index(value))
        found = re.fullmatch(r"(?:the )?(\w+?)(?:st|nd|rd|th)? (?:of )?(\w+)", value)
        if found and (found[1] in VALUES["month"] or found[2] in VALUES["month"]):
            month, day = (found[1], found[2]) if found[1] in VALUES["month"] else (found[2], found[1])
            forms = [f"{month} {day}", f"the {day}{_ordinal(int(day))} of {month}", f"{day} {month}"]
            return self.chooser.choice(forms)
        return value

    def people(self) -> tuple[Person, Person, str]:
        """Who the premise and the hypothesis speak of, the same one, and what stands before the premise."""
        name = self.chooser.choice(VALUES["name"])
        kinds: list[tuple[Person, Person, str]] = [
            (Person("I"), Person("you"), ""),
            (Person("I"), Person("you"), "User: "),
            (Person("I"), Person("I"), ""),
            (Person(name), Person(name), ""),
            (Person("I"), Person(name), f"{name}: "),
            (Person("the user"), Person("you"), ""),
            (Person("you"), Person("you"), ""),
        ]
        return self.chooser.choices(kinds, [5, 2, 4, 4, 4, 1, 1.5])[0]

    def pair(self) -> tuple[str, str, int]:
        """A pair of a random kind."""
        kinds: list[tuple[Callable[[], tuple[str, str, int]], float]] = [
            (self.plain, 9),
            (self.two, 2),
            (self.amount, 1.6),
            (self.ended, 1.6),
            (self.clauses, 2.0),
            (self.unsure, 0.9),
            (self.order, 0.5),
            (self.listed, 0.9),
            (self.asked, 1.0),
            (self.itself, 0.8),
            (self.chat, 0.9),
            (self.other_person, 1.0),
        ]
        make = self.chooser.choices([kind for kind, _ in kinds], [weight for _, weight in kinds])[0]
        return make()

    def plain(self) -> tuple[str, str, int]:
        """One fact, said, denied, changed, or left alone."""
        fact, (speaker, subject, before) = self.fact(), self.people()
        label = self.chooser.choices([E, N, C], [1, 0.9, 1.2])[0]
        denied = self.chooser.random() < 0.22
        hypothesis, premise = self.hypothesis(fact, speaker, subject, label, denied)
        return self.premise(premise, speaker, before), self.reply(hypothesis), label

    def hypothesis(self, fact: Fact, speaker: Person, subject: Person, label: int, denied: bool) -> tuple[str, str]:
        """A hypothesis with this label, and the sentence of the premise that decides it."""
        sides = ("yes", "no") if fact.kind == "states" else ("forms", "no")
        said, against = sides[::-1] if denied else sides
        premise = self.say(fact, speaker, side=said)
        if label == N:
            return self.apart(fact, subject, denied), premise
        if label == E:
            if fact.kind == "functional" and not denied and self.chooser.random() < 0.25:  # not another value either
                return self.say(fact, subject, side="no", value=self.value(fact.spec, fact.value)), premise
            if fact.kind == "states":  # within a side only the first sentence is said by all the others
                return render(fact.spec[said][0], subject, "", ""), premise
            return self.say(fact, subject, side=said), premise
        if fact.kind == "functional" and not denied and self.chooser.random() < 0.7:
            return self.say(fact, subject, value=self.value(fact.spec, fact.value)), premise
        if fact.kind == "states":
            return self.opposite(fact, subject, said, against), premise
        return self.say(fact, subject, side=against), premise

    def opposite(self, fact: Fact, subject: Person, said: str, against: str) -> str:
        """What cannot be true with the side that was said."""
        form = self.chooser.choice(fact.spec[against]) if said == "yes" else fact.spec[against][0]
        return render(form, subject, "", "")

    def apart(self, fact: Fact, subject: Person, denied: bool) -> str:
        """What neither follows nor is ruled out."""
        if self.chooser.random() < 0.45 and fact.kind == "open":
            side = self.chooser.choice(["forms", "no"])
            return self.say(fact, subject, side=side, value=self.value(fact.spec, fact.value))
        if denied and fact.kind == "functional" and self.chooser.random() < 0.6:
            return self.say(fact, subject, value=self.value(fact.spec, fact.value))
        while True:
            other = self.fact()
            if other.spec is not fact.spec and not _related(other, fact):
                side = "yes" if other.kind == "states" else "forms"
                return self.say(other, subject, side="no" if self.chooser.random() < 0.25 else side)

    def two(self) -> tuple[str, str, int]:
        """Two facts in the premise, and a hypothesis about both: one wrong part is enough."""
        one, other = self.fact(), self.fact()
        while _related(one, other):
            other = self.fact()
        speaker, subject, before = self.people()
        labels = [self.chooser.choices([E, N, C], [5, 2, 2])[0] for _ in range(2)]
        halves = [
            self.hypothesis(fact, speaker, subject, label, False)
            for fact, label in zip((one, other), labels, strict=True)
        ]
        label = C if C in labels else N if N in labels else E
        premise = self.premise(". ".join(_capital(half[1]) for half in halves), speaker, before)
        return premise, self.reply(f"{halves[0][0]} and {halves[1][0]}"), label

    def amount(self) -> tuple[str, str, int]:
        """Counts with bounds."""
        speaker, subject, before = self.people()
        count, what, verb = (
            self.chooser.randint(2, 40),
            self.chooser.choice(
                ["books", "stamps", "plants", "emails", "guests", "chairs", "eggs", "photos", "marathons"]
            ),
            self.chooser.choice(["[have]", "counted", "bought", "ordered", "lost", "found"]),
        )
        bounds = [("", 0), ("exactly ", 0), ("more than ", 1), ("at least ", 2), ("fewer than ", 3), ("at most ", 4)]
        bound, kind = self.chooser.choice(bounds)
        limit = self.chooser.choice(
            [count, count, count + self.chooser.randint(1, 9), max(1, count - self.chooser.randint(1, 9))]
        )
        holds = [count == limit, count > limit, count >= limit, count < limit, count <= limit]
        label = E if holds[kind] else C
        if verb == "[have]" and kind == 0 and not bound and count > limit:
            bound, label = "only ", C
        premise = render(f"{{S}} {verb} {self.spelt(count)} {what}", speaker, "", "")
        hypothesis = render(f"{{S}} {verb} {bound}{self.spelt(limit)} {what}", subject, "", "")
        return self.premise(premise, speaker, before), self.reply(hypothesis), label

    def spelt(self, count: int) -> str:
        """A number in figures or in words."""
        return WORDS[count] if count < len(WORDS) and self.chooser.random() < 0.5 else str(count)

    def clauses(self) -> tuple[str, str, int]:
        """Two people or two details in one sentence: what is true of one is not of the other."""
        spec = self.chooser.choice(SPEC["clauses"])
        one, other = self.chooser.sample(VALUES[spec["value"]], 2)
        third = self.chooser.choice([value for value in VALUES[spec["value"]] if value not in (one, other)])
        first, second = self.chooser.sample(VALUES["name"], 2)
        kin = self.chooser.choice(VALUES["relative"])
        more = {key: self.chooser.sample(values, 2) for key, values in VALUES.items() if key in ("city", "subject")}
        label = self.chooser.choices([E, N, C], [4, 1, 5])[0]
        speaker, subject, before = self.people()
        if speaker.third or spec.get("named"):
            speaker, subject, before = self.chooser.choice(
                [
                    (Person("I"), Person("you"), ""),
                    (Person("I"), Person("you"), "User: "),
                    (Person("I"), Person("I"), ""),
                ]
            )
        filled = {"a": one, "b": other, "c": third, "M": first, "N": second, "K": kin}
        filled |= {"t": more["city"][0], "u": more["city"][1], "s": more["subject"][0], "r": more["subject"][1]}
        texts = []
        for form in (spec["said"], spec[("follows", "open", "clashes")[label]]):
            text = self.chooser.choice(form)
            for key, value in filled.items():
                text = text.replace(f"<{key}>", value)
            texts.append(text)
        premise = self.premise(render(texts[0], speaker, "", ""), speaker, before)
        return premise, self.reply(render(texts[1], subject, "", "")), label

    def ended(self) -> tuple[str, str, int]:
        """What used to be so and is no longer."""
        speaker, subject, before = self.people()
        spec = self.chooser.choice(SPEC["changes"])
        old, new, third = self.chooser.sample(VALUES[spec["value"]], 3)
        about = self.chooser.choice(VALUES["event"])
        label = self.chooser.choices([E, N, C], [5, 1, 5])[0]
        forms = (spec["said"], spec[("follows", "open", "clashes")[label]])
        said, form = (
            self.chooser.choice(side).replace("{old}", old).replace("{new}", new).replace("{third}", third)
            for side in forms
        )
        premise = self.premise(render(said, speaker, "", about), speaker, before)
        return premise, self.reply(render(form, subject, "", about)), label

    def unsure(self) -> tuple[str, str, int]:
        """Plans, wishes and guesses: they neither make a thing so nor rule it out."""
        speaker, subject, before = self.people()
        city, language, pet, thing = (
            self.chooser.choice(VALUES[kind]) for kind in ("city", "language", "pet", "thing")
        )
        plan, done = self.chooser.choice(
            [
                (f"move to {city}", f"{{S}} moved to {city}"),
                (f"learn {language}", f"{{S}} learned {language}"),
                (f"get a {pet}", f"{{S}} got a {pet}"),
                (f"buy a {thing}", f"{{S}} bought a {thing}"),
                ("change jobs", "{S} changed jobs"),
                ("run a marathon", "{S} ran a marathon"),
            ]
        )
        start = self.chooser.choice(
            ["[be] thinking about whether to", "might", "[want] to", "[hope] to", "may", "would love to"]
        )
        premise = f"{{S}} {start} {plan}"
        never = f"{{S}} [do] not want to {plan}"
        options = [(done, N), (f"{{S}} already {done.removeprefix('{S} ')}", N)]
        options += (
            [(f"{{S}} [want] to {plan}", E), (never, C)]
            if "want" in start or "love" in start or "hope" in start
            else []
        )
        form, label = self.chooser.choice(options)
        return (
            self.premise(render(premise, speaker, "", ""), speaker, before),
            self.reply(render(form, subject, "", "")),
            label,
        )

    def order(self) -> tuple[str, str, int]:
        """What came before what, and which is more."""
        one, other = self.chooser.sample(VALUES["event"], 2)
        first, second = self.chooser.sample(VALUES["name"], 2)
        word, back = self.chooser.choice(
            [
                ("taller", "shorter"),
                ("older", "younger"),
                ("faster", "slower"),
                ("richer", "poorer"),
                ("heavier", "lighter"),
            ]
        )
        premise, options = self.chooser.choice(
            [
                (
                    f"{one} is before {other}",
                    [
                        (f"{other} is after {one}", E),
                        (f"{other} is before {one}", C),
                        (f"{one} is after {other}", C),
                        (f"{one} comes first", E),
                    ],
                ),
                (
                    f"{first} is {word} than {second}",
                    [
                        (f"{second} is {back} than {first}", E),
                        (f"{second} is {word} than {first}", C),
                        (f"{first} is {back} than {second}", C),
                        (f"{first} and {second} are friends", N),
                        (f"{first} is not {word} than {second}", C),
                    ],
                ),
            ]
        )
        hypothesis, label = self.chooser.choice(options)
        return self.premise(premise, Person("I"), ""), self.reply(hypothesis), label

    def listed(self) -> tuple[str, str, int]:
        """Several values at once: each follows, none is ruled out by the others."""
        speaker, subject, before = self.people()
        spec = self.chooser.choice([spec for spec in SPEC["open"] if spec["value"] not in ("project",)])
        values = self.chooser.sample(VALUES[spec["value"]], 4)
        joined = f"{values[0]}, {values[1]} and {values[2]}"
        form = (
            next(form for form in spec["forms"] if "a {X}" not in form and "{X} is" not in form)
            if any("a {X}" not in form and "{X} is" not in form for form in spec["forms"])
            else "{S} [like] the words {X}"
        )
        label = self.chooser.choice([E, N, C])
        fact = Fact("open", spec, values[self.chooser.randrange(3)], "")
        hypothesis = {
            E: lambda: self.say(fact, subject),
            N: lambda: self.say(fact, subject, value=values[3], side=self.chooser.choice(["forms", "no"])),
            C: lambda: self.say(fact, subject, side="no"),
        }[label]()
        if form == "{S} [like] the words {X}":
            label = N
        return self.premise(render(form, speaker, joined, ""), speaker, before), self.reply(hypothesis), label

    def asked(self) -> tuple[str, str, int]:
        """A question and its short answer."""
        fact = self.fact()
        yes = self.chooser.random() < 0.5
        side = "yes" if fact.kind == "states" else "forms"
        statement = render(fact.spec[side][0], Person("you"), fact.value, fact.about)
        question = f"{_capital(statement)}, right?"
        answer = self.chooser.choice(
            ["Yes.", "Yes, I do.", "Right.", "Yes, that's true."]
            if yes
            else ["No.", "No, not at all.", "No, that's wrong."]
        )
        premise = f"{question} {answer}" if self.chooser.random() < 0.5 else f"Assistant: {question} User: {answer}"
        denial = self.chooser.random() < 0.4
        hypothesis = self.say(fact, Person("you"), side="no") if denial and fact.kind != "states" else statement
        agrees = yes != (hypothesis is not statement)
        return premise, self.reply(hypothesis), E if agrees else C

    def itself(self) -> tuple[str, str, int]:
        """What an assistant says of itself."""
        one, other = self.chooser.sample(SPEC["assistant"], 2)
        label = self.chooser.choice([E, N, C])
        premise = self.chooser.choice(one["yes"])
        hypothesis = {
            E: self.chooser.choice(one["yes"]),
            N: self.chooser.choice(other["yes"] + other["no"]),
            C: self.chooser.choice(one["no"]),
        }[label]
        if label == C and self.chooser.random() < 0.3:
            hypothesis, premise = one["yes"][0], self.chooser.choice(one["no"])
        before = self.chooser.choice(["", "Assistant: ", "AI: "])
        return self.premise(premise, Person("I"), before), self.reply(hypothesis), label

    def chat(self) -> tuple[str, str, int]:
        """Small talk and questions say nothing about a fact."""
        fact, (speaker, _, before) = self.fact(), self.people()
        premise = self.say(fact, speaker, side="yes" if fact.kind == "states" else "forms")
        hypothesis = self.chooser.choice(self.talk)
        if self.chooser.random() < 0.4:
            hypothesis = self.chooser.choice(
                [
                    "How long has that been so?",
                    "Nice, tell me more!",
                    "That sounds great!",
                    "Why is that?",
                    "I see.",
                    "How can I help you?",
                    "Let me know if you need anything else.",
                    "I'm sorry, I don't know.",
                ]
            )
        return self.premise(premise, speaker, before), hypothesis, N

    def other_person(self) -> tuple[str, str, int]:
        """The same relation of somebody else."""
        fact, (speaker, _, before) = self.fact(), self.people()
        while fact.about in VALUES["event"]:
            fact = self.fact()
        side = "yes" if fact.kind == "states" else "forms"
        premise = self.say(fact, speaker, side=side)
        somebody = Person(
            self.chooser.choice([name for name in VALUES["name"] if name not in (speaker.name, before[:-2])])
        )
        value = (
            fact.value if fact.kind == "states" or self.chooser.random() < 0.3 else self.value(fact.spec, fact.value)
        )
        hypothesis = self.say(fact, somebody, side=self.chooser.choice([side, side, "no"]), value=value)
        return self.premise(premise, speaker, before), self.reply(hypothesis), N

    def premise(self, sentence: str, speaker: Person, before: str) -> str:
        """The sentence among others that a speaker might say, and in short forms now and then."""
        sentence = self.shorten(_capital(sentence)) + self.chooser.choice([".", ".", ".", "!"])
        draw = self.chooser.random()
        around: list[str] = []
        if draw < 0.5:
            pool = self.own if speaker.name == "I" and self.chooser.random() < 0.5 else self.talk
            most = 9 if self.chooser.random() < 0.2 else 4
            around = [self.chooser.choice(pool) for _ in range(self.chooser.randint(1, most))]
        elif draw < 0.6 and not speaker.third:
            sentence = f"{self.chooser.choice(OPENERS)} {sentence}"
        elif draw < 0.7:
            around = [self.chooser.choice(TAILS)]
        place = self.chooser.randint(0, len(around))
        return before + " ".join([*around[:place], sentence, *around[place:]])

    def reply(self, sentence: str) -> str:
        """The hypothesis as an assistant might say it."""
        draw = self.chooser.random()
        text = self.shorten(_capital(sentence))
        if draw < 0.12:
            lead = self.chooser.choice(LEADS)
            text = f"{lead} {text if text.startswith('I') else text[0].lower() + text[1:]}"
        elif draw < 0.16:
            text = f"{text}, {self.chooser.choice(['right', 'as you know', 'so that is settled', 'I think'])}"
        return text + self.chooser.choice([".", ".", ".", "!", ""])

    def shorten(self, text: str) -> str:
        """Short forms (don't, I'm), and lower case throughout now and then."""
        if self.chooser.random() < 0.5:
            for long, short in SHORT:
                text = text.replace(long, short)
            text = text.replace("I 'm", "I'm")
        return text.lower() if self.chooser.random() < 0.06 else text


def render(form: str, person: Person, value: str, about: str) -> str:
    """A form as a sentence about a person."""
    both = "{S}" in form
    possessive = {"I": "my", "you": "your"}.get(person.name) or (
        ("his" if person.name in HIS else "their" if person.name == "the user" else "her")
        if both
        else f"{person.name}'s"
    )
    objective = {"I": "me", "you": "you"}.get(person.name, person.name)
    text = re.sub(r"\[(\w+)\]", lambda found: _agree(found[1], person), form)
    text = text.replace("{P}", possessive).replace("{O}", objective).replace("{X}", value).replace("{E}", about)
    first, _, rest = text.partition("{S}")
    again = (
        person.name
        if not person.third
        else "he"
        if person.name in HIS
        else "they"
        if person.name == "the user"
        else "she"
    )
    text = first + person.name + rest.replace("{S}", again) if both else text
    return re.sub(r"\b([Aa]) (?=[aeiou])", r"\1n ", text)


def _agree(verb: str, person: Person) -> str:
    fixed = {"is": "is", "be2": "are", "was3": "was", "did": "did", "grew": "grew", "got": "got"}
    if verb in fixed:
        return fixed[verb]
    if verb == "be":
        return BE.get(person.name, "is")
    if verb == "was":
        return "were" if person.name == "you" else "was"
    if not person.third:
        return verb
    return {"have": "has", "do": "does", "go": "goes", "touch": "touches"}.get(verb, f"{verb}s")


def _related(one: Fact, other: Fact) -> bool:
    """Whether two facts might bear on each other: same kind of value, the same thing, or both states of life."""
    if one.spec is other.spec or (one.kind == "states" and other.kind == "states"):
        return True
    if one.about or other.about:
        return one.about == other.about
    words = [set(re.findall(r"[a-z]{4,}", _wording(fact).lower())) for fact in (one, other)]
    return len((words[0] & words[1]) - _COMMON) > 0


def _wording(fact: Fact) -> str:
    """All that is said with a relation."""
    return " ".join(form for side in ("forms", "yes", "no") for form in fact.spec.get(side, []))


_COMMON = set(
    "have been does never favorite more than called name most like with like love best from that there this".split()
)


def _inside(one: str, other: str) -> bool:
    return bool(other) and (one in other or other in one)


def _ordinal(day: int) -> str:
    return "th" if 11 <= day <= 13 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def sentences(data: Path) -> tuple[list[str], list[str]]:
    """Sentences of open persona chats that say nothing of their speaker, and the statements of their profiles."""
    talk: set[str] = set()
    own: set[str] = set()
    for name in ("test", "valid"):
        path = data / "open" / "synthetic_persona_chat" / f"Synthetic-Persona-Chat_{name}.csv"
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                own |= {line.strip() for line in row["user 1 personas"].splitlines() if line.strip()}
                for line in row["Best Generated Conversation"].splitlines():
                    text = line.partition(": ")[2].strip()
                    if 3 <= len(text.split()) <= 14 and not re.search(r"\bI\b|\bmy\b|\[|\d", text, re.IGNORECASE):
                        talk.add(text)
    return sorted(talk), sorted(own)


def main() -> None:
    """Write the pairs."""
    parser = argparse.ArgumentParser(description="Draw labelled pairs about made-up people.")
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("DOXA_DATA", "../shared/data")))
    parser.add_argument("--count", type=int, default=30_000)
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--kind", default="pair", help="only this kind of pair, such as clauses")
    parser.add_argument("--name", default="worlds", help="of the file")
    args = parser.parse_args()
    world = World(random.Random(args.seed), *sentences(args.data))
    make = getattr(world, args.kind)
    for name, count in ((args.name, args.count), (f"{args.name}.held", args.count // 15)):
        rows = [make() for _ in range(count)]
        lines = [
            json.dumps({"premise": premise, "hypothesis": hypothesis, "allowed": [label], "source": "worlds"}) + "\n"
            for premise, hypothesis, label in rows
        ]
        (args.work / f"{name}.jsonl").write_text("".join(lines), encoding="utf-8")
        print(f"{name}: {len(rows)}, by label {[sum(row[2] == label for row in rows) for label in (E, N, C)]}")


if __name__ == "__main__":
    main()
