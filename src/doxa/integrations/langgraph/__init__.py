"""langgraph: LangGraph's stores and checkpointers -> engine call.

    from doxa import Doxa
    from doxa.integrations.langgraph import DoxaSaver, DoxaStore

    doxa = Doxa.open("memory.db")
    graph = builder.compile(checkpointer=DoxaSaver(doxa), store=DoxaStore(doxa))

LangMem's tools and managers run on that store as they are. Extra: `pip install "doxa[langgraph]"`.
"""

from doxa.integrations.langgraph.checkpoints import DoxaSaver
from doxa.integrations.langgraph.store import DoxaStore

__all__ = ["DoxaSaver", "DoxaStore"]
