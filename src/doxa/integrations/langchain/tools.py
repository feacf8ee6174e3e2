"""Calls of a model's tools -> what a memory is told and asked: `DoxaToolkit` and its tools."""

from __future__ import annotations

from abc import abstractmethod
from functools import partial
from typing import Annotated, Any, Literal

from langchain_core.documents import Document
from langchain_core.tools import BaseTool, BaseToolkit, ToolException
from langchain_core.tools.base import ArgsSchema
from pydantic import BaseModel, ConfigDict, Field, SkipValidation

from doxa.core.errors import DoxaError, NotFoundError
from doxa.core.lines import one_line
from doxa.core.turns import NOTED
from doxa.engine import Doxa, finished, forget_turns
from doxa.integrations.langchain.retriever import documents

__all__ = ["DoxaForget", "DoxaRecall", "DoxaRemember", "DoxaToolkit", "DoxaWhy"]

MOST = 50
"""Pieces of evidence that a model may ask for."""


class RememberInput(BaseModel):
    """What is remembered."""

    text: str = Field(
        description="What the user said, as a whole sentence in the user's own words, e.g. 'I moved to Rome in May.'"
    )


class RecallInput(BaseModel):
    """What is looked for."""

    query: str = Field(description="A question or any words, e.g. 'Where does the user live?'")
    k: int = Field(default=5, ge=1, le=MOST, description="How many statements to give back at most.")


class ForgetInput(BaseModel):
    """What is forgotten."""

    turn_ids: list[str] = Field(min_length=1, description="The ids of statements, as `recall` shows them.")


class WhyInput(BaseModel):
    """What is explained."""

    fact_id: str = Field(description="The id of a fact, as `recall` shows it.")


class _DoxaTool(BaseTool):
    """A tool over the memory of one user, whom no call can change; sync and async.

    What cannot be done is told to the model (`handle_tool_error`), with what to do instead.
    """

    doxa: Doxa = Field(exclude=True, repr=False)
    user: str
    agent: str = "assistant"
    session: str = "default"
    handle_tool_error: Any = True
    handle_validation_error: Any = True

    def _run(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return self._done(*args, **kwargs)
        except DoxaError as exc:
            raise ToolException(str(exc)) from exc

    async def _arun(self, *args: Any, **kwargs: Any) -> Any:
        return await finished(partial(self._run, *args, **kwargs))

    @abstractmethod
    def _done(self, *args: Any, **kwargs: Any) -> Any:
        """Do what is asked with the arguments of the schema."""


class DoxaRemember(_DoxaTool):
    """Remembers a statement of the user: `doxa`, `user`, and the `session` that it is said in."""

    name: str = "remember"
    description: str = (
        "Remember something the user said, for all later conversations. What it contradicts is revised by itself, so "
        "say what is true now."
    )
    args_schema: Annotated[ArgsSchema | None, SkipValidation()] = RememberInput

    def _done(self, text: str) -> str:
        talk = self.doxa.dialogue(user=self.user, agent=self.agent, session=self.session)
        return f"Remembered as [{talk.absorb(text, called=NOTED).turn_id}]."


class DoxaRecall(_DoxaTool):
    """Finds statements and the facts that they support; its artifact is the documents of `DoxaRetriever`."""

    name: str = "recall"
    description: str = (
        "Find what the user said before and what is known of the user. Each statement has its id and its day in "
        "brackets; below it stand the facts that are believed because of it, with their ids."
    )
    args_schema: Annotated[ArgsSchema | None, SkipValidation()] = RecallInput
    response_format: Literal["content", "content_and_artifact"] = "content_and_artifact"

    def _done(self, query: str, k: int = 5) -> tuple[str, list[Document]]:
        memory = self.doxa.memory(user=self.user)
        found = documents(memory, memory.search(query, k=k))
        facts = {fact.fact_id: memory.describe(fact) for fact in memory.facts()} if found else {}
        lines: list[str] = []
        for one in found:
            lines.append(one_line(f"[{one.id}, {one.metadata.get('at', '')[:10]}] {one.page_content}"))
            lines += [f"  [{held}] {one_line(facts[held])}" for held in one.metadata["fact_ids"] if held in facts]
        return "\n".join(lines) or "Nothing is known of that.", found


class DoxaForget(_DoxaTool):
    """Erases statements with all that was made of them; there is no way back."""

    name: str = "forget"
    description: str = (
        "Erase statements of the user with everything that was concluded from them, for good. Only when the user asks "
        "for it; what merely changed is remembered anew instead."
    )
    args_schema: Annotated[ArgsSchema | None, SkipValidation()] = ForgetInput

    def _done(self, turn_ids: list[str]) -> str:
        memory = self.doxa.memory(user=self.user)
        known = {turn.turn_id for turn in memory.turns(turn_ids, withdrawn=True)}
        if missing := [turn_id for turn_id in turn_ids if turn_id not in known]:
            raise NotFoundError(
                f"There is no statement {', '.join(missing)}; nothing was forgotten. `recall` shows the ids."
            )
        forget_turns(memory, dict.fromkeys(reversed(turn_ids)))
        return f"Forgotten: {', '.join(turn_ids)}."


class DoxaWhy(_DoxaTool):
    """Explains a fact: who said it and when, and what it took the place of."""

    name: str = "why"
    description: str = (
        "Explain why a fact is believed or no longer believed: who said it and when, and what it replaced or was "
        "replaced by."
    )
    args_schema: Annotated[ArgsSchema | None, SkipValidation()] = WhyInput

    def _done(self, fact_id: str) -> str:
        return self.doxa.memory(user=self.user).why(fact_id).text


class DoxaToolkit(BaseToolkit):
    """What an agent needs of a memory: `remember`, `recall`, `forget` and `why`.

    Args:
        doxa: the engine; it stays open when the toolkit goes.
        user: whose memory it is, for every call.
        agent: the name of the assistant.
        session: the session that statements are remembered in.
    """

    doxa: Doxa = Field(exclude=True, repr=False)
    user: str
    agent: str = "assistant"
    session: str = "default"

    model_config = ConfigDict(arbitrary_types_allowed=True)

    def get_tools(self) -> list[BaseTool]:
        """Return the tools, each of which can be used alone."""
        settings: dict[str, Any] = {name: getattr(self, name) for name in type(self).model_fields}
        return [kind(**settings) for kind in (DoxaRemember, DoxaRecall, DoxaForget, DoxaWhy)]
