"""reading: turn -> what it says, does to tasks and clashes with, the built-in way or by a model."""
