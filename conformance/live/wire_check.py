"""`wire check`: one look at a queue manager. Handshake, one message, its acknowledgment, and what hides the rest."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Literal
from uuid import UUID

from conformance.judge.dialogues import packets
from conformance.net.addresses import Place, Target
from conformance.net.connector import INSECURE_NACKS, PING
from conformance.net.driver import Declared, WireDriver, opened
from conformance.net.ends import MAX_MESSAGE_S, NotConnectedError, Session, ping
from conformance.spec.constants.enumerations import ENUMERATIONS
from conformance.verdict import ExitCode
from conformance.wire import Packet, dissect

STEP_S: Final = 5.0
BACK_S: Final = 8.0
"""Seconds that the server gets to connect to us."""
_ESTABLISH = "EstablishConnectionHeader."
_PARAMETERS = ("RecoverableAckTimeout", "AckTimeout", "WindowSize")
_REFUSED = "InternalHeader.Flags.CS"
_BACK = "connection back"
_OURS_S = 0.5  # RecoverableAckTimeout of our own parameters.
_WAITS = "ConnectionParametersHeader.RecoverableAckTimeout"
_CLASS = "MessagePropertiesHeader.MessageClass"
_LOOK_S = 0.25  # After each wait for a connection this long, the session of the message is looked at.
_SETUP = "mqconform wire setup makes the queue; run what it prints on the server"

_CLASSES: Final = ENUMERATIONS["MESSAGE_CLASS_VALUES"].members
_REACHED: Final = _CLASSES["MQMSG_CLASS_ACK_REACH_QUEUE"]

State = Literal["ok", "missing", "wrong"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One step. state: `missing` tells what is not shown, and what shows it."""

    what: str
    state: State
    text: str


@dataclass(frozen=True, slots=True)
class Checked:
    """exit_code: conforms, when the server also connected back, else unusable. sentence: why it cannot be judged."""

    findings: tuple[Finding, ...]
    exit_code: ExitCode
    sentence: str | None = None


class _Over(Exception):
    """Nothing further can be tried; the message is one sentence."""


