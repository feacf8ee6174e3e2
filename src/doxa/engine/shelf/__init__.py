"""shelf: one user's memory -> memories as mem0 has them.

What mem0's protocol and the stand-in for its classes have in common: ids, filters, what a memory is, how it changes.
"""
