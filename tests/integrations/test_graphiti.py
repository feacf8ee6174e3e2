"""Graphiti: what its class documents, with its own types, on an engine. It needs a graph database and is not run.

What of it runs without one (types, filters, recipes, cutting, checks of names) is its own here.
"""

import asyncio
import inspect
import json
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("graphiti_core")

from graphiti_core import Graphiti as Theirs
from graphiti_core.edges import EntityEdge
from graphiti_core.errors import GroupIdValidationError, NodeNotFoundError, SearchRerankerError
from graphiti_core.nodes import EntityNode, EpisodeType, EpisodicNode
from graphiti_core.search import search_config_recipes as recipes
from graphiti_core.search.search_filters import ComparisonOperator, DateFilter, SearchFilters
from graphiti_core.utils.bulk_utils import RawEpisode
from graphiti_core.utils.content_chunking import chunk_message_content

from doxa import Doxa
from doxa.core.errors import InputError, TurnError
from doxa.integrations.graphiti import Graphiti

from .conftest import LIGHT

MARCH, MAY = datetime(2024, 3, 2, tzinfo=UTC), datetime(2024, 5, 1, tzinfo=UTC)
LATER = datetime(2030, 1, 1, tzinfo=UTC)


@pytest.fixture
def graphiti(doxa):
    """Graphiti on an engine in memory."""
    return Graphiti(doxa=doxa)


@pytest.fixture(scope="module")
def moved(shared):
    """One in which Ana moved, in a group of its own, and the uuid of her node."""
    graphiti = Graphiti(doxa=shared)
    (edge,) = add(graphiti, "Ana: I live in Porto.", group_id="moved").edges
    add(graphiti, "Ana: I moved to Bonn yesterday.", at=MAY, group_id="moved")
    return graphiti, edge.source_node_uuid


def add(graphiti, body, *, at=MARCH, group_id="ana", source=EpisodeType.message, **more):
    """Add an episode and return what came of it."""
    return asyncio.run(graphiti.add_episode("chat", body, "a chat", at, source=source, group_id=group_id, **more))


def search(graphiti, query, *, group_ids=("ana",), **more):
    """Search groups."""
    return asyncio.run(graphiti.search(query, group_ids=list(group_ids), **more))


def facts(edges):
    """Return what edges say."""
    return [edge.fact for edge in edges]


EPISODES = [
    (
        EpisodeType.text,
        "podcast transcript",
        "Kamala Harris is the Attorney General of California. She was previously the district attorney for San "
        "Francisco.",
    ),
    (
        EpisodeType.text,
        "podcast transcript",
        "As AG, Harris was in office from January 3, 2011 – January 3, 2017",
    ),
    (
        EpisodeType.json,
        "podcast metadata",
        {
            "name": "Gavin Newsom", "position": "Governor", "state": "California",
            "previous_role": "Lieutenant Governor", "previous_location": "San Francisco",
        },
    ),
    (
        EpisodeType.json,
        "podcast metadata",
        {"name": "Gavin Newsom", "position": "Governor", "term_start": "January 7, 2019", "term_end": "Present"},
    ),
]  # fmt: skip


async def quickstart(kind):
    """Graphiti's quickstart, of whatever class; nothing but its printing is left out."""
    graphiti = kind(":memory:", "neo4j", "password")
    try:
        await graphiti.build_indices_and_constraints()
        for number, (source, description, content) in enumerate(EPISODES):
            await graphiti.add_episode(
                name=f"Freakonomics Radio {number}",
                episode_body=content if isinstance(content, str) else json.dumps(content),
                source=source,
                source_description=description,
                reference_time=datetime.now(UTC),
            )
        results = await graphiti.search("Who was the California Attorney General?")
        center = results[0].source_node_uuid
        reranked = await graphiti.search("Who was the California Attorney General?", center_node_uuid=center)
        config = recipes.NODE_HYBRID_SEARCH_RRF.model_copy(deep=True)
        config.limit = 5
        nodes = (await graphiti._search(query="California Governor", config=config)).nodes
        return results, reranked, nodes
    finally:
        await graphiti.close()


