"""Faults of transactions that a coordinator ends (MS-MQDMPR 3.1.3, 3.1.4.6 to 3.1.4.11)."""

from __future__ import annotations

from functools import partial

from conformance.embedded.coordination import ABORTED, COMMITTED, PREPARED, Coordination
from conformance.embedded.entities import MqError, Operation, Reason, State
from conformance.embedded.faults.base import also, fault
from conformance.spec.constants.hresults import MQ_ERROR_TRANSACTION_ENLIST

_MANAGER, _COLLECTION = "MQDMPR-3.1.3.resource-manager", "MQDMPR-3.1.1.1.transaction-collection"
_MINUTE_MS = 60_000


@fault("prepare-keeps-nothing", Coordination.keep, _COLLECTION, _MANAGER)
def prepare_keeps_nothing(plain, self, transaction):
    """A prepared transaction of a coordinator is aborted by a restart."""


@fault("prepare-keeps-no-sends", Coordination.keep, _COLLECTION, "MQDMPR-3.1.4.9.commits", _MANAGER)
def prepare_keeps_no_sends(plain, self, transaction):
    """After a restart, a prepared transaction has only what it received and moved."""
    every = transaction.steps
    transaction.steps = [step for step in every if step.operation is not Operation.ENQUEUE]
    plain(transaction)
    transaction.steps = every


@fault("doubt-ends-with-a-second-start", Coordination.awaits, _COLLECTION, _MANAGER)
def doubt_ends_with_a_second_start(plain, self):
    """A transaction that is in doubt after one start is aborted by the next."""
    plain()
    for identifier in self.in_doubt():
        self.manager.store.drop_prepared(identifier)


@fault("start-commits-what-was-prepared", Coordination.recovered, _MANAGER, "MQDMPR-3.1.4.10.aborts")
def start_commits_what_was_prepared(plain, self):
    """A start commits prepared transactions without asking the coordinator."""
    plain()
    for identifier in self.in_doubt():
        self.commit(identifier)


@fault("start-asks-nobody", Coordination.in_doubt, _MANAGER)
def start_asks_nobody(plain, self):
    """After a start, the coordinator is not asked for the outcome of prepared transactions."""
    return []


@fault("doubt-ends-after-a-minute", Coordination.recovered, _MANAGER, "MQDMPR-3.1.4.9.commits")
def doubt_ends_after_a_minute(plain, self):
    """A transaction in doubt is aborted a minute after the start."""
    plain()
    for identifier in self.in_doubt():
        self.manager.clock.at(self.manager.clock.now_ms() + _MINUTE_MS, partial(self.abort, identifier))


def _released(self, position, *operations):
    """Make a message available that a transaction in doubt holds by one of these operations."""
    found = self._stored.get(position.row)
    if found is not None and Operation(found[2].operation) in operations:
        position.state, position.uncommitted = State.AVAILABLE, False


@fault(
    "doubtful-receives-are-there",
    Coordination.holds,
    _MANAGER,
    "MQDMPR-3.1.3.reenlist-commit",
    first_seen_as=("MQDMPR-3.1.1.1.transaction-collection",),
    because="What a prepared transaction holds after a start shows whether it was kept.",
)
def doubtful_receives_are_there(plain, self, position, *, purged):
    """After a start, others can read what a transaction in doubt has received or moved."""
    held = plain(position, purged=purged)
    _released(self, position, Operation.DEQUEUE, Operation.MOVE)
    return held


@fault(
    "doubtful-sends-are-there",
    Coordination.holds,
    _MANAGER,
    "MQDMPR-3.1.3.reenlist-commit",
    first_seen_as=("MQDMPR-3.1.1.1.transaction-collection",),
    because="What a prepared transaction holds after a start shows whether it was kept.",
)
def doubtful_sends_are_there(plain, self, position, *, purged):
    """After a start, others can read what a transaction in doubt has sent."""
    held = plain(position, purged=purged)
    _released(self, position, Operation.ENQUEUE)
    return held


