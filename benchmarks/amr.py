"""AMR to OWL: how many graphs translate, how fast, whether it is OWL, how it compares, and how good the senses are.

    python benchmarks/amr.py GRAPHS [--oracle PYTHON] [--reason] [--examples N]

GRAPHS holds AMR graphs in PENMAN notation (The Little Prince: 1,562 of them). `--oracle` names the interpreter of an
environment in which the GPL tool py_amr2fred is installed: it runs in a process of its own, without its network steps,
and only what it prints is looked at. `--reason` asks HermiT (Java) whether everything together is consistent. Needs
rdflib and owlready2, and WordNet for the senses.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import rdflib
from rdflib import OWL, RDF, RDFS, XSD, BNode, Literal, URIRef

from doxa.backends import load
from doxa.backends.lexicon import Lexicon
from doxa.core.errors import BackendUnavailableError
from doxa.core.values import Turn
from doxa.logic import AmrGraph, Translation, amr_terms, amr_to_turtle, enrich_amr, read_amrs, translate_amr
from doxa.understand import Target, choose_senses, likely_pos, senses_of_all, understand_graph

SENSES = Path(__file__).parent / "senses.jsonl"
DUL = "http://www.ontologydesignpatterns.org/ont/dul/DUL.owl#"
BOXING = "http://www.ontologydesignpatterns.org/ont/boxer/boxing.owl#"
QUANT = "http://www.ontologydesignpatterns.org/ont/fred/quantifiers.owl#"
ROLESETS = "https://w3id.org/framester/data/propbank-3.4.0/RoleSet/"
VERBNET = "http://www.ontologydesignpatterns.org/ont/vn/abox/role/vnrole.owl#"
# OWL 2 Structural Specification, section 4: the datatypes that every OWL 2 DL tool knows (those that occur).
DATATYPES = {XSD.string, XSD.integer, XSD.decimal, XSD.double, XSD.boolean, XSD.dateTime, RDF.langString}
BATCH = 100
BUILT_IN = tuple(str(space) for space in (RDF, RDFS, OWL, XSD))
Graph = rdflib.Graph


def main() -> None:
    """Run everything and print one JSON object."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("graphs", type=Path)
    arguments.add_argument("--oracle", type=Path, metavar="PYTHON")
    arguments.add_argument("--reason", action="store_true")
    arguments.add_argument("--examples", type=int, default=5, help="differences of each kind that are shown")
    options = arguments.parse_args()
    start = time.perf_counter()
    graphs = [graph for graph in read_amrs(options.graphs.read_text(encoding="utf-8")) if "id" in graph.metadata]
    report: dict[str, Any] = {"graphs": len(graphs), "read_s": round(time.perf_counter() - start, 2)}
    report |= (translated := translating(graphs))[1]
    report["validity"] = validity(translated[0], reason=options.reason)
    lexicon, encoder = _lexicon(), load("encoder", "builtin")
    if lexicon is not None:
        report["with_senses"] = enriching(graphs, lexicon, encoder, reason=options.reason)
        report["senses"] = senses(lexicon, encoder)
    report["claims"] = claiming(graphs, lexicon)
    if options.oracle:
        report["oracle"] = compared(graphs, translated[0], options.oracle, options.examples)
    print(json.dumps(report, indent=2, ensure_ascii=False))


def translating(graphs: list[AmrGraph]) -> tuple[list[Translation], dict[str, Any]]:
    """Translate every graph, counting those that fail."""
    found, failed = [], []
    start = time.perf_counter()
    for graph in graphs:
        try:
            found.append(translate_amr(graph, base=_base(graph)))
        except Exception as exc:  # noqa: BLE001  the count is the result
            failed.append(f"{graph.metadata['id']}: {exc!r}")
    seconds = time.perf_counter() - start
    triples = sum(len(one.triples) for one in found)
    return found, {
        "translated": len(found),
        "failed": failed,
        "warnings": sum(len(one.warnings) for one in found),
        "triples_per_sentence": round(triples / len(found), 1),
        "triples_without_declarations": round(sum(_own(one) for one in found) / len(found), 1),
        "translate_s": round(seconds, 2),
        "sentences_per_s": round(len(found) / seconds),
    }


