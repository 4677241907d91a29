"""Asks a driver what a class is and which interfaces its objects answer to."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from conformance.activex import identity
from conformance.activex.expected import Readings
from conformance.runlog.events import StoryStep
from conformance.suites.objects.playing import NotCreated, Tell
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from conformance.harness.port import Port


def identify(coclass: str, mq: Port, readings: Readings, tell: Tell) -> Iterator[Verdict]:
    """Yield the verdicts on the description of a class and on the queries of an object of it."""
    params = {"class": coclass}
    result = mq.call("objects.describe", **params)
    if result.status != 0:
        raise NotCreated(f"the driver describes no {coclass}")
    call = {"method": "objects.describe", "params": params}
    tell(partial(StoryStep, f"describe {coclass}", call, {"status": result.status}))
    yield from identity.described(coclass, result.values["interfaces"], readings)
    if not mq.offers("objects.create"):
        return
    made = mq.call("objects.create", **params)
    tell(partial(StoryStep, f"New {coclass}", {"method": "objects.create", "params": params}, {"status": made.status}))
    yield from identity.identified(coclass, int(made.status or 0), result.values.get("clsid"))
    if made.status != 0 or not mq.offers("objects.query"):
        return
    handle = made.values["object"]
    for iid in identity.queried(coclass):
        answer = mq.call("objects.query", object=handle, iid=iid)
        given = answer.values.get("object")
        tell(
            partial(
                StoryStep,
                f"ask for {iid}",
                {"method": "objects.query", "params": {"iid": iid}},
                {"status": answer.status},
            )
        )
        yield from identity.answers(coclass, iid, int(answer.status or 0), given == handle)
    if mq.offers("objects.release"):
        mq.call("objects.release", objects=[handle])
