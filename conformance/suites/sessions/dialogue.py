"""The tester's side of a dialogue: connections, time and memory limits, what is declared, and what matches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import ceil
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from conformance.judge.dialogues import packets
from conformance.judge.dialogues.conversation import Conversation, Said
from conformance.judge.dialogues.groups import DUE, IN_TIME, SEQUENCED
from conformance.judge.dialogues.machine import Says, Situation, State
from conformance.judge.dialogues.packets import Ends, Message, Values
from conformance.judge.dialogues.steps import AT_ONCE_MS, LOCAL_MS, WORDS, Case, Comes, Never
from conformance.judge.sessions.context import MESSAGES, Readings
from conformance.net.connector import (
    ACK_WAIT,
    CLEANUP,
    DUPLICATES,
    INSECURE_NACKS,
    PARAMETERS,
    PING,
    RECONNECT,
    RESENDS,
)
from conformance.spec.catalogue import requirement_id
from conformance.suites.sessions.links import BUSY, SLICE_MS, Allowance, Link, Patience, Timing
from conformance.verdict import Json, Outcome, Verdict

if TYPE_CHECKING:
    from conformance.adapter.client import Result
    from conformance.harness.port import Port

_SORTS: Final = ("correct", "odd", "malformed")
"""Messages that may be sent, each with all before it."""

_MARGIN_MS: Final = 1_000
_VALUES: Final = {
    "session-initialization": f"{PARAMETERS}\\RoundTripDelay",
    "session-cleanup": CLEANUP.path,
    "session-retry-connect": RECONNECT.path,
    "session-ack-wait": ACK_WAIT.path,
    "transactional-ack-wait": RESENDS.path,
    "message-id-history-cleanup": DUPLICATES.path,
}
"""The registry value that sets a timer on Windows (product notes of MS-MQQB, 24 and 43 to 47)."""


def lacking(case: Case, about: Mapping[str, Any]) -> str | None:
    """Return the first thing that a case lacks, in words; None if it can be played. about: of `sessions.about`."""
    if _SORTS.index(case.packets) > _SORTS.index(about["packets"]):
        return f"it sends {case.packets} packets, and only {about['packets']} ones are allowed"
    there = {name.rpartition("\\")[2].lower() for name in about["queues"]}
    for queue in case.queues:
        if queue not in there:
            return f"there is no queue {queue}"
    for queue in case.consumed:
        if queue not in about["consumes_ms"]:
            return f"nothing is received from {queue}: declare consume.{queue}"
    for queue in case.unread:
        if queue in about["consumes_ms"]:
            return f"messages are received from {queue}, and do not expire there"
    for queue in case.replies:
        if queue not in about.get("replies", ()):
            return f"nothing is answered that comes to {queue}: declare reply.{queue}"
    for timer, most_ms in case.timers.items():
        declared = about["timers_ms"].get(timer)
        if declared is None:
            return f"the timer {timer} is not declared{_set_by(timer)}"
        if declared > min(most_ms, LOCAL_MS):
            return f"the timer {timer} takes {declared} ms, more than {min(most_ms, LOCAL_MS)}{_set_by(timer)}"
    if case.shorter is not None:
        short, long = (about["timers_ms"].get(name) for name in case.shorter)
        if short is not None and long is not None and 2 * short + _MARGIN_MS >= long:
            return f"the timer {case.shorter[1]} takes {long} ms, less than twice {case.shorter[0]}"
    return None


def _set_by(timer: str) -> str:
    value = _VALUES.get(timer)
    return "" if value is None else f" (on Windows it is {value})"


INSECURE: Final = f"no such acknowledgment came, which is the default: {INSECURE_NACKS.path} switches it on"
NO_PINGS: Final = f"no ping was answered, which is a default: {PING.path} switches it on"
DUMB: Final = "no word came of a message that was sent after it, so that silence shows nothing"
SLOW: Final = "the implementation is slow, and had as many packets to take"
OWN: Final = "the declared Session Ack Send Timer is shorter than what this end proposed"
HELD_UP: Final = "all that the other end sent may have waited until it tried a connection again"
STUCK: Final = "this end does not acknowledge what came on a session, whose window is full"
NOT_SENT: Final = "the connection had ended before the packet was sent that this is about"
NOBODYS: Final = (
    "by the reading letter of R-MQQB-null-queue-manager-address the message is for nobody, as it names no queue manager"
    "; a message for another one was answered"
)
_REPORTS: Final = "<MESSAGE ID>".encode("utf-16-le")
"""The begin of a report's body (MS-MQQB 3.1.7.1.7)."""

