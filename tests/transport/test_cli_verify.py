"""`doxa verify`: whether what is believed can all hold."""

import pytest

SAID = [
    ("1", "2024-03-02T09:00:00", "user", "Ana", "I live in Lisbon. My sister is Mia."),
    ("2", "2024-03-03T09:00:00", "user", "Ana", "I am married to Tom."),
]
NO_SISTERS = """
@prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix d: <urn:doxa:vocabulary#> .
d:Person owl:equivalentClass [ owl:onProperty d:sister ;
    owl:maxCardinality "0"^^<http://www.w3.org/2001/XMLSchema#nonNegativeInteger> ] .
"""
"""An axiom that the inventory has no place for: nobody who is a person has a sister."""


def test_a_memory_that_agrees_with_the_ontology_is_consistent(cli):
    cli("ingest", cli.transcript(SAID[:1]), "--user", "ana")
    done = cli("verify", "--user", "ana")
    assert done.exit_code == 0 and "Consistent by OWL 2 RL: 2 facts, and" in done.stdout
    found = cli.json("verify", "--user", "ana")
    assert (found["consistent"], found["method"], found["facts"]) == (True, "owl-rl", 2)


def test_a_clash_is_told_with_its_facts(cli, monkeypatch):
    """By the axioms of a configured file; with an exit code of its own, so that a script can tell it from an error."""
    monkeypatch.setenv("DOXA_ONTOLOGY", str(cli.file("more.ttl", NO_SISTERS)))
    cli("ingest", cli.transcript(SAID), "--user", "ana")
    done = cli("verify", "--user", "ana")
    assert done.exit_code == 3 and "cannot both hold" in done.stdout
    (clash,) = cli.json("verify", "--user", "ana", code=3)["inconsistencies"]
    assert clash["rule"] == "cls-maxc1"
    assert {fact["relation"] for fact in clash["facts"]} == {"sister", "is married to"}
    assert all(fact["fact_id"] in done.stdout for fact in clash["facts"])


def test_what_follows_is_listed_and_explained(cli):
    """With the sentences that show it and the turn that it rests on; it is gone with that turn."""
    cli("ingest", cli.transcript(SAID[:1]), "--user", "ana")
    found = {(f["subject"], f["relation"], f["object"]): f for f in cli.json("facts", "--inferred", "--user", "ana")}
    sibling = found["Mia", "sibling", "Ana"]
    assert ("Mia", "is", "a living being") in found and ("Mia", "is", "an agent") not in found
    assert "Mia's sibling is Ana" in cli("facts", "--inferred", "--user", "ana").stdout
    why = cli("why", sibling["fact_id"], "--user", "ana").stdout
    assert "because Ana's sibling is Mia: “sibling” goes both ways" in why and "My sister is Mia" in why
    cli("withdraw", "1", "--user", "ana")
    assert cli.json("facts", "--inferred", "--user", "ana") == []
    assert "follows now" in cli("why", sibling["fact_id"], "--user", "ana").stderr


def test_what_follows_takes_no_other_options(cli):
    cli("ingest", cli.transcript(SAID[:1]), "--user", "ana")
    assert cli("facts", "--inferred", "--all", "--user", "ana").exit_code == 1


def test_dl_without_java_is_an_error_that_says_what_to_install(cli, monkeypatch):
    pytest.importorskip("owlready2")
    cli("ingest", cli.transcript(SAID), "--user", "ana")
    monkeypatch.setenv("PATH", str(cli.folder))
    done = cli("verify", "--dl", "--user", "ana")
    assert done.exit_code == 1 and "default-jre" in done.stderr and "without --dl" in done.stderr
    found = cli.json("doctor", "--offline")
    state = {check["name"]: check["state"] for check in found["checks"]}
    assert found["works"] and state["OWL 2 DL"] == "off" and state["extra dl"] == "ok"


def test_doctor_names_the_reasoner(cli, monkeypatch):
    """Where there is one."""
    pytest.importorskip("owlready2")
    java = cli.file("java", "")
    java.chmod(0o755)
    monkeypatch.setenv("PATH", str(cli.folder))
    checks = {check["name"]: check for check in cli.json("doctor")["checks"]}
    assert checks["OWL 2 DL"]["state"] == "ok" and "HermiT" in checks["OWL 2 DL"]["detail"]