def enriching(graphs: list[AmrGraph], lexicon: Lexicon, encoder: Any, *, reason: bool) -> dict[str, Any]:
    """Translate again with the lexicon's parts of speech, and tie every word to its sense."""
    start = time.perf_counter()
    found = [translate_amr(graph, base=_base(graph), pos_of=lambda w: likely_pos(w, lexicon)) for graph in graphs]
    chosen = senses_of_all([(graph, "") for graph in graphs], lexicon, encoder)
    done = [enrich_amr(one, of) for one, of in zip(found, chosen, strict=True)]
    seconds = time.perf_counter() - start
    classes = sum(len(set(one.classes.values())) for one in found)
    tied = sum(len({one.classes[v] for v in of if v in one.classes}) for one, of in zip(found, chosen, strict=True))
    return {
        "classes": classes,
        "classes_with_synset": tied,
        "triples_per_sentence": round(sum(len(one.triples) for one in done) / len(done), 1),
        "dul_classes_left_out_as_disjoint": sum("left out" in w for one in done for w in one.warnings),
        "seconds": round(seconds, 1),
        "validity": validity(done, reason=reason),
    }


def claiming(graphs: list[AmrGraph], lexicon: Lexicon | None) -> dict[str, Any]:
    """Read every graph into claims, as if one person said it all."""
    turn = Turn(
        turn_id="t1", user="", session="", speaker="I", role="user", text="", at=datetime(1943, 4, 6, tzinfo=UTC)
    )
    pos_of = (lambda word: likely_pos(word, lexicon)) if lexicon is not None else None
    start = time.perf_counter()
    found = [understand_graph(graph, turn, pos_of=pos_of) for graph in graphs]
    return {
        "claims_per_sentence": round(sum(map(len, found)) / len(found), 2),
        "sentences_without": sum(not claims for claims in found),
        "by_modality": dict(Counter(str(claim.modality) for claims in found for claim in claims)),
        "denied": sum(not claim.polarity for claims in found for claim in claims),
        "seconds": round(time.perf_counter() - start, 2),
    }


def validity(found: list[Translation], *, reason: bool) -> dict[str, Any]:
    """Load everything with rdflib and owlready2, and list what OWL 2 DL does not allow."""
    import owlready2

    graph = Graph()
    graph.parse(data=amr_to_turtle(found), format="turtle")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "all.nt"
        graph.serialize(path, format="nt", encoding="utf-8")
        world = owlready2.World()
        ontology = world.get_ontology(path.as_uri()).load()
        report: dict[str, Any] = {
            "rdflib_triples": len(graph),
            "owlready2_individuals": len(list(ontology.individuals())),
            "owlready2_classes": len(list(ontology.classes())),
            "owl_2_dl_problems": dict(Counter(kind for kind, _ in problems(graph))),
        }
    report["sentences_with_disjoint_dul_classes"] = clashes(found)
    if reason:
        report["hermit"] = consistent(found)
    return report


def consistent(found: list[Translation]) -> dict[str, Any]:
    """Ask HermiT about a hundred sentences at a time; they share no individuals, so nothing is lost."""
    import owlready2

    start = time.perf_counter()
    answers: Counter[str] = Counter()
    for first in range(0, len(found), BATCH):
        graph = Graph()
        graph.parse(data=amr_to_turtle(found[first : first + BATCH]), format="turtle")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "part.nt"
            graph.serialize(path, format="nt", encoding="utf-8")
            world = owlready2.World()
            world.get_ontology(path.as_uri()).load()
            try:
                owlready2.sync_reasoner_hermit(world, debug=0)
                answers["consistent" if not list(world.inconsistent_classes()) else "with an empty class"] += 1
            except owlready2.OwlReadyInconsistentOntologyError:
                answers["inconsistent"] += 1
            except owlready2.OwlReadyJavaError as exc:
                answers[f"refused: {str(exc).strip().splitlines()[-1][:200]}"] += 1
    return {"batches": dict(answers), "sentences_per_batch": BATCH, "seconds": round(time.perf_counter() - start, 1)}


def clashes(found: list[Translation]) -> dict[str, Any]:
    """Count sentences with an individual in two branches of DOLCE+DnS Ultralite that are disjoint.

    DUL itself is not imported, so a reasoner does not see them. An individual is also what it is `owl:sameAs`.
    """
    branch_of = {DUL + name: branch for branch, names in amr_terms("branches").items() for name in names}
    examples: Counter[str] = Counter()
    sentences = 0
    for one in found:
        graph = _graph_of(one)
        here = {
            pair
            for thing in set(graph.subjects(RDF.type, OWL.NamedIndividual))
            for pair in _clash(graph, thing, branch_of)
        }
        sentences += bool(here)
        examples.update(here)
    return {"sentences": sentences, "examples": [f"{pair} x{n}" for pair, n in examples.most_common(6)]}


