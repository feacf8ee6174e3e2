"""Tokens to readings: the rules of `grammar.toml`, applied in their order, each making one token out of several.

A cascade of finite-state rules (the design of FASTUS and of HeidelTime): every rule is a regular expression over one
character per token, so a text costs O(rules x tokens), and what a rule has made can be read by the rules after it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from doxa.language.data import table
from doxa.language.times.periods import Seen
from doxa.language.times.tokens import Token, Words, words

__all__ = ["Found", "Reading", "Rule", "rewrite", "rules"]

PIECE = re.compile(
    r"(?P<look>\(\?(?:<?[=!]|:))|(?P<open>\()|(?P<close>\)(?::(?P<group>\w+))?)|"
    r"<(?P<cls>\w+)(?::(?P<name>\w+))?>|(?P<word>'s|[a-z½][a-z']*)(?::(?P<as>\w+))?|(?P<mark>[-,/'~@=:])|"
    r"(?P<regex>[|?*+.]|\{\d+,\d+\})|\s+|(?P<unread>.)"
)
MACRO = re.compile(r"\{([a-z]+)\}")


class Found:
    """What a rule has found: the tokens of its named places."""

    __slots__ = ("match", "text", "tokens")

    def __init__(self, match: re.Match[str], tokens: Sequence[Token], text: str) -> None:
        """Keep the match over the tokens' characters."""
        self.match, self.tokens, self.text = match, tokens, text

    def token(self, name: str) -> Token | None:
        """Return the token of a named place; None when the rule left it out or has no such place."""
        groups = self.match.re.groupindex
        turn = name
        while turn in groups:
            start = self.match.start(turn)
            if start >= 0 and self.match.end(turn) > start:
                return self.tokens[start]
            turn += "_"
        return None

    def __contains__(self, name: str) -> bool:
        """Tell whether a named place is filled."""
        return self.token(name) is not None

    def value(self, name: str) -> Any:
        """Return what the token of a named place means; None when there is none."""
        token = self.token(name)
        return token.value if token else None

    def word(self, name: str) -> str:
        """Return the word of a named place; empty when there is none."""
        token = self.token(name)
        return token.word if token else ""

    def look(self, name: str, table: str | None = None) -> Any:
        """Return the value of a word in a class (by default the class with the name of the place)."""
        return words().values[table or name].get(self.word(name))

    @property
    def first(self) -> Token:
        """Return the first token of the match."""
        return self.tokens[self.match.start()]

    @property
    def last(self) -> Token:
        """Return the last token of the match."""
        return self.tokens[self.match.end() - 1]

    @property
    def source(self) -> str:
        """Return the matched text as it was written."""
        return self.text[self.first.start : self.last.end]

    @property
    def hyphened(self) -> bool:
        """Tell whether a hyphen ties the match to the word after it ("a week-long trip")."""
        end = self.last.end
        return self.text[end : end + 1] == "-" and self.text[end + 1 : end + 2].isalpha()

    def beside(self, step: int) -> str:
        """Return the word before (-1) or after (1) the match; empty at the ends of the text."""
        place = self.match.start() - 1 if step < 0 else self.match.end()
        return self.tokens[place].word if 0 <= place < len(self.tokens) else ""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a rule makes of its tokens: the kind of the new token (a name in `NODES`) and its value."""

    kind: str
    value: Any


Action = Callable[[Found, Seen], Reading | None]


@dataclass(frozen=True, slots=True)
class Rule:
    """One pattern and what it does."""

    regex: re.Pattern[str]
    action: Action
    needs: frozenset[str]
    """Characters of which one must be there, or the rule cannot match; empty when any may do."""


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str], frozenset[str]], ...]:
    data = table("times/grammar")
    macros: dict[str, str] = data["macros"]
    known = words()
    return tuple(
        (step["does"], re.compile(regex), _needs(regex))
        for step in data["step"]
        for regex in (_compiled(pattern, macros, known) for pattern in step["reads"])
    )


def rules(actions: dict[str, Action]) -> tuple[Rule, ...]:
    """Return the rules of the grammar with their actions, in order. Raises KeyError for an action that is missing."""
    return tuple(Rule(regex, actions[does], needs) for does, regex, needs in _patterns())


def _compiled(pattern: str, macros: dict[str, str], known: Words) -> str:
    """Return a rule as a regular expression over the characters of tokens."""
    while MACRO.search(pattern):
        pattern = MACRO.sub(lambda match: macros[match[1]], pattern)
    out: list[str] = []
    opened: list[int] = []
    names: set[str] = set()

    def named(name: str | None) -> str:
        if not name:
            return "(?:"
        while name in names:
            name += "_"
        names.add(name)
        return f"(?P<{name}>"

    for piece in PIECE.finditer(pattern):
        if piece["look"] or piece["open"]:
            opened.append(len(out))
            out.append(piece["look"] or "(?:")
        elif piece["close"]:
            start = opened.pop()
            if piece["group"]:
                out[start] = named(piece["group"])
            out.append(")")
        elif piece["cls"]:
            chars = re.escape(known.classes[piece["cls"]])
            out.append(f"{named(piece['name'])}[{chars}])" if piece["name"] else f"[{chars}]")
        elif piece["word"]:
            char = known.chars[piece["word"]]
            out.append(f"{named(piece['as'])}{char})" if piece["as"] else char)
        elif piece["mark"]:
            out.append(known.chars[piece["mark"]])
        elif piece["regex"]:
            out.append(piece["regex"])
        elif piece["unread"]:
            raise ValueError(f"grammar.toml: {piece['unread']!r} in the pattern {pattern!r} is no part of a pattern")
    return "".join(out)


def _needs(regex: str) -> frozenset[str]:
    """Return the characters of one place that every match has: the first mandatory class or word of a rule."""
    depth, place = 0, 0
    best: frozenset[str] = frozenset()
    while place < len(regex):
        char = regex[place]
        if char == "(":
            close = _closing(regex, place)
            named = re.match(r"\(\?P<\w+>(\[(?:\\.|[^\]])*\]|.)\)", regex[place : close + 1])
            after = regex[close + 1 : close + 2]
            if named and after not in ("?", "*"):
                chars = frozenset(re.sub(r"\\(.)", r"\1", named[1].strip("[]") if len(named[1]) > 1 else named[1]))
                best = chars if not best or len(chars) < len(best) else best
            place = close + 1
        elif char == "|" and depth == 0:
            return frozenset()
        elif char == "[":
            close = re.compile(r"\[(?:\\.|[^\]])*\]").match(regex, place).end()  # type: ignore[union-attr]
            if regex[close : close + 1] not in ("?", "*"):
                chars = frozenset(re.sub(r"\\(.)", r"\1", regex[place + 1 : close - 1]))
                best = chars if not best or len(chars) < len(best) else best
            place = close
        else:
            if ord(char) >= 0xE000 and regex[place + 1 : place + 2] not in ("?", "*"):
                best = frozenset(char)
            place += 1
    return best


def _closing(regex: str, place: int) -> int:
    depth = 0
    while place < len(regex):
        char = regex[place]
        if char == "\\":
            place += 1
        elif char == "[":
            place = re.compile(r"\[(?:\\.|[^\]])*\]").match(regex, place).end() - 1  # type: ignore[union-attr]
        elif char == "(":
            depth += 1
        elif char == ")":
            depth -= 1
            if not depth:
                return place
        place += 1
    return place


def rewrite(tokens: list[Token], chars: dict[str, str], grammar: Sequence[Rule], seen: Seen, text: str) -> list[Token]:
    """Return the tokens after every rule has had its turn.

    Args:
        tokens: of one text, in order.
        chars: the character of each kind of reading.
        grammar: the rules, in order.
        seen: the point of view.
        text: what the tokens were read from.

    Cost O(len(grammar) x len(tokens)); deterministic.
    """
    line = "".join(token.char for token in tokens)
    present = set(line)
    behind = replace(seen, past=True)
    for rule in grammar:
        if rule.needs and rule.needs.isdisjoint(present):
            continue
        match = rule.regex.search(line)
        if match is None:
            continue
        made: list[Token] = []
        done = 0
        while match is not None:
            reading = None
            if match.end() > match.start():
                led = tokens[match.start() - 1].word if match.start() else ""
                try:
                    reading = rule.action(Found(match, tokens, text), behind if led == "since" else seen)
                except (ValueError, OverflowError):  # a day that does not exist, or one outside the years 1 to 9999
                    reading = None
            if reading is None:
                match = rule.regex.search(line, match.start() + 1)
                continue
            made.extend(tokens[done : match.start()])
            first, last = tokens[match.start()], tokens[match.end() - 1]
            made.append(Token(chars.get(reading.kind, reading.kind), first.start, last.end, "", reading.value))
            done = match.end()
            match = rule.regex.search(line, done)
        if made:
            tokens = [*made, *tokens[done:]]
            line = "".join(token.char for token in tokens)
            present = set(line)
    return tokens
