"""What recall keeps beside a memory: saved and read at any point, it is what it would have been."""

import random
from datetime import UTC, date, datetime, timedelta
from io import BytesIO
from typing import Any

import numpy as np
import pytest

from doxa.core.errors import PackError
from doxa.core.feedback import Feedback
from doxa.core.promotions import Promotion, Support
from doxa.core.values import Change, ChangeKind, Fact, Interval, Relation, Status, Term, Turn
from doxa.memory import SAME_AS, MentionIndex, Pack, PackWriter, UserState, mention_index
from doxa.recall import Candidates, candidates_of, index_of
from doxa.recall.graph.adjacency import Adjacency
from doxa.recall.graph.graph import Standpoint
from doxa.recall.graph.sheet import Sheet
from doxa.recall.graph.tags import hashed
from doxa.recall.index import RecallIndex
from doxa.recall.traits import TRAITS

START = datetime(2024, 1, 1, tzinfo=UTC)
DIMS = 8
PEOPLE = ("Ana", "Ben", "Zoe", "Ana's sister")
VERBS = ("likes", "sees", "owns", "lives in")
THINGS = ("tea", "jazz", "a boat", "Rome", "Ana", "two cars", "snow", "romantic films")
SAID = (
    "I love romantic films and sushi.",
    "Where did we eat on 3 May?",
    "The author of Endymion is John Keats.",
    "The author of Endymion is Lena Marsh.",
    "John Keats died in the city of Rome.",
    "I never eat meat, and I go for a run every morning.",
)


def written(kept: Any) -> Pack:
    file = BytesIO()
    writer = PackWriter(file)
    kept.save(writer)
    writer.close({})
    return Pack(file.getvalue())


