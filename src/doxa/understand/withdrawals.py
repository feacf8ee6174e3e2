"""Withdrawals: what a speaker takes back of his own words."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files

from doxa.core.values import Act, Claim
from doxa.language import stems, stems_of
from doxa.memory import Beliefs, describe_rule, rule_id
from doxa.understand.earlier import Earlier, heads

__all__ = ["Withdrawal", "dropped_rules", "is_withdrawal", "withdrawals"]

TRIGGER = frozenset(
    stems(
        "forget ignore disregard scratch strike drop delete remove undo discard erase retract withdraw said told gave "
        "mentioned wrote say tell mean take back joke kidding true please what everything anything whatever all bit "
        "part thing stuff one remark comment statement claim earlier before just now ago yesterday today again never "
        "mind mine own wrong mistaken number figure value entry information made lied memory well too also "
        "please then entirely word go "
        "source count price own say-so attention business bogus nonsense rubbish mistake misunderstanding back"
    )
) - frozenset(stems("memory"))
KINDS = ("withdraw", "joke", "erase")
WHAT = ("what", "what2", "what3", "what4", "what5")
REFERRING = re.compile(r"\b(?:it|that|those|these)\b", re.IGNORECASE)
"""A reason with one of these speaks of what was taken back."""
LIKE = 5
"""Letters by which long words of one family are known ("extension", "extended")."""
ALL = re.compile(r"\b(?:everything|all|anything|whatever|any of)\b", re.IGNORECASE)
ABOUT = re.compile(r"\b(?:about|regarding|concerning|on|of)\b (?P<topic>[^,;.!?:]{2,80})", re.IGNORECASE)
RULE_WORDS = frozenset(
    stems_of(
        "rule agreement arrangement deal policy condition promise bet pact hold holds apply applies count stand longer "
        "no not any more over off gone void history last scrapped dropped cancelled lifted ended that there"
    )
)
RULE = re.compile(r"\b(?:rules?|agreement|arrangement|deal|policy|condition|promise|bet|pact)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Withdrawal:
    """What a sentence takes back: its claims, and what it says besides."""

    claims: tuple[Claim, ...] = ()
    rest: str = ""


@cache
def _patterns() -> tuple[re.Pattern[str], ...]:
    table = tomllib.loads(files("doxa.understand").joinpath("withdrawals.toml").read_text(encoding="utf-8"))
    return tuple(re.compile(table[kind], re.IGNORECASE) for kind in KINDS)


def is_withdrawal(text: str) -> bool:
    """Tell whether a sentence takes something back."""
    return any(pattern.search(text) for pattern in _patterns())


def withdrawals(text: str, earlier: Earlier) -> Withdrawal | None:
    """Return, for everything that a sentence takes back, the claim again with the act of withdrawing.

    Args:
        text: one sentence, written out.
        earlier: what stands when it is said.

    Only what the speaker said himself is taken back, with the source that he gave for it. Deterministic; O(claims).
    """
    match = next((found for pattern in _patterns() if (found := pattern.search(text))), None)
    if match is None:
        return None
    named = match.groupdict()
    what, rest = _split(next((w for key in WHAT if (w := named.get(key))), ""))
    targets = _meant(what, earlier)
    if named.get("what5"):
        wanted = stems_of(what) - TRIGGER
        targets = [c for c in targets if wanted and _common(wanted, heads(c) | stems_of(c.span)) == len(wanted)]
    if not targets:
        return None
    rest = rest or text[match.end() :].strip(" ,.;:-!")
    turn = earlier.turn
    gone = (
        replace(
            claim, act=Act.WITHDRAW, replaces=None, turn_id=turn.turn_id, known_at=turn.at, role=turn.role, span=text
        )
        for claim in dict.fromkeys(targets)
    )
    return Withdrawal(claims=tuple(gone), rest="" if REFERRING.search(rest) else rest)


def _split(what: str) -> tuple[str, str]:
    """Split what is taken back from the reason that follows it ("..., I was only guessing")."""
    match = re.search(r"(?:,|;|:| [-—–]| because| since|\.) +", what)
    return (what[: match.start()], what[match.end() :]) if match else (what, "")


def _meant(what: str, earlier: Earlier) -> list[Claim]:
    said = earlier.own()
    about = ABOUT.search(what)
    wanted = (stems_of(about["topic"]) - TRIGGER if about else set()) or stems_of(what) - TRIGGER
    if not wanted:
        return _latest(said, earlier, whole=bool(ALL.search(what)))
    scored = [(_score(wanted, claim), claim) for claim in said]
    best = max((score for score, _ in scored), default=(0, 0))
    if best == (0, 0):
        return _by_turn(wanted, said, earlier)
    found = [claim for score, claim in scored if score == best]
    if ALL.search(what):
        return [claim for score, claim in scored if score[0]]
    last = found[-1]
    near = [claim for score, claim in scored if claim.turn_id == last.turn_id and score[0] >= best[0] > 0]
    near += [claim for claim in said if claim not in near and _twin(claim, near)]
    return near or [claim for claim in found if claim.turn_id == last.turn_id]


def _twin(claim: Claim, others: Sequence[Claim]) -> bool:
    """Tell whether a claim is one of others in the words of a rule."""
    return any(
        claim.turn_id == other.turn_id
        and claim.span == other.span
        and claim.subject == other.subject
        and stems_of(claim.object.label) & stems_of(other.object.label)
        for other in others
    )


def _score(wanted: set[str], claim: Claim) -> tuple[int, int]:
    """Return how much of a topic the claim itself says, and then its sentence."""
    return _common(wanted, heads(claim) | stems_of(claim.source)), _common(wanted, stems_of(claim.span))


def _common(wanted: set[str], known: set[str]) -> int:
    """Return how many words of a topic are known, by their stems or, for long ones, their first letters."""
    long = {stem[:LIKE] for stem in known if len(stem) >= LIKE}
    return sum(1 for stem in wanted if stem in known or (len(stem) >= LIKE and stem[:LIKE] in long))


def _by_turn(wanted: set[str], said: Sequence[Claim], earlier: Earlier) -> list[Claim]:
    """Return what was claimed in the last turn that speaks of the topic in other words."""
    turns = {turn.turn_id for turn in earlier.context if _common(wanted, stems_of(turn.text))}
    found = [claim for claim in said if claim.turn_id in turns]
    return [claim for claim in found if claim.turn_id == found[-1].turn_id]


def _latest(said: Sequence[Claim], earlier: Earlier, *, whole: bool) -> list[Claim]:
    turns = [turn.turn_id for turn in earlier.context if turn.speaker == earlier.turn.speaker]
    for turn_id in (earlier.turn.turn_id, *reversed(turns[-3:])):
        claims = [claim for claim in said if claim.turn_id == turn_id]
        if claims:
            return [claim for claim in claims if whole or claim.span == claims[-1].span]
    return []


def dropped_rules(text: str, beliefs: Beliefs, *, named: bool = True) -> tuple[str, ...]:
    """Return the ids of the rules that a sentence gives up ("forget that rule about the rooms"); empty for none.

    Args:
        text: one sentence, written out.
        beliefs: the rules that hold.
        named: it has to call them a rule, an agreement or the like; else the topic is enough.

    Of several that speak of the topic the latest is meant; with no topic, the latest of all. O(rules) when it is one.
    """
    if not is_withdrawal(text) or (named and not RULE.search(text)):
        return ()
    rules = beliefs.rules
    wanted = stems_of(text) - TRIGGER - RULE_WORDS
    scored = [(_common(wanted, stems_of(f"{rule.span} {describe_rule(rule)}")), rule) for rule in rules]
    best = max((score for score, _ in scored), default=0)
    if not rules or (not best and (wanted or not named)):
        return ()
    meant = [rule for score, rule in scored if score == best][-1]
    return tuple(dict.fromkeys(rule_id(rule) for rule in rules if rule.span == meant.span))
