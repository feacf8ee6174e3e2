"""backends: a name -> a working model or database.

The outside world, one package per kind with its Protocol beside the implementations; `registry` loads one by name.
Nothing heavy is imported before it is used, and no foreign exception leaves this package.
"""

from doxa.backends.registry import load, names

__all__ = ["load", "names"]
