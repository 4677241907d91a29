"""History in which the properties of queues are judged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.histories.history import History
from conformance.histories.operations.properties import look
from conformance.histories.operations.table import fitting
from conformance.model import Call, State
from conformance.model.property_judging import GET_SUCCEEDS
from conformance.model.property_state import shown_in
from conformance.spec.constants.hresults import MQ_ERROR_Q_DNS_PROPERTY_NOT_SUPPORTED
from conformance.verdict import Outcome, Verdict

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder

NEEDS = ("queues.create", "queues.get")
_PROBE = "pprobe"
_LOCAL = ("PROPID_Q_SCOPE", "PROPID_Q_QMID")  # not in the table of MS-MQMP 3.1.1.12: a manager may not show them


@dataclass(frozen=True, slots=True)
class Watched:
    """A history whose queues are read after each call that may have changed them. shown: the properties to be read."""

    history: History
    shown: tuple[str, ...]

    @classmethod
    def begun(cls, client: Port, judge: Recorder, shown: tuple[str, ...] | None = None) -> Watched:
        """Begin a history. shown: None to probe for them. Raises ConformanceFailure as `History` does."""
        history = History(client, judge)
        known = probed(history) if shown is None else shown
        history.do(Call("watch", names=known))
        return cls(history, known)

    @property
    def state(self) -> State:
        """The state of the model."""
        return self.history.state

    def has(self, queue: str) -> bool:
        """True if there is a queue of this name."""
        return queue in self.state.queues and self.state.queues[queue].exists

    def run(self, *calls: Call) -> None:
        """Make several calls in turn, and after each read every queue that it may have changed."""
        hello = self.history.client.hello
        for call in calls:
            fit = fitting(hello.takes, call)
            if fit is None:
                continue
            self.history.attempt(fit)
            properties = self.state.properties
            for queue in properties.unread if properties is not None else ():
                self.history.attempt(look(self.state, queue))


def probed(history: History) -> tuple[str, ...]:
    """Return the properties this manager shows. For a manager with HRESULTs, a missing one of MS-MQMP's table fails."""
    client, judge = history.client, history.judge
    wanted = shown_in(judge.profile)
    created = client.call("queues.create", path_name=history.driving.handles.path(_PROBE))
    if not created.ok:
        return wanted
    name = str(created.values["format_name"])
    found = []
    for each in wanted:
        if not client.hello.takes("properties", each):
            continue
        params = {"format_name": name, "properties": [each]}
        result = client.call("queues.get", **params)
        if result.ok:
            found.append(each)
            continue
        lacking = each in _LOCAL or result.status in (None, MQ_ERROR_Q_DNS_PROPERTY_NOT_SUPPORTED)
        if not lacking:
            judge.step(f"read {each}", {"method": "queues.get", "params": params}, {"status": result.status})
            wrong = {"fails": True, "status": result.status}
            judge.record(Verdict(GET_SUCCEEDS, Outcome.FAIL, f"get {each}", {"fails": False}, wrong))
    if client.offers("queues.delete"):
        client.call("queues.delete", format_name=name)
    return tuple(found)
