"""The label of a message: what an implementer can defend is accused by nothing, whatever else is done is found."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from conformance.adapter.connectors import connect
from conformance.adapter.session import Result
from conformance.harness.recorder import ConformanceFailure, Recorder, RunOptions
from conformance.spec.catalogue import assignment
from conformance.spec.constants.hresults import MQ_ERROR_LABEL_TOO_LONG
from conformance.spec.followed_readings import FollowedReadings
from conformance.suites.names import test_mqmq_2_2_19_3_label as suite
from conformance.verdict import Outcome, Verdict

LONGEST = 249
LONG = "R-MQMQ-long-label"


class HonestMailbox:
    """One queue that keeps what it is sent, labels of up to 249 elements of UTF-16 whatever is in them."""

    hello = SimpleNamespace(computer="BOX", settle_ms=0)

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []

    def offers(self, method: str) -> bool:
        return True

    def call(self, method: str, /, **params: Any) -> Result:
        match method:
            case "queues.create":
                return Result(0, {"format_name": f"DIRECT=OS:{params['path_name']}"}, None)
            case "queues.open":
                return Result(0, {"queue": params["access"]}, None)
            case "messages.send":
                label = self.kept(params["message"]["label"])
                if label is None:
                    return Result(MQ_ERROR_LABEL_TOO_LONG, {}, None)
                self.messages.append(params["message"] | {"label": label})
            case "messages.receive":
                return Result(0, {"message": self.messages.pop(0)}, None)
        return Result(0, {}, None)

    def kept(self, label: str) -> str | None:
        """The label as it is received; None: refused."""
        return None if elements(label) > LONGEST else label


def elements(label: str) -> int:
    return len(label.encode("utf-16-le")) // 2


class CutsLongLabels(HonestMailbox):
    """As the server of MS-MQMP 3.1.5.2."""

    def kept(self, label: str) -> str | None:
        return label.encode("utf-16-le")[: 2 * LONGEST].decode("utf-16-le", "surrogatepass")


class CutsBetweenCharacters(HonestMailbox):
    def kept(self, label: str) -> str | None:
        return label.encode("utf-16-le")[: 2 * LONGEST].decode("utf-16-le", "ignore")


class EndsLabelsAtNulls(HonestMailbox):
    def kept(self, label: str) -> str | None:
        return super().kept(label.partition("\0")[0])


class RefusesNulls(HonestMailbox):
    def kept(self, label: str) -> str | None:
        return None if "\0" in label else super().kept(label)


class KeepsLongLabels(HonestMailbox):
    def kept(self, label: str) -> str | None:
        return label


class CutsToHalf(HonestMailbox):
    def kept(self, label: str) -> str | None:
        return label[: LONGEST // 2] if elements(label) > LONGEST else label


class SpacesForNulls(HonestMailbox):
    def kept(self, label: str) -> str | None:
        return super().kept(label.replace("\0", " "))


class RefusesTheLongest(HonestMailbox):
    def kept(self, label: str) -> str | None:
        return None if elements(label) >= LONGEST else label


class CutsSome(HonestMailbox):
    """Of the labels that are too long it cuts those of one element too many, and refuses the others."""

    def kept(self, label: str) -> str | None:
        return label[:LONGEST] if elements(label) == LONGEST + 1 else super().kept(label)


def judged(mailbox: HonestMailbox, readings: dict[str, tuple[str, ...]] | None = None) -> list[Verdict]:
    """The verdicts of the suite's test, and those on the run as a whole."""
    accepted = readings or assignment("windows")
    options = RunOptions("msmq-4.0", "must", accepted, "windows", 0, 40, 1)
    found: list[Verdict] = []
    judge = Recorder(options, lambda verdict, _: found.append(verdict))
    client: Any = mailbox
    try:
        suite.test_label(client, judge, lambda *_: None, options)
    except ConformanceFailure as failure:
        found.append(failure.verdict)
    judge.flush()
    followed = FollowedReadings()
    for verdict in found:
        followed.add(verdict, "names")
    return [*found, *followed.conclude(accepted, level="must")]


def broken(mailbox: HonestMailbox, **more: Any) -> set[str]:
    return {verdict.requirement for verdict in judged(mailbox, **more) if verdict.outcome is Outcome.FAIL}


@pytest.mark.parametrize(
    "kind", [HonestMailbox, CutsLongLabels, CutsBetweenCharacters, EndsLabelsAtNulls, RefusesNulls]
)
def test_what_can_be_defended_is_not_accused(kind: type[HonestMailbox]) -> None:
    assert broken(kind()) == set()


def test_the_alternative_followed_is_named() -> None:
    told = {verdict.outcome for verdict in judged(CutsLongLabels()) if (LONG, "truncated") in verdict.readings}
    assert told == {Outcome.READING}
    told = {verdict.outcome for verdict in judged(HonestMailbox()) if (LONG, "refused") in verdict.readings}
    assert told == {Outcome.PASS}


@pytest.mark.parametrize(
    ("kind", "demand"),
    [
        (KeepsLongLabels, "MQMQ-2.4.label-too-long"),
        (CutsToHalf, "MQMQ-2.4.label-too-long"),
        (SpacesForNulls, "MQDMPR-3.1.1.12.label-unchanged"),
        (RefusesTheLongest, "MQDMPR-3.1.1.12.label-length"),
        (CutsSome, "MQMQ-2.4.label-too-long"),
    ],
)
def test_what_nobody_can_defend_is_found(kind: type[HonestMailbox], demand: str) -> None:
    assert demand in broken(kind())


def test_a_run_that_accepts_one_alternative_alone_wants_that() -> None:
    refused = assignment("windows", {LONG: "refused"})
    assert "MQMQ-2.4.label-too-long" in broken(CutsLongLabels(), readings=refused)
    cut = assignment("windows", {LONG: "truncated"})
    assert "MQMQ-2.4.label-too-long" in broken(HonestMailbox(), readings=cut)


@pytest.mark.parametrize(
    ("connector", "demands"),
    [
        ("embedded", set()),
        ("embedded+R-MQMQ-long-label=truncated", set()),
        ("embedded+takes-null-in-label", {"MQDMPR-3.1.1.12.label-unchanged"}),
        ("embedded+cuts-long-label", {"MQMQ-2.4.label-too-long"}),
        ("embedded+refuses-longest-label", {"MQDMPR-3.1.1.12.label-length"}),
    ],
)
def test_a_driver_of_its_own_process(connector: str, demands: set[str], tmp_path: Path) -> None:
    client: Any = connect(connector, state_dir=tmp_path)
    try:
        found = broken(client)
    finally:
        client.close()
    assert demands <= found and bool(found) == bool(demands)
