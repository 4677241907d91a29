"""An honest queue manager with a coordinator, and variants that are not, each named after its defect.

Durable is what `state_dir/all.json` holds: recoverable messages, and what prepared transactions hold.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from honest_memory import METHODS, OK, HonestManager

FACETS = {**METHODS, "coordinator": ["enlist", "prepare", "commit", "abort", "in_doubt", "outcome"]}
STOPPED = 0xC00E000B


class Coordinated(HonestManager):
    """Does what the documents say."""

    read_only = False
    timeout_silent = False

    def __init__(self, state_dir: Path) -> None:
        self.enlisted: dict[str, str] = {}  # identifier to handle, of transactions that are not over
        self.prepared: list[str] = []
        self.doubtful: list[str] = []
        self.overdue = False
        super().__init__(state_dir, FACETS)
        self.kept = Path(state_dir) / "all.json"
        if self.kept.exists():
            stored = json.loads(self.kept.read_text())
            self.queues, self.number = stored["queues"], stored["number"]
            self.enlisted, self.transactions = stored["enlisted"], set(stored["enlisted"].values())
            self.prepared, self.doubtful = list(self.enlisted), list(self.enlisted)
            self.recover()

    def recover(self) -> None:
        """Nothing to do: what is stored is what is in doubt."""

    def clear(self) -> None:
        super().clear()
        self.enlisted, self.prepared, self.doubtful, self.overdue = {}, [], [], False

    def lasts(self, m: dict[str, Any]) -> bool:
        return m["tx"] is not None and m["tx"] in [self.enlisted[name] for name in self.prepared]

    def stored(self, m: dict[str, Any]) -> dict[str, Any] | None:
        if self.lasts(m):
            return m
        if m["state"] not in ("ready", "locked") or m["delivery"] != "recoverable":
            return None
        return m | {"state": "ready", "tx": None}

    def keep(self) -> None:
        queues = {
            name: {"tx": queue["tx"], "list": [each for m in queue["list"] if (each := self.stored(m)) is not None]}
            for name, queue in self.queues.items()
        }
        enlisted = {name: self.enlisted[name] for name in self.prepared}
        self.write({"queues": queues, "number": self.number, "enlisted": enlisted})

    def do_coordinator_enlist(self, transaction: str) -> dict[str, Any]:
        if transaction not in self.enlisted:
            self.number += 1
            self.enlisted[transaction] = f"t{self.number}"
            self.transactions.add(f"t{self.number}")
        return OK | {"transaction": self.enlisted[transaction]}

    def over(self, identifier: str, how: str) -> None:
        if identifier in self.enlisted:
            handle = self.enlisted[identifier]
            (self.do_transactions_commit if how == "committed" else self.do_transactions_abort)(handle)
            del self.enlisted[identifier]
            for places in (self.prepared, self.doubtful):
                if identifier in places:
                    places.remove(identifier)

    def do_coordinator_prepare(self, identifier: str, single_phase: bool = False) -> dict[str, Any]:
        if identifier not in self.enlisted:
            return OK | {"answer": "aborted"}
        handle = self.enlisted[identifier]
        if self.read_only and not any(m["tx"] == handle for q in self.queues.values() for m in q["list"]):
            self.over(identifier, "committed")
            return OK | {"answer": "read_only"}
        if single_phase:
            self.over(identifier, "committed")
            return OK | {"answer": "committed"}
        if identifier not in self.prepared:
            self.prepared.append(identifier)
        return OK | {"answer": "prepared"}

    def do_coordinator_commit(self, identifier: str) -> dict[str, Any]:
        self.over(identifier, "committed")
        return OK | {"answer": "committed"}

    def do_coordinator_abort(self, identifier: str) -> dict[str, Any]:
        self.over(identifier, "aborted")
        return OK | {"answer": "aborted"}

    def do_coordinator_in_doubt(self) -> dict[str, Any]:
        return {"status": STOPPED} if self.overdue else OK | {"transactions": self.doubtful}

    def do_coordinator_outcome(self, identifier: str, outcome: str) -> dict[str, Any]:
        if outcome == "timeout":
            self.overdue = True
            return OK if self.timeout_silent else {"status": STOPPED}
        if identifier in self.doubtful:
            self.over(identifier, outcome)
        return OK


class ReadOnly(Coordinated):
    """No defect: it takes no part in what has done nothing."""

    read_only = True


class FailsLater(Coordinated):
    """No defect: after a time-out the next call fails."""

    timeout_silent = True


class SaysNoAnswer(Coordinated):
    """No defect: an API that does not show what the coordinator is told."""

    def do_coordinator_prepare(self, identifier: str, single_phase: bool = False) -> dict[str, Any]:
        super().do_coordinator_prepare(identifier, single_phase)
        return OK

    def do_coordinator_commit(self, identifier: str) -> dict[str, Any]:
        super().do_coordinator_commit(identifier)
        return OK


class PrepareCommits(Coordinated):
    def do_coordinator_prepare(self, identifier: str, single_phase: bool = False) -> dict[str, Any]:
        answer = super().do_coordinator_prepare(identifier, single_phase)
        self.over(identifier, "committed")
        return answer


class PrepareNotStored(Coordinated):
    def lasts(self, m: dict[str, Any]) -> bool:
        return False


class PreparedIsAbortedAtStart(Coordinated):
    def recover(self) -> None:
        for identifier in list(self.enlisted):
            self.over(identifier, "aborted")


class PreparedIsCommittedAtStart(Coordinated):
    def recover(self) -> None:
        for identifier in list(self.enlisted):
            self.over(identifier, "committed")


class AsksNobody(Coordinated):
    def do_coordinator_in_doubt(self) -> dict[str, Any]:
        return OK | {"transactions": []}


class AsksForOne(Coordinated):
    def do_coordinator_in_doubt(self) -> dict[str, Any]:
        return OK | {"transactions": self.doubtful[:1]}


class AsksForever(Coordinated):
    def do_coordinator_outcome(self, identifier: str, outcome: str) -> dict[str, Any]:
        before = list(self.doubtful)
        answer = super().do_coordinator_outcome(identifier, outcome)
        self.doubtful = before
        return answer


class EnlistedIsInDoubt(Coordinated):
    def keep(self) -> None:
        self.prepared, before = list(self.enlisted), self.prepared
        super().keep()
        self.prepared = before


class SinglePhaseOnlyPrepares(Coordinated):
    def do_coordinator_prepare(self, identifier: str, single_phase: bool = False) -> dict[str, Any]:
        return super().do_coordinator_prepare(identifier)


class SinglePhaseSaysPrepared(Coordinated):
    def do_coordinator_prepare(self, identifier: str, single_phase: bool = False) -> dict[str, Any]:
        answer = super().do_coordinator_prepare(identifier, single_phase)
        return answer | {"answer": "prepared"} if answer["answer"] == "committed" else answer


class UnknownIsPrepared(Coordinated):
    def do_coordinator_prepare(self, identifier: str, single_phase: bool = False) -> dict[str, Any]:
        super().do_coordinator_prepare(identifier, single_phase)
        return OK | {"answer": "committed" if single_phase else "prepared"}


class CommitIgnored(Coordinated):
    def do_coordinator_commit(self, identifier: str) -> dict[str, Any]:
        return OK | {"answer": "committed"}


class CommitFailsTwice(Coordinated):
    def do_coordinator_commit(self, identifier: str) -> dict[str, Any]:
        known = identifier in self.enlisted
        return super().do_coordinator_commit(identifier) if known else OK | {"answer": "aborted"}


class AbortIgnored(Coordinated):
    def do_coordinator_abort(self, identifier: str) -> dict[str, Any]:
        return OK | {"answer": "aborted"}


class AbortCommits(Coordinated):
    def do_coordinator_abort(self, identifier: str) -> dict[str, Any]:
        self.over(identifier, "committed")
        return OK | {"answer": "aborted"}


class OutcomeCommittedIgnored(Coordinated):
    def over(self, identifier: str, how: str) -> None:
        if identifier in self.doubtful and how == "committed":
            self.doubtful.remove(identifier)
            return
        super().over(identifier, how)


class OutcomeAbortedCommits(Coordinated):
    def do_coordinator_outcome(self, identifier: str, outcome: str) -> dict[str, Any]:
        return super().do_coordinator_outcome(identifier, "timeout" if outcome == "timeout" else "committed")


class TimeoutAborts(Coordinated):
    def do_coordinator_outcome(self, identifier: str, outcome: str) -> dict[str, Any]:
        if outcome == "timeout" and identifier in self.doubtful:
            self.over(identifier, "aborted")
        return super().do_coordinator_outcome(identifier, outcome)


class TimeoutUntold(Coordinated):
    def do_coordinator_outcome(self, identifier: str, outcome: str) -> dict[str, Any]:
        return OK if outcome == "timeout" else super().do_coordinator_outcome(identifier, outcome)


class TimeAborts(Coordinated):
    def do_clock_advance(self, by_ms: int) -> dict[str, Any]:
        for identifier in list(self.doubtful):
            self.over(identifier, "aborted")
        return super().do_clock_advance(by_ms)


class SecondHandleIsAnother(Coordinated):
    def do_coordinator_enlist(self, transaction: str) -> dict[str, Any]:
        if transaction not in self.enlisted:
            return super().do_coordinator_enlist(transaction)
        return self.do_transactions_begin()


class ForeignEndsAll(Coordinated):
    def over(self, identifier: str, how: str) -> None:
        for each in [identifier] if identifier in self.enlisted else list(self.enlisted):
            super().over(each, how)
