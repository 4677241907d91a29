"""A connection to an LDAP directory: one request, its entries and its result (RFC 4511, RFC 2696).

ldap3 writes and reads the messages; its own connections wait whole seconds for each part of an answer.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

from ldap3 import ANONYMOUS, DEREF_NEVER, MODIFY_REPLACE
from ldap3.operation.add import add_operation
from ldap3.operation.bind import bind_operation
from ldap3.operation.delete import delete_operation
from ldap3.operation.modify import modify_operation
from ldap3.operation.search import search_operation
from ldap3.protocol.convert import build_controls_list
from ldap3.protocol.rfc2696 import paged_search_control
from ldap3.protocol.rfc4511 import LDAPMessage, MessageID, ProtocolOp
from ldap3.strategy.base import BaseStrategy
from ldap3.utils.asn1 import decode_message_fast, encode

from conformance.embedded.directory_client import EXISTS, FAILED, NO_ATTRIBUTE, NO_OBJECT

ONE, LEVEL, SUBTREE = 0, 1, 2
ANY: Final = "(objectClass=*)"
_RESULTS: Final = {16: NO_ATTRIBUTE, 32: NO_OBJECT, 68: EXISTS}  # MS-MQDSSM 2.2.6
_ENTRY, _REFERENCE = 4, 19
_ANSWERS: Final = {"bindRequest": 1, "searchRequest": 5, "modifyRequest": 7, "addRequest": 9, "delRequest": 11}
_PAGE: Final = 500
_PAGED: Final = "1.2.840.113556.1.4.319"
_MOST_BYTES: Final = 1 << 24
_MALFORMED: Final = (LookupError, TypeError, ValueError, RecursionError)


class Refused(Exception):
    """What the directory did not do. result: one of `directory_client.RESULTS`."""

    def __init__(self, result: str) -> None:
        super().__init__(result)
        self.result = result


@dataclass(frozen=True, slots=True)
class Entry:
    """An object: its distinguished name, and the values of attributes by their names in small letters."""

    name: str
    values: Mapping[str, list[bytes]]


class Line:
    """A connection to the directory at `ldap://HOST:PORT`, bound to nobody.

    wait_ms: how long all of its answers may take. Each method raises OSError for a directory that does not answer in
    time, or with anything that is no answer, and Refused.
    """

    def __init__(self, address: str, wait_ms: int) -> None:
        """Connect and bind."""
        host, _, port = address.partition("://")[2].rstrip("/").rpartition(":")
        self._end = time.monotonic() + wait_ms / 1000
        self._number, self._room, self._received = 0, _MOST_BYTES, b""
        try:
            self._socket = socket.create_connection((host.strip("[]"), int(port)), timeout=wait_ms / 1000)
        except (ValueError, OverflowError) as wrong:
            raise OSError(f"{address} is no address") from wrong
        try:
            self._asked("bindRequest", bind_operation(3, ANONYMOUS))
        except Refused as refused:  # a connection that cannot be prepared is none (MS-MQDSSM 3.1.6.12)
            self._socket.close()
            raise OSError("the directory did not let in") from refused
        except OSError:
            self._socket.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._socket.close()

    def search(self, base: str, scope: int, wanted: str, names: Iterable[str]) -> Iterator[Entry]:
        """Return the objects that a filter of RFC 4515 finds, page by page."""
        cookie: bytes | None = b""
        request = search_operation(base, wanted, scope, DEREF_NEVER, list(names), 0, 0, False, False, False)
        while cookie is not None:
            control = None if scope == ONE else [paged_search_control(False, _PAGE, cookie)]
            entries, cookie = self._asked("searchRequest", request, control)
            yield from entries

    def one(self, base: str, scope: int, wanted: str, names: Iterable[str]) -> Entry:
        """Return the first object that a filter finds. Raises Refused(ObjectNotFound)."""
        found = next(self.search(base, scope, wanted, names), None)
        if found is None:
            raise Refused(NO_OBJECT)
        return found

    def add(self, name: str, values: Mapping[str, list[bytes]]) -> None:
        """Create an object."""
        self._asked("addRequest", add_operation(name, values, False))

    def replace(self, name: str, values: Mapping[str, list[bytes]]) -> None:
        """Write attributes of an object; one without values is taken away."""
        changes = {each: [(MODIFY_REPLACE, value)] for each, value in values.items()}
        self._asked("modifyRequest", modify_operation(name, changes, False))

    def delete(self, name: str) -> None:
        """Delete an object."""
        self._asked("delRequest", delete_operation(name))

    def _asked(self, kind: str, operation: Any, controls: Any = None) -> tuple[list[Entry], bytes | None]:
        """Send a request; return its entries, and the cookie of the next page, None for none."""
        self._number += 1
        message = LDAPMessage()
        message["messageID"] = MessageID(self._number)
        message["protocolOp"] = ProtocolOp().setComponentByName(kind, operation)
        if controls:
            message["controls"] = build_controls_list(controls)
        self._socket.sendall(encode(message))
        entries: list[Entry] = []
        try:
            while True:
                answer = decode_message_fast(self._message())
                if answer["messageID"] != self._number:
                    raise OSError("the directory answered another request")
                if answer["protocolOp"] == _ENTRY:
                    entries.append(_entry(answer["payload"]))
                elif answer["protocolOp"] != _REFERENCE:
                    break
            if answer["protocolOp"] != _ANSWERS[kind]:
                raise OSError("the directory did not answer the request")
            result = int(answer["payload"][0][3])
            cookie = _cookie(answer["controls"] or [])
        except _MALFORMED as wrong:
            raise OSError("the directory answered what is no LDAP") from wrong
        if result:
            raise Refused(_RESULTS.get(result, FAILED))
        return entries, cookie

    def _message(self) -> bytes:
        """Return the next message, which begins a sequence."""
        while (size := BaseStrategy.compute_ldap_message_size(self._received)) < 0 or len(self._received) < size:
            if self._received[:1] not in (b"", b"0") or size > self._room:
                raise OSError("the directory answered what is no LDAP, or too much")
            rest = self._end - time.monotonic()
            self._socket.settimeout(max(rest, 0.001))
            chunk = self._socket.recv(1 << 16)
            if not chunk or rest < 0:
                raise OSError("the directory hung up, or was too slow")
            self._received += chunk
        message, self._received = self._received[:size], self._received[size:]
        self._room -= size
        return bytes(message)


def _entry(payload: Any) -> Entry:
    (*_, name), (*_, attributes) = payload
    values = {}
    for *_, ((*_, attribute), (*_, found)) in attributes:
        values[attribute.decode("utf-8").lower()] = [bytes(value) for *_, value in found]
    return Entry(name.decode("utf-8"), values)


def _cookie(controls: Any) -> bytes | None:
    for control in controls:
        kind, told = BaseStrategy.decode_control_fast(control[3])
        if kind == _PAGED:
            return told["value"]["cookie"] or None
    return None
