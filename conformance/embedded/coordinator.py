"""The stand-in of the coordinator, which objects and the queue manager ask (MC-MQAC 3.7.4.1.1, 3.8.4.1).

It belongs to the driver: the manager is the only one that is enlisted in its transactions. It lasts as long as the
process.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from conformance.embedded.coordination import ABORTED, PREPARED
from conformance.embedded.entities import MqError, Transaction
from conformance.spec.constants.hresults import (
    MQ_ERROR_DTC_CONNECT,
    MQ_ERROR_TRANSACTION_ENLIST,
    MQ_ERROR_TRANSACTION_IMPORT,
)

if TYPE_CHECKING:
    from conformance.embedded.manager import Manager

Json = Any
E_FAIL: Final = 0x80004005
XACT_E_NOTRANSACTION: Final = 0x8004D00E
XACT_E_ABORTED: Final = 0x8004D019
REQUESTS: Final = ("begin", "commit", "abort", "info", "import", "enlist", "connect")
"""Kinds that can be refused; the last stands for all of them."""
_REFUSALS: Final = {"import": MQ_ERROR_TRANSACTION_IMPORT, "enlist": MQ_ERROR_TRANSACTION_ENLIST}
INFORMATION: Final = {"isolation_level": 0x00100000, "isolation_flags": 0x4, "supported": 0x2}
RESERVED: Final = (0x10, 0x20, 0x40)
"""Members of its answer about a transaction; the last three numbers are those that XACTTRANSINFO reserves (2.2.3.2)."""


class Coordinator:
    """Begins and ends transactions, and tells of them. context: the one that a caller of objects is in."""

    def __init__(self, manager: Manager) -> None:
        self.manager = manager
        self.forget()

    def forget(self) -> None:
        """Be as at the start."""
        self.context: str | None = None
        self._ended: set[str] = set()
        self._refused: set[str] = set()
        self._requests: list[dict[str, Json]] = []

    def enter(self, identifier: str | None) -> None:
        """Say in which transaction objects are called from now on."""
        self.context = None if identifier is None else identifier.lower()

    def refuse(self, what: str, refused: bool) -> None:
        """Refuse requests of a kind from now on, or all of them (`connect`); or take them again."""
        (self._refused.add if refused else self._refused.discard)(what)

    def requests(self) -> list[dict[str, Json]]:
        """Return what was asked for and not refused since the last such call."""
        asked, self._requests = self._requests, []
        return asked

    def lives(self, identifier: str) -> None:
        """Note that a transaction has not ended, whatever was said of its identifier before."""
        self._ended.discard(identifier.lower())

    def ended(self, identifier: str, answer: str) -> None:
        """Note what the manager has answered to a decision. A transaction that is prepared goes on."""
        if answer != PREPARED:
            self._ended.add(identifier.lower())

    # What it is asked for. Raises MqError for a request that it refuses.

    def begin(self) -> str:
        """Begin a transaction. Returns its identifier."""
        return self.asked("begin", self.manager.new_identifier())

    def commit(self, transaction: Transaction) -> None:
        """Make the manager prepare and commit. Raises MqError if it does not prepare."""
        identifier = self.asked("commit", str(transaction.identifier))
        answer = self.manager.coordination.prepare(identifier, single_phase=False)
        self._ended.add(identifier)
        if answer == PREPARED:
            answer = self.manager.coordination.commit(identifier)
        if answer == ABORTED:
            raise MqError(XACT_E_ABORTED)

    def abort(self, transaction: Transaction) -> None:
        """Make the manager abort."""
        identifier = self.asked("abort", str(transaction.identifier))
        self._ended.add(identifier)
        self.manager.coordination.abort(identifier)

    def information(self, transaction: Transaction) -> tuple[int, ...]:
        """Return the members of XACTTRANSINFO behind its identifier."""
        self.asked("info", str(transaction.identifier))
        self._requests[-1]["information"] = dict(INFORMATION)
        return (*INFORMATION.values(), *RESERVED)

    def take_part(self, identifier: str) -> None:
        """Let the manager take part in a transaction that it does not know (MS-MQMP 3.1.4.13)."""
        self.asked("import", identifier)
        self.asked("enlist", identifier)

    def asked(self, what: str, identifier: str) -> str:
        """Take a request about a transaction. Returns its identifier."""
        if "connect" in self._refused:
            raise MqError(MQ_ERROR_DTC_CONNECT)
        if what in self._refused:
            raise MqError(_REFUSALS.get(what, E_FAIL))
        if identifier in self._ended:
            raise MqError(_REFUSALS.get(what, XACT_E_NOTRANSACTION))
        self._requests.append({"what": what, "identifier": identifier})
        return identifier
