"""A queue open to send and to receive, and what is judged of a message through it."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from conformance.harness.guarded_client import lacking, refusals
from conformance.judge.packets.attribute_compare import Sending, demanded, judge_attributes, judge_identity
from conformance.verdict import Json, Outcome, Verdict

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder

NEEDS = ("queues.create", "queues.open", "messages.send", "messages.receive")
MOST_REMEMBERED = 4096  # identifiers to compare new ones with; bounds the memory of a soak
MOST_LEFT_BEHIND = 100


def b64(data: bytes) -> str:
    """Return bytes as the adapter protocol writes them, in base64."""
    return base64.b64encode(data).decode("ascii")


class Unopened(Exception):
    """No queue to send messages to can be made. The message is a clause without a period."""


class Mailbox:
    """A queue open to send and to receive, which judges the messages through it.

    Raises ConformanceFailure, and Unopened if the queue cannot be opened.
    """

    def __init__(self, mq: Port, judge: Recorder, *, name: str = "attributes", **properties: Json) -> None:
        """Create the queue of this name with these properties, or take the one that is there, and open it."""
        self.mq = mq
        self.judge = judge
        self.earlier: list[Any] = []
        self.queues_shown = False
        self.left_behind = False
        self.inexpressible: set[tuple[str, str]] = set()  # members with their values
        self.path = f"{mq.hello.computer}\\private$\\mqconform-{name}"
        created = mq.call("queues.create", path_name=self.path, **({"properties": properties} if properties else {}))
        self.format_name = str(created.values["format_name"]) if created.ok else f"DIRECT=OS:{self.path}"
        self.send_handle: Any = None
        self.receive_handle: Any = None
        self.open()

    def open(self) -> None:
        """Open the queue to send and to receive."""
        self.send_handle, self.receive_handle = [self.opened(self.format_name, each) for each in ("send", "receive")]

    def opened(self, format_name: str, access: str) -> Any:
        """Open a queue and return the handle."""
        opened = self.mq.call("queues.open", format_name=format_name, access=access)
        if not opened.ok:
            raise Unopened("no queue could be created and opened to send messages to")
        return opened.values["queue"]

    def did(self, method: str, **params: Any) -> Mapping[str, Any] | None:
        """Make a call that is no send, and return its values; None where it fails."""
        result = self.mq.call(method, **params)
        self.judge.step(method.partition(".")[2], {"method": method, "params": params}, dict(result.values))
        return result.values if result.ok else None

    def reading(self) -> dict[str, Any]:
        """Return the parameters of a read of the queue."""
        return {"queue": self.receive_handle, "timeout_ms": self.mq.hello.settle_ms}

    def passes(self, milliseconds: int) -> None:
        """Let time pass."""
        if self.mq.offers("clock.advance"):
            self.mq.call("clock.advance", by_ms=milliseconds)
        else:
            self.mq.time.sleep(milliseconds / 1000)
        self.judge.step(f"{milliseconds:,} ms pass")

    def exchange(self, message: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Send a message, peek at it, receive it, and judge each answer. Return the message as received.

        A message that the API cannot express goes without the members that it cannot express alone.
        """
        try:
            return self._exchange(message)
        except refusals() as refused:
            self._refused(refused)
        for name, value in message.items() if len(message) > 1 else ():
            try:
                self._exchange({name: value})
            except refusals() as refused:
                self._refused(refused)
                self.inexpressible.add((name, repr(value)))
        left = self._expressible(message)
        return self._exchange(left) if 0 < len(left) < len(message) else None

    def _refused(self, refused: BaseException) -> None:
        what = lacking(refused)
        if what is None:
            raise refused
        self.left_behind = False
        self.judge.lacks(what)

    def _expressible(self, message: Mapping[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in message.items() if (name, repr(value)) not in self.inexpressible}

    def _exchange(self, message: Mapping[str, Any]) -> Mapping[str, Any] | None:
        if self.left_behind:  # by an example that failed before its receive
            self.empty(self.receive_handle)
        self.left_behind = True
        sending = self.send(message)
        if sending is None:
            return None
        if self.mq.offers("clock.advance"):
            self.mq.call("clock.advance", by_ms=5_000)  # makes the time of reading differ from the time of arrival
        methods = ["messages.receive"]
        if self.mq.offers("messages.peek"):
            methods.insert(0, "messages.peek")
        seen = None
        for method in methods:
            seen = self.read(method, sending)
        self.left_behind = False
        if sending.identifier is not None and len(self.earlier) < MOST_REMEMBERED:
            self.earlier.append(sending.identifier)
        return seen

    def send(self, message: Mapping[str, Any], *, refusable: bool = False, **more: Any) -> Sending | None:
        """Send a message. Return None, after a verdict, if it is refused. refusable: without a verdict."""
        began = self._now()
        self.judge.lacks(*(f"{name} (of a message)" for name in message if not self.mq.hello.takes("message", name)))
        message = {name: value for name, value in message.items() if self.mq.hello.takes("message", name)}
        message = self._expressible(message)
        params = {"queue": self.send_handle, "message": message, **more}
        result = self.mq.call("messages.send", **params)
        self.judge.step(f"send {_short(message)}", {"method": "messages.send", "params": params}, dict(result.values))
        if not result.ok:
            if refusable:
                return None
            # A message without attributes that is refused too shows that it is none of these.
            plain = bool(message) and not self.mq.call("messages.send", **{**params, "message": {}}).ok
            self.judge.record(_refused({} if plain else message, f"send {_short(message)}", result.status))
            return None
        return Sending(message, result.values.get("identifier"), began, self._now(), "transaction" in more)

    def read(
        self, method: str, sending: Sending, *, before: Mapping[str, Any] | None = None
    ) -> Mapping[str, Any] | None:
        """Read the message that was sent, and judge it. before: see `judge_attributes`."""
        params = self.reading()
        result = self.mq.call(method, **params)
        subject = method.removeprefix("messages.")
        self.judge.step(subject, {"method": method, "params": params}, dict(result.values))
        if not result.ok:
            self.judge.record(_refused(sending.message, subject, result.status))
            return None
        seen: Mapping[str, Any] = result.values["message"]
        self.queues_shown = self.queues_shown or "response_queue" in seen or "administration_queue" in seen
        shown = self.queues_shown
        self.judge.record(*judge_attributes(sending, seen, subject, before=before, queues_shown=shown))
        self.judge.record(*judge_identity(sending, seen, subject, self.earlier, self.mq.hello.queue_manager or None))
        return seen

    def empty(self, handle: Any) -> None:
        """Receive what earlier examples have left behind."""
        for _ in range(MOST_LEFT_BEHIND):
            if not self.mq.call("messages.receive", queue=handle, timeout_ms=self.mq.hello.settle_ms).ok:
                return

    def _now(self) -> int | None:
        if not self.mq.offers("clock.now"):
            return None
        result = self.mq.call("clock.now")
        return int(result.values["time_ms"]) if result.ok else None


def _refused(message: Mapping[str, Any], subject: str, status: int | None) -> Verdict:
    return Verdict(demanded(message), Outcome.FAIL, subject, {"fails": False}, {"fails": True, "status": status})


def _short(message: Mapping[str, Any]) -> str:
    told = ", ".join(
        f"{name} {value[:60] if isinstance(value, str) else value!r:.40}" for name, value in message.items()
    )
    return f"a message with {told}" if told else "a message without attributes"