@fault(
    "doubt-forgets-a-purge",
    Coordination.holds,
    "MQDMPR-3.1.1.11.recoverable-persistent",
    "MQDMPR-3.1.4.5.purged-receive",
)
def doubt_forgets_a_purge(plain, self, position, *, purged):
    """A message received in doubt comes back after an abort, though its queue was purged before the restart."""
    return plain(position, purged=False)


@fault(
    "doubtful-moves-stay",
    Coordination.recovered,
    "MQDMPR-3.1.4.9.commits",
    "MQDMPR-3.1.3.reenlist-commit",
    first_seen_as=("MQDMPR-3.1.4.4.move",),
    because="A commit is the same act whoever asks for it.",
)
def doubtful_moves_stay(plain, self):
    """A move that is committed after a restart leaves the message where it was."""
    plain()
    for transaction in self._known.values():
        for step in transaction.steps:
            step.target = None


@fault("reenlisted-commit-aborts", Coordination.outcome, "MQDMPR-3.1.4.9.commits", "MQDMPR-3.1.3.reenlist-commit")
def reenlisted_commit_aborts(plain, self, identifier, outcome):
    """A transaction in doubt that the coordinator has committed is aborted."""
    plain(identifier, ABORTED if outcome == COMMITTED else outcome)


@fault("reenlisted-abort-commits", Coordination.outcome, "MQDMPR-3.1.4.10.aborts", "MQDMPR-3.1.3.reenlist-abort")
def reenlisted_abort_commits(plain, self, identifier, outcome):
    """A transaction in doubt that the coordinator has aborted is committed."""
    plain(identifier, COMMITTED if outcome == ABORTED else outcome)


@fault(
    "outcome-ends-every-doubt",
    Coordination.outcome,
    "MQDMPR-3.1.3.reenlist-commit",
    "MQDMPR-3.1.3.reenlist-abort",
    _MANAGER,
)
def outcome_ends_every_doubt(plain, self, identifier, outcome):
    """The outcome of one transaction in doubt is taken for that of all."""
    for doubtful in self.in_doubt() if identifier.lower() in self.in_doubt() else [identifier]:
        plain(doubtful, outcome)


@fault(
    "outcome-without-an-answer-aborts",
    Coordination.outcome,
    "MQDMPR-3.1.4.11.initialization-stopped",
    "MQDMPR-3.1.3.reenlist-timeout",
)
def outcome_without_an_answer_aborts(plain, self, identifier, outcome):
    """A coordinator that does not answer in time makes the manager abort the transaction."""
    if outcome == "timeout":
        self.abort(identifier)
    plain(identifier, outcome)


@fault("outcome-without-an-answer-is-no-error", Coordination.outcome, "MQDMPR-3.1.4.11.error-reported")
def outcome_without_an_answer_is_no_error(plain, self, identifier, outcome):
    """A coordinator that does not answer in time is reported to nobody."""
    if outcome != "timeout":
        plain(identifier, outcome)


@fault(
    "single-phase-prepares-alone",
    Coordination.prepare,
    "MQDMPR-3.1.4.6.single-phase-commits",
    first_seen_as=("MQDMPR-3.1.4.6.two-phase-only",),
    because="The answer says that it is prepared, which only one of two phases is.",
)
def single_phase_prepares_alone(plain, self, identifier, *, single_phase):
    """A prepare in a single phase does not commit."""
    return plain(identifier, single_phase=False)


@fault(
    "prepare-commits-at-once", Coordination.prepare, "MQDMPR-3.1.4.6.two-phase-only",
    "MQDMPR-3.1.4.6.prepared-reported", "MQDMPR-3.1.4.6.prepares",
)  # fmt: skip
def prepare_commits_at_once(plain, self, identifier, *, single_phase):
    """A prepare in two phases commits."""
    return plain(identifier, single_phase=True)


@fault(
    "prepare-tells-an-abort", Coordination.prepare, "MQDMPR-3.1.4.6.prepare-done-sent",
    "MQDMPR-3.1.4.6.prepared-reported",
)  # fmt: skip
def prepare_tells_an_abort(plain, self, identifier, *, single_phase):
    """A prepare that has succeeded is reported to the coordinator as an abort."""
    answer = plain(identifier, single_phase=single_phase)
    return ABORTED if answer == PREPARED else answer


