"""Counts what MSMQ uses beside the ports that are judged, and what is on other ports by its first bytes."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from uuid import UUID

from conformance.capture.network import ACK, SYN, Datagram, Segment

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
_INTERFACES = {
    "fdb3a030-065f-11d1-bb9b-00a024ea5525": "qmcomm (MS-MQMP)",
    "76d12b80-3467-11d3-91ff-0090272f9ea3": "qmcomm2 (MS-MQMP)",
    "1088a980-eae5-11d0-8d9b-00a02453c337": "qm2qm (MS-MQQP)",
    "1a9134dd-7b39-45ba-ad88-44d01ca47f28": "RemoteRead (MS-MQRR)",
    "41208ee0-e970-11d1-9b9e-00e02c064c39": "qmmgmt (MS-MQMR)",
}
SRMP = "SRMP: messages over HTTP (POST of /msmq)"
MAX_BEGUN = 4096  # Requests to connect that are remembered, so that a repeated one is the same connection.
_FIRST_BYTES = 1024


def content(payload: bytes) -> str:
    """Return what MSMQ does in a segment of another port, as its bytes tell; an empty text for anything else."""
    if payload[:5] == b"POST " and b"/msmq" in payload.partition(b"\n")[0][:_FIRST_BYTES].lower():
        return SRMP
    if payload[:2] == b"\5\0" and payload[2:3] in b"\x0b\x0e":  # To bind, or to alter the context.
        for known, name in _INTERFACES.items():
            if UUID(known).bytes_le in payload[:_FIRST_BYTES]:
                return f"RPC of MSMQ by its interface {name}"
    return ""


@dataclass(slots=True)
class Services:
    """Other services by name: connections that begin, records, and the bytes that they carry."""

    counts: dict[str, tuple[int, int, int]] = field(default_factory=dict)
    _begun: OrderedDict[tuple[str, int, str, int], int] = field(default_factory=OrderedDict)

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
        if name := content(found.payload):
            self.add(name, 0, 1, size)

    def add(self, name: str, connections: int, records: int, size: int) -> None:
        """Add to the counts of a name."""
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
