"""learning: feedback -> weights."""
