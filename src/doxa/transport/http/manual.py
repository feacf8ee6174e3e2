"""An OpenAPI page -> the same for people: one page of HTML that needs no script and nothing from elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse

__all__ = ["router"]

router = APIRouter(include_in_schema=False)
POLICY = {"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"}
STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
:root { color-scheme: light dark }
code { font: 14px ui-monospace, monospace }
h2 { margin-top: 2.5rem }
details { border-top: 1px solid #8885; padding: .4rem 0 }
summary { cursor: pointer }
summary b { display: inline-block; width: 4.5rem }
table { border-collapse: collapse; margin: .5rem 0 }
td { border: 1px solid #8885; padding: .2rem .6rem; vertical-align: top }
"""
Page = Mapping[str, Any]


@router.get("/")
async def start() -> RedirectResponse:
    """Lead who opens the address of the server to what it offers."""
    return RedirectResponse("/docs")


@router.get("/docs")
async def manual(request: Request) -> HTMLResponse:
    """Tell what the server offers."""
    return HTMLResponse("".join(_written(request.app.openapi())), headers=POLICY)


def _written(page: Page) -> Iterator[str]:
    info, models = page["info"], page["components"]["schemas"]
    yield f"<!doctype html><html lang=en><meta charset=utf-8><title>{escape(info['title'])}</title>"
    yield f"<style>{STYLE}</style>"
    yield f"<h1>{escape(info['title'])} {escape(info['version'])}</h1><p>{escape(info['summary'])}"
    yield "".join(f"<p>{_marked(text)}" for text in info["description"].split("\n\n"))
    yield "<p>For programs: <a href=openapi.json>openapi.json</a>."
    for tag in page["tags"]:
        yield f"<h2 id={escape(tag['name'])}>{escape(tag['name'])}</h2><p>{_marked(tag['description'])}"
        for path, operations in page["paths"].items():
            for method, operation in operations.items():
                if tag["name"] in operation["tags"]:
                    yield from _operation(method, path, operation, models)
    yield "<h2 id=models>models</h2><p>What requests and answers consist of."
    for name, model in models.items():
        yield f"<details id={escape(name)}><summary><code>{escape(name)}</code></summary>"
        yield f"<p>{_marked(model.get('description', ''))}{_fields(model)}</details>"


def _operation(method: str, path: str, operation: Page, models: Page) -> Iterator[str]:
    about = operation.get("description", "")
    yield f"<details><summary><b>{method.upper()}</b> <code>{escape(path)}</code> "
    yield f"{_marked(about.partition('.')[0])}</summary>"
    yield "".join(f"<p>{_marked(text)}" for text in about.split("\n\n"))
    rights = [right for one in operation.get("security", ()) for right in one.get("key", ())]
    yield f"<p>Takes the right {escape(', '.join(rights))}." if rights else ""
    if parameters := operation.get("parameters"):
        yield _table((one["name"], one["schema"], one.get("required"), one.get("description")) for one in parameters)
    for media, body in operation.get("requestBody", {}).get("content", {}).items():
        yield f"<p>Body, <code>{escape(media)}</code>: {_kind(body['schema'])}"
        yield _fields(models.get(_name(body["schema"]), body["schema"]))
    for status, answer in operation["responses"].items():
        kinds = [_kind(one["schema"]) for one in answer.get("content", {}).values() if one.get("schema")]
        yield f"<p>{escape(status)}: {' or '.join(kinds)}" if status.startswith("2") and kinds else ""
    yield "</details>"


def _fields(model: Page) -> str:
    needed = model.get("required", ())
    fields = model.get("properties", {}).items()
    return _table((name, one, name in needed, one.get("description")) for name, one in fields) if fields else ""


def _table(rows: Any) -> str:
    told = "".join(
        f"<tr><td><code>{escape(name)}</code>{' (needed)' if needed else ''}<td>{_kind(kind)}<td>{_marked(about or '')}"
        for name, kind, needed, about in rows
    )
    return f"<table>{told}</table>"


def _kind(schema: Page) -> str:
    """Return the type that a schema describes, in words, as HTML."""
    if name := _name(schema):
        return f'<a href="#{escape(name)}">{escape(name)}</a>'
    if several := schema.get("anyOf") or schema.get("oneOf"):
        return " or ".join(_kind(one) for one in several if one.get("type") != "null")
    if values := schema.get("enum"):
        return ", ".join(f"<code>{escape(str(value))}</code>" for value in values)
    if "const" in schema:
        return f"<code>{escape(str(schema['const']))}</code>"
    if schema.get("type") == "array":
        return f"list of {_kind(schema.get('items', {}))}"
    return escape(schema.get("format") or schema.get("type") or "anything")


def _name(schema: Page) -> str:
    return str(schema.get("$ref", "")).rpartition("/")[2]


def _marked(text: str) -> str:
    """Return Markdown as HTML, as far as it is used here: code in backquotes."""
    parts = escape(text).split("`")
    return "".join(f"<code>{part}</code>" if index % 2 else part for index, part in enumerate(parts))