@fault(
    "prepare-of-nothing-succeeds", Coordination.prepare, "MQDMPR-3.1.4.6.failed-prepare-aborts",
    "MQDMPR-3.1.4.6.failed-prepare-raises-abort",
)  # fmt: skip
def prepare_of_nothing_succeeds(plain, self, identifier, *, single_phase):
    """A prepare of a transaction that is not here, or has ended, is reported as done."""
    known = identifier.lower() in self._known
    return plain(identifier, single_phase=single_phase) if known else PREPARED


@fault(
    "prepare-ends-the-work",
    Coordination.prepare,
    "MQDMPR-3.1.4.6.prepares",
    "MQDMPR-3.1.4.6.two-phase-only",
    first_seen_as=("MQDMPR-3.1.7.1.9.uncommitted-locked",),
    because="The message is seen before its transaction has ended.",
)
def prepare_ends_the_work(plain, self, identifier, *, single_phase):
    """A prepare makes the messages that were sent visible, before the coordinator decides."""
    answer = plain(identifier, single_phase=single_phase)
    found = self._known.get(identifier.lower())
    for step in found.steps if found is not None else ():
        if step.operation is Operation.ENQUEUE:
            step.position.uncommitted = False
            self.manager.delivery.make_available(step.position)
    return answer


@fault("coordinator-commit-does-nothing", Coordination.commit, "MQDMPR-3.1.4.7.commits")
def coordinator_commit_does_nothing(plain, self, identifier):
    """A commit of the coordinator is answered and not done."""
    return COMMITTED


@fault("coordinator-commit-loses-receives", Coordination.commit, "MQDMPR-3.1.4.7.commits")
def coordinator_commit_loses_receives(plain, self, identifier):
    """A commit of the coordinator brings back what its transaction received."""
    found = self._known.get(identifier.lower())
    if found is not None:
        back = [step for step in found.steps if step.operation is Operation.DEQUEUE]
        found.steps = [step for step in found.steps if step not in back]
        for step in back:
            self.manager.delivery.make_available(step.position)
    return plain(identifier)


@fault("coordinator-commit-tells-an-abort", Coordination.commit, "MQDMPR-3.1.4.7.commit-reported")
def coordinator_commit_tells_an_abort(plain, self, identifier):
    """A commit of the coordinator is done and reported as an abort."""
    plain(identifier)
    return ABORTED


@fault("second-commit-tells-an-abort", Coordination.commit, "MQDMPR-3.1.4.7.commit-reported")
def second_commit_tells_an_abort(plain, self, identifier):
    """A commit that the coordinator repeats is reported as an abort."""
    known = identifier.lower() in self._known
    answer = plain(identifier)
    return answer if known else ABORTED


@fault("coordinator-abort-does-nothing", Coordination.abort, "MQDMPR-3.1.4.8.aborts")
def coordinator_abort_does_nothing(plain, self, identifier):
    """An abort of the coordinator is answered and not done."""
    return ABORTED


@fault(
    "coordinator-abort-deletes-receives", Coordination.abort, "MQDMPR-3.1.4.8.aborts",
    "MQDMPR-3.1.4.5.receives-return",
)  # fmt: skip
def coordinator_abort_deletes_receives(plain, self, identifier):
    """An abort of the coordinator deletes what its transaction received."""
    found = self._known.get(identifier.lower())
    if found is not None:
        for step in found.steps:
            if step.operation is Operation.DEQUEUE:
                self.manager.delivery.delete(step.position, Reason.RECEIVED)
    return plain(identifier)


@fault("coordinator-abort-tells-a-commit", Coordination.abort, "MQDMPR-3.1.4.8.abort-reported")
def coordinator_abort_tells_a_commit(plain, self, identifier):
    """An abort of the coordinator is done and reported as a commit."""
    plain(identifier)
    return COMMITTED


@fault("abort-of-prepared-commits", Coordination.abort, "MQDMPR-3.1.4.8.aborts")
def abort_of_prepared_commits(plain, self, identifier):
    """An abort of a transaction that is prepared commits it."""
    found = self._known.get(identifier.lower())
    if found is None or not found.prepared:
        return plain(identifier)
    self.commit(identifier)
    return ABORTED


