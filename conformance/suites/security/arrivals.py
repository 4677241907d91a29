"""Packets that arrive signed, encrypted or with a sender, and what becomes of them: MS-MQQB 3.1.5.8.3.

The order of the checks is signature, identity of the sender, decryption, right to write. What the queue demands
(MS-MQDMPR 3.1.1.2) has no place among them. Packets are for private names: 3.1.5.8.3 looks at no others.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from itertools import combinations, product
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from conformance.judge.dialogues.groups import BAD_ENCRYPTION, BAD_SIGNATURE
from conformance.judge.packets import encryption, signatures
from conformance.judge.packets.rules_signatures import AES128, AES192, AES256, HASHES, RC4
from conformance.model import rights
from conformance.model.descriptors import DACL, DENY, Descriptor, Entry
from conformance.model.rights import ANONYMOUS, EVERYBODY, User, allowed
from conformance.spec.catalogue import catalogue, reading_id
from conformance.spec.followed_readings import either
from conformance.spec.versions import PROFILES
from conformance.suites.packets.messages import base64_of
from conformance.suites.packets.signing import FIRST, second, ways
from conformance.suites.security.crossings import LEVELS, levels
from conformance.suites.security.scene import Scene, allow, private_name, queue_target
from conformance.suites.story_table import Untold
from conformance.wire import dissect, encode, patch, rebuild
from conformance.wire.certificates import SHA1, SHA256, SHA512
from conformance.wire.layout import Value
from conformance.wire.security_items import sid_bytes, simple_blob

if TYPE_CHECKING:
    from conformance.verdict import Json

ACCESS_DENIED: Final = 0x8004
_SENDER, _OTHER = "6f9619ff-8b86-d011-b42d-00c04fc964ff", "2c1e7d43-51a0-4b6e-9f3c-7a8d0e5b6c21"
_STRANGER: Final = "S-1-5-21-11-22-33-4444"  # nobody whom the manager knows
_NOBODY: Final = 0x7FFFFFFF  # the number of no queue
_PR, _NA, _NR = 2, 4, 8
_RECEIVED: Final = 0x4000
RECEIVED: Final = "MQDMPR-3.1.1.12.ack-pos-receive"
_B, _U, _M, _F = "BaseHeader.", "UserHeader.", "MessagePropertiesHeader.", "SecurityHeader.Flags."
_S: Final = "SecurityHeader.SecurityData."
_LIST: Final = "MultiQueueFormatHeader.Destination.FormatNameList.0.DirectFormatName"
_LEVELS, _ALGORITHM, _MODE = f"{_M}PrivacyLevel", f"{_M}EncryptionAlgorithm", f"{_U}Flags.DM"
_NUMBER: Final = f"{_U}DestinationQueue.PrivateQueueIdentifier"
_QB, _LEVEL = "MQQB-3.1.5.8.3.", "MQDMPR-3.1.7.1.31.authentication-level-"
LEVEL, BINDS = (reading_id(f"R-MQDMPR-{word}") for word in ("authentication-level-field", "attribute-without-event"))
SIGNED, INSECURE_READING, *_CHECKED = (
    reading_id(f"R-MQQB-{word}")
    for word in (
        *("signed-and-encrypted", "insecure-nacks", "sender-absent", "sender-is-manager"),
        *("unsigned-access", "one-destination-sig30"),
    )
)
SENDERLESS, MANAGERS, HEADERLESS, ONE = _CHECKED
CLASSES: Final[Mapping[str, int]] = MappingProxyType(
    {"bad-signature": BAD_SIGNATURE, "sender": BAD_SIGNATURE, "bad-encryption": BAD_ENCRYPTION, "access": ACCESS_DENIED}
)
"""The class of the acknowledgment by the check that refuses, in the order of the checks."""
_WORDS: Final = ((BAD_SIGNATURE, "bad-signature"), (BAD_ENCRYPTION, "bad-encryption"), (ACCESS_DENIED, "access-denied"))
CLASS_IDS: Final[Mapping[int, tuple[str, str]]] = MappingProxyType(
    {number: (f"MQMQ-2.2.18.1.6.nack-{word}", f"MQDMPR-3.1.1.12.class-nack-{word}") for number, word in _WORDS}
)
SIGNATURE, DECRYPTED, ACCESS = (f"{_QB}{word}" for word in ("signature", "decrypted", "access"))
INSECURE: Final = "MQQB-3.1.7.15.insecure"
ATTRIBUTES: Final = tuple(
    f"MQDMPR-3.1.1.2.{word}" for word in ("authentication", "privacy-level-none", "privacy-level-body")
)
SENDER_ID: Final = "MQDMPR-3.1.1.12.sender-identifier"
SHOWN, PRIVACY = (f"MQDMPR-3.1.7.1.31.{word}-fields" for word in ("security", "properties"))
AUTHENTICATED: Final = tuple(f"{_LEVEL}{word}" for word in ("sig10", "sig20", "sig30", "attribute", "source"))

_OTHER_CASE: Final = "another case"
CHANGES: Final[Mapping[str, tuple[str, Value]]] = MappingProxyType(
    {
        "correlation": (f"{_M}CorrelationID", bytes(range(20))),
        "application-tag": (f"{_M}ApplicationTag", 99),
        "body": (f"{_M}MessageBody", b"BODY"),
        "label": (f"{_M}Label", "arrivaL\0".encode("utf-16-le")),
        "response-queue": (f"{_U}ResponseQueue.DirectFormatName", _OTHER_CASE),
        "admin-queue": (f"{_U}AdminQueue.DirectFormatName", _OTHER_CASE),
        "destination-queue": (_NUMBER, 0),
        "format-names": (_LIST, _OTHER_CASE),
        "extension": (f"{_M}ExtensionData", b"EXTENSIO"),
        "source": (f"{_U}SourceQueueManager", _OTHER),
        "delivery-mode": (f"{_U}Flags.DM", 1),
        "priority": (f"{_B}Flags.PR", 5),
        "journaling": (f"{_U}Flags.JN", 1),
        "flags": (f"{_M}Flags", _NA | _NR),
        "message-class": (f"{_M}MessageClass", 1),
        "body-type": (f"{_M}BodyType", 17),
        "connector": (f"{_U}ConnectorType", _OTHER),
        "hash": (f"{_M}HashAlgorithm", SHA256),
        "unknown hash": (f"{_M}HashAlgorithm", 0x9999),
        "signature": ("", 0),
        "certificate": (f"{_S}SenderCert", 0),
    }
)
"""Changes of a signed packet: the place in it, and the new value."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """A packet and the queue it is for.

    kind: of its signature, 0 for none. listed: a signature of kind 3 is in the list header. sender: registered,
    unregistered (unknown), foreign (the certificate is another user's), manager (its identifier) or none. algorithm: of
    its hash. changed: a word of CHANGES. cipher: of its body, 0 for none. provider: whose key that uses. locked: with a
    key that the manager does not have. authenticated, privacy: what the queue demands, PROPID_Q_PRIV_LEVEL. right: who
    may write to it. size: of the body. asks: acknowledgment bits. connected: it names a connector, and is
    recoverable. key: the first byte of the key of the body. outlives: the manager is killed before it arrives, and
    after that if it is recoverable. carries: further fields of the packet.
    """

    kind: int = 0
    sender: str = "registered"
    algorithm: int = SHA1
    changed: str = ""
    listed: bool = True
    cipher: int = 0
    provider: str = "enhanced"
    locked: bool = False
    authenticated: bool = False
    privacy: int = 1
    right: str = "everybody"
    size: int = 4
    asks: int = _NA
    connected: bool = False
    key: int = 1
    outlives: bool = False
    carries: Mapping[str, Value] = field(default_factory=dict)

    @property
    def recoverable(self) -> bool:
        """It outlives a restart, and its acknowledgments do."""
        mode = self.carries.get(_MODE, self.connected and not self.changed)
        return bool(mode) or self.changed == "delivery-mode"

    @property
    def unreadable(self) -> bool:
        """Its body cannot be decrypted: the key is another one, or the level or the algorithm is in no table."""
        return bool(self.cipher) and (self.locked or not {_LEVELS, _ALGORITHM}.isdisjoint(self.carries))

    @property
    def secured(self) -> bool:
        """It has a SecurityHeader, without which none of the checks is made."""
        return bool(self.kind or self.cipher or self.sender != "none")

    @property
    def place(self) -> str:
        """Where its signature stands."""
        return signatures.MULTIPLE_SIGNATURE if self.kind == 3 and self.listed else signatures.SIGNATURE

    @property
    def spoilt(self) -> bool:
        """Its signature does not fit: a field that it is over was changed, or something it needs."""
        apart = ("hash", "unknown hash", "signature", "certificate")
        return bool(self.kind) and self.changed in (*signatures.ORDER[self.kind], *apart)

    @property
    def barred(self) -> tuple[str, ...]:
        """The demands of its queue that it does not meet."""
        private = bool(self.cipher)
        bars = (self.authenticated and not self.kind, private and self.privacy == 0, not private and self.privacy == 2)
        return tuple(demand for demand, bar in zip(ATTRIBUTES, bars, strict=True) if bar)

    @property
    def body(self) -> bytes:
        """The body in the clear."""
        return (b"body" * (self.size // 4 + 1))[: self.size]


def refused_by(arrival: Arrival, dacl: tuple[Entry, ...], token: frozenset[str], chosen: Mapping[str, str]) -> str:
    """Return the check that refuses a packet, by its word in CLASSES; empty if none does.

    token: of its sender. chosen: an alternative of each reading of `_CHECKED`.
    """
    unseen = arrival.kind == 3 and not arrival.listed and chosen[ONE] == "refused"
    if arrival.spoilt or unseen:
        return "bad-signature"
    known = {"registered": True, "none": True, "manager": chosen[MANAGERS] == "signed-only"}
    if arrival.kind and not known.get(arrival.sender, False):
        return "sender"
    if arrival.unreadable:
        return "bad-encryption"
    if not arrival.secured and chosen[HEADERLESS] == "passes":
        return ""
    if arrival.secured and arrival.sender == "none" and chosen[SENDERLESS] == "denied":
        return "access"
    return "" if allowed(Descriptor(dacl=dacl), token, rights.WRITE_MESSAGE) else "access"


def dacl_of(word: str, user: User, sender: str = "registered") -> tuple[Entry, ...]:
    """Return a DACL that lets somebody write: the user, a group of the user, everybody, nobody, or everybody else.

    word: may be the SID of a group. sender: of the packet; one without a user is as everybody, or the anonymous logon,
    alone.
    """
    if word in user.groups:
        return (allow(word, rights.WRITE_MESSAGE),)
    everybody = tuple(allow(sid, rights.WRITE_MESSAGE) for sid in (EVERYBODY, ANONYMOUS))
    alone = {"manager": everybody[:1], "none": everybody[1:]}
    return {
        "user": (allow(user.sid, rights.WRITE_MESSAGE),),
        "group": tuple(allow(sid, rights.QUEUE_ALL) for sid in sorted(user.groups)),
        "everybody": alone.get(sender, everybody),
        "nobody": tuple(allow(sid, rights.QUEUE_ALL & ~rights.WRITE_MESSAGE) for sid in (user.sid, EVERYBODY)),
        "others": (Entry(DENY, rights.WRITE_MESSAGE, user.sid), *everybody),
    }[word]


@dataclass(frozen=True, slots=True)
class _Queue:
    """A queue: its direct format name, its number in private ones, and a handle to receive from it."""

    name: str
    number: int
    handle: Json = None


class Desk:
    """A manager with users in its directory, a queue for acknowledgments, and a counter of packets."""

    def __init__(self, scene: Scene) -> None:
        hash_of(scene, 0)
        self.scene, self._last = scene, 0
        self._count = 0 if scene.mq.offers("reset") else int(scene.mq.unique(), 16) // 1_000 % 0x7FFF0000
        self.status: int | None = None
        self.user = scene.one("a member of a group", lambda one: bool(one.groups))
        other = scene.one("another user", lambda one: one != self.user)
        self.sids = {"registered": self.user.sid, "foreign": other.sid, "unregistered": _STRANGER}
        self.tokens = {
            "registered": self.user.token,
            "foreign": other.token,
            "unregistered": frozenset((_STRANGER, EVERYBODY)),
            "manager": frozenset((EVERYBODY,)),
            "none": frozenset((ANONYMOUS, EVERYBODY)),
        }
        given = ((self.user, (second(), FIRST)), (other, (second(),)))
        self._users = [
            {"sid": one.sid, "certificates": [base64_of(each.certificate) for each in signers]}
            for one, signers in given
        ]
        self._declare()
        self._admin = self._queue()
        self._ways: dict[tuple[int, str], signatures.Signing] = {}
        self.tells = self.told(Arrival(sender="none"), _Queue("DIRECT=OS:nobody", _NOBODY)) is not None
        """The manager sends acknowledgments that tell of queues and rights."""

    @cached_property
    def readings(self) -> Mapping[str, tuple[str, ...]]:
        """The accepted alternatives of each reading; the one that the driver claims, if it does."""
        claims, accepted = self.scene.mq.hello.readings, self.scene.judge.readings
        return {each: (claims[each],) if claims.get(each) in words else words for each, words in accepted.items()}

    @cached_property
    def _keys(self) -> Mapping[str, tuple[int, int]]:
        told = (self.scene.mq.hello.security or {}).get("encryption_keys", "")
        return encryption.keys_of(base64.b64decode(told))

    @cached_property
    def _anybodys(self) -> _Queue:
        queue = self._queue()
        self.scene.given(queue_target(queue.name), Descriptor(), DACL)
        return queue

    @cached_property
    def over(self) -> str:
        """The manager's alternative of R-MQQB-signed-and-encrypted."""
        accepted = self.readings[SIGNED]
        self.way(Arrival(1))
        sample = Arrival(1, cipher=RC4)
        packets = {over: self.packet(sample, self._anybodys, over) for over in accepted}
        return next((over for over in accepted if self._arrived(packets[over])), accepted[0])

    def way(self, arrival: Arrival) -> signatures.Signing:
        """Return how the manager wants a packet signed. Records a failure if it takes no allowed way."""
        kind, place = arrival.kind, arrival.place
        if (kind, place) in self._ways:
            return self._ways[kind, place]
        for sender in ("registered", "none"):
            seen: set[bytes] = set()
            for way in ways(self.readings, kind, place):
                self._ways[kind, place] = way
                packet = self.packet(Arrival(kind, sender, listed=arrival.listed), self._anybodys, "clear")
                signature = signatures.octets(dissect(packet), place)
                if signature in seen:
                    continue
                seen.add(signature)
                if self._arrived(packet):
                    registered = sender == "registered"
                    self.scene.expect(f"{_QB}sender", registered, {"arrives": True}, {"arrives": registered})
                    return way
                if not arrival.listed:
                    return way  # such a one may not be taken at all
        self.scene.expect(SIGNATURE, False, {"arrives": True}, {"arrives": False})
        raise Untold("no signature is taken")

    def _declare(self) -> None:
        self.scene.call("declare users and their certificates", "directory", objects=[], users=self._users)

    def _opened(self, queue: _Queue) -> _Queue:
        opened = self.scene.call("open it to receive", "queues.open", format_name=queue.name, access="receive")
        if not opened.ok:
            raise Untold("no queue could be opened")
        return replace(queue, handle=opened.values["queue"])

    def _queue(self, **properties: Json) -> _Queue:
        """Create a queue whose name is aligned in a list of names, and open it."""
        path = self.scene.path_name()
        path += "x" * (len(f"OS:{path}") % 2)
        made = self.scene.call("create a queue", "queues.create", path_name=path, properties=properties)
        private = private_name(self.scene.mq, path, self._last) if made.ok else None
        if private is None:
            raise Untold("no queue could be created and called by its number")
        self._last = int(private.rpartition("\\")[2], 16)
        return self._opened(_Queue(f"DIRECT=OS:{path}", self._last))

    def packet(self, arrival: Arrival, queue: _Queue, over: str) -> bytes:
        """Return a packet for a queue. over: as R-MQQB-signed-and-encrypted has it."""
        self._count += 1
        queues = {"A": ("AdminQueue", self._admin.name), "R": ("ResponseQueue", f"{self._admin.name}-r")}
        values: dict[str, Value] = {
            f"{_U}SourceQueueManager": _SENDER,
            f"{_U}QueueManagerAddress": str(self.scene.mq.hello.queue_manager),
            f"{_U}MessageID": self._count,
            f"{_U}Flags.DQ": 3,
            _NUMBER: (self._admin if arrival.changed == "destination-queue" else queue).number,
            **{f"{_U}Flags.{letter}Q": 7 for letter in queues},
            **{f"{_U}{field}.DirectFormatName": name.removeprefix("DIRECT=") for field, name in queues.values()},
            f"{_M}Flags": arrival.asks,
            f"{_M}Label": "arrival",
            f"{_M}ExtensionData": b"extensio",
            f"{_M}HashAlgorithm": arrival.algorithm,
            f"{_M}MessageBody": arrival.body,
            _MODE: int(arrival.recoverable and arrival.changed != "delivery-mode"),
            **({f"{_U}ConnectorType": _SENDER} if arrival.connected else {}),
            **({_LIST: queue.name.removeprefix("DIRECT=")} if arrival.place != signatures.SIGNATURE else {}),
            **self._security(arrival),
            **arrival.carries,
        }
        clear = encode("UserMessage", values)
        locked = {**self._encrypted(arrival), **arrival.carries} if arrival.cipher else {}
        sent = encode("UserMessage", values | locked) if arrival.cipher else clear
        if not arrival.kind:
            return sent
        way = self._ways[arrival.kind, arrival.place]
        made = dissect(signatures.sign(clear if over == "clear" else sent, way))
        signed = patch(dissect(sent), {way.place: signatures.octets(made, way.place)})
        return _changed(signed, arrival.changed, way.place, queue.number) if arrival.changed else signed

    def _security(self, arrival: Arrival) -> dict[str, Value]:
        out: dict[str, Value] = {f"{_F}AI": 1, f"{_F}DE": 1} if arrival.secured else {}
        if arrival.sender == "manager":
            out |= {f"{_F}ST": 2, f"{_S}SecurityID": UUID(_SENDER).bytes_le}
        elif arrival.sender != "none":
            out |= {f"{_F}ST": 1, f"{_S}SecurityID": sid_bytes(self.sids[arrival.sender])}
        if arrival.kind:
            out |= {**signatures.CERTIFIED, arrival.place: bytes(signatures.SIZE)}
        return out

    def _encrypted(self, arrival: Arrival) -> dict[str, Value]:
        provider = encryption.PROVIDERS[arrival.provider]
        if arrival.provider not in self._keys:
            raise Untold("the driver does not tell the manager's keys")
        key = bytes(range(arrival.key, arrival.key + provider.key_bits(arrival.cipher) // 8))
        public = provider.public if arrival.locked else self._keys[arrival.provider]
        return {
            f"{_F}EB": 1,
            f"{_S}EncryptionKey": simple_blob(arrival.cipher, encryption.wrapped(key, public)),
            _LEVELS: provider.level,
            _ALGORITHM: arrival.cipher,
            f"{_M}MessageBody": encryption.encrypted_body(arrival.cipher, key, arrival.body),
        }

    def came(
        self, arrival: Arrival, dacl: tuple[Entry, ...] | None, over: str = "clear"
    ) -> tuple[Mapping[str, Json] | None, int | None]:
        """Deliver a packet to a new queue; return the message that arrived there, and the class of what was told."""
        demands = {"PROPID_Q_AUTHENTICATE": int(arrival.authenticated), "PROPID_Q_PRIV_LEVEL": arrival.privacy}
        queue = self._queue(**demands)
        self.scene.given(queue_target(queue.name), Descriptor(dacl=dacl), DACL)
        queue = self.killed(queue) if arrival.outlives else queue
        told = self.told(arrival, queue, over)
        queue = self.killed(queue) if arrival.outlives and arrival.recoverable else queue
        return self._read(queue), told

    def killed(self, queue: _Queue) -> _Queue:
        """Kill the manager and open a queue again, with the queue for acknowledgments and what the directory has."""
        self.scene.judge.step("the manager is killed and started again", {"restart": "killed"}, {})
        self.scene.mq.restart(kill=True)
        self._declare()
        self._admin = self._opened(self._admin)
        return self._opened(queue)

    def _arrived(self, packet: bytes) -> bool:
        """Tell whether a packet arrives in the queue that anybody may write to."""
        words = "deliver a packet as the manager may want it"
        self.scene.call(words, "packets.deliver", packet=base64_of(packet))
        self._read(self._admin)
        return self._read(self._anybodys) is not None

    def told(self, arrival: Arrival, queue: _Queue, over: str = "clear") -> int | None:
        """Deliver a packet; return the class of the acknowledgment that comes."""
        usual, its = Arrival(), {one.name: getattr(arrival, one.name) for one in fields(arrival)}
        words = {name: value for name, value in its.items() if value != getattr(usual, name)}
        packet = base64_of(self.packet(arrival, queue, over))
        self.status = self.scene.call(f"deliver a packet of {words}", "packets.deliver", packet=packet).status
        return self.acknowledged(arrival)

    def acknowledged(self, arrival: Arrival) -> int | None:
        """Return the class of the acknowledgment of a packet that has come."""
        told = self._read(self._admin)
        if told is None or "class" not in told:
            return None
        if "delivery" in told:
            wanted = "recoverable" if arrival.recoverable else "express"
            self.scene.same("MQQB-3.1.7.15.delivery", "delivery", wanted, told["delivery"])
        return int(told["class"])

    def _read(self, queue: _Queue) -> Mapping[str, Json] | None:
        timeout = self.scene.mq.hello.settle_ms
        answer = self.scene.call("receive", "messages.receive", queue=queue.handle, timeout_ms=timeout)
        return answer.values["message"] if answer.ok else None


def judge(desk: Desk, arrival: Arrival) -> None:
    """Deliver a packet and judge what becomes of it."""
    scene, accepted = desk.scene, desk.readings
    if arrival.kind:
        desk.way(arrival)
    dacl = dacl_of(arrival.right, desk.user, arrival.sender)
    over = desk.over if arrival.kind and arrival.cipher else "clear"
    message, told = desk.came(arrival, dacl, over)
    asked = bool(arrival.asks & _NA)
    if not asked:
        scene.same("MQQB-3.1.7.15.requested", "class", None, told)
    # Who verifies what was signed in the clear cannot do so before it is decrypted.
    unreadable = bool(arrival.kind) and arrival.unreadable and over == "clear"

    def check(chosen: Mapping[str, str]) -> str:
        return refused_by(arrival, dacl, desk.tokens[arrival.sender], chosen)

    def fits(chosen: Mapping[str, str]) -> bool:
        refused = check(chosen)
        right = told == CLASSES.get(refused) or not (desk.tells and asked)
        unread = unreadable and refused not in ("", "access") and told in (BAD_SIGNATURE, BAD_ENCRYPTION)
        return (message is None) is bool(refused) and (right or unread)

    every = [dict(zip(_CHECKED, words, strict=True)) for words in product(*(accepted[each] for each in _CHECKED))]
    if arrival.barred:
        _judge_bars(scene, arrival, {check(one) for one in every}, came=message is not None)
        return
    expected: dict[str, Json] = {"arrives": not check(every[0]), "class": CLASSES.get(check(every[0]))}
    actual: dict[str, Json] = {"arrives": message is not None, "class": told}
    chosen = next(filter(fits, every), None)
    if chosen is None:
        scene.expect(blamed(arrival, check(every[0]), message is not None, told), False, expected, actual)
        return
    words = {
        each: [one for one in catalogue().readings[each].alternatives if fits({**chosen, each: one})]
        for each in _CHECKED
    }
    taken = tuple(
        (each, either(fit)) for each, fit in words.items() if len(fit) < len(catalogue().readings[each].alternatives)
    )
    refused = check(chosen)
    demands = [f"{_QB}{refused}", *(CLASS_IDS[told] if told else ())] if refused else []
    if not refused:
        demands += [SIGNATURE, hash_id(arrival.algorithm)] if arrival.kind else []
        demands += [DECRYPTED] if arrival.cipher else []
        demands += [ACCESS] if arrival.secured else []
    for demand in demands:
        scene.expect(demand, True, expected, actual, taken)
    if message is not None:
        judge_shown(desk, arrival, message)
        if arrival.asks & _PR:
            scene.same(RECEIVED, "class", _RECEIVED, desk.acknowledged(arrival))


def hash_id(algorithm: int) -> str:
    """Return the requirement that a number stands for a hash algorithm."""
    return f"MQMQ-2.2.19.3.{HASHES[algorithm][0]}"


def blamed(arrival: Arrival, refused: str, came: bool, told: int | None) -> str:
    """Return the demand that is broken. refused: what has to refuse the packet. told: the class of what was told."""
    if refused:
        order = list(CLASSES.values())
        later = told in order and order.index(told) > order.index(CLASSES[refused])
        return f"{_QB}{refused}" if came or later else CLASS_IDS[CLASSES[refused]][0]
    if told == BAD_SIGNATURE and arrival.algorithm != SHA1:
        return hash_id(arrival.algorithm)
    usual = SIGNATURE if arrival.kind else ACCESS
    return {BAD_SIGNATURE: SIGNATURE, BAD_ENCRYPTION: DECRYPTED, ACCESS_DENIED: ACCESS}.get(told or 0, usual)


def _judge_bars(scene: Scene, arrival: Arrival, checks: set[str], *, came: bool) -> None:
    """Judge a packet that its queue may not take; with which class it says so is open."""
    free = "no-effect" in scene.judge.readings[BINDS] and "" in checks
    taken = ((BINDS, "no-effect" if came else "binds"),)
    for demand in arrival.barred if checks == {""} or came else ():
        scene.expect(demand, free or not came, {"arrives": free}, {"arrives": came}, taken)


def judge_shown(desk: Desk, arrival: Arrival, message: Mapping[str, Json]) -> None:
    """Judge what is shown of a packet that arrived."""
    scene, kind = desk.scene, signatures.LEVELS.get(arrival.kind, "none")

    def expect(demand: str, member: str, wanted: Json, readings: tuple[tuple[str, str], ...] = ()) -> None:
        scene.same(demand, member, wanted, message.get(member), readings)

    if arrival.cipher:
        expect(DECRYPTED, "body", base64_of(arrival.body))
    if "authentication" not in message:
        return
    level = message["authentication"]
    words = [kind if one == "verified" else "none" for one in scene.judge.readings[LEVEL]]
    taken = ((LEVEL, "verified" if level == kind else "from-packet"),) if arrival.kind else ()
    demands = f"{_LEVEL}{kind}", f"{_LEVEL}attribute", f"{_LEVEL}source"
    for demand in reversed(demands) if level == "none" else demands:
        expect(demand, "authentication", level if level in words else words[0], taken)
    expect(SENDER_ID, "sender", desk.sids.get(arrival.sender))
    expect(SHOWN, "certificate", base64_of(FIRST.certificate) if arrival.kind else None)
    if not arrival.cipher or arrival.provider != "advanced":
        expect(PRIVACY, "privacy", arrival.provider if arrival.cipher else "none")


_SENDERS: Final = ("registered", "none", "manager", "foreign", "registered")
_RIGHTS: Final = ("everybody", "user", "group", "nobody", "others")
_HASHES: Final = (SHA1, SHA256, SHA512)
_CIPHERS: Final = (("enhanced", RC4), ("advanced", AES256), ("base", RC4), ("advanced", AES128), ("advanced", AES192))
_QUEUES: Final = ((False, 1), (True, 1), (False, 0), (False, 2), (True, 0))
_SIZES: Final = (4, 1, 15, 16, 500)
_CASES: Final[tuple[Mapping[str, Any], ...]] = (
    {"kind": 1},
    {"kind": 2},
    {"kind": 3},
    {"cipher": RC4},
    {"kind": 2, "cipher": AES128, "provider": "advanced"},
)
_SPOILS: Final[tuple[Mapping[str, Any], ...]] = (
    {},
    {"changed": "signature", "locked": True},
    {"sender": "none", "changed": "signature"},
    {"right": "nobody"},
    {"sender": "none"},
)
_FORMS: Final[tuple[Mapping[str, Value], ...]] = (
    {},
    {f"{_M}Label": "", f"{_M}ExtensionData": b""},
    {f"{_M}Label": "", f"{_M}ExtensionData": b"extension"},
    {f"{_M}CorrelationID": bytes(range(1, 21)), f"{_M}ApplicationTag": 0xFFFF_FFFF},
    {f"{_M}Label": "l" * 249, f"{_M}ExtensionData": b"", f"{_M}BodyType": 8},
)
_MANNERS: Final = ((0, 3), (1, 0), (0, 7), (1, 3), (0, 0))  # delivery mode and priority
_BITS: Final[tuple[Mapping[str, Value], ...]] = (
    {},
    {f"{_F}X12": 1, f"{_F}X13": 1},
    {f"{_F}X14": 1, f"{_F}X15": 1, f"{_M}Flags.X": 5},
    {f"{_B}Flags.X4": 1, f"{_B}Flags.X0": 1, f"{_U}Flags.X1": 1},
    {f"{_U}Flags.X3": 1, f"{_U}Flags.X4": 1, f"{_B}Flags.X9": 1},
)
"""Bits that a receiver ignores (MS-MQMQ 2.2.19.1, 2.2.19.2, 2.2.19.3, 2.2.20.6)."""
_LOCKS: Final[tuple[Mapping[str, Value], ...]] = ({_LEVELS: 2}, {_LEVELS: 4}, {_LEVELS: 0xFFFF}, {_ALGORITHM: 0x6603})
_DEFECTS: Final[Mapping[str, Mapping[str, Any]]] = MappingProxyType(
    {
        "signature": {"kind": 2, "changed": "signature"},
        "sender": {"kind": 2, "sender": "unregistered"},
        "encryption": {"cipher": RC4, "locked": True},
        "access": {"right": "nobody"},
    }
)


def _kind(scene: Scene, at: int) -> int:
    return min((1, 2, 3, 0, 2)[at], len(signatures.kinds_of(scene.judge.profile)))


def hash_of(scene: Scene, at: int) -> int:
    """Return a hash algorithm that a manager has by default (MS-MQMQ note 7, MC-MQAC note 5). Raises Untold."""
    version = PROFILES.index(scene.judge.profile)
    if version < PROFILES.index("msmq-3.0"):
        raise Untold("the profile has no SHA-1")
    known = _HASHES if version >= PROFILES.index("msmq-4.0") else _HASHES[:1]
    return known[at % len(known)]


def signed(scene: Scene, row: int) -> None:
    """Packets of a row of the array arrive: kind of signature, sender, right, hash, queue and connector."""
    desk = Desk(scene)
    for column in range(LEVELS):
        kind, sender, right, algorithm, queue, extra = levels(row, column)
        hashed = hash_of(scene, algorithm)
        authenticated, asks = _QUEUES[queue][0], _NR if extra == 4 else _NA
        its = Arrival(_kind(scene, kind), _SENDERS[sender], hashed, right=_RIGHTS[right], authenticated=authenticated)
        judge(desk, replace(its, connected=extra % 2 == 1, asks=asks))


def encrypted(scene: Scene, row: int) -> None:
    """Encrypted packets of a row of the array arrive: cipher, queue, right, sender, kind of signature and size."""
    desk = Desk(scene)
    for column in range(LEVELS):
        cipher, queue, right, sender, kind, size = levels(row, column)
        (provider, algorithm), (authenticated, privacy) = _CIPHERS[cipher], _QUEUES[queue]
        its = Arrival(_kind(scene, kind), _SENDERS[sender], cipher=algorithm, provider=provider, size=_SIZES[size])
        judge(desk, replace(its, right=_RIGHTS[right], authenticated=authenticated, privacy=privacy))


def varied(scene: Scene, row: int) -> None:
    """Packets of a row of the array arrive: security, defect, members, delivery and priority, ignored bits and size."""
    desk = Desk(scene)
    for column in range(LEVELS):
        case, spoil, form, manner, bits, size = levels(row, column)
        mode, priority = _MANNERS[manner]
        carries = {**_FORMS[form], **_BITS[bits], _MODE: mode, f"{_B}Flags.PR": priority}
        its = {**_CASES[case], **_SPOILS[spoil], "carries": carries, "size": _SIZES[size], "asks": _NA | _PR}
        its["kind"] = min(its.get("kind", 0), len(signatures.kinds_of(scene.judge.profile)))
        judge(desk, Arrival(**its, algorithm=hash_of(scene, manner)))


def grouped(scene: Scene) -> None:
    """Each group of the sender alone may write."""
    desk = Desk(scene)
    for group in sorted(desk.user.groups):
        for kind in (0, 2):
            judge(desk, Arrival(kind, right=group))


def keyed(scene: Scene) -> None:
    """Several keys come from one source, one key from two, and levels and algorithms that are in no table."""
    desk = Desk(scene)
    for provider, cipher in _CIPHERS[:4]:
        for key, source in ((1, _SENDER), (2, _SENDER), (2, _OTHER), (3, _OTHER), (1, _SENDER), (1, _OTHER)):
            carries = {f"{_U}SourceQueueManager": source}
            judge(desk, Arrival(cipher=cipher, provider=provider, key=key, carries=carries))
    for lock, mode in product(_LOCKS, (0, 1)):
        judge(desk, Arrival(cipher=RC4, carries={**lock, _MODE: mode}))


def outliving(scene: Scene) -> None:
    """The demands of a queue, and what is known of a packet, are the same after a kill."""
    if not scene.mq.keeps_state:
        raise Untold("a restart of this connection does not find the state again")
    desk = Desk(scene)
    usual = Arrival(outlives=True, asks=_NA | _PR)
    for (authenticated, privacy), case, mode in product(_QUEUES, _CASES[1::2], (0, 1)):
        carries: Mapping[str, Value] = {_MODE: mode}
        judge(desk, replace(usual, authenticated=authenticated, privacy=privacy, carries=carries, **case))


def clear(scene: Scene) -> None:
    """Packets in the clear arrive at queues of each privacy, with and without a sender."""
    desk = Desk(scene)
    senders, written = ("none", "registered", "manager"), ("everybody", "nobody")
    for (authenticated, privacy), sender, right in product(_QUEUES, senders, written):
        judge(desk, Arrival(sender=sender, authenticated=authenticated, privacy=privacy, right=right))


def hashed(scene: Scene) -> None:
    """Packets signed with each hash algorithm arrive, and one signed as those of MSMQ 3.0 are in a list header."""
    desk = Desk(scene)
    for at, _ in enumerate(_HASHES):
        judge(desk, Arrival(1, algorithm=hash_of(scene, at)))
    if 3 in signatures.kinds_of(scene.judge.profile):
        judge(desk, Arrival(3, listed=False))


def spoilt(scene: Scene, kind: int) -> None:
    """Each field of a signed packet is changed: those that the signature is over spoil it, and no others."""
    if kind not in signatures.kinds_of(scene.judge.profile):
        raise Untold("the profile has no such signature")
    desk = Desk(scene)
    for sender in ("registered", "none"):
        judge(desk, Arrival(kind, sender))
    for word in CHANGES:
        if kind == 3 or word != "format-names":
            judge(desk, Arrival(kind, changed=word, connected=True))


def orders(scene: Scene, *, encrypts: bool) -> None:
    """Several checks would refuse a packet: the first one does."""
    desk = Desk(scene)
    for count in range(1, len(_DEFECTS) + 1):
        for words in combinations(_DEFECTS, count):
            if ("encryption" in words) is encrypts:
                changes = {member: value for word in words for member, value in _DEFECTS[word].items()}
                judge(desk, replace(Arrival(), **changes))


def insecure(scene: Scene) -> None:
    """Acknowledgments that tell of queues and rights are sent or not: there is one switch for all of them."""
    desk = Desk(scene)
    desk.way(Arrival(2))
    refused = {"bad signature": Arrival(2, changed="signature"), "access denied": Arrival(2, right="nobody")}
    came = {word: desk.came(one, dacl_of(one.right, desk.user)) for word, one in refused.items()}
    told = {
        "no such queue": desk.tells,
        **{word: told is not None for word, (one, told) in came.items() if one is None},
    }
    same, taken = len(set(told.values())) == 1, ((INSECURE_READING, "sent" if desk.tells else "not-sent"),)
    scene.expect(INSECURE, same, dict.fromkeys(told, desk.tells), dict(told), taken)


def _changed(data: bytes, word: str, place: str, number: int) -> bytes:
    """Return a signed packet with a field changed: `number` is that of its queue."""
    packet, (key, value) = dissect(data), CHANGES[word]
    if word == "signature":
        whole = signatures.octets(packet, place)
        return patch(packet, {place: whole[:-1] + bytes((whole[-1] ^ 1,))})
    if word == "certificate":
        return rebuild(packet, {key: second().certificate})
    if value == _OTHER_CASE:
        value = signatures.octets(packet, key).decode("utf-16-le").swapcase().encode("utf-16-le")
    return patch(packet, {key: number if key == _NUMBER else value})


STORIES: Final[Mapping[str, Callable[[Scene], None]]] = MappingProxyType(
    {
        **{f"arrives-signed-{row}": partial(signed, row=row) for row in range(LEVELS)},
        **{f"arrives-encrypted-{row}": partial(encrypted, row=row) for row in range(LEVELS)},
        **{f"arrives-spoilt-{kind}": partial(spoilt, kind=kind) for kind in (1, 2, 3)},
        **{f"arrives-varied-{row}": partial(varied, row=row) for row in range(LEVELS)},
        "arrives-grouped": grouped,
        "arrives-keyed": keyed,
        "arrives-outliving": outliving,
        "arrives-clear": clear,
        "arrives-hashed": hashed,
        "arrives-refused-twice": partial(orders, encrypts=False),
        "arrives-refused-thrice": partial(orders, encrypts=True),
        "arrives-told": insecure,
    }
)
