"""Requests made from the OpenAPI page, right and wrong: no answer is 5xx, and all are of the shape promised."""

import json
import random
import re
from urllib.parse import quote

import jsonschema
import pytest
from fastapi import FastAPI
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

ROUNDS = 6
WORDS = [
    *("Ana", "Bonn", "t1", "t3", "n1", "lives_in", "2024-03-10", "9999-12-31", "Where do I live?", "I moved to Oslo."),
    *("", " ", "0", "null", "a/b", "%2F..%2F", "日本語", "\x00", "\ud83d!", "x" * 300, "SELECT ?s WHERE { ?s ?p ?o }"),
]
SLOW = {"learn", "verify", "listConcepts"}


class Maker:
    """Makes values of a JSON schema, now and then of another one."""

    def __init__(self, page, seed):
        self.page, self.chance = page, random.Random(seed)

    def value(self, schema, depth=0):
        chance = self.chance
        if chance.random() < 0.06:
            return chance.choice([None, 7, -1, 1e308, float("nan"), "x", [], {}, True, [[]], {"a": {}}])
        if "$ref" in schema:
            return self.value(self.page["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]], depth + 1)
        for key in ("anyOf", "oneOf"):
            if key in schema:
                return self.value(chance.choice(schema[key]), depth + 1)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return chance.choice(schema["enum"])
        made = {
            "string": lambda: chance.choice([*WORDS, *map(str, schema.get("examples", []))]),
            "integer": lambda: chance.choice([0, 1, 2, 50, 10**12, schema.get("minimum", 3)]),
            "number": lambda: chance.choice([0, 0.5, 1, -3.2, 60]),
            "boolean": lambda: chance.random() < 0.5,
            "null": lambda: None,
            "array": lambda: [self.value(schema.get("items", {}), depth + 1) for _ in range(chance.randrange(1, 3))],
            "object": lambda: self.fields(schema, depth),
        }
        return made[schema.get("type", "string")]()

    def fields(self, schema, depth):
        needed = schema.get("required", [])
        data = {
            name: self.value(one, depth + 1)
            for name, one in schema.get("properties", {}).items()
            if (name in needed and self.chance.random() < 0.97) or self.chance.random() < 0.4
        }
        return data | ({"surprise": 1} if self.chance.random() < 0.03 else {})

    def request(self, path, operation):
        query = {}
        for parameter in operation.get("parameters", ()):
            name, needed = parameter["name"], parameter["required"]
            value = self.value(parameter["schema"])
            if parameter["in"] == "path":
                path = re.sub(rf"\{{{name}\}}", lambda _, v=value: quote(str(v), safe="", errors="replace"), path)
            elif parameter["in"] == "query" and (needed or self.chance.random() < 0.4) and value is not None:
                query[name] = str(value).encode("utf-8", "replace").decode()
        body = operation.get("requestBody")
        if body is None:
            return path, query, {}, None
        if "application/json" not in body["content"]:
            return (
                path,
                query,
                {},
                self.chance.choice([b"", b"{", b'{"format": "doxa-export/1"}\n{"kind": 1}', b"\xff"]),
            )
        data = self.value(body["content"]["application/json"]["schema"])
        return path, query, {"Content-Type": "application/json"}, json.dumps(data).encode()


@pytest.fixture(scope="module")
def page(app: FastAPI):
    return app.openapi()


def told_of(page, operation):
    """Return the responses of an operation, those that are told elsewhere too."""
    shared = page["components"]["responses"]
    told = operation["responses"].items()
    return {status: shared[one["$ref"].rsplit("/", 1)[1]] if "$ref" in one else one for status, one in told}


def schema_of(page):
    registry = Registry().with_resource("urn:page", Resource(contents=page, specification=DRAFT202012))

    def check(answer, operation):
        told = told_of(page, operation).get(str(answer.status_code))
        assert told is not None, (operation["operationId"], answer.status_code, answer.text)
        media = answer.headers.get("content-type", "").partition(";")[0]
        assert media in told["content"] or not told.get("content"), (operation["operationId"], media)
        if media.endswith("json") and "$ref" in told["content"][media]["schema"]:
            reference = {"$ref": f"urn:page{told['content'][media]['schema']['$ref']}"}
            jsonschema.Draft202012Validator(reference, registry=registry).validate(answer.json())

    return check


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_no_request_breaks_the_server(ana, page, seed):
    """Every answer is one that the page promises."""
    maker, check = Maker(page, seed), schema_of(page)
    operations = [
        (method, path, operation)
        for path, methods in page["paths"].items()
        for method, operation in methods.items()
        if path.startswith("/v1/memory") and (seed == 0 or operation["operationId"] not in SLOW)
    ]
    maker.chance.shuffle(operations)
    for method, path, operation in operations:
        where, query, headers, content = maker.request(path, operation)
        answer = ana.http.request(method, where, params=query, headers=headers, content=content)
        assert answer.status_code < 500, (operation["operationId"], where, query, content, answer.text)
        check(answer, operation)
