"""The tree drawn in `core/errors.py`, its classes and its export list say the same."""

import inspect
import re

import pytest

from doxa.core import errors

CLASSES = {
    cls.__name__: cls for cls in vars(errors).values() if inspect.isclass(cls) and cls.__module__ == errors.__name__
}
LINE = re.compile(r"^(?P<indent>[│├└─ ]*)(?P<name>\w+Error)\b")


def drawn_tree(drawing: str) -> dict[str, str]:
    """Return `child -> parent` as the box drawing has it; a level is four columns."""
    ancestors: list[str] = []
    parents = {}
    for line in drawing.splitlines():
        if found := LINE.match(line):
            depth = len(found["indent"]) // 4
            del ancestors[depth:]
            parents[found["name"]] = ancestors[-1] if ancestors else "Exception"
            ancestors.append(found["name"])
    return parents


def drawing() -> str:
    doc = inspect.getdoc(errors) or ""
    return "\n".join(line[4:] for line in doc.splitlines() if line.startswith("    "))


def test_drawn_tree_agrees_with_the_classes():
    assert drawn_tree(drawing()) == {name: cls.__base__.__name__ for name, cls in CLASSES.items()}


def test_export_list_is_the_classes_in_order():
    assert errors.__all__ == sorted(CLASSES)


def test_drawing_is_read_level_by_level():
    assert drawn_tree("AError\n├── BError   b\n│   └── CError\n└── DError") == {
        "AError": "Exception",
        "BError": "AError",
        "CError": "BError",
        "DError": "AError",
    }


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_every_error_says_what_it_means(name):
    assert vars(CLASSES[name])["__doc__"]