def test_the_quickstart_runs_with_one_import_changed():
    """Its episodes are read, its question is answered, and its node search finds the governor."""
    with pytest.warns(UserWarning, match="user, password"):
        results, reranked, nodes = asyncio.run(quickstart(Graphiti))
    assert all(type(one) is EntityEdge for one in results)
    assert results[0].fact == "Kamala Harris is Attorney General"
    assert len(results) >= 8 and len(results) == len({one.uuid for one in results})
    near = [one for one in results if one.source_node_uuid == results[0].source_node_uuid]
    assert [one.source_node_uuid for one in reranked[: len(near)]] == [results[0].source_node_uuid] * len(near)
    assert len(near) >= 2 and set(facts(near)) <= set(facts(reranked))
    assert any(one.valid_at == datetime(2011, 1, 3, tzinfo=UTC) for one in results)
    assert len(nodes) == 5 and all(type(one) is EntityNode for one in nodes)
    newsom = next(one for one in nodes if one.name == "Gavin Newsom")
    assert "Gavin Newsom works as Governor" in newsom.summary and "Entity" in newsom.labels


def test_what_is_added_is_found_with_graphitis_own_types(graphiti):
    """An episode gives its nodes, its edges and what leads to them, and is found when the call returns."""
    added = add(graphiti, "Ana: I live in Porto.")
    episode = added.episode
    assert (episode.name, episode.content, episode.source, episode.source_description, episode.valid_at) == (
        "chat", "Ana: I live in Porto.", EpisodeType.message, "a chat", MARCH,
    )  # fmt: skip
    (edge,) = added.edges
    assert (edge.fact, edge.name, edge.episodes, edge.group_id) == (
        "Ana lives in Porto", "LIVES_IN", [episode.uuid], "ana",
    )  # fmt: skip
    assert (edge.created_at, edge.valid_at, edge.invalid_at, edge.expired_at) == (MARCH, None, None, None)
    assert episode.entity_edges == [edge.uuid]
    assert {one.uuid for one in added.nodes} == {edge.source_node_uuid, edge.target_node_uuid}
    assert {one.target_node_uuid for one in added.episodic_edges} == {one.uuid for one in added.nodes}
    assert facts(search(graphiti, "Where does Ana live?")) == ["Ana lives in Porto"]
    found = asyncio.run(graphiti.get_nodes_and_edges_by_episode([episode.uuid, "ana/none", "none"]))
    assert facts(found.edges) == ["Ana lives in Porto"] and {one.name for one in found.nodes} == {"Ana", "Porto"}


def test_both_time_axes_are_told(graphiti):
    """What is replaced ends on a day of the world, and is told to end when that became known; it is still found."""
    (old,) = add(graphiti, "Ana: I live in Porto.").edges
    added = add(graphiti, "Ana: I moved to Bonn yesterday.", at=MAY)
    new, ended = added.edges
    assert (new.fact, new.valid_at) == ("Ana lives in Bonn since 30 April 2024", datetime(2024, 4, 30, tzinfo=UTC))
    assert (ended.uuid, ended.invalid_at, ended.expired_at) == (old.uuid, datetime(2024, 4, 30, tzinfo=UTC), MAY)
    found = {one.uuid: one for one in search(graphiti, "Where does Ana live?")}
    assert found[old.uuid].invalid_at and found[new.uuid].invalid_at is None
    memory = graphiti.doxa.memory(user="ana")
    assert "It took the place of" in memory.why(new.uuid.partition("/")[2]).text


