"""What memory this process takes, for benchmarks of scale."""

from __future__ import annotations

from pathlib import Path


def resident() -> dict[str, int]:
    """Return the bytes of this process that are resident: of its own, and pages of files that it maps."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    found = dict(line.split(":", 1) for line in lines)
    return {"own": int(found["RssAnon"].split()[0]) * 1024, "file": int(found["RssFile"].split()[0]) * 1024}
