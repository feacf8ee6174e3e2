"""Write the OpenAPI page of Doxa's own interface, which the clients here are made from, to standard output.

It is what the server tells under /openapi.json, less the interfaces of others (they have clients of their own).
"""

import json
import sys
from typing import Any

from doxa import Doxa
from doxa.core.config import Config, EncoderConfig
from doxa.transport.http import application

OWN = "/v1/memory"


def own_page() -> dict[str, Any]:
    """Return the page with the paths under /v1/memory and the models that they use."""
    with Doxa.open(":memory:", config=Config(encoder=EncoderConfig(name="hash"))) as doxa:
        page = application(doxa).openapi()
    paths = {path: operations for path, operations in page["paths"].items() if path.startswith(OWN)}
    tags = {tag for operations in paths.values() for operation in operations.values() for tag in operation["tags"]}
    schemas, used = page["components"]["schemas"], set[str]()
    waiting = ["Problem", *sorted(_named(paths))]
    while waiting:
        name = waiting.pop()
        if name not in used:
            used.add(name)
            waiting += _named(schemas[name])
    components = page["components"] | {"schemas": {name: schemas[name] for name in sorted(used)}}
    named = [tag for tag in page["tags"] if tag["name"] in tags]
    return page | {"paths": paths, "components": components, "tags": named}


def _named(part: Any) -> set[str]:
    """Return the names of the models that a part of the page refers to."""
    if isinstance(part, list):
        return set().union(*map(_named, part)) if part else set()
    if not isinstance(part, dict):
        return set()
    reference = str(part.get("$ref", ""))
    own = {reference.rsplit("/", 1)[1]} if "/schemas/" in reference else set()
    return own.union(*map(_named, part.values()))


if __name__ == "__main__":
    json.dump(own_page(), sys.stdout, indent=1, ensure_ascii=False)
    sys.stdout.write("\n")