@fault("commit-of-ended-does-it-again", Coordination.forget_one, "MQDMPR-3.1.1.14.in-order", "MQDMPR-3.1.4.7.commits")
def commit_of_ended_does_it_again(plain, self, transaction):
    """A coordinator's second commit deletes the first message of each queue that the transaction sent to."""
    queues = [step.position.queue for step in transaction.steps if step.operation is Operation.ENQUEUE]
    self.__dict__.setdefault("_ended", {})[transaction.identifier] = queues
    plain(transaction)


@also("commit-of-ended-does-it-again", Coordination.commit)
def _commits_again(plain, self, identifier):
    queues = (
        self.__dict__.get("_ended", {}).get(identifier.lower(), ()) if identifier.lower() not in self._known else ()
    )
    for queue in queues:
        first = queue.positions.first_available()
        if first is not None:
            self.manager.delivery.remove(first)
    return plain(identifier)


@fault("start-asks-for-another", Coordination.in_doubt, _MANAGER)
def start_asks_for_another(plain, self):
    """After a start, the coordinator is asked for another identifier than it gave."""
    return [f"{'0' if identifier[0] != '0' else '1'}{identifier[1:]}" for identifier in plain()]


# Enlistment (MS-MQMP 3.1.4.13).

_KNOWN, _CREATED, _ENLISTED = (f"MQMP-3.1.4.13.{word}" for word in ("known", "created", "enlisted"))


@fault("second-enlistment-is-refused", Coordination.enlist, _KNOWN)
def second_enlistment_is_refused(plain, self, identifier):
    """Enlisting in a transaction in which the manager takes part already fails."""
    if identifier.lower() in self._known:
        raise MqError(MQ_ERROR_TRANSACTION_ENLIST)
    return plain(identifier)


@fault("enlists-in-one-at-a-time", Coordination.enlist, _CREATED)
def enlists_in_one_at_a_time(plain, self, identifier):
    """A manager that takes part in a transaction is not taken into another."""
    if self._known and identifier.lower() not in self._known:
        raise MqError(MQ_ERROR_TRANSACTION_ENLIST)
    return plain(identifier)


@fault("enlistment-finds-what-is-over", Coordination.enlist, _CREATED)
def enlistment_finds_what_is_over(plain, self, identifier):
    """Enlisting under the identifier of a transaction that has ended gives that transaction."""
    ended = self.__dict__.setdefault("_over", {})
    name = identifier.lower()
    if name in ended and name not in self._known:
        return ended[name]
    ended[name] = plain(identifier)
    return ended[name]


@fault(
    "enlistment-tells-no-coordinator", Coordination.prepare, _ENLISTED, "MQDMPR-3.1.4.6.prepares",
    "MQDMPR-3.1.4.6.prepared-reported",
)  # fmt: skip
def enlistment_tells_no_coordinator(plain, self, identifier, *, single_phase):
    """A coordinator that wants to prepare does not find the manager in its transaction, which is aborted."""
    return self.abort(identifier)


# Two kinds of work in one transaction.


def _steps(self, identifier, *operations):
    """Return what a transaction has done by each of these operations; nothing unless it has done all of them."""
    found = self._known.get(identifier.lower())
    every = [
        [step for step in (found.steps if found is not None else ()) if step.operation is each] for each in operations
    ]
    return every if all(every) else [[] for _ in every]


@fault("commit-of-two-queues-sends-to-one", Coordination.commit, "MQDMPR-3.1.4.7.commits")
def commit_of_two_queues_sends_to_one(plain, self, identifier):
    """A commit sends only to the first of the queues that its transaction sends to."""
    [sends] = _steps(self, identifier, Operation.ENQUEUE)
    for step in sends:
        if step.position.queue is not sends[0].position.queue:
            self.manager.delivery.remove(step.position)
    return plain(identifier)


def _brought_back(self, identifier, steps):
    """Make messages available that a transaction holds, and forget that it does."""
    found = self._known.get(identifier.lower())
    for step in steps:
        found.steps.remove(step)
        self.manager.delivery.make_available(step.position)


