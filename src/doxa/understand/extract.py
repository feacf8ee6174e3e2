"""Sentence -> propositions, freely: what is worth keeping of them is decided afterwards (`plausibility`).

Relatives by name are read by their wording, all else off the dependency tree (`predications`, `nominals`); the order of
words (`distil`, `clauses`) is left for sentences of which the tree tells nothing, and for a missing parser.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from doxa.backends.parser import Parser
from doxa.core.values import Modality, Term, Turn
from doxa.language.syntax import trees
from doxa.language.times import find_times
from doxa.memory import is_tie, relation_names
from doxa.understand.clauses import Clause, parse_clause
from doxa.understand.distil import clauses_of, name_relatives
from doxa.understand.measures import AMOUNT, PRICES, readings
from doxa.understand.nominals import appositions, lacks, relatives, sorts_of
from doxa.understand.plans import slot_time
from doxa.understand.predications import Predication, predications
from doxa.understand.propose import HOLE, Proposition, propose, propose_parsed
from doxa.understand.referents import NAME, Referents, named
from doxa.understand.text import sentences, words

__all__ = ["Scope", "extract", "parsed_texts", "people"]

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
TOLD = re.compile(
    rf"^(?P<who>{NAME}|(?i:my|his|her|our) [\w-]+(?: {NAME})?) (?:(?:just|also|now) )?(?P<verb>says?|"
    rf"said|told (?:me|us)|thinks?|thought|claims?|claimed|believes?|heard|reckons?|mentioned|"
    rf"insists?|writes?|wrote)(?: that)?,? (?P<what>.+)$"
)
WISH = re.compile(r"^I (?:only )?wish (?:that )?(?P<rest>.+)$", re.IGNORECASE)
MOST_CONTEXT = 6
PIECES = re.compile(r"\s*;\s*|:\s+(?=\S+ \S+ \S)|\s+[—–-]\s+")
"""What stands between these marks is parsed by itself."""
SPLICE = re.compile(
    r", (?=(?:so )?(?:I|we|he|she|it|they|that) (?:am|is|are|was|were|have|has|will|work|live|now)\b|so \d[\d.,]*$)"
)
SUBORDINATE = re.compile(
    r"(?:if|unless|when|while|whenever|until|after|before|as|once|since|although|though|because|whether|given|what|who|"
    r"where|how|the (?:more|less)|not only|either|neither)\b",
    re.IGNORECASE,
)
INVERTED = re.compile(r"^(?:Had|Were|Should) (?:I|we|you|he|she|it|they|the|my|our)\b")
"""A condition without "if": "Had we bought it, we would be rich"."""
UNREAL = re.compile(r"\b(?:would have|could have|should have|as if|pretend(?:ing)?)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Who speaks, when, as what, and what the words refer to. Without a `parser` word order has to do."""

    referents: Referents
    at: datetime
    role: str
    parser: Parser | None = None


def extract(text: str, scope: Scope) -> list[Proposition]:
    """Return what a written-out sentence says. Cost O(len(text)) and one call of the parser."""
    parser = scope.parser
    timed = list(slot_time(text, scope.referents, scope.at))
    if timed:
        return timed
    if parser is None:
        found = _by_wording(scope, clauses_of(text))
    else:
        named_text, told_apart = name_relatives(text)
        found = _relatives(scope, told_apart)
        for piece in _pieces(named_text):
            if piece.strip():
                found.extend(_fresh(found, _by_tree(scope, piece, parser)))
        if not found:
            found = _by_wording(scope, clauses_of(text))
    if scope.role == "assistant":
        found = [told for told in found if _of_concern(told, scope.referents)]
    return [told for told in found if HOLE not in told.object.label]


def _pieces(text: str) -> list[str]:
    """Return the parts of a sentence that are parsed by themselves; a reading stays with the clause before it."""
    found: list[str] = []
    for piece in (part for whole in PIECES.split(text) for part in _spliced(whole)):
        if found and AMOUNT.fullmatch(piece.strip(" .!")):
            found[-1] = f"{found[-1]}: {piece}"
        else:
            found.append(piece)
    return found


def _spliced(text: str) -> list[str]:
    """Split two statements that only a comma joins ("Left the council, I am with a law firm now")."""
    match = SPLICE.search(text)
    if match is None or SUBORDINATE.match(text):
        return [text]
    first = parse_clause(words(text[: match.start()]), terse=True)
    if first is None or first.modality is Modality.HYPOTHETICAL:
        return [text]
    return [text[: match.start()], *_spliced(text[match.end() :])]


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


def _relatives(scope: Scope, clauses: Sequence[str]) -> list[Proposition]:
    """Return who is whose what; "her" in "her children, Ada and Max" is the same person for each of them."""
    found: list[Proposition] = []
    before = list(scope.referents.people)
    named_here: list[Term] = []
    for clause in clauses:
        scope.referents.people = list(before)
        found.extend(_by_wording(scope, [clause]))
        named_here.extend(person for person in scope.referents.people if person not in before)
    scope.referents.people = before
    for person in named_here:
        scope.referents.mention(person)
    return found


def _by_wording(scope: Scope, clauses: Iterable[str]) -> list[Proposition]:
    """Return what clauses say by the order of their words."""
    found: list[Proposition] = []
    for clause in clauses:
        found.extend(_clause(scope, clause.strip(" ,"), Modality.ASSERTED, 0))
        scope.referents.note_place(clause)
    return found


def parsed_texts(text: str, at: datetime) -> list[str]:
    """Return what the parser will be given of a written-out sentence, as far as that hangs on nothing before it."""
    named_text, _ = name_relatives(text)
    return [_for_parser(piece, at) for piece in _pieces(named_text) if piece.strip()]


