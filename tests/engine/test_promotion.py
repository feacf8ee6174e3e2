"""What somebody says again and again is lifted to a concept, cites what it rests on, and falls and returns with it."""

import pytest

from doxa.core.config import Config, EncoderConfig, EngineConfig, RecallConfig
from doxa.core.errors import NotFoundError, StoreConflictError
from doxa.engine import Doxa
from doxa.memory import Undone, Withdrawn, fold_row
from doxa.recall import index_of

FILMS = (
    ("s1", "I love romantic films.", "2024-01-10"),
    ("s1", "The kettle is broken.", "2024-01-10"),
    ("s2", "My favourite love story on screen is Casablanca.", "2024-02-03"),
    ("s3", "I really enjoyed that romantic comedy with the bookshop.", "2024-03-01"),
    ("s4", "I adore a good romance movie on a Sunday.", "2024-04-01"),
)
ROMANCE = ("prefers", "film/romance")


def tell(doxa, turns=FILMS, user="ana"):
    for place, (session, text, day) in enumerate(turns, start=1):
        chat = doxa.dialogue(user=user, speaker="Ana", session=session)
        chat.absorb(text, at=day, turn_id=f"t{place}")
    doxa.flush()
    return doxa.memory(user=user)


def named(promotions):
    return {(one.relation, one.concept) for one in promotions}


def of_romance(memory, *, active=True):
    return next((one for one in memory.promotions(active=active) if one.concept == "film/romance"), None)


def test_what_is_said_again_and_again_is_lifted_with_its_turns(doxa):
    memory = tell(doxa)
    found = of_romance(memory)
    assert (found.subject.label, found.relation) == ("Ana", "prefers")
    assert set(found.turn_ids) <= {"t1", "t3", "t4", "t5"} and len(found.turn_ids) >= 3
    assert found.score > 0.7
    assert set(found.fact_ids) <= {fact.fact_id for fact in memory.facts()}
    reason = memory.why_promoted(found.promotion_id)
    assert [turn.turn_id for turn in reason.turns] == list(found.turn_ids)
    assert "romantic films" in str(reason)


def test_twice_is_not_enough(doxa):
    assert ROMANCE not in named(tell(doxa, FILMS[:3]).promotions(active=False))


def test_the_same_thing_again_and_again_in_one_burst_is_not_enough(doxa):
    burst = [("s1", "I love romantic films.", "2024-01-10")] * 5
    assert ROMANCE not in named(tell(doxa, burst).promotions(active=False))


def test_what_is_contradicted_is_not_lifted(doxa):
    against = [("s5", f"I can't stand romantic films{end}", "2024-05-01") for end in (".", " any more.", ", really.")]
    mixed = [turn for pair in zip(FILMS[:1] + FILMS[2:], [*against, against[0]], strict=True) for turn in pair]
    assert ROMANCE not in named(tell(doxa, mixed).promotions())


def test_what_is_contradicted_later_is_taken_down(doxa):
    memory = tell(doxa)
    assert ROMANCE in named(memory.promotions())
    chat = doxa.dialogue(user="ana", speaker="Ana", session="s9")
    for place, text in enumerate(
        ("I hate romantic films.", "Romantic movies bore me.", "Love stories on screen annoy me.")
    ):
        chat.absorb(f"{text}", at=f"2024-06-0{place + 1}", turn_id=f"u{place}")
    doxa.flush()
    assert ROMANCE not in named(memory.promotions())
    assert "contradicts" in of_romance(memory, active=False).demoted


