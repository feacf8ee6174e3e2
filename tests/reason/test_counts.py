"""A number that is no answer is not given."""

from doxa import Doxa


def test_a_day_is_no_length_of_time():
    with Doxa.open(":memory:") as doxa:
        chat = doxa.dialogue(user="diet", speaker="Ana")
        chat.absorb("I started my diet on 1 March.")
        chat.flush()
        reply = chat.ask("How many days were there between the start of my diet and my wedding?")
        assert reply.abstained or not f"{reply.value}".startswith("0 ")
