"""A parsed sentence -> questions whose answers are parts of it: the reverse of reading a question.

Questions are made in a frame of their own: `S` is who speaks the sentence, `O` who is spoken to. "I bought a necklace
for my mum" gives "What did S buy for her mum?" with the words of "a necklace" as its answer.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from trees import MODALS, OTHER_OWN, OWN, PLACE_CASES, SPEAKER, TIME_CASES, UNKNOWN, Asked, Tree, broader

from doxa.backends.parser import Parse

DROPPED = {"punct", "discourse", "vocative", "parataxis", "cc", "mark", "dep", "reparandum", "dislocated", "list"}


def questions(parse: Parse, chance: random.Random) -> Iterator[Asked]:
    """Yield the questions that a sentence answers, every clause of it in turn."""
    tree = Tree(parse, chance)
    if tree.low and tree.low[-1] == "?":
        return
    for at, upos in enumerate(parse.upos):
        if tree.rel(at) not in ("root", "conj", "ccomp", "advcl", "parataxis", "xcomp", "relcl"):
            continue
        copula = tree.of(at, "cop")
        if copula:
            yield from _of_copula(tree, at, copula[0])
        elif upos == "VERB":
            yield from _of_verb(tree, at)
    yield from _of_names(tree)


def _subject(tree: Tree, at: int) -> tuple[list[str], str, int] | None:
    """Return the words of the subject in a question, whether it is S, O or another (X), and its place."""
    found = tree.of(at, "nsubj")
    seen = at
    while not found and tree.rel(seen) in ("conj", "xcomp") and tree.parse.heads[seen] >= 0:
        seen = tree.parse.heads[seen]
        found = tree.of(seen, "nsubj")
    if not found:
        return None
    subject = found[0]
    if tree.low[subject] in SPEAKER:
        return ["S"], "S", subject
    if tree.low[subject] == "you":
        return ["O"], "O", subject
    if tree.low[subject] in UNKNOWN or tree.parse.upos[subject] == "PRON":
        return None
    words = tree.subtree(subject, cut={"acl", "appos", "parataxis", "punct"})
    return tree.words_of(words, speaker="X"), "X", subject


def _auxiliary(tree: Tree, at: int, who: str, subject: int) -> tuple[list[str], list[str]] | None:
    """Return what stands before and after the subject in a question: "did" and "buy", "has" and "been working"."""
    helpers = list(tree.of(at, "aux"))
    forms = [tree.low[c] for c in helpers if tree.low[c] not in ("n't", "not")]
    negative = any(
        tree.parse.lemmas[c].lower() in ("not", "n't", "never") or tree.low[c] in ("n't", "not", "never")
        for c in tree.of(at, "advmod", "aux")
    )
    not_ = ["not"] if negative else []
    plural = who == "X" and _plural(tree, subject)
    if forms:
        first = {
            "'m": "is",
            "am": "is",
            "'re": "are",
            "'ve": "have",
            "'s": "is",
            "'ll": "will",
            "'d": "would",
            "ca": "can",
            "wo": "will",
        }.get(forms[0], forms[0])
        if who == "S" or (who == "X" and not plural):
            first = {"are": "is", "have": "has", "were": "was", "do": "does"}.get(first, first)
        form = tree.low[at]
        rest = forms[1:]
        if first in ("do", "does", "did"):
            return [first], [*not_, tree.parse.lemmas[at].lower()]
        if first in MODALS and tree.chance.random() < 0.3 and not rest:
            first, form = ("does" if not plural else "do"), tree.parse.lemmas[at].lower()
        return [first], [*not_, *rest, form]
    lemma, form = tree.parse.lemmas[at].lower(), tree.low[at]
    head = at
    if tree.rel(at) == "xcomp":
        return None
    while tree.rel(head) == "conj":
        head = tree.parse.heads[head]
    first_form, first_lemma = tree.low[head], tree.parse.lemmas[head].lower()
    shared = [tree.low[c] for c in tree.of(head, "aux")] if head != at else []
    if shared and form != lemma and form.endswith("ing"):
        return ["is"], [*not_, form]
    if form.endswith("ing"):
        return None
    if form == lemma and not (shared or form == first_form):
        return ["do" if plural or who == "O" else "does"], [*not_, lemma]
    if form == lemma:
        past = bool(shared and shared[0] == "did") or (
            not shared and first_form != first_lemma and not first_form.endswith("s")
        )
        return ["did" if past else "do" if plural or who == "O" else "does"], [*not_, lemma]
    if form.endswith("s") and form.rstrip("es") == lemma.rstrip("es"):
        return ["does"], [*not_, lemma]
    return ["did"], [*not_, lemma]


def _plural(tree: Tree, at: int) -> bool:
    return bool(tree.of(at, "conj")) or (tree.low[at].endswith("s") and tree.low[at] != tree.parse.lemmas[at].lower())


def _rest(tree: Tree, at: int, answer: int, who: str, *, keep: float = 0.75) -> list[str]:
    """Return the words after the verb in a question: its other parts in order, some of them left out."""
    words: list[str] = []
    core = ("obj", "iobj", "xcomp", "compound")
    for child in tree.children[at]:
        rel = tree.rel(child)
        if child == answer or child < at or rel in DROPPED or rel in ("conj", "nsubj", "aux", "cop", "punct", "csubj"):
            continue
        subtree = tree.subtree(
            child, cut={"punct", "parataxis", "discourse"} | ({"acl"} if tree.chance.random() < 0.5 else set())
        )
        if answer in subtree or len(subtree) > 9:
            continue
        if rel not in core and tree.chance.random() > keep:
            continue
        if rel == "advmod" and tree.low[child] in (
            "also",
            "just",
            "really",
            "so",
            "too",
            "even",
            "actually",
            "not",
            "n't",
        ):
            continue
        if any(tree.low[w] in UNKNOWN for w in subtree) and rel not in core:
            continue
        words += tree.words_of(subtree, speaker=who)
    return words


def _verb(tree: Tree, at: int) -> list[str]:
    return [tree.low[c] for c in tree.children[at] if tree.parse.deprels[c] == "compound:prt"]


def _of_verb(tree: Tree, at: int) -> Iterator[Asked]:
    subject = _subject(tree, at)
    if subject is None:
        return
    words, who, place = subject
    helpers = _auxiliary(tree, at, who, place)
    if helpers is None:
        return
    before, after = helpers
    clause = [*before, *words, *after]
    for child in tree.children[at]:
        rel, full = tree.rel(child), tree.parse.deprels[child]
        rest = _rest(tree, at, child, who)
        if rel == "obj":
            yield from _of_object(tree, at, child, clause, rest)
        elif rel == "obl" or full == "advmod":
            yield from _of_oblique(tree, child, clause, rest)
        elif rel in ("xcomp", "ccomp"):
            yield from _of_complement(tree, at, child, clause, rest)
        elif rel == "advcl":
            yield from _of_reason(tree, child, clause, rest)
        elif rel == "nsubj" and who == "X" and child == place:
            yield from _of_subject(tree, at, child, rest)
    yield from _of_whole(tree, at, clause)


def _good(tree: Tree, span: tuple[int, int] | None, head: int, *, most: int = 12) -> bool:
    if span is None or span[1] - span[0] >= most:
        return False
    return not (tree.low[head] in UNKNOWN and span[0] == span[1]) and tree.low[head] not in SPEAKER | {"you"}


def _of_object(tree: Tree, at: int, child: int, clause: list[str], rest: list[str]) -> Iterator[Asked]:
    span = tree.phrase(child)
    if not _good(tree, span, child):
        return
    assert span is not None
    lemma = tree.parse.lemmas[child].lower()
    wh = ["who"] if tree.person(child) and not tree.parse.forms[child][0].islower() else ["what"]
    if tree.person(child) and wh == ["what"] and tree.chance.random() < 0.5:
        wh = ["who"]
    yield Asked((*wh, *clause, *rest), *span, "object")
    kinds = broader(lemma) if tree.parse.upos[child] == "NOUN" else ()
    if kinds:
        kind = tree.chance.choice(kinds)
        word = tree.chance.choice(
            (["what", kind], ["which", kind], ["what", "kind", "of", kind], ["what", "type", "of", kind])
        )
        yield Asked((*word, *clause, *rest), *span, "kind")
    modifiers = tree.of(child, "amod", "compound")
    if modifiers and tree.parse.upos[child] == "NOUN":
        noun = tree.low[child]
        word = tree.chance.choice(
            (["what", "kind", "of", noun], ["what", "type", "of", noun], ["what", noun], ["which", noun])
        )
        yield Asked((*word, *clause, *rest), *span, "kind")
    numbers = tree.of(child, "nummod")
    if numbers:
        number = tree.run(tree.subtree(numbers[0]), numbers[0])
        if number and "$" not in tree.low[number[0]]:
            noun_words = [tree.low[w] for w in range(numbers[0] + 1, child + 1)]
            yield Asked(("how", "many", *noun_words, *clause, *rest), *number, "count")
    for note in tree.of(child, "nmod"):
        inner = tree.phrase(note)
        cases = tree.of(note, "case")
        if inner and cases and tree.low[cases[0]] in ("of", "for", "with", "about", "from", "to", "in", "on", "by"):
            noun_words = tree.words_of([w for w in tree.subtree(child, without={note}) if w < note], speaker="S")
            if _good(tree, inner, note):
                wh = ["who"] if tree.person(note) else ["what"]
                yield Asked((*wh, *clause, *noun_words, tree.low[cases[0]], *rest), *inner, "inner")


def _of_oblique(tree: Tree, child: int, clause: list[str], rest: list[str]) -> Iterator[Asked]:
    span = tree.phrase(child)
    if not _good(tree, span, child):
        return
    assert span is not None
    cases = tree.of(child, "case")
    case = tree.low[cases[0]] if cases else ""
    numbers = tree.of(child, "nummod")
    if tree.time(child):
        if tree.low[child] in ("even", "then", "now", "always", "already", "ever", "still", "again", "once", "lately"):
            return
        whole = tree.run(tree.subtree(child, cut={"punct", "acl"}), child)
        if case == "for" and (numbers or tree.of(child, "det", "amod")):
            yield Asked(("how", "long", *clause, *rest), *span, "duration")
        elif (tree.of(child, "det") and tree.low[tree.of(child, "det")[0]] in ("every", "each")) or tree.low[child] in (
            "daily",
            "weekly",
            "often",
            "sometimes",
        ):
            yield Asked(("how", "often", *clause, *rest), *span, "frequency")
        elif case in TIME_CASES or not case:
            yield Asked(("when", *clause, *rest), *(whole or span), "time")
            if case == "in" and tree.low[span[1]].isdigit():
                yield Asked(("what", "year", *clause, *rest), *span, "time")
        return
    if tree.rel(child) == "advmod":
        return
    if case in PLACE_CASES and (
        tree.place(child) or (case in ("in", "at", "to", "from") and tree.chance.random() < 0.4)
    ):
        yield Asked(("where", *clause, *rest), *span, "place")
    if case == "with" and tree.person(child):
        yield Asked(("who", *clause, *rest, "with"), *span, "company")
    if case:
        wh = "who" if tree.person(child) else "what"
        yield Asked((wh, *clause, *rest, case), *span, "oblique")
        if tree.of(child, "amod", "compound") and tree.chance.random() < 0.5:
            yield Asked(("what", "kind", "of", tree.low[child], *clause, *rest, case), *span, "kind")
        if case == "for" and tree.chance.random() < 0.3:
            yield Asked(("why", *clause, *rest), *span, "why")
    if not case and tree.parse.deprels[child] == "obl:unmarked" and numbers:
        yield Asked(("how", "much", *clause, *rest), *span, "amount")


def _of_complement(tree: Tree, at: int, child: int, clause: list[str], rest: list[str]) -> Iterator[Asked]:
    span = tree.clause(child)
    if span is None or span[1] - span[0] >= 16:
        return
    lemma = tree.parse.lemmas[at].lower()
    if tree.parse.upos[child] == "ADJ" and tree.rel(child) == "xcomp":
        short = tree.run(
            tree.subtree(child, cut={"punct", "advcl", "ccomp", "conj"} if tree.chance.random() < 0.4 else {"punct"}),
            child,
        )
        yield Asked(("how", *clause, *rest), *(short or span), "how")
        return
    if tree.rel(child) == "ccomp":
        verb = lemma if lemma in ("think", "say", "hope", "believe", "know", "feel", "realize", "decide") else ""
        if verb:
            yield Asked(("what", *clause, *rest), *span, "clause")
        return
    form = tree.low[child]
    if tree.parse.upos[child] == "VERB":
        marks = ["to"] if tree.of(child, "mark") else []
        tail = [] if form.endswith("ing") and tree.chance.random() < 0.6 else [*marks, "do"] if marks else ["doing"]
        yield Asked(("what", *clause, *tail), *span, "deed")
        inner = [*clause, *marks, form, *_verb(tree, child)]
        for part in tree.children[child]:
            further = _rest(tree, child, part, "S")
            if tree.rel(part) == "obj":
                yield from _of_object(tree, child, part, inner, further)
            elif tree.rel(part) == "obl":
                yield from _of_oblique(tree, part, inner, further)
            elif tree.rel(part) == "xcomp" and tree.parse.upos[part] == "ADJ":
                yield Asked(("how", *inner, *further), part, part, "how")


def _of_reason(tree: Tree, child: int, clause: list[str], rest: list[str]) -> Iterator[Asked]:
    marks = [tree.low[c] for c in tree.of(child, "mark", "advmod")]
    span = tree.clause(child)
    if span is None or span[1] - span[0] >= 18:
        return
    if any(mark in ("because", "since", "cause", "cuz", "as", "so") for mark in marks):
        yield Asked(("why", *clause, *rest), *span, "why")
    elif marks[:1] == ["to"]:
        yield Asked(("why", *clause, *rest), *span, "why")
        if tree.chance.random() < 0.4:
            yield Asked(("what", *clause, *rest, "for"), *span, "why")
    elif any(mark in ("when", "after", "before", "while", "until") for mark in marks):
        whole = tree.run(tree.subtree(child), child)
        yield Asked(("when", *clause, *rest), *(whole or span), "time")
    elif tree.low[child].endswith("ing") and any(mark in ("by",) for mark in marks):
        yield Asked(("how", *clause, *rest), *span, "means")


def _of_subject(tree: Tree, at: int, child: int, rest: list[str]) -> Iterator[Asked]:
    span = tree.phrase(child)
    if not _good(tree, span, child):
        return
    assert span is not None
    helpers = [tree.low[c] for c in tree.of(at, "aux") if c < at]
    wh = ["who"] if tree.person(child) else ["what"]
    kinds = broader(tree.parse.lemmas[child].lower())
    if kinds and tree.chance.random() < 0.3:
        wh = ["what", tree.chance.choice(kinds)]
    yield Asked((*wh, *helpers, tree.low[at], *_rest(tree, at, child, "X")), *span, "subject")


def _of_whole(tree: Tree, at: int, clause: list[str]) -> Iterator[Asked]:
    """Ask for what somebody does or did: the answer is the verb with its parts."""
    times = [
        c for c in tree.children[at] if tree.rel(c) in ("obl", "advmod", "advcl") and (tree.time(c) or tree.place(c))
    ]
    skip = {
        c
        for c in tree.children[at]
        if tree.rel(c) in ("nsubj", "aux", "punct", "cc", "mark", "discourse", "parataxis", "conj", "advcl", "expl")
    } | set(times)
    span = tree.run(tree.subtree(at, without=skip), at)
    if span is None or not 2 <= span[1] - span[0] <= 12 or clause[0] not in ("did", "does", "is", "has", "will"):
        return
    verb = "doing" if clause[-1].endswith("ing") else "done" if clause[0] == "has" else "do"
    if clause[0] in ("is", "has") and verb == "do":
        return
    subject = [word for word in clause[1:] if word in ("S", "O")] or None
    if subject is None:
        return
    tail = tree.words_of(tree.subtree(times[0], cut={"punct"}), speaker="S") if times else []
    if not tail and tree.chance.random() < 0.6:
        return
    yield Asked(("what", clause[0], *subject, verb, *tail), *span, "deed")


def _of_copula(tree: Tree, at: int, copula: int) -> Iterator[Asked]:
    subject = _subject(tree, at)
    if subject is None:
        return
    words, who, place = subject
    be = "was" if tree.low[copula] in ("was", "were") else "is"
    if who == "O" or (who == "X" and _plural(tree, place)):
        be = {"is": "are", "was": "were"}[be]
    aux = [tree.low[c] for c in tree.of(at, "aux")]
    if aux:
        return
    span = tree.phrase(at)
    case = tree.of(at, "case")
    if tree.parse.upos[at] == "ADJ":
        skip = {
            c
            for c in tree.children[at]
            if tree.rel(c) in ("nsubj", "cop", "punct", "cc", "discourse", "parataxis", "advcl", "mark", "expl")
        }
        if tree.chance.random() < 0.3:
            skip |= {c for c in tree.children[at] if tree.rel(c) in ("ccomp", "obl", "xcomp")}
        span = tree.run(tree.subtree(at, without=skip), at)
        if not _good(tree, span, at):
            return
        assert span is not None
        if who == "X":
            choices = [
                ["how", be, *words],
                ["what", be, *words, "like"],
                ["how", "does" if be != "was" else "did", "S", "describe", *words],
                ["what", "does", "S", "think", "of", *words],
                ["how", "does", "S", "feel", "about", *words],
            ]
            yield Asked(tuple(tree.chance.choice(choices)), *span, "how")
        else:
            tail = [
                w
                for c in tree.of(at, "obl", "advcl")
                if c > span[1]
                for w in tree.words_of(tree.subtree(c, cut={"punct"}), speaker="S")
            ][:6]
            does = "did" if be.startswith("was") or be == "were" else "does"
            yield Asked(
                tuple(tree.chance.choice(([does, *words, "feel", *tail], [be, *words, *tail])))
                if False
                else ("how", does, *words, "feel", *tail),
                *span,
                "how",
            )
        if tree.chance.random() < 0.5:
            for part in tree.of(at, "obl"):
                cases = tree.of(part, "case")
                inner = tree.phrase(part)
                if cases and _good(tree, inner, part):
                    assert inner is not None
                    yield Asked(
                        ("who" if tree.person(part) else "what", be, *words, tree.low[at], tree.low[cases[0]]),
                        *inner,
                        "oblique",
                    )
        return
    if not _good(tree, span, at):
        return
    assert span is not None
    if case:
        if tree.low[case[0]] in PLACE_CASES:
            yield Asked(("where", be, *words), *span, "place")
        yield Asked(("what", be, *words, tree.low[case[0]]), *span, "oblique")
        return
    if who == "X":
        wh = "who" if tree.person(at) and tree.person(place) else "what"
        yield Asked((wh, be, *words), *span, "is")
        if tree.parse.upos[at] == "PROPN":
            yield Asked(("what", be, "the", "name", "of", *words), *span, "name")
        inner = tree.phrase(place)
        if _good(tree, inner, place) and tree.parse.upos[at] in ("NOUN", "PROPN"):
            assert inner is not None
            kind = tree.words_of(list(range(span[0], span[1] + 1)), speaker="X")
            if any(w in OWN for w in (tree.low[x] for x in range(span[0], span[1] + 1))):
                yield Asked(("what", be, *kind), *inner, "is")
    elif tree.person(at):
        choices = (
            ["what", be, *words, "'s", "job"],
            ["what", "does", *words, "do", "for", "a", "living"],
            ["what", be, *words],
            ["what", be, *words, "'s", "occupation"],
        )
        yield Asked(tuple(tree.chance.choice(choices)), *span, "is")
    elif tree.parse.upos[at] == "NUM" or "years old" in " ".join(tree.low[at : at + 3]):
        yield Asked(("how", "old", be, *words), *span, "count")
    else:
        yield Asked(("what", be, *words), *span, "is")


def _of_names(tree: Tree) -> Iterator[Asked]:
    """Ask for names that stand beside what they name: "my dog Rex", "a turtle named Timothy"."""
    for at in range(len(tree.low)):
        if tree.low[at] in ("named", "called") and tree.rel(at) == "acl":
            noun = tree.parse.heads[at]
            names = tree.of(at, "xcomp", "obj", "obl")
            owner = _owner(tree, noun)
            if names and owner:
                span = tree.phrase(names[0])
                if span:
                    yield Asked(("what", "is", "the", "name", "of", *owner, tree.low[noun]), *span, "name")
                    yield Asked(
                        ("what", "is", *owner, tree.low[noun], "named" if tree.chance.random() < 0.5 else "called"),
                        *span,
                        "name",
                    )
        elif tree.rel(at) == "appos" and tree.parse.upos[at] == "PROPN":
            noun = tree.parse.heads[at]
            owner = _owner(tree, noun)
            span = tree.phrase(at)
            if owner and span and tree.parse.upos[noun] == "NOUN":
                wh = ("who", "is") if tree.person(noun) else ("what", "is", "the", "name", "of")
                yield Asked((*wh, *owner, tree.low[noun]), *span, "name")


def _owner(tree: Tree, noun: int) -> list[str] | None:
    for child in tree.children[noun]:
        if tree.low[child] in OWN:
            return ["S's"]
        if tree.low[child] in OTHER_OWN:
            return ["O's"]
    head = tree.parse.heads[noun]
    if head >= 0 and tree.rel(noun) == "obj" and tree.parse.lemmas[head].lower() in ("have", "own", "get", "adopt"):
        subject = _subject(tree, head)
        if subject and subject[1] in "SO":
            return [f"{subject[1]}'s"]
    return None