OLD, NEW = ["Ana lived in Porto until 30 April 2024"], ["Ana lives in Bonn since 30 April 2024"]


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"invalid_at": [[DateFilter(comparison_operator=ComparisonOperator.is_null)]]}, NEW),
        ({"expired_at": [[DateFilter(comparison_operator=ComparisonOperator.is_not_null)]]}, OLD),
        ({"valid_at": [[DateFilter(date=MAY, comparison_operator=ComparisonOperator.less_than_equal)]]}, NEW),
        ({"created_at": [[DateFilter(date=MAY, comparison_operator=ComparisonOperator.less_than)]]}, OLD),
        ({"created_at": [[DateFilter(date=MAY, comparison_operator=ComparisonOperator.equals)], []]}, [*OLD, *NEW]),
        ({"edge_types": ["WORKS_AT"]}, []),
        ({"edge_types": ["LIVES_IN"]}, [*OLD, *NEW]),
        ({"node_labels": ["Nothing"]}, []),
        ({"node_labels": ["Entity"]}, [*OLD, *NEW]),
        ({"edge_uuids": []}, []),
        ({"edge_source_node_uuids": ["moved/ana"]}, [*OLD, *NEW]),
        ({"edge_target_node_uuids": ["moved/bonn"]}, NEW),
    ],
    ids=str,
)
def test_filters_choose_edges(moved, filters, expected):
    """All of Graphiti's filters are served; lists of times are alternatives, times in a list hold together."""
    found = search(moved[0], "Where does Ana live?", group_ids=["moved"], search_filter=SearchFilters(**filters))
    assert sorted(facts(found)) == sorted(expected)


def test_everybody_speaks_for_themselves(graphiti):
    """Each line of a message is a turn of its speaker; what is not opened by a name is the user's."""
    body = "Ana: I live in Porto.\nBen(user): I live in Bonn.\n(assistant): Noted.\nuser: I work at Acme."
    added = add(graphiti, body)
    told = {(turn.speaker, turn.role, turn.text) for turn in graphiti.doxa.memory(user="ana").turns()}
    assert {("Ana", "user", "I live in Porto."), ("Ben", "user", "I live in Bonn.")} <= told
    assert ("assistant", "assistant", "Noted.") in told and len(told) == 4
    assert {"Ana lives in Porto", "Ben lives in Bonn"} <= set(facts(added.edges))
    assert added.episode.content == body


NAMES = st.from_regex(r"[A-Z][a-z]{1,8}( [A-Z][a-z]{1,8})?", fullmatch=True)
WORDS = st.text("abc xyz.!?é", min_size=1, max_size=40).filter(lambda one: one.strip())


@settings(max_examples=10, deadline=None)
@given(st.lists(st.tuples(NAMES, WORDS), min_size=1, max_size=4))
def test_messages_are_cut_where_graphiti_cuts_them(shared, said):
    """Its own cutting of long messages needs no database; the content is read back as it was."""
    body = "\n".join(f"{name}: {words}" for name, words in said)
    graphiti, group_id = Graphiti(doxa=shared), f"cut-{uuid4()}"
    added = add(graphiti, body, group_id=group_id)
    turns = shared.memory(user=group_id).turns()
    ours = [(turn.speaker, turn.text) for turn in turns]
    cut = [one.partition(":") for one in chunk_message_content(body, chunk_size_tokens=1, overlap_tokens=-1)]
    assert ours == [(name, words.strip()) for name, _, words in cut]
    (kept,) = asyncio.run(graphiti.retrieve_episodes(LATER, group_ids=[group_id]))
    assert kept.uuid == added.episode.uuid and kept.content == body


def test_messages_may_be_json(graphiti):
    """A list of messages is read as such, as Graphiti's cutting reads it."""
    body = json.dumps(
        [{"role": "user", "content": "I live in Porto."}, {"role": "assistant", "content": "Noted."}, {"role": "user"}]
    )
    add(graphiti, body)
    told = [(turn.role, turn.text) for turn in graphiti.doxa.memory(user="ana").turns()]
    assert told == [("user", "I live in Porto."), ("assistant", "Noted.")]


def test_json_is_told_of_what_it_names(graphiti):
    """Fields are said of the nearest name; what names nothing is kept as it is, and is found by its words."""
    added = add(
        graphiti,
        json.dumps({"name": "Maria", "home_city": "Porto", "employer": {"name": "Acme", "city": "Bonn"}, "x": None}),
        source=EpisodeType.json,
    )
    assert {"Maria", "Acme"} <= {one.name for one in added.nodes}
    kept = add(graphiti, '{"weather": ["sunny"]}', source=EpisodeType.json)
    assert kept.edges == [] and kept.episode.content == '{"weather": ["sunny"]}'
    found = asyncio.run(graphiti.search_("sunny weather", recipes.COMBINED_HYBRID_SEARCH_RRF, ["ana"]))
    assert kept.episode.uuid in [one.uuid for one in found.episodes] and found.communities == []
    with pytest.raises(InputError, match="expected JSON"):
        add(graphiti, "{", source=EpisodeType.json)


