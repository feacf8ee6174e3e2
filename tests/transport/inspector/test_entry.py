"""Who is let in, and what may change something."""

import pytest

from doxa.transport.inspector.entry import safe_path

RIGHTS = ["read", "write", "erase", "admin"]


@pytest.fixture
def guarded(browser, keys):
    """A browser at a server that wants keys, and a key for ana."""
    _, secret = keys.add(users=["ana"], rights=RIGHTS)
    return browser(open=False), secret


def token_of(page):
    return page.text.partition('X-Doxa-Form": "')[2].partition('"')[0]


def come_in(browser, secret, **more):
    token = token_of(browser.get("/inspect/enter"))
    return browser.post("/inspect/enter", data={"token": token, "key": secret, "next": "", **more})


def test_who_has_no_key_is_led_to_the_door_and_back(guarded):
    browser, secret = guarded
    door = browser.get("/inspect/now?of=ana", follow_redirects=False)
    assert door.status_code == 303
    assert door.headers["location"] == "/inspect/enter?next=%2Finspect%2Fnow%3Fof%3Dana"
    inside = come_in(browser, secret, next="/inspect/now?q=a")
    assert inside.status_code == 200
    assert str(inside.url) == "http://localhost/inspect/now?q=a"


def test_a_script_without_a_key_is_told_where_the_door_is(guarded):
    browser, _ = guarded
    told = browser.get("/inspect/now", headers={"HX-Request": "true"})
    assert told.status_code == 401
    assert told.headers["HX-Redirect"].startswith("/inspect/enter?next=")


def test_a_wrong_key_is_not_kept(guarded):
    browser, _ = guarded
    refused = come_in(browser, "doxa_wrong")
    assert "/inspect/enter" in str(refused.url)
    assert "doxa_key" not in browser.cookies


def test_the_key_is_kept_from_scripts_other_sites_and_other_paths(guarded):
    browser, secret = guarded
    token = token_of(browser.get("/inspect/enter"))
    answer = browser.post("/inspect/enter", data={"token": token, "key": secret}, follow_redirects=False)
    cookie = answer.headers["set-cookie"].lower()
    assert all(part in cookie for part in ("doxa_key=", "httponly", "samesite=strict", "path=/inspect"))
    assert browser.get("/v1/memory/facts").status_code == 401


def test_leaving_forgets_the_key(guarded):
    browser, secret = guarded
    page = come_in(browser, secret)
    browser.post("/inspect/leave", data={"token": token_of(page)})
    assert browser.get("/inspect/now", follow_redirects=False).status_code == 303


def test_a_key_opens_no_other_memory(guarded, told):
    told("I live in Porto.", user="ben")
    browser, secret = guarded
    come_in(browser, secret)
    refused = browser.get("/inspect/now?user=ben")
    assert refused.status_code == 403
    assert "Porto" not in refused.text


def test_a_key_that_may_only_read_changes_nothing(browser, keys, told, doxa):
    told("I live in Porto.")
    _, secret = keys.add(users=["ana"], rights=["read"])
    one = browser(open=False)
    page = come_in(one, secret)
    fact = doxa.memory(user="ana").facts(relation="lives in")[0]
    refused = one.post("/inspect/act", data={"token": token_of(page), "act": "retract", "fact": fact.fact_id})
    assert refused.status_code == 403
    assert doxa.memory(user="ana").facts(relation="lives in") == [fact]


@pytest.mark.parametrize(
    ("token", "headers"),
    [
        ("", {}),
        ("0" * 64, {}),
        (None, {"Sec-Fetch-Site": "cross-site"}),
        (None, {"Sec-Fetch-Site": "same-site"}),
        (None, {"Origin": "http://localhost:1"}),
    ],
    ids=["no token", "a wrong token", "another site", "a sister site", "another port"],
)
def test_a_form_of_elsewhere_changes_nothing(ana, told, doxa, token, headers):
    told("I live in Porto.")
    fact = doxa.memory(user="ana").facts(relation="lives in")[0]
    own = token_of(ana.get("/inspect/now"))
    data = {"token": own if token is None else token, "act": "retract", "fact": fact.fact_id}
    refused = ana.post("/inspect/act", data=data, headers=headers)
    assert refused.status_code in (400, 403)
    assert doxa.memory(user="ana").facts(relation="lives in") == [fact]


