"""compute: question, dialogue -> a number or comparison that follows from what was stated, with its working.

Counts, sums, differences, products, rates, averages, percentages, comparisons, dates and durations; exactly, by rules
over dependency trees and never by a model. Where the reading is not certain there is no answer.
"""

from doxa.reason.compute.answering import concerns, work_out
from doxa.reason.compute.expressions import Expression, Operation, Stated, steps, value_of

__all__ = ["Expression", "Operation", "Stated", "concerns", "steps", "value_of", "work_out"]
"""A question and the turns of a dialogue -> a draft with the number, its working and the turns that it rests on."""
