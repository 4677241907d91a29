"""Messages for generated corpora: some hundred packets of every kind and mixture of headers, to be repeated.

A template is a whole packet and the places where each copy of it differs: message identifier and sending time.
Messages keep every packet rule, but for those with a field overwritten and the few that are signed, by nobody's key.
"""

from __future__ import annotations

import random
import string
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from conformance.wire import dissect, encode, patch
from conformance.wire.security_items import sid_bytes

M, U, T, S = "MessagePropertiesHeader.", "UserHeader.", "TransactionHeader.", "SecurityHeader."
Q = "MultiQueueFormatHeader."
SENT = 1_700_000_000
QUEUES, MANAGERS = 500, 40
SIGNED_IN = 2_000
"""One message in this many is signed."""
BROKEN_IN = 20
"""One template in this many has one field overwritten by something else."""
BROKEN_SHARE = 0.01
"""The share of such templates in all packets."""
PATCHED = (
    "BaseHeader.Reserved", "BaseHeader.Flags.PR", "BaseHeader.Flags.X0", "BaseHeader.Flags.TR", "BaseHeader.Flags.X9",
    "UserHeader.Flags.RC", "UserHeader.Flags.DM", "UserHeader.Flags.X1", "UserHeader.Flags.JP", "UserHeader.Flags.X4",
    "UserHeader.QueueManagerAddress", "MessagePropertiesHeader.MessageClass", "MessagePropertiesHeader.Flags",
    "MessagePropertiesHeader.BodyType", "MessagePropertiesHeader.PrivacyLevel", "MessagePropertiesHeader.HashAlgorithm",
    "MessagePropertiesHeader.MessageSize", "TransactionHeader.TxSequenceNumber", "TransactionHeader.Flags.X3",
    "SecurityHeader.Flags.ST", "SecurityHeader.Flags.X12", "DebugHeader.Reserved", "SessionHeader.Reserved",
    "SessionHeader.WindowSize", "SoapHeader.Reserved",
)  # fmt: skip
"""Fields whose values do not move the fields behind them."""

Values = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Template:
    """A packet to repeat. number_at, time_at: where its MessageID and SentTime stand, None where it has none.

    back: the acceptor of a connection sends it. weight: how often, against the others. broken: a field is overwritten.
    """

    data: bytes
    number_at: int | None
    time_at: int | None
    back: bool
    weight: float
    broken: bool = False


def guid(random_: random.Random) -> str:
    text = f"{random_.getrandbits(128):032x}"
    return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-a{text[17:20]}-{text[20:]}"


def templates(seed: int, count: int = 800, broken: float = BROKEN_SHARE) -> list[Template]:
    """`count` templates of user messages, and some of every other kind; the same for a seed each time.

    broken: the share of packets with a field overwritten.
    """
    random_ = random.Random(seed)
    managers = [guid(random_) for _ in range(MANAGERS)]
    queues = [_queue(random_, number) for number in range(QUEUES)]
    made = [_template(random_, "UserMessage", _message(random_, managers, queues), 1.0) for _ in range(count)]
    share = count / 100  # of all packets
    for kind, percent, back in (
        ("SessionAck", 3.0, True), ("OrderAck", 1.5, False), ("FinalAck", 1.0, False),
        ("EstablishConnection", 0.1, False), ("ConnectionParameters", 0.1, False),
    ):  # fmt: skip
        for _ in range(10):
            values = _OTHERS[kind](random_, managers)
            made.append(_template(random_, kind, values, share * percent / 10, back=back))
    for _ in range(4):
        values = _message(random_, managers, queues) | _signed(random_)
        made.append(_template(random_, "UserMessage", values, count / SIGNED_IN / 4))
    whole = sum(one.weight for one in made if not one.broken)
    wrong = sum(one.weight for one in made if one.broken)
    scale = broken / (1 - broken) * whole / (wrong or 1)
    return [replace(one, weight=one.weight * scale) if one.broken else one for one in made]


