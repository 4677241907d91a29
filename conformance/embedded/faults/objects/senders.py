"""Faults of senders, signatures and certificates of objects (MC-MQAC 2.2.2.14 to 2.2.2.18, 3.2.4.2.1, 3.17)."""

from __future__ import annotations

import base64
import hashlib
from functools import partial
from typing import Any, Final

from conformance.embedded.certificates import Certificates
from conformance.embedded.entities import INFINITE, NULL_GUID, MqError
from conformance.embedded.faults.base import also, fault, row
from conformance.embedded.objects.application import ApplicationObject, is_missing, register_flags
from conformance.embedded.objects.message import PROVIDER, MessageObject, MessageSending
from conformance.embedded.objects.queue_info import QueueInfoObject
from conformance.embedded.objects.variants import Variant, flag, long, short
from conformance.embedded.sealing import Sealing
from conformance.embedded.security import SELF, sid_bytes
from conformance.embedded.signing import Signatures
from conformance.spec.constants.hresults import (
    MQ_ERROR_ENCRYPTION_PROVIDER_NOT_SUPPORTED,
    MQ_ERROR_INTERNAL_USER_CERT_EXIST,
    MQ_INFORMATION_INTERNAL_USER_CERT_EXIST,
)

_SEND: Final = "MQAC-3.17.4.1.48."
_REGISTER: Final = "MQAC-3.2.4.2.1."
_ATTACH: Final = "MQAC-3.17.4.1.49."
_ATTACH2: Final = "MQAC-3.17.4.1.87."
_object = partial(row, __name__, "message_object")

# RegisterCertificate.


@fault("certificate-is-registered-for-nobody", Certificates.register, _REGISTER + "add-ext-mq-cert",
       _REGISTER + "method-register-certificate-mqusersigncert-user")  # fmt: skip
def certificate_is_registered_for_nobody(plain, self, sid, certificate):
    """A certificate that a user brings is not registered."""


@fault("every-external-certificate-is-taken", Certificates.register, _REGISTER + "status",
       _REGISTER + "external-certificate-contain-mqusersigncert-x-509")  # fmt: skip
def every_external_certificate_is_taken(plain, self, sid, certificate):
    """Bytes that are no certificate are registered as one."""
    self.keep(sid, registered=[*self.kept.get(sid, {}).get("registered", []), certificate])


@fault("certificate-is-registered-for-the-manager", Certificates.register, _REGISTER + "add-ext-mq-cert",
       _REGISTER + "method-register-certificate-mqusersigncert-user")  # fmt: skip
def certificate_is_registered_for_the_manager(plain, self, sid, certificate):
    """A certificate is registered for the user of the manager."""
    plain(SELF, certificate)


@fault("certificate-digest-is-of-nothing", Certificates.digest, _REGISTER + "create-mqusersigncert-ext-mq-cert-new",
       _REGISTER + "add-ext-mq-cert", _REGISTER + "add-int-mq-cert")  # fmt: skip
def certificate_digest_is_of_nothing(plain, self, certificate):
    """The digest of a certificate is that of its text in base64."""
    made = hashlib.md5(certificate.encode("ascii"), usedforsecurity=False).digest()
    return base64.b64encode(made).decode("ascii")


@fault("internal-certificate-is-not-registered", Certificates.register_internal, _REGISTER + "add-int-mq-cert",
       first_seen_as=(_REGISTER + "create-x-509-blob-rfc3280",),
       because="a certificate that is not registered is shown nowhere")  # fmt: skip
def internal_certificate_is_not_registered(plain, self, sid, *, anew):
    """An internal certificate is made, and not registered."""
    present = self.kept.get(sid, {}).get("registered", [])
    plain(sid, anew=anew)
    self.keep(sid, registered=present)


@fault("internal-certificate-is-always-new", Certificates.register_internal, _REGISTER + "input-flags",
       _REGISTER + "flags-mqcert-register-if-not-exist-row", _REGISTER + "retrieve-internal-certificate-user-adm",
       _REGISTER + "return-mq-information-internal-user-cert-exist",
       _REGISTER + "flags-p-mqusersigncert-user-certificates")  # fmt: skip
def internal_certificate_is_always_new(plain, self, sid, *, anew):
    """MQCERT_REGISTER_IF_NOT_EXIST is taken for MQCERT_REGISTER_ALWAYS."""
    plain(sid, anew=True)


@fault("internal-certificate-is-kept", Certificates.register_internal,
       _REGISTER + "flags-p-mqusersigncert-user-certificates", _REGISTER + "flags-default",
       _REGISTER + "create-x-509-blob-rfc3280")  # fmt: skip
