"""The page for people: /docs."""

import re


def test_the_page_tells_every_operation_and_needs_nothing_from_elsewhere(client, keys):
    """It works offline, in a browser that runs no script, and without a key."""
    http = client()
    answer = http.get("/", follow_redirects=True)
    assert answer.status_code == 200 and answer.headers["content-type"].startswith("text/html")
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert not re.search(r"<script|(src|href)=.?https?:", answer.text)
    page = http.get("/openapi.json").json()
    for path, operations in page["paths"].items():
        for method in operations:
            assert f"<b>{method.upper()}</b> <code>{path}</code>" in answer.text, (method, path)
    for name in re.findall(r'href="#([^"]+)"', answer.text):
        assert f"id={name}>" in answer.text, name
