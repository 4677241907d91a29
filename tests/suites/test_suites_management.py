"""The suite of management: every value that is told wrongly is blamed on what it breaks, and every claim can fail."""

from __future__ import annotations

import base64
import itertools
from collections.abc import Callable, Iterator
from inspect import signature
from types import ModuleType
from typing import Any

import pytest
from distorting import Distorting, silent

from conformance.adapter.client import Client
from conformance.adapter.connectors import connect
from conformance.harness.recorder import ConformanceFailure, Recorder, RunOptions
from conformance.histories.examples import of_queue
from conformance.model import Model
from conformance.model.management_rows import QUEUE, ROWS, STATUSES
from conformance.spec.catalogue import assignment
from conformance.suites.management import (
    test_mqdmpr_3_1_1_3_outgoing_queue as outgoing,
)
from conformance.suites.management import (
    test_mqdmpr_3_1_1_4_transfer_info as transfers,
)
from conformance.suites.management import (
    test_mqdmpr_3_1_1_5_incoming as incoming,
)
from conformance.suites.management import (
    test_mqmq_2_3_11_machine as machine,
)
from conformance.suites.management import (
    test_mqmq_2_3_12_queue as local,
)
from conformance.suites.management import (
    test_mqmr_3_1_4_2_action as actions,
)
from conformance.suites.management.incoming_story import INFO, STORIES, TABLE
from conformance.verdict import Outcome, Verdict

OPTIONS = RunOptions("msmq-4.0", "must", assignment("windows"), "windows", 0, 10, 10)
MODULES = (machine, local, actions, outgoing, transfers, incoming)
NUMBERS = {row.number: row for row in ROWS.values() if row.name.startswith(QUEUE)}
MACHINE_NUMBERS = {row.number: row for row in ROWS.values() if not row.name.startswith(QUEUE)}
GUID = "00112233-4455-6677-8899-aabbccddeeff"
Change = Callable[[Any], Any]


def cases(module: ModuleType) -> Iterator[tuple[str, Callable[..., None], dict[str, Any]]]:
    """The tests of a module, each with its parameters."""
    for name, test in vars(module).items():
        if not name.startswith("test_"):
            continue
        marks = [mark for mark in getattr(test, "pytestmark", []) if mark.name == "parametrize"]
        for values in itertools.product(*([(mark.args[0], value) for value in mark.args[1]] for mark in marks)):
            yield name, test, dict(values)


def ran(
    client: Any, module: ModuleType, test: Callable[..., None], given: dict[str, Any]
) -> tuple[list[Verdict], bool]:
    """The verdicts of one test, and whether it failed."""
    seen: list[Verdict] = []
    judge = Recorder(OPTIONS, lambda verdict, count: seen.append(verdict))
    known: dict[str, Any] = {"mq": client, "judge": judge, "mq_need": client.need, **given}
    try:
        if "history" in signature(test).parameters:
            known["history"] = module.history.__wrapped__(client, judge, client.need)
        known["look"] = of_queue(judge, "remote1", *transfers.EOD)
        test(**{name: known[name] for name in signature(test).parameters})
    except ConformanceFailure as failure:
        return [*seen, failure.verdict], True
    except pytest.skip.Exception:
        return [], False
    judge.flush()
    return seen, False


def claimed(test: Callable[..., None]) -> set[str]:
    marks = getattr(test, "pytestmark", [])
    return {name for mark in marks if mark.name == "requirement" for name in mark.args}


class Told:
    """A client that changes what is told of one property."""

    def __init__(self, client: Client, name: str, change: Change) -> None:
        self.name, self.change = name, change
        self.client = Distorting(client, lambda method, params: None, silent)
        self.client.call = self._call  # type: ignore[method-assign]
        self._own = client

    def _call(self, method: str, **params: Any) -> Any:
        result = self._own.call(method, **params)
        if method == "management.get" and result.ok:
            table = MACHINE_NUMBERS if params["target"]["type"] == "machine" else NUMBERS
            for number, one in zip(params["properties"], result.values["values"], strict=True):
                if number in table and table[number].name == self.name:
                    changed = self.change(dict(one))
                    one.clear()
                    one.update(changed)
        return result


def other_type(one: Any) -> Any:
    return {"vt": 20, "value": "1"} if one["vt"] != 20 else {"vt": 19, "value": 1}