def test_health_is_private_unless_it_is_allowed(config):
    turns = [
        ("s1", "I love my therapy sessions.", "2024-01-01"),
        ("s2", "I always see my therapist on Mondays.", "2024-02-01"),
        ("s3", "I really like talking to my therapist.", "2024-03-01"),
        ("s4", "Group therapy is my favourite.", "2024-04-01"),
    ]
    allowed = config.model_copy(update={"recall": RecallConfig(promote_private=True)})
    with Doxa.open(":memory:", config=config) as one, Doxa.open(":memory:", config=allowed) as other:
        private = {one.concept for one in tell(one, turns).promotions(active=False)}
        assert not any(name.startswith("health") for name in private)
        assert any(one.concept.startswith("health") for one in tell(other, turns).promotions())


@pytest.mark.parametrize(("recall", "most"), [({"promote": False}, 0), ({"promotions": 1}, 1), ({"tau": 1.0}, 0)])
def test_settings_bound_what_is_lifted(config, recall, most):
    with Doxa.open(":memory:", config=config.model_copy(update={"recall": RecallConfig(**recall)})) as doxa:
        assert len(tell(doxa).promotions(active=False)) == most


def test_what_loses_its_support_falls_and_returns(doxa):
    memory = tell(doxa, FILMS[:4])
    assert len(of_romance(memory).turn_ids) == 3
    memory.withdraw(turn_id="t4")
    assert of_romance(memory) is None
    lost = of_romance(memory, active=False)
    assert not lost.active and not lost.demoted
    assert memory.why_promoted(lost.promotion_id).lost == ("t4",)
    memory.undo()
    assert of_romance(memory) is not None


def test_search_follows_what_stands_when_another_turn_is_withdrawn_instead(doxa):
    """As many turns are withdrawn as before; what search keeps of promotions must see that they are others."""

    def strengths():
        memory.search("What film should I watch?")
        with doxa.parts.log.user("ana") as state:
            graph = index_of(state).graph
            return [
                int(standing) for key, row in graph._promoted.items() for standing in graph.sources["standing"][[row]]
            ]

    def happened(event, turn_id, **fields):
        with doxa.parts.log.user("ana") as state:
            doxa.parts.log.append("ana", state, event(known_at=state.now(), target=turn_id, **fields))

    memory = tell(doxa, FILMS[:4])
    happened(Withdrawn, "t2")  # events without changes: nothing that is believed rests on these turns alone
    assert any(strengths())
    happened(Undone, "t2", undoes="withdrawn")
    happened(Withdrawn, "t4")
    assert not any(strengths())


def test_a_retracted_fact_no_longer_speaks_for_it(doxa):
    memory = tell(doxa, FILMS[:4])
    found = of_romance(memory)
    memory.retract(found.fact_ids[0])
    assert of_romance(memory) is None


def test_what_is_demoted_stays_so_until_it_is_enabled(doxa):
    memory = tell(doxa)
    key = of_romance(memory).promotion_id
    assert not memory.demote(key, reason="that was long ago").active
    chat = doxa.dialogue(user="ana", speaker="Ana", session="s7")
    for place in range(6):
        chat.absorb(f"I love romantic films, number {place}.", at=f"2024-07-0{place + 1}", turn_id=f"v{place}")
    chat.flush()
    assert of_romance(memory) is None
    assert of_romance(memory, active=False).demoted == "that was long ago"
    assert memory.enable(key).active
    assert of_romance(memory) is not None


def test_undo_looks_past_promotions(doxa):
    memory = tell(doxa)
    key = of_romance(memory).promotion_id
    memory.demote(key)
    changed = memory.undo()
    assert changed and all("t5" in change.fact.turn_ids or change.turn_id == "t5" for change in changed)
    assert not of_romance(memory, active=False).active


def test_an_unknown_promotion_is_refused(doxa):
    memory = tell(doxa, FILMS[:1])
    for act in (memory.demote, memory.enable, memory.why_promoted):
        with pytest.raises(NotFoundError, match="doxa concepts --all"):
            act("p1_nothing")


