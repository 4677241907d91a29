"""Messages that are sent signed, encrypted and with a sender, and their packets: MS-MQQB 3.1.7.1.4, 3.1.7.1.5."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from conformance.judge.packets import encryption, judge_packet, signatures
from conformance.judge.packets.rules_signatures import RC4
from conformance.model.descriptors import DACL, Descriptor
from conformance.model.management_rows import ROWS, columns, no_value, value_of
from conformance.spec.catalogue import catalogue, reading_id
from conformance.spec.constants.hresults import (
    MQ_ERROR_CANNOT_CREATE_HASH_EX,
    MQ_ERROR_CANNOT_SIGN_DATA_EX,
    MQ_ERROR_CERTIFICATE_NOT_PROVIDED,
    MQ_ERROR_COMPUTER_DOES_NOT_SUPPORT_ENCRYPTION,
    MQ_ERROR_CORRUPTED_PERSONAL_CERT_STORE,
    MQ_ERROR_CORRUPTED_SECURITY_DATA,
    MQ_ERROR_ENCRYPTION_PROVIDER_NOT_SUPPORTED,
    MQ_ERROR_FAIL_VERIFY_SIGNATURE_EX,
    MQ_ERROR_INVALID_CERTIFICATE,
    MQ_ERROR_MESSAGE_NOT_AUTHENTICATED,
    MQ_ERROR_NO_INTERNAL_USER_CERT,
)
from conformance.spec.followed_readings import either
from conformance.suites.packets.messages import base64_of
from conformance.suites.packets.signing import FIRST, second
from conformance.suites.security import arrivals
from conformance.suites.security.arrivals import SENDER_ID, SIGNED, Arrival
from conformance.suites.security.crossings import LEVELS, levels
from conformance.suites.security.scene import Scene, queue_target
from conformance.suites.story_table import Untold
from conformance.verdict import Outcome
from conformance.wire import Packet, dissect, rebuild
from conformance.wire.certificates import SHA1, SHA512
from conformance.wire.security_items import sid_bytes

if TYPE_CHECKING:
    from conformance.adapter.client import Result
    from conformance.verdict import Json

COMPUTER, QUEUE = "909ea0fc-9078-4445-8f11-394c43cd8907", "7b3f6a51-93c2-4d0e-8f27-1c5d9e6a4b80"
_DIRECT, _OTHER = "DIRECT=OS:mqconform-far\\private$\\q", "DIRECT=OS:mqconform-far\\private$\\r"
PLACES: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "direct": (_DIRECT,),
        "private": (f"PRIVATE={COMPUTER}\\00000007",),
        "public": (f"PUBLIC={QUEUE}",),
        "list": (_DIRECT, _OTHER),
    }
)
"""Format names of the queues of another computer that a message is sent to."""
_S, _F, _M = "SecurityHeader.SecurityData.", "SecurityHeader.Flags.", "MessagePropertiesHeader."
_QB: Final = "MQQB-3.1.7.1."
SIGNED_IDS: Final = (f"{_QB}4.signed", *(f"MQMQ-2.2.20.6.signature-{kind}" for kind in (1, 2, 3)))
STRONGEST, HASH = "MQMQ-2.2.19.3.hash-algorithm-strongest", "MQDMPR-3.1.1.12.hash-algorithm"
ENCRYPTED_IDS: Final = (
    *(f"{_QB}5.{word}" for word in ("encrypted", "key-length", "public-key")),
    "MQMQ-2.2.20.6.body-encrypted-sender",
)
FAILED: Final = f"{_QB}5.failed"
CHOICE: Final = reading_id("R-MQQB-encryption-choice")
KEYLESS: Final = "MQMQ-2.4.mq-error-computer-does-not-support-encryption"
_RC2, _DES = 0x6602, 0x6601
_NOT_VALIDATED: Final = 0x80000009  # CertificateValidationFailure, MS-MQMQ 2.3.12.25
_MEMBERS: Final = ("sender_type", "authentication", "hash_algorithm", "certificate", "privacy", "encryption_algorithm")
_CODE: Final = "MQMQ-2.4.mq-error-"


@dataclass(frozen=True, slots=True)
class Sending:
    """A message, and what its receiver has.

    level: of its signature. algorithm: of its hash. keys: the providers that its receiver has keys for. journaled: it
    wants to be a dead letter. more: further members. size: of its body. waits: the manager is killed before it goes.
    The others are members of the protocol.
    """

    level: str = "none"
    place: str = "direct"
    sender_type: str | None = None
    algorithm: int | None = None
    privacy: str = "none"
    keys: tuple[str, ...] = ()
    journaled: bool = False
    more: Mapping[str, Json] = field(default_factory=dict)
    size: int = 11
    waits: bool = False

    @property
    def kind(self) -> int:
        """The kind of its signature: to several destinations always that of MSMQ 3.0 (MS-MQQB 3.1.7.1.4)."""
        kind = {word: kind for kind, word in signatures.LEVELS.items()}.get(self.level, 0)
        return 3 if kind and self.place == "list" else kind

    @property
    def body(self) -> bytes:
        """The body in the clear."""
        return (b"secret body" * (self.size // 11 + 1))[: self.size]

    def message(self) -> dict[str, Json]:
        """Return it as the adapter protocol writes it."""
        given: dict[str, Json] = {
            "authentication": self.level,
            "privacy": self.privacy,
            "hash_algorithm": self.algorithm,
            "certificate": base64_of(FIRST.certificate) if self.kind else None,
        }
        out = {name: value for name, value in given.items() if value not in (None, "none")}
        out |= {"sender_type": self.sender_type} if self.sender_type else {}
        out |= {"delivery": "recoverable"} if self.waits else {}
        return {"body": base64_of(self.body), "negative_journaling": self.journaled, **out, **self.more}


def providers(sending: Sending, reading: str) -> frozenset[str]:
    """Return who may encrypt, by an alternative of R-MQQB-encryption-choice; empty word: it cannot be encrypted."""
    keys, wanted = sending.keys, sending.privacy
    if PLACES[sending.place][0].startswith("DIRECT="):
        return frozenset({""})
    if reading == "level":
        return frozenset({wanted if wanted in keys else ""})
    best = next((word for word in ("advanced", "enhanced", "base") if word in keys), "")
    lacks = wanted == "enhanced" and "enhanced" not in keys
    return frozenset({"", best} if lacks and best == "advanced" else {"" if lacks else best})


class Post:
    """A manager that knows another computer, and a user with a certificate."""

    def __init__(self, scene: Scene, store: Sequence[Json] = ()) -> None:
        for method in ("security.certificates", "outgoing.take", "messages.send"):
            if not scene.mq.offers(method):
                raise Untold(f"the driver does not offer {method}")
        scene.mq.need("message", *_MEMBERS)
        scene.mq.need("format_names", "remote")
        self.scene, self.user = scene, scene.plain()
        personal = list(store) or [FIRST.personal()]
        filled = scene.call("fill the personal store", "security.certificates", caller=self.user.sid, personal=personal)
        if not filled.ok:
            raise Untold("the personal store takes no certificate")

    def declare(self, keys: Iterable[str]) -> None:
        """Say what the directory has of the other computer."""
        data = encryption.public_keys(keys)
        computer: dict[str, Json] = {"name": "mqconform-far", "guid": COMPUTER, "encryption_keys": base64_of(data)}
        objects = [{"guid": QUEUE, "path_name": "mqconform-far\\q"}]
        self.scene.call("declare a computer", "directory", objects=objects, computers=[computer])

    def sent(self, names: Sequence[str], message: Mapping[str, Json]) -> Result | None:
        """Send a message as the user; None where the queue cannot be opened."""
        name = ",".join(names)
        opened = self.scene.call(f"open {name}", "queues.open", format_name=name, access="send")
        if not opened.ok:
            return None
        given = {"queue": opened.values["queue"], "message": dict(message)}
        return self.scene.call("send", "messages.send", self.user.sid, **given)

    def killed(self, names: Sequence[str], keys: Iterable[str]) -> None:
        """Kill the manager, declare the computer and open the queues again. Raises Untold without a kept state."""
        if not self.scene.mq.keeps_state:
            raise Untold("a restart of this connection does not find the state again")
        self.scene.judge.step("the manager is killed and started again", {"restart": "killed"}, {})
        self.scene.mq.restart(kill=True)
        self.declare(keys)
        for name in names:
            self.scene.call(f"open {name}", "queues.open", format_name=name, access="send")

    def taken(self, names: Sequence[str]) -> list[bytes]:
        """Take the packets that would be transferred now."""
        answers = [self.scene.call(f"take what goes to {name}", "outgoing.take", format_name=name) for name in names]
        return [base64.b64decode(one) for answer in answers if answer.ok for one in answer.values["packets"]]


def judge(post: Post, sending: Sending) -> None:
    """Send a message and judge its packets, or that there are none."""
    scene, names = post.scene, PLACES[sending.place]
    post.declare(sending.keys)
    answer = post.sent(names, sending.message())
    if answer is None:
        return
    if sending.waits and answer.ok:
        post.killed(names, sending.keys)
    packets = post.taken(names)
    ways = {word: providers(sending, word) for word in scene.judge.readings[CHOICE]}
    everyone = frozenset().union(*ways.values()) if sending.privacy != "none" else frozenset({"clear"})
    if everyone == {""} or ("" in everyone and not packets):
        _judge_failure(post, sending, answer.ok, packets)
        return
    if not answer.ok:
        return  # no step demands that each hash and cipher is supported
    scene.same((SIGNED_IDS if sending.privacy == "none" else ENCRYPTED_IDS)[0], "packets", len(names), len(packets))
    for data in packets:
        packet = dissect(data)
        plain = _judge_encryption(scene, sending, packet, ways) if sending.privacy != "none" else packet
        _judge_signature(scene, sending, packet, plain)
        _judge_sender(post, sending, packet)
        _judge_members(scene, sending, packet)
        its = scene.judge.options
        judged = judge_packet(data, profile=its.profile, readings=its.readings, transport="buffer", level=its.level)
        scene.judge.record(*(one for one in judged if one.outcome is not Outcome.INCONCLUSIVE))


def _judge_failure(post: Post, sending: Sending, accepted: bool, packets: list[bytes]) -> None:
    """Judge that a message that cannot be encrypted is never sent, and is a dead letter if it wants that."""
    scene, names = post.scene, PLACES[sending.place]
    scene.same(FAILED, "packets", 0, len(packets))
    post.declare(("advanced", "enhanced"))
    scene.same(FAILED, "packets later", 0, len(post.taken(names)))
    if not accepted:
        return
    _judge_history(scene, names[0], keyless=not (sending.keys or names[0].startswith("DIRECT=")))
    if not scene.mq.hello.takes("format_names", "dead_letter"):
        return
    system = f"DIRECT=OS:{scene.mq.hello.computer}\\SYSTEM$;DEADLETTER"
    opened = scene.call("open the dead letters", "queues.open", format_name=system, access="receive")
    if opened.ok:
        timeout = scene.mq.hello.settle_ms
        letter = scene.call("receive", "messages.receive", queue=opened.values["queue"], timeout_ms=timeout)
        scene.same(FAILED, "dead letter", sending.journaled, letter.ok)


def _judge_history(scene: Scene, name: str, *, keyless: bool) -> None:
    """Judge what the history of an outgoing queue tells of a message that could not be encrypted."""
    if not scene.mq.offers("management.get"):
        return
    number = ROWS["PROPID_MGMT_QUEUE_CONNECTION_HISTORY"].number
    told = scene.call("read its history", "management.get", target=queue_target(name), properties=[number])
    given = told.values["values"][0] if told.ok else None
    if given is None or no_value(given):
        return
    statuses, _, errors = (value_of(one) for one in columns(given)[:3])
    scene.same(FAILED, "last status", [_NOT_VALIDATED], statuses[-1:])
    if keyless and errors:
        error = errors[-1] & 0xFFFFFFFF
        judge_code(scene, KEYLESS, error, (MQ_ERROR_COMPUTER_DOES_NOT_SUPPORT_ENCRYPTION,))


def _judge_encryption(scene: Scene, sending: Sending, packet: Packet, ways: Mapping[str, frozenset[str]]) -> Packet:
    """Judge how a body is encrypted; return the packet with its body in the clear."""
    body, blob = signatures.octets(packet, f"{_M}MessageBody"), packet.fields.get(f"{_S}EncryptionKey")
    opened = encryption.unwrapped(blob) if isinstance(blob, bytes) else None
    scene.same(ENCRYPTED_IDS[0], "EB", 1, packet.fields.get(f"{_F}EB"))
    scene.same(f"{_QB}5.public-key", "opened by a key of the receiver", wanted=True, found=opened is not None)
    word, key = opened or ("", b"")
    fits = [reading for reading, words in ways.items() if word in words]
    other = [each for each in catalogue().readings[CHOICE].alternatives if word not in providers(sending, each)]
    taken = ((CHOICE, either(fits)),) if fits and other else ()
    provider = encryption.PROVIDERS.get(word)
    algorithm = int(packet.fields.get(f"{_M}EncryptionAlgorithm", 0))
    bits = provider.key_bits(algorithm) if provider else 0
    told: Json = {"provider": word, "bits": len(key) * 8}
    wanted: Json = {"provider": sorted({one for words in ways.values() for one in words}), "bits": bits}
    scene.expect(f"{_QB}5.key-length", bool(fits) and len(key) * 8 == bits, wanted, told, taken)
    clear = encryption.decrypted_body(algorithm, key, body) if key else None
    right = clear == sending.body if algorithm != _RC2 else body != sending.body
    shown: Json = {"body": clear.hex() if clear else None}
    scene.expect("MQMQ-2.2.20.6.body-encrypted-sender", right, {"body": sending.body.hex()}, shown)
    return dissect(rebuild(packet, {f"{_M}MessageBody": clear or sending.body})) if packet.whole else packet


def _judge_signature(scene: Scene, sending: Sending, packet: Packet, plain: Packet) -> None:
    """Judge a signature: its kind, its hash, and its readings. plain: the packet with its body in the clear."""
    place, prefix, _ = signatures.PLACES[sending.place == "list"]
    there = any(key in packet.fields for key, _, _ in signatures.PLACES)
    scene.same(SIGNED_IDS[0], "signed", bool(sending.kind), there)
    if not sending.kind:
        return
    if sending.place == "list":
        scene.same(f"{_QB}4.signature-place", "in the list", wanted=True, found=place in packet.fields)
    forms = {
        over: form for over, form in (("clear", plain), ("as-sent", packet)) if over in scene.judge.readings[SIGNED]
    }
    found = {over: signatures.signature_facts(form) for over, form in forms.items()}
    slipped = {over for over, facts in found.items() if facts.get(f"{prefix}.Slip")}
    fits = [over for over in found if found[over].get(f"{prefix}.Kind") == sending.kind and over not in slipped]
    told = {over: facts.get(f"{prefix}.Kind") for over, facts in found.items()}
    taken = ((SIGNED, either(fits)),) if plain is not packet and fits else ()
    for demand in (f"MQMQ-2.2.20.6.signature-{sending.kind}", SIGNED_IDS[0]):
        scene.expect(demand, bool(fits), {"kind": sending.kind}, {"kind": told}, taken)
    declared = packet.fields.get(f"{_M}HashAlgorithm")
    scene.same(HASH if sending.algorithm else STRONGEST, "hash", sending.algorithm or SHA512, declared)


def _judge_sender(post: Post, sending: Sending, packet: Packet) -> None:
    """Judge sender and certificate of a packet that has a SecurityHeader."""
    scene, fields = post.scene, packet.fields
    if f"{_F}ST" not in fields:
        return
    given, certificate = fields.get(f"{_S}SecurityID"), fields.get(f"{_S}SenderCert")
    wanted = None if sending.sender_type == "none" else sid_bytes(post.user.sid)
    right = given == wanted and fields[f"{_F}ST"] == int(wanted is not None)
    if sending.kind or given is not None or wanted is None:
        told = given.hex() if isinstance(given, bytes) else None
        scene.expect(SENDER_ID, right, {"sender": wanted.hex() if wanted else None}, {"sender": told})
    if sending.kind:
        scene.same(
            "MQDMPR-3.1.1.12.sender-certificate", "as given", wanted=True, found=certificate == FIRST.certificate
        )


def _judge_members(scene: Scene, sending: Sending, packet: Packet) -> None:
    """Judge that label and extension of a packet are those of the message, and absent where it has none."""
    label, extension = str(sending.more.get("label", "")), sending.more.get("extension")
    length, data = packet.fields.get(f"{_M}LabelLength"), packet.fields.get(f"{_M}ExtensionData")
    wanted, told = [label, bool(label)], [packet.fields.get(f"{_M}Label", ""), bool(length)]
    scene.expect("MQDMPR-3.1.1.12.label-unchanged", told == wanted, {"label": label}, {"label": str(told)})
    given = base64_of(data) if isinstance(data, bytes) and data else None
    scene.same("MQDMPR-3.1.1.12.extension-unchanged", "extension", extension, given)


_LEVELS: Final = ("sig20", "sig10", "sig30", "none", "sig20")
_SENDERS: Final = (None, "none", "sid", None, "none")
_PLACES: Final = ("direct", "list", "private", "public", "list")
_MORE: Final[tuple[dict[str, Json], ...]] = (
    {"label": "of a label", "priority": 7, "application_tag": 5},
    {"delivery": "recoverable", "response_queue": _OTHER, "extension": "ZXh0"},
    {"positive_journaling": True, "body_type": 17, "correlation_identifier": "AAECAwQFBgcICQoLDA0ODxAREhM="},
    {"acknowledgements": ["negative_arrival"], "administration_queue": _OTHER, "priority": 0},
    {},
)
_FORMS: Final[tuple[dict[str, Json], ...]] = (
    {},
    {"extension": "ZXh0ZW5zaW9u"},
    {"label": "l" * 249, "application_tag": 0xFFFF_FFFF},
    {"response_queue": _OTHER, "administration_queue": _DIRECT, "acknowledgements": ["positive_receive"]},
    {"correlation_identifier": base64_of(bytes(range(1, 21))), "extension": "ZXh0", "priority": 0},
)
_EDGES: Final = (0, 1, 255, 256, 257)
_KEYS: Final = (("base",), ("enhanced",), ("advanced", "base"), ("advanced", "enhanced"), ())
_SIZES: Final = (11, 1, 15, 16, 500)
_RECEIVERS: Final = ("private", "public", "direct", "private", "public")


def _level(scene: Scene, at: int) -> str:
    known = ("none", *(signatures.LEVELS[kind] for kind in signatures.kinds_of(scene.judge.profile)))
    return _LEVELS[at] if _LEVELS[at] in known else known[-1]


def signed(scene: Scene, row: int) -> None:
    """Messages of a row of the array are sent: signature, destination, sender, hash, and other members."""
    post = Post(scene)
    for column in range(LEVELS):
        level, place, sender, algorithm, more, journal = levels(row, column)
        where, who = _PLACES[place], _SENDERS[sender]
        hashed = arrivals.hash_of(scene, algorithm) if algorithm else None
        judge(post, Sending(_level(scene, level), where, who, hashed, journaled=journal > 2, more=_MORE[more]))


def encrypted(scene: Scene, row: int) -> None:
    """Messages of a row of the array are sent encrypted: keys, level, signature, destination, sender, dead letter."""
    post = Post(scene)
    for column in range(LEVELS):
        keys, privacy, level, place, sender, journal = levels(row, column)
        where, word = _RECEIVERS[place], "enhanced" if privacy % 2 else "base"
        its = Sending(_level(scene, level), where, _SENDERS[sender], SHA1, word, _KEYS[keys], journal % 2 == 1)
        judge(post, replace(its, size=_SIZES[journal]))


def varied(scene: Scene, row: int) -> None:
    """Messages of a row of the array are sent: signature, destination, members, size, and a kill before they go."""
    post = Post(scene)
    for column in range(LEVELS):
        level, place, form, size, private, wait = levels(row, column)
        where, more = _RECEIVERS[place], dict(_FORMS[form])
        word = ("none", "base", "none", "enhanced", "none")[private]
        where = _PLACES[place] if word == "none" else where
        more |= _first() if form % 2 and _LEVELS[level] == "none" else {}
        its = Sending(_level(scene, level), where, _SENDERS[size], SHA1, word, _KEYS[3], more=more)
        judge(post, replace(its, size=_EDGES[size], waits=wait % 2 == 1 and scene.mq.keeps_state))


def _first() -> dict[str, Json]:
    return {"certificate": base64_of(FIRST.certificate)}


def _second() -> dict[str, Json]:
    return {"certificate": base64_of(second().certificate)}


_REFUSED: Final[Mapping[str, tuple[Callable[[], dict[str, Json]], tuple[int, ...]]]] = MappingProxyType(
    {
        "invalid-certificate": (lambda: {"certificate": "bm9uZQ=="}, (MQ_ERROR_INVALID_CERTIFICATE,)),
        "cannot-create-hash-ex": (lambda: {**_first(), "hash_algorithm": 0x9999}, (MQ_ERROR_CANNOT_CREATE_HASH_EX,)),
        "cannot-sign-data-ex": (_second, (MQ_ERROR_CANNOT_SIGN_DATA_EX,)),
        "certificate-not-provided": (
            lambda: {"certificate": ""},
            (MQ_ERROR_CERTIFICATE_NOT_PROVIDED, MQ_ERROR_INVALID_CERTIFICATE),
        ),
        "no-internal-user-cert": (dict, (MQ_ERROR_NO_INTERNAL_USER_CERT, MQ_ERROR_CERTIFICATE_NOT_PROVIDED)),
        "corrupted-personal-cert-store": (_first, (MQ_ERROR_CORRUPTED_PERSONAL_CERT_STORE,)),
        "encryption-provider-not-supported": (
            lambda: {"authentication": "none", "privacy": "base", "encryption_algorithm": _DES},
            (MQ_ERROR_ENCRYPTION_PROVIDER_NOT_SUPPORTED,),
        ),
    }
)
"""Word of a code to the members of a message that cannot be signed, and the codes that tell of it."""
_UNREAD: Final[Mapping[str, tuple[Arrival, int]]] = MappingProxyType(
    {
        "fail-verify-signature-ex": (Arrival(2, changed="signature"), MQ_ERROR_FAIL_VERIFY_SIGNATURE_EX),
        "corrupted-security-data": (Arrival(cipher=RC4, locked=True), MQ_ERROR_CORRUPTED_SECURITY_DATA),
    }
)
"""Word of a code to a packet that is refused."""
SENT_CODES, READ_CODES = (tuple(f"{_CODE}{word}" for word in words) for words in (_REFUSED, _UNREAD))
UNSIGNED: Final = f"{_CODE}message-not-authenticated"


def judge_code(scene: Scene, demand: str, status: int | None, codes: tuple[int, ...]) -> None:
    """Judge the code of a call that failed; without one there is nothing to judge."""
    scene.expect(demand, status in (None, *codes), {"status": list(codes)}, {"status": status})


def refused(scene: Scene, word: str) -> None:
    """A message cannot be signed: it is refused, or at least never sent."""
    store = [{**FIRST.personal(), "key": "bm9uZQ=="}] if word == "corrupted-personal-cert-store" else [FIRST.personal()]
    post, (members, codes) = Post(scene, store), _REFUSED[word]
    post.declare(("base",))
    listed = scene.call("read the certificates", "security.certificates", caller=post.user.sid)
    if word == "no-internal-user-cert" and any(one["internal"] for one in listed.values.get("certificates", ())):
        raise Untold("the user has an internal certificate")
    place = PLACES["private" if word == "encryption-provider-not-supported" else "direct"]
    answer = post.sent(place, {"body": "YQ==", "authentication": "sig10", **members()})
    if answer is None or (answer.ok and place is PLACES["private"]):
        raise Untold("the queue cannot be opened, or the manager takes another cipher")
    if not answer.ok:
        judge_code(scene, f"{_CODE}{word}", answer.status, codes)
    elif packets := post.taken(place):
        scene.same(f"{_CODE}{word}", "packets", 0, len(packets))
    else:
        raise Untold("the message is taken and never sent, so that no code is told")


def here(scene: Scene) -> None:
    """Messages are sent to a queue of this computer by the user of calls without `as`, and as another user."""
    scene.mq.need("message", "sender_type")
    user, name = scene.plain(), scene.queue()
    scene.given(queue_target(name), Descriptor(), DACL)
    sender, reader = _handles(scene, name)
    for caller, sender_type in product((None, user.sid), ("sid", "none", None)):
        message: dict[str, Json] = {"body": "YQ==", **({"sender_type": sender_type} if sender_type else {})}
        scene.call("send", "messages.send", caller, queue=sender, message=message)
        found = scene.call("receive", "messages.receive", queue=reader, timeout_ms=scene.mq.hello.settle_ms)
        if not found.ok or "authentication" not in found.values["message"]:
            raise Untold("the driver shows no sender")
        wanted = None if sender_type == "none" else caller or scene.owner
        scene.same(SENDER_ID, "sender", wanted, found.values["message"].get("sender"))


def _handles(scene: Scene, name: str) -> tuple[Json, Json]:
    """Open a queue to send to it and to receive from it."""
    opened = [
        scene.call(f"open to {word}", "queues.open", format_name=name, access=word) for word in ("send", "receive")
    ]
    if not all(one.ok for one in opened):
        raise Untold("the queue could not be opened")
    return opened[0].values["queue"], opened[1].values["queue"]


def not_authenticated(scene: Scene) -> None:
    """A message without a signature is sent to a queue of this computer that wants one."""
    name = scene.queue(PROPID_Q_AUTHENTICATE=1)
    sender, reader = _handles(scene, name)
    answer = scene.call("send", "messages.send", queue=sender, message={"body": "YQ=="})
    found = scene.call("receive", "messages.receive", queue=reader, timeout_ms=scene.mq.hello.settle_ms)
    free = "no-effect" in scene.judge.readings[arrivals.BINDS]
    scene.expect(arrivals.ATTRIBUTES[0], free or not found.ok, {"arrives": free}, {"arrives": found.ok})
    if not answer.ok:
        judge_code(scene, UNSIGNED, answer.status, (MQ_ERROR_MESSAGE_NOT_AUTHENTICATED,))


def unread(scene: Scene, word: str) -> None:
    """A packet arrives whose signature is wrong, or whose body cannot be decrypted."""
    desk, (arrival, code), demand = arrivals.Desk(scene), _UNREAD[word], f"{_CODE}{word}"
    if arrival.kind:
        desk.way(arrival)
    message, _ = desk.came(arrival, None)
    scene.same(demand, "taken", wanted=False, found=message is not None or desk.status == 0)
    judge_code(scene, demand, desk.status, (code,))


STORIES: Final[Mapping[str, Callable[[Scene], None]]] = MappingProxyType(
    {
        **{f"sends-signed-{row}": partial(signed, row=row) for row in range(LEVELS)},
        **{f"sends-encrypted-{row}": partial(encrypted, row=row) for row in range(LEVELS)},
        **{f"sends-varied-{row}": partial(varied, row=row) for row in range(LEVELS)},
        "sends-here": here,
        **{f"refused-{word}": partial(refused, word=word) for word in _REFUSED},
        "refused-unsigned": not_authenticated,
        **{f"unread-{word}": partial(unread, word=word) for word in _UNREAD},
    }
)
