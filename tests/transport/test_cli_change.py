import json


def objects(cli) -> set[str]:
    return {fact["object"] for fact in cli.json("facts")}


def fact_of(cli, *, object: str) -> str:
    return next(fact["fact_id"] for fact in cli.json("facts", "--all") if fact["object"] == object)


def test_retracting_a_fact_brings_back_what_it_displaced(ana):
    """With the reason in its history."""
    changes = ana.json("retract", fact_of(ana, object="Bonn"), "--reason", "a joke")
    assert {change["kind"] for change in changes} == {"retract", "restore"}
    assert "Lisbon" in objects(ana) and "Bonn" not in objects(ana)
    assert "a joke" in ana("history", "Ana", "lives in").stdout


def test_accepting_a_fact_believes_it_again(ana):
    """What is believed already stays as it is, and what is over is refused."""
    bonn = fact_of(ana, object="Bonn")
    ana("retract", bonn)
    assert {change["kind"] for change in ana.json("what-if", "--accept", bonn)} == {"restore", "close"}
    shown = ana("accept", bonn, "--reason", "the passport has it").stdout
    assert shown.startswith(f"Accepted {bonn}.") and "Bonn" in objects(ana)
    assert "accepted by hand: the passport has it" in ana("history", "Ana", "lives in").stdout
    assert ana("accept", bonn).stdout == f"{bonn} is believed already.\n"
    assert ana("accept", fact_of(ana, object="Lisbon")).exit_code == 1
    ana("undo")
    assert "Bonn" not in objects(ana)


def test_disputed_facts_are_kept_beside_each_other(cli):
    """All of them are named, in a preview as well."""
    said = ("The estate agent says the house has 142 square metres.", "The plan says the house has 136 square metres.")
    turns = [(f"D1:{place}", "2024-03-02T09:00:00", "user", "Ana", text) for place, text in enumerate(said, start=1)]
    cli("ingest", cli.transcript(turns))
    one, other = [fact["fact_id"] for fact in cli.json("facts") if fact["disputed"]]
    assert len(cli.json("what-if", "--keep-both", one, "--keep-both", other)) == 2
    assert cli("keep-both", one).exit_code == 1
    assert cli("keep-both", one, other).stdout.startswith(f"Kept {one}, {other}.")
    assert [fact["disputed"] for fact in cli.json("facts")] == [False, False]


def test_withdrawing_a_turn_takes_back_what_rests_on_it(ana):
    """Its text stays."""
    assert ana("withdraw", "D2:1").exit_code == 0
    assert "Lisbon" in objects(ana)
    assert ana.json("stats")["turns"] == 4


def test_withdrawing_a_source_takes_back_all_that_it_said(ana):
    """Whoever spoke; its text stays, and one command takes it back."""
    before = objects(ana)
    assert ana("withdraw", "--source", "Ana", "--reason", "she was joking").stdout.startswith("Withdrew Ana.")
    assert objects(ana) == set() and "she was joking" in ana("history", "Ana").stdout
    assert ana("withdraw").exit_code == 1 and ana("withdraw", "D2:1", "--source", "Ana").exit_code == 1
    assert ana("undo").stdout.startswith("Undone.")
    assert objects(ana) == before
    ana("undo")
    assert "Lisbon" in objects(ana)


def test_a_preview_changes_nothing(ana):
    """In words and as JSON; what is asked for in two ways is an error."""
    before = objects(ana)
    shown = ana("what-if", "--say", "I moved to Oslo.").stdout
    assert shown.startswith("This would follow:") and "Oslo" in shown and "no longer:" in shown
    assert {change["kind"] for change in ana.json("what-if", "--withdraw", "D2:1")} >= {"retract", "restore"}
    assert ana("what-if", "--say", "Hello!").stdout == "No fact would change.\n"
    assert ana("what-if", "--say", "x", "--withdraw", "D2:1").exit_code == 1
    assert objects(ana) == before


def test_unknown_ids_are_errors(ana):
    """Nothing changes."""
    assert ana("withdraw", "D9:9").exit_code == 1
    assert ana("retract", "f1_nope").exit_code == 1
    assert ana("forget", "--turn", "D9:9", "--yes").exit_code == 1
    assert "Bonn" in objects(ana)


