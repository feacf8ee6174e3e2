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


SERVED = textwrap.dedent(
    """
    import json
    import signal
    import sys
    import threading
    import urllib.request

    outside = []

    def watch(event, args):
        if event in ("socket.connect", "socket.bind", "socket.sendto", "socket.getaddrinfo"):
            place = args[0] if event == "socket.getaddrinfo" else args[1]
            host = place[0] if isinstance(place, tuple) else place
            if host not in ("127.0.0.1", "::1", "localhost", None) and not str(host).startswith("/"):
                outside.append((event, str(host)))

    sys.addaudithook(watch)

    from doxa.core.config import Config, ServerConfig
    from doxa.engine import Doxa
    from doxa.transport.http import application, serve

    settings = ServerConfig(port=0, open=True)

    def ask(address):
        def post(path, body):
            headers = {"Doxa-User": "ana", "Content-Type": "application/json"}
            request = urllib.request.Request(address + path, json.dumps(body).encode(), headers)
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.loads(answer.read())

        try:
            post("/v1/memory/turns?wait=true", {"turns": [{"text": "I live in Lisbon."}]})
            print("asked:", post("/v1/memory/ask", {"text": "Where do I live?"})["value"])
            said = {"model": "doxa", "messages": [{"role": "user", "content": "Where do I live?"}]}
            print("chat:", post("/openai/v1/chat/completions", said)["choices"][0]["message"]["content"])
        finally:
            signal.raise_signal(signal.SIGTERM)

    with Doxa.open(":memory:", config=Config(server=settings)) as doxa:
        started = lambda address: threading.Thread(target=ask, args=(address,)).start()
        serve(application(doxa, settings), settings, started=started)
    print("outside:", outside)
    """
)


def test_a_server_reaches_for_nothing_but_this_machine(tmp_path):
    """Turns, questions and the proxy without an upstream, in a process of its own."""
    done = subprocess.run([sys.executable, "-c", SERVED], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "asked: Lisbon" in done.stdout and "chat: You live in Lisbon." in done.stdout
    assert done.stdout.rstrip().endswith("outside: []")