def _by_tree(scope: Scope, text: str, parser: Parser) -> list[Proposition]:
    """Return what a sentence says by its dependency tree."""
    found = list(_parsed(scope, _for_parser(text, scope.at), parser))
    scope.referents.note_place(text)
    return [replace(told, modality=Modality.POSSIBLE) for told in found] if HEDGE.match(text) else found


def _for_parser(text: str, at: datetime) -> str:
    """Return a sentence without the words that only say how sure it is, and with the order and commas parsers need."""
    if opening := HEDGE.match(text) or CERTAIN.match(text):
        text = text[opening.end() :]
    if INVERTED.match(text):
        text = re.sub(r"^(Had|Were|Should) (\w+)", lambda m: f"If {m[2]} {m[1].casefold()}", text)
    return _with_comma(text[:1].upper() + text[1:], at)


def _clause(scope: Scope, text: str, modality: Modality, depth: int) -> list[Proposition]:
    if depth > 3 or UNREAL.search(text):
        return []
    hedge, certain, told, wish = HEDGE.match(text), CERTAIN.match(text), TOLD.match(text), WISH.match(text)
    if hedge:
        return _clause(scope, text[hedge.end() :], Modality.POSSIBLE, depth + 1)
    if certain:
        return _clause(scope, text[certain.end() :], modality, depth + 1)
    if told:
        return _told(scope, told, depth)
    if wish:
        had = re.match(r"(?:I|we) had (.+)$", wish["rest"])
        return _clause(scope, f"I want {had[1]}", Modality.DESIRED, depth + 1) if had else []
    tokens = words(text)
    clause = parse_clause(tokens, terse=scope.role != "assistant")
    if clause is None:
        return []
    lead, clause = _leading_time(clause)
    found = propose(clause, lead, scope.referents, scope.at)
    if modality is Modality.ASSERTED:
        return found
    return [replace(p, modality=modality) if p.modality in (Modality.ASSERTED, Modality.PLANNED) else p for p in found]


def _told(scope: Scope, told: re.Match[str], depth: int) -> list[Proposition]:
    """Read what somebody is reported to say: firm about himself, hearsay about anything else."""
    who = scope.referents.resolve(told["who"])
    if who is None:
        return []
    scope.referents.mention(who)
    about_self = re.match(r"(?:he|she)\b", told["what"]) and told["verb"].startswith(
        ("told", "said", "says", "mention")
    )
    return _clause(scope, told["what"], Modality.ASSERTED if about_self else Modality.POSSIBLE, depth + 1)


def _leading_time(clause: Clause) -> tuple[str, Clause]:
    """Split "On Saturday I" into its time and its subject."""
    match = re.match(
        r"(.*?\b)(I|we|he|she|it|they|you|(?:my|our|his|her|the) [\w' ]+|[^\W\d_a-z][\w']*(?:(?:, "
        r"| and )(?:I|[^\W\d_a-z][\w']*))*)$",
        clause.subject,
    )
    lead = re.match(
        r"(?:on|in|since|until|from|at|last|next|this|yesterday|today|tomorrow|tonight|for|after|"
        r"before|by|these days|nowadays|\d+|an? (?:year|month|week|day|couple|few)|two|three|four|five|six)\b",
        clause.subject,
        re.IGNORECASE,
    )
    if match is None or lead is None or not match[1].strip(" ,"):
        return "", clause
    return match[1], replace(clause, subject=match[2])


def _with_comma(text: str, at: datetime) -> str:
    """Set a comma after a time that opens a sentence ("On Sunday Max and I left"), which parsers need to see it."""
    first = next((span for span in find_times(text, at, past=True) if span.start == 0), None)
    if first is None or not re.match(r" (?:[A-Z]|my\b|our\b|the\b|he\b|she\b|we\b)", text[first.end :]):
        return text
    return f"{text[: first.end]},{text[first.end :]}"


def _parsed(scope: Scope, text: str, parser: Parser) -> Iterator[Proposition]:
    """Yield what the parsed clauses of a sentence say."""
    at, referents = scope.at, scope.referents
    terse = scope.role != "assistant"
    times = find_times(text, at)
    for tree in trees(text, parser):
        referents.sorts.update((name.casefold(), sort) for name, sort in sorts_of(tree))
        read = list(readings(tree, times))
        weighed = {reading.head for reading in read}
        spoken = [told for told in predications(tree, times, terse=terse) if not _weighs(told, weighed)]
        clauses = [*spoken, *appositions(tree), *relatives(tree), *read]
        if terse:
            clauses.extend(lacks(tree))
        for predication in sorted(clauses, key=lambda clause: clause.head):
            source = referents.resolve(predication.source) if predication.source else None
            for told in propose_parsed(predication, referents, at):
                others = source is not None and source != referents.speaker and told.subject != source
                yield replace(told, source=source.label) if source is not None and others else told


def _weighs(told: Predication, weighed: Collection[int]) -> bool:
    """Tell whether a clause only says that something was weighed whose weight is told beside it."""
    priced = told.clause.verb.partition("+")[0] in PRICES and len(told.objects) > 1
    return told.head in weighed and (priced or told.clause.verb in ("weigh", "measure"))


def _fresh(found: Sequence[Proposition], more: Iterable[Proposition]) -> list[Proposition]:
    """Return those of `more` that say something new: another subject, or other words about the same one."""
    said = list(found)
    for told in more:
        before, beside = said[: len(found)], said[len(found) :]
        repeated = any(_same_news(told, known) for known in before)
        repeated = repeated or any(_same_news(told, known) and _same_kind(told, known) for known in beside)
        if not repeated:
            said.append(told)
    return said[len(found) :]


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
