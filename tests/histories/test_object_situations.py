"""Situations of objects: features that stand on the rows of members, and a book of histories that meets every pair."""

from __future__ import annotations

import json
from itertools import chain, product
from random import Random

import pytest

from conformance.activex.expected import Invoke, Seen
from conformance.activex.features import UNCALLED, features
from conformance.activex.plans import Act, call_on, create
from conformance.activex.plans_reads import read
from conformance.activex.scene_client import client_objects
from conformance.activex.scenes import IDEAL, with_texts
from conformance.activex.tables import MEMBERS
from conformance.activex.values import E_FAIL, Variant, long, text
from conformance.activex.walk import Walk
from conformance.adapter import protocol
from conformance.histories.features.objects import CONSTRAINTS, FEATURES, vector
from conformance.histories.operations import objects
from conformance.histories.situations.book import BookError
from conformance.histories.situations.object_book import load, packed, space, unpacked
from conformance.histories.situations.object_clients import CLIENT, replayed
from conformance.spec.catalogue import catalogue
from tools.planner.object_planner import planned

PLANNED = {number for one in load().histories for numbers in one.met for number in numbers}


def test_every_member_that_a_client_calls_has_features() -> None:
    for member in MEMBERS:
        assert bool(features(member)) == (not member.unimplemented and member.coclass not in UNCALLED), member.name


def test_features_name_their_cases_and_requirements() -> None:
    known = catalogue().requirements
    for name, table in FEATURES.items():
        assert len({one.name for one in table}) == len(table), name
        for one in table:
            assert len(one.values) == len(set(one.values)) > 1, f"{name}: {one.name}"
            assert set(one.steps) <= set(known), f"{name}: {one.name}"
    without = {f"{name}.{one.name}" for name, table in FEATURES.items() for one in table if not one.steps}
    assert without <= {
        "MSMQQueueInfo.ADsPath.object",
        "MSMQMessage.AttachCurrentSecurityContext.object",
        "MSMQMessage.AttachCurrentSecurityContext2.object",
    }, "the catalogue has no call's requirement of these alone"


def test_every_situation_is_planned_or_has_a_reason() -> None:
    every = space()
    left = set(range(every.count)) - PLANNED - set(every.excluded())
    assert not left, [str(every.situation(number)) for number in sorted(left)][:10]


def test_no_history_meets_what_a_constraint_excludes() -> None:
    every = space()
    wrong = PLANNED & set(every.excluded())
    assert not wrong, [str(every.situation(number)) for number in sorted(wrong)][:10]


def test_every_constraint_excludes_something() -> None:
    every = space()
    for one in CONSTRAINTS:
        assert any(
            one.excludes(dict(situation.values)) for method in one.methods for situation in every.all_of(method)
        ), one.reason


def test_histories_meet_what_the_book_says() -> None:
    for one in load().histories[::16]:
        for told, met in zip(one.met, replayed(one), strict=True):
            assert met.issuperset(told), one.member


def test_a_history_goes_on_whichever_way_its_open_sends_end() -> None:
    staged = [one for one in load().histories if one.stage == CLIENT]
    assert {one.member.partition(".")[0] for one in staged} >= {"MSMQMessage", "MSMQQueueInfo", "MSMQTransaction"}
    for history, seed in product(staged, range(4)):
        scene, random = client_objects({}, IDEAL), Random(seed)
        for planned_act in history.acts:
            act, seen = with_texts(planned_act, IDEAL.texts), None
            if act.call is not None:
                named = [one.value for one in act.call.arguments if one.vt == "DISPATCH" and one.value is not None]
                for name in (act.object, *named):
                    assert scene.knows(name), f"{history.member}: {name} is not there"
                open_send = act.call.member == "Send" and scene.is_open(act)
                fails = open_send and random.random() < seed / 3
                seen = Seen(E_FAIL) if fails else scene.ideal(act)
            scene.do(act, seen)


def test_the_planner_makes_the_book() -> None:
    name = "MSMQMessage.Priority"
    made, left = planned(space(), name, frozenset(space().excluded()))
    assert not left
    assert made == [one for one in load().histories if one.member == name]


def test_a_book_of_other_tables_is_told() -> None:
    raw = packed(load().histories[:1])
    assert unpacked(raw, "b") == load().histories[:1]
    for damaged in (raw[:40], b"", raw[:-9] + b"123456789"):
        with pytest.raises(BookError, match="damaged"):
            unpacked(damaged, "b")


def cases(client: Walk, act: Act) -> dict[str, str | None]:
    names = [one.name for one in FEATURES["MSMQQueue.Receive"]]
    return dict(zip(names, vector("MSMQQueue.Receive", client.world, act), strict=True))