def _clash(graph: Graph, thing: Any, branch_of: dict[str, str]) -> Iterator[str]:
    same = {thing, *graph.transitive_objects(thing, OWL.sameAs), *graph.transitive_subjects(OWL.sameAs, thing)}
    kinds = {kind for one in same for kind in graph.objects(one, RDF.type)}
    wide = {str(above) for kind in kinds for above in graph.transitive_objects(kind, RDFS.subClassOf)}
    branches = sorted({branch_of[name] for name in wide if name in branch_of})
    if len(branches) > 1:
        yield " and ".join(branches)


def problems(graph: Graph) -> Iterator[tuple[str, str]]:
    """Yield what breaks the rules of OWL 2 DL that a graph without class expressions of its own can break.

    Source: OWL 2 Structural Specification, section 5.8 (declarations and typing constraints) and 4 (datatypes).
    """
    kinds: dict[Any, set[Any]] = {}
    for subject, kind in graph.subject_objects(RDF.type):
        kinds.setdefault(subject, set()).add(kind)
    for name, found in kinds.items():
        properties = found & {OWL.ObjectProperty, OWL.DatatypeProperty, OWL.AnnotationProperty}
        if len(properties) > 1:
            yield "property of two kinds", str(name)
        if str(name).startswith(BUILT_IN):
            yield "reserved name declared", str(name)
    for subject, predicate, value in graph:
        if predicate == RDF.type:
            if str(value).startswith(str(OWL)) or isinstance(value, BNode):
                continue
            if OWL.Class not in kinds.get(value, ()):
                yield "class not declared", str(value)
            if OWL.NamedIndividual not in kinds.get(subject, ()) and not str(value).endswith("Sentence"):
                yield "individual not declared", str(subject)
        elif predicate in (RDFS.subClassOf, OWL.equivalentClass, OWL.complementOf):
            for name in (subject, value):
                if OWL.Class not in kinds.get(name, ()):
                    yield "class not declared", str(name)
        elif not str(predicate).startswith(BUILT_IN):
            wanted = OWL.DatatypeProperty if isinstance(value, Literal) else OWL.ObjectProperty
            if wanted not in kinds.get(predicate, ()):
                yield "property not declared", str(predicate)
        if isinstance(value, Literal) and value.datatype and value.datatype not in DATATYPES:
            yield "datatype outside OWL 2", str(value.datatype)


def senses(lexicon: Lexicon, encoder: Any) -> dict[str, Any]:
    """Share of the hand-labelled words whose sense is found, against the first sense of the lexicon."""
    items = [json.loads(line) for line in SENSES.read_text(encoding="utf-8").splitlines()]
    chosen = choose_senses([(Target(item["lemma"], (item["pos"],)), item["text"]) for item in items], lexicon, encoder)
    rows = []
    for item, choice in zip(items, chosen, strict=True):
        there = lexicon.senses(item["lemma"], item["pos"])
        wide = {synset.supersense for synset in there if synset.name in item["synsets"]}
        best = choice.synset if choice else there[0]
        first = there[0]
        rows.append(
            (
                best.name in item["synsets"],
                first.name in item["synsets"],
                best.supersense in wide,
                first.supersense in wide,
                1 / len(there),
            )
        )
    names = ("accuracy", "first_sense", "supersense_accuracy", "first_sense_supersense", "chance")
    shares = {name: sum(row[place] for row in rows) / len(rows) for place, name in enumerate(names)}
    error = (shares["accuracy"] * (1 - shares["accuracy"]) / len(rows)) ** 0.5
    return {"n": len(rows), "standard_error": round(error, 3)} | {name: round(of, 3) for name, of in shares.items()}


# The comparison: each tool's triples become short facts, sorted by what they are about; names that differ by convention
# (`DateEntity`, `Date-entity`) are made alike, and roles are compared by what they connect: we keep AMR's numbers, the
# other tool writes PropBank's names for them. It gets a fresh process for each graph: after one that it fails on, it
# mixes up or refuses those that follow.
Facts = dict[str, Counter[str]]

