"""llamaindex: LlamaIndex's contracts -> engine call.

    from doxa import Doxa
    from doxa.integrations.llamaindex import DoxaMemory

    memory = DoxaMemory(Doxa.open("memory.db"), user="ana", session_id="chat-1")
    await agent.run("I moved to Rome.", memory=memory)

Extra: `pip install "doxa[llamaindex]"`.
"""

from doxa.integrations.llamaindex.blocks import DoxaMemoryBlock
from doxa.integrations.llamaindex.chatstores import AsyncDoxaChatStore, DoxaChatStore
from doxa.integrations.llamaindex.memories import DoxaMemory

__all__ = ["AsyncDoxaChatStore", "DoxaChatStore", "DoxaMemory", "DoxaMemoryBlock"]
