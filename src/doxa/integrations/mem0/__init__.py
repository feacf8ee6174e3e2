"""mem0: a call of its open-source classes -> engine call.

    from doxa.integrations.mem0 import Memory  # in place of: from mem0 import Memory

    memory = Memory()
    memory.add("I live in Rome.", user_id="ana")
    memory.search("Where do I live?", filters={"user_id": "ana"})

The methods, results and errors of `mem0.Memory` and `mem0.AsyncMemory` of mem0ai 2, on the database of the settings
(`doxa.toml`, environment) and without an API key. mem0 need not be installed. What it cannot say (since when a fact
holds, why it is believed) is reached through `.doxa`.

A memory of nobody but an agent, or a run, is kept under a name with a space in it, which no `user_id` can have. What
names no user is looked for among all users, one after the other.
"""

from doxa.integrations.mem0.asking import ValidationError
from doxa.integrations.mem0.classes import AsyncMemory, Memory

__all__ = ["AsyncMemory", "Memory", "ValidationError"]
