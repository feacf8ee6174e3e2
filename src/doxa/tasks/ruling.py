"""ruling: clauses that state rules: what follows what, what waits for what, what is done."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from doxa.core.errors import TaskCycleError
from doxa.core.tasks import Dependency, NodeKind, TaskValue, ValueKind
from doxa.tasks.adding import new_task, put_slot
from doxa.tasks.changing import is_slot, scene_slot
from doxa.tasks.moving import shifted
from doxa.tasks.phrases import Element, elements, stem, words_of
from doxa.tasks.reading import Clause
from doxa.tasks.roles import objects, subject
from doxa.tasks.scene import Scene
from doxa.tasks.shifts import Shift
from doxa.tasks.verbs import Token

__all__ = ["done_frame", "rule_frame"]


def done_frame(scene: Scene, clause: Clause) -> str | None:
    """ "The deposit is paid", "tick off the tiles", "I've finished the report"."""
    said: list[Element] = []
    if f"{clause.verb} {clause.particle}" in ("tick off", "check off", "mark off") or (
        clause.verb in ("finish", "complete") and clause.mood != "question"
    ):
        said = [one for one in objects(scene, clause) if one.text and not one.value]
    elif clause.verb == "mark" and clause.has(("as done", "done", "complete", "completed", "finished")):
        said = [replace(one, attached=(), text=one.text) for one in objects(scene, clause)][:1]
    elif (
        clause.verb == "be"
        and clause.mood == "statement"
        and not clause.negated
        and re.search(
            r"\b(?:is|are|'s) (?:all |now |already )?(?:done|finished|complete|completed|sorted|ticked off)\b",
            clause.lowered,
        )
    ):
        one = subject(scene, clause)
        said = [one] if one is not None else []
    keys = [key for one in said for key in scene.find(one)]
    for key in keys:
        scene.editor.done(key)
        scene.touch(key)
    return "update" if keys else None


def rule_frame(scene: Scene, clause: Clause) -> str | None:
    """ "Grouting is always the day after tiling", "a letter has to be in before I can send the application"."""
    if clause.mood == "question" or clause.mark == "if":
        return None
    said = subject(scene, clause)
    needed = re.search(
        r"\b(?:has to|have to|must|needs? to) (?:be|come|arrive|happen|get|go)?\b.*?\b(?:before|until)\b(.+)$",
        clause.lowered,
    )
    counted = RULE.search(clause.text)
    if needed and not (counted is not None and counted["amount"] and counted["unit"]):
        return need_frame(scene, clause, said, needed[1])
    if re.search(r"\b(?:can't|cannot|can not|only|depends? on|waits? for|needs)\b", clause.lowered):
        waits = re.search(
            r"\b(?:can't|cannot|can not|can only|only|must|should).*?\b(?:until|before|once|after|when)\b(.+)$|"
            r"\b(?:depends? on|waits? for|waiting for)\b(.+)$",
            clause.lowered,
        )
        if waits and not clause.values and said is not None and not said.pronoun:
            return wait_frame(scene, clause, said, waits[1] or waits[2])
    if not apply_rule(scene, said, clause, clause.text):
        return None
    scene.ruled = True
    return "new" if scene.editor.forest.get(scene.last) is None else "update"


def need_frame(scene: Scene, clause: Clause, said: Element | None, before: str) -> str | None:
    """Note that one thing has to be there before another."""
    words = words_of(before)
    then = (
        next((key for size in range(len(words)) for key in scene.find(Element(text=before, words=words[size:]))), None)
        or scene.root()
    )
    if said is None or not said.words or then is None:
        return None
    key = next(iter(scene.find(replace(said, attached=()))), None)
    if key is None:
        name = scene.text[clause.subject[0].start : clause.subject[-1].end]
        name = re.sub(r"^(?:a|an|the|my|our)\s+", "", name, flags=re.I)
        key = new_task(scene, name, then if not is_slot(scene, then) else None)
    if key != then and not is_slot(scene, then) and then not in scene.editor.node(key).parents:
        scene.editor.depend(then, Dependency(on=key, kind="before", text=clause.text))
    elif then in scene.editor.node(key).parents:
        scene.editor.alias(key, f"needed before {scene.editor.node(then).name}")
        scene.notes.append(f"{scene.editor.node(key).name} has to be there before {scene.editor.node(then).name}")
    scene.touch(key)
    return "new"


def wait_frame(scene: Scene, clause: Clause, said: Element, on: str) -> str | None:
    """Note that one thing waits for another."""
    words = words_of(re.split(r"\b(?:is|are|has|have|was|gets?|arrives?|comes?)\b", on)[0])
    anchor = next(iter(scene.find(Element(text=on, words=words))), None) if words else None
    key = next(iter(scene.find(said)), None)
    if anchor is None or key is None or anchor == key:
        return None
    scene.editor.depend(key, Dependency(on=anchor, kind="before", text=clause.text))
    scene.touch(key)
    return "update"


RULE = re.compile(
    r"(?:(?P<amount>(?:\d+|an?|one|two|three|four|five|six|seven|eight|nine|ten|half an|the)) )?(?P<unit>minute|"
    r"hour|day|night|week|month|fortnight|morning|evening)?s? ?(?P<strict>straight |right |directly |immediately |"
    r"shortly )?(?P<way>after|before|following|later than|ahead of|earlier than|prior to)\s+(?P<anchor>.+)$",
    re.I,
)
SAME = re.compile(
    r"(?:always |whenever )?(?:on |at )?(?:the )?same (?P<what>day|time|date|week|room|place|hour|evening|"
    r"morning) as (?P<anchor>.+)$",
    re.I,
)
STANDING = (
    "always",
    "must",
    "has to",
    "have to",
    "needs to",
    "need to",
    "can only",
    "should always",
    "every time",
    "no matter",
    "only",
    "straight after",
    "right after",
    "whenever",
    "at least",
    "by rule",
    "automatically",
    "follows",
    "comes",
)


def apply_rule(scene: Scene, subject: Element | None, clause: Clause, text: str) -> bool:
    """Read "X is always the day after Y" as a rule that X follows; False where the clause states none."""
    match = RULE.search(text)
    same = SAME.search(text) if match is None else None
    if match is None and same is None:
        return False
    standing = clause.has(STANDING) or (
        match is not None and (match["strict"] or (match["amount"] and clause.mood == "statement"))
    )
    if not standing:
        return False
    found = match or same
    if found is None:
        return False
    start = clause.tokens[0].start
    anchor = _anchor(scene, [token for token in clause.tokens if token.start >= start + found.start("anchor")])
    if anchor is None:
        return False
    if subject is None:
        before = [t for t in clause.tokens if t.end <= start + found.start() and t.lower not in STANDING]
        subject = next((one for one in elements(before, scene.text, scene.typed) if one.words), None)
    if subject is not None and subject.pronoun in ("i", "we", "you") and clause.verb not in ("have", "be"):
        subject = Element(text=clause.verb, words=(stem(clause.verb),))  # "we always bake the day before the market"
    amount, unit = _distance(match)
    return _follow(scene, subject, anchor, amount, unit, clause)


def _anchor(scene: Scene, tokens: Sequence[Token]) -> str | None:
    """Return what a rule counts from: "the van" in "two days before the van turns up"."""
    ends = next((i for i, t in enumerate(tokens) if i and (t.form in (",", ";") or t.upos in ("VERB", "AUX"))), None)
    noun = list(tokens[:ends])
    found = elements(noun, scene.text, scene.typed)
    keys = [key for one in found if one.words or one.pronoun for key in scene.find(one)]
    if not keys and ends is not None:  # a gerund names a thing: "the day after tiling"
        keys = [key for one in elements(tokens, scene.text, scene.typed) if one.words for key in scene.find(one)]
    if not keys:  # "the day before we bake"
        deeds = [Element(text=t.lemma, words=(stem(t.lemma),)) for t in tokens if t.upos == "VERB"]
        keys = [key for one in deeds for key in scene.find(one)]
    return keys[0] if keys else None


def _distance(match: re.Match[str] | None) -> tuple[float, str]:
    if match is None:
        return 0.0, "day"
    said = (match["amount"] or "").lower()
    numbers = {
        "a": 1,
        "an": 1,
        "the": 1,
        "one": 1,
        "two": 2,
        "three": 3,
        "four": 4,
        "five": 5,
        "six": 6,
        "seven": 7,
        "eight": 8,
        "nine": 9,
        "ten": 10,
        "half an": 0.5,
        "": 1,
    }
    amount = float(numbers.get(said, int(said) if said.isdigit() else 1))
    unit = {"morning": "day", "evening": "day", "night": "day"}.get(
        (match["unit"] or "").lower(), (match["unit"] or "").lower()
    )
    sign = -1.0 if match["way"].lower() in ("before", "ahead of", "earlier than", "prior to") else 1.0
    return (sign * amount, unit) if unit else (0.0, "")


def _follow(scene: Scene, subject: Element | None, anchor: str, amount: float, unit: str, clause: Clause) -> bool:
    """Let a node follow another one by a distance, and give it its value."""
    source = _dated(scene, anchor, unit)
    key = next(iter(scene.find(subject)), None) if subject is not None and (subject.words or subject.pronoun) else None
    if key is None and subject is not None and subject.words and not subject.pronoun:
        key = scene_slot(scene, scene.root(), subject.text, TaskValue(text=""))
        scene.editor.set(key, None)
    if key is None:
        return False
    if source is None or not unit:
        scene.editor.depend(key, Dependency(on=anchor, kind="before", text=clause.text))
        scene.touch(key)
        return True
    follower = _dated(scene, key, unit) or key
    if scene.editor.node(follower).kind is not NodeKind.SLOT:
        follower = put_slot(
            scene,
            follower,
            scene.editor.node(source).name if scene.editor.node(source).name in ("day", "date", "time") else "day",
            TaskValue(text=""),
        )
    try:
        for old in scene.editor.node(follower).depends:
            if old.kind == "derived":
                scene.editor.undepend(follower, old)
        scene.editor.depend(follower, Dependency(on=source, kind="derived", shift=amount, unit=unit, text=clause.text))
    except TaskCycleError as exc:
        scene.doubts.append(str(exc))
        return False
    value = scene.editor.value(source)
    moved = shifted(value, Shift(amount=amount, unit=unit)) if value is not None else None
    if moved is not None:
        scene.editor.change(follower, value=moved)
    scene.touch(follower)
    return True


def _dated(scene: Scene, key: str, unit: str) -> str | None:
    """Return the slot with the date or time of a node: itself, or one of its slots."""
    kinds = (ValueKind.CLOCK,) if unit in ("minute", "hour") else (ValueKind.DATE,)
    for one in (key, *scene.slots(key)):
        value = scene.editor.value(one)
        if value is not None and value.kind in kinds:
            return one
    return None
