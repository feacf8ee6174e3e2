import json

import pytest


def fact_of(cli, *, object: str) -> str:
    """Return the id of the fact with an object."""
    return next(fact["fact_id"] for fact in cli.json("facts", "--all") if fact["object"] == object)


def test_an_answer_comes_with_its_source(ana):
    """The turn is quoted with its id, speaker and day."""
    done = ana("ask", "Where do I live?")
    assert done.exit_code == 0
    assert "Bonn" in done.stdout
    assert 'D2:1 Ana, 18 May 2024: "I moved to Bonn on 18 May."' in done.stdout


def test_an_answer_as_json(ana):
    """Everything of the reply, the trace as well."""
    reply = ana.json("ask", "Where do I live?")
    assert reply["value"] == "Bonn"
    assert reply["citations"][0]["turn_id"] == "D2:1"
    assert reply["trace"]["steps"]


@pytest.mark.parametrize("day", ["2024-04-01", "1 April 2024"])
def test_as_of_asks_about_another_day(ana, day):
    """Dates in ISO form and in words."""
    assert ana.json("ask", "Where do I live?", "--as-of", day)["value"] == "Lisbon"


def test_known_at_asks_what_was_believed(ana):
    """A bare day means all of that day."""
    assert ana.json("ask", "Where do I live?", "--known-at", "2024-03-02")["value"] == "Lisbon"
    assert ana.json("ask", "Where do I live?", "--known-at", "2024-05-18")["value"] == "Bonn"


def test_i_is_who_spoke_as_the_user(ana):
    """Whatever the user is called; --speaker says otherwise."""
    ana("ingest", ana.transcript(), "--user", "u-17")
    assert ana.json("ask", "Where do I live?", "--user", "u-17")["value"] == "Bonn"
    assert ana.json("ask", "Where do I live?", "--user", "u-17", "--speaker", "Bo")["abstained"] is True


def test_not_knowing_is_no_error(ana):
    """Exit code 0, and it says so."""
    reply = ana.json("ask", "What is my shoe size?")
    assert reply["abstained"] is True


@pytest.mark.parametrize("date", ["13 Foo", "2024-13-45", "Monday", "5"])
def test_a_bad_date_is_a_clear_error(ana, date):
    """It says what was expected and what came."""
    done = ana("facts", "--as-of", date)
    assert done.exit_code == 1
    assert "such as 2024-07-01" in done.stderr
    assert repr(date) in done.stderr


def test_trace_shows_the_steps(ana):
    """Each with its time."""
    assert "recall" in ana("ask", "Where do I live?", "--trace").stdout


def test_an_empty_question_is_an_error(ana):
    """With an example of one."""
    assert ana("ask", " ").exit_code == 1


def test_facts_show_what_holds_and_all_shows_what_is_over(ana):
    """Ids and turn ids are whole."""
    now, ever = ana("facts").stdout, ana("facts", "--all").stdout
    assert "Bonn" in now and "Lisbon" not in now
    assert "Lisbon" in ever and "superseded" in ever
    assert fact_of(ana, object="Bonn") in now
    assert "D2:1" in now


def test_facts_can_be_narrowed(ana):
    """By subject, relation and day."""
    assert {fact["object"] for fact in ana.json("facts", "--relation", "lives in")} == {"Bonn"}
    assert {fact["object"] for fact in ana.json("facts", "--relation", "lives in", "--as-of", "2024-04-01")} == {
        "Lisbon"
    }
    assert ana.json("facts", "--subject", "Nobody") == []


def test_the_summary_says_what_is_believed(ana):
    """What is over only with --history, and no more than --tokens."""
    shown = ana("summary").stdout
    assert "Ana lives in Bonn" in shown and "Lisbon" not in shown
    assert "Earlier: " in ana("summary", "--history").stdout
    assert ana.json("summary", "where Ana lives", "--tokens", "12")["summary"] == "Ana lives in Bonn since 18 May 2024."
    unknown = ana("summary", "--user", "nobody")
    assert unknown.exit_code == 1 and "Nothing is stored for user 'nobody'" in unknown.stderr


def test_history_tells_what_changed_and_why(ana):
    """By subject and relation, or by fact."""
    kinds = [change["kind"] for change in ana.json("history", "Ana", "lives in")]
    assert kinds[0] == "assert" and "close" in kinds
    assert ana.json("history", fact_of(ana, object="Lisbon"))
    assert "D2:1" in ana("history", "Ana", "lives in").stdout


def test_why_quotes_the_turns(ana):
    """And names what took the fact's place."""
    done = ana("why", fact_of(ana, object="Lisbon"))
    assert 'D1:1 Ana, 2 March 2024: "I live in Lisbon."' in done.stdout
    assert "Its place was taken by" in done.stdout
    assert fact_of(ana, object="Bonn") in done.stdout
    assert "(an update: the world changed)" in done.stdout


