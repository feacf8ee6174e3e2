"""The base that the benchmark searches: the one that is set, or one that is built once from data that lies at hand."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from doxa.backends import load
from doxa.backends.encoder import Encoder
from doxa.commonsense import KnowledgeBase
from doxa.core.config import Config, EncoderConfig, data_folder
from doxa.core.errors import InputError
from doxa.engine import build_base

__all__ = ["FOLDER", "find_data", "open_base"]

FOLDER = Path("runs/knowledge")
"""Where a base is put that was built for the benchmark."""
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
        config: names the base and the parser; the encoder is the built-in one, whose token vectors are measured with.
        path: the data; where `open/genericskb` is not in it, it is looked for in `DOXA_DATA`.
        folder: where a base is built; one that was interrupted is gone on with.
        tell: is told how far the building is.

    Raises:
        InputError: there is neither a base nor data to build it from, or another encoder made it.

    Cost: some four minutes for 55,000 sentences on two cores, the first time.
    """
    base = KnowledgeBase(config.commonsense.base or _built(config, path, folder, tell))
    with closing(_builtin()) as encoder:
        if base.card.encoder != encoder.name:
            raise InputError(
                f"bench knowledge: expected a base made by the encoder {encoder.name}; {base.folder} was made by "
                f"{base.card.encoder}. Build one: DOXA_ENCODER=builtin doxa kb build FILE --to FOLDER"
            )
    return base


def _builtin() -> Encoder:
    encoder: Encoder = load("encoder", "builtin")
    return encoder


def _built(config: Config, path: Path, folder: Path, tell: Tell | None) -> Path:
    for data in (path, data_folder()):
        files = sorted((data / SENTENCES).glob("*.txt")) if data else []
        files = [one for one in files if not one.name.startswith("SOURCE")]
        if data and files:
            inferences = [data / name for name in INFERENCES if (data / name).is_file()]
            settings = config.model_copy(update={"encoder": EncoderConfig()})
            build_base(files, folder, config=settings, inferences=inferences, tell=tell)
            return folder
    raise InputError(
        "bench knowledge: expected a base of knowledge. Set one (DOXA_COMMONSENSE_BASE=FOLDER, by `doxa kb build`), or "
        f"set DOXA_DATA to a folder with {SENTENCES}/*.txt, from which one is built."
    )