def test_forgetting_leaves_a_certificate_and_no_text(ana):
    """It says what was removed, and repeats none of it."""
    certificate = ana.json("forget", "--turn", "D1:3", "--yes")
    assert certificate["turn_ids"] == ["D1:3"]
    assert certificate["digest"]
    assert "Siemens" not in json.dumps(certificate)
    assert "Siemens" not in objects(ana)


def test_forgetting_everything_empties_the_memory(ana):
    """Printed in words."""
    done = ana("forget", "--everything", "--yes")
    assert done.stdout.startswith("Erased for user ana: 4 turns")
    assert ana.json("facts") == []


def test_erasing_nobody_is_no_success(ana):
    """Another spelling of a name would look like an erasure."""
    done = ana("forget", "--everything", "--yes", "--user", "Ana")
    assert done.exit_code == 1 and "nothing of user 'Ana'" in done.stderr
    assert ana.json("stats")["turns"] == 4


def test_forgetting_asks_first(ana):
    """Where nobody can answer, nothing is erased."""
    done = ana("forget", "--everything")
    assert done.exit_code == 1
    assert "--yes" in done.stderr
    assert ana.json("stats")["turns"] == 4


def test_forgetting_needs_one_thing_to_forget(ana):
    """Neither and both are errors."""
    assert ana("forget").exit_code == 1
    assert ana("forget", "--turn", "D1:1", "--everything").exit_code == 1


def test_an_export_can_be_imported(ana):
    """Into another file, once."""
    assert ana.json("export", "out.jsonl")["format"] == "jsonl"
    assert ana.json("import", "out.jsonl", "--db", "other.db")["turns"] == 4
    assert ana.json("import", "out.jsonl", "--db", "other.db")["turns"] == 0
    assert ana.json("facts", "--db", "other.db") == ana.json("facts")


def test_an_export_is_not_written_over_by_accident(ana):
    """--force does it."""
    ana.file("out.jsonl", "mine")
    assert ana("export", "out.jsonl").exit_code == 1
    assert (ana.folder / "out.jsonl").read_text() == "mine"
    assert ana("export", "out.jsonl", "--force").exit_code == 0


def test_an_unknown_user_is_not_written_over_a_backup(ana):
    """A slip in --user would leave an empty file where the backup was."""
    backup = ana.file("out.jsonl", "mine")
    done = ana("export", backup, "--force", "--user", "anna")
    assert done.exit_code == 1
    assert "Choose another with --user: ana" in done.stderr
    assert backup.read_text() == "mine"


def test_the_format_follows_the_name(ana):
    """An unknown ending needs --format."""
    assert ana.json("export", "out.ttl")["format"] == "turtle"
    assert ana.json("export", "out.md")["format"] == "markdown"
    assert ana("export", "out.foo").exit_code == 1
    assert ana.json("export", "out.foo", "--format", "markdown")["format"] == "markdown"


def test_importing_something_else_is_an_error(cli):
    """A missing file and a foreign one."""
    assert cli("import", "none.jsonl").exit_code == 1
    assert not cli.db.exists()
    assert cli("import", cli.file("list.jsonl", '{"milk": 2}\n')).exit_code == 1


def test_names_are_joined_and_told_apart_by_hand(ana):
    """What is joined shows in the list of names, with the reason in the history; the split undoes it."""
    assert {change["kind"] for change in ana.json("merge", "Lisbon", "Siemens", "--reason", "one")} >= {"merge"}
    joined = {entity["label"]: entity["aliases"] for entity in ana.json("entities")}
    assert ["Siemens"] in joined.values() or ["Lisbon"] in joined.values()
    assert ana("entities").exit_code == 0 and "Siemens" in ana("entities").stdout
    assert ana("split", "Lisbon", "Siemens").exit_code == 0
    assert all(entity["aliases"] == [] for entity in ana.json("entities"))
    assert ana("merge", "Lisbon", "nobody").exit_code == 1
