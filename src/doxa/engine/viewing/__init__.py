"""viewing: memory -> pages of it, each at the cost of what it shows."""
