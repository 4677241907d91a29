"""A repro of this suite run again."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

from conformance.suites.packets.cases import decode_case, encode_case, refuse_case
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from conformance.adapter.client import Client
    from conformance.suites.guard import GuardedClient
    from conformance.suites.judging import RunOptions


def rejudge(repro: Mapping[str, Any], client: Client, options: RunOptions) -> list[Verdict]:
    """The verdicts of a `packet` repro: case is `encode`, `decode` or `refuse`. Raises ValueError for any other."""
    return list(_verdicts(repro, cast("GuardedClient", client), options))


def _verdicts(repro: Mapping[str, Any], client: GuardedClient, options: RunOptions) -> Iterator[Verdict]:
    case = repro.get("case")
    if case == "encode":
        return encode_case(client, repro["message"], options, _quiet)
    if case == "decode":
        data = base64.b64decode(repro["packet"])
        return decode_case(client, data, repro["message"], options, _quiet, requirement=repro.get("requirement"))
    if case == "refuse":
        return refuse_case(client, base64.b64decode(repro["packet"]), repro["requirement"], options, _quiet)
    raise ValueError(f"a repro of the packets suite has a case of encode, decode or refuse, not {case!r}")


def _quiet(*_: Any) -> None:
    return None
