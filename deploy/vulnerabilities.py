"""What is installed -> which of it has known holes; it says so where nobody could be asked.

    python deploy/vulnerabilities.py [--allow-offline]

`pip-audit` takes a package that it cannot ask about for one without holes, and its exit code says that all is well;
here that counts as not asked. Exit codes: 0 nothing is known against what is installed, 1 something is, 2 nobody could
be asked (0 with `--allow-offline`).
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

OFFLINE = "--allow-offline"
OURS = ("doxa", "doxa-bench")
COMMAND = (
    sys.executable,
    "-m",
    "pip_audit",
    "--local",
    "--skip-editable",
    "--progress-spinner",
    "off",
    "--format",
    "json",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What an audit found."""

    asked: int
    left_out: tuple[str, ...]
    """Packages of which nobody knew anything, or could be asked."""
    holes: tuple[str, ...]

    def told(self, *, allow_offline: bool) -> tuple[str, int]:
        """Return what is said of it, and the exit code."""
        if not self.asked:
            said = "audit: the vulnerability service could not be asked, so that nothing is known of what is installed."
            return f"{said} Try again with a network, or pass {OFFLINE}.", 0 if allow_offline else 2
        lines = [f"audit: {self.asked} packages asked about, {len(self.holes)} known holes", *self.holes]
        if self.left_out:
            lines.append(f"audit: {len(self.left_out)} could not be asked about: {', '.join(self.left_out)}")
        return "\n".join(lines), 1 if self.holes else 0


def judged(report: Mapping[str, Any]) -> Judged:
    """Return what a report of `pip-audit --format json` says."""
    packages: Sequence[Mapping[str, Any]] = [one for one in report["dependencies"] if one["name"] not in OURS]
    return Judged(
        asked=sum("skip_reason" not in one for one in packages),
        left_out=tuple(one["name"] for one in packages if "skip_reason" in one),
        holes=tuple(
            f"  {one['name']} {one['version']}: {hole['id']}, mended in {', '.join(hole['fix_versions']) or 'none yet'}"
            for one in packages
            for hole in one.get("vulns", ())
        ),
    )


def main() -> int:
    """Audit this environment."""
    done = subprocess.run(COMMAND, capture_output=True, text=True, check=False)
    try:
        found = judged(json.loads(done.stdout))
    except ValueError:  # it gave up, most often since there is no network
        print(done.stderr.strip().rpartition("\n")[2] or "pip-audit said nothing", file=sys.stderr)
        found = Judged(asked=0, left_out=(), holes=())
    said, code = found.told(allow_offline=OFFLINE in sys.argv[1:])
    print(said)
    return code


if __name__ == "__main__":
    sys.exit(main())
