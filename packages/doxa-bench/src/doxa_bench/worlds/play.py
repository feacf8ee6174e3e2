"""Dialogues about worlds, held with one system after another -> what each believed in the end.

Metrics follow Baitalik et al. 2026, "Evaluation Metrics". Where that text leaves room:

- A raw label that cannot be read off the answer is no label: never right, no commitment.
- A final label is what the belief state says of the question's atom in the end; of an atom it says nothing of, UNKNOWN.
- *Entailed accuracy*, which the paper does not have, labels by what rules and beliefs entail together. The rules alone
  settle every settled atom, so it mostly measures the solver; it is no comparison with the model's own labels.
- Contradictions are counted where an answer commits to the opposite of an earlier one, whatever the system made of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from doxa_bench.worlds.answerers import Answerer, Setting, parse_label, summary
from doxa_bench.worlds.questions import Question, draw_questions
from doxa_bench.worlds.systems import Believer, Dropped
from doxa_bench.worlds.world import MAX_TABLE_ATOMS, World, WorldSpec, draw_world, has_model, satisfies, truths

__all__ = ["Played", "Script", "draw_scripts", "play"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """A world, the questions about it, and the right labels: what is the same for every system."""

    world: World
    truths: Mapping[str, bool | None]
    questions: tuple[Question, ...]
    seed: str
    """What the simulated answerer draws from."""

    @property
    def labels(self) -> list[str]:
        """The right label of every question."""
        return [question.label_of(self.truths[str(question.lit.atom)]) for question in self.questions]


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """One dialogue under one system."""

    turns: int
    unread: int
    """Answers without a label."""
    raw: int
    """Answers with the right label."""
    final: int
    """Questions whose right label the belief state gives in the end."""
    entailed: int
    """Questions whose right label is entailed in the end; 0 for a state without a model, which entails everything."""
    consistent: bool
    broken: str | None
    """See `Believer.broken`."""
    contradicted: bool
    retractions: int
    rejections: int
    certified: bool
    """That it ended consistent was checked without the solver: its model satisfies every rule and belief."""
    brute_forced: bool | None
    """The truth table says the same as the solver; None where it is too large."""
    dialogue: str = ""
    """Its seed: the same for every system and mode."""
    log: tuple[Dropped, ...] = ()
    """Every literal that was given up or not taken in, where that was wanted."""


def draw_scripts(spec: WorldSpec, schedule: str, count: int, seed: str) -> Iterator[Script]:
    """Yield dialogues; the same for the same arguments, and the first ones the same whatever `count` is."""
    for number in range(count):
        name = f"{seed}/{schedule}/{number}"
        rng = Random(name)
        world = draw_world(spec, rng)
        yield Script(world=world, truths=truths(world), questions=draw_questions(world, schedule, rng), seed=name)


def play(script: Script, answerer: Answerer, setting: Setting, system: str, *, logs: bool = False) -> Played:
    """Hold one dialogue and return how it went, with `logs` every revision too. At most one call per question."""
    believer = Believer(system, script.world, logs=logs)
    speaker = answerer.speak(script.world, script.truths, setting, f"{script.seed}/{setting.mode}")
    asked: dict[str, None] = {}
    raw: list[str | None] = []
    for turn, question in enumerate(script.questions, start=1):
        label = parse_label(speaker.reply(question, summary({atom: believer.label(atom) for atom in asked})))
        raw.append(label)
        asked[str(question.lit.atom)] = None
        if (lit := question.literal_of(label)) is not None:
            believer.commit(lit, turn)
    played = _score(script, raw, believer)
    believer.close()
    return played


def _score(script: Script, raw: Sequence[str | None], believer: Believer) -> Played:
    right = script.labels
    asked = {atom: (believer.label(atom), believer.entailed(atom)) for atom in _atoms(script.questions)}
    final = [question.label_of(asked[str(question.lit.atom)][0]) for question in script.questions]
    entailed = [question.label_of(asked[str(question.lit.atom)][1]) for question in script.questions]
    consistent, model = believer.consistent, believer.model()
    clauses = (*script.world.clauses, *((lit,) for lit in believer.held))
    small = len(script.world.atoms) <= MAX_TABLE_ATOMS
    return Played(
        turns=len(right),
        unread=raw.count(None),
        raw=_same(raw, right),
        final=_same(final, right),
        entailed=_same(entailed, right) if consistent else 0,
        consistent=consistent,
        broken=believer.broken,
        contradicted=believer.contradicted,
        retractions=believer.retractions,
        rejections=believer.rejections,
        certified=model is not None and satisfies(model, clauses),
        brute_forced=has_model(script.world, believer.held) == consistent if small else None,
        dialogue=script.seed,
        log=tuple(believer.log),
    )


def _atoms(questions: Sequence[Question]) -> list[str]:
    return list(dict.fromkeys(str(question.lit.atom) for question in questions))


def _same(labels: Sequence[str | None], right: Sequence[str]) -> int:
    return sum(one == other for one, other in zip(labels, right, strict=True))
