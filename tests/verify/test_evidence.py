"""What is found of a clause by several means, weighed."""

import pytest

from doxa.verify.conflicts import Conflict
from doxa.verify.evidence import Evidence, p_contradicted
from doxa.verify.findings import Finding


@pytest.mark.parametrize(
    ("more", "less"),
    [
        (Evidence(), Evidence(finding=Finding(label="supported"))),
        (Evidence(entailed=0.05, contradicted=0.9), Evidence(entailed=0.9, contradicted=0.05)),
        (Evidence(conflict=Conflict(counted=1.0)), Evidence()),
        (Evidence(conflict=Conflict(changed=1.0)), Evidence(conflict=Conflict(matched=1.0))),
        (Evidence(conflict=Conflict(typed=1.0)), Evidence(conflict=Conflict(typed=0.2))),
    ],
    ids=["partly supported", "model", "number", "replaced", "share"],
)
def test_evidence_against_makes_a_contradiction_likelier(more, less):
    assert 0.0 < p_contradicted(less) < p_contradicted(more) < 1.0


def test_several_weak_signs_decide_what_none_decides_alone():
    """A number that differs beside a model that leans to a contradiction."""
    number, model = Conflict(counted=0.4), {"entailed": 0.2, "contradicted": 0.6}
    alone = max(p_contradicted(Evidence(conflict=number)), p_contradicted(Evidence(**model)))
    assert p_contradicted(Evidence(conflict=number, **model)) > 0.6 > alone
