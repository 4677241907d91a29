"""Messages that get to a host by MS-MQQB, because remote read has no call that sends."""

from __future__ import annotations

import time
from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Final

from conformance.judge.dialogues.packets import Ends as Names
from conformance.judge.dialogues.packets import establish, parameters
from conformance.judge.packets.user_messages import ACKNOWLEDGEMENTS
from conformance.net.addresses import Place
from conformance.net.ends import Ends, NotConnectedError, Pace, Session
from conformance.wire import encode
from conformance.wire.layout import Value

_WITHIN_S: Final = 5.0
_MOST: Final = 30  # Messages of a session: fewer than half of its window, so none waits for an acknowledgment.
_U, _M = "UserHeader.", "MessagePropertiesHeader."
_NUMBERS: Final = {
    "priority": "BaseHeader.Flags.PR",
    "time_to_reach_queue": "BaseHeader.TimeToReachQueue",
    "time_to_be_received": _U + "TimeToBeReceived",
    "body_type": _M + "BodyType",
    "label": _M + "Label",
    "class": _M + "MessageClass",
    "application_tag": _M + "ApplicationTag",
    "positive_journaling": _U + "Flags.JP",
    "negative_journaling": _U + "Flags.JN",
}
_BYTES: Final = {
    "body": _M + "MessageBody",
    "extension": _M + "ExtensionData",
    "correlation_identifier": _M + "CorrelationID",
}
_QUEUES: Final = {"administration_queue": "AdminQueue", "response_queue": "ResponseQueue"}
MEMBERS: Final = (*_NUMBERS, *_BYTES, *_QUEUES, "delivery", "acknowledgements")
"""Members of a message that a packet carries as they are."""


@dataclass(slots=True)
class Sender:
    """Sends messages of one queue manager that exists only here, to queues with direct format names.

    pace: of a host that is not loopback.
    """

    ends: Ends
    place: Place
    source: str | None
    pace: Pace | None = None
    _names: Names = field(init=False)
    _numbers: count[int] = field(init=False)
    _session: Session | None = None
    _sent: int = 0

    def __post_init__(self) -> None:
        self._names = Names(f"{time.time_ns():x}", int(time.time()), self.place.host, self.source or self.place.host)
        self._numbers = count(self._names.first_id)

    @property
    def source_id(self) -> str:
        """The identifier of the queue manager."""
        return self._names.client

    def send(self, message: Mapping[str, Any], format_name: str) -> dict[str, Any]:
        """Send a message; return its identifier. Raises NotConnectedError when no session can be had."""
        number = next(self._numbers)
        data = encode("UserMessage", self._values(message, format_name, number))
        if self.pace is not None:
            self.pace.wait()
        for again in (True, False):
            try:
                self.ends.send(self._current(), data, (), 0.0, _WITHIN_S)
                break
            except NotConnectedError:
                self.close()
                if not again:
                    raise
        self._sent += 1
        return {"source": self.source_id, "ordinal": number}

    def close(self) -> None:
        """Close the session, if one is open."""
        if self._session is not None:
            self.ends.close(self._session, "close")
        self._session = None

    def _current(self) -> Session:
        session = self._session
        if session is not None and (self._sent >= _MOST or self.ends.received(session, 0.0, 1)[1] is not None):
            self.close()
            session = None
        if session is None:
            session = self._session = self._opened()
            self._sent = 0
        return session

    def _opened(self) -> Session:
        session = self.ends.connect(self.place, _WITHIN_S, self.source)
        for step in (establish(self._names, "00000000-0000-0000-0000-000000000000"), parameters()):
            self.ends.send(session, step, (), 0.0, _WITHIN_S)
            packets, _ = self.ends.received(session, _WITHIN_S, 1)
            if not packets or packets[0].rest:
                self.ends.close(session, "close")
                raise NotConnectedError(f"{self.place} opens no session for a message.")
        return session

    def _values(self, message: Mapping[str, Any], format_name: str, number: int) -> dict[str, Value]:
        values: dict[str, Value] = {
            _U + "SourceQueueManager": self.source_id,
            _U + "SentTime": int(time.time()),
            _U + "MessageID": number,
            _U + "Flags.DM": int(message.get("delivery") == "recoverable"),
            **_named("DestinationQueue", format_name),
        }
        values |= {key: message[name] for name, key in _NUMBERS.items() if name in message}
        values |= {key: b64decode(message[name]) for name, key in _BYTES.items() if name in message}
        for name, place in _QUEUES.items():
            if name in message:
                values |= _named(place, message[name])
        asked = message.get("acknowledgements", ())
        values[_M + "Flags"] = sum(1 << ACKNOWLEDGEMENTS.index(each) for each in asked)
        return values


def _named(field: str, format_name: str) -> dict[str, Value]:
    """Return the values of a queue that a direct format name names."""
    return {f"{_U}Flags.{field[0]}Q": 7, f"{_U}{field}.DirectFormatName": format_name.partition("=")[2]}
