"""Dependency tree -> clauses: every predicate with its subject, verb group, complement and the way it is meant.

The units are those of clause-based open information extraction (ClausIE, Del Corro and Gemulla 2013, section 3),
read off Universal Dependencies: one clause for each predicate, with coordinated subjects and objects kept together
as text, and with polarity, tense, modality and attribution, which that work leaves out.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from typing import Literal

from doxa.core.values import Modality
from doxa.language.inflection import is_negated, modal_of, particle_of, tense_of, third_person
from doxa.language.syntax import Tree, base
from doxa.language.times import TimeSpan
from doxa.language.words import ADVERBS, HEDGES, MODALS, Tense
from doxa.understand.arguments import Arguments, is_predicate, listed
from doxa.understand.clauses import Clause, Complement

__all__ = ["Predication", "predications"]

CONDITIONS = frozenset("if unless whether whenever provided providing assuming suppose supposing lest".split())
SKIPPED_MARKS = frozenset("than to for".split())
PARTS_OF_NOUNS = frozenset(["appos", "compound", "nummod", "det", "flat"])
TIME_PREPOSITIONS = frozenset("at on in between from by since until till before after during".split())
REPORTED = ("reported", "claimed")
TEMPORAL = frozenset("when once as after since while before until till".split())
CHATTY = frozenset("love hate like prefer enjoy need want miss live work".split())
"""Base forms that open a statement about the speaker, not an order, when the subject is left out."""
PARTICIPLE_STATES = frozenset("bear raise base marry call name".split())
"""Verbs whose bare participle opens a statement about a subject that is left out ("Born in Ghent")."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Predication:
    """One predicate: `clause` and `complement` as the patterns read them, `head` its token."""

    head: int
    form: str
    """The predicate as it stands, in lower case."""
    clause: Clause
    complement: Complement
    times: tuple[TimeSpan, ...] = ()
    dated: bool = False
    """A time is the predicate itself ("is on 3 October")."""
    source: str = ""
    """Whose word it is, when it is reported."""
    subjects: tuple[str, ...] = ()
    """The coordinated subjects; empty when there is none."""
    objects: tuple[str, ...] = ()
    """The coordinated direct objects or predicate nominals."""
    sure: float = 1.0
    """How likely the parser finds the arcs of the clause: the geometric mean, 0 to 1."""


@dataclass(slots=True)
class _Mood:
    """How a clause is meant, collected on the way down to it."""

    modality: Modality = Modality.ASSERTED
    negated: bool = False
    ended: bool = False
    aspect: Literal["", "start", "stop"] = ""
    source: str = ""
    tense: Tense | None = None
    subject: int | None = None
    speaker: int | None = None
    """The noun of the one whose word it is; "he" and "she" in his words are himself."""


@cache
def _classes(kind: str) -> dict[str, str]:
    table = tomllib.loads(files("doxa.understand").joinpath("verb_classes.toml").read_text(encoding="utf-8"))
    return {verb: name for name, verbs in table[kind].items() for verb in verbs.split()}


def predications(tree: Tree, times: Sequence[TimeSpan], *, terse: bool, noted: bool = False) -> list[Predication]:
    """Return the clauses of a sentence that may be claimed, in the order of their predicates.

    Args:
        tree: of one sentence.
        times: its time expressions; each goes to the predicate that it belongs to.
        terse: chat style, where the subject may be left out ("Moved to Bonn").
        noted: a note about somebody, who is left out in the third person as well ("Lives in Bonn", "Allergic to nuts").

    Conditions and what depends on them, purposes and unreal complements are left out. Cost O(tokens x depth).
    """
    reader = _Reader(tree, tuple(times), terse, noted)
    for root in tree.roots:
        reader.clause(root, _Mood())
    return sorted(reader.found, key=lambda predication: predication.head)


