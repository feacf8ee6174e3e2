"""A rule that was stated in conversation is given up in conversation, and comes back with the word that gave it up."""

from doxa import Doxa


def test_a_rule_is_given_up_in_words_and_survives_a_new_start(tmp_path):
    """The rule about the rooms is forgotten; after opening the file again it is still forgotten."""
    path = tmp_path / "memory.db"
    with Doxa.open(path) as doxa:
        chat = doxa.dialogue(user="ana", speaker="Ana")
        chat.absorb("If room 1 is occupied, room 2 is free.", at="2024-03-01")
        chat.absorb("Forget that rule about the rooms.", at="2024-03-05", turn_id="given-up")
        assert doxa.memory(user="ana").rules() == []
    with Doxa.open(path) as doxa:
        memory = doxa.memory(user="ana")
        assert memory.rules() == []
        memory.withdraw(turn_id="given-up")
        assert len(memory.rules()) == 1


def test_the_word_that_gives_a_rule_up_goes_with_its_speaker():
    """Ben had said that the rule is off; once he is not trusted it holds again."""
    with Doxa.open(":memory:") as doxa:
        chat = doxa.dialogue(user="ana", speaker="Ana")
        chat.absorb("If room 1 is occupied, room 2 is free.", at="2024-03-01")
        chat.absorb("Forget that rule about the rooms.", speaker="Ben", at="2024-03-05")
        memory = doxa.memory(user="ana")
        assert memory.rules() == []
        memory.withdraw(source="Ben")
        assert len(memory.rules()) == 1
