"""Counts what MSMQ uses beside the ports that are judged, and what is on other ports by its first bytes."""

from __future__ import annotations

import re
import struct
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TypeVar
from uuid import UUID

from conformance.capture.network import ACK, SYN, Datagram, Segment
from conformance.spec.rpc_interfaces import INTERFACES, WITHOUT_STATUS

_K = TypeVar("_K")
_T = TypeVar("_T")
_NO_MSMQ = "which MSMQ does not use itself"
_RPC = {
    2101: "RPC of MSMQ: directory service of MSMQ servers",
    2103: "RPC of MSMQ: clients (qmcomm, qmcomm2) and reading from remote queues (RemoteRead)",
    2105: "RPC of MSMQ: reading from remote queues of MSMQ 1.0 and 2.0 (qm2qm)",
}
TCP_PORTS: dict[int, str] = {
    80: "HTTP, also for messages in SRMP (POST of /msmq)",
    443: "HTTPS, also for messages in SRMP, encrypted",
    88: "Kerberos, which authenticates directory requests and RPC",
    135: "RPC endpoint mapper, which tells the ports of MSMQ's RPC",
    389: "LDAP: the directory, which has public queues and queue managers",
    636: "LDAP over TLS: the directory",
    3268: "global catalog: the directory of the whole forest",
    3269: "global catalog over TLS",
    445: f"SMB, {_NO_MSMQ}",
    5445: f"SMB over RDMA, {_NO_MSMQ}",
    2107: "RPC of MSMQ: management",
    **_RPC,
    **{port + 11: f"{use}; the choice after {port}" for port, use in _RPC.items()},
}
"""TCP ports, and what MSMQ uses each for; the compiled walk counts by the order of these."""
UDP_PORTS = {88: TCP_PORTS[88], 389: TCP_PORTS[389], 1801: "discovery of directory servers, MS-MQSD"}
_INTERFACES = {each.identifier: f"{name} ({each.document})" for name, each in INTERFACES.items()}
_METHODS = {_INTERFACES[each.identifier]: each.methods for each in INTERFACES.values()}
SRMP = "SRMP: messages over HTTP (POST of /msmq)"
MAX_BEGUN = 4096  # Requests to connect that are remembered, so that a repeated one is the same connection.
MAX_NAMES = 512
"""Names that are counted; what comes behind them is counted by the first word of its kind."""
_FIRST_BYTES = 1024
_REQUEST, _RESPONSE, _FAULT, _BIND, _ALTER = 0, 2, 3, 11, 14
_WHOLE = 3  # PFC_FIRST_FRAG and PFC_LAST_FRAG: the PDU is all of its call (C706 12.6.3.1).
_MAX_CALLS = 64  # Of one connection, and contexts of it.
_HOST = re.compile(rb"\r\nhost: *([!-~]{1,120})", re.IGNORECASE)
_ID = re.compile(rb"<(?:\w{1,20}:)?id>([!-;=-~]{1,120})</")


def content(payload: bytes) -> str:
    """Return what MSMQ does in a segment of another port, as its bytes tell; an empty text for anything else."""
    if payload[:5] == b"POST " and b"/msmq" in payload.partition(b"\n")[0][:_FIRST_BYTES].lower():
        return f"{SRMP}{_addressed(payload)}"
    if payload[:2] == b"\5\0" and payload[2:3] in b"\x0b\x0e":  # To bind, or to alter the context.
        for known, name in _INTERFACES.items():
            if known.bytes_le in payload[:_FIRST_BYTES]:
                return f"RPC of MSMQ by its interface {name}"
    return ""


def _addressed(payload: bytes) -> str:
    """Return the host and queue of a message in SRMP, and its identifier, as far as the segment has them."""
    host, identifier = _HOST.search(payload[:_FIRST_BYTES]), _ID.search(payload)
    if host is None:
        return ""
    path = payload[5:].partition(b" ")[0][:_FIRST_BYTES]
    words = [f", to {host[1].decode('ascii')}{_plain(path)}"]
    return "".join(words + ([f", message {identifier[1].decode('ascii')}"] if identifier is not None else []))


def _plain(data: bytes) -> str:
    return "".join(chr(octet) if 0x20 < octet < 0x7F else "?" for octet in data)


