"""The RPC planes of a queue manager: its interfaces, and the parts they are made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.embedded.rpc.association import Groups, Interface, Line, Link
from conformance.embedded.rpc.endpoint_mapper import EndpointMapper
from conformance.embedded.rpc.management import QueueManagement
from conformance.embedded.rpc.ndr import CallStructures
from conformance.embedded.rpc.ntlm import Account, Handshake
from conformance.embedded.rpc.packets import MessagePackets
from conformance.embedded.rpc.pdus import Syntax, Verifier
from conformance.embedded.rpc.protection import CONNECT, PRIVACY, WINNT, Protection
from conformance.embedded.rpc.qm2qm import Opened, Qm2Qm, QmComm
from conformance.embedded.rpc.remote_read import RemoteRead

if TYPE_CHECKING:
    from conformance.embedded.manager import Manager

_EPOCH_MS = 11_644_473_600_000  # from 1601, where FILETIME begins, to 1970
CLEANUP_MS = 300_000  # of a receive that is not ended (MS-MQRR note 11)


@dataclass(slots=True)
class RpcParts:
    """The classes that planes are made of. A fault replaces some of them with subclasses."""

    line: type[Line] = Line
    groups: type[Groups] = Groups
    structures: type[CallStructures] = CallStructures
    packets: type[MessagePackets] = MessagePackets
    remote_read: type[RemoteRead] = RemoteRead
    queue_management: type[QueueManagement] = QueueManagement
    qm2qm: type[Qm2Qm] = Qm2Qm
    qmcomm: type[QmComm] = QmComm
    mapper: type[EndpointMapper] = EndpointMapper


@dataclass(slots=True)
class RpcSettings:
    """How the planes are. cleanup_ms: after which a receive that is not ended is undone.

    account: who alone may call, with packet privacy; None for anybody.
    """

    cleanup_ms: int = CLEANUP_MS
    account: Account | None = None


class Planes:
    """The interfaces of one queue manager. port: the TCP port they are at."""

    def __init__(self, manager: Manager, parts: RpcParts, settings: RpcSettings | None = None) -> None:
        self.manager = manager
        self.parts = parts
        self.settings = settings or RpcSettings()
        self.port = 0
        self.groups = parts.groups()
        self.structures = parts.structures(manager.names)
        self.opened = Opened()
        self.packets = parts.packets(manager)
        kinds = (parts.remote_read, parts.queue_management, parts.qm2qm, parts.qmcomm, parts.mapper)
        self.interfaces: list[Interface] = [each(self) for each in kinds]

    @property
    def account(self) -> Account | None:
        return self.settings.account

    def protection(self, asked: Verifier) -> Protection | None:
        """Return the authentication that a bind asks for; None if it is not offered."""
        if self.account is None or asked.kind != WINNT or not CONNECT <= asked.level <= PRIVACY:
            return None
        stamp = (self.manager.clock.now_ms() + _EPOCH_MS) * 10_000
        return Protection(Handshake(self.account, self.manager.computer, stamp), asked)

    def accepted(self, link: Link) -> Line:
        """Return the line of a connection."""
        return self.parts.line(self, link)

    def interface(self, syntax: Syntax) -> Interface | None:
        """Return the interface of an abstract syntax."""
        return next((each for each in self.interfaces if each.syntax == syntax), None)
