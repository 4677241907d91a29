"""Runs a stored example of this suite again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from conformance.harness.repro_files import NotRepeatable, no_story
from conformance.suites.structures import transfer_buffer_cases
from conformance.suites.structures.checks import bytes_of, decode_case, encode_case, forbidden_case, refuse_case
from conformance.verdict import Verdict
from conformance.wire.structures import STRUCTURES, StructureError, encode
from conformance.wire.transfer_buffer import STRUCTURE

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import RunOptions

_NOTHING = "The repro file holds no example of the suite structures."


def rejudge(repro: Mapping[str, Any], client: Port, options: RunOptions) -> Iterator[Verdict]:
    """Yield the verdicts of a `structure` repro, each before the calls for the next.

    Raises NotRepeatable for a repro of another suite or format.
    """
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
        return encode_case(client, name, held, options, no_story)
    data, requirement = bytes_of(repro.get("data")), repro.get("requirement")
    if case == "forbidden" and isinstance(requirement, str):
        return forbidden_case(client, name, held, requirement, options, no_story)
    if data is None or not isinstance(requirement, str | None) or (case == "refuse" and requirement is None):
        raise NotRepeatable(_NOTHING)
    if case == "refuse":
        return refuse_case(client, name, data, str(requirement), options, no_story, value=held)
    if requirement is None:
        return decode_case(client, name, held, options, no_story)
    return decode_case(client, name, held, options, no_story, data=data, requirement=requirement)
