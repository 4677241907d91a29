"""The security of a received message, as far as it can be checked without a directory (MS-MQQB 3.1.5.8.3).

No certificate and no account is known, and nobody has this queue manager's public key: a signature never belongs to a
known sender, and an encrypted body cannot be decrypted.
"""

from __future__ import annotations

from typing import Any

from conformance.embedded import packet_layout as lay
from conformance.embedded.entities import Queue
from conformance.embedded.network import layout as net

Json = Any
PRIVACY_BODY = 2  # PROPID_Q_PRIV_LEVEL of a queue that takes encrypted bodies alone (MS-MQMQ 2.3.1.10)


class Security:
    """Tells why a message is rejected.

    denied: the queues, by `private$\\name` in lower case, that nobody may send to.
    """

    def __init__(self, denied: frozenset[str]) -> None:
        self.denied = denied

    def refusal(self, read: dict[str, Json], queue: Queue) -> int | None:
        """Return the class of the negative acknowledgment for a message; None if it is welcome."""
        checks = (
            (net.NACK_BAD_SIGNATURE, self.known_privacy(read) and self.authentic(read)),
            (net.NACK_BAD_ENCRYPTION, self.readable(read)),
            (net.NACK_ACCESS_DENIED, self.allowed(read, queue)),
            (net.NACK_BAD_SIGNATURE, self.authenticated_enough(read, queue)),
            (net.NACK_BAD_ENCRYPTION, self.private_enough(read, queue)),
        )
        return next((reason for reason, holds in checks if not holds), None)

    def known_privacy(self, read: dict[str, Json]) -> bool:
        """Return true for a privacy level of the table of MS-MQMQ 2.2.19.3, or one that only decryption looks at."""
        return read["privacy_level"] in lay.PRIVACY_LEVELS or self.encrypted(read)

    def authentic(self, read: dict[str, Json]) -> bool:
        """Return true for a message whose signature is that of its sender, or that has none."""
        return "signature" not in read and "multiple_destination_signature" not in read

    def readable(self, read: dict[str, Json]) -> bool:
        """Return true for a message whose body can be decrypted, or is not encrypted."""
        return not self.encrypted(read)

    def encrypted(self, read: dict[str, Json]) -> bool:
        """Return true if SecurityHeader.Flags.EB is set."""
        return bool(read.get("encrypted"))

    def allowed(self, read: dict[str, Json], queue: Queue) -> bool:
        """Return true if the sender may send to the queue; asked of messages with a SecurityHeader alone."""
        local = queue.path.partition("\\")[2].lower()
        return "sender_identifier_type" not in read or local not in self.denied

    def authenticated_enough(self, read: dict[str, Json], queue: Queue) -> bool:
        """Return true unless the queue takes authenticated messages alone (MS-MQDMPR 3.1.1.2)."""
        return not queue.properties.get("PROPID_Q_AUTHENTICATE")

    def private_enough(self, read: dict[str, Json], queue: Queue) -> bool:
        """Return true unless the queue takes encrypted bodies alone (MS-MQDMPR 3.1.1.2)."""
        return queue.properties.get("PROPID_Q_PRIV_LEVEL") != PRIVACY_BODY
