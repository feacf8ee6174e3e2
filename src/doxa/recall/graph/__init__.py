"""graph: what was said -> a graph of people, things, turns and concepts, and walks on it."""
