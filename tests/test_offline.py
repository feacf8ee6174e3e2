"""Offline means offline: no socket is opened, not even to this machine."""

import subprocess
import sys
import textwrap

SCRIPT = textwrap.dedent(
    """
    import sys

    opened = []
    sys.addaudithook(lambda event, _: opened.append(event) if event in ("socket.__new__", "socket.connect") else None)

    from doxa.transport.cli import main

    sys.argv = ["doxa", "demo", "--quiet"]
    try:
        main()
    except SystemExit as stop:
        assert not stop.code, stop.code
    from doxa import Doxa

    with Doxa.open(":memory:") as doxa:
        chat = doxa.dialogue(user="ana")
        chat.respond("I live in Lisbon.")
        assert chat.ask("Where do I live?").value == "Lisbon"
        assert doxa.memory(user="ana").search("Lisbon")
    print("opened:", opened)
    """
)


def test_the_demo_and_a_dialogue_open_no_socket(tmp_path):
    """The whole way from a transcript to answers, with the built-in models, in a process of its own."""
    done = subprocess.run([sys.executable, "-c", SCRIPT], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.rstrip().endswith("opened: []")
