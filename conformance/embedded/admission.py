"""Decide if a message that arrives may be put into its queue (MS-MQQB 3.1.5.8.3, MS-MQDMPR 3.1.1.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from conformance.embedded import packet_layout as lay
from conformance.embedded.entities import Queue
from conformance.embedded.packet_reading import sender_of
from conformance.embedded.security import ANONYMOUS, EVERYONE, WRITE_MESSAGE
from conformance.embedded.signing import SIG10, SIG20, SIG30, raw_fields
from conformance.spec.constants.hresults import (
    MQ_ERROR_ACCESS_DENIED,
    MQ_ERROR_CORRUPTED_SECURITY_DATA,
    MQ_ERROR_FAIL_VERIFY_SIGNATURE_EX,
    MQ_ERROR_MESSAGE_NOT_AUTHENTICATED,
)

if TYPE_CHECKING:
    from conformance.embedded.manager import Manager

Json = Any
NACK_ACCESS_DENIED, NACK_BAD_SIGNATURE, NACK_BAD_ENCRYPTION = 0x8004, 0x8006, 0x8007
PRIVACY_NONE, PRIVACY_BODY = 0, 2  # PROPID_Q_PRIV_LEVEL (MS-MQMQ 2.3.1.10)
_AUTHENTICATED: Final = {level: word for level, word in lay.AUTHENTICATION_LEVELS.items() if level}


@dataclass(slots=True)
class Coming:
    """A message that arrives. read: its user_message. clear: its decrypted body. level: of its signature."""

    packet: bytes
    read: dict[str, Json]
    queue: Queue
    clear: bytes | None = None
    level: int = 0

    @property
    def secured(self) -> bool:
        """True if there is a SecurityHeader."""
        return "sender_identifier_type" in self.read

    @property
    def signed(self) -> bool:
        """True if there is a signature."""
        return "signature" in self.read or "multiple_destination_signature" in self.read

    @property
    def sender(self) -> str | None:
        """The SID of its sender, None without one."""
        return sender_of(self.read)


class Admission:
    """The checks of a message that arrives."""

    def __init__(self, manager: Manager) -> None:
        self.manager = manager

    def refusal(self, packet: bytes, read: dict[str, Json], queue: Queue) -> tuple[int, int] | None:
        """Return the class of the acknowledgment and the status of a message that is not taken; None if it is welcome.

        Changes `read` to what its queue gets: a body in the clear, and `authentication_level` as it was verified.
        """
        coming = Coming(packet, read, queue)
        if self.encrypted(coming):
            coming.clear = self.manager.encryption.decrypted(read)
        checks = (
            (NACK_BAD_SIGNATURE, MQ_ERROR_FAIL_VERIFY_SIGNATURE_EX, self.known_privacy),
            (NACK_BAD_SIGNATURE, MQ_ERROR_FAIL_VERIFY_SIGNATURE_EX, self.authentic),
            (NACK_BAD_SIGNATURE, MQ_ERROR_FAIL_VERIFY_SIGNATURE_EX, self.identified),
            (NACK_BAD_ENCRYPTION, MQ_ERROR_CORRUPTED_SECURITY_DATA, self.readable),
            (NACK_ACCESS_DENIED, MQ_ERROR_ACCESS_DENIED, self.allowed),
            (NACK_BAD_SIGNATURE, MQ_ERROR_MESSAGE_NOT_AUTHENTICATED, self.authenticated_enough),
            (NACK_BAD_ENCRYPTION, MQ_ERROR_CORRUPTED_SECURITY_DATA, self.private_enough),
        )
        for kind, status, holds in checks:
            if not holds(coming):
                return kind, status
        self.admit(coming)
        return None

    def admit(self, coming: Coming) -> None:
        """Note what was found out about a message."""
        coming.read["authentication_level"] = _AUTHENTICATED.get(coming.level, "none")
        if coming.clear is not None:
            coming.read["body"] = lay.base64_text(coming.clear)

    def known_privacy(self, coming: Coming) -> bool:
        """Return true for a privacy level of the table of MS-MQMQ 2.2.19.3, or one that only decryption looks at."""
        return coming.read["privacy_level"] in lay.PRIVACY_LEVELS or self.encrypted(coming)

    def authentic(self, coming: Coming) -> bool:
        """Return true for a message whose signature is that of its certificate, or that has none; note the level."""
        if not coming.secured or not coming.signed:
            return True
        raw = raw_fields(coming.packet)
        if coming.clear is not None:
            raw["body"] = coming.clear
        signature = raw["signature"] or raw["multiple_signature"]
        certificate, algorithm = coming.read.get("sender_certificate", ""), coming.read["hash_algorithm"]
        signatures = self.manager.signatures
        for level in self.levels(raw):
            if signatures.matches(signatures.signed(raw, level), algorithm, certificate, signature):
                coming.level = level
                return True
        return False

    def levels(self, raw: dict[str, bytes]) -> tuple[int, ...]:
        """Return the kinds of signature to try, in this order."""
        return (SIG20, SIG10, SIG30) if raw["signature"] else (SIG30,)

    def identified(self, coming: Coming) -> bool:
        """Return true unless a message is signed with a certificate that is not registered for its sender."""
        if not coming.signed or coming.sender is None:
            return True
        return coming.read.get("sender_certificate") in self.manager.certificates.registered(coming.sender)

    def readable(self, coming: Coming) -> bool:
        """Return true for a message whose body could be decrypted, or is not encrypted."""
        return coming.clear is not None or not self.encrypted(coming)

    def encrypted(self, coming: Coming) -> bool:
        """Return true if SecurityHeader.Flags.EB is set."""
        return bool(coming.read.get("encrypted"))

    def allowed(self, coming: Coming) -> bool:
        """Return true if the sender may send to the queue; asked of messages with a SecurityHeader alone."""
        if not coming.secured:
            return True
        security = self.manager.security
        sender = coming.sender
        if sender is None:
            sender = EVERYONE if coming.read["sender_identifier_type"] == "queue_manager" else ANONYMOUS
        elif not security.knows(sender):
            return False
        return security.allows(security.of_queue(coming.queue), security.user(sender), WRITE_MESSAGE)

    def authenticated_enough(self, coming: Coming) -> bool:
        """Return true unless the queue takes authenticated messages alone (MS-MQDMPR 3.1.1.2)."""
        return bool(coming.level) or not coming.queue.properties.get("PROPID_Q_AUTHENTICATE")

    def private_enough(self, coming: Coming) -> bool:
        """Return true unless the queue takes encrypted bodies alone, or none (MS-MQDMPR 3.1.1.2)."""
        wanted = coming.queue.properties.get("PROPID_Q_PRIV_LEVEL")
        return wanted != (PRIVACY_NONE if self.encrypted(coming) else PRIVACY_BODY)
