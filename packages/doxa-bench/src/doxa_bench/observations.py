"""Observations: how much of what people noted about a long conversation is among the facts that the memory holds.

LoCoMo comes with observations: sentences about one speaker, drawn from a session. An observation is covered when a fact
that the same speaker's turns support, as a sentence, or the sentence that a claim of that speaker was read from, has a
cosine similarity of at least 0.8 with it by the engine's own encoder. Both ways are reported by themselves as well:
the first asks what the graph holds, the second what was read at all.

Repetition is the other side: a current fact is a duplicate when another current fact of the user says the same in
other words, and not of another time. Source of the data: Maharana et al. 2024, "Evaluating Very Long-Term
Conversational Memory of LLM Agents".
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from mmap import PAGESIZE
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from doxa.backends.encoder import Encoder
from doxa.backends.transcripts import Conversation, read
from doxa.core.config import Config
from doxa.core.errors import FormatError, NotFoundError
from doxa.core.values import Fact
from doxa.engine import Doxa, Memory
from doxa_bench.metrics import ratio, standard_error
from doxa_bench.record import environment, models_of

__all__ = ["ObservationsReport", "duplicates", "run"]

COVERS = 0.8
"""Least similarity of an observation and what covers it."""
SAME_FACT = 0.95
"""Least similarity of two facts, as sentences, that are one."""
SAME_RELATION = 0.8
"""Least similarity of the relations of two facts with one subject and one object that are one."""
STATM = Path("/proc/self/statm")
Progress = Callable[[str, int, int], None]


class Observation(NamedTuple):
    """What was noted about a speaker."""

    speaker: str
    text: str


class Said(NamedTuple):
    """A sentence of the memory and who said it."""

    speaker: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservationsReport:
    """What a run measured. `to_dict()` is the form that is printed and kept."""

    data: str
    counts: Mapping[str, int]
    """`turns`, `claims`, `observations`, `covered` (and `covered_by_fact`, `covered_by_sentence`), current `facts` of
    all users, and `duplicates` among them."""
    conversations: int
    ingest_s: float
    resident_kib: tuple[int, ...]
    """Resident memory of the process before the first conversation and after each; empty where it is not known."""
    models: Mapping[str, str | None] = field(default_factory=dict)
    environment: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain JSON data."""
        n = self.counts
        shares = {
            "coverage": ratio(n["covered"], n["observations"]),
            "coverage_by_fact": ratio(n["covered_by_fact"], n["observations"]),
            "coverage_by_sentence": ratio(n["covered_by_sentence"], n["observations"]),
            "claims_per_turn": ratio(n["claims"], n["turns"]),
            "duplicate_share": ratio(n["duplicates"], n["facts"]),
        }
        return {
            "benchmark": "observations",
            "data": self.data,
            **{name: None if share is None else round(share, 4) for name, share in shares.items()},
            "coverage_se": round(self._coverage_error(), 4),
            **{name: n[name] for name in ("observations", "claims", "facts", "duplicates", "turns")},
            "conversations": self.conversations,
            "turns_per_s": round(n["turns"] / self.ingest_s, 1) if self.ingest_s else 0.0,
            "resident_mib": [round(kib / 1024, 1) for kib in self.resident_kib],
            "models": dict(self.models),
            **self.environment,
        }

    def _coverage_error(self) -> float:
        covered = self.counts["covered"]
        return standard_error([1.0] * covered + [0.0] * (self.counts["observations"] - covered))


def run(
    path: Path | str, *, config: Config | None = None, limit: int | None = None, progress: Progress | None = None
) -> ObservationsReport:
    """Return how far the facts of LoCoMo's conversations cover their observations.

    Args:
        path: a file in the shape of `locomo10.json`, or the folder that holds one.
        config: the settings; by default those of `doxa.toml` and the environment.
        limit: only the first `limit` conversations.
        progress: is told how far the run is.

    Raises:
        NotFoundError: there is no such file.
        FormatError: it holds no LoCoMo conversation with observations.
        DoxaError: the engine failed.

    Deterministic but for the times and the resident memory. Everything is gone afterwards.
    """
    file = _file(Path(path))
    samples = _read_samples(file)[:limit]
    tell = progress or (lambda what, done, total: None)
    counts: Counter[str] = Counter()
    ingest_s = 0.0
    with Doxa.open(":memory:", config=config) as doxa:
        doxa.parts.encoder.encode(["warm up"])
        resident = _resident_kib()
        for number, (conversation, observations) in enumerate(samples, start=1):
            user = conversation.name or f"sample-{number}"
            ingest_s += _ingest(user, conversation, doxa, tell)
            resident += _resident_kib()
            counts += _count(conversation, observations, doxa.memory(user=user), doxa.parts.encoder)
        described = doxa.describe()
    return ObservationsReport(
        data=file.name,
        counts=counts,
        conversations=len(samples),
        ingest_s=ingest_s,
        resident_kib=tuple(resident),
        models=models_of(described),
        environment=environment(),
    )


