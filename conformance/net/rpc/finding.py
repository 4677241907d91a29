"""Looks for the interfaces of a host."""

from __future__ import annotations

from typing import Final, NamedTuple
from uuid import uuid4

from conformance.net.rpc.binding import Association, FaultError, RefusedError, RpcError, User, endpoint
from conformance.net.rpc.management import MACHINE, Managed, Management
from conformance.net.rpc.plane import LENT, PATH_NAMES, Plane
from conformance.net.rpc.remote_read import RECEIVE_ACCESS, RemoteRead
from conformance.net.rpc.sending import Sender
from conformance.spec.rpc_interfaces import MANAGEMENT, REMOTE_READ, Interface


class Found(NamedTuple):
    """Where a host has its interfaces. management: None without that. computer: the name it has for itself."""

    read: int
    management: int | None
    computer: str


_FOUND: Final[dict[tuple[str, int | None, User | None, tuple[str, ...]], Found]] = {}
"""Hosts that were found before: drivers beside the first one connect when they are called."""


def found_plane(host: str, port: int | None, sender: Sender, queues: tuple[str, ...], source: str) -> Plane:
    """Look for the interfaces of a host, and return its plane. Raises RpcError where remote read is not there.

    port: of its calls, where the owner has named it. queues: names of the declared queues; those that begin with LENT
    are lent. source: our address.
    """
    user = User.of_environment()
    lent = tuple(queue for queue in queues if queue.startswith(LENT))
    key = host, port, user, lent
    if key not in _FOUND:
        _FOUND[key] = _found(host, port, lent, user, source)
    found = _FOUND[key]
    read = RemoteRead(Association(host, found.read, REMOTE_READ, user, source), uuid4())
    management = None
    if found.management is not None:
        management = Management(Association(host, found.management, MANAGEMENT, user, source))
    return Plane(read, management, port, sender, found.computer, lent)


def _found(host: str, port: int | None, lent: tuple[str, ...], user: User | None, source: str) -> Found:
    read = RemoteRead(_association(host, port, REMOTE_READ, user, source), uuid4())
    try:
        read.server_port()
        _look_at_rights(read, lent, host)
        management, paths = _managed_by(host, port, user, source)
    finally:
        read.association.close()
    return Found(read.association.port, management, paths[0].partition("\\")[0] if paths else host)


def _managed_by(host: str, port: int | None, user: User | None, source: str) -> tuple[int | None, list[str]]:
    """Return the port of management, None where there is none, and the path names of private queues."""
    try:
        association = _association(host, port, MANAGEMENT, user, source)
        status, values = Management(association).get_info(Managed(MACHINE), [PATH_NAMES])
        association.close()
    except RpcError:
        return None, []
    return association.port, [] if status else [str(path) for path in values[0].get("value", ())]


def _look_at_rights(read: RemoteRead, queues: tuple[str, ...], host: str) -> None:
    """Open a queue that is lent, and close it. Raises RefusedError where the host does not let this user."""
    for queue in queues[:1]:
        name = f"DIRECT=TCP:{host}\\private$\\{queue}"
        try:
            read.close_queue(read.open_queue(name, RECEIVE_ACCESS))
        except FaultError as fault:
            who = "nobody in particular" if read.association.user is None else read.association.user.name
            raise RefusedError(
                f"{host} lets {who} not read {queue} (fault {fault.status:#010x}): name a user with --rpc-user, and"
                " give it the right to receive."
            ) from None


def _association(host: str, port: int | None, interface: Interface, user: User | None, source: str) -> Association:
    return Association(host, endpoint(host, interface) if port is None else port, interface, user, source)
