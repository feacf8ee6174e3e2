"""everyday: chats as people type them -> what is answered, believed and checked rightly.

`chats` reads the files, `marks` marks answers, facts and verdicts, `run` plays the chats to the engine's front door.
"""

from doxa_bench.everyday.run import EverydayReport, HalfReport, run

__all__ = ["EverydayReport", "HalfReport", "run"]
