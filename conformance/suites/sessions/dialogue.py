"""What both sides of a dialogue have said so far, its connections, and how more is waited for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import ceil
from typing import TYPE_CHECKING, Any, Final

from conformance.judge.dialogues import packets
from conformance.judge.dialogues.conversation import Conversation, Said
from conformance.judge.dialogues.machine import Says, Situation, State
from conformance.judge.dialogues.packets import Ends, Message, Values
from conformance.judge.dialogues.steps import AT_ONCE_MS, Case, Comes, Never
from conformance.judge.sessions.context import Readings
from conformance.spec.catalogue import requirement_id
from conformance.suites.sessions.declared import lacking
from conformance.suites.sessions.links import Link
from conformance.suites.sessions.matching import NOT_SENT, class_of, is_about
from conformance.suites.sessions.waiting import SLICE_MS, Allowance, Patience
from conformance.verdict import Json, Outcome, Verdict

if TYPE_CHECKING:
    from conformance.adapter.client import Result
    from conformance.harness.port import Port

_DIRECT: Final = requirement_id("MQQB-3.1.5.2.3.server-guid")
_SE: Final = requirement_id("MQQB-2.2.3.1.se")
_SE_BIT: Final = "EstablishConnectionHeader.OperatingSystem.SE"
ACCEPT_MS: Final = 400
_RETRY_MS: Final = 5_000  # MS-MQQB product note 45: what is assumed of a retry timer that is not declared
_PING_MS: Final = 1_000  # MS-MQQB 3.1.2.9: a ping without a response has failed by then
SLACK_MS: Final = 1_000
_BASE_NS: Final = 1_000_000_000
Told = Callable[[str, Mapping[str, Any] | None], None]


class NotPlayed(Exception):
    """The case cannot be played here; the text tells why."""


class Broken(Exception):
    """A demand of the dialogue is not met; the rest is not played."""


class Unjudged(Exception):
    """The dialogue cannot go on, and nobody is to blame; the message is a reason."""


class Dialogue:
    """A case under way. now_s: seconds since 1970, where the driver does not tell its time. tell: gets each step."""

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
        most_s = int(self.about["max_message_ms"]) // 1000
        self.ends = Ends(mq.unique(), now_s, self.about["host"], self.about["listener"], most_s=most_s)
        if "reports" in self.about:
            self.ends = replace(self.ends, reports=self.about["reports"])
        self.conversation = Conversation(now_s * _BASE_NS)
        self.links: dict[str, Link] = {}
        self._made: list[Link] = []
        self.found: list[Verdict] = []
        self.exact: list[Verdict] = []
        self.ids: dict[str, tuple[int, Message]] = {}
        self._next_id = self.ends.first_id
        self._allowance = Allowance()
        self._accepted = 0
        self._quiet = False
        self._pings = 0
        self._provoked = False
        self._heard: int | None = None
        self._waited_ms = 0
        self._trip_ms = 0
        self._answers_named: bool | None = None
        self._readings: Readings = {}
        self._local: tuple[str, ...] = ("local",)

    # --- What the owner has declared

    def _timer(self, name: str) -> int:
        return int(self.about["timers_ms"].get(name, _RETRY_MS))

    @property
    def _patience_ms(self) -> int:
        """How long a connection of the implementation may take: none may be open now."""
        return (
            0
            if any(one.role == "acceptor" and one.ended is None for one in self.links.values())
            else (self._timer("session-retry-connect") + SLACK_MS)
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

    def _link(self, role: Any, result: Result) -> Link:
        values = result.values
        number = self.conversation.opened(role, values.get("local", ""), values.get("remote", ""))
        link = Link(self.mq, self.conversation, values["session"], number, role, self._allowance)
        self._made.append(link)
        return link

    def leave(self) -> None:
        """Close every connection of the dialogue, those that the other end has ended included."""
        for link in self._made:
            link.close()

    def _awaited(self, link: Link, fits: Callable[[Said], bool], within_ms: int) -> Said | None:
        """Return the next packet of a link that fits, and drop those before it."""
        patience = Patience(within_ms)
        while True:
            while link.heard:
                one = link.heard.pop(0)
                if fits(one):
                    return one
            if link.ended is not None or patience.left <= 0:
                return None
            self._read(link, patience)

    @staticmethod
    def _read(link: Link, patience: Patience) -> None:
        came = link.read(SLICE_MS)
        if came:
            patience.heard(came)
        else:
            patience.silent()

    def _require_open(self, link: Link) -> None:
        """Look that the connection is open before a packet is sent that is to end it, or not."""
        if link.ended is None:
            link.read(SLICE_MS)
        if link.ended is not None:
            raise Unjudged(NOT_SENT)

    def _number(self) -> int:
        self._next_id += 1
        return self._next_id

    # --- Connections of the implementation

    def _until(self, done: Callable[[], bool], within_ms: int) -> bool:
        """Read all connections, and take those that the implementation makes, until `done` or the time is over."""
        patience = Patience(within_ms)
        while not done():
            if patience.left <= 0:
                return False
            came: list[Said] = []
            for link in [one for one in self.links.values() if one.ended is None]:
                heard = link.read(SLICE_MS)
                came += heard
                if not heard:
                    patience.silent()
            if came:
                patience.heard(came)
            self._thank()
            accept_ms = self._accepts_ms(came)
            if accept_ms and not done():
                began = self.mq.time.monotonic()
                self._accept(accept_ms)
                patience.silent(self._since(began))
        return True

    def _accepts_ms(self, came: Sequence[Said]) -> int:
        """Return how long to wait for a connection of the implementation between two looks; 0: not now."""
        return 0 if came else ACCEPT_MS

    def _since(self, began: float) -> int:
        """Return the milliseconds since then, in whole slices: a driver answers before the deadline of a call."""
        return max(1, ceil((self.mq.time.monotonic() - began) * 1000 / SLICE_MS)) * SLICE_MS

    def _thank(self) -> None:
        if not self._quiet:
            for link in self.links.values():
                if link.opened:
                    link.acknowledge()

    def _accept(
        self, within_ms: int, situation: Situation | None = None, *, mute: bool = False, answer: Values | None = None
    ) -> Link | None:
        """Take the next connection of the implementation, and open its session; None if none comes.

        mute: its request gets no answer. answer: further values of the packet of the situation.
        """
        address = self.about["listener"]
        deadline_ms = max(within_ms, ACCEPT_MS)
        began = self.mq.time.monotonic()
        result = self.mq.call("sessions.open", role="acceptor", address=address, ping=True, deadline_ms=deadline_ms)
        self._waited_ms += self._since(began)
        if not result.ok or "session" not in result.values:
            return None
        self._accepted += 1
        link = self.links[f"in-{self._accepted}"] = self._link("acceptor", result)
        request = self._awaited(link, lambda one: one.kind == "EstablishConnection", AT_ONCE_MS)
        self._judge_pinged(request, result.values.get("pings"))
        if request is None or mute:
            return link
        server = request.text("EstablishConnectionHeader.ServerGuid") or packets.NULL
        if server != packets.NULL and all(message.queue is not None for _, message in self.ids.values()):
            expected = {"EstablishConnectionHeader.ServerGuid": packets.NULL}  # only direct names are in use here
            self.exact.append(Verdict(_DIRECT, Outcome.FAIL, request.kind, expected, server))
            raise Broken
        repeated = self._answer(request)
        provoking = {**repeated, **(answer or {})}
        if situation is not None and situation.state is State.WAITING_ECR_MSG:
            self._provoke(link, packets.said(situation.says, self.ends, self._number(), answering=provoking))
            return link
        named = self.ends.client if server == packets.NULL else server
        link.send(packets.establish(self.ends, named, repeated, answer=True))
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
                packets.parameters({**keys, **(answer or {})})
                if says is Says.PARAMETERS
                else packets.said(says, self.ends, self._number(), answering=provoking)
            )
            self._provoke(link, data)
            return link
        link.send(packets.parameters(keys))
        link.opened = True
        return link

    def _judge_pinged(self, request: Said | None, heard: int | None) -> None:
        """Judge SE of a request by whether the implementation has pinged since its last connection of this dialogue.

        heard: pings in the whole run, None where none can be heard. How many came before the dialogue is not known, so
        that only none at all tells of the first connection. A ping long before a connection may have failed, and the
        connection be a retry, which has none (MS-MQQB 3.1.5.2.2).
        """
        before, self._heard = self._heard, heard
        waited_ms, self._waited_ms = self._waited_ms, 0
        bit = request.number(_SE_BIT) if request is not None else None
        if request is None or bit is None or heard is None:
            return
        if before is not None:
            silent = heard == before
            if bit and not silent and waited_ms >= _PING_MS:
                return
            outcome = Outcome.PASS if bit == silent else Outcome.FAIL
            self.exact.append(Verdict(_SE, outcome, request.kind, {_SE_BIT: int(silent)}, {_SE_BIT: bit}))
        elif bit == 0 and heard == 0:
            self.exact.append(Verdict(_SE, Outcome.FAIL, request.kind, {_SE_BIT: 1}, {_SE_BIT: 0}))

    def _provoke(self, link: Link, data: bytes) -> None:
        """Send the packet of a situation."""
        self._require_open(link)
        if link.send(data) is None:
            raise Unjudged(NOT_SENT)
        self._provoked = True

    def _answer(self, request: Said) -> dict[str, Any]:
        """Return what an acceptor repeats of a request (MS-MQQB 3.1.5.3.1)."""
        head = "EstablishConnectionHeader."
        return {
            head + "ClientGuid": request.text(head + "ClientGuid") or packets.NULL,
            head + "TimeStamp": request.number(head + "TimeStamp") or 0,
            head + "OperatingSystem.SE": request.number(head + "OperatingSystem.SE") or 0,
        }

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
