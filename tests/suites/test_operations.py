"""Operations: what the harness knows of a call stands in one place, and agrees with the protocol and the model."""

from __future__ import annotations

import ast
import json
from dataclasses import fields
from pathlib import Path
from random import Random

import pytest
from dangling_names import dangling
from nightly import amount

import conformance
from conformance.adapter import protocol
from conformance.files import resource
from conformance.histories import plans
from conformance.histories.inference.probing import Player, defaults
from conformance.histories.operations.operation import NEEDED, Offer, Role
from conformance.histories.operations.table import ACTIONS, METHODS, OPERATIONS, renamed, stored_call
from conformance.histories.plans import DATA, stored
from conformance.histories.walk import Plan, chooser, set_up
from conformance.model import BadCall, Call, State, message_properties
from conformance.model.properties import ROWS
from conformance.model.step import METHODS as JUDGED
from conformance.walks import pick
from tools import walk_claims

PACKAGE = Path(conformance.__file__).parent
KNOWING = ("model", "histories/operations", "histories/features")
PLANNING = ("histories/situations/specified_calls.py", "histories/situations/specified_calls.py")
"""The modules of the planner that tell calls apart: what the text leaves open, and what an answer would have said."""
OBJECTS = ("activex/effects.py", "activex/world.py", "activex/underlying_calls.py")
"""The modules that turn members of COM objects into calls, and the verdict on a call into one on its member."""
KNOWING += (*PLANNING, *OBJECTS)
PLANS = {name: plan for name, plan in vars(plans).items() if isinstance(plan, Plan)}
PLANS["PROPERTIES"] = plans.properties(tuple(ROWS), restarts=True)
NO_METHOD = {"restart", "watch", "use"}  # the harness does them


def told_apart(source: str) -> list[int]:
    """Lines on which the method of a call is compared, matched or cut up."""
    found = []
    for node in ast.walk(ast.parse(source)):
        asked: list[ast.expr] = []
        if isinstance(node, ast.Compare):
            asked = [node.left, *node.comparators]
        elif isinstance(node, ast.Match):
            asked = [node.subject]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            asked = [node.func.value] if node.func.attr in ("startswith", "endswith", "partition", "split") else []
        for each in asked:
            if isinstance(each, ast.Attribute) and each.attr == "method":
                whose = each.value.attr if isinstance(each.value, ast.Attribute) else getattr(each.value, "id", "")
                found += [node.lineno] if whose == "call" else []
    return found


def test_nobody_else_tells_calls_apart_by_their_method() -> None:
    wrong = {
        f"{path.relative_to(PACKAGE)}:{line}"
        for path in PACKAGE.rglob("*.py")
        if not any(path.is_relative_to(PACKAGE / room) for room in KNOWING)
        for line in told_apart(path.read_text(encoding="utf-8"))
    }
    assert not wrong


@pytest.mark.parametrize("room", ["harness", "histories", "suites", "report"])
def test_rooms_that_handle_calls_compare_no_method_under_any_name(room: str) -> None:
    wrong = {
        f"{path.relative_to(PACKAGE)}:{node.lineno}"
        for path in (PACKAGE / room).rglob("*.py")
        if not any(path.is_relative_to(PACKAGE / known) for known in KNOWING[1:])
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Compare)
        and any(isinstance(each, ast.Attribute) and each.attr == "method" for each in (node.left, *node.comparators))
    }
    assert not wrong


@pytest.mark.parametrize(
    "source",
    [
        "call.method == 'restart'",
        "op.call.method in ('a', 'b')",
        "'x' != call.method",
        "match call.method:\n    case 'a': pass",
        "call.method.startswith('queues.')",
    ],
)
def test_telling_apart_is_seen(source: str) -> None:
    assert told_apart(source) == [1]
    assert told_apart("table[call.method]; other.method == 'x'") == []


def test_operations_are_what_the_model_judges() -> None:
    assert set(OPERATIONS) == set(JUDGED)
    assert METHODS == set(OPERATIONS) - NO_METHOD <= set(protocol.methods())


