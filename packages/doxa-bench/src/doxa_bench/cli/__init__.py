"""cli: command line -> report.

`doxa bench`, which the command line of Doxa finds through the entry-point group `doxa.commands`.
"""

from doxa_bench.cli.bench import bench, commands

__all__ = ["bench", "commands"]
