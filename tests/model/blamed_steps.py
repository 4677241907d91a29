"""Steps of histories that deviate, and what the model says of the last one."""

from __future__ import annotations

from collections.abc import Mapping

from conformance.model import Answer, Call, Judged, Model, Observation, Scan, SeenMessage, States
from conformance.spec.catalogue import assignment
from conformance.spec.constants import hresults
from conformance.verdict import Outcome

IO_TIMEOUT = Answer.of_status(hresults.MQ_ERROR_IO_TIMEOUT)
INFORMATION = Answer.of_status(0x400E0001)  # a success, and not MQ_OK
OK = Answer()


def message(name: str, lookup: int | None = None) -> Answer:
    return Answer.of_status(0, SeenMessage(name.encode(), name, 3, "express", lookup))


def judged(*steps: tuple[Call, Answer | None], readings: str = "windows", scan: Scan | None = None) -> Judged:
    """The judgement of the last step, after a look into the queue if it asks for one; those before it must hold."""
    model = Model(assignment(readings))
    *before, (last, answer) = steps
    states = States()
    for call, given in before:
        found = model.step(states, call, Observation(given))
        assert not found.failed, found.verdicts
        states = found.states
    found = model.step(states, last, Observation(answer))
    if found.ask is not None and scan is not None:
        found = model.step(states, last, Observation(answer), scan)
    return found


def broken(found: Judged) -> Mapping[str, str]:
    """Requirement and method of everything that failed."""
    return {verdict.requirement: verdict.subject for verdict in found.verdicts if verdict.outcome is Outcome.FAIL}


def opened(queue: str = "q", *, name: str = "r", access: str = "receive") -> tuple[Call, Answer]:
    return Call("queues.open", name=name, queue=queue, access=access), OK


def sent(name: str) -> tuple[Call, Answer]:
    return Call("messages.send", message=name, handle="s"), OK


CREATED = (Call("queues.create", queue="q"), OK)
START = (CREATED, opened(name="s", access="send"), opened())
RECEIVE = Call("messages.receive", handle="r")
PEEK = Call("messages.peek", handle="r")
BEGIN = (Call("messages.receive_begin", name="b", handle="r"), message("a"))
