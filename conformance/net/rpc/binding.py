"""Connections to an interface over DCE/RPC (MS-RPCE), carried by scapy, bounded in time and octets."""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeVar

from conformance.files import UnfitError, text_of
from conformance.net.rpc.ndr import MAX_BYTES, NdrError, Reader, Writer
from conformance.spec.rpc_interfaces import Interface

_T = TypeVar("_T")
_HEADER: Final = 16
_REACH_S: Final = 5.0
_MAX_CONNECTIONS: Final = 64
MAPPER_PORT: Final = 135
USER, PASSWORD, PASSWORD_FILE = "MQCONFORM_RPC_USER", "MQCONFORM_RPC_PASSWORD", "MQCONFORM_RPC_PASSWORD_FILE"
"""Variables: the user of calls, and the password or a file that has it."""
_MOST_PASSWORD: Final = 4_096


class RpcError(Exception):
    """A call was not answered; the message is a sentence."""


class FaultError(RpcError):
    """The server has refused a call with a status: one of DCE/RPC, or an HRESULT where its method throws one."""

    def __init__(self, status: int) -> None:
        super().__init__(f"The call was refused with the fault {status:#010x}.")
        self.status = status


class RefusedError(RpcError):
    """The server does not take the interface, or not this user."""


class TimeError(RpcError):
    """Nothing came in time."""


@dataclass(frozen=True, slots=True)
class User:
    """Who calls. name: `user`, or `DOMAIN\\user`. Its password is never shown."""

    name: str
    password: str = field(repr=False)

    @classmethod
    def of_environment(cls, environment: Mapping[str, str] = os.environ) -> User | None:
        """Read the user that `--rpc-user` names, and the password. Raises RefusedError when there is none."""
        name, password, path = (environment.get(each) for each in (USER, PASSWORD, PASSWORD_FILE))
        if not name:
            return None
        if password is None and path:
            try:
                password = text_of(Path(path), _MOST_PASSWORD).rstrip("\r\n")
            except (OSError, UnfitError) as error:
                raise RefusedError(f"The file that {PASSWORD_FILE} names cannot be read ({error}).") from None
        if password is None:
            raise RefusedError(f"{name} has no password here: set {PASSWORD}, or {PASSWORD_FILE} to its file.")
        return cls(name, password)


