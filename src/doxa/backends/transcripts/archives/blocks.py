"""The blocks of a text in Markdown: what each says without its signs, and the headings that it stands under."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from doxa.backends.transcripts.archives.links import link

__all__ = ["Block", "Blocks", "read_blocks"]

LONGEST: Final = 4000
"""Characters of a block; a longer list is taken item by item, and any other block is cut."""
DEEPEST: Final = 40
"""Levels of lists (two each) and quotes in one another; the parser drops whatever follows deeper ones."""
LISTS: Final = ("bullet_list_open", "ordered_list_open")
VERBATIM: Final = ("fence", "code_block", "html_block", "table_open")
LINE_END: Final = re.compile(r"\r\n?")
WIKILINK: Final = re.compile(r"(?P<embed>!?)\[\[(?P<page>[^\[\]|\n]+)(?:\|(?P<shown>[^\[\]\n]*))?\]\]")
COMMENT: Final = re.compile(r"%%[^%]*%%", re.DOTALL)
ADDRESS: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")
BLOCK_ID: Final = re.compile(r"(?:^|\s)\^[A-Za-z0-9-]+$")
CALLOUT: Final = re.compile(r"\[![^\]\n]+\][+-]? ?")
TAG: Final = re.compile(r"(?<!\S)#([^\s\u2000-\u206f\u2e00-\u2e7f'!\"#$%&()*+,.:;<=>?@^`{|}~\[\]\\]+)")
"""A tag as Obsidian knows it, unless it is a number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A paragraph, a list, a quote, or code, a table or HTML as it stands."""

    text: str
    line: int
    """Where it starts, from 1."""
    headings: tuple[str, ...] = ()
    """From the outermost to the nearest."""
    tags: tuple[str, ...] = ()
    """Those in it and in the headings above it."""
    verbatim: bool = False


@dataclass(slots=True)
class Blocks:
    """What a text consists of."""

    blocks: list[Block] = field(default_factory=list)
    left: Counter[str] = field(default_factory=Counter)
    """What was not taken."""
    is_too_deep: bool = False
    """Its lists and quotes are too many in one another, so that its paragraphs were read as they stand."""


@dataclass(frozen=True, slots=True)
class _Heading:
    level: int
    title: str
    tags: tuple[str, ...]


@cache
def _markdown() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"maxNesting": DEEPEST}).enable("table")
    parser.inline.ruler.before("link", "wikilink", _wikilink)
    parser.inline.ruler.before("link", "comment", _comment)
    return parser


@cache
def _paragraphs() -> MarkdownIt:
    return MarkdownIt("zero")


def _wikilink(state: StateInline, silent: bool) -> bool:
    """Read `[[Page|shown]]` as a text, and `![[Page]]` as an embed."""
    found = WIKILINK.match(state.src, state.pos, state.posMax)
    if found is None:
        return False
    if not silent:
        page, _, part = found["page"].partition("#")
        place = "" if part.startswith("^") else part.replace("#", " > ")
        token = state.push("embed" if found["embed"] else "text", "", 0)
        token.content = (found["shown"] or "").strip() or " > ".join(
            one for one in (page.strip(), place.strip()) if one
        )
    state.pos = found.end()
    return True


def _comment(state: StateInline, silent: bool) -> bool:
    """Leave `%%out%%` what Obsidian shows to nobody."""
    found = COMMENT.match(state.src, state.pos, state.posMax)
    if found is None:
        return False
    if not silent:
        state.push("comment", "", 0)
    state.pos = found.end()
    return True


def read_blocks(text: str) -> Blocks:
    """Return the blocks of a text in their order.

    Cost: O(n) time and memory.
    """
    found = Blocks()
    text = LINE_END.sub("\n", text)
    environment: dict[str, dict[str, object]] = {}
    tokens = _markdown().parse(text, environment)
    if any(token.level >= DEEPEST - 1 for token in tokens):
        found.is_too_deep = True
        tokens = _paragraphs().parse(text)
    found.left["definitions of links (the links show where they lead)"] = len(environment.get("references", ()))
    lines = text.split("\n")
    trail: list[_Heading] = []
    is_under = True
    """Whether something stands under the last heading."""
    for group in _groups(tokens):
        if group[0].type != "heading_open":
            taken = [piece for block in _blocks(group, lines, trail, found.left) for piece in _cut(block)]
            found.blocks += taken
            is_under = is_under or bool(taken)
            continue
        level = int(group[0].tag[1:])
        _count_bare(is_under or level > trail[-1].level, found)
        trail = [one for one in trail if one.level < level]
        title, tags = _said(group[1], found.left)
        trail.append(_Heading(level, title, tags))
        is_under = False
    _count_bare(is_under, found)
    return found


def _count_bare(is_under: bool, found: Blocks) -> None:
    if not is_under:
        found.left["headings with nothing under them"] += 1


def _groups(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """Yield the tokens of each outermost block; a rule has nothing to say."""
    group: list[Token] = []
    for token in tokens:
        group.append(token)
        if token.level == 0 and token.nesting <= 0:
            if token.type != "hr":
                yield group
            group = []


def _blocks(group: list[Token], lines: list[str], trail: Sequence[_Heading], left: Counter[str]) -> Iterator[Block]:
    first = group[0]
    if first.type in VERBATIM:
        yield _block(_source(first, lines), first, trail, verbatim=True)
        return
    text, tags = _rendered(group, lines, left)
    if first.type in LISTS and len(text) > LONGEST:
        for item in _items(group):
            said, tags = _rendered([first, *item], lines, Counter())
            yield _block(said, item[0], trail, tags)
    elif first.type == "blockquote_open":
        # A callout is how Obsidian frames what one writes; any other quote is of somebody else.
        callout = CALLOUT.match(text)
        yield _block(text[callout.end() :] if callout else text, first, trail, tags, verbatim=callout is None)
    else:
        yield _block(text, first, trail, tags)


def _block(
    text: str, token: Token, trail: Sequence[_Heading], tags: Sequence[str] = (), *, verbatim: bool = False
) -> Block:
    above = [tag for heading in trail for tag in heading.tags]
    return Block(
        text=text,
        line=(token.map or [0])[0] + 1,
        headings=tuple(heading.title for heading in trail),
        tags=tuple(dict.fromkeys([*above, *tags])),
        verbatim=verbatim,
    )


def _items(group: list[Token]) -> Iterator[list[Token]]:
    """Yield the tokens of each item of the outermost list."""
    item: list[Token] = []
    for token in group[1:-1]:
        item.append(token)
        if token.level == 1 and token.nesting < 0:
            yield item
            item = []


def _rendered(group: Sequence[Token], lines: list[str], left: Counter[str]) -> tuple[str, tuple[str, ...]]:
    """Return what a block says, items with their marks and each list further in, and the tags in it."""
    said: list[str] = []
    found: list[str] = []
    depth, marker, table = 0, "", False
    for token in group:
        depth += (token.type in LISTS) - (token.type in ("bullet_list_close", "ordered_list_close"))
        table = (table or token.type == "table_open") and token.type != "table_close"
        if token.type == "list_item_open":
            marker = f"{token.info}{token.markup}" if token.info else "-"
        elif token.type == "list_item_close":
            marker = ""
        elif token.type in VERBATIM:
            said += _indented(_source(token, lines) if token.type == "table_open" else token.content, depth, marker)
            marker = ""
        elif token.type == "inline" and not table:
            text, tags = _said(token, left)
            said += _indented(text, depth, marker)
            found += tags
            marker = "" if text else marker
    return "\n".join(said), tuple(found)


def _indented(text: str, depth: int, marker: str) -> list[str]:
    before, below = "  " * (depth - 1), "  " * depth
    return [
        f"{before}{marker} {line}" if marker and not place else below + line
        for place, line in enumerate(text.strip("\n").split("\n") if text.strip() else ())
    ]


def _said(inline: Token, left: Counter[str]) -> tuple[str, tuple[str, ...]]:
    """Return a text without its signs, and the tags in it; images and embeds are counted."""
    parts: list[str] = []
    tags: list[str] = []
    opened: list[tuple[int, str]] = []
    for child in inline.children or ():
        match child.type:
            case "softbreak" | "hardbreak":
                parts.append("\n")
            case "image" | "embed":
                left["images and embeds"] += 1
            case "comment":
                left["comments"] += 1
            case "link_open":
                opened.append((len(parts), "" if child.info == "auto" else str(child.attrs.get("href") or "")))
            case "link_close":
                start, url = opened.pop()
                label = "".join(parts[start:])
                parts[start:] = [link(_markdown().normalizeLinkText(url), label) if ADDRESS.match(url) else label]
            case _:
                parts.append(child.content)
                tags += [tag for tag in TAG.findall(child.content) if child.type == "text" and not tag.isdigit()]
    return BLOCK_ID.sub("", "".join(parts).strip()).strip(), tuple(tags)


def _source(token: Token, lines: list[str]) -> str:
    start, end = token.map or (0, 0)
    return "\n".join(lines[start:end]).strip("\n")


def _cut(block: Block) -> Iterator[Block]:
    """Yield a block in pieces that are short enough: at the end of a line, else of a word, if there is one."""
    text, line, start = block.text, block.line, 0
    while start < len(text):
        end = _end(text, start)
        piece = text[start:end].strip("\n" if block.verbatim else None)
        if piece.strip():
            yield replace(block, text=piece, line=line)
        line += text.count("\n", start, end)
        start = end


def _end(text: str, start: int) -> int:
    last = start + LONGEST
    if len(text) <= last:
        return len(text)
    for between in ("\n", " "):
        found = text.rfind(between, start + LONGEST // 2, last)
        if found >= 0:
            return found + 1
    return last
