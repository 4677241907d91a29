"""Asks a driver what a class is and which interfaces its objects answer to."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from conformance.activex import identity, library
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
    call = {"method": "objects.describe", "params": params}
    tell(partial(StoryStep, f"describe {coclass}", call, {"status": result.status}))
    if result.status != 0:
        yield from _absent(coclass, mq, tell)
        return
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
        yield from identity.answers(coclass, iid, int(answer.status or 0), given == handle, readings)
    if mq.offers("objects.release"):
        mq.call("objects.release", objects=[handle])


def _absent(coclass: str, mq: Port, tell: Tell) -> Iterator[Verdict]:
    """Yield the verdict on a class that is not described. One library declares all classes: who has one has each.

    Raises NotCreated if the driver has none of them, makes an object of this one without describing it, or offers
    nothing of what this class is about.
    """
    means = identity.MEANS.get(coclass, ())
    if means and not any(mq.offers(method) for method in means):
        raise NotCreated(f"the driver describes no {coclass}, and offers no {' or '.join(means)}")
    others = (other for other in library.classes() if other != coclass)
    if not any(mq.call("objects.describe", **{"class": other}).status == 0 for other in others):
        raise NotCreated(f"the driver describes no {coclass}, and no other class")
    if not mq.offers("objects.create"):
        raise NotCreated(f"the driver describes no {coclass}")
    made = mq.call("objects.create", **{"class": coclass})
    call = {"method": "objects.create", "params": {"class": coclass}}
    tell(partial(StoryStep, f"New {coclass}", call, {"status": made.status}))
    if made.status == 0:
        if mq.offers("objects.release"):
            mq.call("objects.release", objects=[made.values["object"]])
        raise NotCreated(f"the driver makes objects of {coclass}, and does not describe them")
    yield from identity.absent(coclass, int(made.status or 0))
