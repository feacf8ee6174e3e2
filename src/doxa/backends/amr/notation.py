"""A graph out of what a parser or a model answered: find it, mend it, check it."""

import logging
import re
from typing import Any, Final

__all__ = ["Unreadable", "find_graph"]

MAX_CHARS: Final = 50_000
MAX_DEPTH: Final = 150
_FENCE: Final = re.compile(r"```[\w-]*\s*\n?(.*?)(?:```|\Z)", re.DOTALL)
_THOUGHT: Final = re.compile(r"\A\s*<think>.*?(?:</think>|\Z)", re.DOTALL)
_TOKEN: Final = re.compile(r'"(?:[^"\\\n]|\\.)*"|[()]')


class Unreadable(ValueError):
    """There is no graph in a text; the message says why, in words that a model can act on."""


def find_graph(text: str) -> str:
    """Gives back the first graph of a text, mended, in one normal form.

    Mended are: prose and fences around it, brackets that were left open, a node that is written out twice (it becomes
    a reference), and a variable that names two nodes (the second is renamed). Nothing is invented.

    Raises:
        Unreadable: There is none, or it cannot be mended.
    """
    text = _THOUGHT.sub("", text[:MAX_CHARS])
    fenced = [block for block in _FENCE.findall(text) if "(" in block]
    cut = _balanced(fenced[0] if fenced else text)
    import penman
    from penman.models.amr import model

    # What it would log is raised here, or does not matter.
    logging.getLogger("penman").setLevel(logging.ERROR)
    codec = penman.PENMANCodec(model=model)
    try:
        tree = codec.parse(cut)
        tree = penman.Tree(_unique(tree.node, {}))
        penman.interpret(tree, model)
    except penman.PenmanError as exc:
        raise Unreadable(f"it is no PENMAN: {getattr(exc, 'message', None) or exc}") from exc
    return str(codec.format(tree, indent=None))


def _balanced(text: str) -> str:
    """Return the text from the first bracket that opens a node to the one that closes it; open ones are closed."""
    start = re.search(r"\(\s*[^\s()/\"]+\s*/", text)
    if start is None:
        raise Unreadable("it holds no node such as (w / want-01)")
    depth = deepest = 0
    for token in _TOKEN.finditer(text, start.start()):
        depth += {"(": 1, ")": -1}.get(token[0], 0)
        deepest = max(deepest, depth)
        if deepest > MAX_DEPTH:
            raise Unreadable(f"it is nested deeper than {MAX_DEPTH} levels")
        if depth == 0:
            return text[start.start() : token.end()]
    return text[start.start() :].rstrip() + ")" * depth


def _unique(node: Any, seen: dict[str, str]) -> Any:
    """Return a node of a tree in which each variable is defined once; `seen` holds the concept of each."""
    variable, branches = node
    concept = next((target for role, target in branches if role == "/"), None)
    if not concept:
        raise Unreadable(f"the variable {variable} has no concept; write ({variable} / concept)")
    if variable in seen:
        stem = re.sub(r"\d+$", "", variable) or "x"
        variable = next(f"{stem}{n}" for n in range(2, len(seen) + 3) if f"{stem}{n}" not in seen)
    seen[variable] = concept
    made = []
    for role, target in branches:
        if not isinstance(target, tuple):
            if target is None:
                raise Unreadable(f"the role {role} of {variable} has no value")
            made.append((role, target))
            continue
        inner, below = target
        again = seen.get(inner) is not None and seen[inner] == _concept(below) and len(below) == 1
        made.append((role, inner if again else _unique(target, seen)))
    return variable, made


def _concept(branches: Any) -> Any:
    return next((target for role, target in branches if role == "/"), None)
