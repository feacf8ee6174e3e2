"""history: what was believed, said and answered -> what it would be without a turn, why it is so, and a file of it."""