ORACLE = """
import json, multiprocessing, sys
from py_amr2fred import Amr2fred, Glossary

def run(amr):
    try:
        text = Amr2fred().translate(amr, mode=Glossary.RdflibMode.NT, post_processing=False)
        return {"nt": text if isinstance(text, str) else None}
    except Exception as error:
        return {"error": repr(error)}

run("(w / want-01 :ARG0 (b / boy))")
with multiprocessing.get_context("fork").Pool(1, maxtasksperchild=1) as pool:
    for out in pool.imap(run, map(json.loads, sys.stdin)):
        print("ROW" + json.dumps(out), flush=True)
"""


def compared(graphs: list[AmrGraph], ours: list[Translation], python: Path, examples: int) -> dict[str, Any]:
    """Run the other tool over the same graphs, and count what both say, category by category."""
    start = time.perf_counter()
    sent = "".join(json.dumps(_penman(graph)) + "\n" for graph in graphs)
    done = subprocess.run([python, "-c", ORACLE], input=sent, capture_output=True, text=True, check=False)
    rows = [json.loads(line[3:]) for line in done.stdout.splitlines() if line.startswith("ROW")]
    seconds = time.perf_counter() - start
    totals: dict[str, list[Counter[str]]] = {}
    usable = 0
    for one, row in zip(ours, rows, strict=True):
        theirs = _parsed(row.get("nt"))
        if theirs is None:
            continue
        usable += 1
        mine, yours = facts(_graph_of(one)), facts(theirs)
        for kind in mine.keys() | yours.keys():
            first, second = mine.get(kind, Counter()), yours.get(kind, Counter())
            both = totals.setdefault(kind, [Counter(), Counter(), Counter()])
            for place, found in enumerate((first & second, first - second, second - first)):
                both[place].update(found)
    return {
        "seconds": round(seconds, 1),
        "its_errors": dict(Counter(row["error"][:80] for row in rows if "error" in row)),
        "compared": usable,
        "categories": {kind: _row(*totals[kind], examples) for kind in sorted(totals)},
    }


def _row(both: Counter[str], mine: Counter[str], theirs: Counter[str], examples: int) -> dict[str, Any]:
    return {
        "both": both.total(),
        "only_ours": mine.total(),
        "only_theirs": theirs.total(),
        "ours_for_example": [f"{fact} x{n}" for fact, n in mine.most_common(examples)],
        "theirs_for_example": [f"{fact} x{n}" for fact, n in theirs.most_common(examples)],
    }


def facts(graph: Graph) -> Facts:
    """Return what a translation says, by category."""
    kind_of = _kinds(graph)
    found: Facts = {}

    def note(category: str, fact: str) -> None:
        found.setdefault(category, Counter())[fact] += 1

    for kinds in kind_of.values():
        note("event" if re.search(r"-\d+$", kinds[0]) else "class of a thing", kinds[0])
    for value in graph.objects(None, URIRef("https://schema.org/name")):
        note("name", str(value).replace("_", " "))
    for subject, predicate, value in graph:
        if isinstance(subject, BNode) or isinstance(value, BNode):
            continue
        category, fact = _fact(subject, predicate, value, lambda term: kind_of.get(term, ("?",))[0])
        if category and (subject in kind_of or category == "top class"):
            note(category, fact)
    return found


def _fact(subject: Any, predicate: Any, value: Any, kind: Callable[[Any], str]) -> tuple[str, str]:
    """Return the category of a triple and the fact in short, both empty for what is not compared."""
    name = re.split(r"[#/:]", str(predicate))[-1]
    if str(predicate).startswith(BOXING):
        return {"hasTruthValue": "truth value", "hasModality": "modality"}.get(
            name, ""
        ), f"{kind(subject)} {_last(value)}"
    if str(predicate).startswith(QUANT):
        return "quantifier or determiner", f"{kind(subject)} {_last(value)}"
    if str(predicate) == DUL + "hasDataValue":
        return "number", f"{kind(subject)} {_number(value)}"
    if str(predicate) == DUL + "hasQuality":
        return "quality", f"{kind(subject)} {kind(value)}"
    if str(predicate) == DUL + "hasMember":
        return "member of a coordination", f"{kind(subject)} {kind(value)}"
    if predicate == OWL.sameAs and "dbpedia" in str(value):
        return "identity", _last(value)
    if predicate == RDFS.subClassOf and str(value).startswith(DUL):
        return "top class", f"{_plain(_last(subject))} {_last(value)}"
    if str(predicate).startswith(VERBNET):
        return "place, time, manner, ...", f"{kind(subject)} {name} {kind(value)}"
    if name in ("inYear", "inMonth", "onDay", "year", "month", "day") and isinstance(value, Literal):
        return "date", f"{re.sub('^(in|on)', '', name).lower()} {_number(value)}"
    if re.fullmatch(r"ARG\d|[\w.-]+-\d+\.[\w.,'-]+", name) or "/LocalRole/" in str(predicate):
        return "role of an event (what it connects)", f"{kind(subject)} {kind(value)}"
    if name in ("entity", "attribute", "degree", "comparedTo", "firstParty", "secondParty", "role", "officeHolder"):
        return "role of an event (what it connects)", f"{kind(subject)} {kind(value)}"
    if name == "poss":
        return "possession", f"{kind(subject)} {kind(value)}"
    return "", ""


