"""Settings: a file, and the environment."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from doors.base import decoded, encoded, ours
from doxa.core.config import Config, settings

__all__ = ["Settings"]

FILES = (
    'db = "memory.db"\nuser = "ana"\nontology = ["own.ttl"]\n[llm]\nname = "openai:gpt-x"\napi_key = "k"\n',
    '[engine]\nsettle_s = 5\nworkers = 8\n[server]\ncors = ["https://a.b"]\nport = 0\n[roles]\nanswer = "prompted"\n',
    '[verify]\nmode = "repair"\n[recall]\ntop_k = 3\n[memory]\nshared = ["handbook"]\n[encoder]\nname = "hash"\n',
    "a = [[[{b = {c = 1979-05-27T07:32:00Z}}]]]\n",
)
NAMES = tuple(name for name, *_ in settings())


class Settings:
    """A file of settings and an environment, together: `{"file": text, "environ": {name: value}}`."""

    seeds: Sequence[bytes] = [
        *encoded(*({"file": text, "environ": {}} for text in FILES)),
        *encoded({"file": "", "environ": dict.fromkeys(NAMES[::3], "1")}, {"file": "", "environ": {"DOXA_LLM": "x:y"}}),
        *encoded({"file": FILES[0], "environ": {"DOXA_SERVER_CORS": "a, b", "DOXA_ONTOLOGY": "a:b"}}),
        *(text.encode() for text in FILES),
    ]
    words: Sequence[str] = (*NAMES, "[", "]", "[[a]]", "=", "{", "}", '"""', "'''", "1979-05-27", "inf", "nan", "0o7")

    def __init__(self, models: bool) -> None:
        """Open it: a folder for the file."""
        self._path = Path(mkdtemp(prefix="fuzz-")) / "doxa.toml"

    def __call__(self, data: bytes) -> None:
        given: Any = decoded(data)
        environ: dict[str, str] = {}
        if isinstance(given, dict):
            named = given.get("environ")
            environ = {str(k): str(v) for k, v in named.items()} if isinstance(named, dict) else {}
            data = str(given.get("file", "")).encode("utf-8", "surrogatepass")
        environ.pop("DOXA_CONFIG", None)
        self._path.write_bytes(data)
        with ours():
            config = Config.load(self._path, environ=environ)
            config.secret("encoder"), config.with_profile("full"), repr(config)

    def close(self) -> None:
        """Remove the file."""
        self._path.unlink(missing_ok=True)
        self._path.parent.rmdir()
