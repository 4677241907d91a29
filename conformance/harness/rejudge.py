"""Run the example of a repro file again, with the suite that found it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from conformance.adapter.protocol import SchemaInvalid
from conformance.harness.suite_registry import suites

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import RunOptions
    from conformance.verdict import Verdict


class NotRepeatable(ValueError):
    """The example cannot be run again: its suite is unknown or stores nothing to run."""


class EndedEarly(NotRepeatable):
    """The example began but could not be run to its end, so it is unknown whether the deviation is still there.

    verdicts: the verdicts reached until then.
    """

    def __init__(self, text: str, verdicts: Sequence[Verdict] = ()) -> None:
        super().__init__(text)
        self.verdicts = tuple(verdicts)


def rejudge(suite: str, repro: Mapping[str, Any], client: Port, options: RunOptions) -> list[Verdict]:
    """Run one example on `client` and return its verdicts in the order they were reached.

    Raises NotRepeatable when the suite no longer exists, and the adapter's errors when the driver fails.
    """
    if suite not in suites():
        raise NotRepeatable(f"The suite {suite!r} of this repro file is not part of this version of mqconform.")
    module = import_module(f"conformance.suites.{suite}.rejudge")
    try:
        verdicts: list[Verdict] = module.rejudge(repro, client, options)
    except SchemaInvalid as wrong:
        raise NotRepeatable(f"The repro file has a call that the adapter protocol does not allow: {wrong}.") from None
    return verdicts
