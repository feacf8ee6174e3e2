"""What the users of a world say: few sentences, so that each is parsed once, about people whose names are confused."""

from __future__ import annotations

import random

__all__ = ["NAMES", "sentence", "task"]

NAMES = ("Robert", "Bob", "Mia", "Kim", "Eva")
TOWNS = ("Rome", "Oslo", "Bonn", "Graz")
FIRMS = ("Siemens", "Acme")
THINGS = ("tea", "jazz", "chess")
PLAIN = (
    "I live in {town}.",
    "I moved to {town}.",
    "{name} lives in {town}.",
    "{name} moved to {town}.",
    "{name} works at {firm}.",
    "{name} does not live in {town}.",
    "I like {thing}.",
    "I don't like {thing}.",
    "{name} likes {thing}.",
    "Actually, {name} lives in {town}.",
)
NAMING = (
    "Bob is short for Robert.",
    "My sister is called Mia.",
    "My sister lives in {town}.",
    "Kim is my boss.",
    "My boss lives in {town}.",
    "Mia is not my sister.",
    "{name} is Eva's brother.",
    "My brother is called Robert.",
    "{name} is my sister.",
)
TASKS = (
    "Plan a trip to {town}.",
    "Add milk to my shopping list.",
    "Add {thing} to my shopping list.",
    "Remove milk from my shopping list.",
    "The trip to {town} is done.",
)


def sentence(chance: random.Random) -> str:
    """Return something to be said of the world."""
    return _filled(chance, chance.choice(NAMING if chance.random() < 0.35 else PLAIN))


def task(chance: random.Random) -> str:
    """Return something to be said to the tasks."""
    return _filled(chance, chance.choice(TASKS))


def _filled(chance: random.Random, text: str) -> str:
    return text.format(
        name=chance.choice(NAMES), town=chance.choice(TOWNS), firm=chance.choice(FIRMS), thing=chance.choice(THINGS)
    )
