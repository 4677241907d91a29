"""Plays the cases of dialogues, with what follows each, and records the verdicts."""

from __future__ import annotations

import base64
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from math import ceil
from typing import TYPE_CHECKING, Any, Final

import pytest

from conformance.adapter.errors import AdapterError
from conformance.harness.ahead import Part, play
from conformance.harness.guarded_client import NOT_OFFERED
from conformance.harness.recorder import HarnessDefect
from conformance.judge.dialogues import packets
from conformance.judge.dialogues.conversation import Said
from conformance.judge.dialogues.groups import DUE, IN_TIME, TOO_MANY_HOPS, reaches
from conformance.judge.dialogues.machine import SITUATIONS, Then
from conformance.judge.dialogues.packets import INFINITE, NA, PA, PLAIN, Message, transactional_ack
from conformance.judge.dialogues.steps import (
    AT_ONCE_MS,
    Acknowledged,
    Agree,
    Answered,
    Case,
    Close,
    Closes,
    Comes,
    Connect,
    Counted,
    Establish,
    Never,
    Order,
    Parameters,
    Passed,
    Ping,
    Quiet,
    Reconnects,
    Replies,
    Resent,
    Say,
    Stays,
    Step,
    Stored,
    Tell,
    Unanswered,
    Wait,
    demanded,
    handshake,
    lasts_ms,
    step_sentence,
)
from conformance.judge.sessions.context import Readings
from conformance.spec.catalogue import reading_id, requirement, requirement_id
from conformance.suites.sessions.dialogue import (
    ACK_WAIT_TIMER,
    CLEANUP_TIMER,
    CORRELATION,
    DUMB,
    INITIATES,
    INSECURE,
    INTERVAL,
    LATE_MS,
    NO_PINGS,
    NO_ROOM,
    NOBODYS,
    NOT_SENT,
    SLACK_MS,
    TIDIED,
    TURNS_MS,
    Broken,
    Dialogue,
    NotPlayed,
    Told,
    Unjudged,
    asked_first,
    class_of,
    is_misnamed,
)
from conformance.suites.sessions.links import BUSY, SLICE_MS, Flooded, Link, Patience
from conformance.verdict import Json, Outcome, Verdict
from conformance.wire import encode

if TYPE_CHECKING:
    from conformance.adapter.client import Result
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder, RunOptions

_TX: Final = "TransactionHeader."

_ORDER_MS: Final = 550
"""An OrderAck waits for the Order Ack Send Timer, 500 ms from the last message on (MS-MQQB 3.1.3.2), with some more."""
Place = tuple[int, int, int]
"""The halves of a TxSequenceID, the time first, and the number."""