class World:
    """A memory in which anything may happen."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.state = UserState(user="ana", dims=DIMS)
        self.day = 0

    def step(self) -> None:
        """Let a turn tell something, mostly new, and now and then what answers told."""
        state, chance = self.state, self.chance
        self.day += chance.choice((0, 1, 1, 2, -3))
        number = len(state.turns) + 1
        turn = Turn(
            turn_id=f"t{number}",
            user="ana",
            session=f"s{chance.randrange(number // 4 + 1)}",
            speaker=chance.choice(("Ana", "Ben")),
            role="user",
            text=chance.choice(SAID),
            at=START + timedelta(days=self.day),
            ordinal=number,
            generated=chance.random() < 0.1,
        )
        state.receive(turn)
        vector = np.array([chance.gauss(0, 1) for _ in range(DIMS)], dtype=np.float32)
        changes = [self.change(turn) for _ in range(chance.randrange(3))]
        state.maintain(turn, [], changes, vector / np.linalg.norm(vector))
        if chance.random() < 0.1:
            edges = ((chance.choice(list(state.beliefs.facts) or ["next"]), "likes"),)
            state.feedback.append((Feedback(channel="used", at=turn.at, turn_ids=(turn.turn_id,), edges=edges),))
        if chance.random() < 0.05:
            self.promote(turn)
        if chance.random() < 0.05:
            state.withdraw([turn.turn_id], turn.at, by=("turn", turn.turn_id))
        state.advance(number)

    def change(self, turn: Turn) -> Change:
        """Return a fact that is new, told again, moved to another name, or given up."""
        chance, known = self.chance, list(self.state.beliefs.facts.values())
        if known and chance.random() < 0.5:
            fact = chance.choice(known)
            kinds = (ChangeKind.SUPPORT, ChangeKind.CLOSE, ChangeKind.RETRACT, ChangeKind.MOVE)
            kind = chance.choice(kinds[:3] if fact.relation == SAME_AS else kinds)
            if kind is ChangeKind.SUPPORT:
                return Change(kind=kind, fact=self.fact(fact, (turn.turn_id,)), turn_id=turn.turn_id, known_at=turn.at)
            if kind is ChangeKind.MOVE:
                moved = self.fact(fact, fact.turn_ids, fact_id=f"{fact.fact_id}+")
                because = (fact.fact_id,)
                return Change(kind=kind, fact=moved, because=because, turn_id=turn.turn_id, known_at=turn.at)
            status = Status.SUPERSEDED if kind is ChangeKind.CLOSE else Status.RETRACTED
            end = turn.at.date() + timedelta(days=chance.choice((0, 4)))
            gone = self.fact(
                fact, fact.turn_ids[chance.randrange(2) :] or fact.turn_ids, status=status, valid=Interval(end=end)
            )
            return Change(kind=kind, fact=gone, turn_id=turn.turn_id, known_at=turn.at)
        subject, verb, thing = chance.choice(PEOPLE), chance.choice(VERBS), chance.choice(THINGS)
        fact = Fact(
            fact_id=f"f{len(self.state.beliefs.changes)}-{chance.random()}",
            subject=Term(subject.casefold(), subject),
            relation=SAME_AS if thing == "Ana" else Relation(verb.replace(" ", "_"), verb),
            object=Term(thing.casefold(), thing),
            turn_ids=(turn.turn_id,),
            confidence=chance.random(),
            polarity=chance.random() < 0.9,
        )
        return Change(kind=ChangeKind.ASSERT, fact=fact, turn_id=turn.turn_id, known_at=turn.at)

    def fact(self, fact: Fact, turn_ids: tuple[str, ...], **fields: Any) -> Fact:
        own = {name: getattr(fact, name) for name in Fact.__dataclass_fields__}
        return Fact(**own | {"turn_ids": turn_ids} | fields)

    def promote(self, turn: Turn) -> None:
        self.state.promotions.promote(
            Promotion(
                promotion_id=f"p{self.chance.randrange(3)}",
                subject=Term("ana", "Ana"),
                relation="prefers",
                concept="film/romance",
                label="romantic films",
                score=0.9,
                support=tuple(Support(turn_id=f"t{number}") for number in range(1, 5)),
                known_at=turn.at,
            )
        )


def told(index: RecallIndex, state: UserState) -> list[Any]:
    """Return what an index says to every question that it is asked."""
    graph, places = index.graph, np.arange(len(state.places))
    nodes, sources = np.arange(len(graph.nodes)), np.arange(len(graph.sources))
    entities = nodes[graph.nodes.places(nodes) < 0]
    standpoints = (Standpoint(), Standpoint(historical=True, day=19_750, known=19_745, least=0.5))
    micros = int(START.timestamp() * 1_000_000)
    hashes = np.array([hashed(thing) for thing in (*THINGS, "film/romance")], dtype=np.uint32)
    profile = index.profile
    people = np.array([node for name in ("ana", "ben") if (node := graph.node(name)) is not None], dtype=np.intp)
    walks = (
        [graph.walk({int(node): 1.0 for node in entities[:3]}, since) for since in standpoints] if len(nodes) else []
    )
    return [
        [index.facts.held(turn.turn_id, state) for turn in state.turns.values()],
        *(index.facts.stands(places, past=past) for past in (True, False)),
        index.facts.over,
        *(index.traits.of(np.append(places, -1), trait) for trait in TRAITS if len(places)),
        [index.tags.of(place) for place in places.tolist()],
        index.tags.about(places, {"film/romance": 1.0, "food": 0.5}),
        index.tags.weighed(places, profile.concepts),
        index.tags.stances(places),
        index.tags.stating(["film/romance", "food"], 5),
        *(counts.shares(hashes) for counts in (profile.things, profile.relations, profile.concepts)),
        profile.used,
        dict(index.strengths.all),
        index.timeline.between(micros + 86_400_000_000, micros + 9 * 86_400_000_000, 7),
        index.timeline.between(0, 2**60, 10**6),
        graph.turns(places),
        graph.nodes.places(nodes),
        [graph.label(node) for node in nodes.tolist()],
        [graph.wording_of(source) for source in sources.tolist()],
        *(graph.strengths(sources, since) for since in standpoints),
        *(graph.weights(np.arange(len(graph.edges)), since) for since in standpoints),
        *(graph.tastes(people, since) for since in standpoints),
        graph.object_hashes(sources),
        graph.relations.having(["own", "live"]),
        *graph.nodes.linked(["ana", "boat", "romantic"]),
        graph.nodes.rarity(entities),
        graph.degree(nodes),
        *graph.edges_of(nodes, 5),
        *graph.told(places),
        *((walk.nodes, walk.mass, walk.touched) for walk in walks),
    ]


def assert_same(one: list[Any], other: list[Any]) -> None:
    assert len(one) == len(other)
    for mine, theirs in zip(one, other, strict=True):
        np.testing.assert_equal(mine, theirs)


@pytest.mark.parametrize("seed", range(8))
def test_an_index_that_was_saved_and_read_at_any_point_is_the_one_that_was_kept(seed):
    """To the last bit, in every answer: nodes, edges, walks, standings, places and profile."""
    world = World(seed)
    kept, read = RecallIndex(), RecallIndex()
    for _ in range(60):
        world.step()
        if world.chance.random() < 0.4:
            kept.sync(world.state)
            read.sync(world.state)
        if world.chance.random() < 0.15:
            read = RecallIndex.of(written(read))
    kept.sync(world.state)
    read.sync(world.state)
    assert_same(told(kept, world.state), told(read, world.state))


@pytest.mark.parametrize("seed", range(4))
def test_an_index_that_grew_knows_what_one_made_anew_knows(seed):
    """Which facts a turn supports, in which order, what is over, and when everything was said."""
    world, read = World(seed), RecallIndex()
    for number in range(60):
        world.step()
        read.sync(world.state)
        if number % 9 == 0:
            read = RecallIndex.of(written(read))
    anew = RecallIndex()
    anew.sync(world.state)
    by_place = 16 + len(TRAITS)  # what follows is told of nodes, whose numbers depend on when they came in
    assert_same(told(read, world.state)[:by_place], told(anew, world.state)[:by_place])


@pytest.mark.parametrize("seed", range(4))
def test_mentions_and_candidates_that_were_saved_are_the_ones_that_were_kept(seed):
    """Sentences by name, which of them hold, and what is worth a promotion."""
    world, mentions, candidates = World(seed), MentionIndex(), Candidates()
    kept, waiting = MentionIndex(), Candidates()
    for _ in range(50):
        world.step()
        for index in (mentions, kept):
            index.sync(world.state)
        for found in (candidates, waiting):
            found.read(world.state, most=world.chance.randrange(3) if found is waiting else 3)
        if world.chance.random() < 0.2:
            mentions, candidates = MentionIndex.of(written(mentions)), Candidates.of(written(candidates))
    for found in (candidates, waiting):
        found.read(world.state, most=1000)
    assert mentions.ties == kept.ties and len(kept.ties) > 10
    assert mentions.by_name == kept.by_name
    assert [mentions.holds(n) for n in range(len(kept.ties))] == [kept.holds(n) for n in range(len(kept.ties))]
    assert not all(kept.holds(n) for n in range(len(kept.ties)))
    assert candidates.waiting(world.state) == 0 and candidates.postponed == waiting.postponed
    keys = list(waiting._told)
    assert keys and {key: candidates._told[key] for key in keys} == {key: waiting._told[key] for key in keys}


def loaded(state: UserState) -> UserState:
    read = UserState(user=state.user, dims=state.dims)
    read.load(written(state))
    return read


def test_a_memory_that_is_read_from_a_file_reads_no_turn_again():
    """The first question after it finds all that search, chains and promotions keep; later turns are added."""
    world = World(1)
    for _ in range(40):
        world.step()
    index_of(world.state), mention_index(world.state)
    candidates_of(world.state).read(world.state, most=1000)
    again = loaded(world.state)
    index_of(again), mention_index(again)
    assert candidates_of(again).waiting(again) == 0
    assert not again.turns._turns._read and not again.beliefs.facts._values._read
    before = told(index_of(world.state), world.state)
    assert_same(before, told(index_of(again), again))
    world.state = again
    world.step()
    assert len(index_of(again).tags) == len(again.places)


def test_what_nobody_asked_for_is_still_in_the_next_file():
    """A memory that is read, grows and is written unasked keeps its index; the first question reads what is new."""
    world = World(4)
    for _ in range(40):
        world.step()
    index_of(world.state), mention_index(world.state)
    world.state = loaded(world.state)
    for _ in range(5):
        world.step()
    again = loaded(world.state)
    index, places = RecallIndex.of(again.packed), len(again.places)
    assert places - 5 <= len(index.tags) < places
    anew = RecallIndex()
    for one in (index, anew):
        one.sync(again)
    np.testing.assert_equal(told(index, again)[:16], told(anew, again)[:16])
    assert len(index_of(again).tags) == places and len(mention_index(again).ties) > 0


def test_what_another_version_wrote_is_not_read():
    """It is made anew from the memory."""
    world = World(2)
    for _ in range(5):
        world.step()
    index_of(world.state)
    file = BytesIO()
    writer = PackWriter(file)
    for name in ("recall", "mentions", "candidates"):
        writer.value(f"{name}.about", (-1, 0, "something else"))
    writer.close({})
    pack = Pack(file.getvalue())
    assert len(RecallIndex.of(pack).tags) == 0
    assert len(MentionIndex.of(pack).ties) == 0
    assert Candidates.of(pack).waiting(world.state) == len(world.state.places)


def test_a_damaged_index_is_found_out():
    world = World(3)
    for _ in range(30):
        world.step()
    index = index_of(world.state)
    file = BytesIO()
    writer = PackWriter(file)
    index.save(writer)
    writer.close({})
    data = bytearray(file.getvalue())
    data[len(data) // 4] ^= 1
    with pytest.raises(PackError):
        RecallIndex.of(Pack(bytes(data)))


@pytest.mark.parametrize("seed", range(3))
def test_the_edges_of_a_node_do_not_depend_on_what_was_merged_when(seed):
    """Thousands of edges, some of them in a file: by node, the oldest first."""
    chance, adjacency, expected = random.Random(seed), Adjacency(), {}
    for edge in range(12_000):
        node = chance.randrange(300)
        adjacency.add(node, edge)
        expected.setdefault(node, []).append(edge)
        if edge % 2011 == 0:
            adjacency = reread(adjacency, Adjacency())
        if edge % 701 == 0:
            nodes = np.array(sorted({node, 7, 39, 299, 500}))
            wanted = [(row, one) for row, key in enumerate(nodes.tolist()) for one in expected.get(key, [])[-9:]]
            assert list(zip(*map(np.ndarray.tolist, adjacency.of(nodes, 9)), strict=True)) == wanted
            assert [adjacency.of_one(key) for key in nodes.tolist()] == [
                expected.get(key, []) for key in nodes.tolist()
            ]
            assert adjacency.degree(nodes).tolist() == [len(expected.get(key, [])) for key in nodes.tolist()]


def reread(held: Any, empty: Any) -> Any:
    file = BytesIO()
    writer = PackWriter(file)
    held.save(writer, "one")
    writer.close({})
    empty.load(Pack(file.getvalue()), "one")
    return empty


def test_rows_behind_a_pack_copy_none_of_it():
    """They are kept beside it; only a column that is written to is copied, and no more for a value that it has."""
    rows = Sheet({"a": "i4", "b": "f4"})
    for number in range(1000):
        rows.add(a=number, b=0.5)
    rows = reread(rows, Sheet({"a": "i4", "b": "f4"}))
    size = rows.nbytes
    assert rows.add(a=-1, b=1.5) == 1000
    rows.put("b", 3, 0.5)
    assert rows.nbytes == size < 1000
    rows.put("b", 3, 2.5)
    assert rows.nbytes == size + 4000
    assert rows.take("b", np.array([3, 4, 1000])).tolist() == [2.5, 0.5, 1.5]
    assert rows["a"].tolist() == [*range(1000), -1]
    assert (rows.get("a", 999), rows.get("a", 1000)) == (999, -1)


def test_a_day_that_comes_late_is_put_in_its_place():
    """Turns of two sources, each in order: the days are found whatever came first."""
    state, said = UserState(user="ana", dims=2), []
    for number, day in enumerate((5, 6, 1, 7, 2, 2, 9, 3), start=1):
        at = START + timedelta(days=day)
        turn = Turn(
            turn_id=f"t{number}", user="ana", session="s", speaker="Ana", role="user", text="...", at=at, ordinal=number
        )
        state.receive(turn)
        state.maintain(turn, [], [], None)
        said.append((at.date(), number - 1))
        first, last = (int((START + timedelta(days=one)).timestamp() * 1e6) for one in (2, 6))
        inside = sorted(pair for pair in said if date(2024, 1, 3) <= pair[0] <= date(2024, 1, 7))
        found = index_of(state).timeline.between(first, last, 4).tolist()
        assert found == [place for _, place in inside][-4:]