@dataclass(slots=True)
class _Reader:
    tree: Tree
    times: tuple[TimeSpan, ...]
    terse: bool
    noted: bool = False
    found: list[Predication] = field(default_factory=list)
    adjuncts: dict[int, TimeSpan] = field(default_factory=dict)
    """The time expressions that are adjuncts, by their top token."""
    arguments: Arguments = field(init=False)
    timed: frozenset[int] = frozenset()
    """The tokens of those."""

    def __post_init__(self) -> None:
        timed: set[int] = set()
        for span in self.times:
            tokens = self.tree.covered(span.start, span.end)
            if not tokens:
                continue
            top = self.tree.top(tokens)
            relation = self.tree.relation(top)
            inside = base(relation) in PARTS_OF_NOUNS or relation in ("amod", "nsubj", "nmod:poss")
            # Behind a preposition it is no part of a noun, whatever the parser says.
            placed = self.tree.form(tokens[0]) in TIME_PREPOSITIONS
            if placed or not inside:
                self.adjuncts[top] = span
                timed.update(tokens)
        self.timed = frozenset(timed)
        tops = {token for token in timed if self.tree.head(token) not in timed}  # "2014 to 2016" may have two
        self.arguments = Arguments(self.tree, frozenset(self.adjuncts) | tops)

    # --- the way down -------------------------------------------------------------------------------------------

    def clause(self, head: int, mood: _Mood) -> None:
        """Read the clause of a predicate and those that hang on it."""
        tree = self.tree
        if self._conditional(head):
            self._counterfactual(head)
            return
        chained = self._chained(head, mood)
        if chained is not None:
            self.clause(*chained)
        else:
            self._predicate(head, mood)
        here = self._mood_for_conjunct(head, mood)
        for kid in tree.kids(head):
            self._dependent(head, kid, here)
            subject = tree.kid(kid, "nsubj")
            if subject is not None and base(tree.relation(kid)) in ("conj", "parataxis"):
                here = replace(here, subject=subject)  # "I play and she sings but can't read": she can't
        for token in self._arguments(head):
            for kid in tree.kids(token, "acl"):
                self._modifier(token, kid)

    def _mood_for_conjunct(self, head: int, mood: _Mood) -> _Mood:
        subject = self.tree.kid(head, "nsubj", "csubj")
        return replace(mood, subject=subject if subject is not None else mood.subject)

    def _dependent(self, head: int, kid: int, mood: _Mood) -> None:
        tree = self.tree
        relation = tree.relation(kid)
        kind = base(relation)
        if kind == "conj" and is_predicate(self.tree, kid):
            own_subject = tree.kid(kid, "nsubj") is not None
            modality = Modality.ASSERTED if own_subject else mood.modality
            source = "" if own_subject else mood.source
            self.clause(kid, replace(mood, modality=modality, source=source, negated=False, ended=False, aspect=""))
        elif kind == "parataxis" and is_predicate(self.tree, kid) and not self._aside(kid):
            self.clause(kid, _Mood())
        elif kind == "ccomp":
            self._complement_clause(head, kid, mood)
        elif kind == "advcl":
            self._adverbial(head, kid, mood)

    def _aside(self, kid: int) -> bool:
        """Tell whether a parataxis only comments ("I think", "you know")."""
        lemma = self.tree.lemma(kid)
        return _classes("closed").get(lemma) is not None and self.tree.kid(kid, "obj", "ccomp", "obl") is None

    def _adverbial(self, head: int, kid: int, mood: _Mood) -> None:
        tree = self.tree
        marks = {tree.form(mark) for mark in tree.kids(kid, "mark", "advmod", "case")}
        past = tense_of(self.tree, kid)[0] == "past"
        if marks & SKIPPED_MARKS or {"so", "that"} <= marks or self._infinitive(kid):
            return
        if marks & TEMPORAL and (not past or not self._verbal(kid)):
            return  # "when I go home" tells no fact, "since I was a baby" none that is worth telling
        subject = tree.kid(kid, "nsubj", "csubj")
        if subject is None and marks & {"without", "by", "instead"}:
            return
        inherited = subject if subject is not None else self._subject_of(head, mood)
        self.clause(kid, _Mood(subject=inherited, source=mood.source, modality=mood.modality))

    def _complement_clause(self, head: int, kid: int, mood: _Mood) -> None:
        tree = self.tree
        if {tree.form(mark) for mark in tree.kids(kid, "mark", "advmod")} & (CONDITIONS | {"how", "why", "where"}):
            return
        effect = _classes("closed").get(tree.lemma(head), "asserted")
        if effect == "unreal" or (is_negated(self.tree, head) and effect != "asserted"):
            return
        subject = self._subject_of(head, mood)
        if self._ordered(head, subject):
            return
        who = "" if subject is None else tree.phrase(subject)
        first = who.casefold() in ("i", "we", "") or tree.upos(head) != "VERB"
        if effect in REPORTED:
            said_by = None if first else subject
            modality = _weaker(mood.modality, Modality.POSSIBLE) if effect == "claimed" and not first else mood.modality
            self.clause(kid, _Mood(modality=modality, source="" if first else who, speaker=said_by))
            return
        modality = Modality.ASSERTED if effect == "asserted" else Modality(effect)
        self.clause(kid, _Mood(modality=_weaker(mood.modality, modality)))

    def _ordered(self, head: int, subject: int | None) -> bool:
        """Tell whether somebody is told what to say ("say that I live in Porto"); nobody says that it is so."""
        tree = self.tree
        if tree.lemma(head) not in _classes("ordered"):
            return False
        bare = subject is None and tree.form(head) == tree.lemma(head) and tree.kid(head, "aux", "mark") is None
        return bare or (subject is not None and tree.form(subject) == "you")

    def _modifier(self, noun: int, kid: int) -> None:
        """Read a relative clause, or a participle after a noun, as a clause about the noun."""
        tree = self.tree
        if self._infinitive(kid):
            return
        if tree.form(kid) in ("called", "named"):
            name = next(iter(tree.members(noun)))
            if name != noun:
                what, called = tree.phrase(noun), tree.phrase(name)
                clause = Clause(subject=what, verb="call", rest=called, passive=True)
                complement = Complement(direct=called)
                self.found.append(
                    Predication(
                        head=kid, form="called", clause=clause, complement=complement, subjects=(what,),
                        objects=(called,),
                    )
                )  # fmt: skip
                return
        subject = tree.kid(noun, "nsubj")  # "Mary is a host who cooks": Mary cooks
        if tree.kid(noun, "case") is not None:
            subject = None  # "Mary is with a firm that sells boats": the firm does
        self.clause(kid, _Mood(subject=noun if subject is None else subject))

    def _arguments(self, head: int) -> list[int]:
        """Return the nouns of a clause, whose own clauses are read as well."""
        tree = self.tree
        found: list[int] = [head] if tree.upos(head) in ("NOUN", "PROPN", "PRON", "ADJ") else []
        waiting = [k for k in tree.kids(head) if base(tree.relation(k)) not in ("advcl", "ccomp", "xcomp", "parataxis")]
        while waiting:
            place = waiting.pop()
            if tree.upos(place) in ("VERB", "AUX") and base(tree.relation(place)) in ("conj", "acl"):
                continue
            found.append(place)
            waiting.extend(k for k in tree.kids(place) if base(tree.relation(k)) not in ("acl", "advcl", "parataxis"))
        return sorted(found)

    def _chained(self, head: int, mood: _Mood) -> tuple[int, _Mood] | None:
        """Return the verb that a verb such as "want" or "start" only colours, and how it is meant."""
        tree = self.tree
        inner = tree.kid(head, "xcomp")
        if inner is None or not is_predicate(self.tree, inner):
            return None
        copular = tree.kid(head, "cop") is not None
        effect = _classes("adjective" if copular else "open").get(tree.form(head) if copular else tree.lemma(head))
        gerund = tree.form(inner).endswith("ing") and tree.kid(inner, "mark") is None
        own = tree.kid(head, "obj", "iobj")
        if effect is None or (gerund and effect in ("desired", "planned") and tree.lemma(head) != "go"):
            return None
        if tree.lemma(head) in ("like", "love", "prefer", "mean", "get") and not modal_of(self.tree, head):
            return None
        group = self._group(head, mood)
        tense, modality, negated, ended, aspect = group.tense, group.modality, group.negated, group.ended, mood.aspect
        if effect in ("start", "stop"):
            aspect = "start" if effect == "start" else "stop"
        elif effect == "not":
            negated = not negated
        elif tree.lemma(head) == "have" and tree.upos(inner) == "VERB":
            modality = _weaker(modality, Modality.PLANNED)  # what one has to do
        elif tree.lemma(head) == "use":
            ended, tense = True, "past"
        elif tree.lemma(head) == "go" and tree.form(head) != "going":
            return None  # "we go out to eat"
        elif effect != "asserted":
            modality = Modality(effect) if modality in (Modality.ASSERTED, Modality.HYPOTHETICAL) else modality
            tense = "present"
        subject = own if own is not None else self._subject_of(head, mood)
        return inner, _Mood(
            modality=modality, negated=negated, ended=ended, aspect=aspect, tense=tense, subject=subject,
            source=mood.source,
        )  # fmt: skip

    # --- one predicate ------------------------------------------------------------------------------------------

    def _predicate(self, head: int, mood: _Mood) -> None:
        tree = self.tree
        if not is_predicate(tree, head):
            return
        subject = self._subject_of(head, mood)
        if subject is None and not self._about_speaker(head):
            return
        if _classes("closed").get(tree.lemma(head)) in REPORTED and self._verbal(head):
            return  # who said it is told by the source of what he said
        if any(tree.form(kid) == "there" for kid in tree.kids(head, "expl")):
            self._existential(head, mood)
            return
        own = self._own(head)
        group = self._group(head, mood)
        copula = tree.kid(head, "cop")
        nominal = copula is not None or tree.upos(head) not in ("VERB", "AUX")
        complement, objects = self.arguments.nominal_complement(head) if nominal else self.arguments.complement(head)
        start = (copula if copula is not None else head) if nominal else self._verb_end(head)
        rest = [place for place in own if place > start or (nominal and place == head)]
        rest = [place for place in rest if place not in self._spoken_subject(subject)]
        subjects = () if subject is None else tuple(self.arguments.subjects(subject))
        if subject is not None and not subjects:
            return  # "that is great": of what, is not said
        mine = [span for top, span in self.adjuncts.items() if top in own]
        self.found.append(
            Predication(
                head=head,
                form=tree.form(head),
                clause=replace(group, subject=listed(subjects), rest=tree.spell(rest)),
                complement=complement,
                times=tuple(sorted(mine, key=lambda span: span.start)),
                dated=nominal and head in self.timed,
                source=mood.source,
                subjects=subjects,
                objects=objects,
                sure=tree.sure(own),
            )
        )

    def _spoken_subject(self, subject: int | None) -> Collection[int]:
        return () if subject is None else self.tree.phrase_tokens(subject, conjuncts=True)

    def _verbal(self, place: int) -> bool:
        return self.tree.upos(place) == "VERB" and self.tree.kid(place, "cop") is None

    def _subject_of(self, head: int, mood: _Mood) -> int | None:
        tree = self.tree
        own = tree.kid(head, "nsubj")
        copula = tree.kid(head, "cop")
        if own is None and copula is not None:
            own = tree.kid(copula, "nsubj")  # "my rent [is 740]"
        there = tree.kid(head, "expl") is not None  # "there are five of us"
        if own is None or (
            own > head and tree.upos(own) in ("DET", "NUM") and not there
        ):  # "had my teeth out, all four"
            wrong = mood.subject is not None and tree.form(mood.subject) in ("i", "we", "you", "they")
            if wrong and third_person(tree, head):  # "I don't drink milk, upsets my stomach": the milk does
                return tree.kid(tree.head(head), "obj")
            return mood.subject
        if mood.speaker is not None and tree.form(own) in ("he", "she"):
            return mood.speaker
        if tree.form(own) in ("who", "which", "that") and tree.relation(head) == "acl:relcl":
            return tree.head(head)
        return own

    def _about_speaker(self, head: int) -> bool:
        """Tell whether a clause without a subject is a statement of the speaker, and no order."""
        tree = self.tree
        if not self.terse or base(tree.relation(head)) not in ("root", "conj", "parataxis", "advcl"):
            return False
        if tree.kid(head, "csubj", "expl") is not None:
            return False
        if tree.upos(head) != "VERB":
            if self.noted and tree.upos(head) == "ADJ":
                return True
            return tree.kid(head, "cop") is not None and tree.form(tree.kids(head, "cop")[0]) != "be"
        if third_person(tree, head):
            return self.noted  # else "Tastes like soap" is said of whatever was spoken of
        bare = tree.form(head) == tree.lemma(head) and not tree.kids(head, "aux")
        return not bare or tree.lemma(head) in CHATTY

    def _conditional(self, head: int) -> bool:
        """Tell whether a clause is a condition, or holds only under one."""
        tree = self.tree
        marks = {tree.form(mark) for mark in tree.kids(head, "mark", "advmod")}
        if marks & CONDITIONS:
            return True
        return any(
            {tree.form(mark) for mark in tree.kids(clause, "mark", "advmod")} & CONDITIONS
            for clause in tree.kids(head, "advcl")
        )

    def _existential(self, head: int, mood: _Mood) -> None:
        """Read "there are 38 flats in the house" as "the house has 38 flats"."""
        tree = self.tree
        what = tree.kid(head, "nsubj")
        places = [*tree.kids(head, "obl"), *(tree.kids(what, "nmod") if what is not None else [])]
        where = next(
            (p for p in places if self.arguments.case(p) in ("in", "on", "at", "inside") and p not in self.adjuncts),
            None,
        )
        if what is None or where is None:
            return
        members = tree.conjuncts(what)
        texts = tuple(tree.phrase(place, drop=[where]) for place in members)
        clause = replace(self._group(head, mood), subject=self.arguments.phrase(where), verb="have", rest=listed(texts))
        self.found.append(
            Predication(
                head=head, form="have", clause=clause, complement=Complement(direct=listed(texts)),
                subjects=(self.arguments.phrase(where),), objects=texts, source=mood.source,
            )
        )  # fmt: skip

    def _counterfactual(self, head: int) -> None:
        """Read "if I had taken the job, I would ..." as "I did not take the job"."""
        tree = self.tree
        for clause in tree.kids(head, "advcl"):
            auxiliaries = [tree.form(aux) for aux in tree.kids(clause, "aux")]
            marks = {tree.form(mark) for mark in tree.kids(clause, "mark")}
            unreal = marks & {"if", "unless"} and auxiliaries[:1] == ["had"] and modal_of(self.tree, head) == "would"
            if unreal and self._verbal(clause) and tree.kid(clause, "nsubj") is not None:
                self._predicate(clause, _Mood(negated="if" in marks))

    def _infinitive(self, place: int) -> bool:
        return any(self.tree.form(mark) == "to" for mark in self.tree.kids(place, "mark"))

    def _own(self, head: int) -> list[int]:
        """Return the tokens of a clause without the clauses that are read by themselves."""
        tree = self.tree
        cut = {
            kid
            for kid in tree.kids(head)
            if base(tree.relation(kid)) in ("advcl", "ccomp", "parataxis", "appos", "discourse", "vocative")
            or (base(tree.relation(kid)) == "conj" and is_predicate(self.tree, kid))
        }
        cut.update(
            kid for token in tree.under(head, cut) for kid in tree.kids(token, "acl:relcl", "appos", "parataxis")
        )
        return tree.under(head, cut)

    def _verb_end(self, head: int) -> int:
        particle = particle_of(self.tree, head)
        return head if particle is None else max(head, particle)

    # --- verb group ---------------------------------------------------------------------------------------------

    def _group(self, head: int, mood: _Mood) -> Clause:
        """Return the clause without its subject and complement: verb, tense, polarity, modality, aspect."""
        tree = self.tree
        tense, progressive, passive = tense_of(tree, head)
        copular = tree.kid(head, "cop") is not None or tree.upos(head) not in ("VERB", "AUX")
        verb = "be" if copular else tree.lemma(head)
        particle = particle_of(tree, head)
        if particle is not None:
            verb = f"{verb}+{tree.form(particle)}"
        elif verb == "get" and tree.form(head) == "got" and tense == "perfect" and tree.kid(head, "obj") is not None:
            verb, tense = "have", "present"  # "she's got four kids"
        if tree.lemma(head) in PARTICIPLE_STATES and not progressive:  # "Born in Ghent"
            passive = passive or not (tree.kids(head, "aux") or tree.kid(head, "nsubj", "obj") is not None)
        longer = any(tree.form(kid) in ("longer", "anymore") for kid in tree.kids(head, "advmod"))
        return Clause(
            subject="",
            verb=verb,
            rest="",
            tense=mood.tense or ("future" if MODALS.get(modal_of(tree, head)) == "future" else tense),
            negated=is_negated(tree, head) != mood.negated or longer,
            modality=_weaker(mood.modality, self._modality(head, tense)),
            progressive=progressive,
            passive=passive and verb != "be",
            ended=mood.ended or longer,
            aspect=mood.aspect,
            adverbs=frozenset(tree.form(kid) for kid in tree.kids(head, "advmod")) & ADVERBS,
            ability=MODALS.get(modal_of(tree, head)) == "can",
        )

    def _modality(self, head: int, tense: Tense) -> Modality:
        """Return what modal verbs, hedges and alternatives make of a clause by themselves."""
        tree = self.tree
        kind = MODALS.get(modal_of(tree, head), "")
        asides = {_classes("closed").get(tree.lemma(kid)) for kid in tree.kids(head, "parataxis") if self._aside(kid)}
        hedged = any(tree.form(kid) in HEDGES for kid in tree.kids(head, "advmod"))
        choice = [conj for kid in (head, *tree.kids(head, "obj", "obl")) for conj in tree.kids(kid, "conj")]
        either = any(tree.form(cc) == "or" for conj in choice for cc in tree.kids(conj, "cc"))
        if kind == "would":
            wish = tree.lemma(head) in ("like", "love", "prefer")
            return Modality.DESIRED if wish else Modality.HYPOTHETICAL
        if kind == "must":
            return Modality.HYPOTHETICAL
        if kind in ("may", "could") or hedged or "possible" in asides or (either and not is_negated(tree, head)):
            return Modality.POSSIBLE
        return Modality.PLANNED if kind == "future" or tense == "future" else Modality.ASSERTED


def _weaker(one: Modality, other: Modality) -> Modality:
    """Return the less certain of two modalities."""
    order = [Modality.ASSERTED, Modality.PLANNED, Modality.POSSIBLE, Modality.DESIRED, Modality.HYPOTHETICAL]
    return max(one, other, key=order.index)
