"""Authentication of connections and protection of their PDUs (MS-RPCE 2.2.2.11, 3.3.1.5.2), by NTLM."""

from __future__ import annotations

import hmac
from dataclasses import replace

from conformance.embedded.rpc import pdus
from conformance.embedded.rpc.ndr import Damaged
from conformance.embedded.rpc.ntlm import Handshake
from conformance.embedded.rpc.pdus import Request, Verifier

WINNT = 10  # RPC_C_AUTHN_WINNT
CONNECT, PACKET, PRIVACY = 2, 4, 6  # levels: once, each packet signed from here on, and sealed
SIGNATURE_SIZE = 16
PADDED_TO = 16
OVERHEAD = pdus.TRAILER_SIZE + SIGNATURE_SIZE + PADDED_TO


class Protection:
    """The authentication of one connection. level: 0 until it has succeeded. refused: it has failed."""

    def __init__(self, handshake: Handshake, asked: Verifier) -> None:
        self._handshake = handshake
        self._asked = replace(asked, padding=0, value=b"")
        self._whole = True  # the signature covers the head of a PDU too
        self.level = 0
        self.refused = False

    def challenge(self, token: bytes) -> bytes | None:
        """Return the verifier of a bind_ack; None for a token that asks for nothing."""
        challenge = self._handshake.challenge(token)
        return None if challenge is None else self._asked.head() + challenge

    def authenticate(self, token: bytes) -> None:
        """Take the last message of the client."""
        if not self.refused and not self.level and self._handshake.authenticate(token):
            self.level = self._asked.level
        else:
            self.level, self.refused = 0, True

    def unprotect(self, data: bytes, request: Request) -> bytes:
        """Return the stub of a fragment. Raises Damaged if its signature is none of this client."""
        found, direction = request.verifier, self._handshake.client
        if self.level < PACKET and found is None:
            return request.stub
        if found is None or direction is None or (found.kind, found.level, found.context) != self._same():
            raise Damaged(pdus.ACCESS_DENIED)
        end = len(data) - pdus.TRAILER_SIZE - len(found.value)
        stub = data[request.at : end]
        if self.level == PRIVACY:
            stub = direction.crypt(stub)
        plain = data[: request.at] + stub + data[end : end + pdus.TRAILER_SIZE]
        matches = [hmac.compare_digest(each, found.value) for each in direction.signatures(plain, stub)]
        if not any(matches) or found.padding > len(stub):
            raise Damaged(pdus.ACCESS_DENIED)
        self._whole = matches[0]
        return stub[: len(stub) - found.padding]

    def protect(self, kind: int, call: int, body: bytes, flags: int) -> bytes:
        """Return a response; its stub is behind 8 bytes of the body."""
        direction = self._handshake.server
        if self.level < PACKET or direction is None:
            return pdus.pdu(kind, call, body, flags)
        padding = -(len(body) - 8) % PADDED_TO
        head = replace(self._asked, padding=padding).head()
        plain = pdus.pdu(kind, call, body + bytes(padding), flags, head + bytes(SIGNATURE_SIZE))[:-SIGNATURE_SIZE]
        stub = plain[pdus.RESPONSE_HEAD : -pdus.TRAILER_SIZE]
        sealed = direction.crypt(stub) if self.level == PRIVACY else stub
        signature = direction.signatures(plain if self._whole else stub)[0]
        return plain[: pdus.RESPONSE_HEAD] + sealed + head + signature

    def _same(self) -> tuple[int, int, int]:
        return self._asked.kind, self._asked.level, self._asked.context
