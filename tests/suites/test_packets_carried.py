"""Fields that a reader hands on: the shipped reader passes, and one that mixes them up is caught for it."""

from __future__ import annotations

import base64
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conformance.adapter.connectors import connect
from conformance.adapter.session import Result
from conformance.suites.packets.cases import (
    ABSENT,
    CARRIED,
    PADDED,
    UNSIGNED,
    Carried,
    absent_case,
    carried_case,
    padded,
    same_case,
)
from conformance.verdict import Outcome, Verdict
from conformance.wire import dissect

Message = dict[str, Any]


class Reader:
    """The shipped reader; `misreads` changes what it read, knowing the packet and the message before."""

    def __init__(self, client: Any, misreads: Callable[[bytes, Message, Message], Message]) -> None:
        self._client = client
        self._misreads = misreads
        self._before: Message = {}

    def call(self, method: str, **params: Any) -> Result:
        result: Result = self._client.call(method, **params)
        read = dict(result.values["message"])
        told = self._misreads(base64.b64decode(params["packet"]), read, self._before)
        self._before = read
        return Result.from_json({"status": result.status, "message": told})


@pytest.fixture
def client(tmp_path: Path) -> Any:
    with connect("embedded", state_dir=tmp_path, in_process=True) as found:
        yield found


def quiet(*_: Any) -> None:
    return None


def broken(verdicts: Any) -> set[str]:
    found: list[Verdict] = list(verdicts)
    return {verdict.requirement for verdict in found if verdict.outcome is Outcome.FAIL}


def swallows(case: Carried) -> Callable[[bytes, Message, Message], Message]:
    """A reader that never looks into this field, or that looks into one it has to leave alone."""

    def misreads(data: bytes, read: Message, before: Message) -> Message:
        if case.member is None:
            return {**read, "label": f"label {dissect(data).fields[case.key]}"}
        outer = case.member.partition(".")[0]
        return {**read, outer: before.get(outer, read[outer])}

    return misreads


@pytest.mark.parametrize("case", CARRIED, ids=lambda case: case.key)
def test_a_field_that_is_carried(case: Carried, client: Any) -> None:
    assert not broken(carried_case(client, case, quiet))
    assert broken(carried_case(Reader(client, swallows(case)), case, quiet)) == {case.requirement}


@pytest.mark.parametrize("case", CARRIED, ids=lambda case: case.key)
def test_a_field_that_alters_something_else(case: Carried, client: Any) -> None:
    def alters(data: bytes, read: Message, before: Message) -> Message:
        return {**read, "body": base64.b64encode(str(dissect(data).fields[case.key]).encode()).decode()}

    assert broken(carried_case(Reader(client, alters), case, quiet)) == {case.requirement}


@pytest.mark.parametrize(("message", "key", "requirement"), PADDED, ids=lambda value: str(value)[-30:])
def test_padding_that_is_looked_at(message: Message, key: str, requirement: str, client: Any) -> None:
    plain, data = padded(message, key)
    assert plain != data
    at = next(n for n in range(len(plain)) if plain[n] != data[n])

    def looks(packet: bytes, read: Message, before: Message) -> Message:
        return {**read, "label": str(packet[at])}

    assert not broken(same_case(client, plain, data, requirement, quiet, what=key))
    assert broken(same_case(Reader(client, looks), plain, data, requirement, quiet, what=key)) == {requirement}


@pytest.mark.parametrize(
    "member", ["signature", "symmetric_key", "sender_certificate", "transaction", "trace", "provider_name"]
)
def test_what_a_packet_before_said_of_a_header_that_is_absent(member: str, client: Any) -> None:
    def remembers(data: bytes, read: Message, before: Message) -> Message:
        return {**read, member: before[member]} if before else read

    assert not broken(absent_case(client, quiet))
    assert broken(absent_case(Reader(client, remembers), quiet)) == {ABSENT}


def test_a_signature_nobody_vouches_for_is_no_authentication(client: Any) -> None:
    def trusts(data: bytes, read: Message, before: Message) -> Message:
        return {**read, "authentication_level": "sig10" if read.get("signature") else "none"}

    assert broken(absent_case(Reader(client, trusts), quiet)) == {UNSIGNED}