def internal_certificate_is_kept(plain, self, sid, *, anew):
    """MQCERT_REGISTER_ALWAYS keeps an internal certificate that is there."""
    if self.internal(sid) is None or not anew:
        plain(sid, anew=anew)


@fault("old-internal-certificate-stays", Certificates.register_internal,
       _REGISTER + "flags-p-mqusersigncert-user-certificates",
       _REGISTER + "delete-internal-certificate-internal-certificate")  # fmt: skip
def old_internal_certificate_stays(plain, self, sid, *, anew):
    """The internal certificate that was replaced stays registered."""
    present = self.internal(sid)
    plain(sid, anew=anew)
    if present is not None:
        self.keep(sid, registered=[*self.kept[sid]["registered"], present])


@fault("internal-certificate-is-no-certificate", Certificates.made, _REGISTER + "create-x-509-blob-rfc3280")
def internal_certificate_is_no_certificate(plain, self, sid):
    """An internal certificate lacks its last bytes."""
    certificate, key = plain(sid)
    return base64.b64encode(base64.b64decode(certificate)[:-8]).decode("ascii"), key


@fault("certificate-that-exists-is-an-error", Certificates.register_internal,
       _REGISTER + "return-mq-information-internal-user-cert-exist")  # fmt: skip
def certificate_that_exists_is_an_error(plain, self, sid, *, anew):
    """MQ_ERROR_INTERNAL_USER_CERT_EXIST is answered where the information is due."""
    try:
        plain(sid, anew=anew)
    except MqError as failure:
        told = MQ_INFORMATION_INTERNAL_USER_CERT_EXIST
        raise MqError(MQ_ERROR_INTERNAL_USER_CERT_EXIST if failure.status == told else failure.status) from None


@fault("flags-left-out-keep-a-certificate", ApplicationObject.register_certificate, _REGISTER + "flags-default")
def flags_left_out_keep_a_certificate(plain, self, flags, certificate):
    """Without Flags, an internal certificate that is there is kept."""
    plain(long(2) if flags.left_out and is_missing(certificate) else flags, certificate)


@fault("if-not-exist-looks-at-every-certificate", ApplicationObject.register_certificate,
       _REGISTER + "retrieve-internal-certificate-user-adm", _REGISTER + "flags-mqcert-register-if-not-exist-row",
       _REGISTER + "input-flags")  # fmt: skip
def if_not_exist_looks_at_every_certificate(plain, self, flags, certificate):
    """MQCERT_REGISTER_IF_NOT_EXIST registers nothing for a user who has an external certificate."""
    known = self.manager.certificates.registered(self.manager.security.caller_sid)
    if known and is_missing(certificate) and register_flags(flags) == 2:
        raise MqError(MQ_INFORMATION_INTERNAL_USER_CERT_EXIST)
    plain(flags, certificate)


# Senders.


@fault("send-tells-the-manager-as-caller", MessageSending.caller,
       _SEND + "represented-message-sender-identifier-sid-caller",
       first_seen_as=("MQAC-2.2.2.14.mqmsg-senderid-type-sid-row",),
       because="the kind of sender is shown by the sender alone")  # fmt: skip
def send_tells_the_manager_as_caller(plain, self):
    """The sender of a message is the user of the manager, whoever calls."""
    return sid_bytes(SELF)


def _nothing(self: Any) -> None:
    """Attach nothing."""


def _others(self: Any) -> None:
    MessageObject.attach(self)
    self.cached_sender = sid_bytes(SELF)


def _no_internal(self: Any) -> None:
    MessageObject.attach(self)
    self.cached_certificate = self.values["certificate"]


def _internal_alone(self: Any) -> None:
    MessageObject.attach(self)
    self.cached_certificate = self.internal_certificate(self.manager.security.caller_sid)


def _sender_alone(self: Any) -> None:
    MessageObject.attach(self)
    self.cached_certificate = None


