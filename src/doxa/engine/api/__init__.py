"""api: what users hold in their hands -> the loops behind it."""
