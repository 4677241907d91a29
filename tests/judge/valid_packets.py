"""Valid user messages at random, made from MS-MQMQ 2.2.19 and 2.2.20: every header, form of queue, class and algorithm.

What a document leaves open has its values too: hops, padding, gaps of numbers, application classes.
"""

from __future__ import annotations

import random
import uuid
from collections.abc import Iterator

from conformance.judge.packets.signatures import SIGNERS_CERTIFICATE, SIZE, Signing, sign
from conformance.judge.rules import Value
from conformance.wire import encode
from conformance.wire.certificates import DIGEST_SIZES
from conformance.wire.security_items import simple_blob

B, U, T, S, M, D, X, Q = (
    f"{name}Header."
    for name in ("Base", "User", "Transaction", "Security", "MessageProperties", "Debug", "Soap", "MultiQueueFormat")
)
F, DATA = U + "Flags.", S + "SecurityData."
NAMES = (
    "OS:host\\q",
    "OS:host.example.org\\private$\\orders",
    "TCP:192.0.2.7\\private$\\in",
    "OS:host\\private$\\q;journal",
    "OS:h\\system$;deadxact",
    "HTTP://host/msmq/private$/q",
    "OS:a\\q with spaces",
    "TCP:192.0.2.9\\public",
    "OS:h\\q;sub",
)
CLASSES = (
    0,
    0,
    0,
    0,
    1,
    2,
    0x4000,
    0x8000,
    0x8003,
    0x8004,
    0x8009,
    0x800A,
    0xC000,
    0xC001,
    0xC004,
    0x0100,
    0xE100,
    0x41FF,
)
BODY_TYPES = (0, 0, 2, 3, 11, 16, 17, 18, 19, 20, 21, 31, 65, 72, 0x1000 | 17, 0x1000 | 12, 0x1000 | 31)
# Algorithm to the level of privacy, the bytes of a block and the provider.
CIPHERS = {
    0x6602: (3, 8, "Microsoft Enhanced Cryptographic Provider v1.0", 1),
    0x6801: (1, 1, "Microsoft Base Cryptographic Provider v1.0", 1),
    0x660E: (5, 16, "Microsoft Enhanced RSA and AES Cryptographic Provider", 24),
    0x660F: (5, 16, "Microsoft Enhanced RSA and AES Cryptographic Provider", 24),
    0x6610: (5, 16, "Microsoft Enhanced RSA and AES Cryptographic Provider", 24),
}
SIGNER = "Microsoft Base Cryptographic Provider, v1.0"
INFINITE, START = 0xFFFFFFFF, 1_700_000_000