@dataclass(slots=True)
class _Check:
    driver: WireDriver
    on_finding: Callable[[Finding], object]
    findings: list[Finding] = field(default_factory=list)
    others: list[Packet] = field(default_factory=list)
    ends: packets.Ends = field(default_factory=lambda: packets.Ends(f"{time.time_ns():x}", int(time.time()), "", ""))

    def say(self, what: str, state: State, text: str) -> None:
        self.findings.append(Finding(what, state, text))
        self.on_finding(self.findings[-1])

    def walk(self) -> None:
        """Try everything. Raises _Over."""
        target, driver = self.driver.target, self.driver
        self.ends = replace(self.ends, host=target.address, listener=driver.listener)
        self.say("address", "ok", f"{target.word} is {target.address}, and TCP port {driver.declared.qm} is open")
        self._ping()
        session = self._handshake()
        self._message(session)
        self._answer(session)
        if driver.plane is None:
            self.say("remote read", "missing", driver.without)
        else:
            managed = "is" if driver.plane.management is not None else "is not"
            self.say("remote read", "ok", f"queues can be read over RPC; management {managed} there, too")
        with suppress(OSError):
            driver.ends.close(session, "close")

    def _ping(self) -> None:
        place = Place(self.driver.target.address, self.driver.declared.ping)
        recording, now_ms = self.driver.recording, self.driver.ends.now_ms
        try:
            data, source = packets.ping(self.ends, 1), self.driver.listener
            answers = ping(place, data, 2.0, source=source, recording=recording, now_ms=now_ms)
        except OSError:
            answers = []
        found = [dissect(each.data, transport="udp") for each in answers]
        if any(each.whole and each.fields.get("Ping.Cookie") == 1 for each in found):
            self.say("ping", "ok", f"answered at UDP port {place.port}")
        else:
            self.say(
                "ping", "missing", f"no answer at UDP port {place.port}: {PING.path} = {PING.set_to} shows {PING.hides}"
            )

    def _handshake(self) -> Session:
        ends = self.driver.ends
        try:
            session = ends.connect(
                Place(self.driver.target.address, self.driver.declared.qm), STEP_S, self.driver.listener
            )
            self._send(session, packets.establish(self.ends, packets.NULL))
        except NotConnectedError as error:
            raise _Over(str(error)) from None
        answer = self._one(session, "EstablishConnection", "is it a queue manager of MSMQ?")
        if answer.fields.get(_REFUSED):
            raise _Over("The server refuses the session: has it open sessions to spare, and is it not paused?")
        self.ends = replace(self.ends, server=str(answer.fields.get(f"{_ESTABLISH}ServerGuid")))
        self.say("session", "ok", f"established with the queue manager {self.ends.server}")
        self._send(session, packets.parameters())
        answer = self._one(session, "ConnectionParameters", "it ended the handshake half-way")
        told = ", ".join(f"{name} {answer.fields.get(f'ConnectionParametersHeader.{name}')!s}" for name in _PARAMETERS)
        self.say("parameters", "ok", told)
        return session

    def _message(self, session: Session) -> None:
        queue = self.driver.declared.queues[0] if self.driver.declared.queues else packets.PLAIN
        asks = packets.PA | packets.NA
        message = packets.Message("check", queue, True, asks, reach_s=MAX_MESSAGE_S, receive_s=MAX_MESSAGE_S)
        self._send(session, packets.user_message(message, self.ends, self.ends.first_id))
        self._one(session, "SessionAck", "a message was sent, and its session acknowledgment did not come", header=True)
        self.say("acknowledgment", "ok", f"a recoverable message to private$\\{queue} was acknowledged on the session")

    def _answer(self, told: Session) -> None:
        """Wait for the administration acknowledgment. The server connects to us for it, or has it come on the session
        of the message (MS-MQQB 1.3.5.2)."""
        ends, listener = self.driver.ends, self.driver.listener
        until, session = time.monotonic() + BACK_S, None
        while session is None and time.monotonic() < until:
            session = ends.accept(listener, min(BACK_S, _LOOK_S))
            self.others += [
                dissect(each.data, transport="tcp") for each in ends.received(told, 0.0, 1)[0] if not each.rest
            ]
            words = [one for one in self.others if one.kind == "UserMessage" and self._is_ours(one)]
            if words:
                time.sleep(_OURS_S)
                self._send(told, packets.session_ack(len(self.others), 1, 1, 1, 1))
                self.say(_BACK, "ok", "not needed: acknowledgments come on the session that is open")
                self._say_class(words[0].fields.get(_CLASS))
                return
        if session is None:
            place = Place(listener, self.driver.declared.peer)
            stranger = self.driver.declared.stranger(ends.strangers(), self.driver.target.address)
            none = (
                f"the server did not connect to {place} within {BACK_S:g} s: is that port open here and reachable from"
                f" there? If the queue does not exist, {_SETUP}; {INSECURE_NACKS.path} = {INSECURE_NACKS.set_to} shows"
                f" {INSECURE_NACKS.hides}"
            )
            self.say(_BACK, "missing", stranger or none)
            return
        try:
            request = self._one(session, "EstablishConnection", "it connected and said nothing")
            names = [f"{_ESTABLISH}{name}" for name in ("ClientGuid", "TimeStamp")]
            same = {name: request.fields[name] for name in names if name in request.fields}
            self._send(session, packets.establish(self.ends, self.ends.client, same, answer=True))
            asked = self._one(session, "ConnectionParameters", "it ended the handshake half-way")
            keys = {name: asked.fields[name] for name in asked.fields if name.startswith("ConnectionParametersHeader.")}
            self._send(session, packets.parameters({name: keys[name] for name in _keys(keys)}))
            number = self._class(session, keys.get(_WAITS))
        except _Over as why:
            self.say(_BACK, "wrong", str(why))
            return
        self.say(_BACK, "ok", f"the server connected to {session.local}")
        self._say_class(number)
        ends.close(session, "close")

    def _say_class(self, number: object) -> None:
        told = next((name for name, each in _CLASSES.items() if each == number), f"a message of the class {number!s}")
        good = number == _REACHED
        self.say("administration", "ok" if good else "missing", told if good else f"{told}: {_SETUP}")

    def _is_ours(self, word: Packet) -> bool:
        """Tell whether an acknowledgment is about our message."""
        ours = UUID(self.ends.client).bytes_le + self.ends.first_id.to_bytes(4, "little")
        return word.fields.get("MessagePropertiesHeader.CorrelationID") == ours

    def _class(self, session: Session, timeout_ms: object) -> object:
        """Return the class of the acknowledgment of our message; others that still waited are acknowledged, too.

        timeout_ms: RecoverableAckTimeout of the session, for which a SessionAck waits (MS-MQQB 3.1.6.4).
        """
        until = time.monotonic() + STEP_S
        count = kept = 0
        while time.monotonic() < until:
            came = self._one(session, "UserMessage", "no acknowledgment of the message came")
            count, kept = count + 1, kept + bool(came.fields.get("UserHeader.Flags.DM"))
            if self._is_ours(came):
                time.sleep(min(timeout_ms / 1000 if isinstance(timeout_ms, int) else 0.0, STEP_S))
                self._send(session, packets.session_ack(count, 1 if kept else 0, (1 << min(kept, 32)) - 1, 0, 0))
                return came.fields.get(_CLASS)
        raise _Over("Acknowledgments came, and none of them of our message.")

    def _send(self, session: Session, data: bytes) -> None:
        try:
            self.driver.ends.send(session, data, (), 0.0, STEP_S)
        except NotConnectedError as error:
            raise _Over(str(error)) from None

    def _one(self, session: Session, kind: str, why: str, *, header: bool = False) -> Packet:
        """Return the next packet of a kind. header: or one with a SessionHeader. Raises _Over."""
        until = time.monotonic() + STEP_S
        while (left := until - time.monotonic()) > 0:
            arrived, ended = self.driver.ends.received(session, left, 1)
            for each in arrived:
                if each.rest:
                    raise _Over(f"The server sent bytes that are no packet ({each.data[:16].hex(' ')}): {why}")
                found = dissect(each.data, transport="tcp")
                if found.kind == "UserMessage" and kind != "UserMessage":
                    self.others.append(found)
                if found.kind == kind or (header and found.has("SessionHeader")):
                    return found
            if ended is not None:
                how = "reset" if ended == "reset" else "closed"
                raise _Over(f"The server {how} the connection in place of the {kind} packet: {why}")
        raise _Over(f"No {kind} packet came within {STEP_S:g} s: {why}")


def wire_check(
    target: Target,
    declared: Declared,
    *,
    record: Path | None = None,
    on_finding: Callable[[Finding], object] = lambda found: None,
) -> Checked:
    """Look at a queue manager once: one session, one message. record: keeps what was said, as a capture.

    Raises DriverUnusable when it cannot be reached.
    """
    driver = opened(target, declared, record, greet=False)  # The walk does, and tells more.
    check = _Check(driver, on_finding)
    try:
        check.walk()
    except _Over as why:
        check.say("session", "wrong", str(why))
        return Checked(tuple(check.findings), ExitCode.UNUSABLE, str(why))
    finally:
        driver.close()
    back = next((each for each in check.findings if each.what == _BACK and each.state != "ok"), None)
    if back is not None:
        sentence = f"Without a connection back, much cannot be judged: {back.text.rstrip('.')}."
        return Checked(tuple(check.findings), ExitCode.UNUSABLE, sentence)
    return Checked(tuple(check.findings), ExitCode.CONFORMS)


def _keys(keys: Mapping[str, object]) -> list[str]:
    return [
        f"ConnectionParametersHeader.{name}" for name in _PARAMETERS if f"ConnectionParametersHeader.{name}" in keys
    ]
