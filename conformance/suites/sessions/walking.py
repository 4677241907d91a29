"""Walks over a network with faults: played with the implementation, judged and cut down."""

from __future__ import annotations

import base64
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from random import Random
from typing import TYPE_CHECKING, Any, Final

import pytest

from conformance.adapter.errors import AdapterError
from conformance.harness.ahead import Part, play
from conformance.harness.guarded_client import NOT_OFFERED
from conformance.harness.recorder import ConformanceFailure, HarnessDefect, Recorder
from conformance.judge.dialogues import packets
from conformance.judge.dialogues.conversation import Said
from conformance.judge.dialogues.machine import State
from conformance.judge.dialogues.packets import PA, PLAIN, TRANSACTIONAL, Message, Values
from conformance.judge.dialogues.steps import AT_ONCE_MS, Case
from conformance.judge.dialogues.walk_judge import (
    CONNECTS,
    DISCONNECT,
    REPEATED,
    Event,
    Walked,
    What,
    judged,
    settled,
)
from conformance.judge.dialogues.walk_plans import (
    ENDING,
    MESSAGES,
    PACKETS,
    Act,
    Does,
    Fault,
    Kind,
    Offer,
    Plan,
    Stand,
    after,
    choices,
    claims,
    due,
    has,
    offset,
    plans,
    steps_of,
    touched,
)
from conformance.judge.sessions.context import MESSAGES as COUNTED
from conformance.judge.sessions.context import Readings
from conformance.judge.sessions.opening import STATE_CLOSES
from conformance.spec.catalogue import reading_id, requirement, requirement_id
from conformance.suites.sessions.dialogue import (
    ACCEPT_MS,
    LATE_MS,
    NO_ROOM,
    SLACK_MS,
    Broken,
    Dialogue,
    NotPlayed,
    Told,
    Unjudged,
)
from conformance.suites.sessions.links import SLICE_MS, Flooded, Link, Patience
from conformance.suites.sessions.playing import METHODS, PINGS
from conformance.verdict import Outcome, Verdict
from conformance.walks import Budget, cuts, examples, least, steps

if TYPE_CHECKING:
    from conformance.adapter.client import Result
    from conformance.harness.port import Port
    from conformance.harness.recorder import RunOptions

_NULL_ADDRESS: Final = reading_id("R-MQQB-null-queue-manager-address")
_ROUND_TRIP: Final = requirement_id("MQQB-3.1.5.3.2.round-trip")
"""Judged by cases that do nothing else meanwhile: on a busy machine this end sees late when a request came."""
_REJECTED: Final = reading_id("R-MQQB-rejected-number")
_RETRY: Final = "session-retry-connect"
MOST_RETRY_MS: Final = 2_000
"""How long the implementation may wait before it connects again: a walk makes it do so many times."""
_P: Final = "ConnectionParametersHeader."
_OFFERS: Final[dict[Offer, Values]] = {
    Offer.USUAL: {},
    Offer.PATIENT: {_P + "AckTimeout": 120_000, _P + "WindowSize": 1},
    Offer.WIDE: {_P + "WindowSize": 0xFFFF},
}
_SHORT_MS, _LOOK_MS, _WAIT_MS, _KEPT_MS, _ORDER_MS = 20, 5, 700, 500, 2_000
"""A short delay; a look at a connection; a wait for any acknowledgment; RecoverableAckTimeout of each session; the time
of an OrderAck, put off by a few messages behind."""
_OWN_PARTS: Final = "the driver sends whole packets alone, so that none can be cut"


class WholeOnly(NotPlayed):
    """The driver sends no part of a packet."""


class Over(Exception):
    """The walk cannot go on: a connection is gone, or none is made."""