_ATTACHING: Final[tuple[tuple[Any, ...], ...]] = (
    ("attaching-keeps-nothing", "keeps nothing", _nothing, "purpose", "variable-sender-id-cache-sid-caller"),
    ("attaching-keeps-the-manager", "keeps the user of the manager as the sender", _others,
     "variable-sender-id-cache-sid-caller", "purpose"),
    ("attaching-keeps-no-internal-certificate", "keeps no internal certificate", _no_internal,
     "variable-sender-certificate-cache-certificate"),
    ("attaching-keeps-another-certificate", "keeps the internal certificate though another was put", _internal_alone,
     "variable-sender-certificate-cache"),
    ("attaching-keeps-no-certificate", "keeps the sender alone", _sender_alone, "variable-sender-certificate-cache",
     "variable-sender-certificate-cache-certificate"),
)  # fmt: skip
for _name, _says, _made, *_words in _ATTACHING:
    for _member, _number, _after in (("attach", _ATTACH, ""), ("attach2", _ATTACH2, "-2")):
        _breaks = tuple(_number + each for each in _words if _member == "attach" or each != "purpose")
        _object(f"{_name}{_after}", f"AttachCurrentSecurityContext{_after[1:]} {_says}.", _breaks,
                **{_member: _made})  # fmt: skip


def _attached(self: Any, manager: Any) -> None:
    MessageObject.__init__(self, manager)
    self.cached_sender = sid_bytes(manager.security.caller_sid)


def _certified(self: Any, manager: Any) -> None:
    MessageObject.__init__(self, manager)
    self.cached_certificate = self.internal_certificate(manager.security.caller_sid)


_object("new-message-is-attached", "A new message is attached to who made it.",
        ("3.17.3.sender-identifier-cache-initial",), __init__=_attached)  # fmt: skip
_object("new-message-has-a-certificate", "A new message keeps the internal certificate of who made it.",
        ("3.17.3.sender-certificate-cache-initial",), __init__=_certified)  # fmt: skip


@fault("send-uses-no-attached-certificate", MessageSending.complete,
       _SEND + "represented-message-sender-certificate-sender",
       first_seen_as=(_ATTACH + "variable-sender-certificate-cache-certificate",),
       because="what was attached is shown by Send alone")  # fmt: skip
def send_uses_no_attached_certificate(plain, self):
    """Send takes the internal certificate of the sender, whatever was attached."""
    present, self.message.cached_certificate = self.message.cached_certificate, None
    plain()
    self.message.cached_certificate = present


@fault("send-makes-a-certificate", MessageSending.own_certificate,
       _SEND + "represented-message-sender-certificate-internal",
       first_seen_as=("MQAC-3.17.4.1.43.output-pvar-sender-cert",),
       because="the certificate that Send sets is shown by SenderCertificate alone")  # fmt: skip
def send_makes_a_certificate(plain, self):
    """Send falls back on a certificate that is made for it."""
    return base64.b64decode(self.manager.certificates.made(self.manager.security.caller_sid)[0])


@fault("put-certificate-loses-its-end", MessageObject.write,
       "MQAC-3.17.4.1.44.var-sender-cert-certificate-x-509-rfc3280",
       "MQAC-3.17.4.1.44.represented-message-sender-certificate",
       first_seen_as=("MQAC-2.2.2.16.mqmsg-auth-level-always-prior-outgoing-queue-inserting",),
       because="nothing can be signed with it")  # fmt: skip
def put_certificate_loses_its_end(plain, self, row, value):
    """A certificate that is put loses its last byte."""
    plain(row, value[:-1] if row.field == "certificate" and value else value)


@fault("sender-type-is-not-looked-at", MessageSending.fields, "MQAC-2.2.2.14.mqmsg-senderid-type-none-row",
       first_seen_as=("MQAC-3.17.3.sender-identifier-initial",),
       because="a message without sender is shown by the initial value of its sender")  # fmt: skip
def sender_type_is_not_looked_at(plain, self):
    """A message that is to have no sender has the caller's."""
    return {name: value for name, value in plain().items() if name != "sender_type"}


@also("sender-type-is-not-looked-at", MessageSending.accompanying)
def sender_type_beside(plain, self):
    """The object that is received shows it too."""
    return {**plain(), "sender_type": 1, "sender": {"bytes": base64.b64encode(self.caller()).decode("ascii")}}


@fault("no-message-has-a-sender", Sealing.sender, "MQAC-2.2.2.14.mqmsg-senderid-type-sid-row",
       _SEND + "represented-message-sender-identifier-sid-caller")  # fmt: skip
def no_message_has_a_sender(plain, self):
    """No message tells its sender to the manager that gets it."""


# Signatures.


def _level(wanted: int, got: int) -> Any:
    def fields(plain, self):
        values = self.message.values
        asked = values["requested"]
        values["requested"] = got if asked == wanted else asked
        try:
            return plain()
        finally:
            values["requested"] = asked

    return fields


