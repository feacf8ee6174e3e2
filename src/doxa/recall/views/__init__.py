"""views: query -> candidates.

Each view proposes places within its budget, and scores whatever places the others propose. `VIEWS` is all of them.
"""

from doxa.recall.views.candidates import Candidates, Look, Places, Scores, View, Widening, around
from doxa.recall.views.cues import Speaker, Time
from doxa.recall.views.dense import Dense
from doxa.recall.views.graph import Graph, tastes_of
from doxa.recall.views.lexical import Lexical
from doxa.recall.views.profile import Profile
from doxa.recall.views.turn import Telling

__all__ = ["VIEWS", "Candidates", "Look", "Places", "Scores", "View", "Widening", "around", "tastes_of"]

VIEWS: tuple[View, ...] = (Lexical(), Dense(), Graph(), Profile(), Speaker(), Time(), Telling())
"""Every view, in the order in which their scores are shown."""