def test_promotions_are_there_after_opening_again(config, tmp_path):
    with Doxa.open(tmp_path / "memory.db", config=config) as doxa:
        memory = tell(doxa)
        memory.demote(next(one.promotion_id for one in memory.promotions() if one.concept == "film"))
        before = memory.promotions(active=False)
    with Doxa.open(tmp_path / "memory.db", config=config) as doxa:
        assert doxa.memory(user="ana").promotions(active=False) == before


def test_opening_again_weighs_all_that_was_said_and_not_its_beginning(config, tmp_path, monkeypatch):
    """What began with dislikes and is a liking by now is neither taken down nor lifted anew, start by start."""
    first = ("I love romantic films.", "I hate romantic films.", "Romantic movies bore me.", "I dislike love stories.")
    likes = [
        (f"s{n}", text, f"2024-03-0{n}")
        for n, text in enumerate(
            (
                "My favourite love story on screen is Casablanca.",
                "I really enjoyed that romantic comedy with the bookshop.",
                "I adore a good romance movie on a Sunday.",
                "I really like romantic movies now.",
                "I enjoy romantic comedies.",
                "I adore romantic films.",
                "I love romantic comedies with dogs.",
            ),
            start=1,
        )
    ]
    turns = [(f"r{n}", text, "2024-01-01") for n, text in enumerate(first)] + likes
    with Doxa.open(tmp_path / "memory.db", config=config) as doxa:
        assert ROMANCE in named(tell(doxa, turns).promotions())
        before = [row.kind for row in doxa.parts.log.rows("ana")]
    monkeypatch.setattr("doxa.engine.absorb.promotion.BATCH", len(first))
    with Doxa.open(tmp_path / "memory.db", config=config) as doxa:
        assert ROMANCE in named(doxa.memory(user="ana").promotions())
        assert [row.kind for row in doxa.parts.log.rows("ana")] == before


@pytest.mark.parametrize("format", ["jsonl", "turtle"])
def test_an_export_carries_them(doxa, tmp_path, format):
    memory = tell(doxa)
    memory.demote(next(one.promotion_id for one in memory.promotions() if one.concept == "film"), reason="no")
    path = memory.export(tmp_path / "ana.out", format=format)
    other = doxa.memory(user="bo")
    other.import_(path)
    assert other.promotions(active=False) == memory.promotions(active=False)


def test_erasing_a_turn_erases_it_from_promotions(doxa):
    memory = tell(doxa)
    known = of_romance(memory)
    memory.forget(turn_id="t4")
    rows = str([row.body for row in doxa.parts.log.rows("ana")])
    assert "t4" not in rows and "bookshop" not in rows
    left = of_romance(memory)
    assert left is None or set(left.turn_ids) == set(known.turn_ids) - {"t4"}


def test_a_promotion_whose_support_is_erased_goes(doxa):
    memory = tell(doxa, FILMS[:4])
    key = of_romance(memory).promotion_id
    memory.demote(key, reason="secret words")
    memory.forget(turn_id="t1")
    assert of_romance(memory, active=False) is None
    assert "secret words" not in str([row.body for row in doxa.parts.log.rows("ana")])


def test_a_replay_of_the_log_gives_the_same_promotions(doxa):
    memory = tell(doxa)
    with doxa.parts.log.user("ana") as state:
        again = doxa.parts.log._fresh("ana")
        for row in doxa.parts.log.rows("ana"):
            fold_row(again, row)
        assert list(again.promotions) == list(state.promotions)
    assert memory.promotions()


def test_a_failure_loses_no_turn(doxa, monkeypatch, caplog):
    from doxa.engine.absorb import maintenance

    def fails(*_, **__):
        raise ValueError("out of ideas")

    monkeypatch.setattr(maintenance, "lift", fails)
    memory = tell(doxa)
    assert memory.stats()["pending"] == 0 and memory.stats()["turns"] == len(FILMS)
    assert "out of ideas" in caplog.text
    assert of_romance(memory) is not None, "what reads promotions reads the turns that were missed"


