"""What the implementation sends in transactions, acknowledged in parts, and sent again (MS-MQQB 3.1.5.6, 3.1.6.5)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from conformance.judge.dialogues.conversation import Said
from conformance.judge.dialogues.packets import transactional_ack
from conformance.judge.dialogues.steps import AT_ONCE_MS, Order, Passed, Replies, Resent, Unanswered
from conformance.spec.catalogue import requirement_id
from conformance.suites.sessions.dialogue import ACCEPT_MS, Broken, Dialogue, Unjudged
from conformance.suites.sessions.waiting import Patience
from conformance.verdict import Outcome, Verdict

_SLACK_MS: Final = 1_000
_INTERVAL: Final = requirement_id("MQQB-3.1.6.5.resend-interval")
_TX: Final = "TransactionHeader."


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

    def stands(self, verdict: Verdict) -> bool:
        """Tell whether a verdict of a rule stands: one rule takes the times of resending for the defaults."""
        return verdict.requirement != _INTERVAL or "transactional-ack-wait" not in self.about["timers_ms"]

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

        if not step.times:
            self._until(lambda: bool(came()), step.within_ms)
            if came():  # No rule on what it says tells more than that it must not be there.
                self.exact.append(Verdict(step.requirement, Outcome.FAIL, "dialogue", "is not passed on", "is"))
                raise Broken
            self._pass(step.requirement)
            return
        if not self._until(lambda: len(came()) >= step.times, step.within_ms):
            self._skip(step.requirement, *(name for _, name in step.values.values()), reason=step.may)
            raise Broken
        if step.most is not None and len(came()) > step.most:
            expected, actual = {"passed on, at most": step.most}, {"passed on": len(came())}
            self.exact.append(Verdict(step.requirement, Outcome.FAIL, "dialogue", expected, actual))
            raise Broken
        self._field(came()[-1], step.values)
        self._pass(step.requirement)

    def _replies(self, step: Replies) -> None:
        if not self._until(lambda: len(self._places()) >= step.count, step.within_ms + self._patience_ms):
            actual = [list(place) for place in self._places()]
            self._fail(step.requirement, expected={"answers": step.count}, actual=actual)
        self._pass(step.requirement)

    def _unanswered(self, step: Unanswered) -> None:
        link = None
        patience = Patience(self._patience_ms + AT_ONCE_MS)
        while link is None and patience.left > 0:
            began = self.mq.time.monotonic()
            link = self._accept(ACCEPT_MS, mute=True)
            patience.silent(self._since(began))
        if link is None:
            raise Unjudged("it has not connected, so that nothing could be left unanswered")
        patience = Patience(step.within_ms + self._timer(step.timer))
        while link.ended is None and patience.left > 0:
            self._read(link, patience)
        if link.ended is None:
            self._fail(step.requirement, expected="the connection is closed", actual=self._shown(link))
        self._pass(step.requirement)

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
        link = self.links[step.link]
        link.send(transactional_ack("OrderAck", self.ends, self._number(), values), message=True)

    def _resent(self, step: Resent) -> None:
        since, places = len(self.conversation.said), self._places()
        wanted = {places[at - 1] for at in step.places}

        def again() -> set[Place]:
            return {_place(one) for one in self._sent(since)} & set(places)

        within = self._timer(step.timer) + _SLACK_MS + self._patience_ms
        self._until(lambda: again() >= wanted, within)
        if not again() >= wanted:
            self._fail(
                *step.requirements,
                expected={"sent again": [list(one) for one in sorted(wanted)]},
                actual=[list(one) for one in sorted(again())],
            )
        self._pass(*step.requirements)
        self._waited(step, wanted)
        if step.never is None:
            return
        self._until(lambda: again() > wanted, _SLACK_MS)
        if again() > wanted:
            actual = [list(one) for one in sorted(again() - wanted)]
            self._fail(step.never, expected="no message that has its OrderAck", actual=actual)
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
        least_ms = self._timer(step.timer) - _SLACK_MS
        if waited_ms and min(waited_ms) < least_ms:
            actual = {"ms": min(waited_ms)}
            self.exact.append(Verdict(_INTERVAL, Outcome.FAIL, "UserMessage", {"at least, ms": least_ms}, actual))
            raise Broken
        if waited_ms:
            self._pass(_INTERVAL)


def _number(one: Said) -> int:
    return one.number(f"{_TX}TxSequenceNumber") or 0


def _place(one: Said) -> Place:
    stamp, ordinal = (one.number(f"{_TX}TxSequenceID.{half}") or 0 for half in ("TimeStamp", "Ordinal"))
    return stamp, ordinal, _number(one)
