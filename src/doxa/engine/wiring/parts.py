"""Config -> parts: the only place that names the implementations."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel

from doxa.backends import load
from doxa.backends.amr import AmrParser
from doxa.backends.encoder import CachedEncoder, Encoder
from doxa.backends.grader import Grader
from doxa.backends.lexicon import Lexicon
from doxa.backends.llm import LanguageModel, Recorder
from doxa.backends.nli import Judge, Nli
from doxa.backends.parser import CachedParser, Parser, cached
from doxa.backends.reader import Reader
from doxa.core.answers import Answered
from doxa.core.config import Config
from doxa.core.drift import Alarm, Refreshed, Shadow, Window
from doxa.core.errors import BackendError, DoxaError, InputError
from doxa.core.feedback import Feedback
from doxa.core.ontology import Ontology
from doxa.core.sealing import Seal
from doxa.core.values import Claim, Turn
from doxa.engine.wiring.casting import require_players
from doxa.engine.wiring.copies import finish_mending
from doxa.engine.wiring.heads import TAUGHT, Heads
from doxa.engine.wiring.learned import SNAPSHOTS, LearnedWeights, folder_of
from doxa.engine.wiring.offers import Offers
from doxa.engine.wiring.parsing import graphs_of, needs_model, open_amr, open_model
from doxa.engine.wiring.pending import Pending
from doxa.engine.wiring.sealed import finish_rekeying, require_file, seal_of
from doxa.logic import builtin_ontology, from_models, merge, read_ontology
from doxa.memory import MemoryLog, Snapshots, using

if TYPE_CHECKING:
    from doxa.engine.wiring.reasoners import Knowledge
    from doxa.recall import RecallSpec
    from doxa.tasks import Addressed
    from doxa.understand import Extraction, Known, RelationMapper, Request

__all__ = ["Opened", "OntologySource", "Parts", "encoder_options", "relation_counts", "wire"]


@dataclass(slots=True)
class Opened:
    """The models that were opened at their first use, for all tenants of one engine."""

    model: LanguageModel | None = None
    amr: AmrParser | None = None
    mapper: RelationMapper | None = None
    lexicon: Lexicon | None = None
    looked_up: bool = False
    """Whether the lexicon was looked for."""
    nli: Nli | None = None
    grader: Grader | None = None
    knowledge: Knowledge | None = None
    guard: threading.Lock = field(default_factory=threading.Lock)

    def close(self) -> None:
        """Give back every model."""
        for one in (self.knowledge, self.amr, self.model, self.nli, self.grader, self.lexicon):
            if one is not None:
                one.close()


@dataclass(slots=True)
class Parts:
    """What the engine is made of."""

    config: Config
    log: MemoryLog
    encoder: Encoder
    queries: CachedEncoder
    """The same encoder with its latest answers kept, for queries."""
    learned: LearnedWeights
    """What recall has learned, for every user."""
    parser: Parser
    """It keeps its latest parses: the turns of a context were parsed when they came in."""
    heads: Heads
    """What the parser was taught, for every user."""
    reader: Reader | None = None
    """What reads answers out of passages; None where none is wanted."""
    ontology_files: tuple[Path, ...] = ()
    """The Turtle files that add to the ontology: they say more than the inventory takes from them."""
    told: Pending[Feedback] = field(default_factory=Pending)
    """Feedback that is not stored yet."""
    answers: Pending[tuple[int, Answered]] = field(default_factory=Pending)
    """Answers that are not stored yet."""
    shadows: Pending[tuple[int, Shadow]] = field(default_factory=Pending)
    """Questions that are not sampled yet."""
    drifts: list[Callable[[Window | Alarm | Refreshed], None]] = field(default_factory=list)
    """Who is told, without a name, of windows that close, of alarms and of refreshes; of all tenants."""
    closed: dict[str, int] = field(default_factory=dict)
    """By user the number of the first window of questions that was closed and is not looked at yet."""
    offers: Offers = field(default_factory=Offers)
    """What each session was last offered to have erased."""
    lifted: int = 0
    """Turns that were read for promotions since it was made."""
    forgotten: int = 0
    """How often something was erased: what was kept of a text before the last time may repeat it."""
    opened: Opened = field(default_factory=Opened)
    lent: bool = False
    """Whether models and database belong to the engine of another tenant."""
    searched: RecallSpec | None = None
    """How evidence is searched for; None until it is asked for."""

    @property
    def recall(self) -> RecallSpec:
        """How evidence is searched for, by the settings."""
        from doxa.recall import ALIGNED, RecallSpec

        if self.searched is None:
            settings = self.config.recall
            self.searched = RecallSpec(
                top_k=settings.top_k,
                pool=settings.pool,
                deadline_ms=settings.deadline_ms,
                route=settings.route,
                variant=ALIGNED if settings.consistency else "",
            )
        return self.searched

    @recall.setter
    def recall(self, spec: RecallSpec) -> None:
        self.searched = spec

    def of_tenant(self, name: str) -> Parts:
        """Return the parts for another tenant: the same models and database, and nothing of what is remembered."""
        return replace(
            self,
            config=self.config.model_copy(update={"tenant": name}),
            log=self.log.of_tenant(name),
            learned=self.learned.of_tenant(name),
            heads=self.heads.of_tenant(name),
            told=Pending(),
            answers=Pending(),
            shadows=Pending(),
            closed={},
            offers=Offers(),
            lent=True,
            lifted=0,
            forgotten=0,
        )

    def parser_of(self, user: str) -> Parser:
        """Return the parser as a user taught it; where nothing was taught, the parser as it is."""
        from doxa.understand import taught

        return taught(self.parser, self.heads.of(user))

    def model(self) -> LanguageModel | None:
        """Return the language model, opened at its first use; None when none is configured.

        Raises:
            ConfigError: a setting cannot be used, or the model cannot be recorded.
            BackendError: the recording cannot be read or written.
        """
        with self.opened.guard:
            if self.opened.model is None:
                self.opened.model = _model(self.config)
            return self.opened.model

    def model_name(self) -> str | None:
        """Return the name of the language model; of a recording, that of the model that was recorded, and the day.

        Raises:
            ConfigError: there is no such recording.
        """
        name = self.config.llm.name
        if name is None or not name.startswith(RECORDED):
            return name  # to open a model on a server takes a key, and time
        model = self.model()
        return model.name if model is not None else name

    def lexicon(self) -> Lexicon | None:
        """Return the configured lexicon, opened at its first use; None where it is not installed."""
        name = self.config.lexicon.name
        with self.opened.guard:
            if not self.opened.looked_up and name not in ("", "none"):
                try:
                    self.opened.lexicon = load("lexicon", name)
                except BackendError:
                    self.opened.lexicon = None  # words have no senses then; `doxa doctor` tells
            self.opened.looked_up = True
            return self.opened.lexicon

    def nli(self) -> Nli | None:
        """Return what judges whether one text follows from another, opened at its first use; None for `none`.

        Raises:
            ConfigError: `nli.name` is unknown.
            BackendError: its files are not there, or its package is not installed.
        """
        with self.opened.guard:
            if self.opened.nli is None:
                self.opened.nli = _shipped("nli", self.config)
            return self.opened.nli

    def grader(self) -> Grader | None:
        """Return what grades claims, questions and statements by turns, opened at its first use; None for `none`.

        Raises:
            ConfigError: `grader.name` is unknown.
            BackendError: its files are not there.
        """
        with self.opened.guard:
            if self.opened.grader is None:
                self.opened.grader = _shipped("grader", self.config)
            return self.opened.grader

    def gate(self, claims: Sequence[Claim], turn: Turn, before: Turn | None) -> Sequence[Claim]:
        """Return claims with how far they can be trusted; as they are where no grader is configured.

        Raises:
            BackendError: the grader or the encoder failed.
        """
        from doxa.understand import weighed

        grader = self.grader()
        firm = self.config.revise.firm
        return claims if grader is None else weighed(claims, turn, before, grader, self._own_vector, firm=firm)

    def request(self, text: str) -> Request:
        """Return what a message asks of the memory itself, by the built-in encoder whatever makes the other vectors.

        Raises:
            BackendError: the encoder failed.
        """
        from doxa.understand import LONGEST, request_of

        if len(text) > LONGEST:
            return "other"
        return request_of(text, self._own_vector(text))

    def addressed(self, text: str) -> Addressed:
        """Return how likely a message is said to the tasks, by the built-in encoder.

        Raises:
            BackendError: the encoder failed.
        """
        from doxa.tasks import addressed_of

        return addressed_of(self._own_vector(text))

    def own_vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of texts, `(texts, 384)`, by the built-in encoder whatever makes the other vectors.

        Raises:
            BackendError: the encoder failed.
        """
        own = self.queries if self.config.encoder.name == "builtin" else _own_encoder()
        return own.encode(texts)

    def _own_vector(self, text: str) -> NDArray[np.float32]:
        vector: NDArray[np.float32] = self.own_vectors([text])[0]
        return vector

    def judge(self) -> Judge | None:
        """Return the NLI model as a function that opens it at its first use; None where none is configured."""
        return None if self.config.nli.name in ("", "none") else self._classified

    def _classified(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        nli = self.nli()
        assert nli is not None  # `judge` has looked
        return nli.classify(pairs)

    def knowledge(self) -> Knowledge | None:
        """Return the base of background knowledge with its reasoner, opened at its first use; None for none.

        Raises:
            InputError: there is no base in its folder, or it is broken.
            ConfigError: another encoder made it.
            BackendError: the model of the reasoner cannot be opened.
        """
        settings, name = self.config.commonsense, self.config.roles.infer
        if settings.base is None:
            return None
        from doxa.engine.wiring.reasoners import open_knowledge

        model = self.model() if name == "prompted" else None
        with self.opened.guard:
            if self.opened.knowledge is None:
                self.opened.knowledge = open_knowledge(
                    settings, name, encoder=self.encoder, model=model, judge=self.judge()
                )
            return self.opened.knowledge

    def amr(self) -> AmrParser:
        """Return the configured AMR parser, opened at its first use.

        Raises:
            ConfigError: none is configured.
            BackendError: it cannot be opened.
        """
        model = self.model() if needs_model(self.config.amr.name or "") else None
        with self.opened.guard:
            if self.opened.amr is None:
                self.opened.amr = open_amr(self.config, model)
            return self.opened.amr

    def block(self, most: int) -> int:
        """Return how many turns of one user are processed together: fewer when a model or AMR parser reads them."""
        return most if self.config.roles.extract == "builtin" else min(most, self.config.understand.parallel)

    def extract(self, user: str, block: Sequence[Turn]) -> list[Extraction | None]:
        """Return what the language model or the AMR parser reads out of some turns; None where neither is asked.

        All turns are read at the same time, and no lock is held meanwhile. A failure is a value: the turn is then
        read in the built-in way.
        """
        settings = self.config.understand
        if self.config.roles.extract == "builtin":
            return [None] * len(block)
        from doxa.understand import Known, known_near

        with self.log.user(user) as state:
            contexts = [state.context(turn, self.config.engine.context_turns) for turn in block]
            asks = self.config.roles.extract == "prompted"
            pairs = zip(block, contexts, strict=True)
            near = [known_near(turn, context, state.beliefs) if asks else Known() for turn, context in pairs]
        with ThreadPoolExecutor(settings.parallel, thread_name_prefix="doxa-understand") as pool:
            return list(pool.map(self._extract_one, block, contexts, near))

    def _extract_one(self, turn: Turn, context: Sequence[Turn], known: Known) -> Extraction | None:
        if turn.generated or turn.verbatim or not turn.text.strip():
            return None
        from doxa.understand import Extraction, Roles, extract_with_model

        roles = self.config.roles
        if roles.extract == "amr":
            return self._graphs_of(turn)
        try:
            model = self.model()
        except DoxaError as exc:
            return Extraction(failed=f"the language model could not be opened, so the turn was read without it: {exc}")
        assert model is not None  # checked by `wire`
        with using(self.log.ontology):  # this thread has a context of its own
            return extract_with_model(
                model,
                turn,
                context,
                known,
                roles=Roles(distil=roles.distil == "prompted", validate=roles.validate == "prompted"),
                context_tokens=self.config.llm.context_tokens,
                max_tokens=self.config.understand.max_tokens,
            )

    def _graphs_of(self, turn: Turn) -> Extraction:
        """Return the AMR graph of each sentence of a turn; all of them, or none."""
        from doxa.understand import Extraction, split_sentences

        try:
            parser = self.amr()
            return Extraction(graphs=graphs_of(split_sentences(turn.text), parser), by=f"amr {parser.name}", calls=1)
        except DoxaError as exc:
            return Extraction(failed=f"the AMR parser failed, so the turn was read without it: {exc}")

    def describe(self) -> dict[str, Any]:
        """Return which database and models are in use."""
        return {
            "store": self.log.store.describe(),
            "encoder": {"name": self.encoder.name, "dims": self.encoder.dims},
            "parser": self.parser.name,
            "llm": self.model_name(),
            "amr": self.config.amr.name,
        }

    def mapper(self) -> RelationMapper:
        """Return what maps phrases to relations, made at its first use. It is calibrated for the built-in encoder."""
        with self.opened.guard:
            if self.opened.mapper is None:
                from doxa.understand import RelationMapper

                own = self.encoder if self.config.encoder.name == "builtin" else _own_encoder()
                self.opened.mapper = RelationMapper(own, self.log.ontology or builtin_ontology())
            return self.opened.mapper

    def forget(self) -> None:
        """Drop the texts that models keep for the next time, since they may repeat what is erased."""
        self.forgotten += 1
        self.queries.forget()
        if isinstance(self.parser, CachedParser):
            self.parser.forget()
        if self.opened.mapper is not None:
            self.opened.mapper.forget()

    def close(self) -> None:
        """Give back models and connections."""
        self.opened.close()
        if self.reader is not None:
            self.reader.close()
        self.encoder.close()
        self.parser.close()
        self.log.store.close()


@cache
def _own_encoder() -> Encoder:
    """Return the built-in encoder where another one makes the vectors: one for the process, never closed."""
    encoder: Encoder = load("encoder", "builtin")
    return encoder


RECORDED = "recorded:"
"""How the name of a model begins that gives again what another one answered."""
OntologySource = str | Path | type[BaseModel]
"""The path of a Turtle file, or a pydantic class."""


def wire(location: str, config: Config, ontology: OntologySource | Sequence[OntologySource] | None = None) -> Parts:
    """Return the parts for a database and settings. Models are opened at their first use; one that is recorded now.

    Raises:
        ConfigError: a backend is unknown, or there is nothing to play a role as it is configured; there is a key, and
            the database is on a server; or there is no such recording, or one of another model.
        BackendError: the reader is wanted and its weights are not there; or a recording cannot be read or written.
        InputError: an ontology is neither Turtle nor a pydantic class, or says what cannot be.
        StoreError: the database cannot be opened.
    """
    require_players(config)
    options = config.store.options()
    require_file(location, options["key"])
    finish_mending(location)
    finish_rekeying(location)
    known = _ontology(config, ontology)
    encoder = load("encoder", config.encoder.name, **encoder_options(config))  # first: a bad name makes no file
    parser = cached(load("parser", config.parser.name))
    reader = _shipped("reader", config)
    # A folder that is no recording, or of another model, is refused here: it would cost every turn its reading.
    recorded = config.llm.record is not None or (config.llm.name or "").startswith(RECORDED)
    opened = Opened(model=_model(config)) if recorded else Opened()
    store = load("store", f"sql:{location}", **options)
    seal = seal_of(options["key"], store.salt)
    log = MemoryLog(
        store,
        encoder,
        tenant=config.tenant,
        capacity=config.engine.memory_mb << 20,
        snapshots=_snapshots(location, config, encoder.name, _sources(config, ontology), seal),
        ontology=known,
        policy=config.revise.policy,
        warm=config.memory.shared,
    )
    return Parts(
        config=config,
        log=log,
        encoder=encoder,
        queries=CachedEncoder(encoder),
        learned=LearnedWeights(
            folder=config.recall.learned or folder_of(location), tenant=config.tenant, encoder=encoder.name, seal=seal
        ),
        parser=parser,
        heads=Heads(folder=folder_of(location, TAUGHT), tenant=config.tenant, shared=config.parser.head, seal=seal),
        reader=reader,
        opened=opened,
        ontology_files=tuple(Path(one) for one in _sources(config, ontology) if isinstance(one, (str, Path))),
    )


def _model(config: Config) -> LanguageModel | None:
    """Return the configured language model, recorded where that is wanted; None when none is configured."""
    model, record = open_model(config), config.llm.record
    return model if model is None or record is None else Recorder(model, record)


def _shipped(kind: Literal["nli", "grader", "reader"], config: Config) -> Any:
    """Return a configured model of a kind that can be left out; None for `none`."""
    settings = getattr(config, kind)
    return None if settings.name in ("", "none") else load(kind, settings.name, **settings.options)


def _snapshots(
    location: str, config: Config, encoder: str, ontology: Sequence[OntologySource], seal: Seal | None
) -> Snapshots | None:
    """Return where folds are kept as files; None for a database that is no file here, unless the settings say where."""
    folder = config.engine.snapshots or folder_of(location, SNAPSHOTS)
    if folder is None:
        return None
    told = blake2b(digest_size=16)
    for source in ontology:
        told.update(
            Path(source).read_bytes() if isinstance(source, (str, Path)) else repr(source.model_json_schema()).encode()
        )
    return Snapshots(folder, {"encoder": encoder, "policy": config.revise.policy, "ontology": told.hexdigest()}, seal)


def _ontology(config: Config, given: OntologySource | Sequence[OntologySource] | None) -> Ontology | None:
    """Return the inventory with what the settings and the caller add to it, in that order; None when it is nothing."""
    sources = _sources(config, given)
    if not sources:
        return None
    known = builtin_ontology()
    for source in sources:
        if isinstance(source, (str, Path)):
            known = read_ontology(Path(source), known=known)
    models = [source for source in sources if not isinstance(source, (str, Path))]
    return merge(known, from_models(models, known=known)) if models else known


def _sources(config: Config, given: OntologySource | Sequence[OntologySource] | None) -> list[OntologySource]:
    more = [given] if isinstance(given, (str, Path, type)) else given or ()
    if not isinstance(more, (list, tuple)):
        raise InputError(f"ontology: expected Turtle files and pydantic classes, one or a list of them, got {given!r}.")
    return [*(config.ontology or ()), *more]


def relation_counts(config: Config) -> dict[str, int]:
    """Return how many relations come with Doxa (`built in`), and how many more each configured Turtle file gives.

    Raises:
        NotFoundError: a file is not there.
        FormatError: a file is no ontology in Turtle.
    """
    known = builtin_ontology()
    counts = {"built in": len(known.relations)}
    for path in config.ontology or ():
        before, known = len(known.relations), read_ontology(path, known=known)
        counts[str(path)] = len(known.relations) - before
    return counts


def encoder_options(config: Config) -> dict[str, Any]:
    """Return what the factory of the configured encoder is given beside its name."""
    if not config.encoder.name.startswith("openai:"):
        return {}
    return {"base_url": config.encoder.base_url, "api_key": config.secret("encoder")}
