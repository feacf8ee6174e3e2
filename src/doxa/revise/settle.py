"""The claims of slots that rules connect -> their facts, consistent with the rules after every turn.

`resolve` keeps the facts of one slot apart; here the slots that cases of rules join are told again together, turn by
turn: after each turn the facts that hold go to the solver with the cases, what clashes is revised by the policy, and
what the rules entail becomes facts with premises. A pure function of claims and rules, so withdrawing either is the
same function on fewer of them, and whatever they had displaced comes back by construction.

Sources: GreedySAT, equation 1 and Algorithm 1, which checks after every turn as well; its loop drops a belief only if
that alone helps and never the new one (see `logic.corrections`). The paper knows neither time nor derived beliefs.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from itertools import groupby
from typing import Any

from doxa.core.turns import MACHINES
from doxa.core.values import EARLIEST, UNBELIEVED, Act, Claim, Conflict, Interval, Modality, Status
from doxa.logic import Connections, Lit, Theory, minimal, preferred_conflict, weighted
from doxa.memory import Slot, dimension_of, inventory
from doxa.revise.bounds import bounds_of, lifespan
from doxa.revise.ground import Case, Literal, Proposition
from doxa.revise.policies import Policy, rank_of, weight_of
from doxa.revise.resolve import SlotState, Standing, close, follow, retract, said_at, start_of, told

__all__ = ["settle"]

Name = tuple[Any, ...]
"""Of a belief in the theory: its kind ("said", "case", "one", "life"), then what it is about."""
Cores = dict[tuple[tuple[Name, ...], tuple[Lit, ...]], tuple[Name, ...] | None]
"""What is asked of the theory (names, and literals beside them) and the preferred core; None where they agree."""
MAX_CORES = 16384
"""Answers that are kept; then all are forgotten."""
FEW = 200
"""Names that are put to a solver of their own; the one that is kept knows all, and each of its answers costs more."""
DERIVED = -1
"""The episode of facts that follow, so that their ids differ from those that somebody said."""
WORLD = (Modality.ASSERTED, Modality.PLANNED)
"""Modalities that rules speak of: what is, and what is settled to be."""


def settle(
    claims: Mapping[Slot, Sequence[Claim]],
    cases: Sequence[Case],
    theory: Theory,
    policy: Policy = Policy.RECENCY,
    *,
    order: Callable[[Claim], tuple[int, ...]] = lambda claim: (),
    people: frozenset[str] = frozenset(),
    cores: Cores | None = None,
) -> list[Standing]:
    """Return the facts of slots that cases of rules connect, derived ones included.

    Args:
        claims: the live claims of each slot, in the order in which they came in.
        cases: what connects them; a case counts from the day on which its rule is known.
        theory: the solver of this user; it learns what many names are asked about, and is asked about subsets only.
        policy: which belief gives way.
        order: the place of a claim among all claims; it decides between those of the same moment, turn by turn.
        people: the keys of those whose ages and dates are checked against each other (`bounds`).
        cores: answers of the theory so far, kept between turns: most of a history was told before.

    Deterministic. What nothing joins is settled apart. Cost for each part: one pass over its claims, and per turn
    solver questions about what is connected with what the turn changes.
    """
    found: dict[Slot, list[Standing]] = {}
    derived: list[Standing] = []
    for some, between in _components(claims, cases, people):
        joint = _Joint(
            theory=theory,
            policy=policy,
            slots={s: SlotState(policy) for s in some},
            order=order,
            people=people,
            cores={} if cores is None else cores,
        )
        joint.tell({slot: claims[slot] for slot in some}, between)
        found |= {slot: state.standings for slot, state in joint.slots.items()}
        derived += joint.derived.values()
    return [*(standing for slot in claims for standing in found[slot]), *derived]


def _components(
    claims: Mapping[Slot, Sequence[Claim]], cases: Sequence[Case], people: frozenset[str]
) -> list[tuple[list[Slot], list[Case]]]:
    """Return the slots and cases that nothing joins with others, so that each group is settled alone. O(their size).

    A case joins the slots that speak of its propositions, and those in which a relation of which it speaks has one
    value at a time; a life joins what is dated by it.
    """
    joined: dict[Hashable, Hashable] = {}

    def root(node: Hashable) -> Hashable:
        while (above := joined.setdefault(node, node)) != node:
            joined[node] = joined[above]
            node = above
        return node

    for slot, said in claims.items():
        for node in {node for claim in said for node in _joints(claim, people)}:
            joined[root(node)] = root(slot)
    for case in cases:
        for literal in case.literals():
            for node in (literal.proposition, ("one", literal.atom.subject.key, literal.atom.relation.name)):
                joined[root(node)] = root(case.name)
    groups: dict[Hashable, tuple[list[Slot], list[Case]]] = {}
    for slot in claims:
        groups.setdefault(root(slot), ([], []))[0].append(slot)
    for case in cases:
        groups.setdefault(root(case.name), ([], []))[1].append(case)
    return list(groups.values())


def _joints(claim: Claim, people: frozenset[str]) -> Iterator[Hashable]:
    """Yield what a claim may share with cases and with other claims."""
    yield Proposition.of(claim.subject, claim.relation, claim.object)
    if claim.functional:
        yield "one", claim.subject.key, claim.relation.name
    for person in (claim.subject.key, claim.object.key):
        if person in people:
            yield "life", person


@dataclass(slots=True, kw_only=True)
class _Names:
    """What is taken for true at a time besides the cases, by name."""

    held: dict[Name, Standing] = field(default_factory=dict)
    """The facts that count, the oldest first."""
    exclusions: frozenset[Name] = frozenset()
    lives: frozenset[Name] = frozenset()
    looks: dict[Name, tuple[object, ...]] = field(default_factory=dict)
    """What a conclusion takes from each fact."""
    places: dict[Name, int] = field(default_factory=dict)
    """The place of each fact among them, the newest first."""

    def all(self) -> set[Name]:
        return {*self.held, *self.exclusions, *self.lives}


@dataclass(slots=True)
class _Joint:
    """Slots under cases of rules, while their claims are told turn by turn."""

    theory: Theory
    policy: Policy
    slots: dict[Slot, SlotState]
    order: Callable[[Claim], tuple[int, ...]]
    cases: dict[tuple[str, ...], Case] = field(default_factory=dict)
    derived: dict[str, Standing] = field(default_factory=dict)
    """Facts that follow, by id; those that no longer do are closed or retracted."""
    people: frozenset[str] = frozenset()
    """Whose days of birth and death are spoken of."""
    clauses: dict[Name, tuple[Sequence[Lit], ...]] = field(default_factory=dict)
    connections: Connections[Name] = field(default_factory=Connections)
    spoken: set[Proposition] = field(default_factory=set)
    """What cases speak of."""
    worded: dict[Proposition, tuple[bool, int, int, Literal]] = field(default_factory=dict)
    """What facts may be made of: whether only axioms speak of it, the places of a case and of its words in it."""
    heads: defaultdict[tuple[str, str], list[Literal]] = field(default_factory=lambda: defaultdict(list))
    """What cases say that holds, by subject and relation."""
    settled: _Names = field(default_factory=_Names)
    """What was consistent when it was checked last, and is looked at no more but for what changed since."""
    moved: set[Name] = field(default_factory=set)
    """Cases that came or went since then."""
    follows: dict[Proposition, Standing] = field(default_factory=dict)
    """What is entailed now."""
    cores: Cores = field(default_factory=dict)
    suspended: set[str] = field(default_factory=set)
    """Rules that clash with newer rules alone."""

    def tell(self, claims: Mapping[Slot, Sequence[Claim]], cases: Sequence[Case]) -> None:
        """Take the claims turn by turn, and each rule when it is known; what holds is consistent after each."""
        pairs = ((claim, slot) for slot, said in claims.items() for claim in said)
        said_in_order = sorted(pairs, key=lambda pair: (said_at(pair[0]), self.order(pair[0])))
        later = deque(sorted(cases, key=lambda case: (_since(case), case.name)))
        for (at, *_), group in groupby(said_in_order, key=_at_one_go):
            while later and _since(later[0]) < at:
                self._learn_next(later)
            for claim, slot in group:
                self._take(claim, slot)
            while later and _since(later[0]) <= at:
                self.learn([later.popleft()])
            self.check(at)
        while later:
            self._learn_next(later)
        for state in self.slots.values():
            state.settle_disputes()

    def _take(self, claim: Claim, slot: Slot) -> None:
        """Let a claim do what it does in its slot; what a person accepts wins its disputes in other slots as well."""
        state = self.slots[slot]
        right = state.acceptable(claim) if claim.accepted and not claim.adds else None
        wrong: list[Standing] = []
        if right is not None and right.disputed:
            others = (standing for other in self.slots.values() for standing in other.standings)
            open_ = (one for one in others if one.disputed and one is not right)
            wrong = [one for one in open_ if one.fact_id in right.because or right.fact_id in one.because]
        state.take(claim)
        if right is not None:
            for one in wrong:
                retract(one, told(claim), (right.fact_id,), Conflict.CORRECTION)

    def _learn_next(self, later: deque[Case]) -> None:
        """Learn the cases that are known next, all at once."""
        at = _since(later[0])
        while later and _since(later[0]) == at:
            self.learn([later.popleft()])
        self.check(at)

    def learn(self, cases: Iterable[Case]) -> None:
        for case in cases:
            name = ("case", *case.name)
            body = [Lit(lit.proposition, not lit.positive) for lit in case.body]
            self._believe(name, *([*body, Lit(lit.proposition, lit.positive)] for lit in case.head))
            self.cases[name] = case
            self.moved.add(name)
            for place, literal in enumerate(case.literals()):
                self.spoken.add(literal.proposition)
                known, axiom = self.worded.get(literal.proposition), case.known_at is None
                if case.derives and (known is None or known[0] > axiom):
                    self.worded[literal.proposition] = axiom, len(self.cases), place, literal
                if literal.positive:
                    self.heads[literal.atom.subject.key, literal.atom.relation.name].append(literal)

    def _believe(self, name: Name, *clauses: Sequence[Lit]) -> None:
        if name not in self.clauses:
            self.clauses[name] = clauses
            self.connections.add(name, clauses)

    def check(self, at: datetime) -> None:
        """Revise until what holds is consistent with the cases, then derive what follows."""
        lives = self._lives()
        if not self.cases and not lives:
            return
        while True:  # each round gives up a fact or a rule, so it ends
            held = self._held(at)
            now = _Names(
                held=held,
                exclusions=self._exclusions(held),
                lives=lives,
                looks={name: _look(standing) for name, standing in held.items()},
                places={name: place for place, name in enumerate(reversed(held))},
            )
            core = self._clash(now)
            if core is None:
                self._derive(now, at)
                self.settled = now
                self.moved.clear()
                return
            self._give_way(core, now)

    def _clash(self, now: _Names) -> Sequence[Name] | None:
        """Return a minimal set of names that clashes; None where there is none. What came last is in each of them."""
        came = {*(now.all() - self.settled.all()), *self.moved}
        return self._core(self._bearing(self._said_by(name for name in came if self._counts(name, now)), now))

    def _said_by(self, names: Iterable[Name]) -> list[tuple[Name, Sequence[Lit]]]:
        return [(name, clause) for name in names for clause in self.clauses[name]]

    def _counts(self, name: Name, now: _Names) -> bool:
        if name in self.cases:
            return self.cases[name].rule_id not in self.suspended
        return name in now.held or name in now.exclusions or name in now.lives

    def _bearing(self, clauses: Iterable[tuple[Name | None, Sequence[Lit]]], now: _Names) -> list[Name]:
        """Return the names that may clash with some clauses, in their order."""
        return self._in_order(self.connections.clashing(clauses, lambda name: self._counts(name, now)), now)

    def _in_order(self, names: Iterable[Name], now: _Names) -> list[Name]:
        """Return names with the newest facts first, and the cases last."""
        some = set(names)
        facts = sorted((name for name in some if name in now.held), key=now.places.__getitem__)
        cases = sorted(name for name in some if name in self.cases)
        return [*facts, *sorted(some & now.exclusions), *sorted(some & now.lives), *cases]

    def _core(self, names: Sequence[Name], *also: Lit) -> Sequence[Name] | None:
        """Return a minimal set of names that clashes, preferring the first; None when they are consistent.

        Which one it is follows from the names alone, not from what the solver was asked before.
        """
        question = (tuple(names), also)
        if question not in self.cores:
            if len(self.cores) >= MAX_CORES:
                self.cores.clear()
            if len(names) > FEW:
                self.cores[question] = self._asked(self.theory, *question)
            else:
                with Theory() as theory:
                    self.cores[question] = self._asked(theory, *question)
        return self.cores[question]

    def _asked(self, theory: Theory, names: tuple[Name, ...], also: tuple[Lit, ...]) -> tuple[Name, ...] | None:
        for name in names:
            if name not in theory:
                theory.believe(name, *self.clauses[name])

        def holds(some: Sequence[Name]) -> bool:
            return theory.consistent(some, also=also)

        return None if holds(names) else tuple(preferred_conflict(names, holds))

    def _lives(self) -> frozenset[Name]:
        """Return the names of what holds of every life that is spoken of."""
        names: list[Name] = [("life", person) for person in self.people]
        for name in names:
            self._believe(name, [lifespan(name[1])])
        return frozenset(names)

    def _held(self, at: datetime) -> dict[Name, Standing]:
        """Return the facts that hold and are undisputed by the names of their literals, the oldest first."""
        found = [s for state in self.slots.values() for s in state.standings if _counts(s, at)]
        known: dict[Name, Standing] = {}
        for standing in sorted(found, key=self._latest):
            first = standing.first
            proposition = Proposition.of(first.subject, first.relation, first.object)
            bounds = bounds_of(first, standing.valid) if first.subject.key in self.people else ()
            if proposition in self.spoken or first.functional or bounds:
                name: Name = ("said", proposition, first.polarity, *bounds)
                self._believe(name, *([literal] for literal in (Lit(proposition, first.polarity), *bounds)))
                known.pop(name, None)  # said twice, it counts from the last time
                known[name] = standing
        return known

    def _exclusions(self, held: Mapping[Name, Standing]) -> frozenset[Name]:
        """Return the names of the clauses by which a functional relation has one value: said against followed."""
        names: list[Name] = []
        firsts = [standing.first for standing in held.values()]
        added = (standing.first for standing in held.values() if standing.first.adds or standing.beside)
        beside = {Proposition.of(one.subject, one.relation, one.object) for one in added}
        for first in firsts:
            own = Proposition.of(first.subject, first.relation, first.object)
            if not (first.functional and first.polarity) or own in beside:
                continue
            kind = dimension_of(first.relation, first.object)
            for literal in self.heads.get((first.subject.key, first.relation.name), ()):
                if literal.proposition in beside:
                    continue
                if literal.proposition != own and dimension_of(literal.atom.relation, literal.atom.object) == kind:
                    name = ("one", *(part for one in sorted((own, literal.proposition)) for part in one))
                    self._believe(name, [Lit(own, False), Lit(literal.proposition, False)])
                    names.append(name)
        return frozenset(names)

    def _give_way(self, core: Sequence[Name], now: _Names) -> None:
        """Give up what the policy chooses from a core, in favour of what was said last."""
        held = now.held
        facts = [held[name] for name in core if name in held]
        rules = sorted({self.cases[name].rule_id for name in core if name in self.cases})
        if not facts:
            oldest = min((self.cases[n] for n in core if n in self.cases), key=_since)
            self.suspended.add(oldest.rule_id)
            self.moved |= {name for name, case in self.cases.items() if case.rule_id == oldest.rule_id}
            return
        newest = max(facts, key=self._latest)
        last = newest.claims[-1]
        by_hand = bool(last.accepted) and not last.adds and len(facts) > 1
        if self.policy is Policy.ASK and len(facts) > 1 and not by_hand:
            self._dispute(facts, rules)
            return
        if by_hand:
            loser = min((fact for fact in facts if fact is not newest), key=self._latest)
        elif self.policy in (Policy.MINIMAL, Policy.WEIGHTED):
            names = self._in_order([name for name in self.clauses if self._counts(name, now)], now)
            gone = self._least(held, names, newest)
            loser = next((held[name] for name in core if name in gone), newest)
        else:
            loser = self._loser(facts, newest)
        others = tuple(fact.fact_id for fact in facts if fact is not loser)
        spans = "; ".join(
            dict.fromkeys(self.cases[n].rule.span for n in core if n in self.cases and self.cases[n].rule.span)
        )
        because, rule = (*others, *rules), f" (“{spans}”)" if spans else ""
        if loser is newest:
            loser.status, loser.because, loser.conflict = Status.QUARANTINED, because, Conflict.CONTRADICTION
            loser.reason = f"it cannot be true with what is believed{rule}"
        elif last.act is Act.CORRECT:
            retract(loser, told(last, "corrected it") + rule, because, Conflict.CORRECTION)
        elif not rules and not any(name[0] == "one" for name in core):
            said = f"{last.object}, which was {last.accepted}" if last.accepted else f"what {told(last, 'said later')}"
            reason = f"no days allow it together with {said}"
            retract(loser, reason, because, Conflict.CONTRADICTION)
        else:
            reason = told(last, "said later") + rule
            close(loser, start_of(last), reason, because, Conflict.UPDATE)
            follow(newest, loser)

    def _latest(self, standing: Standing) -> tuple[datetime, tuple[int, ...], int]:
        """Return when a fact was said last."""
        at, place = max((said_at(claim), self.order(claim)) for claim in standing.claims)
        return at, place, standing.episode

    def _loser(self, facts: Sequence[Standing], newest: Standing) -> Standing:
        """Return the fact that gives way; whoever is closer to what they speak of is not overruled by others."""
        if len(facts) == 1 or self.policy is Policy.REJECT_NEW:
            return newest
        older = [fact for fact in facts if fact is not newest]
        lowest = min(map(_rank, older))
        if self.policy is Policy.TRUST and _rank(newest) < lowest:
            return newest
        if self.policy is Policy.TRUST:
            older = [fact for fact in older if _rank(fact) == lowest]
        return min(older, key=self._latest)

    def _least(self, held: Mapping[Name, Standing], names: Sequence[Name], newest: Standing) -> set[Hashable]:
        """Return the facts to give up so that all clashes go at once: the fewest, or the least weight."""
        now = newest.claims[-1].known_at
        new = next(name for name, standing in held.items() if standing is newest)
        prior = [name for name in held if name != new]
        with Theory() as theory:
            for name in names:
                if name not in held:
                    for clause in self.clauses[name]:
                        theory.require(clause)
            for name in (*prior, new):
                theory.believe(name, *self.clauses[name])
            if self.policy is Policy.MINIMAL:
                found = minimal(theory, prior, new)
            else:
                weights: dict[Hashable, float] = {name: weight_of(fact.claims, now) for name, fact in held.items()}
                found = weighted(theory, prior, new, weights.__getitem__)
        return {*found.given_up, *([new] if found.rejected else [])}

    def _dispute(self, facts: Sequence[Standing], rules: Sequence[str]) -> None:
        for fact in facts:
            others = [other for other in facts if other is not fact]
            fact.disputed, fact.conflict = True, Conflict.CONTRADICTION
            fact.because = (*(other.fact_id for other in others), *rules)
            fact.reason = "it cannot be true together with: " + "; ".join(other.first.span for other in others)

    def _derive(self, now: _Names, at: datetime) -> None:
        """Bring the derived facts in line with what the cases entail now: those that rest on what changed."""
        before = self.settled
        seen = {name for name, look in now.looks.items() if before.looks.get(name) != look}
        changed = {*seen, *(now.all() ^ before.all()), *self.moved}
        met = self.connections.around(clause for _, clause in self._said_by(changed))
        touched = {literal.atom for literal in met if literal.atom in self.worded}
        said = {Proposition.of(s.first.subject, s.first.relation, s.first.object) for s in now.held.values()}
        for proposition in sorted(touched, key=lambda one: self.worded[one][:3]):
            was = self.follows.pop(proposition, None)
            fact = None if proposition in said else self._entailed(proposition, now)
            if fact is not None:
                self.follows[proposition] = self.derived[fact.fact_id] = fact
            if was is not None and (fact is None or fact.fact_id != was.fact_id):
                self._no_longer(was, at)

    def _entailed(self, proposition: Proposition, now: _Names) -> Standing | None:
        """Return the fact that a proposition holds, or that it does not; None where neither follows."""
        for positive in (True, False):
            denied = Lit(proposition, not positive)
            names = self._bearing([(None, [denied])], now)
            why = self._core(names, denied) if names else None
            if why is not None:
                return self._follows(self.worded[proposition][3], positive, why, now.held)
        return None

    def _follows(
        self, literal: Literal, positive: bool, why: Sequence[Name], held: Mapping[Name, Standing]
    ) -> Standing | None:
        """Return the fact that a minimal set of facts and cases entails; None where no rule takes part in it."""
        premises = [held[name] for name in why if name in held]
        rules = list({self.cases[name].rule_id: self.cases[name] for name in why if name in self.cases}.values())
        if not premises or not any(case.derives for case in rules):
            return None
        atom, latest = literal.atom, max(premises, key=self._latest)
        kind = inventory().relations.get(atom.relation.name)
        planned = any(premise.first.modality is Modality.PLANNED for premise in premises)
        claim = Claim(
            subject=atom.subject,
            relation=atom.relation,
            object=atom.object,
            polarity=positive,
            modality=Modality.PLANNED if planned else Modality.ASSERTED,
            valid=_common(premises),
            functional=kind.functional if kind is not None else False,
            confidence=min(min(c.confidence for c in p.claims) for p in premises),
            known_at=latest.claims[-1].known_at,
        )
        turns = dict.fromkeys(c.turn_id for p in premises for c in p.claims if c.turn_id)
        turns |= dict.fromkeys(case.rule.turn_id for case in rules if case.rule.turn_id)
        return Standing(
            first=claim,
            episode=DERIVED,
            claims=[replace(claim, turn_id=turn) for turn in turns] or [claim],
            valid=claim.valid,
            reason="it follows from " + _told(premises, rules),
            premises=(*(p.fact_id for p in premises), *(case.rule_id for case in rules)),
        )

    def _no_longer(self, was: Standing, at: datetime) -> None:
        """End a derived fact as its premise ended: what was over is over, what never was never followed."""
        standings = {s.fact_id: s for state in self.slots.values() for s in state.standings}
        ended = [standings[key] for key in was.premises if key in standings]
        gone = next((s for s in ended if s.status in (Status.RETRACTED, *UNBELIEVED)), None)
        over = [s for s in ended if s.status is Status.SUPERSEDED]
        if gone is None and over:
            last = over[-1]
            close(was, last.valid.end or at.date(), f"it rests on what is over: {last.first.span}", (last.fact_id,))
        else:
            because = (gone.fact_id,) if gone is not None else ()
            retract(was, "what it rests on is not believed any more", because)


def _at_one_go(said: tuple[Claim, Slot]) -> tuple[datetime, str, bool]:
    """Return what claims share that are told together: those of one turn, and what a person accepted after it."""
    claim = said[0]
    return said_at(claim), claim.turn_id, bool(claim.accepted)


def _since(case: Case) -> datetime:
    """Return since when a case counts; an axiom always did."""
    return case.known_at or EARLIEST


def _counts(standing: Standing, at: datetime) -> bool:
    """Tell whether a fact is believed, undisputed and not over on a day. What happened once stays true."""
    if standing.status is not Status.HELD or standing.disputed or standing.first.modality not in WORLD:
        return False
    if all(claim.role in MACHINES for claim in standing.claims):
        return False
    start, end = standing.valid.start, standing.valid.end
    return end is None or start == end or end > at.date()


def _look(standing: Standing) -> tuple[object, ...]:
    """Return what decides what a fact adds to what follows from it."""
    return standing.episode, standing.first, standing.valid, *standing.claims


def _rank(standing: Standing) -> int:
    return max(map(rank_of, standing.claims))


def _common(premises: Sequence[Standing]) -> Interval:
    """Return when all premises hold; what happened on a day counts from then on."""
    starts = [p.valid for p in premises if p.valid.start is not None]
    ends = [p.valid for p in premises if p.valid.end is not None and p.valid.start != p.valid.end]
    start = max(starts, key=lambda valid: valid.start or date.min, default=Interval())
    end = min(ends, key=lambda valid: valid.end or date.max, default=Interval())
    return Interval(
        start=start.start, start_precision=start.start_precision, end=end.end, end_precision=end.end_precision
    )


def _told(premises: Sequence[Standing], rules: Sequence[Case]) -> str:
    spans = [premise.first.span for premise in premises] + [case.rule.span for case in rules]
    return "; ".join(f"“{span}”" for span in dict.fromkeys(spans) if span)