@pytest.mark.parametrize("method", OPERATIONS)
def test_members_are_those_of_the_call_and_of_the_protocol(method: str) -> None:
    operation = OPERATIONS[method]
    known = {field.name: field.default for field in fields(Call)}
    for name, member in operation.members.items():
        assert name in known and name != "method"
        assert (member.kind is None) == (member.role is Role.VALUE)
        assert member.plain is NEEDED or member.plain == known[name]
        assert all(other in operation.members for other in member.along)
    if operation.method in NO_METHOD:
        return
    schema = protocol.method(operation.method)
    params = schema.params["properties"]
    sent = {member.group or member.parameter for member in operation.members.values()} - {None}
    assert sent <= set(params) and set(schema.params.get("required", ())) <= sent
    given = {member.result for member in operation.members.values()} - {None}
    assert given <= set(schema.result["anyOf"][0]["properties"])
    for member in operation.members.values():
        if member.spread:
            assert set(message_properties.values(message_properties.ALL | message_properties.NO_BODY, "a")) <= set(
                params["message"]["properties"]
            )
        elif member.group == "message":
            assert member.parameter in params[member.group]["properties"], member


def test_what_may_not_be_accepted_is_called_as_hello_calls_it() -> None:
    words = protocol.method("hello").result["anyOf"][0]["properties"]["accepts"]["properties"]
    asked = {
        pair
        for operation in OPERATIONS.values()
        for member in operation.members.values()
        if member.accepted is not None
        for value in (None, 1, True, "deny_receive", "peek", "q1;JOURNAL", "q1;one", "remote1", "q1,q2")
        if not member.each and (pair := member.accepted(value if isinstance(value, str) or member.group else None))
    }
    assert {kind for kind, _ in asked} == set(words)
    for kind, name in asked - {("access", "deny_receive"), ("share", "peek")}:
        known = words[kind]["items"].get("enum")
        assert name.startswith("PROPID_Q_") if known is None else name in known or kind in ("access", "share")


def test_every_action_makes_calls_that_operations_have() -> None:
    taken = {name for plan in PLANS.values() for name in plan.actions}
    assert taken == set(ACTIONS)
    for action in ACTIONS.values():
        assert set(action.needs) <= METHODS


def test_stored_calls_have_the_members_of_their_operation() -> None:
    for path in resource("fixtures/traces").glob("*.json"):
        for trace in json.loads(path.read_text(encoding="utf-8"))["traces"]:
            assert [stored_call(raw).to_json() for raw in trace["calls"]] == trace["calls"]
    for wrong in (
        {"method": "queues.rename", "queue": "q1"},
        {"method": "queues.purge", "handle": "h1", "timeout_ms": 5},
        {"queue": "q1"},
    ):
        with pytest.raises(BadCall):
            stored_call(wrong)


class Played:
    """A history in which the model answers."""

    def __init__(self) -> None:
        self.player, self.state = Player(defaults()), State()
        self.calls: list[Call] = []

    def do(self, call: Call) -> None:
        _, self.state = self.player.play(self.state, call)
        self.calls.append(call)


@pytest.mark.parametrize("name", sorted(set(PLANS) - {"JOURNALS", "QUOTAS"}))
def test_renamed_calls_name_what_is_there(name: str) -> None:
    """What the model makes of them is the same, so that each name still stands for the same thing."""
    plan, random, history = PLANS[name], Random(name), Played()
    offer = Offer(METHODS, virtual=True)
    played = [one for one in plan.actions if one not in ("post", "fill", "count", "pass_seconds")]
    set_up(history, plan)
    for _ in range(80):
        call, _ = pick(history.state, [chooser(ACTIONS[one], offer) for one in played], random.getrandbits(32))
        try:
            if call is not None:
                history.do(call)
        except BadCall:
            continue
    assert len(history.calls) > 40
    again = Played()
    for call in (few := renamed(history.calls)):
        again.do(call)
    assert [call.method for call in few] == [call.method for call in history.calls]
    assert [len(queue.positions) for queue in again.state.queues.values()] == [
        len(queue.positions) for queue in history.state.queues.values()
    ]
    assert dangling(few) == dangling(history.calls) == []


def test_walks_judge_what_they_claim() -> None:
    """With some of the seeds the claims were measured with: what a walk no longer judges shows here."""
    judged = walk_claims.measured(walk_claims.walks(), range(amount("walks.seeds-of-the-claims")))
    assert {
        name: set(claimed) - judged[name] for name, claimed in stored().items() if set(claimed) - judged[name]
    } == {}
    assert set(stored()) == set(judged)
    assert all(len(claimed) > 15 for claimed in stored().values())
    assert walk_claims.text_of(stored()) == DATA.read_text(encoding="utf-8")
