"""Drivers of older protocol versions: what 1.1 to 1.3 brought, and that those before go on as they were."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fake_drivers import fake as command

from conformance.adapter import protocol
from conformance.adapter.check import check_adapter
from conformance.adapter.client import Client
from conformance.adapter.connectors import connect
from conformance.adapter.errors import DriverUnusable, NotAccepted
from conformance.histories import plans
from conformance.histories.operations.table import needed_features, takes
from conformance.histories.walk import creations, fitting, offer_of
from conformance.model import Call
from conformance.run import run

HANDLE = {"queue": "h1", "timeout_ms": 0}


def client(fake: str, tmp_path: Path) -> Client:
    return connect(command(fake), state_dir=tmp_path / "state")


def handle(mq: Client) -> str | int:
    name = mq.call("queues.create", path_name="HOST\\private$\\q").values["format_name"]
    number: str | int = mq.call("queues.open", format_name=name, access="receive").values["queue"]
    return number


def test_a_driver_of_the_first_version_is_spoken_to_in_it(tmp_path: Path) -> None:
    with client("honest", tmp_path) as mq:
        assert mq.hello.protocol == "1.0" and not mq.hello.accepts
        queue = handle(mq)
        assert mq.call("messages.send", queue=queue, message={"priority": 5, "trace": True}).ok
        mq.need("format_names", "multicast")


def test_all_versions_are_offered_the_newest_first() -> None:
    assert protocol.VERSIONS == ("1.4", "1.3", "1.2", "1.1", "1.0")
    assert protocol.since("hello") == {
        "accepts": "1.1", "directory_protocols": "1.4", "plays": "1.4", "security": "1.3",
    }  # fmt: skip


def test_an_old_version_has_no_new_member(tmp_path: Path) -> None:
    with pytest.raises(DriverUnusable, match=r"speaks adapter protocol 1\.0, which has no accepts"):
        client("old_and_particular", tmp_path)


@pytest.mark.parametrize(
    ("method", "params", "what"),
    [
        ("messages.send", {"queue": "h1", "message": {"body": "", "delivery": "express"}}, "delivery"),
        ("queues.create", {"path_name": "q", "properties": {"PROPID_Q_JOURNAL": 1}}, "PROPID_Q_JOURNAL"),
        ("queues.open", {"format_name": "q", "access": "peek"}, "peek"),
        ("queues.open", {"format_name": "q", "access": "send", "share": "deny_receive"}, "deny_receive"),
    ],
)
def test_what_is_not_accepted_is_never_asked(method: str, params: dict[str, object], what: str, tmp_path: Path) -> None:
    with client("takes_little", tmp_path) as mq:
        with pytest.raises(NotAccepted, match=what):
            mq.call(method, **params)
        with pytest.raises(NotAccepted, match="multicast"):
            mq.need("format_names", "journal", "multicast")
        assert mq.epoch == 1 and mq.call("messages.send", queue=handle(mq), message={"priority": 5}).ok


def test_what_an_api_cannot_express_is_no_failure_of_it(tmp_path: Path) -> None:
    with client("takes_little", tmp_path) as mq:
        handle(mq)
        with pytest.raises(NotAccepted, match="a peek before a full moon"):
            mq.call("messages.peek", **HANDLE)
        assert mq.call("messages.receive", **HANDLE).status is not None
    with client("old_and_wordy", tmp_path / "old") as mq:
        handle(mq)
        result = mq.call("messages.peek", **HANDLE)
        assert result.failure is not None and result.failure.text == "no peeks here"


def test_adapter_check_tells_what_is_not_accepted(tmp_path: Path) -> None:
    steps = {step.what: step for step in check_adapter(command("takes_little"), state_dir=tmp_path)}
    assert steps["share"].text == "accepts only deny_none; tests that need more are skipped"
    assert steps["messages.peek"].state == "missing" and "full moon" in steps["messages.peek"].text
    assert not [step for step in steps.values() if step.state == "wrong"]


def test_a_call_of_the_model_says_what_it_gives() -> None:
    post = Call("messages.send", message="a", handle="s", priority=0, live_s=0, acks="positive_receive", admin="adm")
    assert set(needed_features(post)) == {
        ("message", name) for name in ("priority", "time_to_be_received", "acknowledgements", "administration_queue")
    }
    assert set(needed_features(Call("queues.open", queue="q1;JOURNAL"))) == {
        ("access", "receive"), ("share", "deny_none"), ("format_names", "journal"),
    }  # fmt: skip
    kinds = {"q1,q2": "multiple_element", "SYSTEM;DEADXACT": "dead_letter", "elsewhere": "remote", "q1;s": "subqueue"}
    for queue, kind in kinds.items():
        assert dict(needed_features(Call("queues.open", queue=queue)))["format_names"] == kind
    assert set(needed_features(Call("queues.create", queue="q", transactional=True, quota_kb=0))) == {
        ("properties", "PROPID_Q_TRANSACTION"), ("properties", "PROPID_Q_QUOTA"),
    }  # fmt: skip
    assert not list(needed_features(Call("messages.receive", handle="r")))


def test_a_walk_does_without_what_is_not_accepted(tmp_path: Path) -> None:
    with client("takes_little", tmp_path) as mq:
        offer = offer_of(mq)
    assert fitting(plans.WAITS, offer).queues == (plans.PLAIN,)
    assert fitting(plans.TRANSACTIONS, offer) == plans.TRANSACTIONS
    assert not all(takes(offer, call) for call in creations(plans.TRANSACTIONS))


def test_a_run_skips_what_is_not_accepted_and_says_why(tmp_path: Path) -> None:
    result = run(
        adapter=command("takes_little"),
        suites="cursors,properties,transactions",
        max_examples=3,
        quirks=False,
        out=tmp_path / "out",
    )
    lines = [json.loads(line) for part in (tmp_path / "out").glob("run-*.ndjson") for line in part.open()]
    reasons = {line["reason"] for line in lines if line.get("outcome") == "skip"}
    assert any("deny_receive" in reason for reason in reasons), reasons
    assert any("full moon" in reason for reason in reasons), reasons
    judged = {line["requirement"] for line in lines if line.get("outcome") in ("pass", "fail")}
    assert "MQDMPR-3.1.7.1.10.time-out" in judged or len(judged) > 10
    assert not {name for name in judged if "exclusive" in name or "http" in name}
    assert any(name.startswith("MQMQ-2.3.1.8.") for name in judged), "a label of a queue is all it was asked for"
    assert not any(line["outcome"] == "crash" for line in lines if "outcome" in line)
    assert result is not None
