"""knowledge: dialogues, sentences found for them -> how little they repeat each other, and how well they fit."""
