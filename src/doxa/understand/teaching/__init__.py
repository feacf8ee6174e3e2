"""teaching: marks -> head."""
