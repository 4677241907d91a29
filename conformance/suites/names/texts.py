"""Sets the texts of queue properties and sends messages with labels, for the modules that judge them."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from dataclasses import replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from conformance.judge.names import (
    MULTICAST_ADDRESS,
    QUEUE_LABEL,
    TextCase,
    TextObservation,
    judge_label,
    judge_property,
)
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import RunOptions

Step = Callable[..., None]
MOST_LATE = 8  # most messages of earlier examples to skip, because a driver may return others for ever
_QUEUE = "private$\\mqconform-texts"
PLAIN = {QUEUE_LABEL: "orders", MULTICAST_ADDRESS: "234.1.1.1:1801"}
"""Values that every implementation with the property must accept."""


def text_queue(mq: Port) -> str | None:
    """Create a queue whose properties can be set and return its format name; None if that fails."""
    path_name = f"{mq.hello.computer}\\{_QUEUE}"
    created = mq.call("queues.create", path_name=path_name)
    if created.ok:
        return str(created.values["format_name"])
    name = f"DIRECT=OS:{path_name}"  # another test may have created it
    opened = mq.call("queues.open", format_name=name, access="receive")
    if not opened.ok:
        return None
    mq.call("queues.close", queue=opened.values["queue"])
    return name


def takes(mq: Port, queue: str, name: str, text: str) -> bool:
    """Return True if the queue accepts this value of a property."""
    return mq.call("queues.set", format_name=queue, properties={name: text}).ok


def set_and_judge(case: TextCase, queue: str, mq: Port, step: Step, options: RunOptions) -> list[Verdict]:
    """Set a property of `queue` to the text, read it back, and judge both answers."""
    before = _read(mq, queue, case.property)
    params = {"format_name": queue, "properties": {case.property: case.text}}
    seen = TextObservation.of(mq.call("queues.set", **params).status)
    after = _read(mq, queue, case.property)
    if before is not None and after is not None:
        seen = replace(seen, read=True, value=after[0])
    step(f"set {case.property} to {case.text!r}", {"method": "queues.set", "params": params}, seen.to_json())
    return judge_property(case, seen, before[0] if before else None, options.readings)


def _read(mq: Port, queue: str, name: str) -> tuple[Any] | None:
    """Return the value of a property in a tuple; None if it cannot be read."""
    if not mq.offers("queues.get"):
        return None
    result = mq.call("queues.get", format_name=queue, properties=[name])
    return (result.values["properties"].get(name),) if result.ok else None


def path_given_out(mq: Port, queue: str) -> str | None:
    """Return the path name among the properties of a queue; None if it is not shown."""
    told = _read(mq, queue, "PROPID_Q_PATHNAME")
    return told[0] if told is not None and isinstance(told[0], str) else None


def open_both(mq: Port, queue: str) -> tuple[Any, Any] | None:
    """Open a queue; return handles to send and to receive, or None if it cannot be opened."""
    handles = []
    for access in ("send", "receive"):
        opened = mq.call("queues.open", format_name=queue, access=access)
        if not opened.ok:
            return None
        handles.append(opened.values["queue"])
    return handles[0], handles[1]


def send_and_judge(label: str, handles: tuple[Any, Any], mq: Port, step: Step, options: RunOptions) -> list[Verdict]:
    """Send a message with the label, receive it, and judge both answers."""
    # A late message of an earlier example must not count as the message of this one.
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
    return judge_label(label, seen, options.readings)
