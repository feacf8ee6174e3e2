"""Questions in many wordings meet the facts that turns gave, without a lexicon."""

import pytest

from doxa.core.config import Config, EncoderConfig, GraderConfig, LexiconConfig, ReaderConfig
from doxa.engine import Doxa

UNKNOWN = None

TALKS = {
    "Mara": [
        ("2024-01-10", "I live in Tallinn and work as a nurse at the city hospital."),
        ("2024-01-10", "My brother Juhan is a carpenter."),
        ("2024-01-12", "I weigh 62 kilos and I am 34 years old."),
        ("2024-02-01", "My cat is called Nurr, she's a Siamese."),
        ("2024-02-03", "My landlord is Mr Kask."),
    ],
    "Ravi": [
        ("2023-05-01", "I started at Bluestone in March 2021."),
        ("2023-05-01", "Before that I worked at Orbit from 2017 to 2021."),
        ("2023-05-02", "My dentist appointment is on 14 June at 9:30."),
        ("2023-05-03", "The train to Pune leaves at 6:45."),
        ("2023-05-06", "My wife Leela teaches biology."),
    ],
    "Ona": [
        ("2024-03-01", "My grandmother died on 3 February 2020."),
        ("2024-03-01", "I was born in Kaunas in 1988."),
        ("2024-03-02", "I speak Lithuanian and Polish."),
        ("2024-03-04", "I visited Malta in July 2023."),
        ("2024-03-05", "The choir meets on Tuesdays."),
        ("2024-03-06", "My daughter Ieva plays chess. My son Jonas plays too."),
    ],
    "Odalys": [
        ("2024-08-09", "I was at the tax office from 2016 to 2020."),
        ("2024-08-09", "I've run my own bookkeeping business since 2020."),
        ("2024-08-10", "Our head coach is Desmond Rourke."),
        ("2024-08-11", "I'm learning an instrument."),
        ("2024-08-12", "Ulysses has fleas."),
    ],
}

ASKED = [
    ("Mara", "What does Mara do for a living?", "nurse"),
    ("Mara", "Who is Mara's employer?", "city hospital"),
    ("Mara", "Where does Mara work?", "city hospital"),
    ("Mara", "In which city does Mara live?", "Tallinn"),
    ("Mara", "In which country does Mara live?", UNKNOWN),
    ("Mara", "What is the occupation of Mara's brother?", "carpenter"),
    ("Mara", "How heavy is Mara?", "62 kilos"),
    ("Mara", "What is Mara's weight?", "62 kilos"),
    ("Mara", "What is Mara's age?", "34"),
    ("Mara", "What breed is Mara's cat?", "Siamese"),
    ("Mara", "What is the name of Mara's cat?", "Nurr"),
    ("Mara", "How is Juhan related to Mara?", "brother"),
    ("Mara", "Is it settled that Mara has a sister?", "no"),
    ("Mara", "Has Mara said that she likes jazz?", "no"),
    ("Mara", "Does Mara have a dog?", UNKNOWN),
    ("Mara", "What is Mara's phone number?", UNKNOWN),
    ("Ravi", "Where does Ravi work?", "Bluestone"),
    ("Ravi", "Where did Ravi work in 2019?", "Orbit"),
    ("Ravi", "Where did Ravi work before Bluestone?", "Orbit"),
    ("Ravi", "Where did Ravi work in 2015?", UNKNOWN),
    ("Ravi", "For how many years did Ravi work at Orbit?", "4 years"),
    ("Ravi", "Has Ravi ever worked at Orbit?", "yes"),
    ("Ravi", "Does Ravi still work at Orbit?", "no"),
    ("Ravi", "On which date is Ravi's dentist appointment?", "14 June"),
    ("Ravi", "At what time is Ravi's dentist appointment?", "9:30"),
    ("Ravi", "In which month is Ravi's dentist appointment?", "June"),
    ("Ravi", "At what time does the train leave?", "6:45"),
    ("Ravi", "What does Ravi's wife teach?", "biology"),
    ("Ona", "Is Ona's grandmother alive?", "no"),
    ("Ona", "Was Ona's grandmother alive in 2019?", "yes"),
    ("Ona", "What is Ona's birthplace?", "Kaunas"),
    ("Ona", "In which year was Ona born?", "1988"),
    ("Ona", "How many languages does Ona speak?", "2"),
    ("Ona", "When did Ona visit Malta?", "July 2023"),
    ("Ona", "On which day does the choir meet?", "Tuesdays"),
    ("Odalys", "What does Odalys do for work now?", "bookkeeping business"),
    ("Odalys", "For how many years was Odalys at the tax office?", "4 years"),
    ("Odalys", "Who is the head coach of Odalys's team?", "Desmond Rourke"),
    ("Odalys", "Which instrument is Odalys learning?", UNKNOWN),
    ("Odalys", "Who has fleas?", "Ulysses"),
]


@pytest.fixture(scope="module")
def dialogues():
    """Four people who have told of themselves."""
    config = Config(
        encoder=EncoderConfig(name="hash"),
        lexicon=LexiconConfig(name="none"),
        grader=GraderConfig(name="none"),
        reader=ReaderConfig(name="none"),
    )
    with Doxa.open(":memory:", config=config) as engine:
        chats = {}
        for speaker, turns in TALKS.items():
            chats[speaker] = engine.dialogue(user=speaker, speaker=speaker)
            for day, text in turns:
                chats[speaker].absorb(text, at=day)
            chats[speaker].flush()
        yield chats


@pytest.mark.parametrize(("speaker", "question", "value"), ASKED, ids=[question for _, question, _ in ASKED])
def test_a_question_is_answered_in_any_wording(dialogues, speaker, question, value):
    """The bare value is there, or it is said that nothing is known."""
    reply = dialogues[speaker].ask(question)
    if value is UNKNOWN:
        assert reply.abstained
    else:
        assert not reply.abstained and value in str(reply.value) and reply.value == str(reply.value).strip()


def test_sources_are_asked_for_by_name_and_as_such(dialogues):
    """What two people say differently is disputed, told apart by source, and vouched for by each."""
    config = Config(
        encoder=EncoderConfig(name="hash"),
        lexicon=LexiconConfig(name="none"),
        grader=GraderConfig(name="none"),
        reader=ReaderConfig(name="none"),
    )
    with Doxa.open(":memory:", config=config) as engine:
        chat = engine.dialogue(user="thad", speaker="Thad")
        chat.absorb("The estate agent says the house has 142 square metres.", at="2025-01-22")
        chat.absorb("The survey plan says the house has 136 square metres.", at="2025-01-22")
        chat.flush()
        agent = chat.ask("According to the estate agent, how many square metres does the house have?")
        plan = chat.ask("How many square metres does the house have according to the survey plan?")
        both = chat.ask("How many square metres does the house have?")
    assert "142" in str(agent.value) and "136" in str(plan.value)
    assert both.disputed and "142" in str(both.value) and "136" in str(both.value)


def test_a_question_over_several_lines_is_one(dialogues):
    """Line breaks part words, and nothing else."""
    assert (
        dialogues["Mara"].ask("What is the name\nof Mara's cat?").value
        == dialogues["Mara"].ask("What is the name of Mara's cat?").value
    )
    assert dialogues["Mara"].ask("how much of it is\nleft\n\n- one\n- two").text