_ASKING: Final = tuple(requirement_id(f"MQMQ-2.2.19.3.flags-{word}") for word in ("pa", "pr", "nr"))
_ARRIVAL: Final = 0x0002  # MQMSG_CLASS_ACK_REACH_QUEUE, MS-MQMQ 2.2.18.1.6


def asked_first(
    requirements: tuple[str, ...], message_class: int | None, came: Iterable[int | None]
) -> tuple[str, ...]:
    """Return the requirements of a word that did not come in the order in which they are broken.

    Silence breaks what asks for it, and another class the one it should have. came: classes of the words that came of
    the message; that of its arrival says nothing of what happens to it later. What asks for word of a failure is not
    first: silence is as well that of a message that was taken.
    """
    silent = all(one == _ARRIVAL != message_class for one in came)
    return tuple(sorted(requirements, key=lambda one: one not in _ASKING)) if silent else requirements


def class_of(one: Said) -> int | None:
    """Return the class of a message."""
    return one.number("MessagePropertiesHeader.MessageClass")


def is_about(one: Said, number: int, message: Message, ends: Ends) -> bool:
    """Tell whether an acknowledgment or a report is about this message. number: its MessageID.

    An OrderAck is about each message of its sequence up to its number.
    """
    if one.kind == "OrderAck":
        place = (one.number("OrderAckBody.TxSequenceID.Ordinal"), one.number("OrderAckBody.TxSequenceID.TimeStamp"))
        acknowledged = one.number("OrderAckBody.TxSequenceNumber") or 0
        return place == _place(message, ends) and acknowledged >= (message.number or 1)
    if one.kind == "FinalAck":
        return (one.text("FinalAckBody.SourceGUID"), one.number("FinalAckBody.MessageID")) == (
            ends.source(message),
            number,
        )
    body = one.packet.fields.get("MessagePropertiesHeader.MessageBody")
    if isinstance(body, bytes) and body.startswith(_REPORTS):  # whatever its class
        return f"{number:08X}" in body.decode("utf-16-le", "replace").upper()
    return _correlation(one) == UUID(ends.source(message)).bytes_le + number.to_bytes(4, "little")


def _place(message: Message, ends: Ends) -> tuple[int, int]:
    """Return the halves of the TxSequenceID of a message, the ordinal first."""
    return ends.sequence_ordinal(message.sequence), ends.sequence_stamp + message.later_s


def is_misnamed(one: Said, number: int, ends: Ends) -> bool:
    """Tell whether an acknowledgment means the message with this number, or nobody's, and names it wrongly.

    Those that were made for an earlier dialogue, and come late, name another queue manager and another number.
    """
    correlation = _correlation(one)
    if not isinstance(correlation, bytes):
        return False
    nobody = (UUID(ends.server).bytes_le, bytes(16))
    return number.to_bytes(4, "little") in correlation or correlation[:16] in nobody


def _correlation(one: Said) -> object:
    return one.packet.fields.get("MessagePropertiesHeader.CorrelationID")


