"""Every way for something to come in, as a function of bytes; each is imported when it is opened.

A `Door` gives back nothing, whatever it is given. What it raises is a fault: an error that is none of Doxa's own, an
answer that says that something went wrong inside, an acknowledged turn that is gone.
"""

from __future__ import annotations

from importlib import import_module

from shares import DOORS

from doors.base import Door, Fault

__all__ = ["Door", "Fault", "opened"]


def opened(name: str, *, models: bool = False) -> Door:
    """Return a door, open; with `models` its engine has those of the default settings."""
    module, _, kind = DOORS[name].at.partition(":")
    door: Door = getattr(import_module(f"doors.{module}"), kind)(models)
    return door
