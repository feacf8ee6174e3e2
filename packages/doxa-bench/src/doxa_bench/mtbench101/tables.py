"""Results -> the tables of the paper: Tables 1 to 4, by task, by turn, and the sensitivity of the tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from doxa_bench.metrics import mean, percentile
from doxa_bench.mtbench101.complexity import PAPER as PAPER_TABLE_4
from doxa_bench.mtbench101.complexity import Selection
from doxa_bench.mtbench101.dialogues import TASKS
from doxa_bench.mtbench101.measures import (
    MEASURES,
    PUBLISHED,
    DialogueResult,
    against,
    by_task,
    by_turn,
    measured,
    overall,
)
from doxa_bench.mtbench101.systems import ABLATION
from doxa_bench.paper.tables import Cell, Table

__all__ = ["Results", "complexity_table", "sensitivity_table", "tables_of"]

Results = Mapping[str, Sequence[DialogueResult]]
"""System -> what it made of every dialogue and run."""
PAPER_TABLE_1 = (
    ("GPT-4o", 8.20, 0.594, 0.2094, 0.424, 0.522),
    ("GPT-4o, Mem0", 8.22, 0.602, 0.2194, 0.426, 0.524),
    ("GPT-4o, MemoryBank", 8.30, 0.621, 0.2388, 0.393, 0.554),
    ("GPT-4o, D-SMART", 8.63, 0.692, 0.3851, 0.414, 0.549),
    ("COMEDY-13B", 5.75, 0.522, 0.0634, 0.140, 0.185),
    ("Qwen3-8B", 7.79, 0.627, 0.2623, 0.286, 0.481),
    ("Qwen3-8B, D-SMART", 8.58, 0.689, 0.3873, 0.388, 0.548),
)
PAPER_TABLE_2 = (
    ("GPT-4o, base", 9.02, 0.57, 0.1666),
    ("GPT-4o, without tree", 9.17, 0.73, 0.4602),
    ("GPT-4o, without memory", 8.71, 0.66, 0.3356),
    ("GPT-4o, full", 9.11, 0.76, 0.5222),
    ("Qwen3-8B, base", 7.80, 0.66, 0.3210),
    ("Qwen3-8B, without tree", 5.69, 0.70, 0.4130),
    ("Qwen3-8B, without memory", 7.97, 0.61, 0.2303),
    ("Qwen3-8B, full", 8.86, 0.74, 0.5062),
)
PAPER_TABLE_3 = (("Qwen3-8B", 0.27, 1.27), ("GPT-4o API", 3.50, 9.80))
NAMES = {
    "turns": "turns a dialogue",
    "words_per_turn": "words a turn",
    "ttr": "vocabulary diversity (TTR)",
    "ttr_alike": "TTR of equally many words",
    "entities": "unique entities a dialogue",
    "conditional": "turns with a condition",
    "negative": "turns with a negative constraint",
    "new_entities": "new entities a turn",
}
REPEATED = (
    "Repeated: replies that say an earlier one again; CS and DER take them for entailed, so a system that keeps saying "
    "that it does not know looks consistent."
)
OTHERS = "The paper's rows have another NLI model and judge; they stand here for their order, not for comparison."
NONE = "-"


def tables_of(results: Results, selection: Selection, *, note: str = "") -> list[Table]:
    """Return every table that there are results for.

    Args:
        results: system -> its results.
        selection: the refined subset.
        note: what has to be known to read them, beside what is always said.
    """
    subset = set(selection.ids)
    refined = {name: [one for one in found if one.id in subset] for name, found in results.items()}
    return [
        _overall(results, note),
        _consistency(results, note),
        _memory(results),
        _ablation(refined, note),
        _latency(results),
        complexity_table(selection),
        *(_grouped(name, found) for name, found in results.items()),
    ]


def complexity_table(selection: Selection) -> Table:
    """Return the statistics of the refined subset beside those of all dialogues (table 4)."""
    rows = []
    for name, (whole, part) in selection.statistics.items():
        paper = PAPER_TABLE_4.get(name, (NONE, NONE))
        rows.append((NAMES[name], whole, part, *paper))
    stage = f"{selection.kept} judged 4 to 8" if selection.judged else "stage 1 left out: no judged baseline"
    note = (
        f"{len(selection.ids)} dialogues are refined; {stage}. TTR falls with the number of words by itself: the row "
        "of equally many words tells what is left of the difference."
    )
    heads = ("measure", "all", "refined", "paper, all", "paper, refined")
    title = "Refined subset against all dialogues (table 4)"
    return Table(name="complexity", title=title, heads=heads, rows=tuple(rows), note=note)


def sensitivity_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Return what the tree's size does (figure 7); rows hold `name`, `depth`, `beam`, `branching` and measures."""
    names = ("name", "depth", "beam", "branching", "score", "cs", "der", "f1", "calls")
    heads = ("configuration", "Dmax", "B", "S", "Score", "CS", "DER", "F1", "calls a turn")
    note = "One run of `full` with each size; the same dialogues for all."
    body = tuple(tuple(NONE if row.get(name) is None else row[name] for name in names) for row in rows)
    return Table(name="sensitivity", title="Sensitivity of the tree (figure 7)", heads=heads, rows=body, note=note)


def _overall(results: Results, note: str) -> Table:
    rows: list[tuple[Any, ...]] = []
    for name, found in results.items():
        rows.append((name, _dialogues(found), *_cells(overall(found))))
    for name, score, cs, der, f1, bleu in PAPER_TABLE_1:
        rows.append((f"paper: {name}", NONE, score, cs, der, NONE, NONE, f1, bleu))
    heads = ("system", "dialogues", *MEASURES.values())
    text = " ".join(filter(None, (note, "95% bootstrap intervals over dialogues.", REPEATED, OTHERS)))
    return Table(name="overall", title="Overall (table 1)", heads=heads, rows=tuple(rows), note=text)