class Sequels(Dialogue):
    """The steps of a dialogue that are about transactional messages of the implementation, or about silence to it."""

    @property
    def sequels(self) -> Mapping[type, Callable[[Any], None]]:
        """The steps by type."""
        return {
            Passed: self._passed,
            Replies: self._replies,
            Order: self._order,
            Resent: self._resent,
            Unanswered: self._unanswered,
        }

    def _sent(self, since: int = 0) -> list[Said]:
        """Return the transmissions of transactional messages, from an index of the conversation on."""
        said = self.conversation.said[since:]
        return [one for one in said if one.kind == "UserMessage" and not one.ours and _number(one)]

    def _places(self) -> list[Place]:
        """Return the place of each transactional message, in the order in which they first came."""
        return list(dict.fromkeys(map(_place, self._sent())))

    def _passed(self, step: Passed) -> None:
        number, message = self.ids[step.about]

        def came() -> list[Said]:
            messages = (one for one in self.conversation.said if one.kind == "UserMessage" and not one.ours)
            return [
                one
                for one in messages
                if one.text("UserHeader.SourceQueueManager") == self.ends.source(message)
                and one.number("UserHeader.MessageID") == number
            ]

        def most() -> int:
            """Return how often it came on one session: it comes again on another one if the first has ended."""
            return max(Counter(one.frame.connection for one in came()).values(), default=0)

        if not step.times:
            self._until(lambda: bool(came()), step.within_ms)
            if came():  # No rule on what it says tells more than that it must not be there.
                self.exact.append(Verdict(step.requirement, Outcome.FAIL, "dialogue", "is not passed on", "is"))
                raise Broken
            self._pass(step.requirement)
            return
        if not self._in_time(lambda: len(came()) >= step.times, step.within_ms):
            self._skip(step.requirement, *(name for _, name in step.values.values()), reason=step.may)
            raise Broken
        if step.most is not None and most() > step.most:
            expected, actual = f"passed on at most {step.most} times", f"passed on {most()} times"
            self.exact.append(Verdict(step.requirement, Outcome.FAIL, "dialogue", expected, actual))
            raise Broken
        self._field(came()[-1], step.values)
        self._pass(step.requirement)

    def _replies(self, step: Replies) -> None:
        within_ms = step.within_ms + max(self.about["consumes_ms"].values(), default=0)
        if not self._in_time(lambda: len(self._places()) >= step.count, within_ms):
            came = len(self._places())
            expected, actual = f"{step.count} transactional answers", f"{came} within {within_ms:,} ms"
            self._fail(step.requirement, expected=expected, actual=actual)
        self._passes(step.requirement, self._sent())

    def _unanswered(self, step: Unanswered) -> None:
        link = self._connected(self._patience_ms + AT_ONCE_MS, mute=True)
        if link is None:
            raise Unjudged("it has not connected, so that nothing could be left unanswered")
        self._must_close(link, step.requirement, step.within_ms + self._timer(step.timer))

    def _order(self, step: Order) -> None:
        stamp, ordinal, number = self._places()[step.place - 1]
        before = next(
            one.number(f"{_TX}PreviousTxSequenceNumber") or 0
            for one in self._sent()
            if _place(one) == (stamp, ordinal, number)
        )
        body = "OrderAckBody."
        values = {
            body + "TxSequenceID.Ordinal": ordinal + step.apart,
            body + "TxSequenceID.TimeStamp": stamp,
            body + "TxSequenceNumber": number,
            body + "TxPreviousSequenceNumber": before,
        }
        link = self._session(step.link)
        left_ms = 1
        while left_ms > 0 and link.ended is None:  # Each message begins the timer anew.
            self._heard_within(link, lambda: link.received == link.answered, AT_ONCE_MS)  # Both end the sequence.
            left_ms = ceil(max(one.at_ms for one in self._sent()) + _ORDER_MS - self.timing.now_ms)
            self._heard_within(link, lambda: False, max(0, left_ms))
        link = self._sendable(link)
        link.send(transactional_ack("OrderAck", self.ends, self._number(), values), message=True)

    def _resent(self, step: Resent) -> None:
        since, places = len(self.conversation.said), self._places()
        wanted = {places[at - 1] for at in step.places}

        def again() -> set[Place]:
            return {_place(one) for one in self._sent(since)} & set(places)

        if not self._in_time(lambda: again() >= wanted, self._timer(step.timer) + SLACK_MS):
            self._fail(*step.requirements, expected=f"{_numbers(wanted)} sent again", actual=_numbers(again()))
        self._pass(*step.requirements)
        self._waited(step, wanted)
        if step.never is None:
            return
        self._until(lambda: again() > wanted, SLACK_MS)
        if again() > wanted:
            came = _numbers(again() - wanted)
            self._fail(step.never, expected="no message again that has its OrderAck", actual=came)
        self._pass(step.never)

    def _waited(self, step: Resent, places: Iterable[Place]) -> None:
        """Judge when answers came again on their session, since the first came there, by the timer that is declared."""
        began: dict[int | None, int] = {}
        came: set[tuple[int | None, Place]] = set()
        waited_ms = []
        for one in self._sent():
            session = one.frame.connection
            since = began.setdefault(session, one.at_ms)
            if (session, _place(one)) in came and _place(one) in places:
                waited_ms.append(one.at_ms - since)
            came.add((session, _place(one)))
        least_ms = self._timer(step.timer) - SLACK_MS
        if waited_ms and min(waited_ms) < least_ms:
            expected, actual = f"after {least_ms:,} ms or later", f"after {min(waited_ms):,} ms"
            self.exact.append(Verdict(INTERVAL, Outcome.FAIL, "UserMessage", expected, actual))
            raise Broken
        if waited_ms:
            self._pass(INTERVAL)


def _numbers(places: Iterable[Place]) -> str:
    """Say which messages of a sequence these are."""
    found = ", ".join(str(number) for _, _, number in sorted(places))
    return f"the transactional messages {found}" if found else "none"


def _number(one: Said) -> int:
    return one.number(f"{_TX}TxSequenceNumber") or 0


