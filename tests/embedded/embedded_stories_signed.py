"""Stories of signatures, senders and encrypted bodies: sends to other computers, arrivals, certificates of objects."""

from __future__ import annotations

import base64
import datetime
from functools import cache
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from embedded_objects import LEFT_OUT, data, long, text, thing
from embedded_stories import NAME, Teller, of
from embedded_stories_security import EVERYONE, GUEST, MEMBER, PLAIN, STAFF, list_of
from embedded_talk import Talk

from conformance.embedded.entities import MqError
from conformance.embedded.security import SELF, Entry, sid_bytes
from conformance.embedded.signing import KINDS, Encryption, Signatures, public_key, raw_fields

GUID, FOREIGN = "db0760c6-b874-5485-9d0b-bf112870b534", "11111111-2222-3333-4444-555555555555"
FAR, OTHER, BARE = (f"PRIVATE={FOREIGN[:-1]}{end}\\00000001" for end in "567")
ELSEWHERE = "S-1-5-21-9-9-9-7"
BODY = base64.b64encode(b"a body to hide").decode("ascii")
ADMIN = "DIRECT=OS:HOST\\private$\\admin"
LEVELS = ("sig10", "sig20", "sig30")


@cache
def certified(serial: int) -> tuple[str, str]:
    """A certificate and its key, always the same."""
    key = Encryption.own_key(None)  # type: ignore[arg-type]
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "story")])
    dates = datetime.datetime(2000, 1, 1), datetime.datetime(2100, 1, 1)
    made = x509.CertificateBuilder(name, name, key.public_key(), serial, *dates).sign(key, hashes.SHA256())
    der = serialization.Encoding.DER
    form = key.private_bytes(der, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return base64.b64encode(made.public_bytes(der)).decode("ascii"), base64.b64encode(form).decode("ascii")


CERTIFICATE, KEY = certified(5)
UNKNOWN, _ = certified(6)


def prepared(tell: Teller) -> None:
    """Two users with a certificate, another user elsewhere, and a computer with keys and one without."""
    keys = tell("hello", versions=["1.3"], harness="", state_dir="")["security"]["encryption_keys"]
    computers = [
        {"name": "FAR", "guid": FOREIGN, "encryption_keys": keys},
        {"name": "OTHER", "guid": f"{FOREIGN[:-1]}6", "encryption_keys": keys},
        {"name": "BARE", "guid": f"{FOREIGN[:-1]}7"},
    ]
    users = [{"sid": ELSEWHERE, "certificates": [CERTIFICATE]}]
    tell("directory", objects=[], computers=computers, users=users)
    for caller in (PLAIN, MEMBER):
        tell("security.certificates", caller=caller, personal=[{"certificate": CERTIFICATE, "key": KEY}])


def opened(packet: dict[str, Any]) -> list[Any]:
    """What a packet says, its key and its body when they are decrypted: both are other ones each time."""
    shown = {name: value for name, value in packet.items() if name not in ("symmetric_key", "body", "identifier")}
    if "symmetric_key" not in packet:
        return [shown, packet["body"]]
    key = Encryption.own_key(None).decrypt(base64.b64decode(packet["symmetric_key"])[12:][::-1], PKCS1v15())  # type: ignore[arg-type]
    return [shown, len(key), Encryption(None).decrypted(packet), len(packet["body"])]  # type: ignore[arg-type]


def taken(tell: Teller, name: str) -> None:
    for packet in tell.talk("outgoing.take", format_name=name).get("packets", []):
        found = tell.talk("packets.decode", packet=packet)["message"]
        tell.seen.append(opened(found))


@of("security")
def signed_sends(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    prepared(tell)
    for destination in (FAR, f"{FAR},{OTHER}"):
        queue = talk.open(destination, "send")
        for caller, level in ((PLAIN, "sig10"), (MEMBER, "sig20"), (PLAIN, "sig30"), (MEMBER, "none")):
            message = {"label": "label", "extension": "AQI=", "authentication": level, "certificate": CERTIFICATE}
            tell("messages.send", queue=queue, message=message, **{"as": caller})
            tell("messages.send", queue=queue, message={**message, "sender_type": "none", "hash_algorithm": 0x8004})
            for name in destination.split(","):
                taken(tell, name)
    return tell.seen


@of("security")
def encrypted_sends(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    prepared(tell)
    for name in (FAR, BARE, "DIRECT=OS:FAR\\private$\\q"):
        queue = talk.open(name, "send")
        for privacy, algorithm in (("base", 0x6801), ("enhanced", 0x6801), ("enhanced", 0x6602)):
            for journaling in (False, True):
                message = {"body": BODY, "privacy": privacy, "negative_journaling": journaling}
                message["encryption_algorithm"] = algorithm
                tell("messages.send", queue=queue, message=message)
                taken(tell, name)
        tell.counts(f"MACHINE={GUID};DEADLETTER")
    return tell.seen


@of("security")
def sends_that_cannot_be_sealed(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    prepared(tell)
    talk.queue(PROPID_Q_AUTHENTICATE=1)
    queues = talk.open(FAR, "send"), talk.open(NAME, "send")
    signed = {"authentication": "sig20"}
    for message in (
        {}, signed, {**signed, "certificate": ""}, {**signed, "certificate": "AQID"},
        {**signed, "certificate": UNKNOWN},
        {**signed, "certificate": CERTIFICATE, "hash_algorithm": 0x8001}, {**signed, "certificate": CERTIFICATE},
        {"privacy": "base", "encryption_algorithm": 0x6601},
    ):  # fmt: skip
        for queue in queues:
            tell("messages.send", queue=queue, message=message, **{"as": PLAIN}).pop("identifier", None)
    return tell.seen


def arriving(tell: Teller, kind: str | None = None, **members: Any) -> None:
    """A packet comes, signed by the one certificate, and what is read of it and of its acknowledgment."""
    said: dict[str, Any] = {
        "identifier": {"source": FOREIGN, "ordinal": 7}, "destination": f"PRIVATE={GUID}\\00000001", "body": BODY,
        "label": "label", "administration_queue": ADMIN, "acknowledgements": ["negative_arrival"], **members,
    }  # fmt: skip
    if kind is not None:
        said.setdefault("sender_certificate", CERTIFICATE)
        said["hash_algorithm"] = 0x800C
        bare = base64.b64decode(tell.talk("packets.encode", message={**said, "signature": ""})["packet"])
        signed = Signatures().signed(raw_fields(bare), KINDS[kind])
        made = base64.b64encode(Signatures().make(signed, 0x800C, CERTIFICATE, KEY)).decode("ascii")
        said.setdefault("multiple_destination_signature" if "destinations" in said else "signature", made)
    packet = tell.talk("packets.encode", message=said)["packet"]
    tell("packets.deliver", packet=packet)
    for name in (NAME, ADMIN):
        found = tell.take(tell.talk.open(name)).get("message", {})
        found.pop("identifier", None)


def sid(text_: str) -> dict[str, str]:
    return {"sender_identifier": base64.b64encode(sid_bytes(text_)).decode("ascii")}


@of("security")
def arrivals(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    prepared(tell)
    for name in ("q", "admin"):
        tell("queues.create", path_name=f"HOST\\private$\\{name}")
    target = {"type": "queue", "format_name": NAME}
    manager = {"sender_identifier_type": "queue_manager"}
    lists = (
        None, (Entry(0, 4, EVERYONE), Entry(1, 4, PLAIN)), (Entry(1, 4, PLAIN), Entry(0, 4, EVERYONE)),
        (Entry(0, 4, STAFF),),
    )  # fmt: skip
    for entries in lists:
        if entries is not None:
            first = sorted(entries, key=lambda each: -each.kind)
            tell("security.set", target=target, information=4, descriptor=list_of(*first))
        for sender in ({}, sid(PLAIN), sid(MEMBER), sid(GUEST), sid(ELSEWHERE), sid("S-1-5-21-5-5-5-5"), manager):
            arriving(tell, **sender)
            arriving(tell, "sig20", **sender)
    tell("security.set", target=target, information=4, descriptor=list_of(Entry(0, 4, EVERYONE)))
    for authenticated, privacy in ((0, 1), (1, 1), (0, 0), (0, 2)):
        properties = {"PROPID_Q_AUTHENTICATE": authenticated, "PROPID_Q_PRIV_LEVEL": privacy}
        tell("queues.set", format_name=NAME, properties=properties)
        arriving(tell)
        for kind in LEVELS:
            arriving(tell, kind)
            arriving(tell, kind, destinations=[NAME, FAR])
        arriving(tell, "sig20", signature=base64.b64encode(bytes(128)).decode("ascii"))
        arriving(tell, "sig20", sender_certificate=UNKNOWN, **sid(ELSEWHERE))
        keys = talk("hello", versions=["1.3"], harness="", state_dir="")["security"]["encryption_keys"]
        for level in (1, 3, 5):
            made = talk.driver.manager.encryption.encrypted(b"secret", level, 0, keys)
            arriving(tell, privacy_level=level, **made)
            arriving(tell, privacy_level=level, **{**made, "symmetric_key": "AQID"})
    return tell.seen


# Objects.


def registered(talk: Talk, caller: str) -> list[Any]:
    """What of the certificates of a user is always the same."""
    shown = []
    for each in talk("security.certificates", caller=caller)["certificates"]:
        der = base64.b64decode(each["certificate"])
        made = hashes.Hash(hashes.MD5())
        made.update(der)
        right = base64.b64decode(each["digest"]) == made.finalize()
        try:
            known = each["certificate"] in (CERTIFICATE, UNKNOWN), public_key(each["certificate"]).key_size
        except MqError:
            known = each["certificate"] == "AQID", 0
        shown.append([each["internal"], right, *known])
    return shown


class Members:
    """Calls of members as a user, whose statuses are written down."""

    def __init__(self, talk: Talk) -> None:
        self.talk, self.seen = talk, list[Any]()

    def make(self, name: str) -> str:
        return str(self.talk.ok("objects.create", **{"class": name, "as": PLAIN})["object"])

    def __call__(self, caller: str, target: str, member: str, *given: Any, kind: str = "method") -> Any:
        arguments = {"object": target, "member": member, "kind": kind, "arguments": list(given), "as": caller}
        answer = self.talk("objects.invoke", **arguments)
        self.seen.append([member, answer["status"]])
        return answer.get("value", {}).get("value")


@of("objects")
def certificates_are_registered(talk: Talk) -> list[Any]:
    tell = Members(talk)
    application = tell.make("MSMQApplication")
    bytes_ = [data(each) for each in (CERTIFICATE, "AQID", UNKNOWN)]
    for caller, arguments in (
        (PLAIN, (long(2), bytes_[0])), (PLAIN, (LEFT_OUT, bytes_[0])), (PLAIN, (long(2),)), (PLAIN, (long(2),)),
        (PLAIN, (long(1),)), (PLAIN, ()), (PLAIN, (long(1), bytes_[1])), (MEMBER, ()), (MEMBER, (long(1), bytes_[2])),
    ):  # fmt: skip
        before = talk("security.certificates", caller=caller)["certificates"]
        tell(caller, application, "RegisterCertificate", *arguments)
        after = talk("security.certificates", caller=caller)["certificates"]
        tell.seen += [registered(talk, PLAIN), registered(talk, MEMBER), [each in after for each in before]]
    return tell.seen


SHOWN = ("SenderId", "SenderIdType", "AuthLevel", "IsAuthenticated", "IsAuthenticated2", "ReceivedAuthenticationLevel",
         "HashAlgorithm", "EncryptAlgorithm", "PrivLevel", "AuthenticationProviderName")  # fmt: skip


def _sent(tell: Members, caller: str, queue: str, message: str) -> None:
    """Send, and what both ends show: whose certificate it is, and whether the signature is right."""
    certificates = {each["certificate"]: sid_ for sid_ in (PLAIN, MEMBER)
                    for each in tell.talk("security.certificates", caller=sid_)["certificates"]}  # fmt: skip
    tell(caller, message, "Send", thing(queue_of(tell, queue, 2)))
    held = [message]
    if queue == NAME:
        found = tell(SELF, queue_of(tell, queue, 1), "Receive", long(0), LEFT_OUT, LEFT_OUT, long(0))
        held += [found] if found else []
    else:
        for packet in tell.talk("outgoing.take", format_name=queue).get("packets", []):
            found = tell.talk("packets.decode", packet=packet)["message"]
            raw = raw_fields(base64.b64decode(packet))
            fits = [kind for kind in LEVELS if Signatures().matches(
                Signatures().signed(raw, KINDS[kind]), found["hash_algorithm"], found.get("sender_certificate", ""),
                raw["signature"])]  # fmt: skip
            whose = certificates.get(found.get("sender_certificate", ""))
            tell.seen.append([fits, whose, found.get("sender_identifier"), found["hash_algorithm"], len(found["body"])])
            tell.seen.append([found["privacy_level"], found["encryption_algorithm"]])
    for each in held:
        shown = tell.talk("objects.get", object=each, members=list(SHOWN))
        signature = tell(caller, each, "Signature", kind="get")
        certificate = tell(caller, each, "SenderCertificate", kind="get")
        tell.seen += [shown, len(signature or ""), certificates.get(certificate, certificate == CERTIFICATE)]


def queue_of(tell: Members, name: str, access: int) -> str:
    info = tell.make("MSMQQueueInfo")
    tell(SELF, info, "FormatName", text(name), kind="put")
    return str(tell(SELF, info, "Open", long(access), long(0)))


@of("objects")
def objects_sign_and_encrypt(talk: Talk) -> list[Any]:
    tell = Members(talk)
    prepared(Teller(talk))
    talk.queue()
    application = tell.make("MSMQApplication")
    for round_ in range(2):
        for queue in (NAME, FAR):
            for puts in (
                *({"AuthLevel": long(each), "SenderCertificate": data(CERTIFICATE)} for each in (0, 1, 2, 4, 8)),
                {"AuthLevel": long(4), "HashAlgorithm": long(0x800C)}, {"AuthLevel": long(4)}, {"AuthLevel": long(0)},
                {"SenderIdType": long(0)}, *({"PrivLevel": long(each)} for each in (0, 1, 3)),
                *({"HashAlgorithm": long(each)} for each in (0x8001, 0x8003, 0x8004)),
                *({"EncryptAlgorithm": long(each)} for each in (0x2400, 0x2200, 0xA400, 0x6601, 0x6602, 0x6801)),
                {"ConnectorTypeGuid": text("{0123ABCD-4567-89AB-CDEF-0123456789AB}"),
                 "AuthenticationProviderType": long(7), "AuthenticationProviderName": text("mine")},
            ):  # fmt: skip
                message = tell.make("MSMQMessage")
                for member, value in puts.items():
                    tell(MEMBER, message, member, value, kind="put")
                _sent(tell, MEMBER, queue, message)
        if not round_:
            for caller in (PLAIN, MEMBER):
                tell(caller, application, "RegisterCertificate")
    sender, queue = talk.open(access="send"), queue_of(tell, NAME, 1)
    for name, numbers in (
        ("hash_algorithm", (0x8001, 0x8002, 0x8003, 0x8004)),
        ("encryption_algorithm", (0x2400, 0x2200, 0xA400, 0x6601, 0x6602, 0x6801, 0x6802)),
    ):
        for number in numbers:
            talk.ok("messages.send", queue=sender, message={name: number})
            found = tell(SELF, queue, "Receive", long(0), LEFT_OUT, LEFT_OUT, long(0))
            tell.seen.append(talk("objects.get", object=found, members=list(SHOWN)))
    return tell.seen


@of("objects")
def messages_are_attached(talk: Talk) -> list[Any]:
    tell = Members(talk)
    prepared(Teller(talk))
    talk.queue()
    application = tell.make("MSMQApplication")
    for caller in (PLAIN, MEMBER):
        tell(caller, application, "RegisterCertificate")
    for member in ("AttachCurrentSecurityContext", "AttachCurrentSecurityContext2"):
        for certificate in (None, CERTIFICATE):
            for level in (0, 4):
                message = tell.make("MSMQMessage")
                tell(PLAIN, message, "AuthLevel", long(level), kind="put")
                if certificate is not None:
                    tell(PLAIN, message, "SenderCertificate", data(certificate), kind="put")
                tell(PLAIN, message, member)
                if certificate is not None:
                    tell(PLAIN, message, "SenderCertificate", {"vt": "EMPTY"}, kind="put")
                if not level:  # the attached certificate is no longer the internal one
                    tell(PLAIN, application, "RegisterCertificate")
                _sent(tell, MEMBER, FAR, message)
    return tell.seen


@of("objects")
def queues_show_their_privacy(talk: Talk) -> list[Any]:
    tell = Members(talk)
    for level in (0, 1, 2):
        talk.queue(f"private$\\q{level}", PROPID_Q_PRIV_LEVEL=level)
        info = tell.make("MSMQQueueInfo")
        tell(PLAIN, info, "FormatName", text(f"DIRECT=OS:HOST\\private$\\q{level}"), kind="put")
        tell.seen.append(tell(PLAIN, info, "PrivLevel", kind="get"))
    return tell.seen
