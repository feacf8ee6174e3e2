"""compute: question, dialogue -> a number or comparison that follows from what was stated, with its working.

Counts, sums, differences, products, rates, averages, raises, comparisons, dates and durations; exactly, by rules
over dependency trees and never by a model. Where the reading is not certain there is no answer.
"""

from doxa.reason.compute.answering import concerns, work_out

__all__ = ["concerns", "work_out"]