def _place(one: Said) -> Place:
    stamp, ordinal = (one.number(f"{_TX}TxSequenceID.{half}") or 0 for half in ("TimeStamp", "Ordinal"))
    return stamp, ordinal, _number(one)


METHODS: Final = ("sessions.about", "sessions.open", "sessions.send", "sessions.received", "sessions.close")
PINGS: Final = "sessions.ping"
EXAMPLE: Final = "dialogue"
_ACCEPTS: Final = requirement_id("MQQB-2.1.1.acceptor-port")
_NULL_ADDRESS: Final = reading_id("R-MQQB-null-queue-manager-address")
_OF_NULL: Final = ("MQQB-3.1.5.8.2.no-such-queue", "MQQB-3.1.6.9.sent")
_CLOCK, _CLOCK_S = "clock", 2  # name of a message that shows the time; seconds that are no difference
_RECOVERABLE: Final = "ConnectionParametersHeader.RecoverableAckTimeout"
_ROUND_TRIP: Final = requirement_id("MQQB-3.1.5.3.2.round-trip")
_WINDOW: Final = "ConnectionParametersHeader.WindowSize"
_REFUSES, _WOULD_REFUSE = "InternalHeader.Flags.CS", "Ping.Flags.RF"
_TRIPS: Final = 4  # so many measured round trips are given, beyond its time, to what must not come and to counts
_REPORT: Final = 0x0001  # MQMSG_CLASS_REPORT, MS-MQMQ 2.2.18.1.6
_POSITIVE: Final = (0x0002, 0x4000)  # acknowledgments of an arrival and of a receive
_BY_NAME: Final = {one.name: one for one in SITUATIONS}


