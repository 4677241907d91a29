"""Run the example of a repro file again, with the suite that found it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conformance.adapter.protocol import SchemaInvalid
from conformance.harness.guarded_client import GuardedClient
from conformance.harness.provenance import NOTHING, Antecedents
from conformance.harness.suite_registry import suites
from conformance.harness.tape import KINDS, ON_THE_NETWORK
from conformance.scratch import new_scratch, remove_tree

if TYPE_CHECKING:
    from conformance.adapter.client import Client
    from conformance.adapter.hello import Hello
    from conformance.harness.port import Port
    from conformance.harness.recorder import RunOptions
    from conformance.verdict import Verdict


_BY_CALLS = KINDS - ON_THE_NETWORK
_WAITS = ('"expires": true', '"timeout_ms": ', '"passes_ms": ', '"after_ms": ', '"method": "clock.advance"')


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


def alone(
    suite: str,
    repro: Mapping[str, Any],
    open_client: Callable[[Path], Client],
    options: RunOptions,
    before: Antecedents = NOTHING,
) -> list[Verdict]:
    """Return what `rejudge` does for a new process on an empty state folder. before: brought about there first."""
    state = new_scratch("mqconform-repro-")
    try:
        with open_client(state) as client:
            if client.offers("reset"):
                client.call("reset")
            guarded = GuardedClient(client)
            for one in before.examples:
                with suppress(NotRepeatable):
                    rejudge(one["suite"], one["repro"], guarded, options)
            while client.ended < min(before.starts, 3):
                guarded.restart(kill=client.ended > 0)
            return rejudge(suite, repro, guarded, options)
    finally:
        remove_tree(state)


def by_calls_alone(repro: Mapping[str, Any], hello: Hello) -> bool:
    """Tell whether the calls of an example decide its answers: no clients at once, no waiting by a real clock."""
    waits = hello.clock != "virtual" and any(word in json.dumps(repro, default=str) for word in _WAITS)
    return repro.get("kind") in _BY_CALLS and not waits