def valued(change: Callable[[Any], Any]) -> Change:
    return lambda one: one if "value" not in one else {**one, "value": change(one["value"])}


def another(value: Any) -> Any:
    """Another value of the same type."""
    if isinstance(value, int):
        return value + 1 if value < 1 << 31 else value - 1
    if isinstance(value, str) and value.endswith("=") and len(value) == 24:
        raw = bytearray(base64.b64decode(value))  # a SEQUENCE_INFO, with another SeqNo
        raw[8] ^= 0x40
        return base64.b64encode(raw).decode()
    if isinstance(value, str):
        return str(int(value) + 7) if value.isdigit() else f"{value}x"
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return [{**each, "value": another(each["value"])} for each in value]
    return [*(another(one) for one in value), *(["x"] if not value else [])] if isinstance(value, list) else value


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with connect("embedded", state_dir=tmp_path_factory.mktemp("state"), in_process=True) as found:
        yield found


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__.rpartition("_")[2])
def test_the_shipped_manager_passes_and_what_a_test_claims_is_judged(module: ModuleType, client: Client) -> None:
    judged: dict[str, set[str]] = {}
    for name, test, given in cases(module):
        seen, failed = ran(client, module, test, given)
        assert not failed, (name, given, seen[-1])
        judged.setdefault(name, set()).update(
            verdict.requirement for verdict in seen if verdict.outcome in (Outcome.PASS, Outcome.READING)
        )
    lacking = {name: claimed(getattr(module, name)) - found for name, found in judged.items()}
    assert not {name: found for name, found in lacking.items() if found}


@pytest.mark.parametrize("name", ROWS)
def test_a_property_of_another_type_is_blamed_on_its_row(name: str, client: Client) -> None:
    told = Told(client, name, other_type).client
    modules = (machine,) if "_MSMQ_" in name else (local, outgoing)
    blamed = {
        next(one for one in seen if one.outcome is Outcome.FAIL).requirement
        for module in modules
        for _, test, given in list(cases(module))[:12]
        for seen, failed in (ran(told, module, test, given),)
        if failed
    }
    assert blamed == {ROWS[name].shown}


def nothing(vt: int) -> Change:
    return lambda one: {"vt": vt}


def first_number(one: Any) -> Any:
    """The SEQUENCE_INFO of message 3 as that of message 1, as one that came late would set it back."""
    if not one.get("value"):
        return one
    raw = base64.b64decode(one["value"])
    if raw[8] != 3:
        return one
    return {**one, "value": base64.b64encode(raw[:8] + bytes((1, 0, 0, 0, 0, 0, 0, 0))).decode()}


LATER: tuple[tuple[Callable[..., None], tuple[str, Change], str], ...] = (
    (
        transfers.test_an_acknowledgment_that_comes_late_takes_nothing_back,
        (f"{QUEUE}EOD_LAST_ACK", first_number),
        "MQDMPR-3.1.1.4.eod-last-ack",
    ),
    (
        transfers.test_each_acknowledgment_takes_the_next_interval,
        (f"{QUEUE}EOD_RESEND_INTERVAL", lambda one: {**one, "value": 30} if "value" in one else one),
        "MQDMPR-3.1.1.4.eod-resend-interval",
    ),
    (
        transfers.test_a_new_message_behind_one_sent_again_was_sent_once,
        (f"{QUEUE}EOD_RESEND_COUNT", lambda one: {**one, "value": max(3, one["value"])} if "value" in one else one),
        "MQDMPR-3.1.1.4.eod-resend-count",
    ),
)
"""A test, the property that is told wrongly in it, how, and what that breaks."""
NEVER_NULL = tuple(
    name
    for name in ROWS
    if not name.removeprefix(QUEUE).startswith(("EOD_", "NEXT", "CONNECTION")) and not name.endswith("DSSERVER")
)


@pytest.mark.parametrize("name", NEVER_NULL)
def test_a_property_told_as_null_fails_and_one_left_out_is_not_judged(name: str, client: Client) -> None:
    module = machine if "_MSMQ_" in name else local
    test = module.test_a_machine_shows_its_properties if module is machine else module.test_a_queue_shows_its_properties
    seen, failed = ran(Told(client, name, nothing(1)).client, module, test, {})
    assert failed and seen[-1].requirement == ROWS[name].shown
    seen, failed = ran(Told(client, name, nothing(0)).client, module, test, {})
    assert not failed
    assert any(one.outcome is Outcome.SKIP and one.requirement == ROWS[name].shown for one in seen)


