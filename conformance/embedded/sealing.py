"""Who sends a message, how it is signed, and how its packet carries that (MS-MQQB 3.1.7.1.4, 3.1.7.1.5)."""

from __future__ import annotations

import base64
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from conformance.embedded import packet_layout as lay
from conformance.embedded.entities import Message, MqError, Queue
from conformance.embedded.security import sid_bytes, sid_text
from conformance.embedded.signing import HASHES, KINDS, PRIVACY, PROVIDERS, SIG30, STRONGEST_HASH, raw_fields
from conformance.spec.constants.hresults import (
    MQ_ERROR_CANNOT_CREATE_HASH_EX,
    MQ_ERROR_ENCRYPTION_PROVIDER_NOT_SUPPORTED,
    MQ_ERROR_MESSAGE_NOT_AUTHENTICATED,
)

if TYPE_CHECKING:
    from conformance.embedded.manager import Manager

Json = Any
MEMBERS: Final = ("hash_algorithm", "encryption_algorithm")
"""Members of a message to be sent that no reader is shown."""


class Sealing:
    """Seals the messages of applications."""

    def __init__(self, manager: Manager) -> None:
        self.manager = manager
        self.made: bytes | None = None  # the last signature

    # At the send.

    def seal(self, message: Message) -> dict[str, Json]:
        """Note who sends; return what the message carries beside its fields, with the `key` that signs it.

        Raises MqError if it cannot be signed, or encrypted by any receiver.
        """
        fields = message.fields
        self.made = None
        sender = self.sender()
        if fields.pop("sender_type", "sid") == "sid" and sender is not None:
            fields["sender"] = sender
        if fields["privacy"] == "none" and fields["authentication"] == "none" and not fields.keys() & MEMBERS:
            return {}
        sealed: dict[str, Json] = {name: fields.pop(name) for name in MEMBERS if name in fields}
        if fields["privacy"] != "none":
            self.check_cipher(PRIVACY[fields["privacy"]], sealed.get("encryption_algorithm"))
        if fields["authentication"] != "none":
            self.authorize(message, sealed)
        if self.manager.sending.accompanying is not None:
            return {"sealed": sealed}
        shown = (("hash_algorithm", "hash"), ("encryption_algorithm", "encryption"))
        return {"sealed": sealed, "object": {name: sealed[given] for given, name in shown if given in sealed}}

    def sender(self) -> str | None:
        """Return the SID of the sender: of who has been attached to an object, or calls; None for one that is none."""
        accompanying = self.manager.sending.accompanying
        given = accompanying and accompanying["sender"]
        if not given:
            return self.manager.security.caller_sid
        try:
            return sid_text(base64.b64decode(given["bytes"]))
        except MqError:
            return None

    def check_cipher(self, level: int, algorithm: int | None) -> None:
        """Refuse an algorithm that the provider for this level of privacy has not."""
        if algorithm is not None and algorithm not in PROVIDERS[level].algorithms:
            raise MqError(MQ_ERROR_ENCRYPTION_PROVIDER_NOT_SUPPORTED)

    def authorize(self, message: Message, sealed: dict[str, Json]) -> None:
        """Find the certificate and the key that sign a message, unless a connector has signed it."""
        accompanying = self.manager.sending.accompanying
        if accompanying and accompanying["signature"]:
            sealed["signature"] = accompanying["signature"]["bytes"]
            return
        if sealed.setdefault("hash_algorithm", self.hash_algorithm()) not in HASHES:
            raise MqError(MQ_ERROR_CANNOT_CREATE_HASH_EX)
        caller = self.manager.security.caller_sid
        users = (message.fields.get("sender", caller), caller)
        pair = self.manager.certificates.for_signing(users, message.fields.get("certificate"))
        message.fields["certificate"], sealed["key"] = pair

    def hash_algorithm(self) -> int:
        """Return the algorithm of signatures for which none is given (MS-MQMQ 2.2.19.3)."""
        return STRONGEST_HASH

    def sign(self, message: Message, queue: Queue) -> None:
        """Sign a copy of a sealed message for one queue. One that travels otherwise than in such packets is left so."""
        sealed = (message.carried or {}).get("sealed")
        if sealed is None or "key" not in sealed:
            return
        sealed = {**sealed}
        message.carried = {**(message.carried or {}), "sealed": sealed}
        key = sealed.pop("key")
        try:
            packet = self.manager.writer.encode(self.manager.outgoing.said(queue, message))
        except MqError:
            return
        signatures = self.manager.signatures
        data = signatures.signed(raw_fields(base64.b64decode(packet)), self.kind(message))
        self.made = signatures.make(data, sealed["hash_algorithm"], message.fields["certificate"], key)
        sealed["signature"] = lay.base64_text(self.made)
        if "object" in message.carried:
            message.carried["object"] = {**message.carried["object"], "signature": {"bytes": sealed["signature"]}}

    def kind(self, message: Message) -> int:
        """Return the kind of signature: that of the level, and 3.0 for a message to several queues."""
        return SIG30 if "destinations" in (message.carried or {}) else KINDS[message.fields["authentication"]]

    def check_queue(self, queue: Queue, message: Message) -> None:
        """Refuse an unsigned message to a local queue that takes authenticated ones alone (MS-MQDMPR 3.1.1.2)."""
        if message.fields["authentication"] == "none" and queue.properties.get("PROPID_Q_AUTHENTICATE"):
            raise MqError(MQ_ERROR_MESSAGE_NOT_AUTHENTICATED)

    # In the packet.

    def dress(self, said: dict[str, Json], message: Message) -> None:
        """Add to a user_message what a sealed message carries. Raises MqError if its body cannot be encrypted."""
        fields, carried = message.fields, message.carried or {}
        if "sender" in fields:
            said |= {"sender_identifier_type": "sid", "sender_identifier": _in_packet(fields["sender"])}
        if fields.get("certificate"):
            said["sender_certificate"] = fields["certificate"]
        sealed = carried.get("sealed", {})
        for name, listed in (
            ("hash_algorithm", lay.HASH_ALGORITHMS), ("encryption_algorithm", lay.ENCRYPTION_ALGORITHMS),
        ):  # fmt: skip
            if sealed.get(name) in listed:
                said[name] = sealed[name]
        if "signature" in sealed:
            said["multiple_destination_signature" if "destinations" in carried else "signature"] = sealed["signature"]
        level = PRIVACY[fields.get("privacy", "none")]
        if level:
            keys = self.manager.directory.encryption_keys(said["destination"])
            cipher = sealed.get("encryption_algorithm", 0)
            said["privacy_level"] = level
            said |= self.manager.encryption.encrypted(base64.b64decode(fields["body"]), level, cipher, keys)


@lru_cache(maxsize=64)
def _in_packet(sid: str) -> str:
    return lay.base64_text(sid_bytes(sid))
