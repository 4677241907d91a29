"""Runs a stored example of this suite again."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from conformance.harness.repro_files import NotRepeatable, no_story
from conformance.suites.packets.cases import (
    CARRIED,
    Carried,
    absent_case,
    carried_case,
    decode_case,
    decode_lists_case,
    either_case,
    encode_case,
    refuse_case,
    same_case,
    unused_case,
)
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import RunOptions


_MEMBERS: dict[str, dict[str, type]] = {
    "encode": {"message": dict},
    "decode": {"packet": str, "message": dict},
    "decode-lists": {"message": dict},
    "refuse": {"packet": str, "requirement": str},
    "unused": {"packet": str, "message": dict, "requirement": str},
    "same": {"plain": str, "packet": str, "requirement": str},
    "either": {"packet": str},
    "carried": {"requirement": str},
    "absent": {},
}


def rejudge(repro: Mapping[str, Any], client: Port, options: RunOptions) -> Iterator[Verdict]:
    """Yield the verdicts of a `packet` repro, each before the calls for the next.

    Raises NotRepeatable for a repro of another suite or format.
    """
    wanted = _MEMBERS.get(str(repro.get("case")))
    if wanted is None or not all(isinstance(repro.get(name), kind) for name, kind in wanted.items()):
        raise NotRepeatable("The repro file holds no example of the suite packets.")
    yield from _verdicts(repro, client, options)


def _verdicts(repro: Mapping[str, Any], client: Port, options: RunOptions) -> Iterator[Verdict]:
    case = repro["case"]
    if case == "absent":
        return absent_case(client, no_story)
    if case == "carried":
        return carried_case(client, _carried(repro["requirement"]), no_story)
    if case == "encode":
        return encode_case(client, repro["message"], options, no_story)
    if case == "decode-lists":
        return decode_lists_case(client, repro["message"], options, no_story)
    try:
        data = base64.b64decode(repro["packet"], validate=True)
        plain = base64.b64decode(repro.get("plain", ""), validate=True)
    except ValueError:
        raise NotRepeatable("The packet in the repro file is not base64.") from None
    if case == "decode":
        return decode_case(client, data, repro["message"], options, no_story, requirement=repro.get("requirement"))
    if case == "unused":
        return unused_case(client, data, repro["message"], options, no_story, requirement=repro["requirement"])
    if case == "same":
        return same_case(client, plain, data, repro["requirement"], no_story, what="what is ignored")
    if case == "either":
        return either_case(client, data, options, no_story, what="a rule")
    return refuse_case(client, data, repro["requirement"], options, no_story)


def _carried(name: str) -> Carried:
    found = next((one for one in CARRIED if one.requirement == name), None)
    if found is None:
        raise NotRepeatable(f"No field is read for {name} alone.")
    return found