def test_what_could_not_be_stored_is_lifted_at_the_next_try(doxa, monkeypatch):
    log, failing = doxa.parts.log, [True]
    append = log.append

    def busy(user, state, event, vector=None, *, fence=None):
        if event.kind == "promoted" and failing and failing.pop():
            raise StoreConflictError("somebody wrote")
        append(user, state, event, vector, fence=fence)

    monkeypatch.setattr(log, "append", busy)
    memory = tell(doxa)
    assert of_romance(memory) is not None and not failing


def test_many_are_lifted_in_several_batches(doxa):
    things = {
        "food/cuisine/japanese": ("sushi", "ramen", "tempura", "udon"),
        "music/jazz": ("jazz records", "bebop", "the blues", "big band music"),
        "sports/yoga": ("yoga classes", "pilates", "tai chi", "meditation"),
        "games/board": ("board games", "chess", "poker", "scrabble"),
        "books/poetry": ("poetry", "sonnets", "haiku", "good poems"),
    }
    turns = [
        (f"s{month}", f"I love {named[month]}.", f"2024-0{2 * month + 1}-0{day}")
        for month in range(4)
        for day, named in enumerate(things.values(), start=1)
    ]
    found = {one.concept for one in tell(doxa, turns).promotions()}
    assert len(things.keys() & found) >= 4
    events = [row for row in doxa.parts.log.rows("ana") if row.kind == "promoted"]
    assert len(events) > 1


def test_nothing_is_read_twice(doxa):
    memory = tell(doxa)
    with doxa.parts.log.user("ana") as state:
        candidates = state.kept["candidates"]
        told = {key: list(value) for key, value in candidates._told.items()}
        assert candidates.waiting(state) == 0
    memory.promotions()
    with doxa.parts.log.user("ana") as state:
        assert {key: list(value) for key, value in state.kept["candidates"]._told.items()} == told


def test_what_the_assistant_says_lifts_nothing(doxa):
    for session, text, day in FILMS:
        doxa.dialogue(user="ana", session=session).absorb(text, role="assistant", at=day)
    doxa.flush()
    assert not doxa.memory(user="ana").promotions(active=False)


def test_what_somebody_else_likes_lifts_nothing(doxa):
    turns = [
        (s, f"My brother loves {what}.", d)
        for (s, _, d), what in zip(FILMS, ("jazz", "jazz records", "jazz clubs", "bebop", "jazz again"), strict=True)
    ]
    assert not tell(doxa, turns).promotions(active=False)


def test_another_encoder_learns_after_many_turns(monkeypatch):
    from doxa.engine.absorb import promotion

    seen = []
    monkeypatch.setattr(promotion, "learn_directions", lambda encoder: seen.append(encoder.name))
    settings = Config(encoder=EncoderConfig(name="hash"), engine=EngineConfig(settle_s=10))
    with Doxa.open(":memory:", config=settings) as doxa:
        tell(doxa, [("s", f"It is day {place}.", "2024-01-01") for place in range(70)])
        assert not seen
        tell(doxa, [("s", f"It was day {place}.", "2024-01-01") for place in range(70)], user="bo")
        tell(doxa, FILMS, user="cy")
    assert seen and set(seen) == {doxa._parts.encoder.name}


def test_lifting_waits_for_those_who_ask(doxa, monkeypatch):
    """While a question is answered nothing is lifted, and right after it is."""
    from doxa.engine.absorb import maintenance

    chat = doxa.dialogue(user="quiet", speaker="Ana")
    chat.absorb("I love jazz.", at="2026-01-01")
    chat.flush()
    lifted = []
    monkeypatch.setattr(maintenance, "lift", lambda *_, **__: lifted.append(len(lifted)) or False)
    with doxa._maintenance.answering():
        chat.absorb("I love jazz and blues.", at="2026-02-01")
        doxa._maintenance.wait("quiet")
        assert not lifted
    doxa._maintenance.rest("quiet", 10)
    assert lifted
