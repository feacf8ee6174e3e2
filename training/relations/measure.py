"""Measure how phrases are mapped to relations, and choose the threshold on the half that is for choosing.

    python training/relations/measure.py

Every second phrase of a relation (and of "none") is for choosing, the others are for measuring.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from doxa.backends import load
from doxa.understand.relations import THRESHOLD, RelationMapper

HERE = Path(__file__).parent


def halves() -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Return the phrases with their relations: those to choose on, those to measure on."""
    lines = (HERE / "phrases.tsv").read_text(encoding="utf-8").splitlines()
    seen: dict[bool, int] = defaultdict(int)
    parts: tuple[list[tuple[str, str]], list[tuple[str, str]]] = ([], [])
    for line in lines:
        phrase, relation = line.split("\t")
        none = relation == "none"
        parts[seen[none] % 2].append((phrase, relation))
        seen[none] += 1
    return parts


def scores(rows: list[tuple[str, str]], mapper: RelationMapper) -> dict[str, float]:
    """Return precision and recall of what is mapped to a listed relation, and the accuracy over all phrases."""
    right = mapped = wanted = accurate = 0
    for phrase, relation in rows:
        found = mapper.relate(phrase)
        name = "none" if found.by == "new" else found.relation.name
        mapped += name != "none"
        wanted += relation != "none"
        right += name == relation != "none"
        accurate += name == relation
    return {"precision": right / max(mapped, 1), "recall": right / wanted, "accuracy": accurate / len(rows)}


def main() -> None:
    """Print the curve on both halves and the chosen threshold."""
    encoder = load("encoder", "builtin")
    choose, measure = halves()
    print(f"{len(choose)} phrases to choose on, {len(measure)} to measure on; in use: {THRESHOLD}")
    print("threshold  choose: P / R / accuracy   measure: P / R / accuracy")
    base = RelationMapper(encoder)
    for step in range(40, 90, 3):
        base._threshold = step / 100
        base.relate.cache_clear()
        cells = [" / ".join(f"{value:.3f}" for value in scores(rows, base).values()) for rows in (choose, measure)]
        print(f"{step / 100:9.2f}  {cells[0]:25s}  {cells[1]}")
    mapper = RelationMapper(encoder)
    ways = [mapper.relate(phrase).by for phrase, _ in measure]
    print("measured half:", {way: ways.count(way) for way in ("lexicon", "likeness", "new")})
    print("in use:", scores(choose, mapper), scores(measure, mapper))
    print("new, though listed: under the right group", parents(measure, mapper))


def parents(rows: list[tuple[str, str]], mapper: RelationMapper) -> str:
    """Return how often a phrase of a listed relation that is taken for a new one comes under the right group."""
    new = [(found, relation) for phrase, relation in rows if (found := mapper.relate(phrase)).by == "new"]
    listed = [(found, relation) for found, relation in new if relation != "none"]
    right = sum(found.parent in mapper.ontology.ancestors(relation) for found, relation in listed)
    return f"{right} of {len(listed)}"


if __name__ == "__main__":
    main()
