"""Reports -> tables: the rows of the paper as plain data, and as Markdown."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from doxa.core.errors import StoreReadOnlyError
from doxa_bench.implicit import AskedQuery
from doxa_bench.metrics import bootstrap_interval, mean, percentile, ratio

__all__ = ["Cell", "Table", "make_folder", "measured", "tables_of", "write_tables"]

OURS, DENSE = "doxa", "dense"
Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A mean with its 95% bootstrap interval over dialogues; no interval below two dialogues."""

    value: float
    low: float | None = None
    high: float | None = None

    def __str__(self) -> str:
        return f"{self.value:.3f}" + (f" ({self.low:.2f}-{self.high:.2f})" if self.low is not None else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """One table: a name for files, a title, heads, rows, and what has to be known to read it."""

    name: str
    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    note: str = ""

    def markdown(self) -> str:
        """Return it as a Markdown section."""
        lines = [f"## {self.title}", ""]
        lines += [_line(self.heads), _line("---" for _ in self.heads), *(_line(map(_text, row)) for row in self.rows)]
        return "\n".join([*lines, *(["", self.note] if self.note else []), ""])

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain JSON data, cells as `[value, low, high]`."""
        rows = [[[c.value, c.low, c.high] if isinstance(c, Cell) else c for c in row] for row in self.rows]
        return {"name": self.name, "title": self.title, "heads": list(self.heads), "rows": rows, "note": self.note}


def make_folder(folder: Path) -> None:
    """Make a folder for tables where it is missing.

    Raises:
        StoreReadOnlyError: it cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as exc:
        raise StoreReadOnlyError(f"expected a folder to write tables to, got {folder}: {exc}.") from exc


def write_tables(folder: Path, tables: Sequence[Table], *, title: str = "Tables") -> list[Path]:
    """Write tables as `tables.md` and `tables.json`, and return both files."""
    markdown, plain = folder / "tables.md", folder / "tables.json"
    markdown.write_text(f"# {title}\n\n" + "\n".join(table.markdown() for table in tables), encoding="utf-8")
    content = {table.name: table.to_dict() for table in tables}
    plain.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return [markdown, plain]


def measured(asked: Sequence[AskedQuery], value: Callable[[AskedQuery], float]) -> Cell:
    """Return the mean of a value over questions, with an interval over dialogues, whose questions go together."""
    by_dialogue: dict[str, list[float]] = {}
    for one in asked:
        by_dialogue.setdefault(one.dialogue, []).append(value(one))
    interval = bootstrap_interval([[sum(row), len(row)] for row in by_dialogue.values()], ratio)
    low, high = interval or (None, None)
    return Cell(value=mean([value(one) for one in asked]), low=low, high=high)


def tables_of(
    asked: Sequence[AskedQuery],
    *,
    ablations: Sequence[str] = (),
    history_tokens: float = 0.0,
    locomo: Mapping[str, Any] | None = None,
    studied: Mapping[str, Any] | None = None,
) -> list[Table]:
    """Return every table that there are measurements for.

    Args:
        asked: the questions of the implicit benchmark.
        ablations: the systems among them that are ours with a part off.
        history_tokens: mean tokens of a whole history.
        locomo: the report on LoCoMo with baselines, as plain data.
        studied: the replays and the scaling, by name (`run`).
    """
    implicit = [one for one in asked if one.implicit]
    tables: list[Table] = []
    if implicit:
        systems = [name for name in implicit[0].systems if name not in ablations]
        tables += [
            _main(implicit, systems, history_tokens),
            *([_ablations(implicit, ablations)] if ablations else []),
            _grouped("workloads", "Implicit benchmark by workload", implicit, systems, lambda one: [one.workload]),
            _grouped("kinds", "Implicit benchmark by kind of question", implicit, systems, lambda one: [one.kind]),
            _grouped("robustness", "Robustness on subsets (table 10)", implicit, systems, lambda one: one.subsets),
            _grouped("maturity", "Cold start against mature histories (figure 7)", implicit, systems, _stage, STAGES),
            _grouped("distance", "Recall by distance (figure 1)", implicit, systems, _distance, DISTANCES),
            _no_regression(asked, systems),
        ]
    return [*tables, *_locomo(locomo or {}), *_studied(studied or {})]


STAGES = {"<= 10 turns": (0, 10), "11-50 turns": (11, 50), "> 50 turns": (51, 10**9)}
DISTANCES = {"1-20 turns": (0, 20), "21-40 turns": (21, 40), "41-60 turns": (41, 60), "> 60 turns": (61, 10**9)}


def _stage(one: AskedQuery) -> list[str]:
    return [name for name, (low, high) in STAGES.items() if low <= one.after <= high]


def _distance(one: AskedQuery) -> list[str]:
    return [name for name, (low, high) in DISTANCES.items() if low <= one.distance <= high]


def _recall(system: str) -> Callable[[AskedQuery], float]:
    return lambda one: one.systems[system].recall


def _ndcg(system: str) -> Callable[[AskedQuery], float]:
    return lambda one: one.systems[system].ndcg


def _main(asked: Sequence[AskedQuery], systems: Sequence[str], history_tokens: float) -> Table:
    base = mean([one.systems[DENSE].tokens for one in asked]) or 1.0
    rows: list[tuple[Any, ...]] = []
    for name in systems:
        scored = [one.systems[name] for one in asked]
        tokens = mean([one.tokens for one in scored])
        faithful = measured(asked, lambda one, name=name: one.systems[name].faithful)  # type: ignore[misc]
        p95 = percentile([one.ms for one in scored], 95)
        rows.append((name, measured(asked, _recall(name)), measured(asked, _ndcg(name)), faithful, p95, tokens / base))
    rows.append(("long context", "-", "-", "-", "-", history_tokens / base))
    note = (
        f"{len(asked)} questions without a word of their evidence. Faithful: share of the first three that state a "
        "preference which holds. Cost: tokens that a reader is given, against dense. Long context costs only: there is "
        "no model to read it."
    )
    heads = ("system", "Recall@10", "nDCG@10", "faithful", "p95 ms", "cost")
    return Table(name="main", title="Main results (table 5)", heads=heads, rows=tuple(rows), note=note)


def _ablations(asked: Sequence[AskedQuery], ablations: Sequence[str]) -> Table:
    def lost(name: str) -> Cell:
        return measured(asked, lambda one: one.systems[OURS].recall - one.systems[name].recall)

    rows: list[tuple[Any, ...]] = [(OURS, measured(asked, _recall(OURS)), measured(asked, _ndcg(OURS)), "-")]
    rows += [(name, measured(asked, _recall(name)), measured(asked, _ndcg(name)), lost(name)) for name in ablations]
    heads = ("variant", "Recall@10", "nDCG@10", "Recall@10 lost, paired")
    return Table(name="ablations", title="Ablations (table 8)", heads=heads, rows=tuple(rows))


def _grouped(
    name: str,
    title: str,
    asked: Sequence[AskedQuery],
    systems: Sequence[str],
    groups_of: Callable[[AskedQuery], Iterable[str]],
    order: Iterable[str] = (),
) -> Table:
    groups: dict[str, list[AskedQuery]] = {group: [] for group in order}
    for one in asked:
        for group in groups_of(one):
            groups.setdefault(group, []).append(one)
    rows = [
        (f"{group} ({len(found)})", *(measured(found, _recall(system)) for system in systems))
        for group, found in groups.items()
        if found
    ]
    note = "Recall@10 with 95% bootstrap intervals over dialogues; questions in brackets."
    return Table(name=name, title=title, heads=("group", *systems), rows=tuple(rows), note=note)


def _no_regression(asked: Sequence[AskedQuery], systems: Sequence[str]) -> Table:
    slices = {
        "implicit": [one for one in asked if one.implicit],
        "explicit": [one for one in asked if not one.implicit],
        "all": list(asked),
    }
    rows = [(f"{name} ({len(found)})", *(measured(found, _recall(system)) for system in systems))
            for name, found in slices.items() if found]  # fmt: skip
    title = "No regression on other questions (table 19)"
    return Table(name="no-regression", title=title, heads=("questions", *systems), rows=tuple(rows))


def _locomo(found: Mapping[str, Any]) -> list[Table]:
    if "systems" not in found:
        return []
    by_slice = _systems_table("locomo", "LoCoMo, all and implicit questions (table 6)", found["systems"])
    domains = _systems_table("locomo-domains", "LoCoMo's implicit slice by domain (table 16)", found["domains"])
    subtypes = _systems_table("locomo-subtypes", "LoCoMo's implicit slice by subtype (table 17)", found["subtypes"])
    return [by_slice, domains, subtypes]


def _systems_table(name: str, title: str, groups: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> Table:
    rows = [
        (f"{group} ({row['n']})", system, _interval_cell(row, "recall@10"), _interval_cell(row, "ndcg@10"))
        for group, systems in groups.items()
        for system, row in systems.items()
    ]
    note = "95% bootstrap intervals over questions; questions in brackets."
    return Table(
        name=name, title=title, heads=("questions", "system", "Recall@10", "nDCG@10"), rows=tuple(rows), note=note
    )


def _interval_cell(row: Mapping[str, Any], measure: str) -> Cell:
    low, high = row.get(f"{measure}_95") or (None, None)
    return Cell(value=row[measure], low=low, high=high)


def _studied(found: Mapping[str, Any]) -> list[Table]:
    makers: dict[str, Callable[[Any], Table]] = {
        "consistency": _consistency,
        "strength": _strength,
        "coverage": _coverage,
        "routing": _routing,
        "sensitivity": _sensitivity,
        "scaling": _scaling,
        "view_times": _cost,
    }
    return [make(found[name]) for name, make in makers.items() if found.get(name)]


def _consistency(rows: Rows) -> Table:
    heads = ("lambda", "steps", "Recall@10", "nDCG@10", "disagreement", "at unit spread")
    names = ("lambda", "steps", "recall", "ndcg", "disagreement", "disagreement_steady")
    note = (
        "Disagreement: mean symmetric divergence of the graph and the dense view over the ten best candidates of the "
        "test questions; at unit spread, flat scores do not count as agreement."
    )
    title = "Training of the consistency loss (figure 3)"
    return Table(name="consistency", title=title, heads=heads, rows=_picked(rows, names), note=note)


def _strength(rows: Rows) -> Table:
    heads = ("lambda", "Recall@10", "nDCG@10", "disagreement", "reduction", "at unit spread", "reduction there")
    names = ("lambda", "recall", "ndcg", "disagreement", "reduction", "disagreement_steady", "reduction_steady")
    note = "Reductions against lambda 0, which fits both views and lets them disagree."
    title = "Weight of the consistency loss"
    return Table(name="strength", title=title, heads=heads, rows=_picked(rows, names), note=note)


def _coverage(rows: Rows) -> Table:
    heads = ("verified share", "Recall@10", "nDCG@10", "disagreement", "reduction")
    names = ("coverage", "recall", "ndcg", "disagreement", "reduction")
    note = "Reduction of the disagreement against the same fit without alignment (share 0)."
    title = "Verification coverage (table 12a)"
    return Table(name="coverage", title=title, heads=heads, rows=_picked(rows, names), note=note)


def _routing(found: Mapping[str, Any]) -> Table:
    rows = [
        ("error routes, router", found["error_routes"], "another plan better by more than 0.01 in hindsight"),
        ("error routes, static plan", found["error_routes_static"], "the same of one plan for all"),
        ("lead flips under noise", found["flips"], "scores moved by 0.02 of their spread, 20 draws"),
    ]
    for name in ("expanded", "expansion_gain"):
        if found.get(name) is not None:
            rows.append((name.replace("_", " "), found[name], "share of questions" if name == "expanded" else "median"))
    rows += [(f"Recall@10, {one['name']}", one["recall"], f"cost {one['cost']:.2f}") for one in found["policies"]]
    shipped = "The router in use." if found["shipped"] else "No router ships: one fitted to the training worlds."
    note = f"{found['queries']} test questions, by replay. {shipped}"
    return Table(name="routing", title="Routing (table 9)", heads=("measure", "", "note"), rows=tuple(rows), note=note)


def _sensitivity(rows: Rows) -> Table:
    lambdas = list(dict.fromkeys(row["lambda"] for row in rows))
    at = {(row["tau"], row["lambda"]): row["recall"] for row in rows}
    taus = dict.fromkeys(row["tau"] for row in rows)
    body = tuple((f"tau {tau:g}", *(at[tau, weight] for weight in lambdas)) for tau in taus)
    heads = ("Recall@10", *(f"lambda {weight:g}" for weight in lambdas))
    return Table(name="sensitivity", title="Sensitivity to tau and lambda (figure 4)", heads=heads, rows=body)


def _scaling(rows: Rows) -> Table:
    heads = ("history", "turns", "facts", "Recall@10", "nDCG@10", "dense Recall@10", "p50 ms", "p95 ms", "KB a user")
    body = tuple(
        (
            f"{row['factor']}x", row["turns"], row["facts"], _ours(row, "doxa recall"), _ours(row, "doxa ndcg"),
            _ours(row, "dense recall"), row["p50_ms"], row["p95_ms"], row["disk_kb"],
        )
        for row in rows
    )  # fmt: skip
    note = f"{rows[0]['questions']} questions; the time of a search without the encoding of the question."
    return Table(name="scaling", title="History scaling (figure 6)", heads=heads, rows=body, note=note)


def _ours(row: Mapping[str, Any], measure: str) -> Cell:
    low, high = row[f"{measure}_95"] or (None, None)
    return Cell(value=row[measure], low=low, high=high)


def _cost(found: Mapping[str, Any]) -> Table:
    base = found.get("dense", {}).get("mean_ms") or 1.0
    rows = tuple((name, row["mean_ms"], row["p95_ms"], row["mean_ms"] / base) for name, row in found.items())
    note = "One search, by part; a view proposes and scores what it proposed. Against the dense view."
    heads = ("part", "mean ms", "p95 ms", "against dense")
    return Table(name="cost", title="Cost breakdown (appendix D)", heads=heads, rows=rows, note=note)


def _picked(rows: Rows, names: Sequence[str]) -> tuple[tuple[Any, ...], ...]:
    return tuple(tuple(row[name] for name in names) for row in rows)


def _text(value: Any) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
