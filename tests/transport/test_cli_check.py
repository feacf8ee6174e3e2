"""`doxa check`: a reply against the memory."""

SAID = [("1", "2024-03-02T09:00:00", "user", "Ana", "I live in Lisbon. My rent is 900 euros.")]


def test_a_contradiction_is_told_and_ends_with_exit_code_1(cli):
    """As a linter does, so that a script can stop a reply."""
    cli("ingest", cli.transcript(SAID), "--user", "ana")
    done = cli("check", "You live in Porto. How is it there?", "--user", "ana")
    assert done.exit_code == 1
    assert "✗ You live in Porto." in done.stdout and "Lisbon" in done.stdout and "1 contradiction" in done.stdout


def test_a_reply_that_agrees_ends_with_exit_code_0(cli):
    cli("ingest", cli.transcript(SAID), "--user", "ana")
    found = cli.json("check", "You pay 900 euros of rent. Your rent is 900 euros.", "--user", "ana")
    assert (found["label"], [one["label"] for one in found["sentences"]][-1]) == ("supported", "supported")


def test_the_reply_may_come_from_standard_input(cli):
    cli("ingest", cli.transcript(SAID), "--user", "ana")
    done = cli("check", "--user", "ana", input="Your rent is 700 euros.")
    assert done.exit_code == 1 and "900 euros" in done.stdout


def test_nothing_to_check_is_an_error_that_says_what_to_do(cli):
    done = cli("check", " ", "--user", "ana")
    assert done.exit_code == 1 and "Expected a reply to check" in done.stderr
