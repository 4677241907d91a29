"""Faults of signatures, senders, encrypted bodies and what arrives (MS-MQQB 3.1.5.8.3, 3.1.7.1.4, 3.1.7.1.5)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from conformance.embedded import packet_layout as lay
from conformance.embedded import signing
from conformance.embedded.admission import Admission
from conformance.embedded.certificates import Certificates
from conformance.embedded.delivery import INSECURE, Delivery
from conformance.embedded.entities import MqError
from conformance.embedded.faults.base import also, fault
from conformance.embedded.sealing import Sealing
from conformance.embedded.security import ANONYMOUS, SELF, WRITE_MESSAGE, entries_of, listed
from conformance.embedded.signing import SIG10, SIG20, SIG30, Encryption, Signatures
from conformance.embedded.transfers import Outgoing
from conformance.spec.constants.hresults import HRESULTS, MQ_ERROR

_ARRIVES: Final = "MQQB-3.1.5.8.3."
_SENT: Final = "MQQB-3.1.7.1."

# Signatures of sends.


def _without(kind: int, field: str) -> Any:
    def fields(plain, self, of):
        return tuple(each for each in plain(of) if of != kind or each != field)

    return fields


for _word, _kind, _field, _number in (
    ("10", SIG10, "label", 1), ("20", SIG20, "destination", 2), ("30", SIG30, "extension", 3),
):  # fmt: skip
    fault(
        f"signature-{_word}-leaves-out-the-{_field}", Signatures.fields, f"MQMQ-2.2.20.6.signature-{_number}",
        f"MQMQ-2.5.{_number}.order", _SENT + "4.signed", _ARRIVES + "signature",
        says=f"A signature of MSMQ {_word[0]}.0 is not over the {_field}.",
    )(_without(_kind, _field))  # fmt: skip


@fault("signatures-are-left-out", Sealing.sign, _SENT + "4.signed")
def signatures_are_left_out(plain, self, message, queue):
    """A message that asks for a signature has none."""
    plain(message, queue)
    (message.carried or {}).get("sealed", {}).pop("signature", None)


@fault("signed-with-the-default-hash", Sealing.hash_algorithm, "MQMQ-2.2.19.3.hash-algorithm-strongest")
def signed_with_the_default_hash(plain, self):
    """A signature for which no hash algorithm is given is made with SHA-1."""
    return lay.DEFAULT_HASH


@fault("several-destinations-are-signed-by-level", Sealing.kind, _SENT + "4.signed", "MQMQ-2.2.20.6.signature-3")
def several_destinations_are_signed_by_level(plain, self, message):
    """The signature of a message to several queues is of the kind that its level names."""
    return signing.KINDS[message.fields["authentication"]]


@fault("signature-for-several-stands-in-the-security-header", Sealing.dress, _SENT + "4.signature-place")
def signature_for_several_stands_in_the_security_header(plain, self, said, message):
    """The signature of a message to several queues is in SecurityHeader alone."""
    plain(said, message)
    if "multiple_destination_signature" in said:
        said["signature"] = said.pop("multiple_destination_signature")


@fault("sender-is-the-manager", Sealing.sender, "MQDMPR-3.1.1.12.sender-identifier")
def sender_is_the_manager(plain, self):
    """The sender of every message is the user of the manager."""
    return SELF


# Encryption of sends.


@fault("body-goes-in-the-clear", Encryption.encrypted, _SENT + "5.encrypted", "MQMQ-2.2.20.6.body-encrypted-sender")
def body_goes_in_the_clear(plain, self, body, level, algorithm, keys):
    """A body that is said to be encrypted is in the clear."""
    return {**plain(body, level, algorithm, keys), "body": lay.base64_text(body)}


@fault("base-key-has-128-bits", Encryption.provider, _SENT + "5.key-length")
def base_key_has_128_bits(plain, self, level, keys):
    """The key of a body that is to have 40 bits has 128."""
    provider, public = plain(level, keys)
    return (replace(provider, algorithms={signing.RC4: 16}) if level == 1 else provider), public


@fault("encrypted-for-nobody-goes-in-the-clear", Sealing.dress, _SENT + "5.failed", _SENT + "5.encrypted")
def encrypted_for_nobody_goes_in_the_clear(plain, self, said, message):
    """A message that cannot be encrypted goes in the clear."""
    try:
        plain(said, message)
    except MqError:
        said["privacy_level"] = 0


@fault("encrypted-for-nobody-is-lost", Outgoing.failed, _SENT + "5.failed")
def encrypted_for_nobody_is_lost(plain, self, queue, position, failure):
    """A message that cannot be encrypted leaves no copy in the dead-letter queue."""
    if position.message.fields["privacy"] != "none":
        position.message.fields["negative_journaling"] = False
    plain(queue, position, failure)


# Codes of sends.


def _generic(code: int) -> Any:
    def for_signing(plain, self, *given):
        try:
            return plain(*given)
        except MqError as failure:
            raise MqError(MQ_ERROR if failure.status == code else failure.status) from None

    return for_signing


for _name, _part in (
    ("INVALID_CERTIFICATE", Certificates.for_signing), ("CERTIFICATE_NOT_PROVIDED", Certificates.for_signing),
    ("NO_INTERNAL_USER_CERT", Certificates.for_signing), ("CANNOT_SIGN_DATA_EX", Certificates.for_signing),
    ("CANNOT_CREATE_HASH_EX", Sealing.authorize), ("ENCRYPTION_PROVIDER_NOT_SUPPORTED", Sealing.check_cipher),
):  # fmt: skip
    _word = _name.lower().replace("_", "-")
    fault(
        f"{_word}-is-a-generic-error", _part, f"MQMQ-2.4.mq-error-{_word}",
        says=f"MQ_ERROR is answered in the place of MQ_ERROR_{_name}.",
    )(_generic(HRESULTS[f"MQ_ERROR_{_name}"]))  # fmt: skip


def _refused_as(word: str) -> Any:
    def refusal(plain, self, *given):
        found = plain(*given)
        named = HRESULTS[f"MQ_ERROR_{word}"]
        return found if found is None or found[1] != named else (found[0], MQ_ERROR)

    return refusal


for _name in ("FAIL_VERIFY_SIGNATURE_EX", "MESSAGE_NOT_AUTHENTICATED"):
    _word = _name.lower().replace("_", "-")
    fault(
        f"{_word}-is-a-generic-error", Admission.refusal, f"MQMQ-2.4.mq-error-{_word}",
        says=f"MQ_ERROR is answered for an arrival in the place of MQ_ERROR_{_name}.",
    )(_refused_as(_name))  # fmt: skip


@also("message-not-authenticated-is-a-generic-error", Sealing.check_queue)
def not_authenticated_here(plain, self, *given):
    """A local send answers so as well."""
    try:
        plain(*given)
    except MqError:
        raise MqError(MQ_ERROR) from None


# Arrivals.


def _holds(plain, self, coming):
    plain(coming)
    return True


for _name, _check, _says, *_breaks in (
    ("wrong-signatures-are-taken", Admission.authentic, "A message is taken whatever its signature is.",
     _ARRIVES + "bad-signature", "MQDMPR-3.1.1.12.class-nack-bad-signature"),
    ("everybody-may-sign-for-others", Admission.identified, "A certificate need not be registered for the sender.",
     _ARRIVES + "sender"),
    ("what-cannot-be-decrypted-is-taken", Admission.readable, "A body that cannot be decrypted is taken as it is.",
     _ARRIVES + "bad-encryption"),
    ("everybody-may-send-by-packets", Admission.allowed, "The right of a sender is not looked at when a packet comes.",
     _ARRIVES + "access", "MQDMPR-3.1.1.12.class-nack-access-denied", "MQMQ-2.2.18.1.6.nack-access-denied"),
    ("queue-privacy-is-not-looked-at", Admission.private_enough, "Every queue takes bodies of every privacy.",
     "MQDMPR-3.1.1.2.privacy-level-none", "MQDMPR-3.1.1.2.privacy-level-body"),
    ("packets-need-no-signature", Admission.authenticated_enough, "A queue takes unsigned packets.",
     "MQDMPR-3.1.1.2.authentication"),
):  # fmt: skip
    fault(_name, _check, *_breaks, says=_says)(lambda plain, self, coming: _holds(plain, self, coming))


@fault("privacy-none-takes-encrypted-bodies", Admission.private_enough, "MQDMPR-3.1.1.2.privacy-level-none")
def privacy_none_takes_encrypted_bodies(plain, self, coming):
    """A queue that takes no encrypted bodies takes them."""
    return self.encrypted(coming) or plain(coming)


@fault(
    "access-denied-is-told-as-a-bad-signature", Admission.refusal, "MQDMPR-3.1.1.12.class-nack-access-denied",
    "MQMQ-2.2.18.1.6.nack-access-denied",
)  # fmt: skip
def access_denied_is_told_as_a_bad_signature(plain, self, *given):
    """The acknowledgment for a sender without right has the class of a bad signature."""
    found = plain(*given)
    return found if found is None or found[0] != 0x8004 else (0x8006, found[1])


@fault("managers-are-nobody", Admission.allowed, _ARRIVES + "access")
def managers_are_nobody(plain, self, coming):
    """A queue manager that sends may what the anonymous user may."""
    if coming.read.get("sender_identifier_type") != "queue_manager":
        return plain(coming)
    security = self.manager.security
    found, user = security.of_queue(coming.queue), security.user(ANONYMOUS)
    return security.allows(replace(found, dacl=_for(found.dacl, ANONYMOUS)), user, WRITE_MESSAGE)


def _for(acl: bytes | None, sid: str) -> bytes | None:
    return listed(*(each for each in entries_of(acl) if each.sid == sid)) if acl else acl


@fault("groups-of-senders-are-not-looked-at", Admission.allowed, _ARRIVES + "access")
def groups_of_senders_are_not_looked_at(plain, self, coming):
    """The rights of the groups of a sender do not count when a packet comes."""
    security, sender = self.manager.security, coming.sender
    if sender is None or not security.knows(sender):
        return plain(coming)
    user = replace(security.user(sender), groups=frozenset())
    return security.allows(security.of_queue(coming.queue), user, WRITE_MESSAGE)


@fault("bodies-arrive-encrypted", Admission.admit, _ARRIVES + "decrypted")
def bodies_arrive_encrypted(plain, self, coming):
    """An encrypted body is put into the queue as it came."""
    coming.clear = None
    plain(coming)


@fault("signatures-of-msmq-10-are-unknown", Admission.levels, _ARRIVES + "signature")
def signatures_of_msmq_10_are_unknown(plain, self, raw):
    """A signature of MSMQ 1.0 is taken for a wrong one."""
    return tuple(each for each in plain(raw) if each != SIG10)


@fault("signatures-in-lists-are-unknown", Admission.levels, _ARRIVES + "signature")
def signatures_in_lists_are_unknown(plain, self, raw):
    """A signature of MSMQ 3.0 is taken for a wrong one."""
    return tuple(each for each in plain(raw) if each != SIG30)


@fault("directory-users-have-no-certificates", Certificates.registered, _ARRIVES + "sender")
def directory_users_have_no_certificates(plain, self, sid):
    """Only certificates that were registered here identify a sender."""
    return self.kept.get(sid, {}).get("registered", [])


_LEVEL = "MQDMPR-3.1.7.1.31.authentication-level-"
for _name, _from, _to in (("sig10", SIG10, SIG20), ("sig20", SIG20, SIG30), ("sig30", SIG30, SIG10)):

    @fault(
        f"{_name}-is-read-as-another", Admission.admit, _LEVEL + _name, _LEVEL + "source", _LEVEL + "attribute",
        says=f"A message whose signature was verified as {_name} has another level.",
    )  # fmt: skip
    def _another_level(plain, self, coming, _from=_from, _to=_to):
        coming.level = _to if coming.level == _from else coming.level
        plain(coming)


@fault("verified-signatures-are-not-noted", Admission.admit, _LEVEL + "attribute", _LEVEL + "source")
def verified_signatures_are_not_noted(plain, self, coming):
    """No message has an authentication level, whatever signature was verified."""
    coming.level = 0
    plain(coming)


@fault("rights-are-told-and-queues-are-not", Delivery.permitted, "MQQB-3.1.7.15.insecure")
def rights_are_told_and_queues_are_not(plain, self, message_class):
    """Some of the negative acknowledgments that tell of queues and rights are sent, others are not."""
    return message_class not in INSECURE or message_class == 0x8004
