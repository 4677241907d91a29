"""Plays cases: sends what their steps say, waits for what must come, and judges the whole conversation at the end."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from math import ceil
from typing import TYPE_CHECKING, Any, Final

from conformance.judge.dialogues import packets
from conformance.judge.dialogues.conversation import Conversation, Said
from conformance.judge.dialogues.machine import SITUATIONS, Says, Situation, State, Then
from conformance.judge.dialogues.packets import Ends, Message
from conformance.judge.dialogues.steps import (
    AT_ONCE_MS,
    Acknowledged,
    Answered,
    Case,
    Close,
    Closes,
    Comes,
    Connect,
    Counted,
    Establish,
    Never,
    Parameters,
    Ping,
    Quiet,
    Reconnects,
    Say,
    Stays,
    Step,
    Stored,
    Tell,
    Wait,
)
from conformance.judge.sessions.context import Readings
from conformance.spec.catalogue import reading_id, requirement_id
from conformance.suites.sessions.declared import lacking
from conformance.suites.sessions.links import Link
from conformance.suites.sessions.matching import INSECURE, NO_PINGS, class_of, is_about, is_misnamed
from conformance.suites.sessions.sequels import Broken, Sequels
from conformance.verdict import Json, Outcome, Verdict
from conformance.wire import encode

if TYPE_CHECKING:
    from conformance.adapter.client import Result
    from conformance.harness.port import Port

METHODS: Final = ("sessions.about", "sessions.open", "sessions.send", "sessions.received", "sessions.close")
PINGS: Final = "sessions.ping"
EXAMPLE: Final = "dialogue"
_ACCEPTS: Final = requirement_id("MQQB-2.1.1.acceptor-port")
_INITIATES: Final = requirement_id("MQQB-2.1.1.initiator-port")
_DIRECT: Final = requirement_id("MQQB-3.1.5.2.3.server-guid")
_CORRELATION: Final = requirement_id("MQQB-3.1.7.15.correlation")
_NULL_ADDRESS: Final = reading_id("R-MQQB-null-queue-manager-address")
_OF_NULL: Final = ("MQQB-3.1.5.8.2.no-such-queue", "MQQB-3.1.6.9.sent")
_REPORT: Final = 0x0001  # MQMSG_CLASS_REPORT, MS-MQMQ 2.2.18.1.6
_POSITIVE: Final = (0x0002, 0x4000)  # acknowledgments of an arrival and of a receive
_SLICE_MS, _ACCEPT_MS = 50, 400
_RETRY_MS: Final = 5_000  # MS-MQQB product note 45: what is assumed of a retry timer that is not declared
_SLACK_MS: Final = 1_000
_BASE_NS: Final = 1_000_000_000
_BY_NAME: Final = {one.name: one for one in SITUATIONS}
Told = Callable[[str, Mapping[str, Any] | None], None]


class NotPlayed(Exception):
    """The case cannot be played here; the text tells why."""


class Player:
    """Plays one case. now_s: seconds since 1970, where the driver does not tell its time. tell: gets each step."""

    def __init__(self, mq: Port, case: Case, *, now_s: int, tell: Told) -> None:
        """Ask what is declared. Raises NotPlayed for a case that needs more."""
        self.mq, self.case, self.tell = mq, case, tell
        self.about = mq.call("sessions.about").values
        if not self.about:
            raise NotPlayed("the driver tells nothing of the queue manager")
        why = lacking(case, self.about)
        if why is not None:
            raise NotPlayed(why)
        now_s = int(self.about["now_ms"]) // 1000 if "now_ms" in self.about else now_s
        self.ends = Ends(mq.unique(), now_s, self.about["host"], self.about["listener"])
        self.conversation = Conversation(now_s * _BASE_NS)
        self.links: dict[str, Link] = {}
        self.found: list[Verdict] = []
        self.exact: list[Verdict] = []
        self.ids: dict[str, tuple[int, Message]] = {}
        self._next_id = self.ends.first_id
        self._accepted = 0
        self._quiet = False
        self._pings = 0
        self._local: tuple[str, ...] = ("local",)
        self.sequels = Sequels(self)

    def play(self, readings: Readings, profile: str) -> Iterator[Verdict]:
        """Yield the verdicts: on fields that a step demands, then by the rules on all that was said, then on the rest.

        So the most exact sentence is blamed first.
        """
        self._local = readings[_NULL_ADDRESS]
        try:
            for step in self.case.steps:
                self._do(step)
        except Broken:
            pass
        finally:
            for link in self.links.values():
                link.close()
        yield from self.exact
        yield from filter(self.sequels.stands, self.conversation.verdicts(readings, profile))
        yield from self.found

    # --- What the owner has declared

    def _timer(self, name: str) -> int:
        return int(self.about["timers_ms"].get(name, _RETRY_MS))

    @property
    def _patience_ms(self) -> int:
        """How long a connection of the implementation may take: none may be open now."""
        return (
            0
            if any(one.role == "acceptor" and one.ended is None for one in self.links.values())
            else (self._timer("session-retry-connect") + _SLACK_MS)
        )

    # --- Verdicts

    def _pass(self, *requirements: str, subject: str = "dialogue") -> None:
        self.found += [Verdict(one, Outcome.PASS, subject) for one in requirements]

    def _fail(self, *requirements: str, expected: Json, actual: Json, subject: str = "dialogue") -> None:
        self.found += [Verdict(one, Outcome.FAIL, subject, expected, actual) for one in requirements]
        raise Broken

    def _field(self, said: Said, wanted: Mapping[str, tuple[int, str]], *, exact: bool = True) -> None:
        """Judge fields of a packet by their keys. exact: nothing that a rule says of them tells more."""
        verdicts = self.exact if exact else self.found
        for key, (value, requirement) in wanted.items():
            found = said.number(key)
            outcome = Outcome.PASS if found == value else Outcome.FAIL
            verdicts.append(Verdict(requirement, outcome, said.kind, {key: value}, {key: found}))
            if outcome is Outcome.FAIL:
                raise Broken

    def _skip(self, *requirements: str, reason: str) -> None:
        self.found += [Verdict(one, Outcome.SKIP, "dialogue", reason=reason) for one in requirements]

    # --- Steps

    def _do(self, step: Step) -> None:
        doing: dict[type, Callable[[Any], None]] = {
            Connect: self._connect, Establish: self._establish, Parameters: self._parameters,
            Answered: self._answered, Say: self._say, Tell: self._tell, Acknowledged: self._acknowledged,
            Stored: self._stored, Comes: self._comes, Never: self._never, Closes: self._closes, Stays: self._stays,
            Wait: self._wait, Close: self._close, Quiet: self._hush, Reconnects: self._reconnects, Ping: self._ping,
            Counted: self._counted, **self.sequels.doing,
        }  # fmt: skip
        self.tell(type(step).__name__, {"step": repr(step)})
        doing[type(step)](step)

    def _connect(self, step: Connect) -> None:
        result = self.mq.call("sessions.open", role="initiator", address=self.about["listener"])
        if not result.ok or "session" not in result.values:
            self._fail(_ACCEPTS, expected="a connection", actual=_told(result))
        self.links[step.link] = self._link("initiator", result)
        self._pass(_ACCEPTS)

    def _link(self, role: Any, result: Result) -> Link:
        values = result.values
        number = self.conversation.opened(role, values.get("local", ""), values.get("remote", ""))
        return Link(self.mq, self.conversation, values["session"], number, role)

    def _establish(self, step: Establish) -> None:
        server = {"null": packets.NULL, "own": self.ends.server, "stranger": packets.STRANGER}[step.server]
        self.links[step.link].send(packets.establish(self.ends, server, step.values), pieces=step.pieces)

    def _parameters(self, step: Parameters) -> None:
        self.links[step.link].send(packets.parameters(step.values), pieces=step.pieces)

    def _answered(self, step: Answered) -> None:
        link = self.links[step.link]
        said = self._awaited(link, lambda one: one.kind == step.kind, step.within_ms)
        if said is None:
            self._fail(step.requirement, expected=step.kind, actual=self._shown(link))
        assert said is not None
        self._field(said, step.values)
        refused = bool(said.number("InternalHeader.Flags.CS"))
        if said.kind == "EstablishConnection" and not refused:
            self.ends = replace(self.ends, server=said.text("EstablishConnectionHeader.ServerGuid") or packets.NULL)
        if said.kind == "ConnectionParameters":
            link.opened = True
        self._pass(step.requirement)

    def _awaited(self, link: Link, fits: Callable[[Said], bool], within_ms: int) -> Said | None:
        """Return the next packet of a link that fits, and drop those before it."""
        left = within_ms
        while True:
            while link.heard:
                one = link.heard.pop(0)
                if fits(one):
                    return one
            if link.ended is not None or left <= 0:
                return None
            if not link.read(_SLICE_MS):
                left -= _SLICE_MS

    def _say(self, step: Say) -> None:
        self.links[step.link].send(packets.said(step.says, self.ends, self._number(), more=step.values))

    def _number(self) -> int:
        self._next_id += 1
        return self._next_id

    def _tell(self, step: Tell) -> None:
        link = self.links[step.link]
        for message in step.messages:
            number = self.ids[message.again][0] if message.again else self._number()
            self.ids[message.name] = number, message
            values = packets.user_values(message, self.ends, number)
            if step.acknowledging or step.miscounted:
                sent = link.sent + 1 + step.miscounted
                values |= packets.session_values(link.received, sent, link.sent_recoverable + message.kept)
            data = encode("UserMessage", values)
            if link.send(data, pieces=step.pieces, message=True, kept=message.kept) is None:
                return

    def _acknowledged(self, step: Acknowledged) -> None:
        link = self.links[step.link]
        wanted = link.sent if step.count is None else step.count
        left = step.within_ms + _SLACK_MS
        while link.counted != wanted and left > 0 and link.ended is None:
            if not link.read(_SLICE_MS):
                left -= _SLICE_MS
            self._thank()
        if link.counted != wanted:
            self._fail(step.requirement, expected={"acknowledged": wanted}, actual=self._shown(link))
        self._pass(step.requirement)

    def _counted(self, step: Counted) -> None:
        link = self.links[step.link]
        if link.counted < step.least:
            self._fail(step.requirement, expected={"at least": step.least}, actual=self._shown(link))
        self._pass(step.requirement)

    def _stored(self, step: Stored) -> None:
        link = self.links[step.link]
        wanted = list(range(1, link.sent_recoverable + 1))
        if sorted(link.acknowledged) != wanted:
            self._fail(step.requirement, expected=wanted, actual=sorted(link.acknowledged))
        self._pass(step.requirement)

    def _comes(self, step: Comes) -> None:
        fits = self._fitting(step)
        if not self._until(lambda: sum(map(fits, self._messages())) >= step.times, step.within_ms + self._patience_ms):
            came = [self._told_of(one) for one in self._messages() if self._is_about(one, step.of, step.about)]
            if step.insecure and not came:
                self._skip(*step.requirements, reason=INSECURE)
                return
            if step.may is not None and all(one["class"] in _POSITIVE for one in came):
                self._skip(*step.requirements, reason=step.may)
                return
            if self._local[0] == "letter" and self._is_null(step.about) and not came:
                self._reading(step.requirements, "letter")
                return
            if self._miscorrelated(step):
                self._fail(_CORRELATION, expected=step.about, actual="a message of no name")
            self._fail(*step.requirements, expected=_wanted(step), actual=came or "nothing came")
        said = next(filter(fits, self._messages()))
        self._field(said, step.values, exact=step.exact)
        self._local_pass(step)

    def _local_pass(self, step: Comes) -> None:
        self._pass(_INITIATES)
        if self._is_null(step.about):
            self._reading(step.requirements, "local")
        else:
            self._pass(*step.requirements)

    def _reading(self, requirements: tuple[str, ...], alternative: str) -> None:
        """Add passes that show how a null QueueManagerAddress is taken, for the requirements that the reading names."""
        for one in requirements:
            if one in _OF_NULL:
                outcome = Outcome.PASS if self._local[0] == alternative else Outcome.READING
                self.found.append(Verdict(one, outcome, "dialogue", readings=((_NULL_ADDRESS, alternative),)))
            else:
                self._pass(one)

    def _is_null(self, about: str) -> bool:
        return about in self.ids and self.ids[about][1].manager == "null"

    def _miscorrelated(self, step: Comes) -> bool:
        """Tell whether an acknowledgment of the awaited class means the message and names it wrongly.

        Those that were made for an earlier dialogue, and come late, name another queue manager and another number.
        """
        if step.of != "UserMessage" or step.message_class in (None, _REPORT) or step.about not in self.ids:
            return False
        number = self.ids[step.about][0]
        same = (one for one in self._messages() if one.kind == step.of and class_of(one) == step.message_class)
        return any(is_misnamed(one, number, self.ends) for one in same)

    def _never(self, step: Never) -> None:
        fits = self._fitting(step)
        self._until(lambda: sum(map(fits, self._messages())) > step.most, step.for_ms)
        came = [self._told_of(one) for one in self._messages() if fits(one)]
        if len(came) > step.most:
            self._fail(*step.requirements, expected={"at most": step.most}, actual=came)
        self._pass(*step.requirements)

    def _closes(self, step: Closes) -> None:
        link = self.links[step.link]
        left = step.within_ms + (self._timer(step.timer) if step.timer else 0)
        while link.ended is None and left > 0:
            if not link.read(_SLICE_MS):
                left -= _SLICE_MS
        if link.ended is None:
            self._fail(step.requirement, expected="the connection is closed", actual=self._shown(link))
        self._pass(step.requirement)

    def _stays(self, step: Stays) -> None:
        link = self.links[step.link]
        left = step.for_ms + (self._timer(step.timer) if step.timer else 0)
        while link.ended is None and left > 0:
            if not link.read(_SLICE_MS):
                left -= _SLICE_MS
        if link.ended is not None:
            self._fail(step.requirement, expected="the connection stays open", actual=link.ended)
        self._pass(step.requirement)

    def _wait(self, step: Wait) -> None:
        self._until(lambda: False, step.ms + (self._timer(step.timer) * step.percent // 100 if step.timer else 0))

    def _close(self, step: Close) -> None:
        for name, link in list(self.links.items()):
            if name == step.link or (step.link == "*" and link.role == "acceptor"):
                link.close(step.how)

    def _hush(self, step: Quiet) -> None:
        self._quiet = step.on
        self._thank()

    def _ping(self, step: Ping) -> None:
        if not self.mq.offers(PINGS):
            raise NotPlayed("the driver sends no pings")
        self._pings += 1
        data = packets.ping(self.ends, self._pings, step.values)
        result = self.mq.call(
            PINGS, bytes=base64.b64encode(data).decode("ascii"), wait_ms=AT_ONCE_MS if not step.ignored else 400
        )
        answers = result.values.get("answers", []) if result.ok else []
        at_ms = int(answers[0]["at_ms"]) if answers else 0
        sent = self.conversation.pinged(data, at_ms, (self.about["listener"], self.about["host"]))
        said = [self.conversation.answered(sent, base64.b64decode(one["bytes"]), int(one["at_ms"])) for one in answers]
        if step.ignored is not None:
            if said:
                self._fail(step.ignored, expected="no response", actual=said[0].packet.fields.get("Ping.Cookie"))
            self._pass(step.ignored)
            return
        if not said:
            if step.control:
                raise NotPlayed(NO_PINGS)
            for _, requirement in step.wanted.values():
                self._fail(requirement, expected="a response", actual="none")
        self._field(said[0], step.wanted)

    # --- Connections of the implementation

    def _until(self, done: Callable[[], bool], within_ms: int) -> bool:
        """Read all connections, and take those that the implementation makes, until `done` or the time is over."""
        left = within_ms
        while not done():
            if left <= 0:
                return False
            came = False
            for link in [one for one in self.links.values() if one.ended is None]:
                came = bool(link.read(_SLICE_MS)) or came
                left -= 0 if came else _SLICE_MS
            self._thank()
            if not came and not done():
                began = self.mq.time.monotonic()
                self._accept(_ACCEPT_MS)
                left -= self._since(began)
        return True

    def _since(self, began: float) -> int:
        """Return the milliseconds since then, in whole slices: a driver answers before the deadline of a call."""
        return max(1, ceil((self.mq.time.monotonic() - began) * 1000 / _SLICE_MS)) * _SLICE_MS

    def _thank(self) -> None:
        if not self._quiet:
            for link in self.links.values():
                if link.opened:
                    link.acknowledge()

    def _accept(self, within_ms: int, situation: Situation | None = None) -> Link | None:
        """Take the next connection of the implementation, and open its session; None if none comes."""
        address = self.about["listener"]
        result = self.mq.call("sessions.open", role="acceptor", address=address, deadline_ms=max(within_ms, _ACCEPT_MS))
        if not result.ok or "session" not in result.values:
            return None
        self._accepted += 1
        link = self.links[f"in-{self._accepted}"] = self._link("acceptor", result)
        request = self._awaited(link, lambda one: one.kind == "EstablishConnection", AT_ONCE_MS)
        if request is None:
            return link
        server = request.text("EstablishConnectionHeader.ServerGuid") or packets.NULL
        if server != packets.NULL and all(message.queue is not None for _, message in self.ids.values()):
            expected = {"EstablishConnectionHeader.ServerGuid": packets.NULL}  # only direct names are in use here
            self.exact.append(Verdict(_DIRECT, Outcome.FAIL, request.kind, expected, server))
            raise Broken
        answer = self._answer(request)
        if situation is not None and situation.state is State.WAITING_ECR_MSG:
            link.send(packets.said(situation.says, self.ends, self._number(), answering=answer))
            return link
        link.send(
            packets.establish(self.ends, self.ends.client if server == packets.NULL else server, answer, answer=True)
        )
        asked = self._awaited(link, lambda one: one.kind == "ConnectionParameters", AT_ONCE_MS)
        if asked is None:
            return link
        names = ("RecoverableAckTimeout", "AckTimeout", "WindowSize")
        keys = {
            f"ConnectionParametersHeader.{name}": asked.number(f"ConnectionParametersHeader.{name}") or 0
            for name in names
        }
        if situation is not None:
            says = situation.says
            data = (
                packets.parameters(keys)
                if says is Says.PARAMETERS
                else packets.said(says, self.ends, self._number(), answering=answer)
            )
            link.send(data)
            return link
        link.send(packets.parameters(keys))
        link.opened = True
        return link

    def _answer(self, request: Said) -> dict[str, Any]:
        """Return what an acceptor repeats of a request (MS-MQQB 3.1.5.3.1)."""
        head = "EstablishConnectionHeader."
        return {
            head + "ClientGuid": request.text(head + "ClientGuid") or packets.NULL,
            head + "TimeStamp": request.number(head + "TimeStamp") or 0,
            head + "OperatingSystem.SE": request.number(head + "OperatingSystem.SE") or 0,
        }

    def _reconnects(self, step: Reconnects) -> None:
        situation = _BY_NAME[step.situation] if step.situation else None
        link, left = None, self._timer("session-retry-connect") + 2 * _SLACK_MS
        while link is None and left > 0:
            began = self.mq.time.monotonic()
            link = self._accept(_ACCEPT_MS, situation)
            left -= self._since(began)
        if link is None:
            self._fail(step.requirement, expected="a connection", actual="none")
        assert link is not None
        if situation is None:
            self._pass(step.requirement)
            return
        name = next(key for key, one in self.links.items() if one is link)
        if situation.then is Then.CLOSES:
            self._closes(Closes(situation.requirement, link=name))
        elif situation.then is Then.ANSWERS:
            self._answered(Answered("ConnectionParameters", situation.requirement, link=name))
        else:
            self._stays(Stays(situation.requirement, link=name))
        link.close()

    # --- Packets

    def _messages(self) -> Iterator[Said]:
        return (
            one
            for one in self.conversation.said
            if not one.ours and one.kind in ("UserMessage", "OrderAck", "FinalAck")
        )

    def _fitting(self, step: Comes | Never) -> Callable[[Said], bool]:
        def fits(one: Said) -> bool:
            of_class = step.message_class in (None, class_of(one))
            return of_class and self._is_about(one, step.of, step.about)

        return fits

    def _is_about(self, one: Said, of: str, about: str) -> bool:
        """Tell whether a packet of the implementation is about a message of this dialogue."""
        return one.kind == of and about in self.ids and is_about(one, *self.ids[about], self.ends)

    @staticmethod
    def _told_of(one: Said) -> Json:
        return {"kind": one.kind, "class": class_of(one)}

    @staticmethod
    def _shown(link: Link) -> Json:
        last = [one.kind for one in link.conversation.said if not one.ours and one.frame.connection == link.connection]
        return {"counted": link.counted, "came": last[-4:], "ended": link.ended}


def _wanted(step: Comes) -> Json:
    return {"kind": step.of, "class": step.message_class, "about": step.about}


def _told(result: Result) -> Json:
    return {"status": result.status} if result.failure is None else {"failure": result.failure.kind}