class Maker:
    """Makes messages with this chance."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)

    def guid(self) -> str:
        return str(uuid.UUID(int=self.chance.getrandbits(128) | 1))

    def some(self, share: float) -> bool:
        return self.chance.random() < share

    def text(self, most: int) -> str:
        letters = "abcdefghij XYZ0189<>&äöü漢字"
        return "".join(self.chance.choice(letters) for _ in range(self.chance.randint(1, most)))

    def message(self) -> bytes:
        values: dict[str, Value] = {
            U + "SourceQueueManager": self.guid(),
            U + "MessageID": self.chance.getrandbits(32),
            U + "SentTime": START + self.chance.getrandbits(24),
            U + "TimeToBeReceived": self.chance.choice((INFINITE, 0, 60, 345_600)),
            B + "TimeToReachQueue": self.chance.choice((INFINITE, 0, 60, 345_600)),
            F + "RC": self.chance.randint(0, 0x1D),
            F + "JN": self.chance.getrandbits(1),
            F + "JP": self.chance.getrandbits(1),
            F + "DM": self.chance.getrandbits(1),
            B + "Flags.PR": self.chance.randint(0, 7),
            M + "BodyType": self.chance.choice(BODY_TYPES),
            M + "MessageClass": self.chance.choice(CLASSES),
            M + "ApplicationTag": self.chance.getrandbits(32),
            M + "CorrelationID": self.chance.randbytes(20),
            M + "HashAlgorithm": self.chance.choice(tuple(DIGEST_SIZES)),
            M + "EncryptionAlgorithm": self.chance.choice(tuple(CIPHERS)),
            M + "MessageBody": self.chance.randbytes(self.chance.choice((0, 0, 1, 3, 10, 64, 300, 2_000))),
        }
        values |= self.queues()
        if self.some(0.6):
            values[M + "Label"] = self.text(self.chance.choice((1, 5, 30, 124)))
        if self.some(0.2):
            values[M + "ExtensionData"] = self.chance.randbytes(self.chance.randint(1, 40))
        if self.some(0.3):
            values |= self.transaction()
        if self.some(0.2):
            values |= self.debug()
        if self.some(0.2):
            values[X + "Header"], values[X + "Body"] = self.text(40), self.text(40)
        if self.some(0.2):
            values |= self.lists(values)
        if self.some(0.3):
            values |= {"SessionHeader.WindowSize": 64, **self.acknowledged()}
        signed = None
        if self.some(0.5):
            signed, more = self.security(values)
            values |= more
        data = encode("UserMessage", values)
        return data if signed is None else sign(data, signed)

    def name(self) -> str:
        return self.chance.choice(NAMES)

    def form(self, field: str, kind: int) -> dict[str, Value]:
        prefix = f"{U}{field}."
        number: dict[str, Value] = {prefix + "PrivateQueueIdentifier": self.chance.randint(1, 5_000)}
        if kind in (2, 3, 4):
            return number
        if kind == 5:
            return {prefix + "PublicQueueIdentifier": self.guid()}
        if kind == 6:
            return {prefix + "SourceQueueManager": self.guid(), **number}
        return {prefix + "DirectFormatName": self.name()} if kind == 7 else {}

    def queues(self) -> dict[str, Value]:
        """The queues of UserHeader. A host is named by its own type, an administration queue is asked for."""
        kind = self.chance.choice((3, 5, 7, 7))
        out: dict[str, Value] = {F + "DQ": kind, **self.form("DestinationQueue", kind)}
        if kind != 7:
            out[U + "QueueManagerAddress"] = self.guid()
        known = (2, 3, 5, 6, 7) if kind != 7 else (2, 5, 6, 7)
        admin = self.chance.choice(known) if self.some(0.4) else 0
        if admin:
            out |= {F + "AQ": admin, **self.form("AdminQueue", admin)}
            for flag in ("PA", "PR", "NA", "NR"):
                out[f"{M}Flags.{flag}"] = self.chance.getrandbits(1)
            out[M + "Flags.NA"] = 1
        response = (
            self.chance.choice((*known, *((1, 4) if admin == 6 else (1,) if admin else ()))) if self.some(0.4) else 0
        )
        if response:
            out |= {F + "RQ": response, **self.form("ResponseQueue", response)}
        if self.some(0.1):
            out[U + "ConnectorType"] = self.guid()
        return out

    def transaction(self) -> dict[str, Value]:
        number = self.chance.randint(1, 90)
        out: dict[str, Value] = {
            F + "DM": 1,
            B + "Flags.PR": 0,
            T + "TxSequenceID": self.chance.getrandbits(31) << 32 | self.chance.randint(1, 99),
            T + "TxSequenceNumber": number,
            T + "PreviousTxSequenceNumber": self.chance.randint(0, number - 1) if number > 1 else 0,
            T + "Flags.ID": self.chance.getrandbits(20),
        }
        for flag in ("FA", "FM", "LM"):
            out[f"{T}Flags.{flag}"] = self.chance.getrandbits(1)
        if self.some(0.2):
            out[T + "ConnectorQMGuid"] = self.guid()
        return out

    def debug(self) -> dict[str, Value]:
        if self.some(0.3):
            return {D + "Flags.QT": 0}
        return {B + "Flags.TR": self.chance.getrandbits(1), D + "Queue.QueueIdentifier": self.guid()}

    def lists(self, values: dict[str, Value]) -> dict[str, Value]:
        """A list of destinations with the message's own one, and lists of other queues."""
        direct = values.get(U + "DestinationQueue.DirectFormatName")
        public = values.get(U + "DestinationQueue.PublicQueueIdentifier")
        own: dict[str, Value] = {"SourceQueueManager": values.get(U + "QueueManagerAddress", self.guid())}
        own["PrivateQueueIdentifier"] = values.get(U + "DestinationQueue.PrivateQueueIdentifier", 1)
        if direct is not None:
            own = {"DirectFormatName": direct}
        elif public is not None:
            own = {"PublicQueueIdentifier": public}
        out: dict[str, Value] = {}
        for name in ("Destination", "Administration", "Response"):
            many = self.chance.randint(0, 3)
            elements = [self.element() for _ in range(many)]
            if name == "Destination":
                elements.insert(self.chance.randint(0, many), own)
            for at, element in enumerate(elements):
                out |= {f"{Q}{name}.FormatNameList.{at}.{key}": value for key, value in element.items()}
        return out

    def element(self) -> dict[str, Value]:
        kinds: tuple[dict[str, Value], ...] = (
            {"DirectFormatName": self.name()},
            {"SourceQueueManager": self.guid(), "PrivateQueueIdentifier": self.chance.randint(1, 99)},
            {"DistributionListIdentifier": self.guid()},
        )
        return self.chance.choice(kinds)

    def acknowledged(self) -> dict[str, Value]:
        if self.some(0.5):
            return {"SessionHeader.AckSequenceNumber": self.chance.randint(1, 99)}
        first = self.chance.randint(1, 40)
        return {
            "SessionHeader.AckSequenceNumber": first + 40,
            "SessionHeader.RecoverableMsgAckSeqNumber": first,
            "SessionHeader.RecoverableMsgAckFlags": self.chance.getrandbits(32) | 1,
        }

    def security(self, values: dict[str, Value]) -> tuple[Signing | None, dict[str, Value]]:
        out: dict[str, Value] = {S + "Flags.AI": 1}
        if self.some(0.5):
            subs = self.chance.randint(1, 6)
            sid = bytes((1, subs, 0, 0, 0, 0, 0, 5)) + self.chance.randbytes(4 * subs)
            out |= {S + "Flags.ST": 1, DATA + "SecurityID": sid}
        else:
            source = uuid.UUID(str(values[U + "SourceQueueManager"]))
            out |= {S + "Flags.ST": 2, DATA + "SecurityID": source.bytes_le}
        # Only a message to a private or public queue is encrypted.
        direct = U + "DestinationQueue.DirectFormatName" in values
        if self.some(0.4) and values[M + "MessageBody"] and not direct:
            return None, {**out, **self.encrypted()}
        if self.some(0.6):
            lists = any(key.startswith(Q) for key in values)
            out |= {DATA + "SenderCert": SIGNERS_CERTIFICATE}
            out |= {S + "Flags.DE": 1} if self.some(0.5) else self.provider(SIGNER, 1)
            place = f"{Q}Signature.Signature" if lists else DATA + "Signature"
            out[place] = bytes(SIZE)
            if out[S + "Flags.ST"] == 2:  # It signs for itself, by its own certificate.
                out |= {S + "Flags.ST": 1, DATA + "SecurityID": bytes((1, 1, 0, 0, 0, 0, 0, 5, 18, 0, 0, 0))}
            return Signing(kind=3 if lists else self.chance.choice((1, 2, 3)), place=place, byte_order="big"), out
        return None, out

    def provider(self, name: str, number: int) -> dict[str, Value]:
        return {DATA + "ProviderInfo.ProviderName": name, DATA + "ProviderInfo.ProviderType": number}

    def encrypted(self) -> dict[str, Value]:
        algorithm = self.chance.choice(tuple(CIPHERS))
        privacy, block, name, number = CIPHERS[algorithm]
        return {
            S + "Flags.EB": 1,
            DATA + "EncryptionKey": simple_blob(algorithm, self.chance.randbytes(self.chance.choice((64, 128, 256)))),
            M + "PrivacyLevel": privacy,
            M + "EncryptionAlgorithm": algorithm,
            M + "MessageBody": self.chance.randbytes(block * self.chance.randint(1, 9)),
            **self.provider(name, number),
        }


def valid_packets(count: int, seed: int = 0) -> Iterator[bytes]:
    """Yield valid packets."""
    for at in range(count):
        yield Maker(seed * 1_000_003 + at).message()