@dataclass(slots=True)
class _Calls:
    """Calls on one connection. interfaces: by presentation context. open: interface and method by call."""

    interfaces: OrderedDict[int, str] = field(default_factory=OrderedDict)
    open: OrderedDict[int, tuple[str, str]] = field(default_factory=OrderedDict)

    def see(self, pdu: bytes, *, asked: bool) -> str:
        """Return what a PDU says of a call, as it came in one segment; an empty text for anything else."""
        order = "<" if pdu[4] & 0xF0 else ">"
        kind, flags, auth, call = pdu[2], pdu[3], *struct.unpack_from(f"{order}HI", pdu, 10)
        if kind in (_BIND, _ALTER) and asked:
            self._bind(pdu, order)
        elif kind == _REQUEST and asked and len(pdu) >= 24:
            context, opnum = struct.unpack_from(f"{order}HH", pdu, 20)
            interface = self.interfaces.get(context)
            if interface is not None and flags & 1:
                method = _METHODS.get(interface, {}).get(opnum, f"opnum {opnum}")
                _keep(self.open, call, (interface, method))
                return f"RPC of MSMQ, {interface}: {method} called"
        elif kind in (_RESPONSE, _FAULT) and not asked and (found := self.open.pop(call, None)) is not None:
            return f"RPC of MSMQ, {found[0]}: {found[1]} {_outcome(pdu, order, found[1], auth)}"
        return ""

    def _bind(self, pdu: bytes, order: str) -> None:
        """Note the interfaces of the presentation contexts (C706 12.6.4.3)."""
        at = 28
        for _ in range(min(pdu[24] if len(pdu) > 24 else 0, _MAX_CALLS)):
            if at + 24 > len(pdu):
                return
            context, syntaxes = struct.unpack_from(f"{order}HB", pdu, at)
            raw = pdu[at + 4 : at + 20]
            name = _INTERFACES.get(UUID(bytes_le=raw) if order == "<" else UUID(bytes=raw))
            if name is not None:
                _keep(self.interfaces, context, name)
            at += 24 + 20 * syntaxes


def _keep(table: OrderedDict[_K, _T], key: _K, value: _T, most: int = _MAX_CALLS) -> None:
    table[key] = value
    if len(table) > most:
        table.popitem(last=False)


def _outcome(pdu: bytes, order: str, method: str, auth: int) -> str:
    """Return how a call ended. The status of a method is the last of its parameters."""
    if pdu[2] == _FAULT:
        return (
            f"refused with the fault {struct.unpack_from(f'{order}I', pdu, 24)[0]:#010x}"
            if len(pdu) >= 28
            else "refused"
        )
    size = struct.unpack_from(f"{order}H", pdu, 8)[0]
    if auth or pdu[3] & _WHOLE != _WHOLE or len(pdu) != size or size < 28 or method in WITHOUT_STATUS:
        return "answered"
    return f"returned {struct.unpack_from(f'{order}I', pdu, size - 4)[0]:#010x}"


@dataclass(slots=True)
class Services:
    """Other services by name: connections that begin, records, and the bytes that they carry."""

    counts: dict[str, tuple[int, int, int]] = field(default_factory=dict)
    _begun: OrderedDict[tuple[str, int, str, int], int] = field(default_factory=OrderedDict)
    _calls: OrderedDict[tuple[str, int, str, int], _Calls] = field(default_factory=OrderedDict)

    def see(self, found: Segment | Datagram) -> None:
        """Count a record of another port."""
        ports = found.destination[1], found.source[1]
        size = len(found.payload) + found.lost
        if isinstance(found, Datagram):
            port = next((one for one in ports if one in UDP_PORTS), None)
            if port is not None:
                self.add(f"UDP port {port} ({UDP_PORTS[port]})", 0, 1, size)
            return
        port = next((one for one in ports if one in TCP_PORTS), None)
        if port is not None:
            self.add(tcp_name(port), self._begins(found), 1, size)
        if name := self._called(found) or content(found.payload):
            self.add(name, 0, 1, size)

    def _called(self, found: Segment) -> str:
        """Return what a segment says of a call, where its connection was bound to an interface of MSMQ."""
        payload = found.payload
        if payload[:2] != b"\5\0" or len(payload) < 16:
            return ""
        there, back = (*found.source, *found.destination), (*found.destination, *found.source)
        if payload[2] in (_BIND, _ALTER) and there not in self._calls and content(payload):
            _keep(self._calls, there, _Calls(), MAX_BEGUN)
        if there in self._calls:
            return self._calls[there].see(payload, asked=True)
        return self._calls[back].see(payload, asked=False) if back in self._calls else ""

    def add(self, name: str, connections: int, records: int, size: int) -> None:
        """Add to the counts of a name."""
        if name not in self.counts and len(self.counts) >= MAX_NAMES:
            name = name.partition(",")[0]
        before = self.counts.get(name, (0, 0, 0))
        self.counts[name] = before[0] + connections, before[1] + records, before[2] + size

    @property
    def all(self) -> tuple[tuple[str, int, int, int], ...]:
        """The counts, by name."""
        return tuple((name, *counts) for name, counts in sorted(self.counts.items()))

    def _begins(self, found: Segment) -> bool:
        """Return True for the first SYN of a connection."""
        if not found.flags & SYN or found.flags & ACK:
            return False
        key = (*found.source, *found.destination)
        again = self._begun.pop(key, None) == found.sequence
        self._begun[key] = found.sequence
        if len(self._begun) > MAX_BEGUN:
            self._begun.popitem(last=False)
        return not again


def tcp_name(port: int) -> str:
    """Return the name that a TCP port is counted by."""
    return f"TCP port {port} ({TCP_PORTS[port]})"
