"""The bytes of a file as UTF-8 text, line by line, with what is no text reported."""

import codecs
import io
from collections.abc import Iterator
from typing import Final

from doxa.backends.transcripts.collecting import Collector

__all__ = ["as_utf8", "is_binary", "is_empty", "numbered", "report_undecodable", "whole"]

# The longer mark first: that of UTF-32 begins with that of UTF-16.
_MARKS: Final = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_HEAD: Final = 8192
_CONTROLS: Final = bytes(set(range(32)) - set(b"\t\n\v\f\r\x1b"))


def as_utf8(content: bytes) -> bytes:
    """Gives back the text as UTF-8 without a byte order mark, lines ended by a line feed.

    UTF-16 and UTF-32 are known by their mark; what is broken in them becomes U+FFFD.
    """
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            content = content.decode(encoding, "replace").encode("utf-8", "replace")
    content = content.removeprefix(codecs.BOM_UTF8)
    return content if b"\n" in content else content.replace(b"\r", b"\n")


def is_empty(content: bytes) -> bool:
    """Tells whether nothing stands in the file, or only the blanks and NUL bytes that a crash leaves."""
    return not content.strip(b"\0 \t\r\n\f\v")


def is_binary(content: bytes) -> bool:
    """Tells whether the first bytes are no text: one control character in ten. NUL bytes at the end are damage."""
    head = content[:_HEAD].rstrip(b"\0")
    controls = len(head) - len(head.translate(None, _CONTROLS))
    return controls * 10 > len(head)


def numbered(content: bytes) -> Iterator[tuple[int, str]]:
    """Yields each line that is not blank with its number from 1; bytes that are not UTF-8 as lone surrogates."""
    for number, line in enumerate(io.BytesIO(content), start=1):
        if text := line.decode("utf-8", "surrogateescape").strip():
            yield number, text


def whole(content: bytes) -> str:
    """Gives back all of the text; bytes that are not UTF-8 as lone surrogates."""
    return content.decode("utf-8", "surrogateescape")


def report_undecodable(content: bytes, found: Collector) -> None:
    """Records a problem for every line with bytes that are not UTF-8."""
    for number, line in enumerate(io.BytesIO(content), start=1):
        try:
            line.decode()
        except UnicodeDecodeError as exc:
            found.problem(
                f"expected UTF-8, got the byte 0x{line[exc.start]:02X} at position {exc.start + 1}; a turn with it was "
                "left out. Convert the file (`iconv -f WINDOWS-1252 -t UTF-8 FILE`) and read it again.",
                number,
            )