class Player(Sequels):
    """Plays one case. now_s: seconds since 1970, where the driver does not tell its time. tell: gets each step."""

    def play(self, readings: Readings, profile: str) -> Iterator[Verdict]:
        """Yield the verdicts: on fields that a step demands, then by the rules on all that was said, then on the rest.

        So the most exact sentence is blamed first. What is inconclusive comes last, unless the dialogue decides it.
        """
        self._local, self._readings = readings[_NULL_ADDRESS], readings
        defect = self._played()
        open_ones: dict[str, Verdict] = {}
        decided: set[str] = set()
        judged = list(self.conversation.judged(readings, profile))
        by_rules = filter(self.stands, (self.timely(verdict) for ours, verdict in judged if not ours))
        failed = False
        for verdict in chain(self.exact, by_rules, self.found):
            failed = failed or verdict.outcome is Outcome.FAIL
            if verdict.outcome is Outcome.INCONCLUSIVE:
                open_ones.setdefault(verdict.requirement, verdict)
            else:
                decided.add(verdict.requirement)
                yield verdict
        yield from (one for name, one in open_ones.items() if name not in decided)
        if self._complete and not failed and self.case.packets == "correct" and not self._apart:
            ours = (self.timely(one) for of_ours, one in judged if of_ours)
            broken = (one for one in ours if _is_broken(one) and one.requirement not in self.broken_on_purpose)
            defect = next(map(_of_this_end, broken), None)
        if defect is not None:
            own = next((name for name in self.case.claims if name not in _COMMON), _ACCEPTS)
            raise HarnessDefect(own, defect)

    @property
    def broken_on_purpose(self) -> tuple[str, ...]:
        """The requirements that this end breaks for the sake of the case: it is silent to be left, or proposes a time
        that only short ways have. The other end may wait less for acknowledgments, or have connected before."""
        hushed = any(isinstance(step, Quiet) for step in self.case.steps)
        silent = hushed or any(one.unattended or one.skewed for one in self._made)
        timed = any(_RECOVERABLE in step.values for step in self.case.steps if isinstance(step, Parameters))
        hurried = hushed or ACK_WAIT_TIMER in self.about["timers_ms"] or any(one.hurried for one in self._made)
        return *((DUE,) if hurried else ()), *((IN_TIME,) if silent else ()), *((_ROUND_TRIP,) if timed else ())

    def _read(self, link: Link, patience: Patience) -> None:
        """Read a connection, and acknowledge meanwhile what is due: the other end may close one for that."""
        super()._read(link, patience)
        self._thank()

    def _played(self) -> str | None:
        """Play the case; return the defect of this end that ended it, in words."""
        at = 0
        try:
            if any(message.reach_s != INFINITE for message in self._messages_told()):
                self._set_clock()
            for at, step in enumerate(self.case.steps):  # noqa: B007
                self._do(step)
            self._complete = True
        except Broken:
            pass
        except (Flooded, Unjudged) as why:
            self._unjudged(self.case.steps[at:], str(why))
        except (NotPlayed, AdapterError):
            raise
        except Exception as error:  # One dialogue must not take another's verdicts with it.
            defect = f"a step of a dialogue broke off: {type(error).__name__}: {error}"
            self._unjudged(self.case.steps[at:], defect)
            return defect
        finally:
            self.leave()
            self._tell_story()
        return None

    # --- The implementation's clock

    def _messages_told(self) -> Iterator[Message]:
        return (message for step in self.case.steps if isinstance(step, Tell) for message in step.messages)

    def _set_clock(self) -> None:
        """Take the implementation's clock for the times of messages, as it shows in an acknowledgment.

        A message with little time to reach its queue would else be too late, or never, by the difference of the
        clocks. Raises NotPlayed where one that is in time by what is shown is not taken.
        """
        shown = self._clock_shown(Message(_CLOCK, recoverable=True, asks=PA))
        if shown is None or abs(shown - self.ends.now_s) <= _CLOCK_S:
            return
        apart, self.ends = shown - self.ends.now_s, replace(self.ends, now_s=shown)
        self._apart = True
        if self._clock_shown(Message(f"{_CLOCK} again", asks=PA, reach_s=60)) is None:
            raise NotPlayed(f"the clocks differ by {apart} s, as the implementation's acknowledgments show it")

    def _clock_shown(self, message: Message) -> int | None:
        word = self._arrives(message)
        return None if word is None else word.number("UserHeader.SentTime")

    def _unjudged(self, steps: Iterable[Step], reason: str) -> None:
        """Say of what these steps demand, and nothing before has judged, that it is not judged."""
        steps = tuple(steps)
        situations = (_BY_NAME[one.situation] for one in steps if isinstance(one, Reconnects) and one.situation)
        requirements = (*demanded(steps), *(one.requirement for one in situations))
        judged = {one.requirement for one in (*self.exact, *self.found)}
        left = [one for one in dict.fromkeys(requirements) if one not in judged]
        own = [one for one in left if one not in _COMMON]
        self.found += [Verdict(one, Outcome.INCONCLUSIVE, "dialogue", reason=reason) for one in own or left]

    # --- Steps

    def _do(self, step: Step) -> None:
        doing: dict[type, Callable[[Any], None]] = {
            Connect: self._connect, Establish: self._establish, Parameters: self._parameters,
            Answered: self._answered, Say: self._say, Tell: self._tell, Acknowledged: self._acknowledged,
            Stored: self._stored, Comes: self._comes, Never: self._never, Closes: self._closes, Stays: self._stays,
            Wait: self._wait, Close: self._close, Quiet: self._hush, Reconnects: self._reconnects, Ping: self._ping,
            Counted: self._counted, Agree: self._agree, **self.sequels,
        }  # fmt: skip
        self._begin(step_sentence(step))
        doing[type(step)](step)

    def _connect(self, step: Connect) -> None:
        result = self.mq.call("sessions.open", role="initiator", address=self.about["listener"])
        if not result.ok or "session" not in result.values:
            self._fail(_ACCEPTS, expected="a connection", actual=_result_text(result))
        self.links[step.link] = self._link("initiator", result)
        self._pass(_ACCEPTS)

    def _establish(self, step: Establish) -> None:
        server = {"null": packets.NULL, "own": self.ends.server, "stranger": packets.STRANGER}[step.server]
        later_ms = self.conversation.lasts_ms(self.timing.now_ms)
        data = packets.establish(self.ends, server, step.values, later_ms=later_ms)
        self._session(step.link).send(data, pieces=step.pieces)

    def _parameters(self, step: Parameters) -> None:
        """Propose parameters: RecoverableAckTimeout is eight round trips, at least 500 ms (MS-MQQB 3.1.5.3.2).

        A window is that of this end on all sessions, also on those that the implementation opens from now on.
        """
        self._window = {key: value for key, value in step.values.items() if key == _WINDOW}
        link = self._session(step.link)
        proposed = {_RECOVERABLE: max(500, min(120_000, 8 * link.trip_ms)), **step.values}
        link.send(packets.parameters(proposed), pieces=step.pieces)

    def _answered(self, step: Answered) -> None:
        link = self._session(step.link)
        said = self._awaited(link, lambda one: one.kind == step.kind, step.within_ms)
        refused = said is not None and bool(said.number(_REFUSES))
        expects = bool(step.values.get(_REFUSES, (0, ""))[0])
        if step.kind == "EstablishConnection" and (refused > expects or (said is None and link.ended == "closed")):
            self._require_room()
        if said is None:
            self._fail(step.requirement, expected=step.kind, actual=self._shown(link))
        assert said is not None
        self._field(said, step.values)
        link.trip_ms = min(said.at_ms - link.asked_ms, AT_ONCE_MS)
        self._trip_ms = max(self._trip_ms, link.trip_ms)
        if said.kind == "EstablishConnection" and not refused:
            self.ends = replace(self.ends, server=said.text("EstablishConnectionHeader.ServerGuid") or packets.NULL)
        if said.kind == "ConnectionParameters":
            link.opened = True
            self._judge_settings(link, said)
        self._pass(step.requirement)

    def _require_room(self) -> None:
        """Look why a request for a session is refused: who has no room for one (3.1.5.3.1) refuses any other as well.

        Raises Unjudged, then.
        """
        name = f"room {len(self.links)}"
        for one in (Connect(name), Establish(name)):
            self._do(one)
        said = self._awaited(self.links[name], lambda one: one.kind == "EstablishConnection", AT_ONCE_MS)
        refused = self.links[name].ended == "closed" if said is None else bool(said.number(_REFUSES))
        self.links[name].close()
        if refused:
            raise Unjudged(NO_ROOM)

    def _say(self, step: Say) -> None:
        link = self._session(step.link)
        self._require_open(link)
        if link.send(packets.packet_of(step.says, self.ends, self._number(), more=step.values)) is None:
            raise Unjudged(NOT_SENT)
        link.skewed = True

    def _tell(self, step: Tell) -> None:
        link = self._session(step.link)
        for message in step.messages:
            same = message.again or message.shares or (message.name if message.number is not None else None)
            number, told = self.ids[same] if same in self.ids else (self._number(), message)
            self.ids[message.name] = number, message
            values = packets.user_values(told if message.again else message, self.ends, number)
            if step.acknowledging or step.miscounted:
                sent = link.sent + 1 + step.miscounted
                values |= packets.session_values(link.received, sent, link.sent_recoverable + message.kept, link.window)
            link.skewed = link.skewed or (message.again is not None and message.number is None)
            data = encode("UserMessage", values)
            if link.send(data, pieces=step.pieces, message=True, kept=message.kept) is None:
                raise Unjudged(NOT_SENT)

    def _acknowledged(self, step: Acknowledged) -> None:
        link = self._session(step.link)
        wanted = link.sent if step.count is None else step.count
        fits = (wanted,) if step.read is None else (wanted, link.sent)
        # Who opens a session names its times.
        within_ms = step.within_ms if link.role == "initiator" else max(step.within_ms, link.times_ms[0])
        if not self._heard_in_time(
            link,
            lambda: link.counted in fits or (step.least and link.counted > wanted),
            within_ms + SLACK_MS + (_TRIPS + 8) * self._trip_ms + self._turns_ms(link),
        ):
            expected = f"{wanted} messages acknowledged within {within_ms:,} ms"
            self._fail(step.requirement, expected=expected, actual=self._shown(link))
        if step.read is None:
            self._pass(step.requirement)
            return
        reading, holds, other = step.read
        self._follow(step.requirement, reading, holds if link.counted == wanted else other)

    def _follow(self, requirement: str, reading: str, alternative: str) -> None:
        """Record that a requirement holds by this alternative of a reading, or fails if the run does not accept it."""
        accepted = self._readings[reading]
        outcome = Outcome.PASS if alternative == accepted[0] else Outcome.READING
        if alternative not in accepted:
            self._fail(requirement, expected=f"as {accepted[0]} of {reading}", actual=f"as {alternative}")
        self.found.append(Verdict(requirement, outcome, "dialogue", readings=((reading, alternative),)))

    def _agree(self, step: Agree) -> None:
        link = self._session(step.link)
        self._require_open(link)
        marks = link.marks_of(link.owed[: -step.less]) if step.less else ()
        if link.send(link.session_ack(link.received - step.less, *marks)) is None:
            raise Unjudged(NOT_SENT)

    def _turns_ms(self, link: Link) -> int:
        """Return how long a slow implementation may take for what was sent to it."""
        return min(link.sent * self._trip_ms, TURNS_MS)

    def _counted(self, step: Counted) -> None:
        link = self._session(step.link)
        self._heard_in_time(link, lambda: link.counted >= step.least, self._turns_ms(link))
        if link.counted < step.least and self.timing.busy:
            raise Unjudged(BUSY)
        if link.counted < step.least:
            expected = f"at least {step.least} messages acknowledged by now"
            self._fail(step.requirement, expected=expected, actual=self._shown(link))
        self._pass(step.requirement)

    def _stored(self, step: Stored) -> None:
        link = self._session(step.link)
        if step.unless is not None and step.unless[1] in self._readings[step.unless[0]]:
            return
        wanted = list(range(1, link.sent_recoverable + 1))
        self._heard_in_time(link, lambda: len(link.acknowledged) >= len(wanted), step.within_ms)
        if sorted(link.acknowledged) != wanted:
            marked = ", ".join(map(str, sorted(link.acknowledged))) or "none"
            expected = f"the recoverable messages 1 to {len(wanted)} marked, each once"
            self._fail(step.requirement, expected=expected, actual=f"{marked} marked")
        self._pass(step.requirement)

    def _comes(self, step: Comes) -> None:
        fits = self._fitting(step)
        if not self._in_time(lambda: sum(map(fits, self._messages())) >= step.times, step.within_ms):
            came = [one for one in self._messages() if self._is_about(one, step.of, step.about)]
            if self._local[0] == "letter" and self._is_null(step.about) and not came and self._named():
                self._letter(step.requirements)
                return
            if step.insecure and not came:
                self._skip(*step.requirements, reason=INSECURE)
                return
            may = step.may if step.unless not in self.about else None
            if step.read is not None and step.read[1] in self._readings[step.read[0]]:
                may = f"by the reading {step.read[1]} of {step.read[0]} it does not come"
            if may is not None and all(class_of(one) in _POSITIVE for one in came):
                self._skip(*step.requirements, reason=may)
                return
            if self._miscorrelated(step):
                self._fail(CORRELATION, expected=step.about, actual="a message of no name")
            blamed = asked_first(step.requirements, step.message_class, map(class_of, came))
            actual = ", ".join(map(self._told_of, came)) or "nothing came of it"
            self._fail(*blamed, expected=_wanted(step), actual=actual)
        said = next(filter(fits, self._messages()))
        self._field(said, step.values, exact=step.exact)
        self._local_pass(step)

    def _local_pass(self, step: Comes) -> None:
        came = [one for one in self._messages() if self._fitting(step)(one)]
        self._passes(INITIATES, came)
        local = self._local[0] == "local" or not self._is_null(step.about)
        for one in step.requirements:
            if local or one not in _OF_NULL:
                self._passes(one, came)
        if not local:
            readings = ((_NULL_ADDRESS, "local"),)
            others = [one for one in step.requirements if one in _OF_NULL]
            self.found += [Verdict(one, Outcome.READING, "dialogue", readings=readings) for one in others]

    def _letter(self, requirements: tuple[str, ...]) -> None:
        """Judge a silence by the reading that a null QueueManagerAddress is for nobody."""
        readings = ((_NULL_ADDRESS, "letter"),)
        of_null = [one for one in requirements if one in _OF_NULL]
        self.found += [Verdict(one, Outcome.PASS, "dialogue", readings=readings) for one in of_null]
        self._skip(*(one for one in requirements if one not in _OF_NULL), reason=NOBODYS)

    def _named(self) -> bool:
        """Tell whether word comes of a message that is for somebody, asked once in a dialogue.

        By the reading, silence is right for one that names nobody; but silence alone may as well be a dead line. One
        for another queue manager that has come too far is rejected, whatever is read (MS-MQQB 3.1.5.8.2).
        """
        if self._answers_named is None:
            far = {"UserHeader.Flags.RC": 0x1D}  # the most that there may be, MS-MQMQ 2.2.19.2
            named = Message("by identifier", None, recoverable=True, asks=NA, manager="stranger", more=far)
            step = Comes("UserMessage", named.name, (), TOO_MANY_HOPS)
            self._answers_named = self._controlled(named, step) is not None
        return self._answers_named

    def _controlled(self, message: Message, step: Comes) -> Said | None:
        """Send a message on a session of its own; return the word of it that a step waits for, if it comes."""
        for one in (*handshake(message.name), Tell((message,), link=message.name)):
            self._do(one)
        fits = self._fitting(step)
        self._until(lambda: any(map(fits, self._messages())), step.within_ms + self._patience_ms)
        self.links[message.name].close()
        return next(filter(fits, self._messages()), None)

    def _arrives(self, message: Message) -> Said | None:
        """Send a message on a session of its own; return the word of its arrival, if it comes."""
        return self._controlled(message, Comes("UserMessage", message.name, (), _POSITIVE[0]))

    def _word_after(self) -> bool:
        """Tell whether word has come of a message that is sent now: word of an earlier one would be here, too.

        True where no message can be sent for it.
        """
        there = {name.rpartition("\\")[2].lower() for name in self.about["queues"]}
        if self._quiet or PLAIN not in there:
            return True
        after = Message(f"after {self._next_id}", recoverable=True, asks=PA)
        return self._arrives(after) is not None

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
        anothers = (one for one in same if not any(self._is_about(one, step.of, name) for name in self.ids))
        return any(is_misnamed(one, number, self.ends) for one in anothers)

    def _never(self, step: Never) -> None:
        fits = self._fitting(step)

        def came() -> dict[Json, Said]:
            """Return the messages; one that was not acknowledged comes again, and is the same."""
            names = ("UserHeader.SourceQueueManager", "UserHeader.MessageID")
            return {tuple(map(one.packet.fields.get, names)): one for one in self._messages() if fits(one)}

        many = self._until(lambda: len(came()) > step.most, step.for_ms + _TRIPS * self._trip_ms)
        shown = many or self._word_after()
        if len(came()) > step.most:
            actual = ", ".join(map(self._told_of, came().values()))
            expected = f"at most {step.most} such messages" if step.most else "no such message"
            self._fail(*step.requirements, expected=expected, actual=actual)
        if shown:
            self._pass(*step.requirements)
        else:
            self.found += [Verdict(one, Outcome.INCONCLUSIVE, "dialogue", reason=DUMB) for one in step.requirements]

    def _closes(self, step: Closes) -> None:
        timer_ms = step.periods * self._timer(step.timer) if step.timer else 0
        self._must_close(self._session(step.link), step.requirement, step.within_ms + timer_ms)

    def _stays(self, step: Stays) -> None:
        link = self._session(step.link)
        for_ms = step.for_ms + _TRIPS * self._trip_ms + (self._timer(step.timer) if step.timer else 0)
        self._heard_within(link, lambda: False, for_ms)
        if link.ended is None:
            self._round_trip()
            link.read(SLICE_MS)
        if link.ended is not None and step.timer != CLEANUP_TIMER and self._tidied(link):
            raise Unjudged(TIDIED)
        if link.ended is not None and step.timer is not None and self.timing.busy:
            raise Unjudged(BUSY)
        if link.ended is not None:
            self._fail(step.requirement, expected="the connection stays open", actual=self._shown(link))
        self._pass(step.requirement)

    def _round_trip(self) -> None:
        """Have the implementation answer on a connection of its own, however busy it is: time alone shows nothing."""
        name = f"trip {len(self.links)}"
        for step in (Connect(name), Establish(name), Answered("EstablishConnection", link=name)):
            self._do(step)
        self.links[name].close()

    def _wait(self, step: Wait) -> None:
        ms = step.ms + (self._timer(step.timer) * step.percent // 100 if step.timer else 0)
        if not step.deaf:
            self._until(lambda: False, ms)
            return
        patience = Patience(ms)
        while patience.left > 0:
            link = next((one for one in self.links.values() if one.ended is None), None)
            if link is None:
                self.mq.time.sleep(SLICE_MS / 1000)
                patience.silent()
            else:
                self._read(link, patience)

    def _close(self, step: Close) -> None:
        """Close sessions. What this end owes it acknowledges before, so that it does not come again on the next one."""
        every = [one for one in self.links.values() if one.role == "acceptor" or one.received]
        for link in every if step.link == "*" else [self._session(step.link)]:
            if link.opened and not self._quiet:
                link.acknowledge(last=True)
            link.close(step.how)

    def _hush(self, step: Quiet) -> None:
        """Acknowledge nothing, or all that has waited for that."""
        self._quiet = step.on
        self._thank(now=True)

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
            if step.control or not step.wanted:
                raise NotPlayed(NO_PINGS)
            for _, requirement in step.wanted.values():
                self._fail(requirement, expected="a response", actual="none")
        if said[0].number(_WOULD_REFUSE) and not step.wanted.get(_WOULD_REFUSE, (1, ""))[0]:
            self._require_room()
        self._field(said[0], step.wanted)

    def _reconnects(self, step: Reconnects) -> None:
        situation = _BY_NAME[step.situation] if step.situation else None
        within_ms = self._timer("session-retry-connect") + 2 * SLACK_MS
        link = self._connected(within_ms, situation, answer=step.answer)
        if link is None and self.timing.busy and self._connected(LATE_MS, situation, answer=step.answer) is not None:
            raise Unjudged(BUSY)
        if link is None:
            self._fail(step.requirement, expected=f"a connection within {within_ms:,} ms", actual="none")
        assert link is not None
        if situation is None:
            self._pass(step.requirement)
            return
        name = next(key for key, one in self.links.items() if one is link)
        if not self._provoked:  # it has connected, and not begun or gone on with a session
            self._fail(step.requirement, expected="the begin of a session", actual=self._shown(link))
        self._provoked = False
        broken = step.ignored or situation.requirement
        if situation.then is Then.CLOSES:
            self._closes(Closes(broken, link=name))
        elif situation.then is Then.ANSWERS:
            self._answered(Answered("ConnectionParameters", broken, link=name))
        else:
            self._stays(Stays(broken, link=name))
        link.close()


def _is_broken(verdict: Verdict) -> bool:
    return verdict.outcome is Outcome.FAIL and requirement(verdict.requirement).level == "must"


def _of_this_end(verdict: Verdict) -> str:
    return f"mqconform's own packets break {verdict.requirement}: {verdict.subject}, {verdict.actual}"


def _wanted(step: Comes) -> str:
    of_class = "" if step.message_class is None else f" of the class {step.message_class:#06x}"
    return f"{step.of}{of_class} about {step.about!r} within {step.within_ms:,} ms"


def _result_text(result: Result) -> str:
    return f"status {result.status:#010x}" if result.failure is None else result.failure.text


_ELSEWHERE: Final = frozenset(
    requirement_id(f"MQQB-3.1.7.15.{word}") for word in ("correlation", "delivery", "requested")
)
"""Entries that administration acknowledgments show without a network, too."""

_COMMON: Final = frozenset((*demanded(handshake()), *demanded((reaches(""),))))
"""Entries that nearly every case demands on its way: other cases judge it where one cannot be played."""


ALONE: Final[Mapping[str, str]] = {
    "traced": "its report goes to the one address that the directory has, from which no dialogue is played ahead",
}
"""The cases that do not go on beside others, and why."""


def cases(some: Iterable[Case]) -> list[Any]:
    """Return pytest parameters, marked with what each case judges, and as played ahead unless it is to be alone."""
    return [pytest.param(case, id=case.name, marks=_marks(case)) for case in some]


def _marks(case: Case) -> list[pytest.MarkDecorator]:
    judged = pytest.mark.requirement(*case.claims)
    return [judged] if case.name in ALONE else [judged, pytest.mark.ahead(_part(case))]


def _part(case: Case) -> Part:
    def play(mq: Port, options: RunOptions, data: Mapping[str, Any], tell: Told) -> Iterator[Verdict]:
        return Player(mq, case, now_s=data["now_s"], tell=tell).play(options.readings, options.profile)

    return Part(EXAMPLE, lambda: {"case": case.name, "now_s": int(time.time())}, play, lasts_ms(case.steps))


def check(case: Case, mq: Port, judge: Recorder) -> None:
    """Play a case and record its verdicts. Skips the test, with the reason, where it cannot be played.

    A driver without a network leaves unjudged what only a network shows; the rest is for the other suites.
    """
    missing = [method for method in METHODS if not mq.offers(method)]
    if missing:
        why = f"{NOT_OFFERED}{', '.join(missing)}"
        shown = (name for name in case.claims if requirement(name).checked == "session" and name not in _ELSEWHERE)
        judge.record(*(Verdict(name, Outcome.SKIP, "dialogue", reason=why) for name in shown))
        judge.flush()
        judge.not_demanded(why)
    try:
        play(_part(case), mq, judge)
    except NotPlayed as lacking:
        own = dict.fromkeys(name for name in demanded(case.steps) if name not in _COMMON)
        judge.record(*(Verdict(name, Outcome.SKIP, "dialogue", reason=str(lacking)) for name in own))
        judge.flush()
        judge.not_demanded(str(lacking))