class Walker(Dialogue):
    """Plays one walk. accepts: it waits for the implementation to connect, again and again."""

    def __init__(self, mq: Port, acts: Iterable[Act], *, accepts: bool, now_s: int, tell: Told) -> None:
        """Ask what is declared. Raises NotPlayed where a walk needs more."""
        timers = {_RETRY: MOST_RETRY_MS} if accepts else {}
        super().__init__(mq, Case("walk", (), timers=timers, queues=(PLAIN, TRANSACTIONAL)), now_s=now_s, tell=tell)
        self.acts = tuple(acts)
        self.walked = Walked(self.conversation, self.ends)
        self.stand = Stand()
        self._link_now: Link | None = None
        self._sent: list[tuple[Kind, Message]] = []
        self._identifiers: set[int | None] = set()
        self._opens = False

    def play(self, readings: Readings, profile: str) -> Iterator[Verdict]:
        """Yield the verdicts on the walk: what a rule of captures breaks is blamed first, as it is most exact."""
        walked = self.walked
        walked.told = readings[_NULL_ADDRESS][0] == "local"
        walked.strict = readings[_REJECTED] == ("kept",)
        walked.repeated = readings[REPEATED]
        timers = self.about["timers_ms"]
        walked.forgets_ms = timers.get("message-id-history-cleanup")
        walked.idle_ms = timers.get("session-cleanup")
        unjudged: str | None = None
        defect: str | None = None
        try:
            self._walk()
        except (Flooded, Unjudged) as why:
            unjudged = str(why)
        except Broken:
            pass
        except (NotPlayed, AdapterError):
            raise
        except Exception as error:  # See `Player`.
            unjudged = defect = f"a step of a walk broke off: {type(error).__name__}: {error}"
        finally:
            self.leave()
            self._tell_story()
        found = list(judged(walked))
        gone = [one for one in found if one.outcome is Outcome.FAIL and one.requirement.startswith("MQQB-2.1.1.")]
        if unjudged is not None:
            found = [Verdict(DISCONNECT, Outcome.INCONCLUSIVE, "walk", reason=unjudged)]
        said = filter(self.stands, self.conversation.verdicts(readings, profile))
        by_rules = (self.timely(one) for one in said if one.requirement != _ROUND_TRIP)
        yield from chain(self.exact, gone, by_rules, found)
        if defect is not None:
            raise HarnessDefect(DISCONNECT, defect)

    def _walk(self) -> None:
        """Show that a session can be opened, take the walk, and look whether all came and the other end lives."""
        try:
            self._alive()
            for stand, act in steps_of(self.acts):
                self.stand = stand
                self._begin(act.sentence, {"method": KIND, "params": act.to_json()})
                self._do(act)
                self.stand = after(stand, act)
            self._finish()
            self.walked.finished = True
        except Over:
            pass
        self._alive(last=True)

    # --- Acts

    def _do(self, act: Act) -> None:
        doing: dict[Does, Callable[[Act], None]] = {
            Does.CONNECT: self._connect, Does.OPEN: self._open, Does.SEND: self._send, Does.CLOSE: self._close_now,
            Does.PING: self._ping, Does.WAIT: self._let_pass, Does.SETTLE: self._settle, Does.ACCEPT: self._take,
        }  # fmt: skip
        doing[act.does](act)

    def _connect(self, act: Act | None = None) -> None:
        result = self.mq.call("sessions.open", role="initiator", address=self.about["listener"])
        if not result.ok or "session" not in result.values:
            self._note(What.REFUSED, None)
            raise Over
        link = self._link("initiator", result)
        self.links[f"a{link.connection}"] = self._link_now = link
        self._note(What.CONNECTED, link)

    def _open(self, act: Act) -> None:
        self._connect()
        self._plainly(Kind.ESTABLISH)
        self._plainly(Kind.PARAMETERS, _OFFERS[act.offer])

    def _close_now(self, act: Act) -> None:
        self._end(self._now, act.how)

    def _let_pass(self, act: Act) -> None:
        """Let time pass, and acknowledge what came meanwhile: what is delivered next is to be new."""
        self._until(lambda: False, _WAIT_MS)
        self._thank(now=True)

    def _ping(self, act: Act) -> None:
        if not self.mq.offers(PINGS):
            return
        self._pings += 1
        data = packets.ping(self.ends, self._pings)
        result = self.mq.call(PINGS, bytes=base64.b64encode(data).decode("ascii"), wait_ms=SLICE_MS)
        answers = result.values.get("answers", []) if result.ok else []
        ends = self.about["listener"], self.about["host"]
        ping = self.conversation.pinged(data, int(answers[0]["at_ms"]) if answers else 0, ends)
        for one in answers:
            self.conversation.answered(ping, base64.b64decode(one["bytes"]), int(one["at_ms"]))

    def _send(self, act: Act) -> None:
        kind = due(self.stand, act)
        if kind in (Kind.ESTABLISH, Kind.PARAMETERS):
            self._plainly(kind, {}, act)
        elif act.fault is Fault.REORDER:
            first, second = self._message(self.stand.at, kind), self._message(self.stand.at + 1, kind)
            self._deliver(self._now, kind, self._data(second), replace(act, fault=Fault.NONE))
            self._deliver(self._now, kind, self._data(first), replace(act, fault=Fault.NONE))
            self._lives(self._now)
        elif kind in MESSAGES:
            self._deliver(self._now, kind, self._data(self._message(self.stand.at, kind)), act)
            if act.fault is Fault.AGAIN:
                self._again()
        else:
            self._deliver(self._now, kind, self._acknowledgment(kind), act)

    def _again(self) -> None:
        """Have all acknowledged, end the session, and send all of it again on another one."""
        self._settle_from(self.stand.at + 1)
        self._end(self._now, "close")
        self._open(Act(Does.OPEN))
        for kind, message in self._sent:
            self._deliver(self._now, kind, self._data(message), Act(Does.SEND, kind))

    def _settle(self, act: Act) -> None:
        for at in range(self.stand.at, len(self.stand.out)):
            kind = self.stand.out[at]
            self._deliver(self._now, kind, self._data(self._message(at, kind)), Act(Does.SEND, kind))
        self._settle_from(len(self.stand.out))

    def _settle_from(self, at: int) -> None:
        """Send a recoverable message, which has all of them acknowledged soon, and wait for all that must come."""
        message = self._message(at, Kind.RECOVERABLE)
        link = self._now
        self._deliver(link, Kind.RECOVERABLE, self._data(message), Act(Does.SEND, Kind.RECOVERABLE))
        order_ms = _ORDER_MS if any(kind is Kind.TRANSACTIONAL for kind, _ in self._sent) else 0
        within = _KEPT_MS + SLACK_MS + self._patience_ms + order_ms

        def done() -> bool:
            return settled(self.walked, link.connection) or link.ended is not None

        if not self._until(done, within) and self.timing.busy:
            self._until(done, LATE_MS)
        if not done():
            self._require_movable()
        self._thank(now=True)
        self._look(link)
        self._note(What.SETTLED, link)

    def _finish(self) -> None:
        """Send what may not have come once more, and wait for the acknowledgments and words of all."""
        self._begin("send what may not have come once more, and wait for all that must come of it")
        if self.stand.link is not State.OPEN:
            if self.stand.link is not None:
                self._end(self._now, "close")
            self._open(Act(Does.OPEN))
            self.stand = replace(self.stand, link=State.OPEN, at=self.stand.settled)
        self._settle(Act(Does.SETTLE))

    def _alive(self, *, last: bool = False) -> None:
        """Open a session as it should be, and leave it. Raises Unjudged where none is opened from the first on."""
        self._begin("open a session as it should be, and leave it")
        try:
            self._open(Act(Does.OPEN))
        except Over:
            if not last and self._link_now is not None and self._link_now.ended == "closed":
                raise Unjudged(NO_ROOM) from None
            if not last:
                raise
            return
        self._end(self._now, "close")

    # --- Packets

    @property
    def _now(self) -> Link:
        assert self._link_now is not None
        return self._link_now

    def _plainly(self, kind: Kind, values: Values | None = None, act: Act | None = None) -> None:
        """Send a packet that opens a session, and wait for its answer where one must come."""
        act = act or Act(Does.SEND, kind)
        link = self._now
        establish = kind is Kind.ESTABLISH
        data = packets.establish(self.ends, packets.NULL, values) if establish else packets.parameters(values)
        if not self._deliver(link, kind, data, act):
            return
        answer = "EstablishConnection" if establish else "ConnectionParameters"
        said = self._awaited(link, lambda one: one.kind == answer, AT_ONCE_MS)
        self._note(What.UNANSWERED if said is None else What.ANSWERED, link, kind=answer)
        if said is None:
            raise Over
        if establish and said.number("InternalHeader.Flags.CS"):
            raise Unjudged(NO_ROOM)
        if establish:
            server = said.text("EstablishConnectionHeader.ServerGuid") or packets.NULL
            self.ends = self.walked.ends = replace(self.ends, server=server)
        else:
            link.opened = True
        if act.fault is Fault.DOUBLE:
            self._must_end(link, STATE_CLOSES[answer])

    def _message(self, at: int, kind: Kind) -> Message:
        """Return a message of the walk by its index; make it, if it is new."""
        if at < len(self._sent):
            return self._sent[at][1]
        name, number = f"walk {at + 1}", None
        if kind is Kind.TRANSACTIONAL:
            number = 1 + sum(one is kind for one, _ in self._sent)
        queue = PLAIN if number is None else TRANSACTIONAL
        message = Message(name, queue, recoverable=kind is Kind.RECOVERABLE, number=number, asks=PA)
        self._sent.append((kind, message))
        self.ids[name] = self._number(), message
        return message

    def _data(self, message: Message) -> bytes:
        return packets.user_message(message, self.ends, self.ids[message.name][0])

    def _acknowledgment(self, kind: Kind) -> bytes:
        if kind is Kind.SESSION_ACK:
            link = self._now
            return link.session_ack(link.received)
        return packets.transactional_ack(
            "OrderAck" if kind is Kind.ORDER_ACK else "FinalAck", self.ends, self._number()
        )  # fmt: skip

    def _deliver(self, link: Link, kind: Kind, data: bytes, act: Act) -> bool:
        """Send a packet with what happens to it; tell whether the connection goes on."""
        fault = act.fault if has(kind, act.place) else Fault.NONE
        at = offset(data, act.place)
        if fault in ENDING:
            if at == len(data):
                self._whole(link, kind, data)
            elif at:
                self._part(link, kind, data, at)
            self._cut(link, fault)
            return False
        if fault is Fault.DELAY:
            self._part(link, kind, data, at)
            self._pause(link, long=act.long)
            self._whole(link, kind, data)
        else:
            self._whole(link, kind, data, (at,) if fault is Fault.SPLIT else ())
        if fault is Fault.DOUBLE:
            self._whole(link, kind, data)
        if fault is not Fault.NONE and link.opened:
            self._lives(link)
        return True

    def _lives(self, link: Link) -> None:
        """Look whether a connection is still there once the implementation has taken what was sent on it.

        It has, when it answers on another connection what was sent later.
        """
        now = self._link_now
        self._connect()
        self._plainly(Kind.ESTABLISH)
        self._end(self._now, "close")
        self._link_now = now
        if link.ended is None:
            link.read(_LOOK_MS)
        if link.ended is not None:
            self._gone(link)
        self._note(What.LIVES, link)

    def _whole(self, link: Link, kind: Kind, data: bytes, pieces: tuple[int, ...] = ()) -> None:
        """Send a packet, or what is left of it."""
        kept = kind in (Kind.RECOVERABLE, Kind.TRANSACTIONAL, Kind.FINAL_ACK)
        message = kind in (*MESSAGES, Kind.ORDER_ACK, Kind.FINAL_ACK)
        if link.tail:
            said = link.finish(data, message=message, kept=kept)
        else:
            said = link.send(data, pieces=pieces, message=message, kept=kept)
        if said is None:
            self._gone(link)
        assert said is not None
        number = said.number("UserHeader.MessageID")
        again = kind in (Kind.EXPRESS, Kind.RECOVERABLE) and number in self._identifiers
        link.skewed = link.skewed or again or kind in (Kind.ORDER_ACK, Kind.FINAL_ACK)
        self._identifiers.add(number)
        self._note(What.WHOLE, link, packet=said)

    def _part(self, link: Link, kind: Kind, data: bytes, size: int) -> None:
        """Send so many bytes of a packet, and hold back the others."""
        result = link.begin(data, size)
        if result.failure is not None:
            raise WholeOnly(f"{_OWN_PARTS} ({result.failure.text})")
        if not result.ok:
            self._gone(link)
        self._note(What.PART, link, kind=PACKETS[kind])

    def _pause(self, link: Link, *, long: bool) -> None:
        """Let time pass within a packet. long: until what was sent before is acknowledged."""
        before = link.counted
        if long:
            self._until(lambda: link.counted != before or link.ended is not None, _KEPT_MS + SLACK_MS)
        else:
            link.read(_SHORT_MS)

    def _cut(self, link: Link, fault: Fault) -> None:
        if fault is not Fault.HALF:
            self._end(link, "reset" if fault is Fault.RESET else "close")
            return
        self.mq.call("sessions.close", session=link.session, how="half")
        self._must_end(link, DISCONNECT)

    def _must_end(self, link: Link, requirement: str) -> None:
        """Give the implementation the time to end a connection, and end it."""
        patience = Patience(AT_ONCE_MS)
        while link.ended is None and patience.left > 0:
            self._read(link, patience)
        held = link.ended is not None
        self._note(What.DUE, link, requirement=requirement, held=held)
        link.close()

    def _end(self, link: Link, how: str) -> None:
        """End a connection, unless the other end did."""
        self._look(link)
        link.close(how)
        self._note(What.OURS, link)

    def _look(self, link: Link) -> None:
        """Look whether the other end has ended a connection."""
        if link.ended is None:
            link.read(0)
        if link.ended is not None:
            self._gone(link)

    def _gone(self, link: Link) -> None:
        if link.ended is None:
            link.read(SLICE_MS)
        link.ended = link.ended or "closed"
        if link.skewed and link.received > link.answered:
            raise Unjudged("this end could not state its counts on a session, so that it was ended for that")
        self._note(What.ENDED, link)
        raise Over

    # --- Connections of the implementation

    def _take(self, act: Act) -> None:
        """Take the next connection of the implementation, with a fault in what this end answers on it."""
        for one in [one for one in self.links.values() if one.role == "acceptor"]:
            one.close()
        result = self._knock()
        taken = result.ok and "session" in result.values
        self._note(What.AWAITED, None, held=taken)
        if not taken:
            raise Over
        link = self._link("acceptor", result)
        self.links[f"in{link.connection}"] = link
        if self._answers(link, act):
            link.close()
        if self._opens:  # For the next message: the last session has ended.
            self._opens = False
            self._open(Act(Does.OPEN))

    def _knock(self) -> Result:
        """Wait for a connection of the implementation.

        Where it sends its words on the session of this end (MS-MQQB 1.3.5.2), that ends, so that it has to connect.
        """
        within = left = self._timer(_RETRY) + 2 * SLACK_MS
        while True:
            began = self.mq.time.monotonic()
            deadline_ms = min(max(left, ACCEPT_MS), 2 * ACCEPT_MS)
            result = self.mq.call(
                "sessions.open", role="acceptor", address=self.about["listener"], deadline_ms=deadline_ms
            )
            self.timing.waited(deadline_ms, began, in_vain=not result.ok)
            left -= self._since(began)
            if result.ok:
                return result
            ours = self._link_now
            if ours is not None and self._has_words(ours):
                ours.close()
                self._note(What.OURS, ours)
                self._opens, left = True, within
            elif left <= (-LATE_MS if self.timing.busy else 0):
                return result

    @staticmethod
    def _has_words(ours: Link) -> bool:
        """Tell whether messages of the implementation wait on a session of this end to be acknowledged."""
        while ours.read(SLICE_MS):
            pass
        return ours.ended is None and ours.received > ours.answered

    def _answers(self, link: Link, act: Act) -> bool:
        """Answer on a connection of the implementation; tell whether it is still open."""
        happens = touched(act)

        def at(kind: Kind) -> Act:
            return act if kind in happens else Act(Does.ACCEPT, kind)

        request = self._expected(link, "EstablishConnection")
        server = request.text("EstablishConnectionHeader.ServerGuid") or packets.NULL
        name = self.ends.client if server == packets.NULL else server
        data = packets.establish(self.ends, name, self._answer(request), answer=True)
        if not self._deliver(link, Kind.ESTABLISH, data, at(Kind.ESTABLISH)):
            return False
        if act.fault is Fault.DOUBLE and act.kind is Kind.ESTABLISH:
            self._must_end(link, STATE_CLOSES["EstablishConnection"])
            return False
        asked = self._expected(link, "ConnectionParameters")
        keys = {_P + key: asked.number(_P + key) or 0 for key in ("RecoverableAckTimeout", "AckTimeout", "WindowSize")}
        if not self._deliver(link, Kind.PARAMETERS, packets.parameters(keys), at(Kind.PARAMETERS)):
            return False
        if act.fault is Fault.DOUBLE and act.kind is Kind.PARAMETERS:
            self._must_end(link, STATE_CLOSES["ConnectionParameters"])
            return False
        link.opened = True
        if act.kind is not Kind.SESSION_ACK and Kind.SESSION_ACK not in happens:
            return True
        if self._awaited(link, lambda one: one.kind in COUNTED, AT_ONCE_MS) is None:
            if self._opens or self._has_words(self._now):
                raise Unjudged("its words came on the session of this end, and not on the connection that it made")
            self._note(What.AWAITED, link, held=False)
            raise Over
        return self._deliver(link, Kind.SESSION_ACK, self._thanks(link), at(Kind.SESSION_ACK))

    def _expected(self, link: Link, kind: str) -> Any:
        said = self._awaited(link, lambda one: one.kind == kind, AT_ONCE_MS)
        self._note(What.UNANSWERED if said is None else What.ANSWERED, link, kind=kind)
        if said is None:
            raise Over
        return said

    @staticmethod
    def _thanks(link: Link) -> bytes:
        """Return an acknowledgment of all that has come on a connection (MS-MQQB 3.1.6.4)."""
        return link.session_ack(link.received, *link.marks)

    def _accepts_ms(self, came: Sequence[Said]) -> int:
        """Return how long to wait for a connection of the implementation: a walk has one of these at most."""
        del came
        inward = any(one.role == "acceptor" and one.ended is None for one in self.links.values())
        return 0 if inward else SLICE_MS

    def _note(
        self, what: What, link: Link | None, *, packet: Any = None, kind: str = "", requirement: str = "",
        held: bool = True,
    ) -> None:  # fmt: skip
        now_ms = int(self.mq.time.monotonic() * 1000)
        at = link.connection if link is not None else 0
        self.walked.events.append(Event(what, at, now_ms, packet, kind, requirement, held))