def _consistency(results: Results, note: str) -> Table:
    """Return CS and DER of every system, and by how much each is above the model alone."""
    columns = {"CS": "cs", "DER": "der"}
    if any(turn.cs_published is not None for found in results.values() for one in found for turn in one.turns):
        columns |= dict(zip(("CS, the paper's windows", "DER, the paper's windows"), PUBLISHED, strict=True))
    base, rows = results.get("base", ()), list[tuple[Any, ...]]()
    for name, found in results.items():
        cells = [measured(found, lambda one, of=of: one.measure(of)) for of in columns.values()]  # type: ignore[misc]
        above = [against(found, base, lambda one, of=of: one.measure(of)) for of in columns.values()]  # type: ignore[misc]
        rows.append((name, _dialogues(found), *map(_shown, cells), *map(_shown, above if name != "base" else ())))
        rows[-1] += (NONE,) * (2 + 2 * len(columns) - len(rows[-1]))
    heads = ("system", "dialogues", *columns, *(f"{head} - base" for head in columns))
    text = "95% bootstrap intervals over dialogues; of a difference, over differences of the same dialogue."
    windows = "The paper's windows: the dialogue and the reply in one pair, as far as the NLI model reads."
    text = " ".join(filter(None, (note, text, windows if len(columns) > 2 else "")))
    return Table(name="consistency", title="Consistency (equations 4 and 5)", heads=heads, rows=tuple(rows), note=text)


def _memory(results: Results) -> Table:
    """Return, run by run, what the memories held in the end and how often they had something to say."""
    rows: list[tuple[Any, ...]] = []
    for name, found in results.items():
        for run in sorted({one.run for one in found}):
            part = [one for one in found if one.run == run]
            turns = [turn for one in part for turn in one.turns]
            held = [one.facts for one in part if one.facts is not None]
            noted = sum(turn.noted for turn in turns)
            if held or noted:
                none, average = (
                    (sum(not one for one in held), mean([float(one) for one in held])) if held else (NONE,) * 2
                )
                degraded = sum(bool(turn.degraded) for turn in turns)
                rows.append((name, run + 1, len(part), none, average, len(turns), noted, degraded))
    heads = ("system", "run", "dialogues", "without a fact", "facts a dialogue", "turns", "with notes", "degraded")
    note = (
        "Without a fact: dialogues at whose end the memory believed nothing. With notes: turns to which the memory or "
        "the tree had something to say. Degraded: turns for which a model was to do what was then done without it."
    )
    return Table(name="memory", title="What the memories held", heads=heads, rows=tuple(rows), note=note)


def _ablation(refined: Results, note: str) -> Table:
    rows: list[tuple[Any, ...]] = []
    for name, found in refined.items():
        cells = overall(found)
        rows.append((name, _dialogues(found), *(_shown(cells[one]) for one in ("score", "cs", "der"))))
    rows += [(f"paper: {name}", NONE, *values) for name, *values in PAPER_TABLE_2]
    heads = ("system", "dialogues", "Score", "CS", "DER")
    missing = [name for name in ABLATION if name not in refined]
    left = f"Not run: {', '.join(missing)}." if missing else ""
    text = " ".join(filter(None, (note, left, OTHERS)))
    title = "Ablation on the refined subset (table 2)"
    return Table(name="ablation", title=title, heads=heads, rows=tuple(rows), note=text)


def _latency(results: Results) -> Table:
    rows: list[tuple[Any, ...]] = []
    for name, found in results.items():
        turns = [turn for one in found for turn in one.turns if not turn.failed]
        if name == "reference" or not turns:
            continue
        seconds = [turn.seconds for turn in turns]
        rows.append(
            (
                name, mean(seconds), percentile(seconds, 95), mean([turn.maintenance_s for turn in turns]),
                mean([float(turn.calls) for turn in turns]), mean([float(turn.tokens) for turn in turns]),
            )
        )  # fmt: skip
    for name, base, full in PAPER_TABLE_3:
        rows.append((f"paper: {name}, base", base, *[NONE] * 4))
        rows.append((f"paper: {name}, full", full, *[NONE] * 4))
    heads = ("system", "s a reply", "p95", "s for the memory", "calls a reply", "tokens a reply")
    note = (
        "The memory takes a turn in after the reply, while the user types. Machines and models differ from the paper's."
    )
    return Table(name="latency", title="Latency per turn (table 3)", heads=heads, rows=tuple(rows), note=note)


def _grouped(name: str, found: Sequence[DialogueResult]) -> Table:
    rows: list[tuple[Any, ...]] = []
    tasks = by_task(found)
    for task in TASKS:
        if task in tasks:
            rows.append(
                (f"{task} {TASKS[task]}", _dialogues([o for o in found if o.task == task]), *_cells(tasks[task]))
            )
    for turn, cells in by_turn(found).items():
        rows.append((f"turn {turn}", _dialogues([one for one in found if len(one.turns) >= turn]), *_cells(cells)))
    heads = ("task or turn", "dialogues", *MEASURES.values())
    title = f"{name} by task and by turn (figures 4 and 6)"
    return Table(name=f"groups-{name.replace(' ', '-')}", title=title, heads=heads, rows=tuple(rows))


def _dialogues(found: Sequence[DialogueResult]) -> int:
    return len({one.id for one in found})


def _cells(cells: Mapping[str, Cell | None]) -> list[Any]:
    return [_shown(cells[name]) for name in MEASURES]


def _shown(cell: Cell | None) -> Cell | str:
    return NONE if cell is None else cell
