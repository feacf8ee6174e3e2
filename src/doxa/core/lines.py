"""A text -> one line, so that nothing in it can look like another line of what it is shown in."""

__all__ = ["one_line"]


def one_line(text: str) -> str:
    """Return a text with a blank in the place of every run of blanks and breaks, whatever Unicode calls them. O(n)"""
    return " ".join(text.split())