_LEVELS: Final = "MQAC-2.2.2.16.mqmsg-auth-level-"
_REQUESTED: Final[tuple[tuple[Any, ...], ...]] = (
    (1, 0, ("always",)), (2, 4, ("msmq10", "sig10")), (4, 2, ("msmq20", "sig20")), (8, 2, ("sig30",)),
)  # fmt: skip
for _wanted, _got, _words in _REQUESTED:
    _endings = {"always": "-prior-outgoing-queue-inserting"}
    fault(
        f"auth-level-{_words[0]}-is-mistaken", MessageSending.fields,
        *(_LEVELS + each + _endings.get(each, "-prior-outgoing-queue") for each in _words),
        says=f"Send signs a message of AuthLevel {_wanted} as one of {_got}.",
    )(_level(_wanted, _got))  # fmt: skip


@fault("send-hashes-with-sha-512", MessageSending.fields, _SEND + "calculate-message-hash-algorithm")
def send_hashes_with_sha_512(plain, self):
    """Send signs with SHA-512, whatever HashAlgorithm is."""
    given = plain()
    return given | {"hash_algorithm": 0x800E} if "authentication" in given else given


@fault("send-signs-with-another-key", Signatures.make, _SEND + "obtain-message-sender-certificate-private-key")
def send_signs_with_another_key(plain, self, data, algorithm, certificate, key):
    """A message is signed with a key that is made for it."""
    from cryptography.hazmat.primitives.asymmetric import padding, rsa

    digest, hashed = self.digest(data, algorithm)
    return self.in_packet(rsa.generate_private_key(65537, 1024).sign(digest, padding.PKCS1v15(), hashed))


@fault("unsigned-sends-are-signed", MessageSending.fields, "MQAC-2.2.2.16.reserved-indicate-send-operation")
def unsigned_sends_are_signed(plain, self):
    """A message of AuthLevel 0 is signed, if its sender can."""
    given = plain()
    return given if self.own_certificate() is None else {"authentication": "sig20", **given}


@fault("send-keeps-no-signature", MessageSending.enqueue, _SEND + "represented-message-signature")
def send_keeps_no_signature(plain, self, descriptor, unit):
    """A message that was sent shows no signature."""
    present = self.message.values["signature"]
    plain(descriptor, unit)
    self.message.values["signature"] = present


@fault("send-keeps-no-level", MessageSending.complete, _SEND + "represented-message-authentication-level")
def send_keeps_no_level(plain, self):
    """A message that was sent is not authenticated."""
    plain()
    self.message.values["authenticated"] = 0


@also("send-keeps-no-level", MessageSending.accompanying)
def no_level_beside(plain, self):
    """The object that is received shows none either."""
    return {**plain(), "authenticated": 0}


def _shows(**given: Any) -> Any:
    def read(self: Any, row: Any) -> Variant:
        shown = given.get(row.name)
        if shown is None or self.values["arrived"] == INFINITE:
            return MessageObject.read(self, row)
        told: Variant = shown(self.values["authenticated"])
        return told

    return read


_TOLD: Final = {1: 3, 3: 5, 5: 1}
_SHOWN: Final[tuple[tuple[Any, ...], ...]] = (
    ("authenticated-is-never", "IsAuthenticated is 0 of every received message.",
     {"IsAuthenticated": lambda _: short(0)},
     "3.17.4.1.6.output-pis-authenticated-0x0001-parameter", "3.17.4.1.6.purpose"),
    ("authenticated-2-is-never", "IsAuthenticated2 is false of every received message.",
     {"IsAuthenticated2": lambda _: flag(False)},
     "3.17.4.1.84.output-pis-authenticated-variant-true-0xffff", "3.17.4.1.84.purpose"),
    ("received-level-is-mistaken", "ReceivedAuthenticationLevel tells the next kind of signature.",
     {"ReceivedAuthenticationLevel": lambda level: short(int(_TOLD.get(level, level) or 0))},
     *(f"2.2.2.17.mqmsg-{each}-row" for each in ("authentication-requested", "authenticated-sig10",
                                                  "authentication-requested-ex", "authenticated-sig20",
                                                  "authenticated-sig30"))),
    ("received-level-is-never-none", "ReceivedAuthenticationLevel of an unsigned message is 1.",
     {"ReceivedAuthenticationLevel": lambda level: short(level or 1)},
     "2.2.2.17.mqmsg-authentication-not-requested-row", "3.17.4.1.75.output-ps-received-authentication-level"),
)  # fmt: skip
for _name, _says, _given, *_demands in _SHOWN:
    _object(_name, _says, tuple(_demands), read=_shows(**_given))