def _kinds(graph: Graph) -> dict[Any, tuple[str, ...]]:
    """Return the kinds of every individual, the main one first: its frame, else its widest class of the sentence."""
    rolesets = {s: _last(o) for s, o in graph.subject_objects(OWL.equivalentClass) if str(o).startswith(ROLESETS)}
    narrow = {s for s, o in graph.subject_objects(RDFS.subClassOf) if not str(o).startswith((DUL, BOXING))}
    found: dict[Any, tuple[str, ...]] = {}
    for subject in set(graph.subjects(RDF.type)):
        kinds = [o for o in graph.objects(subject, RDF.type) if not str(o).startswith(BUILT_IN)]
        kinds = [o for o in kinds if isinstance(o, URIRef) and not str(o).endswith("Sentence")]
        if kinds:
            ordered = sorted(kinds, key=lambda kind: (kind in narrow, str(kind)))
            found[subject] = tuple(rolesets.get(kind) or _roleset(kind) or _plain(_last(kind)) for kind in ordered)
    return found


def _roleset(kind: Any) -> str:
    return _last(kind) if str(kind).startswith(ROLESETS) else ""


PLAIN = {"neuter": "entity", "conjunct": "and", "disjunct": "or", "unknown": "amrunknown"}
"""Names of the same thing in the two tools."""


def _plain(name: str) -> str:
    bare = re.sub(r"[^a-z0-9]", "", name.lower())
    return PLAIN.get(bare, bare)


def _last(term: Any) -> str:
    return re.split(r"[#/]|amr:", str(term))[-1]


def _number(value: Any) -> str:
    try:
        return f"{float(value):g}"
    except (TypeError, ValueError):
        return str(value)


def _parsed(text: str | None) -> Graph | None:
    if not text:
        return None
    graph = Graph()
    try:
        graph.parse(data=text, format="nt")
    except Exception:  # noqa: BLE001  what it wrote is no RDF; counted by its absence
        return None
    return graph


def _graph_of(one: Translation) -> Graph:
    graph = Graph()
    graph.parse(data=amr_to_turtle([one]), format="turtle")
    return graph


def _penman(graph: AmrGraph) -> str:
    """Return a graph in PENMAN notation as the other tool was sent it: triples written out from the top."""
    import penman

    triples = [(node.variable, ":instance", node.concept) for node in graph.nodes.values()]
    for edge in graph.edges:
        quoted = edge.constant and not re.fullmatch(r"[-+]|[+-]?\d+(?:\.\d+)?|[a-z-]+", edge.target)
        triples.append((edge.source, f":{edge.role}", f'"{edge.target}"' if quoted else edge.target))
    return str(penman.encode(penman.Graph(triples, top=graph.top), indent=None))


def _base(graph: AmrGraph) -> str:
    return f"urn:doxa:amr:{graph.metadata['id']}#"


def _own(one: Translation) -> int:
    """Count the triples that are no declarations."""
    return sum(not _declares(triple) for triple in one.triples)


def _declares(triple: Any) -> bool:
    return triple.predicate.value == str(RDF.type) and str(getattr(triple.object, "value", "")).startswith(str(OWL))


def _lexicon() -> Lexicon | None:
    try:
        found: Lexicon = load("lexicon", "wordnet")
    except BackendUnavailableError as exc:
        print(exc, file=sys.stderr)
        return None
    return found


if __name__ == "__main__":
    main()
