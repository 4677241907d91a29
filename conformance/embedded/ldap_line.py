"""A connection to an LDAP directory: a request, its entries and its result (RFC 4511, RFC 2696, MS-MQDSSM 2.2.6).

ldap3 writes and reads the messages; its own connections wait whole seconds for each part of an answer.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from ldap3 import ANONYMOUS, DEREF_NEVER
from ldap3.operation.bind import bind_operation
from ldap3.operation.search import search_operation
from ldap3.protocol.convert import build_controls_list
from ldap3.protocol.rfc2696 import paged_search_control
from ldap3.protocol.rfc4511 import LDAPMessage, MessageID, ProtocolOp
from ldap3.strategy.base import BaseStrategy
from ldap3.utils.asn1 import decode_message_fast, encode

from conformance.embedded.directory_client import EXISTS, FAILED, NO_ATTRIBUTE, NO_OBJECT

ONE, SUBTREE = 0, 2
_CONTEXTS: Final = ("rootDomainNamingContext", "configurationNamingContext")
_RESULTS: Final = {16: NO_ATTRIBUTE, 68: EXISTS}
_ENTRY, _REFERENCE = 4, 19
_ANSWERS: Final = {"bindRequest": 1, "searchRequest": 5, "modifyRequest": 7, "addRequest": 9, "delRequest": 11}
_PAGE: Final = 500
_PAGED: Final = "1.2.840.113556.1.4.319"
_MOST_BYTES: Final = 1 << 24


class Refused(Exception):
    """A refusal of the directory. Its text is one of `directory_client.RESULTS`."""


class NoObject(Refused):
    """There is no such object."""


Entry = tuple[str, Mapping[str, list[bytes]]]
"""The distinguished name of an object, and the values of its attributes by their names in small letters."""


class Line:
    """A connection to the directory at `ldap://HOST:PORT`, bound to nobody. wait_ms: how long all answers may take.

    Each method raises OSError for a directory that does not answer in time, or with anything that is no answer.
    """

    def __init__(self, address: str, wait_ms: int) -> None:
        host, _, port = address.partition("://")[2].rstrip("/").rpartition(":")
        self._end = time.monotonic() + wait_ms / 1000
        self._number, self._room, self._received = 0, _MOST_BYTES, b""
        try:
            self._socket = socket.create_connection((host.strip("[]"), int(port)), timeout=wait_ms / 1000)
        except (ValueError, OverflowError) as wrong:
            raise OSError(f"{address} is no address") from wrong

    def close(self) -> None:
        """Hang up."""
        self._socket.close()

    def begin(self, known: tuple[str, str] | None) -> tuple[str, str]:
        """Bind, and return the naming contexts of objects and of the configuration (MS-MQDSSM 3.1.6.12)."""
        try:
            self.ask("bindRequest", bind_operation(3, ANONYMOUS))
            values = {} if known else self.one("", _CONTEXTS)[1]
            root, configuration = known or (values[each.lower()][0].decode("utf-8") for each in _CONTEXTS)
        except (Refused, LookupError, ValueError) as wrong:
            raise OSError("the directory does not let in, or names no contexts") from wrong
        return root, configuration

    def search(self, base: str, scope: int, wanted: str, names: Iterable[str]) -> Iterator[Entry]:
        """Return the objects that a filter of RFC 4515 finds, page by page. Raises Refused."""
        cookie: bytes | None = b""
        request = search_operation(base, wanted, scope, DEREF_NEVER, list(names), 0, 0, False, False, False)
        while cookie is not None:
            control = None if scope == ONE else [paged_search_control(False, _PAGE, cookie)]
            entries, cookie = self.ask("searchRequest", request, control)
            yield from entries

    def one(self, base: str, names: Iterable[str], wanted: str = "(objectClass=*)", scope: int = ONE) -> Entry:
        """Return the object of a name, or the first that a filter finds below it. Raises NoObject."""
        for found in self.search(base, scope, wanted, names):
            return found
        raise NoObject(NO_OBJECT)

    def ask(self, kind: str, operation: Any, controls: Any = None) -> tuple[list[Entry], bytes | None]:
        """Send an operation of ldap3; return its entries, and the cookie of the next page. Raises Refused."""
        self._number += 1
        message = LDAPMessage()
        message["messageID"] = MessageID(self._number)
        message["protocolOp"] = ProtocolOp().setComponentByName(kind, operation)
        if controls:
            message["controls"] = build_controls_list(controls)
        self._socket.sendall(encode(message))
        try:
            entries = []
            while (answer := decode_message_fast(self._message()))["protocolOp"] in (_ENTRY, _REFERENCE):
                if answer["protocolOp"] == _ENTRY:
                    entries.append(_entry(answer["payload"]))
            if (answer["messageID"], answer["protocolOp"]) != (self._number, _ANSWERS[kind]):
                raise OSError("the directory answered another request")
            result, cookie = int(answer["payload"][0][3]), _cookie(answer["controls"] or [])
        except (LookupError, TypeError, ValueError, RecursionError) as wrong:
            raise OSError("the directory answered what is no LDAP") from wrong
        if result:
            raise NoObject(NO_OBJECT) if result == 32 else Refused(_RESULTS.get(result, FAILED))
        return entries, cookie

    def _message(self) -> bytes:
        while (size := BaseStrategy.compute_ldap_message_size(self._received)) < 0 or len(self._received) < size:
            rest = self._end - time.monotonic()
            if self._received[:1] not in (b"", b"0") or size > self._room or rest < 0:
                raise OSError("the directory answered what is no LDAP, too much, or too slowly")
            self._socket.settimeout(max(rest, 0.001))
            if not (chunk := self._socket.recv(1 << 16)):
                raise OSError("the directory hung up")
            self._received += chunk
        message, self._received = self._received[:size], self._received[size:]
        self._room -= size
        return message


def _entry(payload: Any) -> Entry:
    (*_, name), (*_, attributes) = payload
    pairs = ((attribute, found) for *_, ((*_, attribute), (*_, found)) in attributes)
    return name.decode(), {each.decode().lower(): [value for *_, value in found] for each, found in pairs}


def _cookie(controls: Any) -> bytes | None:
    known = dict(BaseStrategy.decode_control_fast(control[3]) for control in controls)
    return known[_PAGED]["value"]["cookie"] or None if _PAGED in known else None
