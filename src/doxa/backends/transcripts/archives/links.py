"""A link as people read it, whatever signs a program writes it with."""

__all__ = ["link"]


def link(url: str, label: str = "") -> str:
    """Return what a link shows, and where it leads unless that is the same."""
    shown, address = label.strip(), url.partition(":")[2].strip("/")
    if not shown or shown == url:
        return url
    return shown if shown.strip("/") == address else f"{shown} ({url})"
