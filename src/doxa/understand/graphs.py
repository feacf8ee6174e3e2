"""An AMR graph -> claims: the neuro-symbolic route, beside the patterns over clauses.

A frame with a subject and an object is a binary claim: by the table `graphs.toml` under a relation of the inventory,
else under its verb. An event with more participants is a term of its own as well, with a claim for each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from doxa.core.values import Claim, Interval, Modality, Term, Turn
from doxa.language.verbs import base_of
from doxa.logic import AmrGraph, AmrNode, Scope, amr_terms, read_amr, scopes
from doxa.memory import Beliefs, RelationType, attribute, relation_type, verb_type
from doxa.understand.graph_words import Words, graph_table
from doxa.understand.referents import Referents, kin_of, term
from doxa.understand.text import sentences

__all__ = ["split_sentences", "understand_graph"]

CONFIDENCE = 0.7
PLACES = frozenset(
    "city country state province location county continent island world-region country-region local-region "
    "city-district mountain river sea lake here there abroad town village".split()
)
ORGANIZATIONS = frozenset(
    "company organization school university hospital government-organization research-institute team museum "
    "newspaper bank shop store restaurant".split()
)
INTRODUCING = frozenset("say-01 tell-01 think-01 believe-01 reply-01 answer-01 ask-01 contrast-01 cause-01".split())
"""Frames around what is said, thought or set against each other; of themselves they say nothing to remember."""
SHOWN = ("ARG0", "ARG1", "ARG2", "ARG3", "ARG4")


@dataclass(frozen=True, slots=True)
class _Said:
    """One proposition before it has a source."""

    subject: Term
    kind: RelationType
    object: Term
    polarity: bool
    modality: Modality
    valid: Interval


@dataclass(slots=True)
class _Reading:
    graph: AmrGraph
    turn: Turn
    words: Words
    scopes: dict[str, Scope]
    pos_of: Callable[[str], str | None]

    def say(self, node: AmrNode, subject: Term, kind: RelationType, value: Term, valid: Interval) -> _Said:
        """Return a proposition with the polarity and modality of its node."""
        scope = self.scopes[node.variable]
        return _Said(subject, kind, value, not scope.denied, scope.modality, valid)

    def when(self, variable: str) -> Interval:
        return self.words.interval(variable) or Interval()


def understand_graph(
    amr: str | AmrGraph,
    turn: Turn,
    context: Sequence[Turn] = (),
    beliefs: Beliefs | None = None,
    *,
    pos_of: Callable[[str], str | None] | None = None,
) -> tuple[Claim, ...]:
    """Return the claims of one sentence from its AMR graph.

    Args:
        amr: the graph of a sentence of the turn, in PENMAN notation or read.
        turn: who said it, when; pronouns and times are seen from there.
        context: earlier turns of the session, oldest first.
        beliefs: what is known; it names relatives.
        pos_of: the likeliest part of speech of a word ("n", "v", "a", "r"), such as a lexicon's; None when unknown.

    Returns:
        Claims without duplicates, in the order of the graph. AMR has no tense: a time makes an event a point and
        begins a change of state; a state without one holds. Questions and unresolved pronouns give none, and an
        assistant's words about its user give none.

    Raises:
        FormatError: The text is no AMR graph.

    Cost O(nodes + edges); deterministic.
    """
    graph = read_amr(amr) if isinstance(amr, str) else amr
    known = beliefs if beliefs is not None else Beliefs()
    referents = Referents.of(turn, context, known)
    reading = _Reading(graph, turn, Words(graph, turn, referents), scopes(graph), pos_of or _unknown)
    said = [found for node in graph.nodes.values() for found in _node(reading, node)]
    if turn.role == "assistant":
        said = [found for found in said if found.subject != referents.speaker]
    said = [found for found in said if found.subject != found.object and found.subject.label and found.object.label]
    claims = (_claim(turn, found, graph.text or turn.text) for found in said)
    return tuple(dict.fromkeys(claims))


def split_sentences(text: str) -> list[str]:
    """Return the sentences of a text as they were written, for a parser that takes one at a time."""
    return [sentence.raw for sentence in sentences(text)]


def _node(reading: _Reading, node: AmrNode) -> Iterator[_Said]:
    """Yield what one node says; nothing for what is asked, or for a word that only introduces what it is about."""
    graph = reading.graph
    if reading.scopes[node.variable].asked:
        return
    if node.concept == "have-rel-role-91":
        yield from _relative(reading, node)
    elif node.concept == "have-org-role-91":
        yield from _office(reading, node)
    elif node.concept == "have-degree-91":
        yield from _comparison(reading, node)
    elif graph.target(node.variable, "domain"):
        yield from _predicate(reading, node)
    elif node.frame and not _introduces(reading, node):
        yield from _frame(reading, node)
    if not node.frame:
        yield from _possession(reading, node)


def _introduces(reading: _Reading, node: AmrNode) -> bool:
    """Tell whether a frame is only the modality, the wish or the speech around another one."""
    if node.concept in INTRODUCING:
        return True
    content = reading.graph.target(node.variable, "ARG1") or reading.graph.target(node.variable, "ARG2")
    if node.concept in _modals():
        return content is None or content.frame or content.concept in ("and", "or", "multi-sentence")
    return node.special and node.concept not in {
        name for row in graph_table()["frame"] for name in row["names"].split()
    }


def _modals() -> frozenset[str]:
    """Return the frames that say how something is meant."""
    return frozenset(amr_terms("modality")) | frozenset(amr_terms("content")) | frozenset(amr_terms("denial"))


def _frame(reading: _Reading, node: AmrNode) -> Iterator[_Said]:
    """Yield the binary claims of a frame by the table, else by its verb; then the other participants."""
    rows = [row for row in graph_table()["frame"] if node.concept in row["names"].split()]
    used: set[str] = set()
    for row in rows:
        roles = _subject_and_object(reading, node, row)
        if roles:
            used.update(roles)
            yield from _by_table(reading, node, row, *roles)
    if not used:
        yield from _by_verb(reading, node, used)
    yield from _event(reading, node, used)


def _subject_and_object(reading: _Reading, node: AmrNode, row: dict[str, str]) -> tuple[str, str] | None:
    """Return the roles that a row of the table finds its subject and object in."""
    graph = reading.graph
    there = {edge.role: edge for edge in graph.out(node.variable)}
    subject = next((role for role in row.get("subject", "ARG0").split() if role in there), None)
    for role in row["object"].split():
        if subject is None or role == subject or role not in there:
            continue
        if _fits(reading, there[role].target, there[role].constant, row.get("only", "")):
            return subject, role
    return None


def _fits(reading: _Reading, target: str, constant: bool, only: str) -> bool:
    if not only:
        return True
    if constant:
        return False
    graph, node = reading.graph, reading.graph.nodes[target]
    if node.concept == "and":
        return all(_fits(reading, edge.target, edge.constant, only) for edge in graph.members(target))
    return node.concept in (PLACES if only == "place" else ORGANIZATIONS)


def _by_table(reading: _Reading, node: AmrNode, row: dict[str, str], subject: str, value: str) -> Iterator[_Said]:
    kind = relation_type(row["relation"])
    valid, event = reading.when(node.variable), row.get("event", "")
    if event == "start":
        valid = Interval(start=valid.start, start_precision=valid.start_precision)
    for who in _things(reading, node, subject):
        for what in _terms(reading, node, value):
            said = reading.say(node, who, kind, what, valid)
            yield replace(said, polarity=not said.polarity) if row.get("denies") else said


def _by_verb(reading: _Reading, node: AmrNode, used: set[str]) -> Iterator[_Said]:
    """Yield "X verbs Y" from the first two numbered roles; with one alone, the state or activity of X.

    A role whose thing is not known is filled all the same, so nothing is said in its place.
    """
    there = [role for role in SHOWN if any(edge.role == role for edge in reading.graph.out(node.variable))]
    if not there:
        return
    used.update(there[:2])
    valid = reading.when(node.variable)
    lemma = node.lemma.replace("-", " ")
    values: tuple[Term, ...] = ()
    kind = relation_type("does")
    if len(there) > 1:
        values, kind = _terms(reading, node, there[1]), verb_type(lemma)
    elif there[0] == "ARG0" and not _is_argument(reading, node):  # who likes swimming need not be swimming
        values = (term(reading.words.words(node.variable)),)
    elif there[0] != "ARG0" and _is_quality(reading, lemma):
        values, kind = (term(lemma),), relation_type("has_state")
    for who in _things(reading, node, there[0]):
        yield from (reading.say(node, who, kind, what, valid) for what in values)


def _is_quality(reading: _Reading, lemma: str) -> bool:
    """Tell whether a frame without anybody who acts is an adjective ("tired") and no verb ("Mia was seen")."""
    pos = reading.pos_of(lemma)
    return pos == "a" or (pos is None and base_of(lemma.split()[0], "base") is None)


def _is_argument(reading: _Reading, node: AmrNode) -> bool:
    """Tell whether an event stands in a numbered role of another one that does not only introduce it."""
    graph = reading.graph
    others = [graph.nodes[edge.source] for edge in graph.into(node.variable) if edge.role in SHOWN]
    # Without anybody who acts it is a quality of the event ("fast").
    acts = (other for other in others if other.frame and any(e.role == "ARG0" for e in graph.out(other.variable)))
    return any(not _introduces(reading, other) for other in acts)


def _event(reading: _Reading, node: AmrNode, used: set[str]) -> Iterator[_Said]:
    """Yield the participants of an event that a binary claim has no place for, on a term for the event itself."""
    named = graph_table()["participants"]
    others = [
        edge
        for edge in reading.graph.out(node.variable)
        if edge.role in named
        and edge.role not in used
        and (edge.constant or not reading.graph.nodes[edge.target].frame)
    ]
    agents = [role for role in ("ARG0", *sorted(used)) if _things(reading, node, role)]
    if not agents or not others or node.special:
        return
    label = reading.words.words(node.variable)
    event = Term(f"{reading.turn.turn_id}#{node.variable}", label)
    valid = reading.when(node.variable)
    for role in dict.fromkeys((*sorted(used), *(edge.role for edge in others))):
        for value in _terms(reading, node, role) if role in named else ():
            yield reading.say(node, event, replace(attribute(named[role]), functional=False), value, valid)


def _things(reading: _Reading, node: AmrNode, role: str) -> tuple[Term, ...]:
    """Return what stands in a role of a node, events left out: what is said of one is its manner, and no fact."""
    edges = [edge for edge in reading.graph.out(node.variable) if edge.role == role]
    events = any(not edge.constant and reading.graph.nodes[edge.target].frame for edge in edges)
    return () if events else _terms(reading, node, role)


def _terms(reading: _Reading, node: AmrNode, role: str) -> tuple[Term, ...]:
    """Return what stands in a role of a node."""
    found: dict[Term, None] = {}
    for edge in reading.graph.out(node.variable):
        if edge.role == role:
            if not edge.constant:
                found.update(dict.fromkeys(reading.words.terms(edge.target)))
            elif edge.target:
                found[term(edge.target)] = None
    return tuple(found)


def _relative(reading: _Reading, node: AmrNode) -> Iterator[_Said]:
    """Yield "my sister is Mia" for a relative with a name."""
    graph = reading.graph
    who, whose, role = (graph.target(node.variable, name) for name in ("ARG0", "ARG1", "ARG2"))
    if who is None or whose is None or role is None:
        return
    named = graph.name(who.variable)
    names: tuple[Term, ...] = (term(named),) if named else ()
    if not names and graph.top == node.variable:
        names = reading.words.terms(who.variable)
    kind = attribute(kin_of(role.lemma) or role.lemma.replace("-", " "))
    for owner in reading.words.terms(whose.variable):
        for name in names:
            yield reading.say(node, owner, kind, name, reading.when(node.variable))


def _office(reading: _Reading, node: AmrNode) -> Iterator[_Said]:
    """Yield where somebody works, and as what."""
    who = _terms(reading, node, "ARG0")
    valid = reading.when(node.variable)
    for role, relation in (("ARG1", "works_at"), ("ARG2", "works_as")):
        for subject in who:
            for value in _terms(reading, node, role):
                yield reading.say(node, subject, relation_type(relation), value, valid)


def _comparison(reading: _Reading, node: AmrNode) -> Iterator[_Said]:
    """Yield "X is older than Y"; without a Y, nothing: more than what is not said."""
    graph = reading.graph
    quality, degree = graph.target(node.variable, "ARG2"), graph.target(node.variable, "ARG3")
    if quality is None or degree is None:
        return
    lemma = quality.lemma.replace("-", " ")
    named = graph_table()["comparatives"].get(f"{lemma} {degree.concept}")
    kind = relation_type(named or f"is_{degree.concept}_{lemma.replace(' ', '_')}_than")
    if named is None:
        phrase = f"{degree.concept} {lemma} than"
        kind = RelationType(name=kind.name, label=f"is {phrase}", base=f"be {phrase}", past=f"was {phrase}")
    for who in _things(reading, node, "ARG1"):
        for other in _terms(reading, node, "ARG4"):
            yield reading.say(node, who, kind, other, reading.when(node.variable))


def _predicate(reading: _Reading, node: AmrNode) -> Iterator[_Said]:
    """Yield "X is a NOUN" or "X is ADJECTIVE"."""
    lemma = node.lemma.replace("-", " ")
    adjective = reading.pos_of(lemma) in ("a", "r") and not reading.graph.name(node.variable)
    kind = relation_type("has_state" if adjective else "is_a")
    value = term(reading.words.words(node.variable))
    for subject in _terms(reading, node, "domain"):
        yield reading.say(node, subject, kind, value, reading.when(node.variable))


def _possession(reading: _Reading, node: AmrNode) -> Iterator[_Said]:
    """Yield "my dog is Rex" for what has an owner and a name; this much is so even in a wish or a denial."""
    name = reading.graph.name(node.variable)
    if not name or node.concept == "name":
        return
    for owner in _terms(reading, node, "poss"):
        kind = attribute(node.lemma.replace("-", " "))
        yield _Said(owner, kind, term(name), True, Modality.ASSERTED, Interval())


def _unknown(word: str) -> str | None:
    return None


def _claim(turn: Turn, said: _Said, span: str) -> Claim:
    return Claim(
        subject=said.subject,
        relation=said.kind.relation,
        object=said.object,
        polarity=said.polarity,
        modality=said.modality,
        valid=said.valid,
        functional=said.kind.functional,
        confidence=CONFIDENCE,
        turn_id=turn.turn_id,
        speaker=turn.speaker,
        role=turn.role,
        known_at=turn.at,
        span=span,
    )
