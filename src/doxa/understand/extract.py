"""Sentence -> propositions, freely: how far they can be trusted is decided afterwards (`gate`).

Relatives by name are read by their wording, all else off the dependency tree (`predications`, `nominals`). Where the
tree tells nothing, a sentence is kept as text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from doxa.backends.parser import Parser
from doxa.core.values import Act, Interval, Modality, Turn
from doxa.language.syntax import trees
from doxa.language.times import find_times
from doxa.memory import attribute, is_tie, relation_names
from doxa.understand.nominals import appositions, sorts_of
from doxa.understand.predications import predications
from doxa.understand.propose import HOLE, Proposition, propose_parsed
from doxa.understand.referents import Referents, kin_of, named, term
from doxa.understand.relatives import name_relatives
from doxa.understand.text import sentences

__all__ = ["Scope", "extract", "joined", "parsed_texts", "people"]

HEDGE = re.compile(
    r"^(?:I (?:think|guess|suppose|believe|imagine|heard|read|hear|reckon|doubt)(?: that)?|"
    r"apparently|allegedly|supposedly|maybe|perhaps|probably|possibly|"
    r"it (?:seems|looks like|sounds like)(?: like| that)?|rumou?r has it(?: that)?|there is "
    r"a rumou?r that|word is(?: that)?),? ",
    re.IGNORECASE,
)
CERTAIN = re.compile(
    r"^(?:I (?:know|said|told you|can (?:honestly |safely |now |finally |proudly )*say|"
    r"mentioned|already said|must say|have to say|should say|am "
    r"(?:happy|glad|proud) to say)|remember|note|by the way|the truth is|"
    r"the thing is|as you know|for the record|fun fact|in fact|to be exact|to be honest|it "
    r"turns out|turns out|"
    r"(?:good|bad|sad|great|big|exciting|terrible) news|update|I just found out)(?: that)?[,:]? (?=\S)",
    re.IGNORECASE,
)
MOST_CONTEXT = 6
PIECES = re.compile(r"\s*;\s*|:\s+(?=\S+ \S+ \S)|\s+[—–-]\s+")
"""What stands between these marks is parsed by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Who speaks, when, as what, and what the words refer to. Without a `parser` only relatives by name are read."""

    referents: Referents
    at: datetime
    role: str
    parser: Parser | None = None


def extract(text: str, scope: Scope) -> list[Proposition]:
    """Return what a written-out sentence says. Cost O(len(text)) and one call of the parser."""
    named_text, told_apart = name_relatives(text)
    found = _relatives(scope.referents, told_apart)
    for piece in _pieces(named_text):
        found.extend(fresh(found, _by_tree(scope, piece)))
    if scope.role == "assistant":
        found = [told for told in found if _of_concern(told, scope.referents)]
    return [told for told in found if HOLE not in told.object.label]


def _pieces(text: str) -> list[str]:
    """Return the parts of a sentence that are parsed by themselves."""
    return [part for part in PIECES.split(text) if part.strip()]


def _of_concern(told: Proposition, referents: Referents) -> bool:
    """Tell whether what an assistant says is about the user or has a date; advice and common knowledge go."""
    user = referents.other
    about_user = user is None or (told.subject == user or told.subject.key.startswith(f"{user.key}'s "))
    dated = told.valid.start is not None or told.valid.end is not None
    return told.subject != referents.speaker and (about_user or dated or told.object == user)


def people(turns: Sequence[Turn], parser: Parser) -> Iterator[str]:
    """Yield the people whom turns name, in order, for the pronouns that follow. Cost: a parse, mostly remembered."""
    for turn in turns:
        for sentence in sentences(turn.text)[:MOST_CONTEXT]:
            for tree in trees(sentence.text, parser):
                for place, tag in enumerate(tree.parse.tags):
                    subject = tree.relation(place) in ("nsubj", "nsubj:pass") and tree.is_name(place)
                    if (tag == "B-PERSON" or subject) and tree.words[place].form[:1].isupper():
                        name = tree.phrase(place)
                        if named(name):
                            yield name


def _relatives(referents: Referents, ties: Sequence[tuple[str, str, str]]) -> list[Proposition]:
    """Return who is whose what; "her" in "her children, Ada and Max" is the same person for each of them."""
    found: list[Proposition] = []
    for whose, noun, name in ties:
        owner = referents.owner(whose) or referents.resolve(whose.removesuffix("'s"))
        relation = kin_of(noun) or noun
        if owner is not None:
            person = referents.tied(owner, relation, term(name))
            found.append(Proposition(subject=owner, kind=attribute(relation), object=person))
    for told in found:
        referents.mention(told.object)
    return found


def parsed_texts(text: str, at: datetime) -> list[str]:
    """Return what the parser will be given of a written-out sentence, as far as that hangs on nothing before it."""
    named_text, _ = name_relatives(text)
    return [_for_parser(piece, at) for piece in _pieces(named_text)]


def _by_tree(scope: Scope, text: str) -> list[Proposition]:
    """Return what a sentence says by its dependency tree; nothing without a parser."""
    found = list(_parsed(scope, _for_parser(text, scope.at), scope.parser)) if scope.parser is not None else []
    return [replace(told, modality=Modality.POSSIBLE) for told in found] if HEDGE.match(text) else found


def _for_parser(text: str, at: datetime) -> str:
    """Return a sentence without the words that only say how sure it is, and with the commas parsers need."""
    if opening := HEDGE.match(text) or CERTAIN.match(text):
        text = text[opening.end() :]
    return _with_comma(text[:1].upper() + text[1:], at)


def _with_comma(text: str, at: datetime) -> str:
    """Set a comma after a time that opens a sentence ("On Sunday Max and I left"), which parsers need to see it."""
    first = next((span for span in find_times(text, at, past=True) if span.start == 0), None)
    if first is None or not re.match(r" (?:[A-Z]|my\b|our\b|the\b|he\b|she\b|we\b)", text[first.end :]):
        return text
    return f"{text[: first.end]},{text[first.end :]}"


def _parsed(scope: Scope, text: str, parser: Parser) -> Iterator[Proposition]:
    """Yield what the parsed clauses of a sentence say."""
    at, referents = scope.at, scope.referents
    terse, noted = scope.role != "assistant", bool(referents.own_names)
    times = find_times(text, at)
    for tree in trees(text, parser):
        referents.sorts.update((name.casefold(), sort) for name, sort in sorts_of(tree))
        clauses = [*predications(tree, times, terse=terse, noted=noted), *appositions(tree)]
        for predication in sorted(clauses, key=lambda clause: clause.head):
            source = referents.resolve(predication.source) if predication.source else None
            for told in propose_parsed(predication, referents, at):
                others = source is not None and source != referents.speaker and told.subject != source
                yield replace(told, source=source.label) if source is not None and others else told


def fresh(found: Sequence[Proposition], more: Iterable[Proposition]) -> list[Proposition]:
    """Return those of `more` that say something new: another subject, or other words about the same one."""
    said = list(found)
    for told in more:
        before, beside = said[: len(found)], said[len(found) :]
        repeated = any(_same_news(told, known) for known in before)
        repeated = repeated or any(_same_news(told, known) and _same_kind(told, known) for known in beside)
        if not repeated:
            said.append(told)
    return said[len(found) :]


def joined(found: Sequence[Proposition], heard: Sequence[Proposition]) -> list[Proposition]:
    """Return what was found, with times that only were heard, and what was heard and adds to it.

    It adds something about somebody else, or another thing, place or day. "I meant Bergen" says nothing of Bergen
    beside what was heard to put something right.
    """
    amended = {(one.subject, one.object) for one in heard if one.act is not Act.STATE}
    plain = (o for o in found if (o.subject, o.object) not in amended or o.kind.name in relation_names())
    told = [_timed(one, heard) for one in plain]
    return [*told, *(one for one in fresh(told, heard) if not any(_says(known, one) for known in told))]


def _timed(known: Proposition, heard: Iterable[Proposition]) -> Proposition:
    if known.valid != Interval():
        return known
    times = (
        one.valid for one in heard if _same_news(one, known) and _same_kind(one, known) and one.ended == known.ended
    )
    return replace(known, valid=next((one for one in times if one != Interval()), known.valid))


def _says(known: Proposition, heard: Proposition) -> bool:
    """Tell whether a proposition says in other words what was heard: of the same thing, and with the same value.

    "Nora's cat is called Miso" is said by (Nora, cat, Miso), and "born on 1990" by what holds since 1990.
    """
    if heard.object == known.object and heard.subject.key.startswith(f"{known.subject.key}'s "):
        return True  # "my padlock code is 4711": a code of hers, and of the padlock's
    if heard.kind == known.kind and heard.object == known.object and not named(heard.subject.label):
        return True  # "the new one", which is known by its name
    if not _words(heard.subject.label) <= _words(known.subject.label) | _words(known.kind.label):
        return False
    thing, value = _words(heard.object.label), _words(known.object.label)
    if not thing:
        return known.kind.name == heard.kind.name
    day = Interval.format(known.valid.start, known.valid.start_precision) if known.valid.start else ""
    same = thing <= value or (bool(value) and value <= thing)
    return same or thing <= _words(known.kind.label) or thing <= _words(day)


def _words(label: str) -> set[str]:
    return {word.removesuffix("'s") for word in label.casefold().replace("_", " ").split()}


def _same_kind(told: Proposition, known: Proposition) -> bool:
    """Tell whether two propositions of one sentence have one relation, or one of them only a verb of its own."""
    listed = relation_names()
    if told.kind.name == "buys" and known.kind.name == "has":
        return True  # what one has bought one has
    own = told.kind.name in listed or is_tie(told.kind.name)
    return (
        told.kind.name == known.kind.name or not own or (known.kind.name not in listed and not is_tie(told.kind.name))
    )


def _same_news(told: Proposition, known: Proposition) -> bool:
    if told.subject != known.subject:
        return told.object == known.subject and told.subject == known.object
    if told.polarity != known.polarity:
        return False
    if told.object.key == known.object.key:
        return True
    one, other = set(told.object.key.split()), set(known.object.key.split())
    return bool(one & other) and (one <= other or other <= one)
