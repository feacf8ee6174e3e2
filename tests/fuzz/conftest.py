"""What lets inputs in is part of the benchmarks; without them there is nothing to test here."""

import sys
from pathlib import Path

FIRE = Path(__file__).parents[2] / "benchmarks" / "fire"
if FIRE.is_dir():
    sys.path.insert(0, str(FIRE))
else:
    collect_ignore = ["test_corpus.py"]
