"""A question and its dependency tree: whose word it asks for, of which time, what kind of thing, and of what."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise

from doxa.backends.parser import Parser
from doxa.language.syntax import Tree, base, trees
from doxa.language.times import DAYS, find_times
from doxa.language.words import ADVERBS, DO
from doxa.understand.declaratives import AUX
from doxa.understand.referents import NAME, clean

__all__ = ["Asked", "asked_by_tree", "trimmed"]

WHO = rf"(?:{NAME}(?: [\w'’ -]+?)?|(?i:the|my|our|his|her|their|an?) [\w'’ -]+?)"
SOURCE = re.compile(
    rf"^(?i:according to|by|per|going by|as per|if you (?:ask|believe)|from) (?P<first>{WHO}(?:'s (?:account|word|"
    rf"version|statement))?), |,? (?i:according to|as per|if you (?:ask|believe)|going by) (?P<last>{WHO})(?:$|, )"
)
GIVEN = re.compile(
    rf"^(?i:given|going by|judging by|considering|in view of|in (?:the )?light of|based on|under|following|from) "
    rf"(?:(?:what|all|everything|anything)(?: that)? )?(?P<who>{NAME}|\w+)[^,]*, "
)
SETTLED = re.compile(
    r"^(?:(?:is|was) it|has it been|have (?:we|you|they)|do (?:we|you)(?= know)|am I|are (?:we|you)|can (?:we|you) be) "
    r"(?:(?:still|already|yet|now|really|actually|definitely|ever) )*"
    r"(?:settled|certain|established|clear|decided|known|know|confirmed|sure|agreed|fixed|definite|concluded|a fact)"
    r"(?: (?:for sure|for certain|yet|already|now|by now))* (?:that|whether|if) (?=\S)",
    re.IGNORECASE,
)
SAID = re.compile(
    rf"^(?i:did|has|have|had)(?: not)? (?P<who>I|you|we|he|she|they|anyone|anybody|{NAME}|(?:my|the|our) \w+)(?: not)?"
    r"(?: (?:ever|already|actually|really))* (?:say|said|tell|told|mention|mentioned|state|stated|claim|claimed|report|"
    r"reported|confirm|confirmed)(?: (?:you|me|us|anyone|anybody))?(?: that)? (?=\S+ \S)"
)
ORDER = re.compile(
    r",? (?:(?:right|just|immediately|directly|shortly|straight|even) )?(?P<which>before|after) "
    r"(?!(?:lunch|dinner|breakfast|work|school|noon|midnight|\d)\b)(?P<what>[\w'’ -]+)$",
    re.IGNORECASE,
)
OPENING_TIME = re.compile(r"^(?:as of|on|in|at|by|since|during|back in|for|from|around|until|before|after|to)\b", re.I)
OPENING = re.compile(
    r"^(?:(?:and|so|but|also|well|now|tell me|by the way|please|hey|hi|hello|quick question|"
    r"remind me|then|do you (?:still )?(?:know|remember)|"
    r"(?:can|could|would) you (?:please )?(?:tell|remind) me|i (?:forgot|wonder|was wondering)|"
    r"say|just|honestly|ah|oh)[,:]?\s+)(?=\S+ \S)",
    re.IGNORECASE,
)
TRAILING = re.compile(
    r"\s+(?:again|by the way|please|right|then|before|previously|earlier|formerly|in the past|after all)$"
)
STRANDED = frozenset("on in at with for to from of by about".split())
QUESTION_WORDS = frozenset("what which who whom whose when where why how".split())
QUANTITY = frozenset("many much old long far often tall big heavy high large wide deep fast".split())
MEASURES = frozenset("old tall heavy high large wide deep fast big".split())
ASKING = frozenset(
    "there currently now still ever yet ago again exactly right one many much long far often any some please for last "
    "anyone first originally previously former formerly before after since until used use it that this also actually "
    "really both late early known possible".split()
)
ASKING_VERBS = frozenset(
    "do be have will would can could shall should may might must get go know remember tell remind say mention call "
    "name use happen give act plan intend".split()
)
ASKING_NOUNS = frozenset("thing kind sort type number name amount date day time year month week moment way day".split())
"""Words of a question that say nothing of what it is about; verbs and nouns apart from each other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question without what surrounds it, and what its tree tells."""

    text: str
    """Without openings, sources and times."""
    source: str = ""
    settled: bool = False
    before: str = ""
    after: str = ""
    subject: str = ""
    """Its grammatical subject; empty when that is what it asks for."""
    noun: str = ""
    """What kind of thing it asks for ("city" in "in which city")."""
    names: tuple[str, ...] = ()
    """The names and possessions that it speaks of, in order."""
    focus: tuple[str, ...] = ()
    """The lemmas of what it asks about: verbs, nouns and adjectives, less names, times and question words."""
    head: str = ""
    """Of those the one that the clause hangs on."""
    loose: tuple[str, ...] = ()
    """Those that stand behind a preposition, and only place what is asked about."""


def trimmed(text: str, at: datetime, *, past: bool) -> Asked:
    """Return a question without its source, its openings and its times; `text` is written out, without "?"."""
    found = Asked(text=re.sub(r"\s*\([^)]*\)", "", text).strip(" ?"))
    for _ in range(4):
        before = found
        source, given = SOURCE.search(found.text), GIVEN.match(found.text)
        settled = SETTLED.match(found.text) or SAID.match(found.text)
        if source:
            name = re.sub(r"'s (?:account|word|version|statement)$", "", source["first"] or source["last"])
            found = replace(found, text=_cut(found.text, source.start(), source.end()), source=name)
        elif given:
            found = replace(found, text=_cut(found.text, 0, given.end()))
        elif settled:
            found = replace(found, text=_cut(found.text, 0, settled.end()), settled=True)
        elif opening := OPENING.match(found.text):
            found = replace(found, text=_cut(found.text, 0, opening.end()))
        if found == before:
            break
    found = replace(found, text=TRAILING.sub("", re.sub(rf", {NAME}$", "", found.text)))
    found = replace(found, text=_without_times(found.text, at, past=past))
    order = ORDER.search(found.text)
    if order and order["what"].casefold() not in ("that", "this", "it", "all"):
        landmark, which = clean(order["what"]), order["which"].casefold()
        found = replace(
            found, text=found.text[: order.start()], before=landmark if which == "before" else "",
            after=landmark if which == "after" else "",
        )  # fmt: skip
    return found


def _cut(text: str, start: int, end: int) -> str:
    return f"{text[:start]} {text[end:]}".strip(" ,")


def _without_times(text: str, at: datetime, *, past: bool) -> str:
    """Leave out the days, months and years that are no part of a noun ("in May 2015", not "the 2025 reunion")."""
    for span in reversed(find_times(text, at, past=past)):
        loose = OPENING_TIME.match(span.text) or re.search(r"\b(?:ago|last|next|yesterday|today|tomorrow)\b", span.text)
        ends = not text[span.end :] or text[span.end] in ",?;" or span.start == 0
        inner = text[span.end : span.end + 2] == "'s" or re.match(r"(?i)(?:until|since|before|after)\b", span.text)
        if span.kind != "clock" and loose and not inner and (ends or OPENING_TIME.match(span.text)):
            text = re.sub(r"\s+", " ", f"{text[: span.start]} {text[span.end :]}").strip(" ,")
    return text


def asked_by_tree(asked: Asked, parser: Parser) -> Asked:
    """Return a question with what its tree tells. Cost: one parse, which is remembered.

    Raises:
        BackendError: the parser failed.
    """
    text = asked.text[:1].upper() + asked.text[1:]
    tree = next(trees(f"{text}?", parser), None)
    if tree is None or not tree.words:
        return asked
    opening, noun = _question_phrase(tree)
    subject = _subject(tree, opening)
    timed = [place for place in range(len(tree.words)) if tree.relation(place) in ("nmod:unmarked", "obl:unmarked")]
    kept = [place for place in range(len(tree.words)) if place not in timed and place not in noun]
    kept = kept if _only_kind(noun, tree) else [*noun, *kept]
    focus = {place: word for place in sorted(kept) if (word := _content(tree, place))}
    root = next((place for place in focus if tree.form(place) in MEASURES), next(iter(tree.roots), 0))
    return replace(
        asked,
        noun=tree.spell(noun) if noun else "",
        subject=re.sub(r" (?:per|a|each) (?:month|week|year|day|hour|night)$", "", _as_written(tree, subject)),
        names=tuple(dict.fromkeys(_names(tree, opening))),
        focus=tuple(dict.fromkeys(focus.values())),
        head=focus.get(root, tree.lemma(root) if tree.upos(root) == "VERB" else ""),
        loose=tuple(dict.fromkeys(word for place, word in focus.items() if _placing(tree, place, root))),
    )


def _question_phrase(tree: Tree) -> tuple[int, list[int]]:
    """Return the place behind the phrase with the question word, and the tokens of the noun in it."""
    asking = next((p for p in range(min(6, len(tree.words))) if tree.form(p) in QUESTION_WORDS), None)
    if asking is None:
        return 0, []
    place, quantity = asking + 1, False
    if tree.form(asking) == "how":
        if place < len(tree.words) and tree.form(place) in QUANTITY:
            quantity = tree.form(place) in ("many", "much")
            place += 1
        if not quantity:
            return place, []
    elif tree.form(asking) not in ("what", "which", "whose"):
        return place, []
    start = place
    while place < len(tree.words) and not _opens_clause(tree, place):
        place += 1
    noun = list(range(start, place))
    kind = next((n for n, token in enumerate(noun) if tree.form(token) in ("kind", "sort", "type", "kinds")), None)
    if kind is not None and len(noun) > kind + 2 and tree.form(noun[kind + 1]) == "of":
        noun = noun[kind + 2 :]
    owner = next((n for n, token in enumerate(noun) if tree.upos(token) in ("ADP", "DET", "PUNCT")), None)
    return place, noun[:owner]


def _opens_clause(tree: Tree, place: int) -> bool:
    """Tell whether the clause goes on here: with an auxiliary, its verb, or a subject of its own."""
    if tree.form(place) in AUX or tree.upos(place) in ("AUX", "VERB", "PUNCT"):
        return tree.relation(place) not in ("amod", "compound")
    return tree.upos(place) == "PRON" or (tree.relation(place) == "nsubj" and tree.is_name(place))


def _subject(tree: Tree, opening: int) -> list[int]:
    """Return the tokens of the grammatical subject behind the auxiliary that opens a question."""
    if opening >= len(tree.words) or tree.form(opening) not in AUX:
        return []
    start = opening + 1
    if start < len(tree.words) and tree.form(start) == "not":
        start += 1
    whole = _name_first(tree, _whole_rest(tree, opening, start), ending="ing")
    if whole:
        return whole
    bare = _bare_verb(tree, opening)
    if bare is not None and bare > start:
        return list(range(start, bare))
    for place in range(start, len(tree.words)):
        if base(tree.relation(place)) in ("nsubj", "csubj") or tree.relation(place) == "nsubj:pass":
            tokens = tree.under(place)
            if tokens[0] == start:
                tokens = [token for n, token in enumerate(tokens) if token == start + n]
                return _name_first(tree, _with_name_behind(tree, tokens), ending="")
    rest = [place for place in range(start, len(tree.words)) if tree.upos(place) != "PUNCT"]
    named = _name_first(tree, rest, ending="")
    return named if len(named) < len(rest) else []


def _name_first(tree: Tree, tokens: list[int], *, ending: str) -> list[int]:
    """Cut off the predicate that parsers take into the name before it ("Ana | learning", "Leo | vegan")."""
    capital = [tree.upos(place) == "PROPN" and tree.words[place].form[:1].isupper() for place in tokens]
    name = capital.index(False) if False in capital else len(tokens)
    if not 0 < name < len(tokens) or tree.upos(tokens[name]) not in ("NOUN", "VERB", "ADJ", "PROPN"):
        return tokens
    cut = tree.words[tokens[name]].form.islower() and tree.form(tokens[name]).endswith(ending)
    return tokens[:name] if cut else tokens


def _bare_verb(tree: Tree, opening: int) -> int | None:
    """Return the verb that the parser took for a noun ("does Ana | smoke?"); None where it sees a verb."""
    places = [place for place in range(opening + 1, len(tree.words)) if tree.upos(place) != "PUNCT"]
    if tree.form(opening) not in DO or any(tree.upos(place) == "VERB" for place in places):
        return None
    last = next((p for p in reversed(places) if tree.form(p) not in ADVERBS | {"now", "anymore", "today"}), None)
    lower = last is not None and tree.words[last].form.islower() and tree.upos(last) in ("NOUN", "PROPN", "ADJ")
    return last if lower else None


def _whole_rest(tree: Tree, opening: int, start: int) -> list[int]:
    """Return all that follows "is" when that is one noun phrase ("when was | Ana's last check-up")."""
    if opening == 0 or tree.form(opening) not in ("is", "are", "was", "were"):
        return []
    rest = [place for place in range(start, len(tree.words)) if tree.upos(place) != "PUNCT" or "-" in tree.form(place)]
    while rest and tree.form(rest[-1]) in ADVERBS | {"now", "today", "currently", "again", "anymore"}:
        rest.pop()
    if not rest or rest != list(range(rest[0], rest[-1] + 1)):
        return []
    name = next((n for n, place in enumerate(rest) if tree.upos(place) != "PROPN"), len(rest))
    if 0 < name < len(rest) and tree.upos(rest[name]) in ("DET", "ADP"):
        return []  # "for how many years was | Ana | a nurse"
    modifiers = ("amod", "acl", "compound", "nmod")
    verbal = any(
        tree.upos(p) in ("VERB", "AUX") and base(tree.relation(p)) not in modifiers and p != rest[-1] for p in rest
    )
    nominal = tree.upos(rest[-1]) in ("NOUN", "PROPN", "NUM", "ADJ") and tree.upos(rest[0]) not in (
        "ADP",
        "ADJ",
        "VERB",
    )
    described = tree.upos(rest[-1]) == "ADJ" and any(base(tree.relation(p)) == "nsubj" for p in rest[:-1])
    told_of = any(tree.upos(p) == "ADJ" and base(tree.relation(p)) == "root" and p != rest[-1] for p in rest)
    flat = described and tree.upos(rest[-2] if len(rest) > 1 else rest[-1]) == "PART"  # "the deposit on Pia's flat"
    return rest if nominal and not verbal and not told_of and (flat or not described) else []


def _with_name_behind(tree: Tree, tokens: list[int]) -> list[int]:
    """Take in the name that stands behind a noun ("Ana's colleague | Kofi"), which parsers take for another subject."""
    last = tokens[-1]
    while last + 1 < len(tree.words) and tree.upos(last + 1) == "PROPN" and tree.upos(last) in ("NOUN", "PROPN"):
        if tree.relation(last + 1) in ("obj", "obl"):
            break
        last += 1
        tokens = [*tokens, last]
    return tokens


def _as_written(tree: Tree, tokens: Sequence[int]) -> str:
    """Return tokens as text, with the capitals that they have where they stand together."""
    if tokens and list(tokens) == list(range(tokens[0], tokens[-1] + 1)) and tokens[0]:
        return tree.text[tree.words[tokens[0]].start : tree.words[tokens[-1]].end]
    return tree.spell(tokens)


def _names(tree: Tree, opening: int) -> Iterator[str]:
    """Yield names, and what is said to be somebody's, each with its owner before it."""
    bare = _bare_verb(tree, opening) if opening < len(tree.words) else None
    for place in range(len(tree.words)):
        inner = tree.relation(place) in ("compound", "flat") and tree.upos(tree.head(place)) == "PROPN"
        owned = tree.kid(place, "nmod:poss") is not None
        definite = any(tree.form(det) in ("the", "this", "that") for det in tree.kids(place, "det"))
        if owned or (tree.upos(place) == "PROPN" and not inner) or (definite and tree.upos(place) == "NOUN"):
            tokens = [token for token in tree.phrase_tokens(place) if token != bare]
            if tree.upos(place) != "PROPN" or place >= opening:
                tokens = [token for token in tokens if token >= opening]
            tokens = tokens if owned else _name_first(tree, tokens, ending="")
            text = _as_written(tree, tokens) if tokens else ""
            if text:
                yield text if owned else re.sub(r"'s$", "", text)