KIND: Final = "walk"
"""The kind of a walk's repro file."""
SHARE: Final = 0.2
"""A walk's part of the examples that a run asks for: one takes as long as many histories of calls."""
_MOST_ACTS: Final = 16
_ACT_MS: Final = 500
"""A guess at how long an act takes."""
_RUNS, _SECONDS = 60, 15.0
"""The most to spend on cutting a walk down: done for the first deviation from each requirement in a run."""


def planned(some: Iterable[Plan]) -> list[Any]:
    """Return pytest parameters, marked with what each walk judges."""
    return [
        pytest.param(
            plan,
            id=plan.name,
            marks=(
                pytest.mark.requirement(*claims(plan.acts)),
                pytest.mark.ahead(_part(plan.acts, accepts=plan.accepts, name=plan.name)),
            ),
        )
        for plan in some
    ]


def _part(acts: Sequence[Act], *, accepts: bool, name: str | None = None) -> Part:
    """Return a walk as an example. name: of a planned one."""

    def data() -> dict[str, Any]:
        told = {"acts": [act.to_json() for act in acts], "accepts": accepts, "now_s": int(time.time())}
        return told if name is None else {**told, "case": name}

    def begun(mq: Port, options: RunOptions, data: Mapping[str, Any], tell: Told) -> Iterator[Verdict]:
        walker = Walker(mq, acts, accepts=accepts, now_s=data["now_s"], tell=tell)
        return walker.play(options.readings, options.profile)

    return Part(KIND, data, begun, _ACT_MS * len(acts))


