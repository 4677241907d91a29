"""Runs a stored example of this suite again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from conformance.harness.repro_files import NotRepeatable
from conformance.suites.structures import transfer_buffer_cases
from conformance.suites.structures.checks import bytes_of, decode_case, encode_case, forbidden_case, refuse_case
from conformance.verdict import Verdict
from conformance.wire.structures import STRUCTURES, StructureError, encode
from conformance.wire.transfer_buffer import STRUCTURE

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import RunOptions

_NOTHING = "The repro file holds no example of the suite structures."


def rejudge(repro: Mapping[str, Any], client: Port, options: RunOptions) -> list[Verdict]:
    """Return the verdicts of a `structure` repro. Raises NotRepeatable for a repro of another suite or format."""
    return list(each(repro, client, options))


def each(repro: Mapping[str, Any], client: Port, options: RunOptions) -> Iterator[Verdict]:
    """Yield the same verdicts one by one, each before the calls for the next."""
    name, case = repro.get("structure"), repro.get("case")
    if name == STRUCTURE:
        yield from transfer_buffer_cases.each(repro, client, options)
        return
    if name not in STRUCTURES or case not in ("encode", "decode", "refuse", "forbidden"):
        raise NotRepeatable(_NOTHING)
    held = repro.get("instead") if case == "refuse" else repro.get("value")
    try:
        if case != "refuse" or held is not None:
            encode(name, held)
    except StructureError:
        raise NotRepeatable(_NOTHING) from None
    yield from _verdicts(repro, name, case, held, client, options)


def _verdicts(
    repro: Mapping[str, Any], name: str, case: str, held: Any, client: Port, options: RunOptions
) -> Iterator[Verdict]:
    if case == "encode":
        return encode_case(client, name, held, options, _quiet)
    data, requirement = bytes_of(repro.get("data")), repro.get("requirement")
    if case == "forbidden" and isinstance(requirement, str):
        return forbidden_case(client, name, held, requirement, options, _quiet)
    if data is None or not isinstance(requirement, str | None) or (case == "refuse" and requirement is None):
        raise NotRepeatable(_NOTHING)
    if case == "refuse":
        return refuse_case(client, name, data, str(requirement), options, _quiet, value=held)
    if requirement is None:
        return decode_case(client, name, held, options, _quiet)
    return decode_case(client, name, held, options, _quiet, data=data, requirement=requirement)


def _quiet(*_: Any) -> None:
    return None
