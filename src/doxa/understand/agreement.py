"""What one speaker makes of another's words: accepts them, says the same, or says something else.

"You're right, Mosul" takes over what the other said; "yes, 7 zloty" says it as well;
"No Omar, in Mosul" says something else of the same thing. A document that is quoted ("the card says 2017") is read
like another speaker, whose word the claim then carries.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from doxa.core.values import Act, Claim, Modality
from doxa.language import stems_of
from doxa.understand.earlier import Earlier, heads
from doxa.understand.fragments import Fragment, read_fragment, refit, sort_of
from doxa.understand.repairs import Repair, put_right, wording

__all__ = ["accepted", "answered", "confirmed", "quoted_value"]

RECENT = 4
OPENING = re.compile(
    r"^(?:(?:I can confirm(?: that)?|can confirm(?: that)?|I confirm|yes|yep|yeah|no|nope|nah|oh|well|hm+|ah|"
    r"right|correct|exactly|indeed|true|same here|ditto|confirmed|actually|"
    r"wait|really|same as (?:what )?I (?:heard|have|had|know|read|was told|remember)|no \w{1,3}(?=,)|"
    r"(?:it|that|this|he|she|they) (?:is|was|are|were|does|did|do) not|I (?:also )?(?:have|had|heard|thought|"
    r"think|got|say|said|read|saw|see|was told|remember)(?: that| it is| it was)?|"
    r"(?:it|that|this|he|she|they) (?:is|was|are|were)|mine says|my \w+ says)\b[,:;.]?\s*)+",
    re.IGNORECASE,
)


def accepted(text: str, earlier: Earlier) -> Repair | None:
    """Return the claims of a speaker who gives in to another ("You're right, Mosul"); None when he does not.

    Args:
        text: one sentence, written out.
        earlier: what stands when it is said.
    """
    match = wording("accept").search(text)
    if match is None:
        return None
    who = next(
        (name for key in ("who", "whom", "trusted") if (name := match[key]) and name not in ("he", "she", "you")), ""
    )
    spoken = earlier.recent(earlier.others(who), RECENT) or (earlier.others(who) if who else ())
    rest = text[match.end() :].strip(" ,;:.-")
    fragment = read_fragment(OPENING.sub("", rest)) if rest else None
    for theirs in reversed(spoken):
        mine = [claim for claim in earlier.rivals(theirs) if claim.speaker == earlier.turn.speaker]
        if not mine or (fragment is not None and refit(mine[-1], fragment, earlier.turn.at) is None):
            continue
        right = refit(mine[-1], fragment, earlier.turn.at) if fragment else None
        if right is not None and right.object.key != theirs.object.key:
            continue
        claims = tuple(put_right(mine[-1], replace(theirs, functional=mine[-1].functional), earlier, text))
        return Repair(claims=claims, rest=_unread(rest, fragment))
    own = [claim for claim in earlier.recent(earlier.own(), RECENT) if fragment and _fit(claim, fragment, earlier)]
    if own and fragment is not None and spoken and sort_of(fragment.new, earlier.turn.at) != "noun":
        right = _fit(own[-1], fragment, earlier)
        if right is not None and right.object != own[-1].object:
            return Repair(claims=tuple(put_right(own[-1], right, earlier, text)), rest=fragment.rest)
    return None


def _unread(rest: str, fragment: Fragment | None) -> str:
    return fragment.rest if fragment is not None else rest


def confirmed(text: str, earlier: Earlier) -> Repair | None:
    """Return what the turn before says, of a speaker who says that it is so ("That's right"); None for other words."""
    if not earlier.context or earlier.context[-1].speaker == earlier.turn.speaker:
        return None
    match = wording("confirm").match(text)
    rest = text[match.end() :].strip(" ,;:.-!") if match else ""
    if match is None or (
        rest and not re.match(r"(?:that is|it is|I can|I agree|exactly|of course|too|as well)\b", rest)
    ):
        return None
    before = earlier.context[-1]
    said = [claim for claim in earlier.others() if claim.turn_id == before.turn_id and claim.act is not Act.WITHDRAW]
    firm = [claim for claim in said if claim.modality in (Modality.ASSERTED, Modality.PLANNED)]
    if not firm or before.text.rstrip().endswith("?"):
        return None
    return Repair(claims=tuple(_told(claim, earlier, text, "") for claim in firm))


def answered(text: str, earlier: Earlier) -> Repair | None:
    """Return what a fragment says beside, or against, what others just said; None when it is no such fragment.

    Args:
        text: one sentence, written out.
        earlier: what stands when it is said.
    """
    others = earlier.recent(earlier.others(), RECENT)
    if not others:
        return None
    text = _unaddressed(text, earlier)
    opening = OPENING.match(text)
    fragment = read_fragment(OPENING.sub("", text))
    found = _target(fragment, others, earlier) if fragment is not None else None
    if fragment is None or found is None:
        return None
    target, right = found
    if not (opening or _of_one_kind(fragment, target, earlier)):
        return None
    right = replace(right, valid=target.valid) if right.object == target.object else right
    if target.role != "user" and right.object != target.object:
        return Repair(claims=tuple(put_right(target, right, earlier, text)), rest=fragment.rest)
    return Repair(claims=(_told(right, earlier, text, ""),), rest=fragment.rest)


def quoted_value(source: str, value: str, earlier: Earlier, text: str) -> Repair | None:
    """Return what a source says of what was spoken of ("The card says 2017"); None when the value fits nothing.

    Args:
        source: the label of the person or document.
        value: what it says.
        earlier: what stands when it is said.
        text: the sentence.
    """
    fragment = read_fragment(re.sub(r",? (?:though|however|instead|too|as well)$", "", OPENING.sub("", value)))
    if fragment is None:
        return None
    found = _target(fragment, earlier.recent(earlier.claims, RECENT * 2), earlier)
    if found is None:
        return None
    return Repair(claims=(_told(found[1], earlier, text, source),), rest=fragment.rest)


def _target(fragment: Fragment, pool: Sequence[Claim], earlier: Earlier) -> tuple[Claim, Claim] | None:
    """Return the claim that a fragment takes up, and the claim that the fragment makes of it."""
    at, topic = earlier.turn.at, stems_of(fragment.topic)
    fitting = [(claim, right) for claim in pool if (right := _fit(claim, fragment, earlier)) is not None]
    on_topic = [pair for pair in fitting if topic & (heads(pair[0]) | stems_of(pair[0].span))]
    if topic and not on_topic:
        return None
    sort = sort_of(fragment.new, at)
    exact = [pair for pair in (on_topic or fitting) if pair[0].object == pair[1].object]
    if exact:
        return exact[-1]
    if sort == "noun":
        return None
    return next(_closest(on_topic or fitting, fragment), None)


def _closest(pairs: Sequence[tuple[Claim, Claim]], fragment: Fragment) -> Iterator[tuple[Claim, Claim]]:
    placed = [pair for pair in pairs if fragment.preposition and f" {fragment.preposition} " in f"{pair[0].span} "]
    yield from reversed(placed)
    yield from reversed(pairs)


def _fit(claim: Claim, fragment: Fragment, earlier: Earlier) -> Claim | None:
    right = refit(claim, fragment, earlier.turn.at)
    if right is None and fragment.bare.casefold() == claim.object.key:
        return claim
    return right


def _of_one_kind(fragment: Fragment, target: Claim, earlier: Earlier) -> bool:
    """Tell whether a bare value repeats what was said, or corrects its number at once ("3 eggs." - "4 eggs.")."""
    said, known = fragment.bare.casefold().split(), target.object.key.split()
    if said == known:
        return _sort(fragment, earlier) != "noun"
    at_once = bool(earlier.context) and target.turn_id == earlier.context[-1].turn_id
    return at_once and len(said) > 1 and said[1:] == known[1:] and _sort(fragment, earlier) == "number"


def _sort(fragment: Fragment, earlier: Earlier) -> str:
    return sort_of(fragment.new, earlier.turn.at)


def _unaddressed(text: str, earlier: Earlier) -> str:
    """Return a sentence without the name of the one it is said to."""
    names = {turn.speaker for turn in earlier.context if turn.speaker != earlier.turn.speaker}
    for name in names:
        first = re.escape(name.split()[0])
        text = re.sub(rf"^((?:\w+,? ){{0,3}}?){first}\b[,:]? ?", r"\1", text)
        text = re.sub(rf",? {first}$", "", text)
    return text.strip(" ,")


def _told(claim: Claim, earlier: Earlier, text: str, source: str) -> Claim:
    turn = earlier.turn
    return replace(
        claim, act=Act.STATE, replaces=None, turn_id=turn.turn_id, speaker=turn.speaker, role=turn.role,
        known_at=turn.at, span=text, source=source,
    )  # fmt: skip
