"""Pages of lists that change between them."""

from hypothesis import given
from hypothesis import strategies as st

from doxa.transport.http.rest.paging import paged

LIMITS = st.integers(1, 7)


@given(st.integers(0, 20), LIMITS)
def test_the_pages_of_a_list_are_the_list(size, limit):
    """Each item is on one page, in order, and all but the last one are full."""
    items, seen, cursor = [f"k{number}" for number in range(size)], [], None
    while True:
        page = paged("keys", items, str, cursor=cursor, limit=limit)
        seen += page["items"]
        cursor = page["next"]
        if cursor is None:
            break
        assert len(page["items"]) == limit
    assert seen == items


@given(st.data(), LIMITS)
def test_what_stays_in_a_list_is_on_one_page_whatever_comes_and_goes(data, limit):
    """Nothing is twice on the pages, and what is there at the end was on one of them."""
    order = [f"k{number}" for number in range(10)]
    held, seen, cursor = list(order), [], None
    while True:
        page = paged("keys", held, str, cursor=cursor, limit=limit, order=order)
        seen += page["items"]
        cursor = page["next"]
        if cursor is None:
            break
        gone = data.draw(st.sets(st.sampled_from(order), max_size=4))
        held = [key for key in held if key not in gone]
        if len(order) < 20 and data.draw(st.booleans()):
            order.append(f"k{len(order)}")
            held.append(order[-1])
    assert len(set(seen)) == len(seen)
    assert set(held) <= set(seen)