def test_a_call_has_the_cases_of_its_arguments_and_its_object() -> None:
    client = Walk(Random(0))
    act = call_on("i_r", "Receive", long(3), text("wrong"), Variant("BOOL", False), long(0), gives="m")
    found = cases(client, act)
    assert found["object"] == "receive" and found["transaction"] == "single"
    assert found["want_body"] == "false" and found["want_connector_type"] == "left_out"
    assert found["receive_timeout"] == "at_once"
    assert found["kind"] == "plain" and found["choice"] == "nothing"
    assert cases(client, call_on("i_r", "Receive", long(3), gives="m"))["choice"] == "awaited"
    ended = call_on("j_s", "Receive", Variant("DISPATCH", "t"), gives="m")
    assert client.attempt((call_on("d", "BeginTransaction", gives="t"), call_on("t", "Abort")))
    found = cases(client, ended)
    assert found["object"] == "send" and found["transaction"] == "ended" and found["unit"] == "none"
    assert cases(client, act)["unit"] == "aborted"
    assert client.attempt((call_on("d", "BeginTransaction", gives="u"),))
    assert cases(client, act)["unit"] == "left" and cases(client, ended)["unit"] == "left"
    assert client.attempt((call_on("u", "Commit"),))
    assert cases(client, act)["unit"] == "committed"


def at_cursor(client: Walk) -> str | None:
    names = [one.name for one in FEATURES["MSMQQueue.PeekCurrent"]]
    act = read("PeekCurrent", "seen", queue_object="i_r")
    return dict(zip(names, vector("MSMQQueue.PeekCurrent", client.world, act), strict=True))["cursor"]


def test_what_became_of_the_message_at_a_cursor_is_told() -> None:
    client = Walk(Random(0))
    assert at_cursor(client) == "unused"
    for name in ("a", "b"):
        label = call_on(name, "Label", text(name), kind="put")
        send = call_on(name, "Send", Variant("DISPATCH", "i_s"), long(0))
        assert client.attempt((create("MSMQMessage", name), label, send))
    assert client.attempt((read("PeekCurrent", "r1", queue_object="i_r"),))
    assert at_cursor(client) == "available"
    assert client.attempt((read("PeekNext", "r2", queue_object="i_r"),))
    assert at_cursor(client) == "moved"
    assert client.attempt((call_on("i_r", "Purge"),))
    assert at_cursor(client) == "purged"


def test_each_of_the_eight_methods_has_its_operation() -> None:
    told = {one.method for one in objects.OPERATIONS}
    assert told == {
        f"objects.{word}" for word in ("create", "invoke", "get", "query", "release", "advise", "unadvise", "describe")
    }
    assert told <= set(protocol.methods())
    acts = {
        "objects.create": create("MSMQQueue", "q"),
        "objects.invoke": call_on("q", "Close"),
        "objects.get": call_on("q", "Get", text("Access"), text("Handle")),
        "objects.query": call_on("q", "QueryInterface", text("{0}")),
        "objects.release": call_on("q", "Release"),
        "objects.advise": call_on("q", "Advise", text("events"), text("{0}")),
        "objects.unadvise": call_on("q", "Unadvise", Variant("UI4", 7), text("{0}")),
        "objects.describe": Act("", Invoke("Describe", "method", (text("MSMQQueue"),))),
    }
    requests = {
        "objects.create": {"class": "MSMQQueue"},
        "objects.invoke": {"object": "o1", "member": "Close", "kind": "method", "arguments": []},
        "objects.get": {"object": "o1", "members": ["Access", "Handle"]},
        "objects.query": {"object": "o1", "iid": "{0}"},
        "objects.release": {"objects": ["o1"]},
        "objects.advise": {"object": "o1", "sink": "events", "iid": "{0}"},
        "objects.unadvise": {"object": "o1", "cookie": 7, "iid": "{0}"},
        "objects.describe": {"class": "MSMQQueue"},
    }
    for method, act in acts.items():
        assert objects.operation(act).method == method
        assert objects.operation(act).request(act, {"q": "o1"}) == requests[method], json.dumps(requests[method])
    with pytest.raises(KeyError):
        objects.INVOKE.request(call_on("nothing", "Close"), {"q": "o1"})


def test_members_are_in_the_book_once_and_in_the_order_of_the_tables() -> None:
    members = list(dict.fromkeys(one.member for one in load().histories))
    assert members == list(FEATURES)
    assert all(len(one.acts) == len(one.met) for one in load().histories)
    assert len(list(chain.from_iterable(numbers for one in load().histories for numbers in one.met))) == len(PLANNED)