@pytest.mark.parametrize(("test", "change", "blamed"), LATER, ids=lambda one: getattr(one, "__name__", ""))
def test_what_shows_behind_a_late_or_another_acknowledgment_is_blamed(
    test: Callable[..., None], change: tuple[str, Change], blamed: str, client: Client
) -> None:
    wrong = [
        ran(Told(client, *change).client, transfers, test, given) for _, one, given in cases(transfers) if one is test
    ]
    assert all(failed and seen[-1].requirement == blamed for seen, failed in wrong)


def text(value: str) -> Change:
    return lambda one: {"vt": 31, "value": value}


def instead(old: str, new: str) -> Change:
    return valued(lambda value: new if value == old else value)


def names(change: Callable[[str], str]) -> Change:
    return valued(lambda value: [change(one) for one in value] if isinstance(value, list) else value)


def column(at: int, change: Callable[[Any], Any]) -> Change:
    """Change each entry of one column of a connection history."""

    def changed(value: Any) -> Any:
        return [
            {**each, "value": [change(one) for one in each["value"]]} if place == at else each
            for place, each in enumerate(value)
        ]

    return valued(changed)


def addresses(change: Callable[[str], str]) -> Change:
    return column(3, lambda one: {**one, "value": [change(text) for text in one["value"]]})


def shorter(one: Any) -> Any:
    """The history without its last entry."""
    return {**one, "value": [{**each, "value": each["value"][:-1]} for each in one["value"]]} if "value" in one else one


def status(old: int, new: int) -> Callable[[int], int]:
    return lambda one: new if one == old else one


NUMBERED = tuple(number for number, _, _ in STATUSES.values())
SEEN: list[str] = [f"DIRECT=OS:HARNESS\\private$\\mqconform-{name}" for name in ("q1", "q2")]
_Q, _M = QUEUE, "PROPID_MGMT_MSMQ_"
_STATES = tuple(ROWS[f"{_Q}STATE"].values)
CHANGES: tuple[tuple[str, Change], ...] = (
    *((name, other_type) for name in ROWS),
    *((name, valued(another)) for name in ROWS),
    *((f"{_Q}STATE", instead(old, new)) for old in _STATES for new in ("CONNECTED", "INACTIVE", "ONHOLD", "GONE")),
    *((f"{_Q}STATE", valued(lambda value, new=new: new)) for new in ("ONHOLD", "INACTIVE")),  # type: ignore[misc]
    *((name, valued(lambda value: "PUBLIC")) for name in (f"{_Q}TYPE", f"{_Q}XACT", f"{_Q}FOREIGN")),
    (f"{_Q}TYPE", instead("PRIVATE", "MULTICAST")),
    (f"{_Q}FOREIGN", instead("NO", "YES")),
    *((f"{_M}CONNECTED", valued(lambda value, new=new: new)) for new in ("CONNECTED", "DISCONNECTED", "ON")),  # type: ignore[misc]
    *((f"{_M}DSSERVER", text(name)) for name in ("DC1", "\\\\DC,1")),
    (f"{_M}ACTIVEQUEUES", valued(lambda value: [])),
    (f"{_M}ACTIVEQUEUES", names(lambda one: one.replace("=", ":"))),
    (f"{_M}ACTIVEQUEUES", valued(lambda value: [*value, *SEEN])),
    (f"{_M}PRIVATEQ", valued(lambda value: [])),
    (f"{_Q}SUBQUEUE_NAMES", valued(lambda value: value[1:])),
    (f"{_Q}MESSAGE_COUNT", valued(lambda value: 0)),
    (f"{_Q}BYTES_IN_QUEUE", valued(lambda value: 0)),
    (f"{_Q}NEXTHOPS", names(lambda one: one.removeprefix("IP="))),
    (f"{_Q}NEXTHOPS", names(lambda one: one.replace(".", ":") if one.startswith("IP=") else one)),
    (f"{_Q}NEXTHOPS", names(lambda one: one.replace("::", ";") if one.startswith("IPv6=") else one)),
    (f"{_Q}NEXTHOPS", names(lambda one: "FOREIGN=1")),
    (f"{_Q}NEXTHOPS", names(lambda one: "IP=192.0.2.99")),
    (f"{_Q}NEXTHOPS", lambda one: {"vt": 4127, "value": ["IP=192.0.2.99"]}),
    (f"{_Q}CONNECTION_HISTORY", shorter),
    (f"{_Q}CONNECTION_HISTORY", column(1, lambda one: one + 5000)),
    (f"{_Q}CONNECTION_HISTORY", column(2, lambda one: one + 1)),
    (f"{_Q}CONNECTION_HISTORY", addresses(lambda one: "192.0.2.99")),
    (f"{_Q}CONNECTION_HISTORY", addresses(lambda one: "somewhere")),
    (f"{_Q}CONNECTION_HISTORY", addresses(lambda one: "\\\\1")),
    *((f"{_Q}EOD_{word}", valued(lambda value: 0)) for word in ("RESEND_INTERVAL", "NO_ACK_COUNT", "RESEND_COUNT")),
)
STEPS = tuple(
    (step, column(0, status(number, new)))
    for at, (step, (number, _, _)) in enumerate(STATUSES.items())
    for new in (NUMBERED[at - 1], 77)
)
"""Wrong statuses of each step in a connection history."""