def test_groups_share_nothing(graphiti):
    """A group is a user; who names no group asks all, as there."""
    add(graphiti, "Ana: I live in Porto.")
    add(graphiti, "Ana: I live in Bonn.", group_id="ben")
    add(graphiti, "I live in Rome.", group_id=None)
    assert facts(search(graphiti, "Where does Ana live?")) == ["Ana lives in Porto"]
    assert facts(search(graphiti, "Where does Ana live?", group_ids=["ben"])) == ["Ana lives in Bonn"]
    every = asyncio.run(graphiti.search("Where does Ana live?"))
    assert {one.group_id for one in every} == {"ana", "ben", ""} and len({one.uuid for one in every}) == 3
    assert facts(every) == facts(search(graphiti, "Where does Ana live?", group_ids=[""]))  # in searches no group
    assert len({one.source_node_uuid for one in every}) == 3  # two who are called alike are two nodes
    assert len(asyncio.run(graphiti.search("Where does Ana live?", num_results=2))) == 2
    graphiti.doxa.dialogue(user="a b").absorb("I live in Oslo.")  # no name of a group
    graphiti.doxa.flush()
    assert "a b" not in {one.group_id for one in asyncio.run(graphiti.search("Where does Ana live?"))}
    for call in (graphiti.search("x", group_ids=["a b"]), graphiti.add_episode("x", "y", "z", MAY, group_id="a/b")):
        with pytest.raises(GroupIdValidationError):
            asyncio.run(call)


def test_an_episode_that_is_removed_is_gone(graphiti, doxa):
    """With its turns, its facts and its record; what it had displaced holds again."""
    first = add(graphiti, "Ana: I live in Porto.")
    second = add(graphiti, "Ana: I moved to Bonn.", at=MAY)
    asyncio.run(graphiti.remove_episode(second.episode.uuid))
    (edge,) = search(graphiti, "Where does Ana live?")
    assert (edge.uuid, edge.invalid_at) == (first.edges[0].uuid, None)
    assert [turn.text for turn in doxa.memory(user="ana").turns(withdrawn=True)] == ["I live in Porto."]
    assert [one.uuid for one in asyncio.run(graphiti.retrieve_episodes(LATER))] == [first.episode.uuid]
    for uuid in (second.episode.uuid, "ana/none", "none", "a b/none", ""):
        with pytest.raises(NodeNotFoundError):
            asyncio.run(graphiti.remove_episode(uuid))


def test_the_latest_episodes_come_oldest_first(graphiti, doxa):
    """Up to a moment, of a source, a saga or a group; a turn of another interface is an episode too."""
    for day in range(4):
        at, saga = MARCH + timedelta(days=day), "s" if day else None
        add(graphiti, f"Line {day}.", at=at, source=EpisodeType.text, saga=saga)
    add(graphiti, "Ana: hello", at=MARCH, group_id="ben")
    doxa.dialogue(user="ana").absorb("Said elsewhere.", at=MAY, turn_id="t1")

    def told(*arguments, **more):
        return [one.content for one in asyncio.run(graphiti.retrieve_episodes(*arguments, **more))]

    assert told(MARCH + timedelta(days=2), 2) == ["Line 1.", "Line 2."]
    assert told(LATER, group_ids=["ana"], last_n=2) == ["Line 3.", "Ana: Said elsewhere."]
    assert told(LATER, group_ids=["ana"], saga="s") == ["Line 1.", "Line 2.", "Line 3."]
    assert told(LATER, source=EpisodeType.message) == ["Ana: hello", "Ana: Said elsewhere."]
    assert told(LATER, saga="s") == [] == told(LATER, group_ids=["ben"], saga="s")
    assert told(LATER, last_n=0) == [] == told(LATER, group_ids=[""])
    assert told(datetime(2024, 3, 2), group_ids=["ana"]) == ["Line 0."]  # a time without a zone is in UTC
    asyncio.run(graphiti.remove_episode("ana/t1"))
    assert told(LATER, source=EpisodeType.message) == ["Ana: hello"]


