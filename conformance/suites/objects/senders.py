"""Senders, signatures and privacy of messages that objects send and read.

MC-MQAC 2.2.2.7, 2.2.2.14 to 2.2.2.18, 3.17.3, 3.17.4.1.6, .44, .48, .49, .84, .87; MS-MQDMPR 3.1.1.12.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import chain, product
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from conformance.activex.values import Variant, hollow, long, octets, text
from conformance.judge.packets.encryption import decrypted_body, public_keys, unwrapped
from conformance.judge.packets.rules_signatures import STANDARD
from conformance.judge.packets.signatures import CERTIFICATE, PLACES, WHY, kinds_of, signature_facts
from conformance.model import rights
from conformance.model.descriptors import ALLOW, DACL, Descriptor, Entry, encoded
from conformance.suites.management.incoming_story import SENDER
from conformance.suites.objects import beside, certificates
from conformance.suites.objects.beside import (
    CONNECTOR,
    ELSEWHERE,
    RECEIVE,
    SEND,
    Row,
    Sides,
    Stories,
    Story,
    constant,
)
from conformance.suites.objects.certificates import internal_of, register, two_users
from conformance.suites.objects.playing import NotCreated
from conformance.suites.packets.messages import base64_of, packet_of
from conformance.suites.packets.signing import FIRST, second, signed_packets
from conformance.suites.security.crossings import LEVELS, levels
from conformance.suites.security.scene import private_name
from conformance.wire import dissect
from conformance.wire.certificates import MD2, MD4, MD5, SHA1, SHA256, SHA512, read_certificate
from conformance.wire.security_items import sid_bytes

if TYPE_CHECKING:
    from conformance.verdict import Json

_ROWS, _MEMBERS = "MQAC-2.2.2.", "MQAC-3.17.4.1."
_SENT: Final = f"{_MEMBERS}48.represented-message-"
_RESERVED: Final = f"{_ROWS}16.reserved-indicate-send-operation"
_KEY: Final = f"{_MEMBERS}48.obtain-message-sender-certificate-private-key"
_HASHED: Final = f"{_MEMBERS}48.calculate-message-hash-algorithm"
_X509: Final = f"{_MEMBERS}44.var-sender-cert-certificate-x-509-rfc3280"
_TYPE_FIELD: Final = "R-MQAC-signature-type-field"
_LEVEL_FIELD: Final = "R-MQDMPR-authentication-level-field"
_S, _M = "SecurityHeader.", "MessagePropertiesHeader."
_ALWAYS, _SIG10, _SIG20, _SIG30 = 1, 2, 4, 8  # MQMSGAUTHLEVEL
_KINDS: Final[Mapping[int, int]] = MappingProxyType({_SIG10: 1, _SIG20: 2, _SIG30: 3})
_SHOWN: Final = (0, 1, 3, 5)  # MQMSGAUTHENTICATION, by the kind of signature
_WORDS: Final = ("none", "sig10", "sig20", "sig30")
_SIGNS: Final[Mapping[int, tuple[str, ...]]] = MappingProxyType(
    {
        _ALWAYS: (f"{_ROWS}16.mqmsg-auth-level-always-prior-outgoing-queue-inserting",),
        **{
            level: tuple(f"{_ROWS}16.mqmsg-auth-level-{word}-prior-outgoing-queue" for word in words)
            for level, words in ((_SIG10, ("msmq10", "sig10")), (_SIG20, ("msmq20", "sig20")), (_SIG30, ("sig30",)))
        },
    }
)
ATTACH: Final[Mapping[int, str]] = {49: "AttachCurrentSecurityContext", 87: "AttachCurrentSecurityContext2"}
_PURPOSE: Final[Mapping[int, tuple[str, ...]]] = {49: (f"{_MEMBERS}49.purpose",), 87: ()}
_CERTIFICATES: Final = ("internal", "first", "second", "changed", "renewed")
_FORMS: Final = ("one", "several", "anonymous", "labelled", "one")
_LEVELS: Final = (0, _ALWAYS, _SIG10, _SIG20, _SIG30)
_HASHES: Final = (None, MD5, SHA1, SHA256, SHA512)
_ATTACHED: Final[tuple[tuple[tuple[int, int], ...], ...]] = ((), ((49, 0),), ((87, 0),), ((49, 1), (87, 0)), ())
"""Calls of Attach before Send: the section of the member, and which user calls it."""
_CALLERS: Final = (0, 1, 0, 1, 1)
CALGS: Final[Mapping[str, tuple[str, int]]] = MappingProxyType(
    {
        **dict(
            zip(("md2", "md4", "md5", "sha1", "sha"), (("Hash", n) for n in (MD2, MD4, MD5, SHA1, SHA1)), strict=True)
        ),
        "rsa-sign": ("Encrypt", 0x2400),
        "dss-sign": ("Encrypt", 0x2200),
        "rsa-keyx": ("Encrypt", 0xA400),
        "des": ("Encrypt", 0x6601),
        "rc2": ("Encrypt", 0x6602),
        "rc4": ("Encrypt", 0x6801),
        "seal": ("Encrypt", 0x6802),
    }
)
"""Rows of MQCALG: the algorithm that it is for, and its number."""
_ON_THE_WIRE: Final = (0x6602, 0x6801)  # of an encryption, MS-MQMQ 2.2.19.3
PRIVACY: Final = (
    Row(f"{_ROWS}15.mqmsg-priv-level-none-row", "PrivLevel", 0, "privacy", "none"),
    Row(f"{_ROWS}15.mqmsg-priv-level-body-base-row", "PrivLevel", 1, "privacy", "base"),
    Row(f"{_ROWS}15.mqmsg-priv-level-body-enhanced-row", "PrivLevel", 3, "privacy", "enhanced"),
)
_BITS: Final[Mapping[str, tuple[int, int]]] = MappingProxyType({"base": (1, 40), "enhanced": (3, 128)})
"""Words of MQMSGPRIVLEVEL with their number and the bits of the key."""


def open_queue(sides: Sides) -> str:
    """Create a queue into which everybody may send; return its path name."""
    path = sides.queue()
    if sides.mq.offers("security.set"):
        entries = tuple(Entry(ALLOW, rights.QUEUE_ALL, sid) for sid in (rights.EVERYBODY, rights.ANONYMOUS))
        target = {"type": "queue", "format_name": f"DIRECT=OS:{path}"}
        data = base64.b64encode(encoded(Descriptor(dacl=entries))).decode()
        sides.plain("security.set", target=target, information=DACL, descriptor=data)
    return path


def taken(sides: Sides, name: str = ELSEWHERE) -> Mapping[str, Any] | None:
    """Return the fields of the packet that an outgoing queue transfers, with facts on its signature; None for none."""
    packets = sides.plain("outgoing.take", format_name=name).values["packets"]
    if not packets:
        return None
    packet = dissect(base64.b64decode(packets[-1]))
    return {**packet.fields, **signature_facts(packet)}


def sender_type(sides: Sides, number: int) -> None:
    """A message has a sender or none by either side; the other one shows it."""
    word = ("none", "sid")[number]
    demand, (user, _) = f"{_ROWS}14.mqmsg-senderid-type-{word}-row", two_users(sides)
    path = open_queue(sides)
    with sides.by(user):
        status = sides.sent(sides.opened(SEND, path), SenderIdType=long(number))
    message = sides.received(sides.handle(path, "receive"))
    expected = {"sender": user if number else None}
    sides.expect(demand, expected, {"sender": message.get("sender")} if message else {"send": status})
    sides.plain("messages.send", queue=sides.handle(path, "send"), message={"sender_type": word})
    _judge_number(sides, demand, path, "SenderIdType", number)


def algorithm(sides: Sides, word: str) -> None:
    """A message has the number of an algorithm by either side; objects and the packet show it."""
    kind, number = CALGS[word]
    demand, member = f"{_ROWS}18.mqmsg-calg-{word}-row", f"{kind}Algorithm"
    name = {"Hash": "hash_algorithm"}.get(kind, "encryption_algorithm")
    path = open_queue(sides)
    numbered = {member: long(number)}
    sides.sent(sides.opened(SEND, path), **numbered)
    _judge_number(sides, demand, path, member, number)
    if kind == "Hash" or number in _ON_THE_WIRE:
        sides.plain("messages.send", queue=sides.handle(path, "send"), message={name: number})
        _judge_number(sides, demand, path, member, number)
        sides.sent(sides.opened(SEND, format_name=ELSEWHERE), **numbered)
        key = _M + "".join(part.title() for part in name.split("_"))
        sides.expect(demand, {key: number}, {key: (taken(sides) or {}).get(key)})


def _judge_number(sides: Sides, demand: str, path: str, member: str, number: int) -> None:
    given = sides.read(sides.opened(RECEIVE, path))
    shown = None if given is None else sides.shown(given, member)
    sides.expect(demand, {member: number}, {member: None if shown is None else shown.value})


@dataclass(frozen=True, slots=True)
class Sending:
    """A Send with everything that decides about its signature: a row of the orthogonal array.

    level, algorithm: what AuthLevel and HashAlgorithm get, None: nothing. certificate, form: a word of `_CERTIFICATES`
    and `_FORMS`. attached: as `_ATTACHED`. caller: which user sends.
    """

    level: int
    algorithm: int | None
    certificate: str
    attached: tuple[tuple[int, int], ...]
    caller: int
    form: str

    def demands(self) -> tuple[tuple[str, ...], str]:
        """Return the requirements on the sender, and that on the certificate."""
        of_sender, of_certificate = _KEPT[self.attached[-1][0] if self.attached else None, "internal"]
        if not self.attached:
            of_sender, of_certificate = (
                (f"{_SENT}sender-identifier-sid-caller",),
                (f"{_SENT}sender-certificate-internal",),
            )
        return of_sender, of_certificate[0] if self.certificate in ("internal", "renewed") else _X509


def crossed(sides: Sides, row: int, column: int) -> None:
    """A message is sent to another computer, signed or not; judge its packet and what its object shows then."""
    factors = (_LEVELS, _HASHES, _CERTIFICATES, _ATTACHED, _CALLERS, _FORMS)
    how = Sending(*(choices[at] for choices, at in zip(factors, levels(row, column), strict=True)))  # type: ignore[arg-type]
    kind = _KINDS.get(how.level)
    if kind is not None and kind not in kinds_of(sides.judge.profile):
        raise NotCreated("this version of MSMQ has no such signature")
    users = two_users(sides)
    sender = users[how.attached[-1][1] if how.attached else how.caller]
    for user in users:
        sides.plain("security.certificates", caller=user, personal=[FIRST.personal(), second().personal()])
        for _ in range(2 if how.certificate == "renewed" else 1):
            if register(sides, user).status:
                raise NotCreated("no internal certificate could be registered")
    given = {"first": (FIRST,), "second": (second(),), "changed": (FIRST, second())}.get(how.certificate, ())
    certificate = given[-1].certificate if given else internal_of(sides, sender)
    with sides.by(users[how.caller]):
        message = sides.created("MSMQMessage")
        values = {"Body": text("signed"), "AuthLevel": long(how.level)}
        if how.form == "anonymous":
            values["SenderIdType"] = long(0)
        if how.form == "labelled":
            values |= {"Label": text("label"), "AppSpecific": long(7), "Delivery": long(1), "Journal": long(1)}
        sides.put(message, **values)
        if how.algorithm is not None and sides.invoke(message, "HashAlgorithm", long(how.algorithm), kind="put").status:
            raise NotCreated("the driver takes no such hash")
        for one in given:
            sides.put(message, SenderCertificate=octets(one.certificate))
    for number, who in how.attached:
        with sides.by(users[who]):
            if sides.invoke(message, ATTACH[number]).status:
                raise NotCreated(f"{ATTACH[number]} fails")
    with sides.by(users[how.caller]):
        status = sides.invoke(message, "Send", Variant("DISPATCH", _destination(sides, how.form))).status
    if status and how.algorithm in (MD5, SHA256, SHA512):
        raise NotCreated("the driver signs with no such hash")
    fields = taken(sides) if not status else None
    place, prefix = next(((key, prefix) for key, prefix, _ in PLACES if fields and fields.get(key)), ("", ""))
    for demand in _SIGNS.get(how.level, (_RESERVED,)):
        expected = {"sent": True, "signed": bool(how.level)}
        sides.expect(demand, expected, {"sent": fields is not None, "signed": bool(place)})
    if fields is not None:
        _judge_packet(sides, how, sender, certificate, fields, prefix)
        _judge_shown(sides, how, message, fields, (place, prefix))


def _destination(sides: Sides, form: str) -> str:
    if form != "several":
        return sides.opened(SEND, format_name=ELSEWHERE)
    destination = sides.created("MSMQDestination")
    sides.put(destination, FormatName=text(f"{ELSEWHERE},{ELSEWHERE}2"))
    sides.invoke(destination, "Open")
    return destination


def _judge_packet(
    sides: Sides, how: Sending, sender: str, certificate: bytes, fields: Mapping[str, Any], prefix: str
) -> None:
    """Judge sender, certificate and signature of a packet. prefix: of the facts on its signature, empty for none."""
    of_sender, of_certificate = how.demands()
    sid, kind_of_sender = fields.get("SID.Text"), fields.get(_S + "Flags.ST")
    if how.form == "anonymous" and prefix:
        sides.expect(
            f"{_ROWS}14.mqmsg-senderid-type-none-row",
            {"sender": None, "type": 0},
            {"sender": sid, "type": kind_of_sender},
        )
    elif how.form != "anonymous" and kind_of_sender is not None:
        for demand in of_sender:
            sides.expect(demand, {"sender": sender}, {"sender": sid})
    if not prefix:
        return
    found, kind = fields.get(f"{prefix}.Kind"), _KINDS.get(how.level)
    sides.expect(of_certificate, certificate.hex(), (fields.get(CERTIFICATE) or b"").hex())
    if found is None:
        raise NotCreated(str(fields.get(WHY, "the signature could not be judged")))
    sides.expect(_KEY, {"verified": True}, {"verified": found != 0})
    if kind is None or (how.form == "several" and found == 3):
        kind = found  # ALWAYS, or a list (MS-MQQB 3.1.7.1.4)
    told, types = int(fields.get(_S + "Flags.AS", 0)), {"zero": 0, "by-level": _SHOWN[found]}
    accepted = sides.judge.readings[_TYPE_FIELD]
    word = next((one for one in accepted if types[one] == told), "")
    for demand in _SIGNS.get(how.level, ()):
        expected = {"kind": kind, "AS": types[word or accepted[0]]}
        sides.expect(demand, expected, {"kind": found, "AS": told}, ((_TYPE_FIELD, word),) if word else ())
    named = fields.get(_M + "HashAlgorithm")
    wanted = {"named": how.algorithm or named, "hash": how.algorithm or named, "slip": ""}
    actual = {"named": named, "hash": fields.get(f"{prefix}.Hash"), "slip": fields.get(f"{prefix}.Slip")}
    sides.expect(_HASHED, wanted, actual)


def _judge_shown(sides: Sides, how: Sending, message: str, fields: Mapping[str, Any], place: tuple[str, str]) -> None:
    """Judge what the message shows once it was sent. place: of the signature in the packet, and the prefix of facts."""
    key, prefix = place
    made = int(fields.get(f"{prefix}.Kind", 0))
    if how.form == "several":
        made = _KINDS.get(how.level, made)  # the level is what was asked for
    elif key:
        sides.expect(f"{_SENT}signature", fields[key].hex(), _hex(sides.shown(message, "Signature")))
    shown = sides.shown(message, "ReceivedAuthenticationLevel")
    actual = {"level": None if shown is None else shown.value}
    sides.expect(f"{_SENT}authentication-level", {"level": _SHOWN[made]}, actual)


def no_certificate(sides: Sides) -> None:
    """SenderCertificate gets bytes that are no certificate: nothing is sent that is signed by them."""
    message = sides.created("MSMQMessage")
    sides.put(message, AuthLevel=long(_SIG20), SenderCertificate=octets(b"no certificate"))
    sides.invoke(message, "Send", Variant("DISPATCH", sides.opened(SEND, format_name=ELSEWHERE)))
    found = (taken(sides) or {}).get(CERTIFICATE)
    sides.expect(_X509, {"x509": True}, {"x509": found is None or read_certificate(found).x509 is not False})


def kept(sides: Sides, number: int | None, given: str = "internal", *, received: bool = False) -> None:
    """A message of one user is sent by another, unsigned: whose it is then.

    number: the section of the member by which its user has attached it, None for neither. given: `internal`, which its
    user registers anew after that; or `first`, which is taken from the message again. received: it comes from a queue.
    """
    users = user, other = two_users(sides)
    path = open_queue(sides)
    with sides.by(user):
        for one in users:
            register(sides, one)
            sides.plain("security.certificates", caller=one, personal=[FIRST.personal()])
        message: str | None = sides.created("MSMQMessage")
        if received:
            sides.plain("messages.send", queue=sides.handle(path, "send"), message={"sender_type": "none"})
            message = sides.read(sides.opened(RECEIVE, path))
        if message is None:
            raise NotCreated("no message could be read")
        if given == "first":
            sides.put(message, SenderCertificate=octets(FIRST.certificate))
        if number and sides.invoke(message, ATTACH[number]).status:
            raise NotCreated(f"{ATTACH[number]} fails")
    if given == "first":
        sides.put(message, SenderCertificate=Variant("EMPTY"))
    if not all(_hollow(sides.shown(message, member)) for member in ("SenderId", "SenderCertificate")):
        raise NotCreated("the message has a sender before it is sent")
    whose = user if number else other
    certificate = FIRST.certificate if given == "first" else internal_of(sides, whose)
    register(sides, user)
    with sides.by(other):
        sides.put(message, SenderIdType=long(1))
        if sides.invoke(message, "Send", Variant("DISPATCH", sides.opened(SEND, path))).status:
            raise NotCreated("an unsigned message cannot be sent")
    of_sender, of_certificate = _KEPT[number, given]
    for demand in of_sender:
        sides.expect(demand, sid_bytes(whose).hex(), _hex(sides.shown(message, "SenderId")))
    for demand in of_certificate:
        sides.expect(demand, certificate.hex(), _hex(sides.shown(message, "SenderCertificate")))


_KEPT: Final[Mapping[tuple[int | None, str], tuple[tuple[str, ...], tuple[str, ...]]]] = MappingProxyType(
    {
        (None, "internal"): (
            ("MQAC-3.17.3.sender-identifier-cache-initial",),
            ("MQAC-3.17.3.sender-certificate-cache-initial",),
        ),
        **{
            (number, given): (
                (f"{_MEMBERS}{number}.variable-sender-id-cache-sid-caller", *_PURPOSE[number]),
                (f"{_MEMBERS}{number}.variable-sender-certificate-cache{word}", f"{_SENT}sender-certificate-sender"),
            )
            for number in ATTACH
            for given, word in (("internal", "-certificate"), ("first", ""))
        },
    }
)
"""Requirements on sender and certificate of a message that another user sends, by how it was attached."""


def _hex(value: Variant | None) -> str | None:
    return value.value.hex() if value is not None and isinstance(value.value, bytes) else None


def _hollow(value: Variant | None) -> bool:
    return value is not None and hollow(value)


def arrival(sides: Sides, kind: int, *, known: bool) -> None:
    """A packet with a signature of a kind, or without one, comes to a queue. known: it has a SID that is registered."""
    path = open_queue(sides)
    name = private_name(sides.mq, path)
    if name is None or (kind and kind not in kinds_of(sides.judge.profile)):
        raise NotCreated("no such packet can come to this queue manager")
    message: dict[str, Json] = {
        "destination": name,
        "destination_queue_manager": sides.mq.hello.queue_manager,
        "identifier": {"source": SENDER, "ordinal": 1 + kind},
        "body": base64_of(b"abcd"),
        **({"destinations": [name]} if kind == 3 else {}),
    }
    if known:
        user, _ = two_users(sides)
        sides.plain("directory", objects=[], users=[{"sid": user, "certificates": [base64_of(FIRST.certificate)]}])
        message |= {"sender_identifier_type": "sid", "sender_identifier": base64_of(sid_bytes(user))}
    packets = signed_packets(message, FIRST, kind, sides.judge.readings) if kind else iter((packet_of(message),))
    reader, seen = sides.handle(path, "peek"), None
    for packet in packets:
        sides.mq.call("packets.deliver", packet=base64_of(packet))
        seen = sides.received(reader, "messages.peek")
        if seen is not None:
            break
    given = sides.read(sides.opened(RECEIVE, path)) if seen is not None else None
    if seen is None or given is None:
        raise NotCreated("the packet is not taken")
    sides.judge.step(f"a packet with a signature of kind {kind} has come", {"kind": kind, "known": known})
    members = ("ReceivedAuthenticationLevel", "IsAuthenticated", "IsAuthenticated2")
    shown = {one: getattr(sides.shown(given, one), "value", None) for one in members}
    level = _SHOWN[kind]
    if kind and not shown["ReceivedAuthenticationLevel"] and "from-packet" in sides.judge.readings[_LEVEL_FIELD]:
        raise NotCreated("the packet tells no level of authentication")
    for demand in ARRIVALS[kind]:
        expected = {members[0]: level, "authentication": _WORDS[kind]}
        sides.expect(demand, expected, {members[0]: shown[members[0]], "authentication": seen.get("authentication")})
    for demand in _authenticated(kind):
        member, value = (members[1], int(kind > 0)) if ".1.6." in demand else (members[2], kind > 0)
        sides.expect(demand, {member: value}, {member: shown[member]})


def _authenticated(kind: int) -> tuple[str, ...]:
    """Return the requirements on whether a message was authenticated."""
    true = ("6.output-pis-authenticated-0x0001-parameter", "84.output-pis-authenticated-variant-true-0xffff")
    return tuple(_MEMBERS + word for word in ("6.purpose", "84.purpose", *(true if kind else ())))


_OF: Final = f"{_ROWS}17.mqmsg-authenti"
ARRIVALS: Final = (
    (f"{_OF}cation-not-requested-row",),
    (f"{_OF}cated-sig10-row", f"{_OF}cation-requested-row"),
    (f"{_OF}cated-sig20-row", f"{_OF}cation-requested-ex-row"),
    (f"{_OF}cated-sig30-row",),
)
"""Rows of MQMSGAUTHENTICATION, by the kind of signature."""


def encrypted(sides: Sides, word: str) -> None:
    """A message with a privacy level goes to a computer whose keys the directory has; the harness opens the key."""
    number, bits = _BITS[word]
    guid, body = str(UUID(int=7)), "to be protected"
    keys = base64_of(public_keys(dict.fromkeys(("base", word))))
    sides.mq.need("format_names", "private", "remote")
    computer = {"name": "mqconform-elsewhere", "guid": guid, "encryption_keys": keys}
    sides.plain("directory", objects=[], computers=[computer])
    name = f"PRIVATE={guid}\\00000001"
    status = sides.sent(sides.opened(SEND, format_name=name), Body=text(body), PrivLevel=long(number))
    fields = (taken(sides, name) if not status else None) or {}
    _, key = unwrapped(fields.get(_S + "SecurityData.EncryptionKey") or b"") or ("", b"")
    found = decrypted_body(int(fields.get(_M + "EncryptionAlgorithm", 0)), key, fields.get(_M + "MessageBody", b""))
    actual = {"bits": 8 * len(key), "body": found.hex() if key and found else None}
    demand = f"{_ROWS}15.mqmsg-priv-level-body-{word}-during-message-transfer"
    sides.expect(demand, {"bits": bits, "body": body.encode("utf-16-le").hex()}, actual)


def connector(sides: Sides, member: str) -> None:
    """A connector gives a provider that nobody has: the message is sent with it all the same."""
    odd = {"AuthenticationProviderType": long(7), "AuthenticationProviderName": text("A provider that nobody has")}
    name = "AuthenticationProviderName"
    values = {"AuthenticationProviderType": long(1), name: text(STANDARD[0]), member: odd[member]}
    message = sides.created("MSMQMessage")
    sides.put(message, ConnectorTypeGuid=text(CONNECTOR), Signature=octets(bytes(range(128))), **values)
    status = sides.invoke(message, "Send", Variant("DISPATCH", sides.opened(SEND, format_name=ELSEWHERE))).status
    fields = None if status else taken(sides)
    demand = f"MQDMPR-3.1.1.12.provider-{'name' if member == name else 'type'}-by-connector"
    sides.expect(demand, {"sent": True}, {"sent": fields is not None} if not status else {"status": status})
    key = f"{_S}SecurityData.ProviderInfo.{member.removeprefix('Authentication')}"
    if fields is not None and fields.get(key) is not None:
        sides.expect(demand, {key: odd[member].value}, {key: fields[key]})


_CROSSED: Final = (
    _RESERVED,
    f"{_ROWS}14.mqmsg-senderid-type-none-row",
    *(demand for demands in _SIGNS.values() for demand in demands),
    *(f"{_SENT}{word}" for word in ("sender-identifier-sid-caller", "sender-certificate-internal", "signature")),
    *(f"{_MEMBERS}{number}.variable-sender-id-cache-sid-caller" for number in ATTACH),
    *(f"{_MEMBERS}{number}.variable-sender-certificate-cache-certificate" for number in ATTACH),
    *(f"{_SENT}authentication-level", f"{_MEMBERS}49.purpose", _KEY, _HASHED, _X509),
)


def _stories() -> Iterator[tuple[str, Story, tuple[str, ...]]]:
    for n, word in enumerate(("none", "sid")):
        yield f"sender-type-{word}", partial(sender_type, number=n), (f"{_ROWS}14.mqmsg-senderid-type-{word}-row",)
    for one in PRIVACY:
        yield f"privacy-{one.value}", partial(constant, row=one), (one.demand,)
    for word in CALGS:
        yield f"algorithm-{word}", partial(algorithm, word=word), (f"{_ROWS}18.mqmsg-calg-{word}-row",)
    for row, column in product(range(LEVELS), repeat=2):
        yield f"crossed-{row}{column}", partial(crossed, row=row, column=column), _CROSSED
    yield "no-certificate", no_certificate, (_X509,)
    for (number, given), (of_sender, of_certificate) in _KEPT.items():
        story = partial(kept, number=number, given=given)
        yield f"kept-{given}-{number or 'by-nobody'}", story, (*of_sender, *of_certificate)
    yield "kept-received", partial(kept, number=None, received=True), tuple(chain(*_KEPT[None, "internal"]))
    for kind, known in product(range(4), (False, True)):
        if kind or not known:
            story = partial(arrival, kind=kind, known=known)
            yield f"arrival-{_WORDS[kind]}{'-known' * known}", story, (*ARRIVALS[kind], *_authenticated(kind))
    for word in _BITS:
        demand = f"{_ROWS}15.mqmsg-priv-level-body-{word}-during-message-transfer"
        yield f"encrypted-{word}", partial(encrypted, word=word), (demand,)
    for word in ("type", "name"):
        demand = f"MQDMPR-3.1.1.12.provider-{word}-by-connector"
        yield f"connector-{word}", partial(connector, member=f"AuthenticationProvider{word.title()}"), (demand,)


STORIES: Final[Stories] = MappingProxyType({name: (story, demands) for name, story, demands in _stories()})
EVERY_STORY: Final[Stories] = MappingProxyType({**beside.STORIES, **certificates.STORIES, **STORIES})
"""Stories by name, with the requirements that they judge: these, and those of the modules that this one builds upon."""
