"""reading: turn -> clauses.

A turn is cut into sentences by the parser and into clauses at the places where a new one opens; each clause knows its
mood, its verb with particle, what stands before and behind the verb, and its typed values. Shallow on purpose: task
talk is full of fragments ("Venue 600, catering for 30 at 18 each") that have no tree worth the name.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import pairwise

from doxa.backends.parser import Parser, split
from doxa.core.tasks import ValueKind
from doxa.language.words import MODALS
from doxa.tasks.amounts import Typed, read_values
from doxa.tasks.verbs import STRONG, WH, Mood, Token, has_particle, mood_of, particle_of, request_verbs, verb_at

__all__ = ["Clause", "read_clauses"]

LEADS = frozenset(
    "also then please actually just maybe yes no ok now instead so well , still even perhaps otherwise".split()
)
MARKS = (
    "if",
    "unless",
    "because",
    "since",
    "once",
    "when",
    "before",
    "after",
    "until",
    "while",
    "in case",
    "as",
    "whenever",
    "although",
    "though",
    "where",
)
OF_SUBJECTS = frozenset("NOUN PROPN PRON DET ADJ NUM ADP PART X ADV VERB CCONJ".split())

PLACING = frozenset("on at in from until till by for".split())
ANNOUNCING = frozenset("correction mistake typo slip update change news note question thing reminder".split())
ASKERS = frozenset("i you we anyone anybody someone".split())
HAPPENING = frozenset("be start begin end finish come move happen take go".split())
SEPARATE = re.compile(
    r"(?:and |also )?(?:(?:not|nothing) (?:part of|related to|to do with)|separate(?:ly)?\b|unrelated|something else|"
    r"(?:on )?(?:a|an|another|one)?\s?(?:different|separate|other|unrelated) (?:thing|note|matter|task|topic|errand))"
)
OFFERING = re.compile(
    r"(?:and |so |or )?(?:any chance of|how about|what about|"
    r"(?:is|are) there any(?:thing)? (?:on|at|for)|would|could it be)\s+"
)
PRESENTING = frozenset("here this that there these those".split())
SUBJECTS = frozenset("PRON DET PROPN NOUN".split())
CLOSERS = {".", "!", "?", ";", "…"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """A part of a turn that says one thing."""

    text: str
    tokens: tuple[Token, ...]
    mood: Mood
    values: tuple[Typed, ...]
    """Typed values, placed in the turn."""
    verb: str = ""
    particle: str = ""
    at: int = 0
    """Where in `tokens` the verb stands; what is before it is its subject and what wraps it."""
    subject: tuple[Token, ...] = ()
    rest: tuple[Token, ...] = ()
    """What stands behind the verb, without its particle."""
    mark: str = ""
    """The word that makes it depend on another: if, because, before ..."""
    join: str = ""
    label: str = ""
    """What stood before a colon in front of it: the slot that a form asks about."""
    listed: tuple[tuple[Token, ...], ...] = ()
    """The elements behind a colon."""
    negated: bool = False
    repair: bool = False
    """It puts the clause before it right."""
    wrapped: str = ""
    """The words around a request: "can you", "i want"."""
    question: bool = False
    """The sentence ends with a question mark."""
    lowered: str = field(default="")

    def has(self, cues: Sequence[str]) -> str:
        """Return the first of some cues that stands in it as whole words; empty when none does."""
        padded = f" {self.lowered} "
        return next((cue for cue in cues if f" {cue} " in padded), "")


def read_clauses(text: str, parser: Parser, at: datetime) -> list[Clause]:
    """Return the clauses of a turn in order. Cost: one parse a sentence.

    Raises:
        BackendError: the parser failed.
    """
    text = text.replace("’", "'").replace("‘", "'").replace("“", '"').replace("”", '"')
    values = read_values(text, at)
    clauses: list[Clause] = []
    parts = split(text)
    for words, parse in zip(parts, parser.parse([[word.form for word in part] for part in parts]), strict=True):
        tokens = [
            Token(w.form, w.form.lower(), _lemma(w.form, lemma, upos), upos, deprel, head, tag, w.start, w.end, i)
            for i, (w, lemma, upos, deprel, head, tag) in enumerate(
                zip(words, parse.lemmas, parse.upos, parse.deprels, parse.heads, parse.tags, strict=True)
            )
        ]
        tokens = _told_to_keep(tokens)
        parted = _parted(tokens) if _labels(tokens) else _announced(_contracted(_asked(tokens), values))
        for i, part in enumerate(parted):
            draws = "so" if i and lacks(" ".join(token.lower for token in parted[i - 1])) else ""
            clauses += _of_sentence(part, text, values, join=draws)
    return _inherited([_caused(clause) for clause in clauses if clause.lowered])


def _caused(clause: Clause) -> Clause:
    """Read "get them to come at one" as what is to hold: they come at one."""
    to = next((i for i, token in enumerate(clause.rest[:6]) if token.lower == "to" and token.upos == "PART"), None)
    causes = clause.mood == "request" and clause.verb in ("get", "ask", "tell") and not clause.particle
    if not causes or not to or to + 1 >= len(clause.rest) or not clause.values:
        return clause
    verb = clause.rest[to + 1]
    whom = tuple(token for token in clause.rest[:to] if token.upos in OF_SUBJECTS)
    return replace(clause, mood="statement", verb=verb.lemma, subject=whom, rest=clause.rest[to + 2 :], wrapped="")


def _inherited(clauses: list[Clause]) -> list[Clause]:
    """Give a clause without a subject that of the one it goes on with: "I arrive on Monday and stay for a week"."""
    found: list[Clause] = []
    for clause in clauses:
        before = found[-1] if found else None
        goes_on = before is not None and clause.join in ("and", "then", "but") and before.mood == "statement"
        if (
            before is not None
            and goes_on
            and before.subject
            and not before.wrapped
            and not clause.subject
            and clause.mood == "request"
            and clause.verb not in request_verbs()
        ):
            clause = replace(clause, mood="statement", subject=before.subject)
        found.append(clause)
    return found


def _lemma(form: str, lemma: str, upos: str) -> str:
    lowered = form.lower()
    return {
        "'m": "be",
        "'re": "be",
        "'s": "be" if upos in ("AUX", "VERB") else "'s",
        "ca": "can",
        "wo": "will",
        "n't": "not",
    }.get(lowered, lemma.lower())


def _told_to_keep(tokens: list[Token]) -> list[Token]:
    """Take off what asks for a statement to be kept: "could you remember that Biscuit gets her booster on 2 July?"."""
    said = " ".join(token.lower for token in tokens)
    match = KEEPING.match(said)
    if match is None:
        return tokens
    size = len(match[0].split())
    if len(tokens) < size + 2:
        return tokens
    kept = [token for token in tokens[size:] if token.form != "?"]
    if match[0].rstrip().endswith(("to", "i", "we")):
        kept[0] = replace(kept[0], upos="VERB", deprel="root")  # "remind me to call the plumber" asks for a deed
    return kept


KEEPING = re.compile(
    r"(?:please )?(?:(?:can|could|would|will) you )?(?:please )?(?:"
    r"(?:remember|note|note down|make a note|keep in mind|write down|bear in mind|put down) that |remind (?:me|us) to |"
    r"(?:do n't|don't|do not) let (?:me|us) forget to |help (?:me|us) remember to |make sure (?:i|we) )"
)


def _asked(tokens: list[Token]) -> list[Token]:
    """Read a known verb that opens a sentence, and a determiner behind it, as a request: "Sow the carrots"."""
    at = next((i for i, t in enumerate(tokens) if t.upos != "PUNCT" and t.lower not in LEADS), None)
    if at is None or at + 2 >= len(tokens) or tokens[at].upos in ("VERB", "AUX"):
        return tokens
    opens = tokens[at + 1].upos == "DET" or tokens[at + 1].lower in ("it", "them", "my", "our", "his", "her", "their")
    if not opens or tokens[at].lower not in request_verbs() or tokens[at].upos in ("PRON", "DET"):
        return tokens
    return [*tokens[:at], replace(tokens[at], lemma=tokens[at].lower, upos="VERB", deprel="root"), *tokens[at + 1 :]]


def _contracted(tokens: list[Token], values: Sequence[Typed]) -> list[Token]:
    """Read "'s" before a time, a place or a price as the verb it is: "the engineer's on 19 June"."""
    starts = {value.start for value in values if value.value is not None and value.value.kind is not ValueKind.NUMBER}
    return [
        replace(token, lemma="be", upos="AUX", deprel="cop")
        if token.form == "'s"
        and token.upos == "PART"
        and 0 < i < len(tokens) - 1
        and (tokens[i + 1].start in starts or (tokens[i + 1].upos == "ADP" and tokens[i + 1].lower in PLACING))
        else token
        for i, token in enumerate(tokens)
    ]


def _labels(tokens: Sequence[Token]) -> list[int]:
    """Return where the labels of "Monday: hills, Wednesday: rest" begin; none where there is only one."""
    colons = [i for i, token in enumerate(tokens) if token.form == ":" and 0 < i < len(tokens) - 1]
    if len(colons) < 2:
        comma = next((i for i in range(colons[0] - 1, 0, -1) if tokens[i].form == ","), 0) if colons else 0
        field = comma and colons[0] - comma < 4 and any(token.upos == "NUM" for token in tokens[:comma])
        return [comma + 1] if field else []
    starts = []
    for colon in colons:
        start = next((i + 1 for i in range(colon - 1, -1, -1) if tokens[i].form in (",", ";", ":", "/", "and")), 0)
        verb = next((i + 1 for i in range(colon - 1, start, -1) if tokens[i].upos in ("AUX", "VERB")), start)
        starts.append(max(start, verb))
    return starts if all(colon - start < 4 for start, colon in zip(starts, colons, strict=True)) else []


def _parted(tokens: list[Token]) -> list[list[Token]]:
    """Cut a sentence with several labels before each of them."""
    starts = _labels(tokens)
    cuts = [*starts, len(tokens)]
    head = [token for token in tokens[: starts[0]] if token.upos != "AUX"]
    parts = [list(tokens[a:b]) for a, b in pairwise(cuts)]
    for part in parts:
        while part and part[-1].form in (",", ";", "/", "and"):
            part.pop()
    return [part for part in (head, *parts) if part]


def _announced(tokens: list[Token]) -> list[list[Token]]:
    """Part what announces from what it announces: "they just rang: it is Tuesday now", "one correction: it was May"."""
    colon = next((i for i, token in enumerate(tokens) if token.form == ":" and 0 < i < len(tokens) - 2), None)
    if colon is None:
        return [tokens]
    before, behind = tokens[:colon], tokens[colon + 1 :]
    shared = any(token.lower in ("both", "all", "instead", "then", "everywhere") for token in behind[-4:])
    if shared and lacks(" ".join(token.lower for token in before)):
        return [before, behind]  # "no ferns this week: eucalyptus for both"
    if not (
        _opens(tokens, colon + 1)
        or _imperative(tokens, colon + 1, colon + 1)
        or any(token.lower in ("i", "we", "instead") for token in behind[1:5])
    ):
        return [tokens]
    if SEPARATE.match(" ".join(token.lower for token in before)):
        return [behind]
    verbless = not any(token.upos in ("VERB", "AUX") for token in before)
    own = any(token.lower in ("i", "we") for token in behind[1:5]) and behind[0].upos == "ADP"
    instead = any(token.lower == "instead" for token in behind) and not verbless
    if (own and verbless) or instead:
        return [before, behind]  # "my gym programme: on Mondays I do squats"
    if verbless and len(before) < 5 and any(token.lemma in ANNOUNCING for token in before):
        sorry = replace(before[-1], form="sorry", lower="sorry", upos="INTJ")
        return [[sorry, *behind] if _puts_right(before) else behind]
    told = any(token.upos in ("VERB", "AUX") and i > 0 for i, token in enumerate(before)) and _finite(before, 0)
    shared = any(token.lower in ("both", "all", "instead", "then", "everywhere") for token in behind[-4:])
    if shared and lacks(" ".join(token.lower for token in before)):
        return [before, behind]  # "no ferns this week: eucalyptus for both"
    return [before, behind] if told and _finite(tokens, colon + 1) else [tokens]


def _puts_right(tokens: Sequence[Token]) -> bool:
    return any(token.lemma in ("correction", "mistake", "typo", "slip") for token in tokens)


def lacks(lowered: str) -> bool:
    """Tell whether words say that something is not to be had."""
    return LACKING.search(lowered) is not None


LACKING = re.compile(
    r"\b(?:no|not|n't|never|none|nobody|out of|run out|ran out|sold out|gone|allergic|hates?|can't stand|without|"
    r"cannot|lacks?|missing|broken|ill|sick|away|full|closed|shut|fully booked|expensive|banned|off sale|unavailable)\b"
)


def _of_sentence(tokens: list[Token], text: str, values: Sequence[Typed], *, join: str = "") -> list[Clause]:
    question = bool(tokens) and any(token.form == "?" for token in tokens[-3:])
    label, tokens = _labelled(tokens)
    found: list[Clause] = []
    parts = _parts(tokens, values)
    for i, (joined, part) in enumerate(parts):
        asked = question and (i == len(parts) - 1 or part[0].upos == "AUX" or part[0].lower in WH)
        clause = _clause(part, text, values, join=joined or ("" if found else join), question=asked)
        if clause is not None:
            found.append(replace(clause, label=label))
    return found


def _labelled(tokens: list[Token]) -> tuple[str, list[Token]]:
    """Take off a label with its colon where a whole clause follows: "start: I will leave from Bonn"."""
    colon = next((i for i, token in enumerate(tokens[:5]) if token.form == ":"), None)
    if not colon or not all(t.upos in ("NOUN", "PROPN", "ADJ", "VERB", "NUM", "X") for t in tokens[:colon]):
        return "", tokens
    behind = tokens[colon + 1 :]
    opens = behind and behind[0].form[:1].isupper() and (_opens(behind, 0) or behind[0].upos in ("ADV", "INTJ", "ADP"))
    if not opens or not any(token.upos in ("VERB", "AUX") for token in behind):
        return "", tokens
    return " ".join(token.form for token in tokens[:colon]), behind


def _parts(tokens: list[Token], values: Sequence[Typed]) -> list[tuple[str, list[Token]]]:
    """Cut a sentence where a new clause opens; each part with the word that joins it to the one before."""
    inside = {i for i, t in enumerate(tokens) for v in values if v.start < t.start < v.end}
    parts: list[tuple[str, list[Token]]] = []
    start, join, at, depth = 0, "", 0, 0
    while at < len(tokens):
        token = tokens[at]
        depth += (token.form == "(") - (token.form == ")")
        if at in inside or depth > 0 or not _separates(token):
            at += 1
            continue
        behind = at + 1
        joined = token.lower if token.upos in ("CCONJ", "SCONJ", "ADV") else ""
        while behind < len(tokens) and _separates(tokens[behind]):
            joined = joined or (tokens[behind].lower if tokens[behind].upos in ("CCONJ", "SCONJ", "ADV") else "")
            behind += 1
        hard = token.form in (";", "—", "–", "...", "…") or (token.form in ("-", "/") and _spaced(tokens, at))
        verbal = (
            any(t.upos in ("VERB", "AUX") for t in tokens[start:at])
            or token.form in (",", ";")
            or not _finite(tokens, behind)
        )
        strong = joined in ("and", "then") and _imperative(tokens, behind, start)
        listing = any(t.form == ":" for t in tokens[start:at])
        opens = _finite(tokens, behind) if listing else _opens(tokens, behind)
        draws = joined == "so" and token.form == "," and any(t.upos in ("VERB", "AUX") for t in tokens[start:at])
        if behind < len(tokens) and at > start and (hard or strong or draws or (verbal and opens)):
            parts.append((join, tokens[start:at]))
            start, join = behind, joined
        at = behind
    parts.append((join, tokens[start:]))
    return [(join, part) for join, part in parts if part]


def _spaced(tokens: Sequence[Token], at: int) -> bool:
    return 0 < at < len(tokens) - 1 and tokens[at - 1].end < tokens[at].start and tokens[at].end < tokens[at + 1].start


def _separates(token: Token) -> bool:
    return (
        token.form in (",", ";", "—", "–", "-", "…", "...", "/")
        or (token.upos == "CCONJ" and token.lower != "&")
        or (
            token.lower in ("so", "then", "because", "since", "plus", "except")
            and token.upos in ("ADV", "SCONJ", "CCONJ", "ADP")
        )
    )


def _opens(tokens: Sequence[Token], at: int) -> bool:
    """Tell whether a clause opens at a word: an imperative, a subject with its verb, a question."""
    while at < len(tokens) and (tokens[at].upos == "INTJ" or tokens[at].lower in LEADS):
        at += 1
    if at >= len(tokens):
        return False
    first = tokens[at]
    following = tokens[at + 1] if at + 1 < len(tokens) else None
    if first.lower in WH and following is not None:
        return any(token.upos in ("VERB", "AUX") for token in tokens[at + 1 : at + 6])
    if first.upos == "AUX" or (first.lower in MODALS and following is not None and following.upos == "PRON"):
        return following is not None
    if first.lower == "let":
        return True
    if first.upos == "VERB" and (
        first.lemma in request_verbs() or first.deprel in ("root", "parataxis", "conj", "acl", "acl:relcl", "advcl")
    ):
        return first.deprel not in ("amod", "compound", "nsubj") and not (
            first.form.endswith("ing") and first.deprel in ("conj", "compound") and not has_particle(tokens, at)
        )
    if (
        first.lower in request_verbs()
        and first.deprel in ("root", "conj", "parataxis")
        and following is not None
        and following.upos in ("DET", "PRON")
    ):
        return True
    if first.upos == "ADP" and tokens[at - 1].form in (",", ";", "—", "–"):
        ahead = tokens[at + 1 : at + 6]
        noun = next((i for i, token in enumerate(ahead) if token.upos == "NOUN"), None)
        if (
            noun is not None
            and noun + 2 < len(ahead)
            and ahead[noun + 1].upos == "AUX"
            and ahead[noun + 1].lemma == "be"
        ):
            return True  # "on the panel are Olga and Sam"
    return _finite(tokens, at)


def _imperative(tokens: Sequence[Token], at: int, start: int) -> bool:
    """Tell whether a word that the parser takes for a noun opens a second request: "add Mei and book room 4"."""
    while at < len(tokens) and tokens[at].lower in ("then", "also", "please", "just"):
        at += 1
    if at + 1 >= len(tokens) or tokens[start].lower not in request_verbs() | {"please"}:
        return False
    return tokens[at].lower in STRONG and tokens[at + 1].upos in ("DET", "PRON", "NOUN", "PROPN")


def _finite(tokens: Sequence[Token], at: int) -> bool:
    """Tell whether a noun phrase with its finite verb stands here."""
    nominal = False
    for token in tokens[at : at + 7]:
        if token.upos == "VERB" and token.deprel in ("amod", "compound"):
            continue
        if token.upos in ("AUX", "VERB"):
            verb = token.upos == "VERB"
            return nominal and not (verb and (token.deprel in ("acl", "acl:relcl") or token.form.endswith("ing")))
        if token.upos in ("NOUN", "PROPN", "PRON", "NUM"):
            nominal = True
        elif token.upos not in ("DET", "ADJ", "ADV", "PART") and token.lower not in ("of", "'s", "-"):
            return False
    return False


def _clause(part: list[Token], text: str, values: Sequence[Typed], *, join: str, question: bool) -> Clause | None:
    tokens = tuple(token for token in part if token.form not in CLOSERS)
    if not tokens:
        return None
    start, end = tokens[0].start, tokens[-1].end
    said = text[start:end]
    lowered = re.sub(r"[^\w'$€£%:&.-]+", " ", said.lower()).strip(" .-")
    head, listed = _listed(tokens)
    end = head[-1].end if listed else end
    pronouns = {token.start for token in tokens if token.lower == "one" and token.upos != "NUM"}
    here = tuple(value for value in values if start <= value.start and value.end <= end and value.start not in pronouns)
    clause = Clause(
        text=said,
        tokens=tokens,
        mood="fragment",
        values=here,
        mark=_mark(tokens, question=question),
        join=join,
        listed=listed,
        question=question,
        lowered=lowered,
    )
    shown = _shown(clause, head)
    return shown if shown is not None else _verbal(clause, head)


def _mark(tokens: tuple[Token, ...], *, question: bool) -> str:
    """Return the word that makes a clause depend on another one."""
    if " ".join(token.lower for token in tokens[:2]) in ("in case", "provided that", "assuming that", "supposing that"):
        return "if"
    if tokens[0].lower in ("should", "had", "were") and not question and len(tokens) > 2 and tokens[1].upos in SUBJECTS:
        return "if"  # "should they want a reference, it is CR 6612"
    mark = next(
        (t.lower for t in tokens[:2] if t.lower in MARKS and t.upos in ("SCONJ", "ADV") and t is not tokens[-1]),
        "",
    )
    inverted = tokens[0].lower == mark and len(tokens) > 1 and tokens[1].upos == "AUX"
    return "" if mark in ("when", "where") and (question or inverted) else mark


def _shown(clause: Clause, head: tuple[Token, ...]) -> Clause | None:
    """Read what only puts something forward as a fragment: "there's a concert on Monday", "how about six?"."""
    offer = OFFERING.match(clause.lowered) if clause.question else None
    if offer is not None and clause.values:
        behind = tuple(token for token in head if token.start - clause.tokens[0].start >= len(offer[0]))
        return replace(clause, rest=behind or head, question=False)
    if clause.listed and [token.lower for token in head] == ["to", "do"]:
        whole = replace(head[0], lower="to-do", upos="NOUN", end=head[1].end)
        return replace(clause, rest=(whole,))  # "to do: laundry, taxes"
    be = next((i for i, token in enumerate(head[:3]) if token.lemma in ("be", "'s")), None)
    if clause.question or be is None or len(head) < be + 2 or head[0].lower not in PRESENTING:
        return None
    there = head[0].lower == "there" and be == 1 and not negated_in(head[:3])
    return replace(clause, rest=head[be + 1 :]) if there or (clause.listed and be == 1) else None


def _verbal(clause: Clause, head: tuple[Token, ...]) -> Clause:
    """Read a clause by its verb, where it has one."""
    at, wrapped = verb_at(head) if len(head) > 1 or not clause.listed else (None, "")
    mood = mood_of(head, at, wrapped, question=clause.question)
    if clause.mark == "if" and clause.tokens[0].lower in ("should", "had", "were"):
        mood = "statement"
    if at is None:
        return replace(clause, mood=mood, rest=_bare(head, wrapped), wrapped=wrapped)
    if mood == "question" and _proposes(head, at, clause.values):
        head, at, mood, wrapped = (*head[1:at], *head[at:]), at - 1, "statement", ""
        clause = replace(clause, question=False)
    particle, rest = particle_of(head, at)
    return replace(
        clause,
        mood=mood,
        verb=head[at].lemma,
        particle=particle,
        at=at,
        subject=tuple(t for t in head[:at] if t.upos in OF_SUBJECTS and not _leads_in(t)),
        rest=rest,
        negated=any(
            t.lower in ("not", "n't", "never", "no", "cannot", "without") for t in head[: at + 2] if t.upos != "INTJ"
        ),
        wrapped=wrapped,
    )


def negated_in(tokens: Sequence[Token]) -> bool:
    """Tell whether a denial stands among some words."""
    return any(token.lower in ("not", "n't", "never", "no", "nothing", "nobody", "none") for token in tokens)


def _proposes(head: tuple[Token, ...], at: int, values: Sequence[Typed]) -> bool:
    """Tell whether a question asks for a change: "can the first one begin at ten?", "could it start an hour later?"."""
    moved = any(one.shift is not None for one in values)
    timed = any(one.value is not None and one.value.kind in (ValueKind.CLOCK, ValueKind.DATE) for one in values)
    asks = head[0].lower in ("can", "could") and head[0].upos == "AUX" and at > 1 and head[1].lower not in ASKERS
    return asks and (moved or (timed and head[at].lemma in HAPPENING))


def _leads_in(token: Token) -> bool:
    """Tell whether a word before a verb belongs to it: "ought to"."""
    return token.lemma == "ought" or (token.lower == "to" and token.upos == "PART")


def _bare(head: tuple[Token, ...], wrapped: str) -> tuple[Token, ...]:
    """Return what a clause without a verb says, without the words that wrap it: "no, try the third of March"."""
    size = len(wrapped.split())
    for start in range(len(head) - size + 1) if wrapped else ():
        if [token.lower for token in head[start : start + size]] == wrapped.split() and start + size < len(head):
            return head[start + size :]
    return head[1:] if len(head) > 1 and head[0].lower == "but" else head


def _listed(tokens: tuple[Token, ...]) -> tuple[tuple[Token, ...], tuple[tuple[Token, ...], ...]]:
    """Part what stands before a colon from the elements behind it."""
    colon = next((i for i, t in enumerate(tokens) if t.form == ":" and 0 < i < len(tokens) - 1), None)
    if colon is None:
        return tokens, ()
    behind = tokens[colon + 1 :]
    elements, start, depth = [], 0, 0
    for i, token in enumerate(behind):
        depth += (token.form == "(") - (token.form == ")")
        if depth == 0 and (token.form in (",", ";") or token.lower in ("and", "plus", "then")):
            elements.append(behind[start:i])
            start = i + 1
    elements.append(behind[start:])
    return tokens[:colon], tuple(tuple(part) for part in elements if part)
