"""asking: questions about the tasks -> answers from their state, and from their history where they ask for it.

A question never changes anything. What is claimed in one ("wasn't it green?") is held against what stands and what stood.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from doxa.core.tasks import NodeKind, TaskStatus, TaskValue
from doxa.tasks.costs import budget_of, cost_of, money, total_of
from doxa.tasks.phrases import Element, elements, stem, words_of
from doxa.tasks.reading import Clause, Token, lexicon, verbs_of
from doxa.tasks.saying import compact, described, joined, named, sentence, summary, value_text
from doxa.tasks.scene import FILLERS, Scene
from doxa.tasks.taking import people_slot, values_of

__all__ = ["answer", "asks"]

TELL_ME = {"tell", "show", "remind", "give", "read", "send", "run", "walk", "let", "get"}
CLAIMING = (
    "i thought",
    "i think",
    "i could have sworn",
    "i'm sure",
    "i am sure",
    "i believe",
    "i said",
    "i told you",
    "i never said",
    "i never",
    "i didn't say",
    "i remember",
    "pretty sure",
    "i'm fairly sure",
    "i recall",
    "i had it down as",
    "weren't we",
    "you said",
    "you told me",
    "thought it was",
    "thought we",
)
SAY = {
    "say",
    "mention",
    "tell",
    "ask",
    "put",
    "set",
    "add",
    "order",
    "request",
    "give",
    "call",
    "write",
    "list",
    "cancel",
    "remove",
    "change",
    "agree",
    "specify",
    "book",
    "note",
    "choose",
    "pick",
    "want",
    "include",
    "drop",
    "suggest",
    "have",
}
SMALL = {
    "i",
    "you",
    "we",
    "it",
    "the",
    "a",
    "an",
    "to",
    "of",
    "in",
    "on",
    "at",
    "for",
    "did",
    "do",
    "does",
    "was",
    "were",
    "is",
    "are",
    "be",
    "been",
    "say",
    "said",
    "ever",
    "never",
    "not",
    "n't",
    "that",
    "this",
    "my",
    "our",
    "from",
    "with",
    "right",
    "have",
    "has",
    "had",
    "there",
    "and",
    "as",
    "would",
    "could",
    "couldn't",
    "can",
    "can't",
    "supposed",
    "going",
    "think",
    "thought",
    "told",
    "tell",
    "me",
    "about",
    "part",
    "mention",
    "mentioned",
    "still",
    "before",
    "really",
    "actually",
    "any",
    "again",
    "meant",
    "already",
    "so",
    "just",
    "now",
    "originally",
    "first",
    "put",
    "ask",
    "asked",
    "set",
    "though",
    "sure",
    "wasn't",
    "isn't",
    "didn't",
    "up",
    "some",
    "by",
    "way",
}


def asks(clause: Clause) -> bool:
    """Tell whether a clause asks for something to be said, and for nothing to be changed."""
    if clause.mood == "question":
        return True
    closing = clause.has(lexicon()["cues"]["finalize"])
    if clause.mood == "statement" and closing and not clause.values and closing in " ".join(clause.lowered.split()[:3]):
        return True
    if clause.mood == "statement":
        return bool(clause.has(CLAIMING)) and (
            clause.verb in ("think", "believe", "say", "tell", "remember", "recall", "swear", "be", "have", "mention")
            or clause.negated
        )
    if clause.mood == "fragment" and clause.listed:
        return False
    if clause.mood == "fragment":
        return (
            bool(clause.has(lexicon()["cues"]["finalize"]))
            and not clause.values
            or clause.tokens[0].lower in ("why", "what", "who", "when", "where", "which", "how")
        )
    lowered = clause.lowered
    if clause.verb in verbs_of("check") and clause.verb not in (
        "see",
        "take",
        "look",
        "run",
        "give",
        "show",
        "get",
        "hear",
        "talk",
        "walk",
        "print",
    ):
        return (
            clause.verb not in ("complete",)
            and not (clause.verb in ("check", "tick") and clause.particle in ("off", "in", "out"))
            and not (clause.verb == "list" and re.search(r"\blist .+ as\b", lowered))
        )
    if clause.verb in TELL_ME and re.search(r"\b(me|us)\b", lowered):
        return bool(
            re.search(
                r"\b(list|summary|overview|rundown|breakdown|recap|plan|schedule|what|who|when|where|which|how|whether|everything|all|full|total|details|latest|current|final|state|status|it|them|both)\b",
                lowered,
            )
        ) or clause.verb in ("tell", "remind", "read", "show")
    if (
        clause.verb in ("see", "hear", "have", "know", "need", "want", "like", "get")
        and re.search(
            r"\b(list|summary|overview|rundown|breakdown|recap|full|final|everything|what|who|when|where|which)\b",
            lowered,
        )
        and not clause.values
    ):
        return clause.wrapped != "" and not re.search(r"\badd|put\b", lowered)
    return (
        clause.verb in ("run", "go", "talk", "walk", "take")
        and bool(re.search(r"\b(through|over)\b", lowered))
        and bool(re.search(r"\b(me|us|it|everything|list|plan|all|them)\b", lowered))
    )


def answer(scene: Scene, clause: Clause, replies: list[str]) -> str:
    """Answer a question: append the answer, and return "check", or "finalize" for a closing summary."""
    lowered = clause.lowered
    text = ""
    for reads in (
        _bare_check,
        _hypothetical,
        _why,
        _gone,
        _claim,
        _said,
        _money,
        _common,
        _needed,
        _exists,
        _summary,
        _value,
    ):
        text = reads(scene, clause)
        if text:
            break
    final = (
        bool(clause.has(lexicon()["cues"]["finalize"]))
        or clause.verb in ("read", "summarise", "summarize", "recap")
        or "generate" in lowered
    )
    named = nodes_in(scene, clause)
    scene.attend(*([key for key in named if scene.editor.node(key).kind is not NodeKind.SLOT] or named))
    if text and text != " " and text not in replies:
        replies.append(text)
    elif not text:
        root = scene.root()
        replies.append(summary(scene, [root]) if root else "There are no tasks yet.")
    return "finalize" if final and not re.match(r"(?:why|did|was|were|is|are|who|when|where)\b", lowered) else "check"


def found_in(scene: Scene, tokens: Sequence[Token]) -> list[Element]:
    """Return the elements of a question, those attached to others beside them."""
    flat: list[Element] = []
    part: list[Token] = []
    parts = [part]
    for token in tokens:
        inside = any(typed.start <= token.start < typed.end for typed in scene.typed)
        named = token.upos == "VERB" and any(stem(token.lower) in scene.words(key) for key in scene.editor.find(token.lower)[:3])
        if token.upos in ("VERB", "AUX") and not inside and not named and not (token.form.endswith("ing") and token.deprel != "root"):
            part = []
            parts.append(part)
        else:
            part.append(token)
    for one in (one for part in parts for one in elements(part, scene.text, scene.typed)):
        flat.append(one)
        flat += [inner for _, inner in one.attached]
    return [one for one in flat if one.words or one.pronoun or one.value is not None]


def nodes_in(scene: Scene, clause: Clause, *, hidden: bool = False) -> list[str]:
    """Return the nodes that a question names, in order."""
    keys: dict[str, None] = {}
    for one in found_in(
        scene,
        [
            token
            for token in clause.tokens
            if token.lower not in ("what", "who", "why", "which", "how", "when", "where")
        ],
    ):
        if not one.words or one.pronoun or one.value is not None and not one.text:
            continue
        trimmed = replace(one, attached=(), other=False)
        found = scene.find(trimmed) or (scene.find(trimmed, hidden=True) if hidden else [])
        if not found and len(one.words) > 1:
            split = [
                scene.find(replace(trimmed, words=one.words[:size], text=" ".join(one.words[:size])))
                for size in range(len(one.words) - 1, 0, -1)
            ]
            found = next((keys_ for keys_ in split if keys_), [])
            slot = scene.slot_named(found[0], one.words) if found else None
            found = [slot] if slot else found or scene.find(replace(trimmed, words=one.words[-1:], text=one.words[-1]))
        for key in found[: None if one.det in ("both", "all") else 2]:
            keys.setdefault(key)
    return list(keys)


def _bare_check(scene: Scene, clause: Clause) -> str:
    """ "Can you double-check?" beside another question says nothing of its own."""
    return (
        " "
        if re.fullmatch(
            r"(?:(?:can|could|would|will) you )?(?:please )?(?:double[- ]?check|check|confirm|verify)(?: (?:that|it|please|for me|again))*",
            clause.lowered,
        )
        and len(scene.clauses) > 1
        else ""
    )


def _hypothetical(scene: Scene, clause: Clause) -> str:
    """ "What happens if the plumber can't come until Friday?": nothing is changed; what depends on it is told."""
    if not re.search(
        r"\b(what if|what happens if|what would happen|what happens when|suppose|would it|if)\b", clause.lowered
    ) or not re.search(r"\b(if|suppose|would)\b", clause.lowered):
        return ""
    keys = nodes_in(scene, clause)
    if not keys:
        return "Nothing is changed by that question."
    told = [
        f"{named(scene, key)} stays at {value_text(scene, key)} unless you change it"
        for key in keys[:1]
        if value_text(scene, key)
    ]
    follows = [named(scene, one) for key in keys[:1] for one in followers(scene, key)]
    told.append(f"{joined(follows)} would move with it" if follows else "nothing else depends on it")
    return " ".join(sentence(part) for part in told)


def followers(scene: Scene, key: str) -> list[str]:
    """Return everything that follows a node by a rule or waits for it."""
    found: dict[str, None] = {}
    waiting_for = [key, *scene.slots(key)]
    while waiting_for:
        for one in scene.editor.dependents(waiting_for.pop()):
            if scene.seen(one) and one not in found:
                found[one] = None
                waiting_for.append(one)
    return list(found)


def _why(scene: Scene, clause: Clause) -> str:
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
        f"{named(scene, follower)} follows {named(scene, source)}"
        for follower, source in zip(chain, chain[1:], strict=False)
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


def _gone(scene: Scene, clause: Clause) -> str:
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
        above = scene.editor.node(node.parents[0]).name if node.parents else ""
        how = (
            f"{node.name} was under {above} and was removed together with it"
            if carrier != key
            else f"{node.name} was {'replaced' if node.status is TaskStatus.REPLACED else 'removed'}{f' from {above}' if above else ''}"
        )
        return " ".join((sentence(how), f"You said: “{last}”." if last else ""))
    return sentence(f"I have no record of {element.text}")


def _claimed(scene: Scene, clause: Clause) -> list[str]:
    """Return the words of a clause that may be a claimed value: those that name no slot and no task."""
    return [
        token.form
        for token in clause.tokens
        if token.upos in ("NOUN", "PROPN", "NUM", "ADJ", "X", "VERB")
        and token.lower not in SMALL
        and token.lemma not in SMALL
    ]


def _claim(scene: Scene, clause: Clause) -> str:
    """ "Wasn't the jacket green?", "I thought the budget was 2000?", "celery was never part of the soup"."""
    lowered = clause.lowered
    negative = re.match(
        r"(?:(?:by the way|hang on|wait|but|so|and|hmm|oh|hey|sorry|um|erm|ok)[, ]+)*(?:was|were|is|are|did|do|does|have|has|had|weren|wasn|isn|aren|didn|don|doesn|haven|hadn|should|shouldn|wouldn)\s?n't\b",
        lowered,
    )
    claiming = (
        clause.has(CLAIMING)
        or re.search(r"\b(?:right|correct|no|isn't it|wasn't it|yeah|yes)$", lowered)
        and clause.question
    )
    past = re.match(r"(?:was|were|did)\b", lowered)
    if not (
        negative or claiming or past and clause.mood == "question" and not re.match(r"did (?:i|we|you)\b", lowered)
    ):
        return ""
    words = _claimed(scene, clause)
    keys = [key for key in nodes_in(scene, clause)]
    value = _asserted(scene, clause, keys)
    if value is None:
        return ""
    about = _about(scene, clause, keys, value) or _slot_like(scene, clause)
    return _verdict(scene, value, about, denied=bool(re.search(r"\bnever\b", lowered))) if words or value else ""


def _asserted(scene: Scene, clause: Clause, keys: Sequence[str]) -> Element | None:
    """Return what a question claims: the last typed value or name in it that is not what it speaks of."""
    flat = found_in(scene, clause.tokens)
    slots = {key for key in keys}
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
    for one in reversed(rest):
        found = scene.find(replace(one, attached=()))
        if not found or any(scene.editor.node(key).kind is NodeKind.ITEM for key in found):
            return one
        named_by_value = [key for key in found if not set(one.words) <= scene.words(key)]
        if named_by_value:
            return one
    last_words = [
        token for token in clause.tokens if token.upos in ("ADJ", "NOUN", "PROPN") and token.lower not in SMALL
    ]
    known = {word for key in slots for word in scene.words(key)}
    left = [token for token in last_words if stem(token.lower) not in known]
    if left:
        return Element(text=left[-1].form, words=(stem(left[-1].lower),))
    return rest[0] if rest else None


def _about(scene: Scene, clause: Clause, keys: Sequence[str], claimed: Element) -> str | None:
    """Return the slot or list that a claim is about."""
    value = claimed.value
    own = [
        key
        for key in keys
        if not (
            set(claimed.words)
            and set(claimed.words) <= scene.words(key)
            and scene.editor.node(key).kind is NodeKind.ITEM
        )
    ]
    for key in own:
        if scene.editor.node(key).kind is NodeKind.SLOT and scene.editor.value(key) is not None:
            return key
        if value is not None:
            slot = scene.slot_of_kind(key, value)
            if slot is not None:
                return slot
        matching = [
            slot
            for slot in scene.slots(key)
            if any(set(claimed.words) & set(words_of(old.text)) for old in values_of(scene, slot))
        ]
        if matching:
            return matching[0]
    items = [key for key in own if scene.editor.items(key)]
    if items:
        return items[0]
    labelled = scene.slot_named(scene.root() or "", words_of(clause.label)) if clause.label and scene.root() else None
    if labelled:
        return labelled
    if value is not None:
        for key in (*scene.visible_focus(), *([scene.root()] if scene.root() else [])):
            if key is None:
                continue
            own_value = scene.editor.value(key)
            if own_value is not None and own_value.kind is value.kind:
                return key
            slot = scene.slot_of_kind(key, value)
            if slot is not None:
                return slot
        for key in scene.everything():
            known = scene.editor.value(key)
            if known is not None and known.kind is value.kind:
                return key
    for key in scene.everything():
        if any(words_of(old.text) == claimed.words for old in values_of(scene, key)):
            return key
    if own:
        colour = next(
            (slot for key in own for slot in scene.slots(key) if scene.editor.node(slot).name in ("colour", "size")),
            None,
        )
        return colour or own[0]
    verb_hint = lexicon()["verb_slots"].get(clause.verb, "")
    if verb_hint and scene.root():
        return scene.slot_named(scene.root() or "", words_of(verb_hint))
    return None


def _verdict(scene: Scene, claimed: Element, about: str | None, *, denied: bool) -> str:
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
            return _item_past(scene, key, about, text, denied=denied)
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


def _item_past(scene: Scene, key: str, about: str | None, text: str, *, denied: bool) -> str:
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


def _said(scene: Scene, clause: Clause) -> str:
    """ "Did I say Priya couldn't come?", "I never said Bruges, right?": from the words of the turns."""
    lowered = clause.lowered
    if not re.search(
        r"\b(?:did|have|had|do|when did|haven't|didn't)\s+(?:i|we|you)\b|\bi never\b|\bi (?:did not|didn't|haven't)\b",
        lowered,
    ):
        return ""
    words = [stem(word.lower()) for word in _claimed(scene, clause)]
    if not words:
        return ""
    commits = scene.editor.forest.commits
    keys = nodes_in(scene, clause, hidden=True)
    said = [commit for commit in commits if commit.text and set(words) <= set(words_of(commit.text))]
    removing = (
        re.search(r"\b(?:remov|cancel|drop|delet|take out|took out|couldn't|can't|not|isn't)\w*", lowered) is not None
    )
    state = [_state_of(scene, key) for key in keys[:2] if scene.seen(key)]
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


def _state_of(scene: Scene, key: str) -> str:
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
        ):
            if not place or scene.editor.node(key).name in (
                "destination",
                "start",
                "location",
                "city",
                "venue",
                "place",
                "to",
                "from",
            ):
                return key
    return next(
        (key for key in scene.everything() if scene.editor.node(key).name in ("destination", "location", "city")), None
    )


def _money(scene: Scene, clause: Clause) -> str:
    """ "How much is left?", "am I under budget?", "what's the catering bill?": worked out from what stands."""
    lowered = clause.lowered
    asked = re.search(
        r"\b(left|remain\w*|remaining|over budget|under budget|within budget|afford|budget|total|cost\w*|spend\w*|spent|how much|bill|price|altogether|come to|comes to|add up|over)\b",
        lowered,
    )
    root = next(
        (scene.root_of(key) for key in (*nodes_in(scene, clause), *scene.visible_focus()) if scene.seen(key)),
        scene.root(),
    )
    if not asked or root is None:
        return ""
    total, limit = total_of(scene, root), budget_of(scene, root)
    if not total:
        return ""
    value = scene.editor.value(limit) if limit is not None else None
    rest = (value.amount or 0) - total if value is not None else None
    told: list[str] = []
    final = clause.has(lexicon()["cues"]["finalize"])
    if final:
        told += [
            f"{scene.editor.node(child).name}: {money(scene, root, cost)}"
            for child in scene.editor.current(root)
            if child != limit and (cost := cost_of(scene, child)) is not None
        ]
    named = [scene.editor.node(key).parents[0] if scene.editor.node(key).name.startswith("price") else key for key in nodes_in(scene, clause)]
    keys = [key for key in named if key not in (root, limit)]
    for key in keys if not final else []:
        cost = cost_of(scene, key)
        if cost is not None:
            told.append(f"{scene.editor.node(key).name} comes to {money(scene, root, cost)}")
    if (
        re.search(r"\b(under|over|within|afford|still)\b", lowered)
        and rest is not None
        and value is not None
        and "left" not in lowered
    ):
        told.append(
            f"{'Yes' if (rest >= 0) == ('over' not in lowered) else 'No'}, the total is {money(scene, root, total)}, so you are {money(scene, root, abs(rest))} {'under' if rest >= 0 else 'over'} the budget of {value.text}"
        )
    elif rest is not None and value is not None and (final or re.search(r"\b(left|remain\w*|budget)\b", lowered)):
        told.append(
            f"The total is {money(scene, root, total)} of {value.text}, so {money(scene, root, rest)} {'is left' if rest >= 0 else 'is missing'}"
        )
    elif not told:
        told.append(f"The total is {money(scene, root, total)}")
    return " ".join(sentence(part) for part in told)


def _common(scene: Scene, clause: Clause) -> str:
    """ "Which ingredients do the two have in common?"."""
    if not re.search(r"\b(in common|both (?:have|use|need|share)|share|overlap|shared)\b", clause.lowered):
        return ""
    lists = [key for key in nodes_in(scene, clause) if scene.editor.items(key)]
    lists = lists if len(lists) > 1 else scene.containers()[:2]
    if len(lists) < 2:
        return ""
    shared = [
        scene.editor.label(item)
        for item in scene.editor.items(lists[0])
        if all(item in scene.editor.items(other) for other in lists[1:])
    ]
    names = joined([scene.editor.node(key).name for key in lists])
    return sentence(f"{names} have {joined(shared)} in common" if shared else f"{names} have nothing in common")


def _needed(scene: Scene, clause: Clause) -> str:
    """ "What has to happen before I send it off?", "what is the tiling waiting for?"."""
    if not re.search(
        r"\b(before|first|waiting for|depend|blocked|need to happen|blocking|prerequisite)\b", clause.lowered
    ) or not re.search(r"\b(has to|have to|need|must|waiting|depend|blocked|blocking|should)\b", clause.lowered):
        return ""
    told: list[str] = []
    for key in dict.fromkeys((*nodes_in(scene, clause), *scene.everything())):
        node = scene.editor.node(key)
        for needed in node.depends:
            if needed.kind == "before" and scene.editor.get(needed.on) is not None and scene.seen(needed.on):
                told.append(f"{scene.editor.node(needed.on).name} comes before {node.name}")
        for alias in node.aliases:
            if alias.startswith("needed before "):
                told.append(f"{node.name} has to be there before {alias.removeprefix('needed before ')}")
    return " ".join(sentence(part) for part in dict.fromkeys(told))


def _exists(scene: Scene, clause: Clause) -> str:
    """ "Is the lamp on the list?", "does his form have a phone number yet?"."""
    if (
        not re.match(
            r"(?:so |and |but |ok |wait |hmm )*(?:is|are|do|does|have|has|am|can|will|did|was|were)\b", clause.lowered
        )
        or clause.mood != "question"
    ):
        return ""
    flat = [one for one in found_in(scene, clause.tokens) if one.words and not one.pronoun]
    if not flat:
        return ""
    owner = _owner(scene, flat)
    root = owner or scene.root()
    if root is None:
        return ""
    what = flat[-1] if clause.verb in ("have", "need", "include", "get", "contain") else flat[0]
    slot = scene.slot_named(root, what.words)
    if slot is not None:
        text = value_text(scene, slot)
        return (
            sentence(f"{named(scene, slot)} is {text}")
            if text
            else sentence(f"No, {named(scene, slot)} is still empty")
        )
    among = scene.editor.descendants(root)
    found = scene.find(replace(what, attached=()), among=[key for key in among if scene.seen(key)])
    if found:
        return sentence(f"Yes: {_state_of(scene, found[0]) or described(scene, found[0])}")
    if clause.verb in ("have", "include", "contain", "be", "need") and owner is not None:
        return f"No, there is no {what.text} for {scene.editor.node(root).name} yet."
    return sentence(f"No: {described(scene, root)}") if clause.mood == "question" and not scene.find(what) else ""


def _owner(scene: Scene, flat: Sequence[Element]) -> str | None:
    """Return the task whose owner a question names or points at: "his form" is not my own."""
    for one in flat:
        keys = [key for key in scene.find(replace(one, attached=())) if scene.editor.node(key).kind is NodeKind.TASK]
        if one.det in ("his", "her", "their") and len(scene.editor.roots()) > 1:
            return scene.root()
        if keys:
            return keys[0]
    return None


def _summary(scene: Scene, clause: Clause) -> str:
    """ "Read both out to me", "full schedule?", "what does the plan look like?", "what's still on my plate?"."""
    lowered = clause.lowered
    wide = re.search(
        r"\b(my plate|to do|to-do|outstanding|open|everything|all (?:my|the|our) (?:tasks|plans|lists)|whole lot|the lot|both)\b",
        lowered,
    )
    closing = clause.has(lexicon()["cues"]["finalize"]) or re.search(
        r"\b(look like|looks like|so far|plan|schedule|list|state|status|stand|overview|line-?up|itinerary|programme|agenda|where are we|have we got|what have (?:i|we|you) got|read)\b",
        lowered,
    )
    if not wide and not closing:
        return ""
    roots = scene.editor.roots()
    keys = [key for key in nodes_in(scene, clause) if scene.editor.node(key).kind is not NodeKind.ITEM]
    own = [key for key in keys if scene.editor.current(key) and (not wide or scene.editor.node(key).kind is NodeKind.TASK)]
    slots = [key for key in keys if not scene.editor.current(key) and value_text(scene, key)]
    if slots and not own and not wide and not clause.has(("full", "complete", "final", "whole", "everything")):
        return ""
    if re.search(r"\bmy own\b", lowered):
        return summary(scene, [key for key in roots if not _others_task(scene, key)][:1] or roots[:1])
    if wide and not own:
        spoken = list(dict.fromkeys(scene.root_of(key) for key in scene.visible_focus()))
        return summary(scene, [root for root in roots if root in spoken or len(roots) <= 3] or roots)
    if own:
        return summary(scene, own[:2])
    root = scene.root()
    return summary(scene, [root]) if root else "There are no tasks yet."


def _others_task(scene: Scene, key: str) -> bool:
    return any(alias.startswith("second ") for alias in scene.editor.node(key).aliases)


def _value(scene: Scene, clause: Clause) -> str:
    """ "Who's in prototyping again?", "what size are the shoes?", "when is it?": the values that are asked for."""
    lowered = clause.lowered
    keys = nodes_in(scene, clause)
    told: list[str] = []
    wanted = _wanted(lowered)
    things = [
        key
        for key in keys
        if scene.editor.node(key).kind is not NodeKind.SLOT or scene.editor.current(key) or scene.editor.items(key)
    ]
    if wanted == "participants":
        for key in things or ([scene.root()] if scene.root() else []):
            people = people_slot(scene, key) if key else None
            if people is not None and scene.seen(people) and scene.editor.items(people):
                told.append(f"{scene.editor.node(key).name} has {value_text(scene, people)}")
    if wanted and wanted != "participants":
        for key in things or [
            one for one in (scene.visible_focus()[:1] or ([scene.root()] if scene.root() else [])) if one
        ]:
            slot = scene.slot_named(key, words_of(wanted))
            if slot is None and scene.editor.value(key) is not None:
                slot = key
            if slot is not None and value_text(scene, slot):
                told.append(f"{named(scene, slot)} is {value_text(scene, slot)}")
    if not told:
        for key in keys:
            text = value_text(scene, key)
            if text and not [one for one in scene.editor.current(key) if scene.editor.node(one).kind is NodeKind.TASK]:
                told.append(
                    f"{named(scene, key)}: {text}"
                    if not _is_list_question(lowered)
                    else f"{scene.editor.node(key).name}: {compact(scene, key)}"
                )
            elif scene.editor.current(key):
                told.append(described(scene, key))
    if not told and not keys and set(re.findall(r"[a-z]+", lowered)) & {"who", "what", "when", "where", "which", "how"}:
        spoken = next((key for key in scene.visible_focus()), None)
        if spoken is not None:
            told.append(described(scene, scene.root_of(spoken)))
    return " ".join(sentence(part) for part in dict.fromkeys(told))


def _is_list_question(lowered: str) -> bool:
    return re.search(r"\b(?:what's in|what is in|list|planned)\b", lowered) is not None


def _wanted(lowered: str) -> str:
    if re.search(r"\bwho(?:'s|se)?\b|\bpeople\b.*\?|\bparticipants\b|\battendees\b", lowered):
        return "participants"
    for cue, slot in (
        ("what time", "time"),
        ("what day", "day"),
        ("when", "time"),
        ("where", "location"),
        ("what size", "size"),
        ("which size", "size"),
        ("what colour", "colour"),
        ("what color", "colour"),
        ("how many", "quantity"),
        ("how long", "duration"),
        ("which room", "room"),
        ("what date", "date"),
        ("which day", "day"),
    ):
        if re.search(rf"\b{cue}\b", lowered):
            return slot
    return ""


_ = (FILLERS,)
