"""The neuro-symbolic route: text -> AMR -> OWL with word senses, and the claims of each graph.

Source: D-SMART, appendix A, Algorithm 1 (KGE pipeline): parse, translate, and tie every word to synset, supersense and
DUL class. A step that has nothing to work with is left out, and the trace says why.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

from doxa.backends import load
from doxa.backends.amr import AmrParser
from doxa.backends.encoder import Encoder
from doxa.backends.lexicon import Lexicon
from doxa.core.config import Config
from doxa.core.errors import BackendError, ConfigError, InputError
from doxa.core.trace import Trace, Tracer
from doxa.core.values import Claim, Turn
from doxa.engine.wiring.parsing import graphs_of, needs_model, open_amr, open_model
from doxa.engine.wiring.parts import encoder_options
from doxa.logic import AmrGraph, Translation, amr_to_turtle, enrich_amr, read_amrs, translate_amr
from doxa.understand import likely_pos, senses_of_all, split_sentences, understand_graph

__all__ = ["KnowledgeGraph", "Sentence", "extract_graph"]

BASE = "urn:doxa:amr:"
BASES = re.compile(r"""[A-Za-z][A-Za-z0-9+.-]*:[^\s<>"{}|^`\\#]*""")
PENMAN = re.compile(r"^\s*(?:#[^\n]*\n\s*)*\(\s*[^\s()/\"]+\s*/", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """One sentence on its way from words to OWL."""

    name: str
    """Where its names start: the id of its graph, or its place in the text."""
    text: str
    triples: int
    senses: int
    """How many of its words have a synset."""
    claims: tuple[Claim, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class KnowledgeGraph:
    """What some sentences became, and how."""

    turtle: str
    sentences: tuple[Sentence, ...]
    trace: Trace = field(default_factory=Trace)


def extract_graph(
    text: str,
    *,
    config: Config,
    base: str = BASE,
    senses: bool = True,
    speaker: str = "I",
    at: datetime | None = None,
    parser: AmrParser | None = None,
) -> KnowledgeGraph:
    """Return text, or AMR graphs in PENMAN notation, as OWL 2 with word senses.

    Args:
        text: sentences, for the parser that `amr.name` configures; or graphs, which need none.
        config: which AMR parser, lexicon and encoder.
        base: what the names of every sentence start with: an IRI without `#`, which comes after the sentence's name.
        senses: look up what the words mean; needs a lexicon.
        speaker: whom "I" means in the claims.
        at: when it is said, for times such as "yesterday"; now by default.
        parser: used in place of the configured one, and not closed.

    Raises:
        InputError: There is nothing to read, the notation is broken, or `base` is no such IRI.
        ConfigError: The text needs a parser, and none is configured.
        BackendError: The parser failed. A missing lexicon is no error.

    Cost: a call of the parser per sentence, an encoding per gloss of each of its words, and O(nodes + edges).
    """
    if not text.strip():
        raise InputError("Expected sentences or AMR graphs, got nothing.")
    if not BASES.fullmatch(base):
        raise InputError(f"Expected an IRI that names can start with, such as {BASE}, without a #; got {base!r}.")
    tracer = Tracer()
    graphs = read_amrs(text) if PENMAN.match(text) else _parsed(text, config, parser, tracer)
    if not graphs:
        raise InputError("Expected sentences or AMR graphs, and there is none in the text.")
    names = _names(graphs)
    moment = at or datetime.now(UTC)
    turn = Turn(turn_id="amr", user="", session="", speaker=speaker, role="user", text="", at=moment)
    with _opened(config, tracer, wanted=senses) as tools:
        pos_of = tools.pos_of if tools else None
        found = [translate_amr(g, base=f"{base}{name}#", pos_of=pos_of) for g, name in zip(graphs, names, strict=True)]
        with tracer.step("disambiguate") as detail:
            found, counts = _with_senses(found, tools, detail)
        claims = [understand_graph(graph, turn, pos_of=pos_of) for graph in graphs]
    with tracer.step("write") as detail:
        turtle = amr_to_turtle(found)
        detail["triples"] = sum(len(one.triples) for one in found)
    rows = zip(names, found, counts, claims, strict=True)
    return KnowledgeGraph(turtle=turtle, sentences=tuple(_sentence(*row) for row in rows), trace=tracer.trace())


def _sentence(name: str, found: Translation, senses: int, claims: tuple[Claim, ...]) -> Sentence:
    return Sentence(
        name=name,
        text=found.graph.text,
        triples=len(found.triples),
        senses=senses,
        claims=claims,
        warnings=found.warnings,
    )


@dataclass(slots=True)
class _Tools:
    """What word senses need."""

    lexicon: Lexicon
    encoder: Encoder

    def pos_of(self, word: str) -> str | None:
        return likely_pos(word, self.lexicon)


def _parsed(text: str, config: Config, parser: AmrParser | None, tracer: Tracer) -> tuple[AmrGraph, ...]:
    sentences = split_sentences(text)
    with _parser(config, parser) as ready, tracer.step("parse") as detail:
        said = graphs_of(sentences, ready)
        detail.update(parser=ready.name, sentences=len(sentences))
    return tuple(found for one in said for found in read_amrs(one)[:1])


@contextmanager
def _parser(config: Config, given: AmrParser | None) -> Iterator[AmrParser]:
    """Open the configured parser, and the language model if it needs one."""
    if given is not None:
        yield given
        return
    if config.amr.name is None:
        raise ConfigError(
            "Text needs an AMR parser, and none is configured. Set DOXA_AMR to spring:URL, amrlib or llm, or give AMR "
            "graphs in PENMAN notation."
        )
    with ExitStack() as opened:
        model = open_model(config) if needs_model(config.amr.name) else None
        if model is not None:
            opened.enter_context(closing(model))
        yield opened.enter_context(closing(open_amr(config, model)))


@contextmanager
def _opened(config: Config, tracer: Tracer, *, wanted: bool) -> Iterator[_Tools | None]:
    """Open lexicon and encoder; None, and a word in the trace, where the lexicon is not there."""
    name = config.lexicon.name
    lexicon: Lexicon | None = None
    with ExitStack() as opened:
        if wanted and name not in ("", "none"):
            with tracer.step("lexicon") as detail:
                try:
                    lexicon = opened.enter_context(closing(load("lexicon", name)))
                    detail["lexicon"] = lexicon.name
                except BackendError as exc:
                    detail["degraded"] = f"Words have no senses: {exc}"
        if lexicon is None:
            yield None
        else:
            encoder = opened.enter_context(closing(load("encoder", config.encoder.name, **encoder_options(config))))
            yield _Tools(lexicon, encoder)


def _with_senses(
    found: list[Translation], tools: _Tools | None, detail: dict[str, object]
) -> tuple[list[Translation], list[int]]:
    """Return the translations tied to the lexicon, and how many words of each were."""
    if tools is None:
        return found, [0] * len(found)
    try:
        chosen = senses_of_all([(one.graph, "") for one in found], tools.lexicon, tools.encoder)
    except BackendError as exc:
        detail["degraded"] = f"Words have no senses: {exc}"
        return found, [0] * len(found)
    counts = [len(senses) for senses in chosen]
    detail["senses"] = sum(counts)
    return [enrich_amr(one, senses) for one, senses in zip(found, chosen, strict=True)], counts


def _names(graphs: Sequence[AmrGraph]) -> list[str]:
    """Return a name for each graph: its id if it has one, else its place; no two are the same."""
    names: dict[str, None] = {}
    for place, graph in enumerate(graphs, start=1):
        name = re.sub(r"[^\w.-]", "_", graph.metadata.get("id", ""), flags=re.ASCII) or f"s{place}"
        while name in names:
            name = f"{name}_{place}"
        names[name] = None
    return list(names)
