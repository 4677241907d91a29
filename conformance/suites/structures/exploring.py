"""Runs one test of one kind of value: its example first, then generated ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given

from conformance.harness.hypothesis_settings import from_options
from conformance.suites.structures.checks import Kind, base64_of, claims, decode_case, encode_case
from conformance.wire.structures import encode

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder, RunOptions

_SHARE = 0.2  # for each of over sixty kinds, most of which hold a handful of numbers


def kinds_of(way: str, *names: Kind) -> list[Any]:
    """Return pytest parameters for these kinds, each marked with the requirements that judge it."""
    return [pytest.param(kind, id=kind.name, marks=pytest.mark.requirement(*claims(way, kind.name))) for kind in names]


def explore(way: str, kind: Kind, client: Port, judge: Recorder, options: RunOptions) -> None:
    """Judge values of this kind. way: `encode` or `decode`."""
    check = encode_case if way == "encode" else decode_case

    @from_options(options, share=_SHARE)
    @given(kind.values)
    @example(kind.example)
    def run(value: Any) -> None:
        data = {} if way == "encode" else {"data": base64_of(encode(kind.structure, value))}
        judge.begin_example("structure", {"case": way, "structure": kind.structure, "value": value, **data})
        for verdict in check(client, kind.structure, value, options, judge.step):
            judge.record(verdict)

    run()
