"""How much of a long text is read."""

from doxa.language import LONGEST_SENTENCE, MOST_SENTENCES, opening, overlong, pared, split_text


def test_a_text_of_usual_length_is_read_whole():
    """Byte for byte, blanks and all."""
    text = "I live in  Oslo.\n\nKim likes tea.   "
    assert opening(text) == pared(text) == text and not overlong(text)


def test_of_a_long_turn_its_first_sentences_are_read():
    """Whole ones, whether there are too many or they are too long together."""
    many = "I like tea. " * (MOST_SENTENCES + 1)
    assert len(split_text(opening(many))) == MOST_SENTENCES and many.startswith(opening(many))
    long = f"{'word ' * 60}end. " * MOST_SENTENCES
    assert opening(long).endswith("end.") and len(opening(long)) < 30_000 < len(long)
    assert len(opening("a" * 50_000)) == 30_000


def test_of_a_long_question_its_beginning_and_its_end_are_read():
    """And of a sentence that runs on its end: what is asked stands there."""
    text = f"{'I like tea. ' * 500}Where does Kim live?"
    assert pared(text).startswith("I like tea.") and pared(text).endswith("Where does Kim live?")
    assert len(pared(text)) <= 4_000 and pared(pared(text)) == pared(text)
    running = f"I know that {'she said that ' * 50}you asked where Kim lives"
    assert overlong(running) == 1
    assert len(pared(running)) == LONGEST_SENTENCE and pared(running).endswith("where Kim lives")
    lines = f"{running}\n{running} "
    assert pared(lines).count("where Kim lives") == 2 and pared(pared(lines)) == pared(lines)