def _only_kind(noun: Sequence[int], tree: Tree) -> bool:
    """Tell whether the noun with the question word only says what kind of answer is wanted, as "city" does."""
    counted = noun and tree.form(noun[0] - 1) in ("many", "much")
    return not counted or any(tree.lemma(token) in ASKING_NOUNS for token in noun)


def _content(tree: Tree, place: int) -> str:
    """Return the lemma of a content word; empty for any other."""
    kind, word, lemma = tree.upos(place), tree.form(place), tree.lemma(place)
    if kind not in ("NOUN", "VERB", "ADJ", "PROPN", "NUM", "ADV", "ADP", "AUX"):
        return ""
    if kind == "ADP" and (tree.relation(place) not in ("compound:prt", "root") or word in STRANDED):
        return ""
    if word.removesuffix("s") in DAYS:
        return ""
    above = tree.head(place)
    if kind in ("NOUN", "ADJ") and above > place and tree.upos(above) == "PROPN":
        return ""  # "great-uncle Feliks"
    if word in AUX or lemma in ASKING or word in ASKING or word in QUESTION_WORDS:
        return ""
    if (lemma in ASKING_VERBS and kind in ("VERB", "AUX")) or (lemma in ASKING_NOUNS and kind == "NOUN"):
        return ""
    return lemma if kind in ("VERB", "NOUN", "ADP") else word


def _placing(tree: Tree, place: int, root: int) -> bool:
    """Tell whether a word belongs to an adjunct of the clause ("in Birgit's membership", "at home")."""
    chain = [place, *tree.above(place)]
    top = next((one for one, above in pairwise(chain) if above == root), None)
    return top is not None and base(tree.relation(top)) in ("obl", "advmod", "advcl")
