"""A turn -> what it says: read the built-in way, or out of what a language model or an AMR parser made of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

from doxa.backends.parser import Parser
from doxa.core.errors import BackendError
from doxa.core.turns import MACHINES
from doxa.core.values import Act, Claim, Rule, Status, Turn
from doxa.language import LONGEST_SENTENCE, opening, overlong
from doxa.memory import Beliefs, Note, is_identity
from doxa.revise import Denials, Judgement
from doxa.understand import (
    Extraction,
    Request,
    Understanding,
    foreign_language,
    ground,
    identify,
    kept_words,
    of_world,
    taught_by,
    understand,
    understand_graph,
)

__all__ = ["BY_AMR", "Trained", "note_of", "read_by", "readable", "reading_of", "taught_in"]

AMENDS = (Act.WITHDRAW, Act.CORRECT)
"""What a turn does to earlier words."""
FOREIGN = "it is not in English ({language}): it is kept and can be searched, and no facts were made from it"
UNREAD = "its first {read:,} characters of {all:,} were read; the rest is kept and can be searched"
RUNS_ON = "{count:,} of its sentences run on for more than {most} characters: they are kept and can be searched, unread"
BY_AMR = "amr "
"""How `Extraction.by` opens where an AMR parser read the turn."""


class Trained(Protocol):
    """What was taught on examples and helps the built-in reading; see `wiring.Parts`."""

    def gate(self, claims: Sequence[Claim], turn: Turn, before: Turn | None) -> Sequence[Claim]:
        """Return claims with how far they can be trusted."""

    def request(self, text: str) -> Request:
        """Return what a message asks of the memory itself."""


def readable(turn: Turn) -> Turn:
    """Return a turn with what is read of it: the beginning of one that is very long."""
    read = opening(turn.text)
    return turn if len(read) == len(turn.text) else replace(turn, text=read)


def reading_of(
    turn: Turn,
    context: Sequence[Turn],
    beliefs: Beliefs,
    parser: Parser,
    extraction: Extraction | None = None,
    trained: Trained | None = None,
) -> tuple[Understanding, str]:
    """Return what a turn says, and why it was not understood as it should be; empty when it was.

    Args:
        turn: what was said.
        context: earlier turns of its session.
        beliefs: what is believed before it.
        parser: parses its sentences; when it fails, what the turn states is kept as text.
        extraction: what a language model or an AMR parser read out of it; its claims take the place of the built-in
            ones.
        trained: says how far what was read the built-in way can be trusted; None takes all of it as certain.

    Names that stand for one person or thing are claims as well, found by the same rules whoever read the turn. What a
    machine says in general is no rule: they may be the words of any page that it has read. Of a very long turn the
    beginning is read (`readable`), and it is said that the rest was not; a model reads all of it.
    """
    context, whole, turn = [*map(readable, context)], turn, readable(turn)
    if turn.generated:
        return _own_word(turn, context, beliefs, parser, trained)
    if turn.verbatim:
        return Understanding(intents=("chat",)), ""
    unread = extraction is None or bool(extraction.failed)
    if unread and (language := foreign_language(turn.text)):
        return Understanding(intents=("chat",)), FOREIGN.format(language=language)
    told_plainly, dull = _told_plainly(turn, parser, trained if unread else None)
    found, failed = _read(told_plainly, context, beliefs, parser, extraction, whole)
    failed = "; ".join(filter(None, (failed or dull, _left_unread(turn, whole) if unread else "")))
    told: Sequence[Claim] = _told(found)
    if trained is not None and unread:
        again = partial(_read, told_plainly, context, beliefs, parser, extraction, whole)
        found, told, ungraded = _gated(found, trained, turn, context, again)
        failed = f"{failed}; {ungraded}".strip("; ")
    firm = [claim for claim in told if not claim.tentative]  # what may be misread joins no names
    try:
        names: Sequence[Claim] = identify(turn, context, firm, beliefs)
    except Exception as exc:  # noqa: BLE001  as in `_read`
        names, failed = (), f"{failed}; its names could not be compared: {exc!r}".strip("; ")
    lifting = (_lifting(rule, turn) for rule in found.withdrawn_rules)
    rules = () if turn.role in MACHINES else (*found.rules, *lifting)
    return replace(found, claims=(*of_world(told, names), *names), rules=rules), failed


def _gated(
    found: Understanding,
    trained: Trained,
    turn: Turn,
    context: Sequence[Turn],
    again: Callable[..., tuple[Understanding, str]],
) -> tuple[Understanding, Sequence[Claim], str]:
    """Return what a turn says, its claims with how sure each is, and why that could not be told.

    What only looks like taking back is read again as said plainly.
    """
    told: Sequence[Claim] = _told(found)
    before = context[-1] if context else None
    try:
        told = trained.gate(told, turn, before)
        if plain := _unmeant(found, told):
            found, _ = again(plain=plain)
            seeming = (one for one in told if one.span in plain)
            told = [*seeming, *trained.gate(_told(found), turn, before)]
    except BackendError as exc:
        return found, told, f"the grader failed, so all that was read is believed: {exc}"
    return found, told, ""


def _left_unread(turn: Turn, whole: Turn) -> str:
    """Return what of a turn was not read, in words; empty where all was."""
    parts = []
    if len(turn.text) < len(whole.text.rstrip()):
        parts.append(UNREAD.format(read=len(turn.text), all=len(whole.text)))
    if count := overlong(turn.text):
        parts.append(RUNS_ON.format(count=count, most=LONGEST_SENTENCE))
    return "; ".join(parts)


def _own_word(
    turn: Turn, context: Sequence[Turn], beliefs: Beliefs, parser: Parser, trained: Trained | None
) -> tuple[Understanding, str]:
    """Return what a reply of Doxa's own says of the world; it is kept as the agent's word and never believed.

    It tells nothing of names and rules; what is not surely read is left out, and what somebody has spoken of already,
    since a reply mostly repeats what the memory holds. It is read the built-in way: replies are whole sentences, and a
    call for each would cost as much as the user's turn.
    """
    found, failed = _read(turn, context, beliefs, parser, None, turn)
    claims: Sequence[Claim] = _told(found)
    if trained is not None:
        try:
            claims = trained.gate(claims, turn, context[-1] if context else None)
        except BackendError as exc:
            return Understanding(), f"the grader failed, so the reply was not read: {exc}"
    firm = (one for one in claims if not one.tentative and one.act is Act.STATE and not _known(one, beliefs))
    return Understanding(claims=tuple(of_world(list(firm), ()))), failed


def _known(claim: Claim, beliefs: Beliefs) -> bool:
    """Tell whether somebody has said something of just this; the agent's word adds nothing to it then."""
    return any(fact.status is not Status.QUARANTINED for fact in beliefs.in_slot(beliefs.slot(claim)))


