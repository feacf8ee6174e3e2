"""The base that the benchmark searches: the one that is set, or one that is built once from data that lies at hand."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from doxa.backends import load
from doxa.backends.encoder import Encoder
from doxa.commonsense import KnowledgeBase
from doxa.core.config import Config, data_folder
from doxa.core.errors import InputError
from doxa.engine import build_base, encoder_options

__all__ = ["FOLDER", "find_data", "open_base", "open_encoder"]

FOLDER = Path("runs/knowledge")
"""Where a base is put that was built for the benchmark; by another encoder than the built-in one, beside it."""
SENTENCES = "open/genericskb"
INFERENCES = ("open/atomic2020/test.tsv", "open/conceptnet_ckbc/train100k.txt.gz")
"""What it is made of, in the folder of all data: GenericsKB, and the events of the built-in reasoner."""

Tell = Callable[[str, int, int], None]


def find_data(path: Path | None) -> Path:
    """Return the data that was given, or else the folder of all data (`DOXA_DATA`).

    Raises:
        InputError: neither is there.
    """
    found = path or data_folder()
    if found is None or not found.exists():
        gone = f"there is no {found}" if found else "none was given, and DOXA_DATA names no folder"
        raise InputError(
            f"bench knowledge: expected its data; {gone}. Give --data PATH, a test set or a folder with measure/ and "
            "open/, or set DOXA_DATA to such a folder. It does not come with Doxa."
        )
    return found


def open_base(config: Config, path: Path, *, folder: Path = FOLDER, tell: Tell | None = None) -> KnowledgeBase:
    """Open the base of knowledge that is set (`commonsense.base`), or else build one, once, and open that.

    Args:
        config: names the base, encoder, parser and NLI model.
        path: the data; where `open/genericskb` is not in it, it is looked for in `DOXA_DATA`.
        folder: where a base is built; one that was interrupted is gone on with.
        tell: is told how far the building is.

    Raises:
        InputError: there is neither a base nor data to build it from, or another encoder made it.

    Cost: some four minutes for 55,000 sentences on two cores, the first time.
    """
    base = KnowledgeBase(Path(config.commonsense.base or _built(config, path, folder, tell)))
    with closing(open_encoder(config)) as encoder:
        if base.card.encoder != encoder.name:
            raise InputError(
                f"bench knowledge: expected a base made by the configured encoder {encoder.name}; {base.folder} was "
                f"made by {base.card.encoder}. Set encoder.name to that one, or build another: doxa kb build FILE --to "
                "FOLDER"
            )
    return base


def open_encoder(config: Config) -> Encoder:
    """Return the configured encoder; the caller closes it."""
    encoder: Encoder = load("encoder", config.encoder.name, **encoder_options(config))
    return encoder


def _built(config: Config, path: Path, folder: Path, tell: Tell | None) -> Path:
    for data in (path, data_folder()):
        files = sorted((data / SENTENCES).glob("*.txt")) if data else []
        files = [one for one in files if not one.name.startswith("SOURCE")]
        if data and files:
            inferences = [data / name for name in INFERENCES if (data / name).is_file()]
            folder = _beside(folder, config.encoder.name)
            build_base(files, folder, config=config, inferences=inferences, tell=tell)
            return folder
    raise InputError(
        "bench knowledge: expected a base of knowledge. Set one (DOXA_COMMONSENSE_BASE=FOLDER, by `doxa kb build`), or "
        f"set DOXA_DATA to a folder with {SENTENCES}/*.txt, from which one is built."
    )


def _beside(folder: Path, encoder: str) -> Path:
    """Return the folder for the base of an encoder: each has one of its own."""
    if encoder == "builtin":
        return folder
    return folder.with_name(folder.name + "-" + "".join(one if one.isalnum() else "-" for one in encoder))
