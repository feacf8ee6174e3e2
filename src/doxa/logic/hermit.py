"""OWL 2 DL: is a graph consistent? Asked of HermiT, which comes with owlready2 and runs in Java.

Source: Glimm, Horrocks, Motik, Stoilos and Wang, "HermiT: An OWL 2 Reasoner", JAR 53 (2014).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from pyoxigraph import RdfFormat, Triple, serialize

from doxa.core.errors import BackendReplyError, BackendUnavailableError, MissingDependencyError

__all__ = ["Hermit"]

PURPOSE = "The check by OWL 2 DL (`doxa verify --dl`)"
MAIN = "org.semanticweb.HermiT.cli.CommandLine"
MEMORY = "-Xmx2000M"


@dataclass(frozen=True, slots=True)
class Hermit:
    """HermiT as a process of its own for each question, about a second each."""

    java: str
    classes: str

    @classmethod
    def find(cls) -> Hermit:
        """Return the reasoner of this machine.

        Raises:
            MissingDependencyError: owlready2 is not installed.
            BackendUnavailableError: there is no Java.
        """
        found = find_spec("owlready2")
        if found is None or found.origin is None:
            raise MissingDependencyError("owlready2", extra="dl", purpose=PURPOSE)
        java = shutil.which("java")
        if java is None:
            raise BackendUnavailableError(
                f"{PURPOSE} needs Java, and no `java` was found on the PATH. Install a runtime (`apt install "
                "default-jre-headless`, `brew install openjdk`), or check by OWL 2 RL, without --dl."
            )
        folder = Path(found.origin).parent / "hermit"
        return cls(java, os.pathsep.join(map(str, (folder, folder / "HermiT.jar"))))

    def __str__(self) -> str:
        return f"HermiT of owlready2 {version('owlready2')}, {self.java}"

    def consistent(self, triples: Iterable[Triple], *, timeout_s: float) -> bool:
        """Tell whether some triples have a model.

        Raises:
            BackendUnavailableError: it did not answer in time.
            BackendReplyError: it cannot read the graph (no OWL 2 DL), or failed.
        """
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "graph.nt"
            path.write_bytes(serialize(triples, format=RdfFormat.N_TRIPLES) or b"")
            command = [self.java, MEMORY, "-cp", self.classes, MAIN, "-k", path.as_uri()]
            try:
                done = subprocess.run(command, capture_output=True, text=True, timeout=timeout_s, check=False)
            except subprocess.TimeoutExpired as exc:
                message = f"HermiT did not answer within {timeout_s:.0f} s. Give it more: --limit, or limit_s."
                raise BackendUnavailableError(message) from exc
        if done.returncode == 0 and "is satisfiable" in done.stdout:
            return True
        if "InconsistentOntologyException" in done.stderr or "is not satisfiable" in done.stdout:
            return False
        reason = next((line for line in done.stderr.splitlines() if line.strip()), "no reason given")
        raise BackendReplyError(f"HermiT could not check the graph: {reason.strip()}", reply=done.stderr)