def check(plan: Plan, mq: Port, judge: Recorder) -> None:
    """Play a planned walk. Skips the test, with the reason, where it cannot be played."""
    _require(mq, judge, claims(plan.acts))
    try:
        play(_part(plan.acts, accepts=plan.accepts, name=plan.name), mq, judge)
    except NotPlayed as lacking:
        _left_out(judge, _own(plan.acts, whole=isinstance(lacking, WholeOnly)), str(lacking))
    except ConformanceFailure as failure:
        raise shortened(mq, judge, failure, plan.acts, accepts=plan.accepts) from None


def wander(mq: Port, judge: Recorder, options: RunOptions, claimed: tuple[str, ...]) -> None:
    """Take walks of chance, this test's part of the examples that the run asks for."""
    _require(mq, judge, claimed)
    about = mq.call("sessions.about").values
    accepts = about.get("timers_ms", {}).get("session-retry-connect", MOST_RETRY_MS + 1) <= MOST_RETRY_MS
    try:
        for random in examples(options.seed, options.max_examples * SHARE):
            if time.monotonic() > judge.until:
                judge.cut = True
                return
            acts = drawn(random, accepts=accepts)
            try:
                play(_part(acts, accepts=accepts), mq, judge)
            except ConformanceFailure as failure:
                raise shortened(mq, judge, failure, acts, accepts=accepts) from None
    except NotPlayed as lacking:
        _left_out(judge, (), str(lacking))


