"""One file of everything that training needs: trees, frames, traits, and text without annotation.

python training/frames/prepare.py --work WORK_FOLDER
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import pickle
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import decomp
import propbank
from framed import Framed, Marks, Prepared, framed
from roles import PARTICLE, Frame
from silver import gather
from spans import TAGS, weak_tags
from treebank import IGNORED, Sentence, blocks, inventory, read, sentence_of

HELD = 4  # every fourth document of EWT dev is held out for choices
RARE = 30  # roles seen less often are left out of the labels
WILL = frozenset(("will", "wo", "'ll", "ll", "shall", "gonna", "’ll"))


@dataclass(frozen=True, slots=True)
class Document:
    """A document of EWT: the columns of its sentences by id, and the part that it is in."""

    name: str
    genre: str
    rows: list[tuple[str, list[list[str]]]]
    part: str


def main() -> None:
    """Read, join, count what was lost, write."""
    args = read_arguments()
    lost: Counter[str] = Counter()
    documents = read_documents(args.data)
    found = {"train": [], "dev": [], "test": []}  # type: dict[str, list[Framed]]
    numbered = number_sentences(args.data, documents, lost)
    layer = decomp.nodes(args.data)
    at_dev = 0
    for one in documents:
        part = one.part
        if part == "dev":
            at_dev += 1
            part = "dev" if at_dev % HELD == 3 else "train"
        found[part] += frame_document(args.data, one, numbered, layer, lost)
    train = found["train"] + [framed(one) for one in read_others(args.data)]
    plain = [pointed(one) for one in gather(args.data, random.Random(5), args.scale)]
    roles = Counter(span.role for one in train for frame in one.frames for span in frame.spans)
    prepared = Prepared(
        train=train,
        dev=found["dev"],
        test=found["test"],
        plain=plain,
        classes=inventory(train, tags=TAGS),
        roles=sorted(role for role, count in roles.items() if count >= RARE),
    )
    args.work.mkdir(parents=True, exist_ok=True)
    path = args.work / "prepared.pickle.gz"
    path.write_bytes(gzip.compress(pickle.dumps(prepared), 6))
    report(prepared, roles, lost)
    print(f"{path.name}: {path.stat().st_size:,} bytes")


def read_arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description="Prepare what training needs.")
    parser.add_argument("--work", type=Path, required=True, help="folder for the file")
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("DOXA_DATA", "../shared/data")))
    parser.add_argument("--scale", type=float, default=1.5, help="of the number of words without annotation")
    return parser.parse_args()


def read_documents(data: Path) -> list[Document]:
    """EWT by document; the part is that of its sentences in the published split."""
    parts: dict[str, tuple[str, int]] = {}
    for part in ("dev", "test"):
        names = (name for name, _ in blocks(data / "open" / "ud" / "EWT" / f"en_ewt-ud-{part}.conllu"))
        parts |= {name: (part, at) for at, name in enumerate(names)}
    found = []
    folder = data / "open" / "ud_ewt_sources" / "not-to-release" / "sources"
    for path in sorted(folder.glob("*/*.conllu")):
        rows = list(blocks(path))
        inside = Counter(parts[name][0] if name in parts else "train" for name, _ in rows)
        if len(inside) > 1:
            raise ValueError(f"{path.name}: expected one part, found {dict(inside)}")
        name = path.name.removesuffix(".conllu").removesuffix(".xml")
        found.append(Document(name, path.parent.name, rows, next(iter(inside))))
    return sorted(found, key=lambda one: parts.get(one.rows[0][0], ("", 0))[1])


def number_sentences(data: Path, documents: Sequence[Document], lost: Counter[str]) -> dict[str, tuple[str, int]]:
    """The part and number of each sentence in the release that the traits refer to, by its id."""
    layer = decomp.nodes(data)
    known = decomp.documents(data)
    found: dict[str, tuple[str, int]] = {}
    for one in documents:
        parses = [[row[3] for row in rows] for _, rows in one.rows]
        numbers = known.get(one.rows[0][0].rpartition("-")[0], {}).get(one.part, set())
        start = decomp.first_number(numbers, parses, one.part, layer)
        if start is None:
            lost["sentences of documents without a number"] += len(parses)
            continue
        for place, number in decomp.numbers(start, parses, one.part, layer):
            found[one.rows[place][0]] = (one.part, number)
    return found


def frame_document(
    data: Path, one: Document, numbered: dict[str, tuple[str, int]], layer: decomp.Nodes, lost: Counter[str]
) -> list[Framed]:
    """The sentences of a document with all that is known of them."""
    parses = [[row[4] for row in rows] for _, rows in one.rows]
    path = next((data / "open" / "propbank_ewt").glob(f"data/google/ewt/{one.genre}/*/{one.name}.xml.gold_skel"), None)
    if path is None:
        lost["sentences of documents without roles"] += len(parses)
    said = propbank.join(parses, propbank.skeletons(path), lost) if path else [None] * len(parses)
    found = []
    for (name, rows), annotated in zip(one.rows, said, strict=True):
        upos = [row[3] for row in rows]
        lost["sentences"] += 1
        lost["sentences with traits"] += name in numbered
        traits, durations = decomp.traits(layer.get(numbered.get(name, ("", 0)), {}), upos, lost)
        sentence = framed(sentence_of(rows, "EWT", name))
        kinds = annotated.kinds if annotated else (IGNORED,) * len(rows)
        frames = annotated.frames if annotated else ()
        marks = Marks(kinds, tenses(rows, kinds), negated(frames, len(rows), kinds), tuple(durations), traits)
        found.append(replace(sentence, tags=weak_tags(sentence.forms, upos), marks=marks, frames=frames))
    return found


def negated(frames: Sequence[Frame], size: int, kinds: Sequence[int]) -> tuple[int, ...]:
    """1 where a predicate has a negation, 0 where it has none, else -100."""
    deny = {frame.predicate for frame in frames if any(span.role == "ARGM-NEG" for span in frame.spans)}
    return tuple(int(at in deny) if kinds[at] in (1, 3) else IGNORED for at in range(size))


def tenses(rows: Sequence[Sequence[str]], kinds: Sequence[int]) -> tuple[int, ...]:
    """The tense of each predicate, as in `roles.TENSES`; a verb without one has that of the verb it is joined to."""
    return tuple(_tense(rows, at) if kinds[at] in (1, 3) else IGNORED for at in range(len(rows)))


def _tense(rows: Sequence[Sequence[str]], at: int, *, steps: int = 4) -> int:
    row = rows[at]
    copula = row[7] in ("cop", "aux", "aux:pass")
    top = int(row[6]) - 1 if copula and row[6] != "0" else at
    verbs = [one for one in rows if one[6] == str(top + 1) and one[7] in ("aux", "aux:pass", "cop")]
    forms = [*verbs, row]
    if any(one[1].lower() in WILL for one in verbs) or _going(rows, top):
        return 3
    finite = next((one for one in forms if "VerbForm=Fin" in one[5]), None)
    if finite is not None:
        perfect = finite[2] == "have" and finite is not row and len(verbs) > 0
        return 1 if "Tense=Past" in finite[5] or perfect else 2
    if any(one[4] == "MD" for one in verbs):
        return 2
    if row[7] == "conj" and steps and row[3] == "VERB" and rows[int(row[6]) - 1][3] == "VERB":
        return _tense(rows, int(row[6]) - 1, steps=steps - 1)
    return 0


def _going(rows: Sequence[Sequence[str]], at: int) -> bool:
    """`be going to` before a verb."""
    row = rows[at]
    over = rows[int(row[6]) - 1] if row[6] != "0" else row
    return (
        row[7] == "xcomp"
        and over[1].lower() in ("going", "gon")
        and any(one[7] == "mark" and one[6] == row[0] for one in rows)
    )


def read_others(data: Path) -> list[Sentence]:
    """The other treebanks of `open/ud`."""
    return [
        replace(one, tags=weak_tags(one.forms, one.upos))
        for source in ("PUD", "ESLSpok", "Atis")
        for path in sorted((data / "open" / "ud" / source).glob("*.conllu"))
        for one in read(path, source)
    ]


def pointed(one: Sentence) -> Sentence:
    """The sentence with its punctuation marked, which noise may then leave out."""
    return replace(one, upos=tuple("" if any(map(str.isalnum, form)) else "PUNCT" for form in one.forms))


def report(prepared: Prepared, roles: Counter[str], lost: Counter[str]) -> None:
    """What was found and lost."""
    for name in ("train", "dev", "test"):
        part = getattr(prepared, name)
        own = [one for one in part if one.source == "EWT"]
        words = sum(len(one.forms) for one in part)
        frames = sum(len(one.frames) for one in part)
        spans = sum(len(frame.spans) for one in part for frame in one.frames)
        print(f"{name}: {len(part)} sentences ({len(own)} EWT), {words} words, {frames} frames, {spans} roles")
    print(f"plain: {len(prepared.plain)} sentences, {sum(len(one.forms) for one in prepared.plain)} words")
    print(f"roles kept: {len(prepared.roles)}; {PARTICLE} is a particle; left out:")
    print(json.dumps({role: count for role, count in roles.most_common() if count < RARE}))
    print(json.dumps(dict(lost), indent=1))


if __name__ == "__main__":
    main()
