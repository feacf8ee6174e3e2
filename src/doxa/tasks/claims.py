"""claims: questions about the past, and claims that are held against it."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import replace

from doxa.core.tasks import NodeKind, TaskStatus, TaskValue
from doxa.tasks.phrases import Element, stem, words_of
from doxa.tasks.questions import CLAIMING, SMALL, found_in, nodes_in
from doxa.tasks.reading import Clause
from doxa.tasks.saying import compact, described, joined, named, sentence, value_text
from doxa.tasks.scene import Scene
from doxa.tasks.taking import values_of
from doxa.tasks.verbs import lexicon

__all__ = ["claim", "gone", "said_before", "state_of", "why"]

PLACES = frozenset("destination start location city venue place to from".split())


def why(scene: Scene, clause: Clause) -> str:
    """ "Why did the grouting move?": the turns that changed it, through what it follows."""
    if not re.search(r"\b(why|how come|what for|for what reason)\b", clause.lowered):
        return ""
    keys = nodes_in(scene, clause)
    for typed in clause.values:
        if typed.value is not None:
            keys += [
                key
                for key in scene.everything()
                if (value := scene.editor.value(key)) is not None
                and value.kind is typed.value.kind
                and (value.amount == typed.value.amount or words_of(value.text) == words_of(typed.value.text))
            ]
    if not keys or all(scene.editor.node(key).kind is NodeKind.TASK for key in keys):
        whole = next(
            (key for key in (*keys, *scene.visible_focus()) if scene.editor.node(key).kind is not NodeKind.ITEM),
            scene.root(),
        )
        last = _last_change(scene, keys[0] if keys else whole, deep=True)
        state = sentence(described(scene, scene.root_of(keys[0] if keys else whole or ""))) if (keys or whole) else ""
        merged = (
            "It is one again: the parts were merged."
            if any("merge" in commit.intents for commit in scene.editor.forest.commits[-4:])
            else ""
        )
        return " ".join(part for part in (merged, f"You said: “{last}”." if last else "", state) if part)
    items = [key for key in keys if scene.editor.node(key).kind is not NodeKind.TASK]
    key = next((one for one in items if scene.editor.node(one).kind is NodeKind.ITEM), items[0])
    if not _last_change(scene, key) or _moved_slot(scene, key):
        key = _moved_slot(scene, key) or key
    chain = _chain(scene, key)
    cause = chain[-1]
    last = _last_change(scene, cause)
    past = [one.text for one in values_of(scene, key)]
    told = [
        f"{named(scene, follower)} follows {named(scene, source)}" for follower, source in itertools.pairwise(chain)
    ]
    state = f"{named(scene, key)} is {value_text(scene, key)} now" if value_text(scene, key) else ""
    was = f"it was {joined(list(dict.fromkeys(past[:-1])))} before" if len(past) > 1 else ""
    reason = f"Because you asked for it: “{last}”" if last else "I have no reason for it on record"
    return " ".join(sentence(part) for part in (*told, reason, state, was) if part)


def _moved_slot(scene: Scene, key: str) -> str | None:
    return next((slot for slot in scene.slots(key) if len(values_of(scene, slot)) > 1), None)


def _chain(scene: Scene, key: str) -> list[str]:
    """Return a node, what it follows, what that follows, and so on."""
    chain = [key]
    while True:
        needed = next(
            (
                one.on
                for one in scene.editor.node(chain[-1]).depends
                if one.kind == "derived" and scene.editor.get(one.on) is not None
            ),
            None,
        )
        if needed is None or needed in chain:
            return chain
        chain.append(needed)


def _last_change(scene: Scene, key: str | None, *, deep: bool = False) -> str:
    """Return the words of the turn that changed a node last."""
    if key is None:
        return ""
    keys = {key, *scene.editor.descendants(key)} if deep else {key}
    for commit in reversed(scene.editor.forest.commits):
        if any(edit.node_id in keys for edit in commit.edits) and commit.text:
            return commit.text.strip()
    return ""


def gone(scene: Scene, clause: Clause) -> str:
    """ "Where did my lab report go?", "what happened to the cake?": from history."""
    if not re.search(r"\b(where (?:did|has|have|is|are|'s)|what happened to|what became of|where'd)\b", clause.lowered):
        return ""
    element = next(
        (
            one
            for one in found_in(scene, clause.tokens)
            if one.words and not one.pronoun and one.text.lower() not in ("where", "what")
        ),
        None,
    )
    if element is None:
        return ""
    seen = scene.find(replace(element, attached=()))
    if seen:
        above = [scene.editor.node(parent).name for parent in scene.editor.node(seen[0]).parents if scene.seen(parent)]
        value = value_text(scene, seen[0])
        return sentence(
            f"{named(scene, seen[0])} is {f'under {joined(above)}' if above and not value else value or 'still there'}"
        )
    for key in scene.find(replace(element, attached=()), hidden=True):
        node = scene.editor.node(key)
        scene.attend(key)
        carrier = next(
            (one for one in (key, *scene.editor.ancestors(key)) if not scene.editor.node(one).status.standing), key
        )
        last = _last_change(scene, carrier)
        under = scene.editor.node(node.parents[0]).name if node.parents else ""
        how = (
            f"{node.name} was under {under} and was removed together with it"
            if carrier != key
            else f"{node.name} was {'replaced' if node.status is TaskStatus.REPLACED else f'removed from {under}'}"
        )
        return " ".join((sentence(how), f"You said: “{last}”." if last else ""))
    return sentence(f"I have no record of {element.text}")


def _claimed(clause: Clause) -> list[str]:
    """Return the words of a clause that may be a claimed value: those that name no slot and no task."""
    return [
        token.form
        for token in clause.tokens
        if token.upos in ("NOUN", "PROPN", "NUM", "ADJ", "X", "VERB")
        and token.lower not in SMALL
        and token.lemma not in SMALL
    ]


def claim(scene: Scene, clause: Clause) -> str:
    """ "Wasn't the jacket green?", "I thought the budget was 2000?", "celery was never part of the soup"."""
    lowered = clause.lowered
    negative = re.match(
        r"(?:(?:by the way|hang on|wait|but|so|and|hmm|oh|hey|sorry|um|erm|ok)[, ]+)*(?:was|were|is|are|did|do|"
        r"does|have|has|had|weren|wasn|isn|aren|didn|don|doesn|haven|hadn|should|shouldn|wouldn)\s?n't\b",
        lowered,
    )
    claiming = clause.has(CLAIMING) or (
        re.search(r"\b(?:right|correct|no|isn't it|wasn't it|yeah|yes)$", lowered) and clause.question
    )
    past = re.match(r"(?:was|were|did)\b", lowered)
    if not (
        negative or claiming or (past and clause.mood == "question" and not re.match(r"did (?:i|we|you)\b", lowered))
    ):
        return ""
    keys = list(nodes_in(scene, clause))
    value = _asserted(scene, clause, keys)
    if value is None:
        return ""
    about = _about(scene, clause, keys, value) or _slot_like(scene, clause)
    return _verdict(scene, value, about)


def _asserted(scene: Scene, clause: Clause, keys: Sequence[str]) -> Element | None:
    """Return what a question claims: the last typed value or name in it that is not what it speaks of."""
    flat = found_in(scene, clause.tokens)
    slots = set(keys)
    typed = [one for one in flat if one.value is not None]
    if typed:
        return typed[-1]
    rest = [
        one
        for one in flat
        if not one.text.startswith("part of")
        and one.words
        and not one.pronoun
        and not (set(one.words) <= {stem(word) for word in SMALL} | {"right", "way", "part"})
    ]
    last_words = [
        token for token in clause.tokens if token.upos in ("ADJ", "NOUN", "PROPN") and token.lower not in SMALL
    ]
    known = {word for key in slots for word in scene.words(key)}
    left = [token for token in last_words if stem(token.lower) not in known]
    described = [token for token in left if token.upos == "ADJ" and token.deprel in ("root", "xcomp", "ccomp", "conj")]
    if described:
        return Element(text=described[-1].form, words=(stem(described[-1].lower),))

    for one in reversed(rest):
        found = scene.find(replace(one, attached=()))
        if not found or any(scene.editor.node(key).kind is NodeKind.ITEM for key in found):
            return one
        named_by_value = [key for key in found if not set(one.words) <= scene.words(key)]
        if named_by_value:
            return one
    if left:
        return Element(text=left[-1].form, words=(stem(left[-1].lower),))
    return rest[0] if rest else None


def _about(scene: Scene, clause: Clause, keys: Sequence[str], claimed: Element) -> str | None:
    """Return the slot or list that a claim is about."""
    own = [key for key in keys if not _is_claimed_item(scene, key, claimed)]
    for key in own:
        slot = _slot_about(scene, key, claimed)
        if slot is not None:
            return slot
    items = [key for key in own if scene.editor.items(key)]
    root = scene.root()
    labelled = scene.slot_named(root, words_of(clause.label)) if clause.label and root else None
    found = next(iter(items), None) or labelled or _slot_alike(scene, claimed.value)
    if found is not None:
        return found
    for key in scene.everything():
        if any(words_of(old.text) == claimed.words for old in values_of(scene, key)):
            return key
    if own:
        looks = (slot for key in own for slot in scene.slots(key) if scene.editor.node(slot).name in ("colour", "size"))
        return next(looks, own[0])
    hint = lexicon()["verb_slots"].get(clause.verb, "")
    return scene.slot_named(root, words_of(hint)) if hint and root else None


def _is_claimed_item(scene: Scene, key: str, claimed: Element) -> bool:
    """Tell whether a node is the very item that a claim says something of."""
    named = bool(claimed.words) and set(claimed.words) <= scene.words(key)
    return named and scene.editor.node(key).kind is NodeKind.ITEM


def _slot_about(scene: Scene, key: str, claimed: Element) -> str | None:
    """Return the slot of a node that a claim is about: by the kind of the value, or by the values that it had."""
    if scene.editor.node(key).kind is NodeKind.SLOT and scene.editor.value(key) is not None:
        return key
    slot = scene.slot_of_kind(key, claimed.value) if claimed.value is not None else None
    asked = set(claimed.words)
    had = (s for s in scene.slots(key) if any(asked & set(words_of(old.text)) for old in values_of(scene, s)))
    return slot or next(had, None)


def _slot_alike(scene: Scene, value: TaskValue | None) -> str | None:
    """Return the slot nearest to what is spoken of that holds a value of the same kind."""
    if value is None:
        return None
    root = scene.root()
    for key in (*scene.visible_focus(), *([root] if root else [])):
        own = scene.editor.value(key)
        if own is not None and own.kind is value.kind:
            return key
        slot = scene.slot_of_kind(key, value)
        if slot is not None:
            return slot
    same = (
        key for key in scene.everything() if (own := scene.editor.value(key)) is not None and own.kind is value.kind
    )
    return next(same, None)


def _verdict(scene: Scene, claimed: Element, about: str | None) -> str:
    """Hold a claim against what stands and what stood."""
    text = claimed.value.text if claimed.value is not None else claimed.text
    asked = set(claimed.words) or set(words_of(text))
    if about is not None and not scene.editor.items(about) and scene.editor.value(about) is not None:
        now = value_text(scene, about)
        had = values_of(scene, about)
        if asked <= set(words_of(now)) or _same_amount(scene.editor.value(about), claimed.value):
            return sentence(f"Yes, {named(scene, about)} is {now}")
        if any(asked <= set(words_of(old.text)) or _same_amount(old, claimed.value) for old in had):
            last = _last_change(scene, _chain(scene, about)[-1])
            return " ".join(
                (
                    sentence(f"{named(scene, about)} was {text} before and was changed to {now}"),
                    f"It is {now} now, since you said: “{_clean(last)}”." if last else "",
                )
            )
        return f"No, I have no record of {text}. {sentence(f'{named(scene, about)} is {now}')}"
    for key in (*scene.everything(), *scene.hidden()):
        if scene.editor.node(key).kind is NodeKind.ITEM and asked and asked <= scene.words(key):
            return _item_past(scene, key, about, text)
    if about is not None:
        shown = value_text(scene, about) or compact(scene, about)
        return (
            f"No, I have no record of {text}. {sentence(f'{named(scene, about)} has {shown}') if shown else ''}".strip()
        )
    return f"No, I have no record of {text}."


def _same_amount(one: TaskValue | None, other: TaskValue | None) -> bool:
    return (
        one is not None
        and other is not None
        and one.kind is other.kind
        and one.amount is not None
        and one.amount == other.amount
    )


def _clean(text: str) -> str:
    return text.rstrip(". ")


def _item_past(scene: Scene, key: str, about: str | None, text: str) -> str:
    """Say whether an item is, or was, in a list."""
    node = scene.editor.node(key)
    lists = (
        [about]
        if about is not None and scene.editor.get(about) is not None
        else [parent for parent in node.parents if scene.seen(parent)]
    )
    where = lists[0] if lists else None
    label = scene.editor.label(key)
    if where is not None and key in scene.editor.items(where):
        return sentence(f"Yes, {label} is in {scene.editor.node(where).name}")
    first = next(
        (commit for commit in scene.editor.forest.commits if any(edit.node_id == key for edit in commit.edits)), None
    )
    held = where is None or any(
        label in (value if isinstance(value, list) else [value])
        for _, value in scene.editor.forest.timeline(where)
        if value
    )
    if not held:
        shown = value_text(scene, where) if where else ""
        return (
            f"No, I have no record of {text} in {scene.editor.node(where).name}. {sentence(f'It has {shown}')}"
            if where
            else f"No, I have no record of {text}."
        )
    name = f" in {scene.editor.node(where).name}" if where else ""
    last = _last_change(scene, key)
    start = (
        f"{label} was{name} at first: you said “{_clean(first.text)}”"
        if first is not None
        else f"{label} was{name} at first"
    )
    ended = "replaced" if node.status is TaskStatus.REPLACED else "removed"
    return " ".join(
        (
            sentence(start),
            f"It was {ended} later: “{_clean(last)}”." if last and (first is None or last != first.text) else "",
        )
    )


def said_before(scene: Scene, clause: Clause) -> str:
    """ "Did I say Priya couldn't come?", "I never said Bruges, right?": from the words of the turns."""
    lowered = clause.lowered
    if not re.search(
        r"\b(?:did|have|had|do|when did|haven't|didn't)\s+(?:i|we|you)\b|\bi never\b|\bi (?:did not|didn't|haven't)\b",
        lowered,
    ):
        return ""
    words = [stem(word.lower()) for word in _claimed(clause)]
    if not words:
        return ""
    commits = scene.editor.forest.commits
    keys = nodes_in(scene, clause, hidden=True)
    said = [commit for commit in commits if commit.text and set(words) <= set(words_of(commit.text))]
    removing = (
        re.search(
            r"\b(?:remove|removing|cancel|drop|delete|deleting|take out|took out|couldn't|can't|not|isn't)\w*", lowered
        )
        is not None
    )
    state = [state_of(scene, key) for key in keys[:2] if scene.seen(key)]
    if said and not removing:
        quoted = said[-1].text.strip()
        return " ".join((f"Yes, you said: “{_clean(quoted)}”.", *(sentence(one) for one in state if one)))
    gone = [key for key in keys if scene.editor.get(key) is not None and not scene.seen(key)]
    told = "No, I have no record that you said so."
    if gone and scene.editor.node(gone[0]).status is TaskStatus.REPLACED:
        told += f" {sentence(f'{scene.editor.node(gone[0]).name} was replaced')}"
    if not state:
        slot = _slot_like(scene, clause)
        state = [f"{named(scene, slot)} is {value_text(scene, slot)}"] if slot else []
    if not keys and not state:
        root = scene.root()
        state = [described(scene, root)] if root else []
    return " ".join((told, *(sentence(one) for one in state if one)))


def state_of(scene: Scene, key: str) -> str:
    """Return what stands of a node in one phrase: its value, or the lists that it is in."""
    node = scene.editor.node(key)
    if node.kind is NodeKind.ITEM:
        above = [named(scene, parent) for parent in node.parents if scene.seen(parent)]
        return f"{scene.editor.label(key)} is in {joined(above)}"
    text = value_text(scene, key)
    return f"{named(scene, key)} is {text}" if text else ""


def _slot_like(scene: Scene, clause: Clause) -> str | None:
    """Return a slot whose value is of the kind of a name in the question."""
    names = [token for token in clause.tokens if token.upos == "PROPN"]
    if not names:
        return None
    for key in (*scene.visible_focus(), *scene.everything()):
        value = scene.editor.value(key)
        place = names[-1].tag.endswith("PLACE")
        if (
            value is not None
            and value.text[:1].isupper()
            and scene.editor.node(key).kind is NodeKind.SLOT
            and value.amount is None
        ) and (not place or scene.editor.node(key).name in PLACES):
            return key
    return next(
        (key for key in scene.everything() if scene.editor.node(key).name in ("destination", "location", "city")), None
    )
