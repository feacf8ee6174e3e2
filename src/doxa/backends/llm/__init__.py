"""llm: messages -> completion

A language model behind one Protocol. `openai:NAME` speaks to any OpenAI-compatible server; `scripted` answers from a
list, for tests and examples; `recorded:FOLDER` gives again what a `Recorder` kept. A refusal and a cut-off answer are
values on the `Completion`; a server that is away or unusable raises a `BackendError`.

Steps that have something to fall back on go through `ask`, where a failure is a value too; what can
be asked at once goes out together (`ask_together`), within a `Budget` of calls, tokens and seconds.
"""

from doxa.backends.llm.asking import Answered, ask, ask_together, posed
from doxa.backends.llm.budget import Budget
from doxa.backends.llm.model import Completion, LanguageModel, Message, Request, Usage
from doxa.backends.llm.recorded import Recorder

__all__ = [
    "Answered",
    "Budget",
    "Completion",
    "LanguageModel",
    "Message",
    "Recorder",
    "Request",
    "Usage",
    "ask",
    "ask_together",
    "posed",
]