class _Stream:
    """The socket of scapy's client: PDUs, with at most so many octets and seconds an answer."""

    def __init__(self, connection: socket.socket, user: Any, group: int) -> None:
        from scapy.layers.dcerpc import DCE_C_AUTHN_LEVEL, DceRpcSession

        level = DCE_C_AUTHN_LEVEL.PKT_PRIVACY if user is not None else DCE_C_AUTHN_LEVEL.NONE
        self.session = DceRpcSession(ssp=user, auth_level=level)
        self.connection = connection
        self.group = group
        self.last: Any = None
        self.until = time.monotonic() + _REACH_S

    def send(self, pdu: Any, **_: Any) -> None:
        """Send a PDU, in fragments where it is long. A bind names the association group, which scapy leaves out."""
        from scapy.layers.dcerpc import DceRpc5Bind

        if DceRpc5Bind in pdu:
            pdu[DceRpc5Bind].assoc_group_id = self.group
        for one in self.session.out_pkt(pdu):
            self.connection.settimeout(max(0.001, self.until - time.monotonic()))
            self.connection.sendall(bytes(one))

    def sr1(self, pdu: Any, **_: Any) -> Any:
        """Send a PDU, and return the answer with its call identifier, put together."""
        self.send(pdu)
        octets = 0
        self.session.frags.clear()
        while True:
            raw = self._pdu()
            octets += len(raw)
            if octets > MAX_BYTES:
                raise NdrError(f"an answer has more than {MAX_BYTES >> 20} MiB")
            self.last = self._parsed(raw, pdu.call_id)
            if self.last is not None:
                return self.last

    def _parsed(self, raw: bytes, call: int) -> Any:
        from scapy.layers.dcerpc import DceRpc5

        try:
            one = DceRpc5(raw)
            if one.call_id != call:
                return None  # The answer to a call that was given up.
            return self.session.in_pkt(one)
        except Exception as error:  # scapy raises whatever a damaged PDU makes it raise
            raise NdrError(f"a PDU of {len(raw)} octets cannot be read ({type(error).__name__})") from error

    def _pdu(self) -> bytes:
        head = self._read(_HEADER)
        if head[0] != 5:
            raise NdrError(f"what came is no PDU of DCE/RPC: {head.hex(' ')}")
        size = int.from_bytes(head[8:10], "little" if head[4] >> 4 else "big")
        if size < _HEADER:
            raise NdrError(f"a PDU names a size of {size} octets")
        return head + self._read(size - _HEADER)

    def _read(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            self.connection.settimeout(max(0.001, self.until - time.monotonic()))
            part = self.connection.recv(size - len(data))
            if not part:
                raise RpcError("The server has closed the connection.")
            data += part
        return bytes(data)


@cache
def _registered(interface: Interface) -> Any:
    """Return scapy's name of an interface; its calls are read here, not by scapy."""
    from scapy.layers.dcerpc import DCE_RPC_INTERFACES, DceRpcInterface

    logging.getLogger("scapy.runtime").setLevel(logging.CRITICAL)
    key = interface.identifier, interface.version
    made = DceRpcInterface(interface.name, interface.identifier, (interface.version, 0), interface.version, {})
    return DCE_RPC_INTERFACES.setdefault(key, made)


def _ssp(user: User | None) -> Any:
    if user is None:
        return None
    from scapy.layers.ntlm import NTLMSSP

    return NTLMSSP(UPN=user.name, PASSWORD=user.password)


@dataclass(slots=True)
class Association:
    """Calls of one interface of a host. Context handles are valid on all of its connections (C706 12.6).

    A call takes a connection that is free, or makes one; so a call that waits keeps no other one from its turn.
    """

    host: str
    port: int
    interface: Interface
    user: User | None = None
    source: str | None = None
    _idle: list[Any] = field(default_factory=list)
    _every: list[Any] = field(default_factory=list)
    _group: int = 0
    _open: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def call(self, opnum: int, body: bytes, within_s: float = 10.0) -> bytes:
        """Return the octets of an answer. Raises RpcError, and NdrError for an answer that cannot be read."""
        client = self._take(within_s)
        try:
            answer = self._ask(client, opnum, body, within_s)
        except FaultError:
            self._give(client)
            raise
        except BaseException:
            self._drop(client)
            raise
        self._give(client)
        return answer

    def connect(self) -> None:
        """Look that the host takes the interface. Raises RpcError."""
        self._give(self._take(_REACH_S))

    def close(self) -> None:
        """Close the connections, also where a call waits, which fails; the server then runs down its contexts."""
        with self._lock:
            idle, self._idle = self._idle, []
            every, self._every = self._every, []
        for client in every:
            with suppress(OSError):
                client.sock.connection.shutdown(socket.SHUT_RDWR)
        for client in idle:
            self._drop(client)
        self._group = 0

    def _ask(self, client: Any, opnum: int, body: bytes, within_s: float) -> bytes:
        from scapy.layers.dcerpc import DceRpc5Fault, DceRpc5Request, DceRpc5Response
        from scapy.packet import Raw

        stream = client.sock
        stream.until = time.monotonic() + within_s
        request = DceRpc5Request(cont_id=stream.session.cont_id, opnum=opnum, alloc_hint=len(body)) / Raw(body)
        answer = _guarded(lambda: client.sr1(request))
        if DceRpc5Fault in answer:
            raise FaultError(answer[DceRpc5Fault].status)
        if DceRpc5Response not in answer:
            raise NdrError("the answer to a call is neither a response nor a fault")
        return bytes(answer[DceRpc5Response].payload)

    def _take(self, within_s: float) -> Any:
        with self._lock:
            if self._idle:
                return self._idle.pop()
            if self._open >= _MAX_CONNECTIONS:
                raise RpcError(f"{_MAX_CONNECTIONS} calls wait at once, which is the most.")
            self._open += 1
        try:
            return self._connect(min(within_s, _REACH_S))
        except BaseException:
            self._open -= 1
            raise

    def _connect(self, within_s: float) -> Any:
        place = (self.host, self.port)
        client = _bound(place, _registered(self.interface), within_s, self.user, self.source, self._group)
        client.session.rpc_bind_interface = None  # The octets of answers are left to `ndr`.
        self._group = client.session.assoc_group_id
        with self._lock:
            self._every.append(client)
        return client

    def _give(self, client: Any) -> None:
        with self._lock:
            self._idle.append(client)

    def _drop(self, client: Any) -> None:
        with suppress(OSError):
            client.sock.connection.close()
        with self._lock:
            self._open -= 1
            if client in self._every:
                self._every.remove(client)


def asked(
    association: Any,
    interface: Interface,
    method: str,
    body: Writer,
    read: Callable[[Reader], _T],
    within_s: float = 10.0,
) -> _T:
    """Call a method, and return what is read of its answer. association: has `call`. Raises what that raises, and
    NdrError for what is left over."""
    reader = Reader(association.call(interface.opnum(method), body.octets(), within_s))
    found = read(reader)
    reader.end()
    return found


def endpoint(host: str, interface: Interface, mapper: int = MAPPER_PORT) -> int:
    """Ask the endpoint mapper of a host for the TCP port of an interface. Raises RpcError, also where it has none."""
    import scapy.layers.msrpce.ept  # noqa: F401  registers `ept`
    from scapy.layers.dcerpc import find_dcerpc_interface

    client = _bound((host, mapper), find_dcerpc_interface("ept"), _REACH_S)
    try:
        found = _guarded(lambda: client.epm_map(_registered(interface)))
    except NdrError:
        raise RefusedError(f"The endpoint mapper of {host} has no {interface.name}.") from None
    finally:
        client.sock.connection.close()
    return int(found[0][1])


def _bound(
    place: tuple[str, int],
    interface: Any,
    within_s: float,
    user: User | None = None,
    source: str | None = None,
    group: int = 0,
) -> Any:
    """Connect and bind. interface: as scapy has it. group: of the association, 0 for a new one. Raises RpcError."""
    from scapy.layers.dcerpc import DCE_C_AUTHN_LEVEL, DceRpc5Fault, DCERPC_Transport
    from scapy.layers.msrpce.rpcclient import DCERPC_Client

    ssp = _ssp(user)
    level = DCE_C_AUTHN_LEVEL.PKT_PRIVACY if ssp is not None else DCE_C_AUTHN_LEVEL.NONE
    client = DCERPC_Client(DCERPC_Transport.NCACN_IP_TCP, ndr64=False, verb=False, ssp=ssp, auth_level=level)
    client.host, client.port = place
    ours = (source, 0) if source is not None else None
    try:
        connection = socket.create_connection(place, within_s, ours)
    except OSError as error:
        raise RpcError(f"Nothing takes calls at {place[0]}:{place[1]} ({error.strerror or error}).") from None
    client.sock = _Stream(connection, ssp, group)
    client.sock.until = time.monotonic() + within_s
    try:
        if _guarded(lambda: client.bind(interface)):
            return client
        last = client.sock.last
        status = last[DceRpc5Fault].status if last is not None and DceRpc5Fault in last else None
        why = "" if status is None else f": it answers with the fault {status:#010x}"
        raise RefusedError(f"{place[0]}:{place[1]} does not take {interface.name}{why}.")
    except BaseException:
        connection.close()
        raise


def _guarded(work: Callable[[], _T]) -> _T:
    """Do something with a connection; what the system or scapy raises becomes one of this module's errors."""
    try:
        return work()
    except TimeoutError:
        raise TimeError("No answer came in time.") from None
    except OSError as error:
        raise RpcError(f"The connection failed: {error.strerror or error}.") from None
    except (RpcError, NdrError):
        raise
    except Exception as error:  # scapy raises whatever a damaged PDU makes it raise
        raise NdrError(f"a PDU cannot be read ({type(error).__name__}: {str(error)[:80]})") from error