def test_an_episode_told_again_is_the_same(graphiti, doxa):
    """A known uuid tells the episode again, which changes nothing; one that is not known is an error, as there."""
    added = add(graphiti, "Ana: I live in Porto.")
    again = add(graphiti, "ignored", uuid=added.episode.uuid)
    assert again.episode.uuid == added.episode.uuid and again.episode.content == added.episode.content
    assert facts(again.edges) == facts(added.edges) and len(doxa.memory(user="ana").turns()) == 1
    with pytest.raises(NodeNotFoundError):
        add(graphiti, "Ana: hi", uuid="e1")


def test_a_bulk_is_its_episodes(graphiti):
    """They are told in their order, and what one ends is given once."""
    raw = [
        RawEpisode(name=f"e{at:%m}", content=text, source_description="", source=EpisodeType.message, reference_time=at)
        for at, text in ((MARCH, "Ana: I live in Porto."), (MAY, "Ana: I moved to Bonn yesterday."))
    ]
    added = asyncio.run(graphiti.add_episode_bulk(raw, group_id="ana"))
    assert [one.name for one in added.episodes] == ["e03", "e05"]
    assert sorted(facts(added.edges)) == sorted([*OLD, *NEW]) and len(added.episodic_edges) == 4


def triplet(fact, **more):
    """Return the arguments of a triplet."""
    nodes = [EntityNode(name=name, group_id="ana") for name in ("Maria", "Acme")]
    edge = EntityEdge(
        group_id="ana", source_node_uuid=nodes[0].uuid, target_node_uuid=nodes[1].uuid, created_at=MARCH,
        name="WORKS_AT", fact=fact, **more,
    )  # fmt: skip
    return nodes[0], edge, nodes[1]


def test_a_triplet_is_a_sentence(graphiti):
    """It is read like any other, has no episode, and has to name both of its nodes."""
    added = asyncio.run(graphiti.add_triplet(*triplet("Maria works at Acme.", valid_at=MAY)))
    assert "Maria works at Acme" in facts(added.edges) and {"Maria", "Acme"} <= {one.name for one in added.nodes}
    assert added.edges[0].episodes == [] and added.edges[0].created_at == MAY
    assert asyncio.run(graphiti.retrieve_episodes(LATER)) == []
    with pytest.raises(InputError, match="Acme"):
        asyncio.run(graphiti.add_triplet(*triplet("Maria has a job.")))


@pytest.mark.parametrize("name", [name for name in vars(recipes) if name.isupper()])
def test_every_recipe_is_served(moved, name):
    """Of Graphiti's own recipes each gives what it names and nothing else; a distance needs a centre."""
    graphiti, node = moved
    config = getattr(recipes, name)
    found = asyncio.run(graphiti.search_("Where does Ana live?", config, ["moved"], node))
    assert bool(found.edges) == (config.edge_config is not None)
    assert bool(found.nodes) == (config.node_config is not None)
    assert bool(found.episodes) == (config.episode_config is not None)
    for kind in ("edge", "node", "episode"):
        assert len(getattr(found, f"{kind}s")) == len(getattr(found, f"{kind}_reranker_scores"))
    assert asyncio.run(graphiti.search_(" ", config)).edges == []
    if "NODE_DISTANCE" in name:
        with pytest.raises(SearchRerankerError):
            asyncio.run(graphiti.search_("Where does Ana live?", config, ["moved"]))


def test_what_is_often_told_comes_first_where_that_is_asked(graphiti):
    """By how many episodes tell it."""
    add(graphiti, "Ana: I work at Acme.")
    for _ in range(2):
        add(graphiti, "Ana: I live in Porto.")
    config = recipes.EDGE_HYBRID_SEARCH_EPISODE_MENTIONS
    found = asyncio.run(graphiti.search_("Where does Ana work?", config, ["ana"]))
    assert found.edges[0].fact == "Ana lives in Porto" and found.edge_reranker_scores[0] == 2