INITIATES: Final = requirement_id("MQQB-2.1.1.initiator-port")
INTERVAL: Final = requirement_id("MQQB-3.1.6.5.resend-interval")
CORRELATION: Final = requirement_id("MQQB-3.1.7.15.correlation")
_OF_SUBJECTS: Final = (CORRELATION, *map(requirement_id, ("MQQB-2.2.4.1.sequence", "MQQB-2.2.5.1.sequence")))
_OF_SEQUENCES: Final = ("MQQB-3.1.1.5.", "MQQB-3.1.6.5.", "MQQB-3.1.7.1.3.", "MQMQ-2.2.20.5.")
_OF_RESENDING: Final = tuple(map(requirement_id, ("MQQB-3.1.6.5.resent", "MQQB-3.1.7.1.3.resent-number")))
_NUMBER: Final = "TransactionHeader.TxSequenceNumber"
_FORM: Final = requirement_id("MQQB-3.1.7.17.destination-form")
_DIRECT: Final = requirement_id("MQQB-3.1.5.2.3.server-guid")
_SE: Final = requirement_id("MQQB-2.2.3.1.se")
_RC: Final = requirement_id("MQQB-2.2.7.request-rc")
_RC_BIT: Final = "Ping.Flags.RC"
_SETTINGS: Final = {
    "acceptor": {"AckTimeout": "MQQB-3.1.5.3.2.ack-timeout", "WindowSize": "MQQB-3.1.5.3.2.window-size"},
    "initiator": {"WindowSize": "MQQB-3.1.5.4.1.window-size"},
}
"""The requirement on each setting that an end tells in ConnectionParameters, by the role of our end."""
_DECLARED: Final = {"AckTimeout": "ack_timeout_ms", "WindowSize": "window_size"}
_SE_BIT: Final = "EstablishConnectionHeader.OperatingSystem.SE"
ACCEPT_MS: Final = 400
CLEANUP_TIMER, ACK_WAIT_TIMER = "session-cleanup", "session-ack-wait"
_EARLY_MS: Final = 300
"""By so much less may a time be that both ends begin to measure apart."""
LATE_MS: Final = 10_000
"""The time in which something late comes on a busy machine; behind it, it is missing."""
NO_ROOM: Final = "it refuses all sessions for now, as it may where it has too many (3.1.5.3.1)"
TIDIED: Final = "the session was idle for as long as the Session Cleanup Timer takes, and was ended for that (3.1.6.2)"
_RETRY_MS: Final = 5_000  # MS-MQQB product note 45: what is assumed of a retry timer that is not declared
_STALE_MS: Final = 2_000
"""A connection that has waited longer for this end is turned away: its round trip would make all its timers long."""
_PING_MS: Final = 1_000  # MS-MQQB 3.1.2.9: a ping without a response has failed by then
SLACK_MS: Final = 1_000
_TICK_MS: Final = 50
TURNS_MS: Final = 4_000  # a round trip for each message is given to acknowledgments, up to this
_BURST_MS: Final = 500  # messages that waited for the same go out within this time
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
        self.timing = Timing(mq.time)
        self._accepted = 0
        self._quiet = False
        self._window: Values = {}
        self._pings = 0
        self._provoked = self._apart = self._complete = False
        self._heard: int | None = None
        self._waited_ms = 0
        self._trip_ms = 0
        self._answers_named: bool | None = None
        self._steps: list[tuple[int, str, Mapping[str, Any] | None]] = []
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

    def _tidied(self, link: Link) -> bool:
        """Tell whether the implementation may have ended a session because it was idle (MS-MQQB 3.1.6.2)."""
        idle_ms = self.about["timers_ms"].get(CLEANUP_TIMER)
        silent_ms = self.timing.now_ms - link.active_ms
        return link.ended == "closed" and link.opened and idle_ms is not None and silent_ms >= idle_ms - _EARLY_MS

    # --- Verdicts

    def _pass(self, *requirements: str, subject: str = "dialogue") -> None:
        self.found += [Verdict(one, Outcome.PASS, subject) for one in requirements]

    def _fail(self, *requirements: str, expected: Json, actual: Json, subject: str = "dialogue") -> None:
        self.found += [Verdict(one, Outcome.FAIL, subject, expected, actual) for one in requirements]
        raise Broken

    def _passes(self, requirement: str, came: Iterable[Said]) -> None:
        """Record that a requirement holds by these messages; who has not connected for them does not show that it can.

        Sessions of this end are as good as others for them (MS-MQQB 1.3.5.1, 1.3.5.2).
        """
        inward = {link.connection for link in self._made if link.role == "acceptor"}
        if requirement != INITIATES or any(one.frame.connection in inward for one in came):
            self._pass(requirement)

    def _must_close(self, link: Link, requirement: str, within_ms: int) -> None:
        if not self._heard_in_time(link, lambda: link.ended is not None, within_ms):
            expected = f"the connection is closed within {within_ms:,} ms"
            self._fail(requirement, expected=expected, actual=self._shown(link))
        self._pass(requirement)

    def _field(self, said: Said, wanted: Mapping[str, tuple[int, str]], *, exact: bool = True) -> None:
        """Judge fields of a packet by their keys. exact: nothing that a rule says of them tells more."""
        verdicts = self.exact if exact else self.found
        for key, (value, requirement) in wanted.items():
            found = said.number(key)
            outcome = Outcome.PASS if found == value else Outcome.FAIL
            verdicts.append(Verdict(requirement, outcome, said.kind, {key: value}, {key: found}))
            if outcome is Outcome.FAIL:
                raise Broken

    def stands(self, verdict: Verdict) -> bool:
        """Tell whether a verdict of a rule stands.

        One rule takes the times of resending for the defaults. Some look for the messages that an acknowledgment is
        about: one that is late is about those of an earlier dialogue. So is a transactional message that comes again,
        where this dialogue asks for none.
        """
        said = self.conversation.at(verdict.frame) if verdict.outcome is Outcome.FAIL else None
        of_sequence = verdict.requirement.startswith(_OF_SEQUENCES)
        if said is not None and of_sequence and said.number(_NUMBER) and self._is_confused(verdict, said):
            return said.text("UserHeader.SourceQueueManager") != self.ends.server
        if verdict.requirement in _OF_SUBJECTS:
            return verdict.outcome is not Outcome.INCONCLUSIVE
        if verdict.requirement == _FORM:
            one = self.conversation.at(verdict.frame)
            return one is None or any(self._is_about(one, one.kind, name) for name in self.ids)
        return verdict.requirement != INTERVAL or "transactional-ack-wait" not in self.about["timers_ms"]

    def _is_confused(self, verdict: Verdict, said: Said) -> bool:
        """Tell whether answers to an earlier dialogue may have led a rule astray."""
        if not self.case.replies or self._is_remains(said):
            return True
        answers = (one for one in self.conversation.said if not one.ours and one.number(_NUMBER))
        return verdict.requirement not in _OF_RESENDING and any(map(self._is_remains, answers))

    def _is_remains(self, said: Said) -> bool:
        """Tell whether a transactional message answers one of an earlier dialogue."""
        own = {bytes(16), *(UUID(one).bytes_le for one in (self.ends.client, self.ends.other))}
        found = _correlation(said)
        return isinstance(found, bytes) and found[:16] not in own

    def timely(self, verdict: Verdict) -> Verdict:
        """Return a verdict of a rule; one on a time is open where this end was late itself, or a timer explains it."""
        of_time = isinstance(verdict.actual, Mapping) and any(str(key).endswith("ms") for key in verdict.actual)
        if verdict.outcome is not Outcome.FAIL or not of_time:
            return verdict
        asked = ((BUSY, lambda _: self.timing.busy), (HELD_UP, self._held_up), (SLOW, self._slow), (OWN, self._own))
        why = next((reason for reason, explains in asked if explains(verdict)), None)
        return verdict if why is None else replace(verdict, outcome=Outcome.INCONCLUSIVE, reason=why, evidence=None)

    def _own(self, verdict: Verdict) -> bool:
        """Tell whether an acknowledgment came by the timer that is declared, sooner than what this end has proposed."""
        declared_ms = self.about["timers_ms"].get("session-ack-send")
        came = verdict.actual.get("ms") if isinstance(verdict.actual, Mapping) else None
        if verdict.requirement != DUE or declared_ms is None or not isinstance(came, int):
            return False
        return bool(came + _TICK_MS >= declared_ms)

    def _slow(self, verdict: Verdict) -> bool:
        """Tell whether a slow implementation had as much to do as it was late: a round trip for each packet."""
        late = verdict.actual.get("late by, ms") if isinstance(verdict.actual, Mapping) else None
        if verdict.requirement != IN_TIME or not isinstance(late, int):
            return False
        return late <= min(self._trip_ms * sum(one.ours for one in self.conversation.said), TURNS_MS)

    def _held_up(self, verdict: Verdict) -> bool:
        """Tell whether an OrderAck may have waited, as all messages did, until a connection was tried again.

        A session that ends with anything on its way starts the Session Retry Connect Timer (MS-MQQB 3.1.5.9).
        """
        late, actual = self.conversation.at(verdict.frame), verdict.actual
        if verdict.requirement not in SEQUENCED or late is None or not isinstance(actual, Mapping):
            return False
        waited_ms = int(actual.get("ms", 0))
        begun = max([late.at_ms - waited_ms, *(end for end in self.conversation.ends_ms if end < late.at_ms)])
        burst = late.at_ms - _BURST_MS
        others = (one for one in self.conversation.said if one.kind in MESSAGES and not one.ours)
        return waited_ms <= self._timer("session-retry-connect") + SLACK_MS and not any(
            begun < one.at_ms < burst for one in others
        )

    def _skip(self, *requirements: str, reason: str) -> None:
        self.found += [Verdict(one, Outcome.SKIP, "dialogue", reason=reason) for one in requirements]

    def _link(self, role: Any, result: Result) -> Link:
        values = result.values
        ends = values.get("local", ""), values.get("remote", "")
        number = self.conversation.opened(role, *ends, self.timing.now_ms)
        waits_ms = self.about["timers_ms"].get(ACK_WAIT_TIMER)
        link = Link(self.mq, self.conversation, values["session"], number, role, self._allowance, self.timing)
        link.made_ms = self.timing.now_ms
        if waits_ms is not None:  # Whoever waits less than its AckTimeout has to get its acknowledgments sooner.
            link.most_ms = waits_ms // 2
        self._made.append(link)
        return link

    def leave(self) -> None:
        """Close every connection of the dialogue, those that the other end has ended included.

        What this end owes it acknowledges at once: all that is not acknowledged would come again in the next dialogue.
        """
        for link in self._made:
            if link.opened and not self._quiet:
                link.acknowledge(last=True)
            link.close()

    # --- The story

    def _begin(self, text: str, call: Mapping[str, Any] | None = None) -> None:
        """Begin a step of the story."""
        self._steps.append((len(self.conversation.said), text, call))

    def _tell_story(self) -> None:
        """Tell each step, and what was sent and came in it; numbers of packets are those of the verdicts on them."""
        said, numbers = self.conversation.said, self.conversation.numbers()
        ends = [*(begin for begin, _, _ in self._steps[1:]), len(said)]
        for (begin, text, call), end in zip(self._steps, ends, strict=True):
            self.tell(text, call)
            for at in range(begin, end):
                self.tell(said[at].sentence(numbers[at]), None)

    def _awaited(self, link: Link, fits: Callable[[Said], bool], within_ms: int) -> Said | None:
        """Return the next packet of a link that fits, and drop those before it.

        Raises Unjudged for one that is late where this end was late itself.
        """
        patience, late = Patience(within_ms), False
        while True:
            while link.heard:
                one = link.heard.pop(0)
                if fits(one):
                    if late:
                        raise Unjudged(BUSY)
                    return one
            if link.ended is not None:
                return None
            if patience.left <= 0:
                if late or not self.timing.busy:
                    return None
                patience, late = Patience(LATE_MS), True
            self._read(link, patience)

    def _read(self, link: Link, patience: Patience) -> None:
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

    def _session(self, name: str) -> Link:
        """Return a connection by the name that a step has for it. Raises Unjudged where there is none."""
        if name != WORDS:
            return self.links[name]
        newest = next((one.frame.connection for one in reversed(list(self._messages()))), None)
        found = next((link for link in self._made if link.connection == newest), None)
        if found is None:
            raise Unjudged("no message of the implementation has come, so that it uses no session")
        return found

    def _sendable(self, link: Link) -> Link:
        """Return this session, or another one that is open where it has ended; make one if none is."""
        if link.ended is None:
            link.read(0)
        every = [link, *(one for one in self._made if one.opened)]
        found = next((one for one in every if one.ended is None), None)
        if found is None:
            raise Unjudged(NOT_SENT)
        return found

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

    def _connected(
        self, within_ms: int, situation: Situation | None = None, *, mute: bool = False, answer: Values | None = None
    ) -> Link | None:
        """Take the next connection of the implementation, as `_accept`; None if it makes none in this time.

        Where it sends on sessions of this end (MS-MQQB 1.3.5.2), these end, so that it has to connect.
        """
        left = within_ms
        while left > 0:
            began = self.mq.time.monotonic()
            link = self._accept(ACCEPT_MS, situation, mute=mute, answer=answer)
            if link is not None:
                return link
            left -= self._since(began)
            ours = [one for one in self.links.values() if one.role == "initiator" and one.ended is None]
            for one in ours:
                one.read(0)
            if any(one.received > one.answered for one in ours):
                for one in ours:
                    one.close()
                left = within_ms
            self._thank()
        return None

    def _accepts_ms(self, came: Sequence[Said]) -> int:
        """Return how long to wait for a connection of the implementation between two looks; 0: not now."""
        return 0 if came else ACCEPT_MS

    def _since(self, began: float) -> int:
        """Return the milliseconds since then, in whole slices: a driver answers before the deadline of a call."""
        return max(1, ceil((self.mq.time.monotonic() - began) * 1000 / SLICE_MS)) * SLICE_MS

    def _in_time(self, done: Callable[[], bool], within_ms: int) -> bool:
        """Wait as `_until` does, and longer where the implementation has to connect first.

        Raises Unjudged for what is late where this end was late itself.
        """
        if self._until(done, within_ms) or self._until(done, self._patience_ms):
            return True
        if self.timing.busy and self._until(done, LATE_MS):
            raise Unjudged(BUSY)
        self._require_movable()
        return False

    def _require_movable(self) -> None:
        """Raise Unjudged where the implementation may not send what is wanted."""
        if any(link.stuck or (self._quiet and link.full) for link in self.links.values()):
            raise Unjudged(STUCK)

    def _heard_in_time(self, link: Link, done: Callable[[], bool], within_ms: int) -> bool:
        """Read one connection until `done`, its end or the end of the time. Raises Unjudged as `_in_time`."""
        in_time = self._heard_within(link, done, within_ms)
        if not in_time and self.timing.busy and self._heard_within(link, done, LATE_MS):
            raise Unjudged(BUSY)
        if not done() and self._tidied(link):
            raise Unjudged(TIDIED)
        return done()

    def _heard_within(self, link: Link, done: Callable[[], bool], within_ms: int) -> bool:
        patience = Patience(within_ms)
        while not done() and link.ended is None and patience.left > 0:
            self._read(link, patience)
        return done()

    def _thank(self, *, now: bool = False) -> None:
        """Acknowledge what is due, or all."""
        if not self._quiet:
            for link in self.links.values():
                if link.opened:
                    link.acknowledge(now=now)

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
        self.timing.waited(deadline_ms, began, in_vain=not result.ok)
        if not result.ok or "session" not in result.values:
            return None
        self._accepted += 1
        link = self.links[f"in-{self._accepted}"] = self._link("acceptor", result)
        request = self._awaited(link, lambda one: one.kind == "EstablishConnection", AT_ONCE_MS)
        self._judge_pinged(request, result.values.get("pings"))
        self._judge_class(result.values.get("last_ping_rc"))
        if request is not None and request.at_ms + _STALE_MS < self.timing.now_ms:
            link.close()
            return None
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
            self._provoke(link, packets.packet_of(situation.says, self.ends, self._number(), answering=provoking))
            return link
        named = self.ends.client if server == packets.NULL else server
        link.send(packets.establish(self.ends, named, repeated, answer=True))
        asked = self._awaited(link, lambda one: one.kind == "ConnectionParameters", AT_ONCE_MS)
        if asked is None:
            return link
        self._judge_settings(link, asked)
        names = ("RecoverableAckTimeout", "AckTimeout", "WindowSize")
        keys: dict[str, Any] = {
            f"ConnectionParametersHeader.{name}": asked.number(f"ConnectionParametersHeader.{name}") or 0
            for name in names
        }
        keys |= self._window
        if situation is not None:
            says = situation.says
            data = (
                packets.parameters({**keys, **(answer or {})})
                if says is Says.PARAMETERS
                else packets.packet_of(says, self.ends, self._number(), answering=provoking)
            )
            self._provoke(link, data)
            return link
        link.send(packets.parameters(keys))
        link.opened = True
        return link

    def _judge_settings(self, link: Link, said: Said) -> None:
        """Judge what is said of settings that are declared."""
        wanted = {
            f"ConnectionParametersHeader.{name}": (self.about[_DECLARED[name]], requirement)
            for name, requirement in _SETTINGS[link.role].items()
            if _DECLARED[name] in self.about
        }
        self._field(said, wanted)

    def _judge_class(self, rc: bool | None) -> None:
        """Judge RC of the last request of a ping, where it is declared what the operating system is."""
        if rc is not None and "server_class" in self.about:
            wanted = not self.about["server_class"]
            outcome = Outcome.PASS if rc == wanted else Outcome.FAIL
            self.exact.append(Verdict(_RC, outcome, "Ping", {_RC_BIT: int(wanted)}, {_RC_BIT: int(rc)}))

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
    def _told_of(one: Said) -> str:
        of_class = class_of(one)
        return one.kind if of_class is None else f"{one.kind} of the class {of_class:#06x}"

    @staticmethod
    def _shown(link: Link) -> str:
        """Say what has come on a connection, and how it ended."""
        came = [one.kind for one in link.conversation.said if not one.ours and one.frame.connection == link.connection]
        last = f"{', '.join(came[-4:])} came last" if came else "nothing came"
        ends = {None: "it is open", "ours": "this end has closed it"}.get(link.ended, f"it was {link.ended}")
        return f"{link.counted} messages acknowledged; {last}; {ends}"