def _told(found: Understanding) -> list[Claim]:
    """Return what a turn says of the world, its names aside: "my flat is the same as yours"."""
    return [claim for claim in found.claims if not is_identity(claim)]


def _unmeant(found: Understanding, gated: Sequence[Claim]) -> set[str]:
    """Return the sentences that only look like taking back or putting right: nothing that they did is sure."""
    return {one.span for one in found.claims if one.act in AMENDS} - {one.span for one in gated if not one.tentative}


def _told_plainly(turn: Turn, parser: Parser, trained: Trained | None) -> tuple[Turn, str]:
    """Return a turn as it is to be read, and why it could not be looked at: what is to be remembered is a statement."""
    try:
        if trained is None or trained.request(turn.text) != "remember":
            return turn, ""
        return replace(turn, text=kept_words(turn.text, parser)), ""
    except BackendError as exc:
        return turn, f"whether it is a request to remember something could not be told: {exc}"


def _lifting(rule: str, turn: Turn) -> Rule:
    """Return what a turn says of a rule that no longer holds."""
    return Rule(
        lifts=rule, turn_id=turn.turn_id, speaker=turn.speaker, role=turn.role, span=turn.text, known_at=turn.at
    )


def _read(
    turn: Turn,
    context: Sequence[Turn],
    beliefs: Beliefs,
    parser: Parser,
    extraction: Extraction | None,
    whole: Turn,
    *,
    plain: Collection[str] = (),
) -> tuple[Understanding, str]:
    failed = ""
    try:
        try:
            found = understand(turn, context, beliefs, parser, plain=plain)
        except BackendError as exc:
            failed = f"the parser failed, so what the turn states is kept as text: {exc}"
            found = understand(turn, context, beliefs, plain=plain)
    except Exception as exc:  # noqa: BLE001  kept as text: one turn must not hold up all that come after it
        return Understanding(intents=("chat",)), f"the turn could not be understood: {exc!r}"
    if extraction is None or extraction.failed:
        return found, "; ".join(filter(None, (failed, extraction.failed if extraction else "")))
    if extraction.by.startswith(BY_AMR):
        return _by_graphs(found, extraction, turn, context, beliefs)
    try:
        read = ground(extraction, whole, context, beliefs, parser)
    except Exception as exc:  # noqa: BLE001  a model may write anything; the turn is read without it then
        return found, f"what the language model read could not be used, so the turn was read without it: {exc!r}"
    intents = tuple(dict.fromkeys((*read.intents, *(i for i in found.intents if i in ("ask", "greet"))))) or ("chat",)
    return replace(
        read,
        intents=intents,
        questions=found.questions,
    ), ""


