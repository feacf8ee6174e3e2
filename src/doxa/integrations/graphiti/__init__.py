"""Graphiti: a call of its class -> engine call.

    from doxa.integrations.graphiti import Graphiti  # in place of: from graphiti_core import Graphiti

    graphiti = Graphiti("memory.db")
    await graphiti.add_episode("chat", "Ana: I moved to Rome.", "a chat", datetime.now(UTC), group_id="ana")
    await graphiti.search("Where does Ana live?", group_ids=["ana"])

A group is a user, an episode is a turn (or one for each speaker), an entity edge is a fact, a node is an entity. The
types and errors are Graphiti's own; no graph database is needed, and no model. What Graphiti has no word for
(what never was true, why a fact is believed) is reached through `.doxa`.
Extra: `pip install "doxa[graphiti]"`.
"""

from doxa.integrations.graphiti.client import Graphiti

__all__ = ["Graphiti"]
