"""A memory that everybody reads, in the inspector: shown beneath the own one, and its links lead somewhere."""

import re

HANDBOOK = "acme-handbook"
HOURS = "When does the Lisbon office open?"


def test_a_reply_from_a_shared_memory_is_shown_and_its_links_lead_somewhere(ana, shared):
    page = ana.submit("chat/say?session=s", text=HOURS)
    assert "nine" in page.text and re.search(f"and beneath it (<bdi>)?{HANDBOOK}", page.text)
    links = {link.replace("&amp;", "&") for link in re.findall(r'href="(/inspect/[^"]*shared[^"]*)"', page.text)}
    assert links
    for link in links:
        found = ana.get(link)
        assert found.status_code == 200 and "The Lisbon office opens at nine." in found.text, link


def test_the_words_of_a_shared_turn_are_shown_and_those_of_another_memory_are_not(ana, doxa, shared):
    doxa.dialogue(user="bo").absorb("My PIN is 1234.", turn_id="pin", verbatim=True)
    assert "opens at nine" in ana.get("/inspect/why", params={"turn": f"shared:{HANDBOOK}/hours"}).text
    for key in ("shared:bo/pin", f"shared:{HANDBOOK}/no"):
        assert ana.get("/inspect/why", params={"turn": key}).status_code == 404
        assert ana.get("/inspect/why", params={"fact": key}).status_code == 404
