"""simulation: a seed -> a world in which processes, disk, clock and network fail, and what is wrong after it."""