def _by_graphs(
    found: Understanding, extraction: Extraction, turn: Turn, context: Sequence[Turn], beliefs: Beliefs
) -> tuple[Understanding, str]:
    """Return what the graphs of a turn say in place of its built-in statements.

    AMR knows no repairs ("sorry, I meant Bonn"), so a sentence that is one is left to the built-in reading.
    """
    try:
        read = [claim for graph in extraction.graphs for claim in understand_graph(graph, turn, context, beliefs)]
    except Exception as exc:  # noqa: BLE001  a parser may write anything; the turn is read without it then
        return found, f"the AMR graphs of the turn could not be used, so it was read without them: {exc!r}"
    mended = [" ".join(told.text.split()) for told in found.statements if told.act is not Act.STATE]
    repairs = [claim for claim in found.claims if claim.act is not Act.STATE]
    claims = dict.fromkeys([*repairs, *(claim for claim in read if claim.span not in mended)])
    intents = tuple(dict.fromkeys((*(("inform",) if read else ()), *(i for i in found.intents if i != "chat"))))
    return replace(found, claims=tuple(claims), intents=intents or ("chat",)), ""


def note_of(
    understanding: Understanding,
    extraction: Extraction | None = None,
    judgement: Judgement | None = None,
    denied: Denials | None = None,
) -> Note:
    """Return how a turn was understood, as its event keeps it."""
    note = Note(intents=understanding.intents)
    if extraction is not None:
        note = replace(
            note,
            by=extraction.by,
            prompt_tokens=extraction.prompt_tokens,
            completion_tokens=extraction.completion_tokens,
            dropped=understanding.dropped,
        )
    if judgement is None:
        return note
    return replace(
        note,
        dropped=(*note.dropped, *(denied.dropped if denied else ())),
        judged_by=judgement.by,
        judge_prompt_tokens=judgement.prompt_tokens,
        judge_completion_tokens=judgement.completion_tokens,
    )


def taught_in(turn: Turn, parser: Parser) -> int:
    """Return how many marks had taught what heard a turn; 0 where none had, and of a turn that is not heard."""
    return taught_by(parser) if turn.role == "user" and not turn.verbatim else 0


def read_by(note: Note) -> dict[str, Any]:
    """Return what a trace tells of the models that read a turn and judged what it clashes with; nothing without one.

    `taught_by` are the marks that had taught the reader.
    """
    told: dict[str, Any] = {}
    if note.by:
        told.update(by=note.by, prompt_tokens=note.prompt_tokens, completion_tokens=note.completion_tokens)
    if note.taught:
        told["taught_by"] = note.taught
    if note.dropped:
        told["dropped"] = note.dropped
    if note.judged_by:
        tokens = (note.judge_prompt_tokens, note.judge_completion_tokens)
        told.update(judged_by=note.judged_by, judge_prompt_tokens=tokens[0], judge_completion_tokens=tokens[1])
    return told
