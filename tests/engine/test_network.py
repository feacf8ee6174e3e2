"""A memory as nodes and edges."""

from doxa.engine import Network

LISBON, BERLIN = "2024-03-02", "2024-06-02"


def told(doxa):
    """Return the memory of Ana, who moved."""
    chat = doxa.dialogue(user="ana")
    chat.absorb("I live in Lisbon and I work at Mareluz.", at=LISBON, turn_id="t1")
    chat.absorb("I moved to Berlin yesterday.", at=BERLIN, turn_id="t2")
    chat.flush()
    return doxa.memory(user="ana")


def labels(entities):
    return [one.label for one in entities]


def objects(facts):
    return {fact.object.label for fact in facts}


def test_what_held_once_is_an_edge_only_where_that_is_asked(doxa):
    """What never was true is none in either case."""
    memory = told(doxa)
    assert "Lisbon" not in objects(Network(memory).facts.values())
    assert {"Lisbon", "Berlin"} <= objects(Network(memory, past=True).facts.values())
    (home,) = memory.facts(relation="lives_in")
    memory.retract(home.fact_id)
    assert "Berlin" not in objects(Network(memory, past=True).facts.values())


def test_facts_are_found_by_what_their_turns_say(doxa):
    """Best first, each once, with the score of the evidence."""
    network = Network(told(doxa), past=True)
    found = network.found(network.search("Where does Ana work?"))
    assert "Mareluz" in objects(network.facts[key] for key in found)
    assert len(found) == len(set(found)) and list(found.values()) == sorted(found.values(), reverse=True)
    assert objects(network.said(["t2"])) == {"Berlin"} and network.said(["none"]) == []


def test_every_edge_has_two_ends(doxa):
    """Also where one is no entity that anything is believed of."""
    network = Network(told(doxa), past=True)
    ends = network.ends(network.facts.values())
    assert {"Ana", "Lisbon", "Berlin", "Mareluz"} <= set(labels(ends)) and "lisbon" not in network.entities
    ana = next(one for one in ends if one.label == "Ana")
    assert "Ana works at Mareluz" in network.summary(ana) and len(network.about(ana)) == len(network.facts)
    assert network.summary(next(one for one in ends if one.label == "Lisbon")) == ""
