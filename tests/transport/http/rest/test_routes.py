"""What holds for every route of Doxa's own interface, taken from the application, so that no new one is forgotten."""

import re
from importlib.metadata import version

import pytest
from fastapi.testclient import TestClient

from doxa.core.access import RIGHTS
from doxa.transport.http.telling import declared

METHODS = ("get", "post", "put", "patch", "delete")


@pytest.fixture(scope="module")
def page(app):
    return app.openapi()


@pytest.fixture(scope="module")
def operations(page):
    """Every operation under /v1/memory: method, path, what the page says of it."""
    found = [
        (method, path, operation)
        for path, methods in page["paths"].items()
        for method, operation in methods.items()
        if path.startswith("/v1/memory")
    ]
    assert len(found) > 45
    return found


def filled(path):
    """Return a path with ids in it."""
    return re.sub(r"\{\w+\}", "some-id", path)


def rights_of(operation):
    return {right for needed in operation["security"] for right in needed["key"]}


def test_no_route_answers_without_a_key(app, operations):
    """401, with the way to present one."""
    http = TestClient(app)
    for method, path, operation in operations:
        answer = http.request(method, filled(path))
        assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer"), operation["operationId"]
        assert answer.json()["type"] == "urn:doxa:unauthorized"


def test_no_route_answers_a_key_that_was_made_up(app, operations):
    """It is as if there were none."""
    http = TestClient(app, headers={"Authorization": f"Bearer doxa_{'0' * 12}_{'x' * 43}"})
    assert {http.request(method, filled(path)).status_code for method, path, _ in operations} == {401}


def test_every_route_needs_a_right_and_is_closed_to_keys_that_have_all_others(make, operations):
    """403, before anything of the request is looked at."""
    assert all(rights_of(operation) for _, _, operation in operations)
    assert {right for _, _, operation in operations for right in rights_of(operation)} == set(RIGHTS)
    lacking = {right: make(rights=[one for one in RIGHTS if one != right]) for right in RIGHTS}
    for method, path, operation in operations:
        for right in rights_of(operation):
            answer = lacking[right].http.request(method, filled(path))
            assert answer.status_code == 403, (operation["operationId"], right, answer.text)
            assert answer.json()["type"] == "urn:doxa:forbidden"


def test_every_route_is_closed_to_the_key_of_another_user(make, operations):
    """The header names whose memory is meant, and the key does not open it."""
    stranger = make(rights=RIGHTS)
    stranger.http.headers["Doxa-User"] = make().user
    for method, path, operation in operations:
        if operation["operationId"] != "listUsers":  # it tells of no memory
            assert stranger.http.request(method, filled(path)).status_code == 403, operation["operationId"]


def test_every_route_refuses_a_parameter_that_it_does_not_know(client, operations):
    """The problem names it and those that are known."""
    for method, path, operation in operations:
        answer = client.http.request(method, filled(path), params={"as_off": "2024"})
        assert answer.status_code == 422, operation["operationId"]
        assert any(field["where"] == "as_off" for field in answer.json()["fields"]), operation["operationId"]


def test_every_write_can_be_waited_for(operations):
    """`wait=true` is known to all that change what is believed, but for those that always wait."""
    always = {"learn", "refresh", "rollBack", "tellTasks", "importMemory"}
    writes = [one for _, _, one in operations if "write" in rights_of(one) and one["operationId"] not in always]
    for operation in writes:
        assert "wait" in {parameter["name"] for parameter in operation["parameters"]}, operation["operationId"]


def test_every_read_of_the_log_is_conditional(operations):
    """What is kept beside the log has no ETag, and says so."""
    beside = {"listAnswers", "whyAnswered", "learned", "drift", "listUsers"}
    for method, _, operation in operations:
        if method == "get" and operation["operationId"] not in beside:
            names = {parameter["name"] for parameter in operation["parameters"]}
            assert "If-None-Match" in names, operation["operationId"]


def test_the_page_says_what_comes_back_and_what_goes_wrong(page, operations):
    """A model for every answer, problems as problem+json, and ids of operations that stay."""
    ids = [operation["operationId"] for _, _, operation in operations]
    assert len(set(ids)) == len(ids) and all(re.fullmatch(r"[a-z][A-Za-z]+", one) for one in ids)
    for _, path, operation in operations:
        success = next(answer for status, answer in operation["responses"].items() if status.startswith("2"))
        assert success["content"], path
        problems = {status for status in operation["responses"] if status >= "4"}
        assert problems >= {"400", "401", "403", "404", "413", "422", "429", "503"}
        for status in problems:
            told = operation["responses"][status]
            told = page["components"]["responses"][told["$ref"].rsplit("/", 1)[1]] if "$ref" in told else told
            assert list(told["content"]) == ["application/problem+json"], (path, status)
        assert operation["summary"] and operation["description"] and operation["tags"], path
    assert page["components"]["securitySchemes"]["key"]["scheme"] == "bearer"
    assert page["info"]["version"] == version("doxa")
    assert {tag for _, _, one in operations for tag in one["tags"]} <= {tag["name"] for tag in page["tags"]}


def test_a_path_is_counted_as_it_is_declared(ana):
    """With its prefix and without an id, so that there are only so many of them."""
    ana.get("/turns/t1")
    ana.get("/turns/none", 404)
    counted = set(re.findall(r'path="([^"]+)"', ana.http.get("/metrics").text))
    assert "/v1/memory/turns/{turn_id}" in counted
    assert not any("t1" in path or path.endswith("/none") for path in counted)


def test_a_path_that_nobody_declared_is_counted_as_none(client):
    """Whatever is asked for, it is one series."""
    client.get("/nothing/like/it", 404)
    assert 'path="(none)"' in client.http.get("/metrics").text
    assert declared({"type": "http"}) is None
