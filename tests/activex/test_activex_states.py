"""Object states: the tables name members and checks that there are, and every state can be reached."""

from __future__ import annotations

from conformance.activex.tables import CLASSES, CREATIONS, STATES, TRANSITIONS, after, refuses


def test_transitions_name_members_and_states() -> None:
    for one in TRANSITIONS:
        kind, _, name = one.member.rpartition(" ")
        assert CLASSES[one.coclass][name].slot("put" if kind else "method") is not None, one
        assert {one.source, one.target} <= set(STATES[one.coclass].all), one
    for (coclass, name), (made, state) in CREATIONS.items():
        assert CLASSES[coclass][name].slots[0].kind == "method"
        assert state in STATES[made].all


def test_every_state_of_an_object_that_a_client_has_is_reached() -> None:
    reached = {(coclass, states.new) for coclass, states in STATES.items()} | set(CREATIONS.values())
    reached |= {(one.coclass, one.target) for one in TRANSITIONS}
    wanted = {(coclass, state) for coclass, states in STATES.items() if states.new for state in states.all}
    assert wanted - reached == {("MSMQMessage", "Received")}  # a read hands it out, in any of its forms


def test_checks_of_states_are_checks_of_members() -> None:
    for coclass, states in STATES.items():
        known = {check.name for member in CLASSES[coclass].values() for check in member.checks}
        assert {name for names in states.refuses.values() for name in names} <= known


def test_what_moves_an_object() -> None:
    assert after("MSMQQueue", "Opened", "Close") == "Closed"
    assert after("MSMQQueue", "Blank", "Close") == "Blank"
    assert after("MSMQQueueInfo", "Created", "put PathName") == "Named by path name"
    assert refuses("MSMQQueue", "Blank") == {"blank"}
    assert refuses("MSMQMessage", "Received") == frozenset()