def test_why_tells_what_a_fact_follows_from(cli):
    """The premise, the rule in its words, and on the other side what follows."""
    turns = [
        {"speaker": "Ana", "text": "If Zoe passes the test, I get a dog. Zoe passed the test.", "date": "2024-05-20"}
    ]
    cli("ingest", cli.file("said.json", json.dumps(turns)))
    shown = cli("why", fact_of(cli, object="dog")).stdout
    assert "It follows from" in shown and "If Zoe passes the test" in shown and "By the rule" in shown
    assert "What follows from it" in cli("why", fact_of(cli, object="test")).stdout


def test_an_unknown_fact_is_an_error(ana):
    """As JSON too."""
    assert ana.json("why", "f1_nope", code=1)["error"]["type"] == "NotFoundError"


def test_search_finds_turns(ana):
    """Best first, no more than asked for."""
    found = ana.json("search", "Siemens", "-k", "2")
    assert found[0]["turn_ids"] == ["D1:3"]
    assert len(found) <= 2
    shown = ana("search", "Siemens").stdout
    assert "D1:3" in shown and "lexical" in shown
    assert "lexical_near=" not in shown  # two dozen scores a line are for --json
    assert "lexical_near" in found[0]["scores"]


def test_stats_count_and_locate(ana):
    """The place of the memory is part of it."""
    found = ana.json("stats")
    assert found["turns"] == 4
    assert found["users"] == ["ana"]
    assert "memory.db" in json.dumps(found["memory"]["store"])


@pytest.mark.parametrize(
    "command", [("facts", "--all"), ("search", "Lisbon"), ("stats",), ("history", "Ana", "lives in")]
)
def test_pipes_get_plain_text(ana, command):
    """No colours, no markup, no blanks at the end of a line."""
    text = ana(*command).stdout
    assert "\x1b" not in text
    assert not any(line.endswith(" ") for line in text.splitlines())


def test_terminal_commands_in_a_transcript_are_not_passed_on(cli):
    """A turn could otherwise rewrite what the reader sees."""
    cli(
        "ingest", cli.file("evil.jsonl", json.dumps({"role": "user", "content": "I live in Rome. \x1b[2J\x1b]0;x\x07"}))
    )
    done = cli("search", "Rome")
    assert "Rome" in done.stdout and "\x1b" not in done.stdout and "\x07" not in done.stdout


def test_rules_are_listed_with_their_words(cli):
    """In plain words, and as data."""
    path = cli.file("rules.txt", "Ana: Every guest gets a key.\nAna: I live in Oslo.\n")
    cli("ingest", path)
    assert "If X is guest, X gets key" in cli("rules").stdout
    assert "Every guest gets a key" in cli("rules").stdout
    (rule,) = cli.json("rules")
    assert rule["then"][0]["relation"] == "gets" and rule["if_"][0]["subject"] == "?x"


def test_a_sentence_with_several_rules_is_quoted_once(cli):
    path = cli.file("rules.txt", "Ana: Exactly one of Tom and Mia drives.\n")
    cli("ingest", path)
    assert len(cli.json("rules")) > 1 and cli("rules").stdout.count('Ana: "Exactly one of Tom and Mia') == 1


def test_a_relation_that_no_fact_has_is_met_with_one_like_it(ana):
    """A slip in `--relation` is not taken for a fact that is missing."""
    assert "Did you mean lives in?" in ana("facts", "--relation", "livs in").stderr
    assert "Did you mean" not in ana("facts", "--relation", "lives in").stderr
    assert "Did you mean" not in ana("facts", "--relation", "zzz").stderr


def test_without_rules_there_are_none(ana):
    """A line for people, an empty list for programs."""
    assert "No rules." in ana("rules").stdout and ana.json("rules") == []


def test_sparql_gives_a_table_or_the_standard_json(ana):
    """Rows are lines, IRIs are short, and `--as-of` is heard."""
    query = "SELECT ?who ?place { ?who doxa:livesIn ?place }"
    done = ana("sparql", query)
    assert done.exit_code == 0 and "thing:ana" in done.stdout and "thing:bonn" in done.stdout
    bindings = ana.json("sparql", query, "--as-of", "2024-04-01")["results"]["bindings"]
    assert bindings[0]["place"] == {"type": "uri", "value": "urn:doxa:user:ana:thing#lisbon"}
    assert ana("sparql", "ASK { thing:ana doxa:livesIn thing:oslo }").stdout == "no\n"
    assert ana("sparql", "SELECT ?x { ?x doxa:livesIn thing:oslo }").stdout == "No rows.\n"


def test_a_bad_query_is_a_clear_error(ana):
    """It says what is wrong, and where."""
    done = ana("sparql", "SELECT ?x WHERE {")
    assert done.exit_code == 1 and "expected a query" in done.stderr and "1:18" in done.stderr