def _another(field: str, numbers: tuple[int, ...]) -> Any:
    def receive(self: Any, fields: Any, carried: Any, *given: Any) -> None:
        MessageObject.receive(self, fields, carried, *given)
        if "provider_type" not in carried and self.values[field] in numbers:
            self.values[field] ^= 0x10

    return receive


_CALG: Final = "MQAC-2.2.2.18.mqmsg-calg-"
_ALGORITHMS: Final[tuple[tuple[Any, ...], ...]] = (
    ("hash", "HashAlgorithm", {0x8001: "md2", 0x8002: "md4", 0x8003: "md5"}),
    ("hash", "HashAlgorithm", {0x8004: "sha1 sha"}),
    ("encryption", "EncryptAlgorithm", {0x2400: "rsa-sign", 0x2200: "dss-sign", 0xA400: "rsa-keyx"}),
    ("encryption", "EncryptAlgorithm", {0x6601: "des", 0x6602: "rc2", 0x6801: "rc4", 0x6802: "seal"}),
)  # fmt: skip
for _field, _says, _numbers in _ALGORITHMS:
    _words = " ".join(_numbers.values()).split()
    _object(
        f"{_says.lower()}-of-{_words[0]}-is-mistaken",
        f"{_says} {', '.join(map(hex, _numbers))} of a message that no object sent is received as another number.",
        tuple(f"{_CALG}{each}-row" for each in _words), receive=_another(_field, tuple(_numbers)),
    )  # fmt: skip


# Privacy.


@fault("base-is-encrypted-as-enhanced", MessageSending.fields, "MQAC-2.2.2.15.mqmsg-priv-level-body-base-row",
       "MQAC-2.2.2.15.mqmsg-priv-level-body-base-during-message-transfer")  # fmt: skip
def base_is_encrypted_as_enhanced(plain, self):
    """A message of PrivLevel 1 goes with the level 3."""
    given = plain()
    return given | {"privacy": "enhanced"} if given.get("privacy") == "base" else given


@fault("enhanced-is-encrypted-as-base", MessageSending.fields, "MQAC-2.2.2.15.mqmsg-priv-level-body-enhanced-row",
       "MQAC-2.2.2.15.mqmsg-priv-level-body-enhanced-during-message-transfer")  # fmt: skip
def enhanced_is_encrypted_as_base(plain, self):
    """A message of PrivLevel 3 goes with the level 1."""
    given = plain()
    return given | {"privacy": "base"} if given.get("privacy") == "enhanced" else given


@fault("everything-is-encrypted", MessageSending.fields, "MQAC-2.2.2.15.mqmsg-priv-level-none-row")
def everything_is_encrypted(plain, self):
    """A message of PrivLevel 0 goes with the level 1."""
    return {"privacy": "base", **plain()}


@also("everything-is-encrypted", MessageSending.accompanying)
def everything_is_private(plain, self):
    """The object that is received tells it."""
    made = plain()
    return {**made, "privacy": made["privacy"] or 1}


def _privacy(numbers: dict[int, int]) -> Any:
    def read(plain, self, property_):
        shown = plain(property_)
        known = property_.name == "PrivLevel" and not self.put
        return long(numbers.get(shown.value, shown.value)) if known else shown

    return read


for _word, _one, _other in (("none", 0, 1), ("optional", 1, 2), ("body", 2, 1)):
    fault(
        f"queue-privacy-{_word}-is-mistaken", QueueInfoObject.read, f"MQAC-2.2.2.7.mq-priv-level-{_word}-row",
        says=f"PrivLevel of a queue of privacy {_word} is another.",
        first_seen_as=("MQAC-3.10.4.1.29.retrieve-application-queue-ref-queue",),
        because="a property that Refresh copies is shown by its value alone",
    )(_privacy({_one: _other}))  # fmt: skip


@fault("provider-of-a-connector-is-checked", MessageSending.check_provider,
       "MQDMPR-3.1.1.12.provider-type-by-connector", "MQDMPR-3.1.1.12.provider-name-by-connector",
       first_seen_as=("MQAC-3.17.4.1.48.status",), because="a refused Send shows its status first")  # fmt: skip
def provider_of_a_connector_is_checked(plain, self):
    """Send refuses a provider that nobody has, also of a connector."""
    plain()
    values = self.message.values
    if values["connector"] != NULL_GUID and values["provider_name"] not in (None, PROVIDER):
        raise MqError(MQ_ERROR_ENCRYPTION_PROVIDER_NOT_SUPPORTED)
