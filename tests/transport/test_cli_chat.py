import json


def test_chat_remembers_and_answers(cli):
    """From a pipe, one message per line."""
    done = cli("chat", input="I live in Rome.\nWhere do I live?\n")
    assert done.exit_code == 0
    assert "Rome" in done.stdout.split("\n\n")[1]
    assert {fact["object"] for fact in cli.json("facts")} == {"Rome"}


def test_chat_speaks_json_lines(cli):
    """One object per message."""
    done = cli("chat", "--json", input="I live in Rome.\n/facts\n/nope\n")
    reply, facts, error = map(json.loads, done.stdout.splitlines())
    assert "text" in reply
    assert facts[0]["object"] == "Rome"
    assert error["error"]["type"] == "InputError"


def test_chat_shows_background_under_the_reply(cli, monkeypatch):
    """Once, and in JSON as a field of its own."""
    base = cli.folder / "base"
    made = cli("kb", "build", cli.file("facts.txt", "Marathons are long races.\nRunners need water.\n"), "--to", base)
    assert made.exit_code == 0, made.output
    monkeypatch.setenv("DOXA_COMMONSENSE_BASE", str(base))
    monkeypatch.setenv("DOXA_COMMONSENSE_K", "1")
    monkeypatch.setenv("DOXA_NLI", "none")
    monkeypatch.setenv("DOXA_COMMONSENSE_LEAST", "0")
    (reply,) = map(json.loads, cli("chat", "--json", input="I run marathons.\n").stdout.splitlines())
    (one,) = reply["background"]
    assert cli("chat", input="I run marathons.\n").stdout.count(f"Background: {one['text']}") == 1


def test_chat_looks_behind_the_answers(ana):
    """Facts, reasons, history, search, help."""
    fact = next(fact["fact_id"] for fact in ana.json("facts") if fact["object"] == "Bonn")
    done = ana("chat", input=f"/facts\n/why {fact}\n/history Ana lives in\n/search Siemens\n/help\n")
    for part in ("Siemens", fact, "It took the place of", "no longer: Ana lived in Lisbon", "D1:3", "/undo"):
        assert part in done.stdout


def test_undo_takes_back_the_last_change(ana):
    """What it had displaced is back."""
    done = ana("chat", input="/undo\n")
    assert "again: Ana lives in Lisbon" in done.stdout
    assert "Lisbon" in {fact["object"] for fact in ana.json("facts")}


def test_a_bad_chat_command_does_not_end_the_chat(ana):
    """It says what there is."""
    done = ana("chat", input="/nope\n/why\n/search\n/history\nWhere do I live?\n")
    assert done.exit_code == 0
    assert "/help lists those that there are" in done.stderr
    assert "Bonn" in done.stdout


def test_quit_leaves(ana):
    """What comes after it is not read."""
    assert "Rome" not in ana("chat", input="/quit\nI live in Rome.\n").stdout
    assert ana.json("stats")["turns"] == 4


def test_chat_does_what_is_said_to_the_tasks(cli):
    """What a turn was taken for, what it changed, and the tasks as they are."""
    said = "Plan a dinner for Friday.\nMove it to Saturday.\nI live in Rome.\n/tasks\n"
    opened, moved, fact, shown = cli("chat", input=said).stdout.strip().split("\n\n")
    assert (
        "new" in opened and "+ dinner" in opened and "update" in moved and "~ dinner/day: Friday -> Saturday" in moved
    )
    assert "Rome" in fact and "update" not in fact and "Saturday" in shown and "Friday" not in shown
    lines = cli("chat", "--json", input="When is the dinner?\n/tasks\n").stdout.splitlines()
    reply, tasks = map(json.loads, lines)
    assert reply["intents"] == ["check"] and tasks["state"] == {"dinner/day": "Saturday"}