def _template(random_: random.Random, kind: str, values: Values, weight: float, *, back: bool = False) -> Template:
    packet = dissect(encode(kind, values, placement="after"))
    data = packet.data
    if random_.randrange(BROKEN_IN) == 0:
        key = random_.choice([key for key in PATCHED if key in packet.fields])
        wrong = patch(packet, {key: 1 if ".Flags." in key else random_.randrange(200)})
        data = wrong if dissect(wrong).whole else data
    places = (packet.spans.get(U + name) for name in ("MessageID", "SentTime"))
    number_at, time_at = (span[0] if span else None for span in places)
    return Template(data, number_at, time_at, back, weight, data != packet.data)


def _text(random_: random.Random, low: int, high: int) -> str:
    return "".join(random_.choices(string.ascii_letters + " äöß€", k=random_.randint(low, high)))


def _name(random_: random.Random, low: int, high: int) -> str:
    """Draw the name of a queue. No word begins with ß, whose upper case is SS."""
    return _text(random_, low, high).strip().lstrip("ß") or "q"


def _queue(random_: random.Random, number: int) -> Values:
    kind = random_.choices(("direct", "private", "public"), (5, 3, 2))[0]
    if kind == "direct":
        address = f"192.0.2.{random_.randrange(1, 255)}"
        host = random_.choice((f"OS:host{random_.randrange(60)}", f"TCP:{address}"))
        return {"DirectFormatName": f"{host}\\private$\\{_name(random_, 3, 24)}{number}"}
    if kind == "private":
        return {"PrivateQueueIdentifier": random_.randrange(1, 1 << 16)}
    return {"PublicQueueIdentifier": guid(random_)}


def _named(field: str, queue: Mapping[str, Any], private: int) -> Values:
    """The values that name a queue in UserHeader, with the selector of its form."""
    selectors = {"DirectFormatName": 7, "PublicQueueIdentifier": 5, "PrivateQueueIdentifier": private}
    (name,) = queue
    return {f"{U}{field}.{name}": queue[name], f"{U}Flags.{field[0]}Q": selectors[name]}


def _size(random_: random.Random) -> int:
    """Draw the size of a body: mostly some hundred bytes, seldom many thousand."""
    return int(random_.choices((0, random_.randint(1, 400), random_.randint(200, 1000), random_.randint(1000, 12_000)),
                               (5, 50, 42, 3))[0])  # fmt: skip


def _message(random_: random.Random, managers: list[str], queues: list[Values]) -> Values:
    chance = random_.random
    queue = queues[min(int(random_.paretovariate(0.6)) - 1, len(queues) - 1)]
    values: Values = {
        "BaseHeader.TimeToReachQueue": random_.choice((0xFFFFFFFF, 345_600)),
        U + "SourceQueueManager": random_.choice(managers),
        U + "SentTime": SENT,
        U + "TimeToBeReceived": random_.choice((0xFFFFFFFF, 86_400)),
        U + "MessageID": 1,
        M + "MessageBody": random_.randbytes(_size(random_)),
        M + "BodyType": random_.choice((0, 31, 4113)),
        **_named("DestinationQueue", queue, 3),
    }
    if "DirectFormatName" not in queue:
        values[U + "QueueManagerAddress"] = random_.choice(managers)
    if chance() < 0.9:
        values[M + "Label"] = _text(random_, 1, 60) if chance() < 0.9 else _text(random_, 1, 249)
    if chance() < 0.3:
        values |= _named("AdminQueue", random_.choice(queues), 2) | {M + "Flags.PA": 1}
    if chance() < 0.35:  # A number is that of a queue on the host of the administration queue, or of the source.
        values |= _named("ResponseQueue", random_.choice(queues), 4 if U + "Flags.AQ" in values else 2)
    if chance() < 0.2:
        values |= {
            T + "TxSequenceNumber": random_.randrange(1, 1000),
            T + "TxSequenceID": 0x65535000_00000001 + random_.randrange(100),
            T + "Flags.ID": random_.randrange(1 << 20),
            T + "Flags.FM": 1,
            T + "Flags.LM": 1,
        }
    if chance() < 0.1:
        sid = f"S-1-5-21-{random_.randrange(1 << 32)}-{random_.randrange(1 << 32)}-{random_.randrange(1 << 32)}-1001"
        values |= {S + "Flags.ST": 1, S + "SecurityData.SecurityID": sid_bytes(sid)}
    if chance() < 0.15:
        values[M + "ExtensionData"] = random_.randbytes(random_.randint(1, 120))
    if chance() < 0.05:
        values[U + "ConnectorType"] = guid(random_)
    if chance() < 0.03:
        values |= {"DebugHeader.Flags.QT": 1, "DebugHeader.Queue.QueueIdentifier": guid(random_)}
    if chance() < 0.02:
        header = f"<se:Header><rel>{_text(random_, 4, 200)}</rel></se:Header>"
        values |= {"SoapHeader.Header": header, "SoapHeader.Body": "<se:Body></se:Body>"}
    if chance() < 0.04 and "DirectFormatName" in queue:
        for name in ("Destination", "Administration", "Response")[: random_.randint(1, 3)]:
            for at in range(random_.randint(1, 3)):
                listed = f"OS:host{random_.randrange(60)}\\private$\\{_name(random_, 2, 9)}"
                own = name == "Destination" and at == 0
                one = f"{Q}{name}.FormatNameList.{at}."
                values[one + "DirectFormatName"] = queue["DirectFormatName"] if own else listed
    if chance() < 0.25:
        values |= _session(random_)
    return values


