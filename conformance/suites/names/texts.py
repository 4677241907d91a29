"""Setting the texts of queue properties, and sending messages with labels, for the modules that judge them."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from dataclasses import replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from conformance.judge.texts import (
    MULTICAST_ADDRESS,
    QUEUE_LABEL,
    TextCase,
    TextObservation,
    judge_label,
    judge_property,
)
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from conformance.adapter.client import Client
    from conformance.suites.guard import GuardedClient
    from conformance.suites.judging import RunOptions

Step = Callable[..., None]
MOST_LATE = 8  # messages of earlier examples looked past; a driver that hands out others for ever must not hold us
_QUEUE = "private$\\mqconform-texts"
PLAIN = {QUEUE_LABEL: "orders", MULTICAST_ADDRESS: "234.1.1.1:1801"}
"""What nobody can object to, but for an implementation that has no such property."""


def text_queue(mq: GuardedClient | Client) -> str | None:
    """The format name of a queue whose properties are to be set; None when there cannot be one."""
    path_name = f"{mq.hello.computer}\\{_QUEUE}"
    created = mq.call("queues.create", path_name=path_name)
    if created.ok:
        return str(created.values["format_name"])
    name = f"DIRECT=OS:{path_name}"  # it may be there from another test
    opened = mq.call("queues.open", format_name=name, access="receive")
    if not opened.ok:
        return None
    mq.call("queues.close", queue=opened.values["queue"])
    return name


def takes(mq: GuardedClient | Client, queue: str, name: str, text: str) -> bool:
    """Whether a plain value of a property is accepted."""
    return mq.call("queues.set", format_name=queue, properties={name: text}).ok


def set_and_judge(
    case: TextCase, queue: str, mq: GuardedClient | Client, step: Step, options: RunOptions
) -> list[Verdict]:
    """Set a property of `queue` to the text, read it back, and judge both."""
    before = _read(mq, queue, case.property)
    params = {"format_name": queue, "properties": {case.property: case.text}}
    seen = TextObservation.of(mq.call("queues.set", **params).status)
    after = _read(mq, queue, case.property)
    if before is not None and after is not None:
        seen = replace(seen, read=True, value=after[0])
    step(f"set {case.property} to {case.text!r}", {"method": "queues.set", "params": params}, seen.to_json())
    return judge_property(case, seen, before[0] if before else None, options.readings)


def _read(mq: GuardedClient | Client, queue: str, name: str) -> tuple[Any] | None:
    """The value of a property, or None when it cannot be read."""
    if not mq.offers("queues.get"):
        return None
    result = mq.call("queues.get", format_name=queue, properties=[name])
    return (result.values["properties"].get(name),) if result.ok else None


def path_given_out(mq: GuardedClient | Client, queue: str) -> str | None:
    """The path name among the properties of a queue; None when none is told."""
    told = _read(mq, queue, "PROPID_Q_PATHNAME")
    return told[0] if told is not None and isinstance(told[0], str) else None


def open_both(mq: GuardedClient | Client, queue: str) -> tuple[Any, Any] | None:
    """Handles to send to the queue and to receive from it, nothing in it; None when it cannot be opened so."""
    handles = []
    for access in ("send", "receive"):
        opened = mq.call("queues.open", format_name=queue, access=access)
        if not opened.ok:
            return None
        handles.append(opened.values["queue"])
    return handles[0], handles[1]


def send_and_judge(label: str, handles: tuple[Any, Any], mq: GuardedClient | Client, step: Step) -> list[Verdict]:
    """Send a message with the label, receive it, and judge both."""
    # A message that came too late for an earlier example must not be taken for this one's.
    body = b64encode(blake2b(label.encode("utf-8", "surrogatepass"), digest_size=12).digest()).decode("ascii")
    params = {"queue": handles[0], "message": {"label": label, "body": body}}
    seen = TextObservation.of(mq.call("messages.send", **params).status)
    if seen.accepted:
        for _ in range(MOST_LATE):
            got = mq.call("messages.receive", queue=handles[1], timeout_ms=mq.hello.settle_ms)
            if not got.ok:
                break
            if got.values["message"].get("body") == body:
                seen = replace(seen, read=True, value=got.values["message"].get("label", ""))
                break
    step(f"send a message labelled {label!r}", {"method": "messages.send", "params": params}, seen.to_json())
    return judge_label(label, seen)
