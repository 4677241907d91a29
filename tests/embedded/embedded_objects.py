"""Objects of the embedded driver as a program sees them: members by name, values by type."""

from __future__ import annotations

from typing import Any

from embedded_talk import Talk

LEFT_OUT = {"vt": "ERROR", "value": 0x80020004}
NOTHING = {"vt": "DISPATCH", "value": None}
RECEIVE, SEND, PEEK = 1, 2, 0x20


def long(number: int) -> dict[str, Any]:
    return {"vt": "I4", "value": number}


def text(value: str | None) -> dict[str, Any]:
    return {"vt": "BSTR", "value": value}


def flag(value: bool) -> dict[str, Any]:
    return {"vt": "BOOL", "value": value}


def thing(handle: str | None) -> dict[str, Any]:
    return {"vt": "DISPATCH", "value": handle}


def data(value: str) -> dict[str, Any]:
    return {"vt": "ARRAY", "of": "UI1", "value": value}


EVENTS = "d7d6e078-dccd-11d0-aa4b-0060970debae"
"""The connection point of MSMQEvent."""


class Objects:
    """The facet `objects` of a driver. events: those that it has sent."""

    def __init__(self, talk: Talk) -> None:
        self.talk = talk
        self.events: list[dict[str, Any]] = []
        talk.driver.on_event = self.events.append

    def listen(self, event: str, sink: str = "events") -> dict[str, Any]:
        """Register a sink for the events of an MSMQEvent."""
        return self.talk("objects.advise", object=event, sink=sink, iid=EVENTS)

    def make(self, name: str) -> str:
        return str(self.talk.ok("objects.create", **{"class": name})["object"])

    def start(self, target: str, member: str, *arguments: Any, kind: str = "method") -> list[dict[str, Any]]:
        assert target is not None, member
        return self.talk.start("objects.invoke", object=target, member=member, kind=kind, arguments=list(arguments))

    def status(self, target: str, member: str, *arguments: Any, kind: str = "method") -> int:
        [answer] = self.start(target, member, *arguments, kind=kind)
        return int(answer["status"])

    def call(self, target: str, member: str, *arguments: Any, kind: str = "method") -> Any:
        """The value that a member answers, without its type. It must succeed."""
        [answer] = self.start(target, member, *arguments, kind=kind)
        assert answer["status"] == 0, f"{member}: 0x{answer['status']:08X}"
        return answer.get("value", {}).get("value")

    def put(self, target: str, member: str, value: Any) -> int:
        return self.status(target, member, value, kind="put")

    def get(self, target: str, member: str) -> Any:
        return self.call(target, member, kind="get")

    def typed(self, target: str, member: str) -> Any:
        [answer] = self.start(target, member, kind="get")
        return answer.get("value", answer["status"])

    def info(self, path: str = "HOST\\private$\\q", *, transactional: bool = False) -> str:
        """An MSMQQueueInfo of a queue that it created."""
        made = self.make("MSMQQueueInfo")
        assert self.put(made, "PathName", text(path)) == 0
        self.call(made, "Create", flag(transactional))
        return made

    def open(self, info: str, access: int = RECEIVE) -> str:
        return str(self.call(info, "Open", long(access), long(0)))

    def message(self, label: str = "", **puts: Any) -> str:
        made = self.make("MSMQMessage")
        for member, value in {"Label": text(label), **puts}.items():
            assert self.put(made, member, value) == 0, member
        return made

    def send(self, queue: str, *labels: str, transaction: Any = LEFT_OUT) -> None:
        for label in labels:
            self.call(self.message(label), "Send", thing(queue), transaction)

    def read(self, queue: str, member: str = "Receive") -> str | None:
        """The label of the message that a read gives, None if it gives none. It does not wait."""
        takes = member.startswith("Receive")
        arguments = [long(0)] if takes else []
        found = self.call(queue, member, *arguments, LEFT_OUT, LEFT_OUT, long(0))
        return None if found is None else str(self.get(found, "Label"))
