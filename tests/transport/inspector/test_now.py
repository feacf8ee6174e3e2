"""The page of what is believed now."""

import pytest


def test_people_are_found_by_the_beginning_of_a_name(ana, told):
    told("Bruno lives in Porto.", "Carla lives in Faro.")
    found = ana.page("now", q="bru")
    assert ">Bruno<" in found
    assert ">Carla<" not in found


def test_what_is_sure_stands_apart_from_what_is_over(ana, told):
    told("I live in Porto.", "I moved to Lisbon.")
    page = ana.page("now", of="ana")
    assert page.index("Lisbon") < page.index("No longer so") < page.rindex("Porto")


def test_a_memory_that_is_empty_says_how_to_begin(ana):
    assert "Tell it something" in ana.page("now")


def test_nobody_of_that_name_is_a_page_that_says_so(ana, told):
    told("I live in Porto.")
    response = ana.get("/inspect/now?of=zoe")
    assert response.status_code == 404
    assert "zoe" in response.text


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>'])
def test_a_name_is_never_markup(ana, name):
    response = ana.get("/inspect/now", params={"q": name, "of": name})
    assert name not in response.text


def test_a_long_name_leads_to_whom_it_is_of(ana, understood):
    name = "H" + "x" * 5_000
    understood(name, "lives_in", "Porto")
    page = ana.page("now")
    assert "Porto" in ana.page("now", of=name.casefold())
    assert f'of={name.casefold()}"' in page
