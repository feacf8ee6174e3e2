"""Groups and uuids of Graphiti -> users of the engine, and what is told of them."""

from __future__ import annotations

from graphiti_core.errors import GroupIdValidationError
from graphiti_core.helpers import validate_group_id

from doxa.engine import Doxa

__all__ = ["all_groups", "group_of", "key_of", "user_of", "uuid_of"]

UNNAMED = "unnamed group"
"""The user of the group "", which is Graphiti's own; no group can be called that."""


def user_of(group_id: str) -> str:
    """Return the user whose memory a group is; raises GroupIdValidationError where it is no group."""
    validate_group_id(group_id)
    return group_id or UNNAMED


def all_groups(doxa: Doxa) -> list[str]:
    """Return the groups that anything was told in, by whatever interface."""
    return [group for user in doxa.users() if (group := _group(user)) is not None]


def _group(user: str) -> str | None:
    try:
        validate_group_id(user)
    except GroupIdValidationError:
        return "" if user == UNNAMED else None
    return user


def uuid_of(group_id: str, key: str) -> str:
    """Return the uuid of what has a key in the memory of a group; it says which group that is."""
    return f"{group_id}/{key}"


def group_of(uuid: str) -> str | None:
    """Return the group that a uuid of ours names; None where it is no such uuid."""
    group, slash, _ = uuid.partition("/")
    return group if slash and _group(group or UNNAMED) == group else None


def key_of(uuid: str) -> str:
    """Return the key of what a uuid of ours stands for."""
    return uuid.partition("/")[2]
