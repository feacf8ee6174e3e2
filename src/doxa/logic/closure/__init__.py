"""closure: statements -> what follows from them by OWL 2 RL, and why.

`rules.toml` is the rule set; `plans.py` makes functions of it, `closure.py` runs them over what comes and goes.
"""

from doxa.logic.closure.closure import Closure
from doxa.logic.closure.statements import Clash, Delta, Node, Proof, Statement, Step, minimal

__all__ = ["Clash", "Closure", "Delta", "Node", "Proof", "Statement", "Step", "minimal"]
