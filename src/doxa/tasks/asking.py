"""asking: questions about the tasks -> answers from their state, and from their history where they ask for it.

A question never changes anything. What is claimed in one ("wasn't it green?") is held against what stands and stood.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from doxa.core.tasks import NodeKind, ValueKind
from doxa.tasks.claims import claim, gone, said_before, state_of, why
from doxa.tasks.costs import budget_of, cost_of, money, total_of
from doxa.tasks.phrases import Element, words_of
from doxa.tasks.questions import CLAIMING, followers, found_in, nodes_in
from doxa.tasks.reading import Clause
from doxa.tasks.saying import compact, described, joined, named, sentence, summary, value_text
from doxa.tasks.scene import Scene
from doxa.tasks.taking import people_slot
from doxa.tasks.verbs import lexicon, verbs_of

__all__ = ["answer", "asks"]

OTHERWISE = frozenset("see take look run give show get hear talk walk print".split())
LOOKING = frozenset("see hear have know need want like get".split())
WH_WORDS = frozenset("why what who when where which how".split())
HOLDING = frozenset("think believe say tell remember recall swear be have mention".split())

TELL_ME = {"tell", "show", "remind", "give", "read", "send", "run", "walk", "let", "get"}


CLOSING = re.compile(
    r"(?:both|all)\b.*\b(?:with|in order)\b|(?:the )?(?:full|whole|complete|entire|final)\b.*"
    r"\b(?:by|please|again|now|list|plan|programme|schedule|summary)\b"
)


def asks(clause: Clause) -> bool:
    """Tell whether a clause asks for something to be said, and for nothing to be changed."""
    if clause.mood == "question":
        return True
    closing = clause.has(lexicon()["cues"]["finalize"])
    excepting = clause.has(("else", "except", "but", "apart from", "other than", "besides"))
    first = " ".join(clause.lowered.split()[:3])
    if clause.mood == "statement" and closing and not excepting and not clause.values and closing in first:
        return True
    if clause.mood == "statement":
        verb = clause.tokens[clause.at]
        habit = verb.lower == verb.lemma and clause.tokens[max(clause.at - 1, 0)].lower == "never"
        compared = bool(re.search(r"\bthan (?:i|we|you)\b", clause.lowered))
        holds = clause.verb in HOLDING or (clause.negated and not habit)
        return bool(clause.has(CLAIMING)) and holds and not compared
    if clause.mood == "fragment":
        asked = clause.tokens[0].lower in WH_WORDS or CLOSING.match(clause.lowered) is not None
        return not clause.listed and ((bool(closing) and not clause.values) or asked)
    return _asks_to_tell(clause, closing)


def _asks_to_tell(clause: Clause, closing: str) -> bool:
    """Tell whether a request is one to say something: "read it back", "show me the list"."""
    lowered = clause.lowered
    if clause.particle and f"{clause.verb} {clause.particle}" in verbs_of("check"):
        return True
    if clause.verb in verbs_of("check") and closing and not clause.values:
        return True
    if clause.verb in verbs_of("check") and clause.verb not in OTHERWISE:
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
        clause.verb in LOOKING
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
        _how_many,
        why,
        gone,
        claim,
        said_before,
        _money,
        _common,
        _within,
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


def _bare_check(scene: Scene, clause: Clause) -> str:
    """ "Can you double-check?" beside another question says nothing of its own."""
    return (
        " "
        if re.fullmatch(
            r"(?:(?:can|could|would|will) you )?(?:please )?(?:double[- ]?check|check|confirm|verify)(?: (?:that|"
            r"it|please|for me|again))*",
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


MONEY_ASKED = re.compile(
    r"\b(left|leave|remain\w*|(?:over|under|within) budget|afford|budget|total|cost\w*|spend\w*|spent|how much|"
    r"bill|price|owe|"
    r"altogether|comes? to|add up|over)\b"
)


def _money(scene: Scene, clause: Clause) -> str:
    """ "How much is left?", "am I under budget?", "what's the catering bill?": worked out from what stands."""
    spoken = (*nodes_in(scene, clause), *scene.visible_focus())
    root = next((scene.root_of(key) for key in spoken if scene.seen(key)), scene.root())
    if not MONEY_ASKED.search(clause.lowered) or root is None:
        return ""
    total, limit = total_of(scene, root), budget_of(scene, root)
    if not total:
        return ""
    final = bool(clause.has(lexicon()["cues"]["finalize"]))
    told = _bills(scene, clause, root, limit, final=final)
    told.append(_balance(scene, clause, root, total, limit, final=final))
    return " ".join(sentence(part) for part in told if part) or sentence(f"The total is {money(scene, root, total)}")


def _bills(scene: Scene, clause: Clause, root: str, limit: str | None, *, final: bool) -> list[str]:
    """Return what the things that a question names cost, or, for a closing breakdown, everything."""
    nodes = scene.editor
    if final:
        costs = ((child, cost_of(scene, child)) for child in nodes.current(root) if child != limit)
        return [f"{nodes.node(key).name}: {money(scene, root, cost)}" for key, cost in costs if cost is not None]
    priced = (nodes.node(key).name.startswith("price") for key in nodes_in(scene, clause))
    named = [
        nodes.node(key).parents[0] if price else key for key, price in zip(nodes_in(scene, clause), priced, strict=True)
    ]
    costs = ((key, cost_of(scene, key)) for key in named if key not in (root, limit))
    return [f"{nodes.node(key).name} comes to {money(scene, root, cost)}" for key, cost in costs if cost is not None]


def _balance(scene: Scene, clause: Clause, root: str, total: float, limit: str | None, *, final: bool) -> str:
    """Return what is left of a budget, where there is one and it is asked for."""
    value = scene.editor.value(limit) if limit is not None else None
    if value is None:
        return f"the total is {money(scene, root, total)}" if final else ""
    rest = (value.amount or 0) - total
    shown, left = money(scene, root, total), money(scene, root, abs(rest))
    if re.search(r"\b(under|over|within|afford|still)\b", clause.lowered) and "left" not in clause.lowered:
        agrees = "Yes" if (rest >= 0) == ("over" not in clause.lowered) else "No"
        side = "under" if rest >= 0 else "over"
        return f"{agrees}, the total is {shown}, so you are {left} {side} the budget of {value.text}"
    if final or re.search(r"\b(left|leave|remain\w*|budget)\b", clause.lowered):
        return f"the total is {shown} of {value.text}, so {left} {'is left' if rest >= 0 else 'is missing'}"
    return ""


def _how_many(scene: Scene, clause: Clause) -> str:
    """ "How many are we feeding?", "how many animals is that altogether?": what is on a list is counted."""
    if not re.search(r"\bhow many\b", clause.lowered):
        return ""
    nodes = scene.editor
    named = [key for key in nodes_in(scene, clause) if nodes.node(key).kind is not NodeKind.SLOT or nodes.items(key)]
    if any(scene.slot_named(key, ("quantity",)) for key in named):
        return ""
    lists = [key for key in named if nodes.items(key)] or [
        key for key in scene.containers() if not named and nodes.items(key)
    ]
    if not lists:
        return ""
    counts = 0.0
    for item in nodes.items(lists[0]):
        slot = scene.slot_named(item, ("quantity",))
        value = nodes.value(slot) if slot is not None else None
        counts += value.amount if value is not None and value.amount is not None and not value.unit else 1
    return sentence(f"{counts:g}: {joined([nodes.label(item) for item in nodes.items(lists[0])])}")


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


SPANNING = {"date", "day", "start", "end", "return", "arrival", "deadline", "due"}
AWAY = re.compile(r"\b(?:away|gone|abroad|travell?ing|on (?:holiday|vacation|leave|the road)|out of town)\b")


def _within(scene: Scene, clause: Clause) -> str:
    """ "Is the form due while I'm away?", "is the fitting before the wedding?": one day is held against others."""
    match = re.search(r"\b(while|during|before|after)\b", clause.lowered)
    if match is None or clause.mood != "question" or clause.tokens[0].upos != "AUX":
        return ""
    at = next((i for i, token in enumerate(clause.tokens) if token.lower == match[1]), 0)
    first = [key for one in found_in(scene, clause.tokens[:at]) if one.words for key in scene.find(one)[:1]]
    other = [key for one in found_in(scene, clause.tokens[at + 1 :]) if one.words for key in scene.find(one)[:1]]
    if AWAY.search(clause.lowered):
        other = [root for root in scene.editor.roots() if scene.slot_named(root, ("return",))]
    whole = next((key for key in other if key not in first), None)
    day, days = _days(scene, first[:1]), _days(scene, [whole] if whole is not None else [])
    if not day or not days or whole is None:
        return ""
    holds = {
        "before": day[0][0] < days[0][0],
        "after": day[0][0] > days[-1][0],
    }.get(match[1], days[0][0] <= day[0][0] <= days[-1][0])
    spans = " to ".join(dict.fromkeys(text for _, text in (days[0], days[-1])))
    name, than = scene.editor.node(first[0]).name, scene.editor.node(whole).name
    return sentence(f"{'Yes' if holds else 'No'}, {name} is {day[0][1]}, and {than} is {spans}")


def _days(scene: Scene, keys: Sequence[str]) -> list[tuple[float, str]]:
    """Return the days that stand under nodes, the earliest first."""
    own = [slot for key in keys for slot in (key, *(one for one in scene.slots(key) if scene.words(one) & SPANNING))]
    values = [scene.editor.value(slot) for slot in own]
    dated = [one for one in values if one is not None and one.kind is ValueKind.DATE]
    return sorted((one.amount, one.text) for one in dated if one.amount is not None)


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
        return sentence(f"Yes: {state_of(scene, found[0]) or described(scene, found[0])}")
    if clause.verb in ("have", "include", "contain", "be", "need") and owner is not None:
        return f"No, there is no {what.text} for {scene.editor.node(root).name} yet."
    return sentence(f"No: {described(scene, root)}") if not scene.find(what) else ""


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
        r"\b(my plate|to do|to-do|outstanding|open|everything|all (?:my|the|our) (?:tasks|plans|lists)|whole lot|"
        r"the lot|both)\b",
        lowered,
    )
    closing = clause.has(lexicon()["cues"]["finalize"]) or re.search(
        r"\b(look like|looks like|so far|plan|schedule|list|state|status|stand|overview|line-?up|itinerary|"
        r"programme|agenda|where are we|have we got|what have (?:i|we|you) got|read)\b",
        lowered,
    )
    if not wide and not closing:
        return ""
    roots = scene.editor.roots()
    keys = [key for key in nodes_in(scene, clause) if scene.editor.node(key).kind is not NodeKind.ITEM]
    own = [
        key for key in keys if scene.editor.current(key) and (not wide or scene.editor.node(key).kind is NodeKind.TASK)
    ]
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
    root = scene.root()
    roots = [root] if root is not None else []
    if wanted == "participants":
        for key in things or roots:
            people = people_slot(scene, key)
            if people is not None and scene.seen(people) and scene.editor.items(people):
                told.append(f"{scene.editor.node(key).name} has {value_text(scene, people)}")
    if wanted and wanted != "participants":
        for key in things or scene.visible_focus()[:1] or roots:
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
