"""The OpenAPI page, beyond Doxa's own interface: /openai/v1 and mem0."""

import pytest


@pytest.fixture
def operations(client):
    """The operations of the protocols of others: method, path, what the page says of it."""
    page = client().get("/openapi.json").json()
    return [
        (method, path, operation)
        for path, methods in page["paths"].items()
        for method, operation in methods.items()
        if {"openai", "mem0"} & set(operation["tags"])
    ]


def test_every_operation_says_that_it_needs_a_key(operations):
    """With the rights that it takes, where it takes any."""
    assert len(operations) > 25
    for _, path, operation in operations:
        ((scheme, rights),) = operation["security"][0].items()
        assert scheme == "key" and set(rights) <= {"read", "write", "erase"}, path


def test_what_takes_a_body_says_what_it_holds(operations):
    """A schema with fields, of what is relayed those that Doxa looks at."""
    without = {"/openai/v1/responses/{key}/cancel"}
    for method, path, operation in operations:
        if method in ("post", "put") and path not in without:
            schema = operation["requestBody"]["content"]["application/json"]["schema"]
            assert "$ref" in schema or schema["properties"], path


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("post", "/openai/v1/chat/completions", {"messages": [{"role": "user", "content": "Hello."}]}),
        ("post", "/openai/v1/responses", {"input": "Hello."}),
        ("post", "/v3/memories/add/", {"messages": "I like tea."}),
        ("post", "/v3/memories/search/", {"query": "tea"}),
        ("delete", "/v1/entities/user/ana/", None),
    ],
)
def test_the_rights_of_an_operation_are_those_that_it_takes(client, keys, operations, method, path, body):
    """A key that has all others is refused."""
    (operation,) = [one for how, where, one in operations if how == method and _fits(where, path)]
    for right in operation["security"][0]["key"]:
        rest = [one for one in ("read", "write", "erase") if one != right]
        one = client(keys.add(users=["ana"], rights=rest)[1])
        assert one.request(method, path, **({"json": body} if body else {})).status_code == 403


def _fits(declared, path):
    return declared.replace("{kind}", "user").replace("{name}", "ana") == path