@fault("commit-of-two-queues-receives-from-one", Coordination.commit, "MQDMPR-3.1.4.7.commits")
def commit_of_two_queues_receives_from_one(plain, self, identifier):
    """A commit brings back what its transaction received from other queues than the first."""
    [receives] = _steps(self, identifier, Operation.DEQUEUE)
    _brought_back(self, identifier, [one for one in receives if one.position.queue is not receives[0].position.queue])
    return plain(identifier)


@fault("commit-beside-a-receive-loses-what-can-expire", Coordination.commit, "MQDMPR-3.1.4.7.commits")
def commit_beside_a_receive_loses_what_can_expire(plain, self, identifier):
    """A commit with a receive loses what its transaction sent with a time to be received."""
    sends, _ = _steps(self, identifier, Operation.ENQUEUE, Operation.DEQUEUE)
    for step in sends:
        if step.position.message.expires_ms is not None:
            self.manager.delivery.remove(step.position)
    return plain(identifier)


@fault("abort-beside-a-receive-moves", Coordination.abort, "MQDMPR-3.1.4.8.aborts", "MQDMPR-3.1.4.5.move")
def abort_beside_a_receive_moves(plain, self, identifier):
    """An abort of a transaction that has received does what it moved into subqueues."""
    moves, _ = _steps(self, identifier, Operation.MOVE, Operation.DEQUEUE)
    for step in moves:
        if step.target.parent is not None:
            self.manager.transactions.relocate(step.position, step.target)
    return plain(identifier)


@fault(
    "single-phase-undoes-moves-from-subqueues", Coordination.prepare, "MQDMPR-3.1.4.6.single-phase-commits",
    first_seen_as=("MQDMPR-3.1.4.4.move",), because="A commit is the same act whoever asks for it.",
)  # fmt: skip
def single_phase_undoes_moves_from_subqueues(plain, self, identifier, *, single_phase):
    """A prepare in a single phase leaves what its transaction moved out of a subqueue."""
    [moves] = _steps(self, identifier, Operation.MOVE)
    if single_phase:
        _brought_back(self, identifier, [one for one in moves if one.position.queue.parent is not None])
    return plain(identifier, single_phase=single_phase)


def _in_doubt(self, identifier):
    return identifier.lower() in self.in_doubt()


@fault("prepare-in-doubt-aborts", Coordination.prepare, "MQDMPR-3.1.4.6.prepared-reported")
def prepare_in_doubt_aborts(plain, self, identifier, *, single_phase):
    """A request to prepare what is in doubt already aborts it."""
    return self.abort(identifier) if _in_doubt(self, identifier) else plain(identifier, single_phase=single_phase)


@fault(
    "enlisting-in-doubt-begins-anew", Coordination.enlist, "MQMP-3.1.4.13.known",
    first_seen_as=("MQDMPR-3.1.3.resource-manager",), because="The list of what is in doubt lacks the transaction.",
)  # fmt: skip
def enlisting_in_doubt_begins_anew(plain, self, identifier):
    """Whoever enlists in a transaction in doubt aborts it and begins another one."""
    if _in_doubt(self, identifier):
        self.abort(identifier)
    return plain(identifier)


@fault("receive-in-doubt-is-not-acknowledged", Coordination.commit, "MQDMPR-3.1.1.12.ack-pos-receive")
def receive_in_doubt_is_not_acknowledged(plain, self, identifier):
    """A message received in a transaction in doubt is not acknowledged when that commits."""
    if _in_doubt(self, identifier):
        for step in self._known[identifier.lower()].steps:
            step.position.message.fields["acknowledgements"] = []
    return plain(identifier)


@fault("prepare-keeps-no-sends-elsewhere", Coordination.keep, _COLLECTION, "MQDMPR-3.1.4.9.commits")
def prepare_keeps_no_sends_elsewhere(plain, self, transaction):
    """After a restart, a prepared transaction lacks what it sent to other computers."""
    every = transaction.steps
    transaction.steps = [step for step in every if step.position.queue.kind != "outgoing"]
    plain(transaction)
    transaction.steps = every
