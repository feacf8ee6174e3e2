"""What Doxa does not do is said, and never faked."""

import pytest
from mem0.exceptions import MemoryError as Mem0Error

CALLS = {
    "feedback": (lambda one: one.feedback("x", feedback="NEGATIVE"), "update"),
    "export": (lambda one: one.create_memory_export(schema="{}"), "doxa export"),
    "exported": (lambda one: one.get_memory_export(user_id="ana"), "doxa export"),
    "profile": (lambda one: one.get_profile("ana"), "get_summary"),
    "make a profile": (lambda one: one.generate_profile("ana"), "get_summary"),
    "sample profiles": (lambda one: one.sample_profiles(limit=1), "get_summary"),
    "profile job": (lambda one: one.get_profile_job("j1"), "no such jobs"),
    "profile settings": (lambda one: one.get_profile_settings(), "nothing to set"),
    "set profiles": (lambda one: one.update_profile_settings(enabled=True), "nothing to set"),
    "webhooks": (lambda one: one.get_webhooks(project_id="p"), "calls nobody"),
    "make a webhook": (lambda one: one.create_webhook("http://x", "x", "p", ["add"]), "calls nobody"),
    "change a webhook": (lambda one: one.update_webhook(1, name="x"), "calls nobody"),
    "drop a webhook": (lambda one: one.delete_webhook(1), "calls nobody"),
    "make a project": (lambda one: one.project.create("x"), "doxa keys add"),
    "change a project": (lambda one: one.project.update(custom_instructions="x"), "ontology"),
    "drop a project": (lambda one: one.project.delete(), "doxa keys"),
    "members": (lambda one: one.project.get_members(), "doxa keys list"),
    "add a member": (lambda one: one.project.add_member("a@b.c"), "doxa keys add"),
    "change a member": (lambda one: one.project.update_member("a@b.c", "READER"), "doxa keys"),
    "drop a member": (lambda one: one.project.remove_member("a@b.c"), "revoke"),
}


@pytest.mark.parametrize(("call", "said"), CALLS.values(), ids=CALLS.keys())
def test_what_there_is_not_is_an_error_that_says_what_to_do(ana, call, said):
    """Every method of the client that Doxa has no equal of."""
    with pytest.raises(Mem0Error, match=said) as refused:
        call(ana)
    assert refused.value.error_code == "HTTP_501"


def test_strangers_are_told_nothing(ana):
    """The key is asked for first."""
    answer = ana.client.post("/v1/feedback/", json={}, headers={"Authorization": "Token doxa_x"})
    assert answer.status_code == 401 and "API key" in answer.json()["detail"]
