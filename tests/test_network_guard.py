"""The guard of conftest.py: loopback is free, everything else is an error."""

import socket

import pytest

ELSEWHERE = "192.0.2.1"  # reserved for documentation, RFC 5737


@pytest.mark.parametrize(
    "leave",
    [
        pytest.param(lambda: socket.create_connection((ELSEWHERE, 80), timeout=0.1), id="tcp"),
        pytest.param(lambda: socket.getaddrinfo("example.org", 443), id="name lookup"),
        pytest.param(lambda: socket.gethostbyname("example.org"), id="old name lookup"),
    ],
)
def test_leaving_the_machine_is_an_error(network_guard, leave):
    with pytest.raises(RuntimeError, match="tests stay on this machine"):
        leave()
    assert network_guard.attempts
    network_guard.attempts.clear()


def test_sending_a_datagram_elsewhere_is_an_error(network_guard):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock, pytest.raises(RuntimeError, match=ELSEWHERE):
        sock.sendto(b"x", (ELSEWHERE, 53))
    network_guard.attempts.clear()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_loopback_is_free(loopback, network_guard, host):
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection((host, server.getsockname()[1]), timeout=5),
    ):
        assert network_guard.attempts == []


def test_unix_sockets_are_free(network_guard, tmp_path):
    with socket.socket(socket.AF_UNIX) as sock:
        sock.bind(str(tmp_path / "s"))
    assert network_guard.attempts == []
