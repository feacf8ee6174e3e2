"""langchain: LangChain's contracts -> engine call.

    from doxa import Doxa
    from doxa.integrations.langchain import DoxaRetriever, DoxaToolkit

    doxa = Doxa.open("memory.db")
    DoxaRetriever(doxa=doxa, user="ana", k=3).invoke("Where does Ana live?")
    model.bind_tools(DoxaToolkit(doxa=doxa, user="ana").get_tools())

Extra: `pip install "doxa[langchain]"`.
"""

from doxa.integrations.langchain.history import DoxaChatMessageHistory
from doxa.integrations.langchain.retriever import DoxaRetriever
from doxa.integrations.langchain.stores import DoxaByteStore
from doxa.integrations.langchain.tools import DoxaForget, DoxaRecall, DoxaRemember, DoxaToolkit, DoxaWhy

__all__ = [
    "DoxaByteStore",
    "DoxaChatMessageHistory",
    "DoxaForget",
    "DoxaRecall",
    "DoxaRemember",
    "DoxaRetriever",
    "DoxaToolkit",
    "DoxaWhy",
]