def test_nothing_is_lost_when_it_is_opened_again(tmp_path, monkeypatch):
    """A path opens a file; episodes, edges and uuids are those of before."""
    monkeypatch.setattr("doxa.integrations.graphiti.client.Config.load", lambda: LIGHT)
    first = Graphiti(str(tmp_path / "memory.db"), store_raw_episode_content=False)
    added = add(first, "Ana: I live in Porto.")
    asyncio.run(first.close())
    asyncio.run(first.close())
    again = Graphiti(str(tmp_path / "memory.db"))
    assert [one.uuid for one in search(again, "Where does Ana live?")] == [added.edges[0].uuid]
    (episode,) = asyncio.run(again.retrieve_episodes(LATER))
    assert (episode.uuid, episode.content, episode.entity_edges) == (
        added.episode.uuid, "", [added.edges[0].uuid],
    )  # fmt: skip
    asyncio.run(again.close())


def test_a_call_that_is_cancelled_is_finished(graphiti, doxa):
    """Then there is no half of an episode."""

    async def cancelled():
        said = "Ana: I live in Porto.\nBen: hi"
        task = asyncio.ensure_future(graphiti.add_episode("c", said, "", MAY, group_id="ana"))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert len(doxa.memory(user="ana").turns()) == 2
    assert len(asyncio.run(graphiti.retrieve_episodes(LATER))) == 1


def test_many_may_add_at_once(graphiti):
    """Each finds its own."""

    async def together():
        calls = [graphiti.add_episode("c", f"P{at}: I live in Porto.", "", MAY, group_id=f"g{at}") for at in range(4)]
        return await asyncio.gather(*calls)

    assert [facts(one.edges) for one in asyncio.run(together())] == [[f"P{at} lives in Porto"] for at in range(4)]


def test_an_episode_that_cannot_be_taken_leaves_nothing(tmp_path):
    """Neither a record nor a turn."""
    config = LIGHT.model_copy(update={"engine": LIGHT.engine.model_copy(update={"max_turn_chars": 20})})
    with Doxa.open(":memory:", config=config) as doxa:
        graphiti = Graphiti(doxa=doxa)
        for body, error in (("Ana: hi\nBen: " + "x" * 21, TurnError), (" ", InputError)):
            with pytest.raises(error, match="othing was stored"):
                add(graphiti, body)
        assert doxa.memory(user="ana").turns(withdrawn=True) == []
        assert asyncio.run(graphiti.retrieve_episodes(LATER, group_ids=["ana"])) == []


def test_what_does_nothing_here_says_so(doxa):
    """Arguments in a warning, methods in an error that says what to do instead."""
    with pytest.warns(UserWarning, match="uri, llm_client"):
        graphiti = Graphiti("bolt://localhost:7687", llm_client=object(), doxa=doxa)
    with pytest.warns(UserWarning, match="update_communities, edge_types"):
        add(graphiti, "Ana: hi", update_communities=True, edge_types={"A": EpisodicNode})
    for call, match in (
        (graphiti.build_communities(), "summary"),
        (graphiti.summarize_saga("s"), "retrieve_episodes"),
        (graphiti.search_("x", bfs_origin_node_uuids=["a"]), "center_node_uuid"),
    ):
        with pytest.raises(InputError, match=match):
            asyncio.run(call)
    with pytest.raises(AttributeError, match="search_"):
        _ = graphiti.driver


def test_signatures_are_graphitis():
    """Every method that is served takes what Graphiti's takes, in its order."""
    for name in (
        "__init__ add_episode add_episode_bulk add_triplet build_communities build_indices_and_constraints close "
        "get_nodes_and_edges_by_episode remove_episode retrieve_episodes search search_ summarize_saga"
    ).split():
        theirs, ours = (list(inspect.signature(getattr(kind, name)).parameters) for kind in (Theirs, Graphiti))
        assert [one for one in ours if one != "doxa"] == theirs, name
    public = {name for name in vars(Theirs) if not name.startswith("_")}
    assert public - set(dir(Graphiti)) == {"token_tracker"}
