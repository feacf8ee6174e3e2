"""logic: facts -> RDF.

The only package that touches RDF tools and solvers.
"""

from doxa.logic.rdf import to_turtle

__all__ = ["to_turtle"]