def where(name: str) -> tuple[ModuleType, ...]:
    """The modules that look at a property."""
    if name.startswith(_M):
        return (machine,)
    word = name.removeprefix(QUEUE)
    if word.startswith("EOD_"):
        return (local,) if word == "EOD_SOURCE_INFO" else (transfers,)
    return {"CONNECTION_HISTORY": (outgoing,), "NEXTHOPS": (outgoing,), "STATE": (local, actions, outgoing)}.get(
        word, (local, outgoing)
    )


SHOWN_LATER = {"MQDMPR-3.1.4.15.resumed-queue"}
"""A wrong state is noticed of the queue that is looked at first, and that is the one that was resumed."""


def cause(requirement: str) -> bool:
    """Tell a requirement of what is read from one of what is done: a refusal, an action, a transfer."""
    return requirement.startswith(
        ("MQMQ-2.3.1", "MQDMPR-3.1.1.3.", "MQDMPR-3.1.1.4.", "MQDMPR-3.1.4.1", "MQDMPR-3.1.1.1.")
    )


def test_every_claim_on_a_value_can_fail(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    SEEN[:] = [f"DIRECT=OS:{client.hello.computer}\\private$\\mqconform-{name}" for name in ("q1", "q2")]
    failed: set[str] = set()
    step = Model.step

    def noted(self: Model, *given: Any, **more: Any) -> Any:
        judged = step(self, *given, **more)
        failed.update(one.requirement for one in judged.verdicts if one.outcome is Outcome.FAIL)
        return judged

    monkeypatch.setattr(Model, "step", noted)
    for name, change in CHANGES:
        told = Told(client, name, change).client
        for module in where(name):
            for _, test, given in cases(module):
                if not given or next(iter(given.values())) in ("low_resource", "dns_failure"):
                    ran(told, module, test, given)
    (history,) = (
        test for name, test, _ in cases(outgoing) if name.endswith("in_the_history") and _["later"] == "low_resource"
    )
    for step_name, change in STEPS:
        told = Told(client, f"{_Q}CONNECTION_HISTORY", change).client
        later = step_name if step_name in outgoing.LATER else "low_resource"
        ran(told, outgoing, history, {"later": later})
    claims = {one for module in MODULES for _, test, _ in cases(module) for one in claimed(test)}
    assert {one for one in claims if cause(one)} - failed == SHOWN_LATER


@pytest.mark.parametrize("story", STORIES)
@pytest.mark.parametrize(("at", "word"), list(enumerate(INFO)))
def test_a_wrong_item_of_what_came_in_is_blamed_on_it(at: int, word: str, story: str, client: Client) -> None:
    def wrong(one: Any) -> Any:
        return {**one, "value": [GUID if at == 1 else another(item) for item in one["value"]]}

    def change(value: Any) -> Any:
        return [wrong(one) if place == at else one for place, one in enumerate(value)]

    told: Any
    if word == "last-access-time":
        told = Told(client, f"{_Q}EOD_SOURCE_INFO", column(at, lambda one: one - 5000)).client
    else:
        told = Told(client, f"{_Q}EOD_SOURCE_INFO", valued(change)).client
    client.call("reset")
    with pytest.raises(ConformanceFailure) as failure:
        TABLE.tell(story, told, Recorder(OPTIONS, lambda verdict, count: None))
    assert failure.value.verdict.requirement == INFO[word]