def _count(
    conversation: Conversation, observations: Sequence[Observation], memory: Memory, encoder: Encoder
) -> Counter[str]:
    """Return the counts of one conversation."""
    told, read_from = _sentences(memory, conversation)
    wanted = encoder.encode([observation.text for observation in observations])
    by_fact = _covered(observations, wanted, told, encoder)
    by_sentence = _covered(observations, wanted, read_from, encoder)
    current = memory.facts()
    return Counter(
        turns=len(conversation.lines),
        observations=len(observations),
        covered=int((by_fact | by_sentence).sum()),
        covered_by_fact=int(by_fact.sum()),
        covered_by_sentence=int(by_sentence.sum()),
        claims=len(read_from),
        facts=len(current),
        duplicates=len(duplicates(current, memory, encoder)),
    )


def duplicates(facts: Sequence[Fact], memory: Memory, encoder: Encoder) -> list[Fact]:
    """Return the facts that repeat an earlier one of the list in other words.

    Two facts are one when they agree in polarity and modality, do not begin at different times, and either their
    sentences are 0.95 similar, or subject and object are the same and the relations 0.8 similar. Cost O(n^2) products.
    """
    if not facts:
        return []
    sentences = encoder.encode([memory.describe(fact) for fact in facts])
    relations = encoder.encode([fact.relation.label for fact in facts])
    alike = sentences @ sentences.T >= SAME_FACT
    related = relations @ relations.T >= SAME_RELATION
    found = []
    for later, fact in enumerate(facts):
        rows = (earlier for earlier in range(later) if alike[later, earlier] or related[later, earlier])
        if any(_repeats(fact, facts[k], alike=bool(alike[later, k])) for k in rows):
            found.append(fact)
    return found


def _repeats(fact: Fact, other: Fact, *, alike: bool) -> bool:
    if fact.polarity != other.polarity or fact.modality is not other.modality:
        return False
    if fact.valid.start != other.valid.start and None not in (fact.valid.start, other.valid.start):
        return False
    return alike or (fact.subject.key == other.subject.key and fact.object.key == other.object.key)


def _ingest(user: str, conversation: Conversation, doxa: Doxa, tell: Progress) -> float:
    """Absorb a conversation, wait until it is processed, and return the seconds that took."""
    lines = conversation.lines
    start = time.perf_counter()
    for done, line in enumerate(lines):
        tell(f"absorb {user}", done, len(lines))
        chat = doxa.dialogue(user=user, session=line.session or "default")
        chat.absorb(line.text, speaker=line.speaker, role=line.role, at=line.at, turn_id=line.turn_id)
    doxa.flush()
    return time.perf_counter() - start


def _sentences(memory: Memory, conversation: Conversation) -> tuple[list[Said], list[Said]]:
    """Return the facts as sentences, by every speaker who supports them, and the sentences of the claims."""
    speakers = {line.turn_id: line.speaker or "" for line in conversation.lines if line.turn_id is not None}
    supported = ((fact, speakers[key]) for fact in memory.facts(current=False) for key in fact.turn_ids)
    told = [Said(speaker, memory.describe(fact)) for fact, speaker in supported]
    return told, [Said(speakers[key], claim.span) for key in speakers for claim in memory.claims(turn_id=key)]


def _covered(
    observations: Sequence[Observation], wanted: NDArray[np.float32], said: Sequence[Said], encoder: Encoder
) -> NDArray[np.bool_]:
    """Tell of each observation, with its vector `(n, dims)`, whether its speaker says it; `(n,) bool`."""
    if not said:
        return np.zeros(len(observations), dtype=np.bool_)
    similar = wanted @ encoder.encode([one.text for one in said]).T >= COVERS
    same = np.array([[one.speaker == observation.speaker for one in said] for observation in observations])
    covered: NDArray[np.bool_] = (similar & same).any(axis=1)
    return covered


def _resident_kib() -> list[int]:
    """Return the resident memory of this process as a list of one; an empty one where the system does not tell."""
    try:
        return [int(STATM.read_text().split()[1]) * PAGESIZE // 1024]
    except OSError:
        return []


def _file(path: Path) -> Path:
    if path.is_dir():
        path = next(iter(sorted(path.glob("*.json"))), path / "locomo10.json")
    if not path.is_file():
        raise NotFoundError(f"There is no file {path}. Give a LoCoMo file, such as locomo10.json, with --data.")
    return path


def _read_samples(path: Path) -> list[tuple[Conversation, list[Observation]]]:
    conversations = read(path, format="locomo").conversations
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        values = content if isinstance(content, list) else [content]
        pairs = zip(conversations, values, strict=False)
        samples = [(conversation, _observations(value)) for conversation, value in pairs]
    except (ValueError, TypeError, KeyError) as exc:
        raise FormatError(f"expected LoCoMo samples with observations in {path}, got something else: {exc}.") from exc
    if len(values) != len(conversations) or not any(observations for _, observations in samples):
        raise FormatError(f"expected LoCoMo samples with observations, [{{'conversation', 'observation'}}], in {path}.")
    return [sample for sample in samples if sample[1]]


def _observations(value: object) -> list[Observation]:
    sessions = value.get("observation") if isinstance(value, dict) else None
    if not isinstance(sessions, dict):
        return []
    return [
        Observation(speaker, str(noted[0]))
        for session in sessions.values()
        if isinstance(session, dict)
        for speaker, all_noted in session.items()
        for noted in all_noted
        if noted and str(noted[0]).strip()
    ]
