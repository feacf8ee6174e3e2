"""What is known of one user, to hold in the hand: `Memory`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from doxa.core.answers import AnswerReason
from doxa.core.bindings import Bindings
from doxa.core.consistency import Consistency
from doxa.core.drift import Drift
from doxa.core.errors import InputError, NotFoundError
from doxa.core.feedback import Feedback, Lesson
from doxa.core.promotions import Promotion, PromotionReason
from doxa.core.tasks import Forest
from doxa.core.values import Certificate, Change, Claim, Dispute, Entity, Evidence, Explanation, Fact, Rule, Turn
from doxa.core.verdicts import Verdict
from doxa.engine.absorb.drifting import drift_of, refresh_all, roll_back
from doxa.engine.absorb.promotion import all_promotions, demote, enable, explain_promotion
from doxa.engine.answer.checking import INFERRED, check, explain_inferred, inferred
from doxa.engine.answer.disputes import disputes_of
from doxa.engine.answer.finding import search
from doxa.engine.answer.query import sparql
from doxa.engine.answer.replying import check_layers
from doxa.engine.answer.searching import read_recent, read_within
from doxa.engine.answer.summary import summary
from doxa.engine.api.learning import learn, missed, standing
from doxa.engine.api.revising import Revising
from doxa.engine.api.teaching import Teaching
from doxa.engine.history import signing, spools, transfer, withdrawal
from doxa.engine.history.answers import answers, explain_answer
from doxa.engine.history.entities import entities
from doxa.engine.history.erasure import erase
from doxa.engine.history.explain import explain, history_of
from doxa.engine.history.replay import NO_TURN, believed_by
from doxa.engine.history.sharing import explain_shared
from doxa.engine.history.untold import untold
from doxa.engine.intake import Day, Moment, clean, display_name, read_day, read_end, require_positive, require_text
from doxa.engine.retrying import retried
from doxa.engine.shared.layers import is_shared, turns_of
from doxa.memory import describe, describe_rule, using

__all__ = ["Memory"]


class Memory(Revising):
    """What is known of one user: to read, explain, correct, erase and move."""

    def search(
        self,
        query: str,
        *,
        k: int = 10,
        recent: Sequence[tuple[str, str]] | None = None,
        session: str | None = None,
        speaker: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        as_of: Day | None = None,
        known_at: Moment | None = None,
        superseded: bool = False,
        shared: bool = True,
    ) -> list[Evidence]:
        """Return up to `k` pieces of evidence for a query, best first; withdrawn turns are left out.

        What is of a memory that everybody reads (setting `memory.shared`) says so (`Evidence.memory`), and its ids do.

        Args:
            query: what is looked for, a question or any words.
            k: how much evidence is given back at most.
            recent: what was just said, oldest first, as `(speaker, text)`: it tells what "she", "there" and "the other
                one" are. By default a query that goes on from something ("And Ana?") goes on from the latest turns of
                the memory, and any other stands alone.
            session: only turns of this session.
            speaker: only turns of this speaker.
            since: only turns said then or later.
            until: only turns said by then; a bare day, month or year means all of it.
            as_of: the day of the world that is asked about.
            known_at: only what was known then.
            superseded: also turns of whose claims nothing is held any more; otherwise they are found only when the
                query is about the past ("did", "used to", a day that it names).
            shared: whether shared memories are searched as well, unless a session is given.

        Raises:
            InputError: the query is empty, `k` is not positive, a time cannot be read, or `recent` has another shape.
        """
        require_text(query, "search")
        require_positive(k, "search: k")
        within = read_within(session=session, speaker=speaker, since=since, until=until)
        said = read_recent(recent, user=self.user)
        self._doxa.settle(self.user)
        day = None if as_of is None else read_day(as_of)
        known = None if known_at is None else read_end(known_at)
        return search(
            query, self._doxa.parts, user=self.user, k=k, recent=said, as_of=day, known_at=known, within=within,
            superseded=superseded, shared=shared,
        )  # fmt: skip

    def facts(
        self,
        *,
        current: bool = True,
        subject: str | None = None,
        relation: str | None = None,
        as_of: Day | None = None,
        known_at: Moment | None = None,
    ) -> list[Fact]:
        """Return facts in the order in which they came to be.

        Args:
            current: only what is believed now; False adds superseded, retracted and quarantined facts.
            subject: only facts about it, by label.
            relation: only facts of this relation, by name or label.
            as_of: what held in the world on that day, by what is believed now.
            known_at: what was believed then.
        """
        for name, value in (("subject", subject), ("relation", relation)):
            if value is not None:
                require_text(value, f"facts: {name}")
        self._doxa.settle(self.user)
        day = None if as_of is None else read_day(as_of)
        with self._doxa.parts.log.user(self.user) as state:
            beliefs, today = state.beliefs, state.today()
            if known_at is not None:
                moment = read_end(known_at)
                beliefs, today = believed_by(self._doxa.parts.log, self.user, moment), moment.date()
            return list(beliefs.select(current=current, now=today, as_of=day, subject=subject, relation=relation))

    def summary(self, query: str | None = None, *, max_tokens: int = 400, history: bool = False) -> str:
        """Return what is believed now as a short text, for a prompt or a person: one line a subject, then rules.

        Where sources disagree it says so, and who says what. What was retracted or no longer holds is not mentioned.

        Args:
            query: only what bears on it; None is everything, the latest first.
            max_tokens: most tokens of the text, by estimate; the least relevant is left out.
            history: add what no longer holds, and what is no longer believed and why.

        Raises:
            InputError: the query is empty, or `max_tokens` is not positive.
        """
        if query is not None:
            require_text(query, "summary")
        require_positive(max_tokens, "summary: max_tokens")
        evidence = self.search(query, shared=False) if query is not None else []
        self._doxa.settle(self.user)
        with self._doxa.parts.log.user(self.user) as state:
            return summary(query, evidence, state, max_tokens=max_tokens, history=history)

    def rules(self, *, known_at: Moment | None = None) -> list[Rule]:
        """Return what was said in general or on a condition ("if it rains, we stay in"), by `known_at`, in order."""
        self._doxa.settle(self.user)
        with self._doxa.parts.log.user(self.user) as state:
            if known_at is None:
                return list(state.beliefs.rules)
            return list(believed_by(self._doxa.parts.log, self.user, read_end(known_at)).rules)

    def disputes(self) -> list[Dispute]:
        """Return the facts of which at most one can be true while nothing says which, with the question to ask.

        Whatever the user says next about one of them settles it; so do `accept`, `keep_both` and `retract`.
        """
        self._doxa.settle(self.user)
        with self._doxa.parts.log.user(self.user) as state:
            return disputes_of(state)

    def sparql(
        self, query: str, *, as_of: Day | None = None, known_at: Moment | None = None, limit_s: float | None = None
    ) -> Bindings:
        """Return what a SPARQL query finds among the current facts, as a graph of RDF. It changes nothing.

        `?p doxa:livesIn ?place` matches facts; the prefixes `doxa`, `meta`, `thing`, `fact`, `turn`, `prov`, `owl`,
        `rdf`, `rdfs`, `skos` and `xsd` are known.

        Args:
            query: `SELECT`, `ASK`, `CONSTRUCT` or `DESCRIBE`.
            as_of: what held in the world on that day, by what is believed now.
            known_at: what was believed then.
            limit_s: seconds after which it is given up, between two rows: what sorts or counts goes on.

        Raises:
            InputError: it is no such query, or a time cannot be read.
            BackendUnavailableError: it took longer.
        """
        self._doxa.settle(self.user)
        return sparql(query, self._doxa.parts, self.user, as_of=as_of, known_at=known_at, limit_s=limit_s)

    def history(self, of: Fact | str | tuple[str, str] | None = None) -> list[Change]:
        """Return what happened to what is believed, oldest first.

        Args:
            of: a fact, a fact id, a subject by label, or `(subject, relation)` by label; None is everything.

        Raises:
            NotFoundError: there is no such fact or subject.
        """
        self._doxa.settle(self.user)
        with self._doxa.parts.log.user(self.user) as state:
            return history_of(of, state.beliefs, self.user)

    def turns(
        self,
        ids: Sequence[str] | None = None,
        *,
        session: str | None = None,
        after: int = 0,
        limit: int | None = None,
        withdrawn: bool = False,
    ) -> list[Turn]:
        """Return turns in the order in which they were received, those of Doxa itself too.

        Args:
            ids: only these, in this order, those of shared memories too; those that there are not are left out.
            session: only those of this session.
            after: only those with a higher `ordinal`; that of the last one of a page leads to the next.
            limit: how many at most.
            withdrawn: also those that are no longer trusted.
        """
        if limit is not None:
            require_positive(limit, "turns: limit")
        self._doxa.settle(self.user)
        others = turns_of(self._doxa.parts, self.user, ids or ())
        with self._doxa.parts.log.user(self.user) as state:
            found = state.received(session=session, after=after) if ids is None else map(state.turn, ids)
            own = [turn for turn in found if turn is not None and (withdrawn or state.trusts(turn.turn_id))]
        if others:
            known = {turn.turn_id: turn for turn in own} | others
            own = [known[key] for key in ids or () if key in known]
        return list(islice((turn for turn in own if session in (None, turn.session)), limit))

    def turn(self, turn_id: str) -> Turn:
        """Return a turn as it was received, one of a shared memory too.

        Raises:
            NotFoundError: there is no such turn.
        """
        if (other := turns_of(self._doxa.parts, self.user, [turn_id]).get(turn_id)) is not None:
            return other
        with self._doxa.parts.log.user(self.user) as state:
            if (found := state.turn(turn_id)) is None:
                raise NotFoundError(NO_TURN.format(user=self.user, turn_id=turn_id))
            return found

    def withdrawn(self) -> dict[str, datetime]:
        """Return the ids of the turns that were withdrawn, and when that was."""
        with self._doxa.parts.log.user(self.user) as state:
            return dict(state.withdrawn)

    def claims(self, *, turn_id: str) -> list[Claim]:
        """Return what a turn says, as it was understood; what was made of it, `history` and `why` tell.

        A turn that was withdrawn says nothing, and what was retracted is not among the claims.

        Raises:
            NotFoundError: there is no such turn.
        """
        self._doxa.settle(self.user)
        with self._doxa.parts.log.user(self.user) as state:
            if state.turn(turn_id) is None:
                raise NotFoundError(NO_TURN.format(user=self.user, turn_id=turn_id))
            return state.beliefs.claims_of(turn_id)

    def annotate(self, turn_id: str, metadata: Mapping[str, Any] | Callable[[Turn], Mapping[str, Any]]) -> Turn:
        """Give a turn other metadata (`Turn.metadata`) in place of what it had, and return it.

        Args:
            turn_id: which turn.
            metadata: what it gets; or what makes that of the turn as it is, so that nothing is lost that another
                process notes meanwhile: it is called again where one does, and may not use this memory.

        Raises:
            InputError: it is no plain JSON data.
            NotFoundError: there is no such turn.
        """
        self._doxa.wait(self.user)
        return retried(lambda: withdrawal.annotate(self._doxa.parts, self.user, turn_id, metadata))

    def place(self) -> int:
        """Return where the memory stands: the number of the last row of its log, 0 where nothing was told. One query.

        What takes its time is stored with it (`Dialogue.absorb`, `unless_erased_since`), since it may repeat what is
        erased meanwhile.
        """
        return self._doxa.parts.log.head(self.user).ordinal

    def untold(self) -> dict[str, str]:
        """Return what was said and no fact tells: the words, by turn id. Cost: one pass over turns and facts."""
        self._doxa.settle(self.user)
        with self._doxa.parts.log.user(self.user) as state:
            return untold(state)

    def why(self, fact_id: str) -> Explanation:
        """Return why a fact stands where it stands: its source turns, and what it displaced or was displaced by.

        The id may be that of a fact of a shared memory; what speaks for it has its ids there.

        Raises:
            NotFoundError: there is no such fact.
        """
        self._doxa.settle(self.user)
        if is_shared(fact_id):
            return explain_shared(self._doxa.parts, self.user, fact_id)
        if fact_id.startswith(INFERRED):
            return explain_inferred(fact_id, self._doxa.parts, self.user)
        with self._doxa.parts.log.user(self.user) as state:
            if (fact := state.beliefs.facts.get(fact_id)) is None:
                raise NotFoundError(withdrawal.NO_FACT.format(user=self.user, fact_id=fact_id))
            return explain(fact, state)

    def entities(self) -> list[Entity]:
        """Return the people and things that facts are about, each with all its names."""
        self._doxa.settle(self.user)
        with self._doxa.parts.log.user(self.user) as state:
            return entities(state.beliefs)

    def feedback(self, query: str, *, needed: Sequence[str]) -> Feedback:
        """Tell that turns were needed to answer a query and were not found; recall learns from it.

        Returns:
            What is kept: the facts that lead to the turns, and the cheapest plan of search that would have shown them
            all (`plan`, empty when none would).

        Raises:
            InputError: the query is empty, or nothing was needed.
            NotFoundError: there is no such turn.
            BackendError: the encoder failed.
        """
        require_text(query, "feedback")
        self._doxa.wait(self.user)
        return retried(lambda: missed(self._doxa.parts, self.user, query, needed))

    def learn(self, *, status: bool = False) -> Lesson:
        """Learn how to search from the feedback in the log: which view to lead with, and what each one weighs.

        The latest feedback is held out; weights that find less in it, or cost more, are refused. Nothing waits for it.
        With `status` it only tells how search does on the feedback, and changes nothing.

        Raises:
            StoreReadOnlyError: what was learned cannot be written.
            MissingDependencyError: SciPy, which fits the weights, is not installed.
        """
        self._doxa.wait(self.user)
        return standing(self._doxa.parts, self.user) if status else learn(self._doxa.parts, self.user)

    def drift(self, *, refresh: bool = False, rollback: bool = False) -> Drift:
        """Return whether search does as well as it did, by a sample of all questions, failed ones included.

        Questions are counted in windows of a day (settings `drift`). The first windows tell what is usual; an alarm is
        raised where that has changed, or where too little is found.

        Args:
            refresh: refresh promotions, missing vectors and weights now; without it that is done after an alarm, behind
                everything else (setting `drift.refresh`). Weights that find less of a part that is held back are
                refused.
            rollback: put the weights of before the last refresh back.

        Raises:
            InputError: both are wanted.
            NotFoundError: there are no weights to put back.
            StoreReadOnlyError: weights cannot be written.
            MissingDependencyError: SciPy, which fits the weights, is not installed.
        """
        if refresh and rollback:
            raise InputError("drift: give either refresh=True or rollback=True.")
        if not (refresh or rollback):
            return drift_of(self._doxa.parts, self.user)
        self._doxa.wait(self.user)
        return (refresh_all if refresh else roll_back)(self._doxa.parts, self.user)

    def teaching(self) -> Teaching:
        """Return what teaches the reader of turns what this user wants kept."""
        return Teaching(self._doxa, user=self.user)

    def promotions(self, *, active: bool = True) -> list[Promotion]:
        """Return what the user is like in concepts ("prefers romantic films"), lifted from several statements.

        They guide what is searched for and are no facts; each cites the turns that it rests on, and falls when too
        few of them are still believed. Private categories are left out (setting `recall.promote_private`).

        Args:
            active: only those that stand; False adds what was demoted or has lost its support.
        """
        self._doxa.settle(self.user)
        return all_promotions(self.user, self._doxa.parts, active=active)

    def demote(self, promotion_id: str, *, reason: str = "") -> Promotion:
        """Take a promotion down; it stays down, whatever is said, until `enable`.

        Raises:
            NotFoundError: there is no such promotion.
        """
        self._doxa.wait(self.user)
        return retried(lambda: demote(self.user, self._doxa.parts, promotion_id, reason=clean(reason)))

    def enable(self, promotion_id: str) -> Promotion:
        """Take a demotion back; the promotion stands again if enough speaks for it.

        Raises:
            NotFoundError: there is no such promotion.
        """
        self._doxa.wait(self.user)
        return retried(lambda: enable(self.user, self._doxa.parts, promotion_id))

    def why_promoted(self, promotion_id: str) -> PromotionReason:
        """Return what a promotion rests on, and which of its turns no longer speak for it.

        Raises:
            NotFoundError: there is no such promotion.
        """
        self._doxa.settle(self.user)
        return explain_promotion(self.user, self._doxa.parts, promotion_id)

    def answers(self, *, stale: bool = False) -> list[AnswerReason]:
        """Return the latest answers (setting `engine.answers`), oldest first, each with what has changed since.

        Args:
            stale: only those that rest on something that was revised, withdrawn or erased since.
        """
        self._doxa.settle(self.user)
        return answers(self._doxa.parts, self.user, stale=stale)

    def why_answered(self, answer_id: str) -> AnswerReason:
        """Return what an answer rests on, how it was found, and whether it still stands.

        Raises:
            NotFoundError: there is no such answer, or it is no longer kept.
        """
        self._doxa.settle(self.user)
        return explain_answer(self._doxa.parts, self.user, answer_id)

    def tasks(self) -> Forest:
        """Return the user's task forest."""
        self._doxa.settle(self.user)
        with self._doxa.parts.log.user(self.user) as state:
            return state.tasks.snapshot()

    def forget(self, *, turn_id: str | Collection[str] | None = None, everything: bool = False) -> Certificate:
        """Erase a turn, several at once, or everything, with all that was made of it: log, vectors, facts. For good.

        Copies stay where somebody made them: exports, transcripts, backups, and the answers of a model in the folder of
        `llm.record`.

        Of several ids, those that are gone already are left out. Cost: later turns are read again, once.

        Returns:
            A certificate that counts what was removed and repeats none of it.

        Raises:
            InputError: neither or both of the arguments are given.
            NotFoundError: there is no such turn.
        """
        if (turn_id is None) == (not everything):
            raise InputError("forget: give either turn_id=... or everything=True.")
        if turn_id is not None:
            self._doxa.wait(self.user)
            turn_id = [turn_id] if isinstance(turn_id, str) else [*turn_id]
        return erase(self._doxa.parts, self.user, turn_id)

    def export(
        self, path: str | Path, *, format: transfer.ExportFormat | None = None, sign: str | Path | None = None
    ) -> Path:
        """Write the memory to a file and return its path.

        Args:
            path: the file; an existing one is replaced, in one step. For `notes` a folder that is new or empty.
            format: `jsonl` is the log as it is; `turtle`, `nquads` and `jsonld` are OWL 2 with PROV-O provenance,
                and hold the log as well; all four can be imported. `markdown` is for people. The others are what other
                systems read back: what is believed, of `letta`, `graphiti` and `messages` what was said. What came
                from there goes back under its own id. By default as the name ends (`.jsonl`, `.ttl`, `.nq`,
                `.jsonld`, `.md`), else `jsonl`.
            sign: the file of a private key of Ed25519 in PEM: the signature of the file is written beside it, as
                `FILE.sig`; notes, which are a folder, have none.

        Raises:
            ConfigError: there is no such key; nothing was written.
            InputError: the format is unknown, or the path is none for it; nothing was written.
            MissingDependencyError: cryptography, which signs, is not installed.
            StoreError: the file cannot be written.
        """
        format = format or transfer.EXPORT_ENDINGS.get(Path(path).suffix.lower(), "jsonl")
        if sign is not None and format == "notes":
            raise InputError("export: expected a format of one file to sign, notes are a folder.")
        key = None if sign is None else signing.read_private(sign)
        self._doxa.wait(self.user)
        if format in transfer.FORMATS:
            written = transfer.export(self._doxa.parts, self.user, Path(path), format=format)
        else:
            # What reads a memory as other systems have it stands above it, and is reached by the front.
            from doxa.engine import leave

            written = leave(self, Path(path), format=format)
        if key is not None:
            signing.sign(written, key)
        return written

    def import_(self, path: str | Path, *, verify: str | Path | None = None) -> int:
        """Read an export into this memory and return the number of turns that were new.

        An empty memory becomes what was exported, revisions and withdrawals included; otherwise the turns are
        absorbed as if they had just come in.

        Args:
            path: the export.
            verify: the file of a public key of Ed25519 in PEM: what the owner of the key has not signed, as it is now,
                is refused.

        Raises:
            ConfigError: there is no such key; nothing was read.
            NotFoundError: there is no such file.
            FormatError: the file is no such export, or is not signed with the key; nothing was read.
            MissingDependencyError: cryptography, which verifies, is not installed.
            TurnConflictError: a turn is known with another text; the turns before it were read.
        """
        self._doxa.wait(self.user)
        count = retried(lambda: transfer.import_(self._doxa.parts.log, self.user, Path(path), verify=verify))
        self._doxa.wait(self.user)
        return count

    def spool_folder(self, kind: Literal["export", "import"]) -> Path:
        """Return a new folder of the system's temporary one, for this memory on its way; whoever asks removes it.

        Where that process was killed before, `forget` removes it.
        """
        return spools.spool_folder(self._doxa.parts, self.user, kind)

    def inferred(self) -> list[Fact]:
        """Return what nobody said and follows from the current facts by the axioms of the ontology (OWL 2 RL).

        Inverses, symmetry, chains of part-of, kinds of relations, the most specific classes of things. `premises` are
        the ids of the facts that one follows from; `why(fact_id)` tells how. What follows is kept and brought up to
        date, so that the cost is that of what has changed, and of listing it.
        """
        self._doxa.settle(self.user)
        return inferred(self._doxa.parts, self.user)

    def check(self, text: str, *, agent: str = "assistant", speaker: str | None = None) -> Verdict:
        """Return whether a reply agrees with this memory, sentence by sentence; nothing is remembered.

        Where it decides nothing, shared memories do (setting `memory.shared`); `because` then has ids of theirs.

        What asks, guesses or advises claims nothing; what the memory does not know is neutral. (`verify` asks another
        thing: whether what is believed can hold together.)

        Args:
            text: what an assistant is about to say to the user.
            agent: name of the assistant.
            speaker: the user's name, for "you"; by default that of the one person who has spoken as the user.

        Raises:
            InputError: the text is empty.
        """
        require_text(text, "check")
        self._doxa.settle(self.user)
        with self._doxa.parts.log.user(self.user) as state:
            name = speaker or state.person() or display_name(self.user)
        return check_layers(clean(text), self._doxa.parts, self.user, user=name, agent=agent)

    def verify(self, *, dl: bool = False, limit_s: float = 60.0) -> Consistency:
        """Return whether the current facts can all hold together under the ontology, and which of them cannot.

        Args:
            dl: ask HermiT, a reasoner for all of OWL 2 DL (extra `dl`, and Java); by default the rules of OWL 2 RL.
            limit_s: how long HermiT may look for a smallest set of facts that clash.

        Raises:
            InputError: `limit_s` is not positive.
            MissingDependencyError: owlready2, which brings HermiT, is not installed.
            BackendError: there is no Java, or HermiT failed.
        """
        if not limit_s > 0:
            raise InputError(f"verify: limit_s: expected seconds > 0, got {limit_s!r}.")
        self._doxa.settle(self.user)
        return check(self._doxa.parts, self.user, dl=dl, limit_s=limit_s)

    def stats(self) -> dict[str, Any]:
        """Return how much of everything there is."""
        self._doxa.settle(self.user)
        with self._doxa.parts.log.user(self.user) as state:
            return state.counts()

    def describe(self, of: Fact | Rule) -> str:
        """Return a fact or a rule as a plain sentence.

        Raises:
            InputError: it is neither.
        """
        if not isinstance(of, Fact | Rule):
            raise InputError(f"describe: expected a fact or a rule, got {of!r}. `facts()` and `rules()` list them.")
        with using(self._doxa.parts.log.ontology):
            return describe_rule(of) if isinstance(of, Rule) else describe(of)