def test_the_token_of_another_browser_does_not_count(browser, told, doxa):
    told("I live in Porto.")
    fact = doxa.memory(user="ana").facts(relation="lives in")[0]
    one, other = browser(), browser()
    other.get("/inspect/now")
    data = {"token": token_of(one.get("/inspect/now")), "act": "retract", "fact": fact.fact_id}
    assert other.post("/inspect/act", data=data).status_code == 400


def test_pages_are_shielded_from_scripts_and_frames(ana):
    headers = ana.get("/inspect/now").headers
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert headers["Cache-Control"] == "no-store"
    assert ana.get("/inspect/nothing-here").status_code == 404


def test_files_are_kept_by_the_browser_and_no_path_leads_out(ana):
    page = ana.page("now")
    address = page.partition('href="/inspect/static/inspector.css')[2].partition('"')[0]
    found = ana.get(f"/inspect/static/inspector.css{address}")
    assert "immutable" in found.headers["Cache-Control"]
    assert "font" in found.text
    for name in ("../inspector/entry.py", "..%2fentry.py", "nothing.css", ""):
        assert ana.get(f"/inspect/static/{name}").status_code in (303, 404)


@pytest.mark.parametrize(
    "given",
    ["https://evil.example/inspect/now", "//evil.example/inspect/now", "/v1/memory", "/inspect\\..\\x", "javascript:1"],
)
def test_a_form_leads_back_to_the_inspector_alone(given):
    assert safe_path(given, "/inspect/now", done="retract") == "/inspect/now?done=retract"


def test_a_form_leads_back_to_where_it_was():
    assert safe_path("/inspect/why?fact=f1&at=3", "/inspect/now", at=4) == "/inspect/why?fact=f1&at=4"


def test_the_memory_of_the_settings_is_shown_where_no_key_is_needed(ana, told):
    told("I live in Porto.")
    assert "/inspect/now?user=ana" in str(ana.get("/inspect").url)


def test_several_memories_are_listed_to_choose_from(ana, told):
    told("I live in Porto.")
    told("I live in Oslo.", user="ben <b>")
    page = ana.page("")
    assert "ben &lt;b&gt;" in page
    assert "user=ben+%3Cb%3E" in page


@pytest.mark.parametrize("given", ["////evil.example/", "/inspectors", "http://[", "/inspect/../v1\u2028"])
def test_nothing_leads_out_at_the_door(given):
    assert safe_path(given, "/inspect") == "/inspect"


def test_a_wrong_key_is_said_so_and_where_one_was_going_is_kept(guarded):
    browser, _ = guarded
    for wrong in ("doxa_wrong", "\u043a\u043b\u044e\u0447"):
        refused = come_in(browser, wrong, next="/inspect/chat")
        assert "unknown or was revoked" in refused.text
        assert 'name="next" value="/inspect/chat"' in refused.text


def test_a_preview_leads_back_to_the_inspector_alone(ana, told, doxa):
    told("I live in Porto.")
    fact = doxa.memory(user="ana").facts(relation="lives in")[0]
    page = ana.page("suppose", act="retract", fact=fact.fact_id, back="https://evil.example/")
    assert "evil.example" not in page


@pytest.mark.parametrize("path", ["chat?before=", "tasks?start=", "health/forget?after=WzEwMDAwMDAwMDAwMDAwMDBd&x="])
def test_a_number_that_no_memory_has_is_no_trouble(ana, told, path):
    told("I live in Porto.")
    assert ana.get(f"/inspect/{path}{'9' * 5_000}").status_code in (200, 400)


def test_a_form_of_too_many_fields_is_refused(ana):
    assert ana.post("/inspect/act", data={f"f{n}": "1" for n in range(1_001)}).status_code == 400


def test_a_key_behind_the_address_counts_where_nobody_else_led_here(ana):
    assert "data-typed" in ana.get("/inspect/enter", headers={"Sec-Fetch-Site": "none"}).text
    assert "data-typed" not in ana.get("/inspect/enter", headers={"Sec-Fetch-Site": "cross-site"}).text


def test_what_the_server_does_as_a_whole_is_shown_to_admins_alone(browser, keys, told):
    told("I live in Porto.")
    one = browser(open=False)
    for rights, seen in ((["read"], False), (RIGHTS, True)):
        come_in(one, keys.add(users=["ana"], rights=rights)[1])
        assert ("Speed since the start" in one.page("health")) is seen
