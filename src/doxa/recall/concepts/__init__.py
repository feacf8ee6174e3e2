"""concepts: text -> what it is about, what it says of its speaker, and what that adds up to."""