def drawn(random: Random, *, accepts: bool) -> tuple[Act, ...]:
    """Return a walk of chance, each step one of the acts that make sense."""
    stands, acts = [Stand()], []
    for act in steps(lambda: stands[-1], (partial(choices, accepts=accepts),), random, random.randint(2, _MOST_ACTS)):
        acts.append(act)
        stands.append(after(stands[-1], act))
    return tuple(acts)


def shortened(
    mq: Port, judge: Recorder, failure: ConformanceFailure, acts: Sequence[Act], *, accepts: bool
) -> ConformanceFailure:  # fmt: skip
    """Return the failure with the fewest acts found that break the same requirement; as it is if an earlier test of the
    run has told of one."""
    if not any(one.verdict.requirement == failure.verdict.requirement for one in judge.first_failures):
        return failure
    found = failure

    def fails(some: tuple[Act, ...], best: tuple[Act, ...]) -> tuple[Act, ...] | None:
        nonlocal found
        quiet = Recorder(judge.options, lambda verdict, count: None, disabled=judge.disabled, tape=judge.tape)
        try:
            play(_part(some, accepts=accepts), mq, quiet)
        except ConformanceFailure as other:
            if other.verdict.requirement == failure.verdict.requirement:
                found = other
                return some
        except (NotPlayed, HarnessDefect):
            pass
        return None

    least(tuple(acts), partial(cuts, end=True), fails, Budget(_RUNS, time.monotonic() + _SECONDS))
    return found


def _require(mq: Port, judge: Recorder, claimed: Iterable[str]) -> None:
    missing = [method for method in METHODS if not mq.offers(method)]
    if missing:
        shown = (name for name in claimed if requirement(name).checked == "session")
        _left_out(judge, shown, f"{NOT_OFFERED}{', '.join(missing)}")


def _left_out(judge: Recorder, own: Iterable[str], why: str) -> None:
    judge.record(*(Verdict(name, Outcome.SKIP, KIND, reason=why) for name in own))
    judge.flush()
    judge.not_demanded(why)


def _own(acts: Iterable[Act], *, whole: bool) -> tuple[str, ...]:
    """Return what a walk judges and no other test does. whole: walks that send a part of a packet are not played."""
    others = (plan for plan in plans().values() if not plan.accepts and not (whole and plan.parts))
    elsewhere = {name for plan in others for name in claims(plan.acts)} | {CONNECTS}
    return tuple(name for name in claims(acts) if name not in elsewhere)
