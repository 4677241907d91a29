"""The shipped implementation behind a client that passes on something else than it was asked or told."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

from conformance.adapter.connectors import connect
from conformance.harness.recorder import ConformanceFailure, Recorder, RunOptions
from conformance.spec.catalogue import assignment
from conformance.verdict import Verdict

OPTIONS = RunOptions("msmq-4.0", "must", assignment("windows"), "windows", 0, 5, 20)
Params = dict[str, Any]


class Distorting:
    """A client that passes calls on changed, and answers too."""

    def __init__(self, client: Any, asks: Callable[[str, Params], Params | None], tells: Callable[[str, Params], None]):
        self._client, self._asks, self._tells = client, asks, tells

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def call(self, method: str, **params: Any) -> Any:
        changed = self._asks(method, copy.deepcopy(params))
        result = self._client.call(method, **(params if changed is None else changed))
        self._tells(method, result.values)
        return result

    def start(self, method: str, **params: Any) -> Any:
        changed = self._asks(method, copy.deepcopy(params))
        return self._client.start(method, **(params if changed is None else changed))


def same(method: str, params: Params) -> Params:
    return params


def silent(method: str, values: Params) -> None:
    """Leave out what the sender asked for: it shows what `Distorting` has made of it, which is not the defect."""
    message = values.get("message")
    if isinstance(message, dict):
        for member in ("acknowledgements", "positive_journaling", "negative_journaling", "time_to_be_received"):
            message.pop(member, None)


def without(*members: str) -> Callable[[str, Params], Params]:
    """A manager that does not know these members of a message, or properties of a queue."""

    def asks(method: str, params: Params) -> Params:
        for part in ("message", "properties"):
            for member in members:
                if isinstance(params.get(part), dict):
                    params[part].pop(member, None)
        return params

    return asks


def always(**members: Any) -> Callable[[str, Params], Params]:
    """A manager that does this for every message."""

    def asks(method: str, params: Params) -> Params:
        if method == "messages.send":
            params["message"].update(members)
        return params

    return asks


def changed(member: str, change: Callable[[Any], Any]) -> Callable[[str, Params], Params]:
    def asks(method: str, params: Params) -> Params:
        for part in (params, params.get("message"), params.get("properties")):
            if isinstance(part, dict) and member in part:
                part[member] = change(part[member])
        return params

    return asks


def told(member: str, change: Callable[[Any], Any]) -> Callable[[str, Params], None]:
    def tells(method: str, values: Params) -> None:
        for part in (values, values.get("message")):
            if isinstance(part, dict) and member in part:
                part[member] = change(part[member])

    return tells


def first_element(method: str, params: Params) -> Params:
    """A manager that sends to the first of several queues only."""
    if method == "queues.open" and params["access"] == "send" and "share" not in params:
        params["format_name"] = params["format_name"].split(",")[0]
    return params


def any_access(method: str, params: Params) -> Params:
    """A manager that opens what it should refuse."""
    if method == "queues.open" and "," in params["format_name"]:
        params |= {"access": "send"}
        params.pop("share", None)
    return params


def shared(method: str, params: Params) -> Params:
    if method == "queues.open" and "," in params["format_name"]:
        params.pop("share", None)
    return params


def journaled_in_queue(method: str, params: Params) -> Params:
    """A manager that mistakes its own journal for that of the queue."""
    if method == "queues.open" and "SYSTEM$;JOURNAL" in params["format_name"]:
        params["format_name"] = params["format_name"].replace("SYSTEM$;JOURNAL", "SYSTEM$;DEADLETTER")
    return params


def one_dead_letter_queue(method: str, params: Params) -> Params:
    if method == "queues.open" and params["format_name"].endswith("SYSTEM$;DEADXACT"):
        params["format_name"] = params["format_name"].replace("DEADXACT", "DEADLETTER")
    elif method == "queues.open" and params["format_name"].endswith("SYSTEM$;DEADLETTER"):
        params["format_name"] = params["format_name"].replace("DEADLETTER", "DEADXACT")
    return params


def swapped_classes(method: str, values: Params) -> None:
    """A manager whose acknowledgments say that a message arrived when it was received."""
    message = values.get("message") or {}
    message["class"] = {0x4000: 0x0002}.get(message.get("class"), message.get("class"))


def drifting() -> Callable[[str, Params], None]:
    """A manager that counts a byte more whenever it is asked."""
    asked = iter(range(10**6))

    def tells(method: str, values: Params) -> None:
        if values.get("bytes"):
            values["bytes"] += next(asked)

    return tells


def without_share(method: str, params: Params) -> Params:
    if method == "queues.open":
        params.pop("share", None)
    return params


class PurgesFirst:
    """A manager that purges the queue that was opened first, whatever it is asked for."""

    def __init__(self) -> None:
        self.first: Any = None

    def __call__(self, method: str, params: Params) -> Params:
        if method == "messages.peek":
            self.first = params["queue"]
        return {"queue": self.first} if method == "queues.purge" else params


Case = tuple[str, Callable[..., None], Callable[[str, Params], Params], Callable[[str, Params], None], set[str]]


def judged(case: Case, folder: Path) -> list[Verdict]:
    """The verdicts of a test against the shipped implementation with this defect, the failing one last."""
    _, test, asks, tells, _ = case
    verdicts: list[Verdict] = []
    judge = Recorder(OPTIONS, lambda verdict, count: verdicts.append(verdict))
    with connect("embedded", state_dir=folder, in_process=True) as client:
        try:
            test(Distorting(client, asks, tells), judge, lambda *needs: None)
        except ConformanceFailure as failure:
            judge.flush()
            return [*verdicts, failure.verdict]
    judge.flush()
    return verdicts