def _session(random_: random.Random) -> Values:
    return {
        "SessionHeader.AckSequenceNumber": random_.randrange(1 << 16),
        "SessionHeader.RecoverableMsgAckSeqNumber": random_.randrange(1, 1 << 16),
        "SessionHeader.RecoverableMsgAckFlags": random_.getrandbits(16) << 1 | 1,
        "SessionHeader.UserMsgSequenceNumber": random_.randrange(1 << 16),
        "SessionHeader.RecoverableMsgSeqNumber": random_.randrange(1 << 16),
        "SessionHeader.WindowSize": 64,
    }


def _signed(random_: random.Random) -> Values:
    return {
        S + "Flags.ST": 1,
        S + "SecurityData.SecurityID": sid_bytes("S-1-5-21-1-2-3-1001"),
        S + "SecurityData.Signature": random_.randbytes(128),
        S + "SecurityData.SenderCert": random_.randbytes(700),
        S + "SecurityData.ProviderInfo.ProviderType": 1,
        S + "SecurityData.ProviderInfo.ProviderName": "Microsoft Base Cryptographic Provider v1.0",
        M + "HashAlgorithm": 0x8004,
    }


def _order_ack(random_: random.Random, managers: list[str]) -> Values:
    return {
        U + "SourceQueueManager": random_.choice(managers),
        U + "SentTime": SENT,
        U + "MessageID": 1,
        U + "QueueManagerAddress": random_.choice(managers),
        "OrderAckBody.TxSequenceID": 0x65535000_00000001,
        "OrderAckBody.TxSequenceNumber": 5,
        "OrderAckBody.TxPreviousSequenceNumber": 4,
    }


def _final_ack(random_: random.Random, managers: list[str]) -> Values:
    return {
        U + "SourceQueueManager": random_.choice(managers),
        U + "SentTime": SENT,
        U + "MessageID": 1,
        U + "QueueManagerAddress": random_.choice(managers),
        "FinalAckBody.TxSequenceID": 0x65535000_00000001,
        "FinalAckBody.TxSequenceNumber": 5,
        "FinalAckBody.TxPreviousSequenceNumber": 4,
        "FinalAckBody.SourceGUID": random_.choice(managers),
        "FinalAckBody.MessageID": 77,
    }


def _establish(random_: random.Random, managers: list[str]) -> Values:
    return {
        "EstablishConnectionHeader.ClientGuid": random_.choice(managers),
        "EstablishConnectionHeader.ServerGuid": random_.choice(managers),
        "EstablishConnectionHeader.TimeStamp": random_.randrange(1 << 32),
        "EstablishConnectionHeader.Padding": b"\x5a" * 512,
    }


_OTHERS: Mapping[str, Callable[[random.Random, list[str]], Values]] = {
    "SessionAck": lambda random_, managers: _session(random_),
    "OrderAck": _order_ack,
    "FinalAck": _final_ack,
    "EstablishConnection": _establish,
    "ConnectionParameters": lambda random_, managers: {"ConnectionParametersHeader.WindowSize": 64},
}
