"""Alternatives of readings about rights and security descriptors."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from conformance.embedded.admission import Admission
from conformance.embedded.alternatives.base import follows
from conformance.embedded.delivery import INSECURE, Delivery, Sending
from conformance.embedded.entities import Descriptor, MqError
from conformance.embedded.packet_layout import DEFAULT_HASH
from conformance.embedded.packet_writing import PacketWriter
from conformance.embedded.queues import Queues
from conformance.embedded.receiving import Receiving
from conformance.embedded.sealing import Sealing
from conformance.embedded.security import ANONYMOUS, DACL, GROUP, OWNER, SACL, WRITE_MESSAGE, Security
from conformance.embedded.signing import ADVANCED, ENHANCED, PROVIDERS, SIG30, Encryption
from conformance.embedded.transactions import Transactions

_EACH_CALL = "R-MQMQ-right-checked-at=each-call"


@follows(_EACH_CALL, "security")
class _AtEachCall(Security):
    """The rights to read and write messages are looked at whenever a handle is used, and not only at its opening."""

    def need_to_use(self, descriptor: Descriptor) -> None:
        """Raise MqError if the caller has not the right for which a handle was opened."""
        for each in descriptor.elements or [descriptor]:
            if each.queue is not None and not each.queue.deleted:
                self.need_to_open(each.queue, each.access)


@follows(
    _EACH_CALL, Receiving.receive, Receiving.peek, Receiving.peek_next, Receiving.receive_begin, Receiving.by_lookup_id
)
def _reads(plain, self, caller, descriptor, *given, **named):
    self.manager.security.need_to_use(descriptor)
    plain(caller, descriptor, *given, **named)


@follows(_EACH_CALL, Sending.send, Queues.purge)
def _uses(plain, self, descriptor, *given):
    self.manager.security.need_to_use(descriptor)
    return plain(descriptor, *given)


@follows(_EACH_CALL, Transactions.move)
def _moves(plain, self, source, lookup, destination, transaction):
    for each in (source, destination):
        self.manager.security.need_to_use(each)
    plain(source, lookup, destination, transaction)


@follows("descriptor-owner=letter", Security.default)
def descriptor_owner_letter(plain, self, creator, supplied):
    """A finished descriptor has no owner."""
    return replace(plain(creator, supplied), owner=None)


@follows("supplied-owner=kept", Security.default)
def supplied_owner_kept(plain, self, creator, supplied):
    """An owner that was supplied is that of the queue, whoever it is."""
    made = plain(creator, supplied)
    return made if supplied is None or supplied.owner is None else replace(made, owner=supplied.owner)


@follows("descriptor-order=replaced", Security.default)
def descriptor_order_replaced(plain, self, creator, supplied):
    """A descriptor that was supplied is the whole descriptor."""
    return plain(creator, supplied) if supplied is None else supplied


@follows("R-MQMP-security-information=first", Security.shown)
def mqmp_security_information_first(plain, self, descriptor, information):
    """The first of several parts that are asked for is read."""
    return plain(descriptor, next((part for part in (OWNER, GROUP, DACL, SACL) if information & part), 0))


# What arrives, and how bodies and signatures go together.


@follows("R-MQQB-sender-absent=denied", Admission.allowed)
def mqqb_sender_absent_denied(plain, self, coming):
    """A message with a SecurityHeader and without a sender may be written by nobody."""
    return coming.read.get("sender_identifier_type") != "none" and plain(coming)


@follows("R-MQQB-sender-is-manager=refused", Admission.identified)
def mqqb_sender_is_manager_refused(plain, self, coming):
    """A queue manager that signs is looked for among users, and not found."""
    return not (coming.signed and coming.read.get("sender_identifier_type") == "queue_manager") and plain(coming)


@follows("R-MQQB-unsigned-access=anonymous", Admission.allowed)
def mqqb_unsigned_access_anonymous(plain, self, coming):
    """A message without SecurityHeader needs the right of the anonymous user."""
    if coming.secured:
        return plain(coming)
    security = self.manager.security
    return security.allows(security.of_queue(coming.queue), security.user(ANONYMOUS), WRITE_MESSAGE)


@follows("R-MQQB-one-destination-sig30=refused", Admission.levels)
def mqqb_one_destination_sig30_refused(plain, self, raw):
    """A signature of MSMQ 3.0 is looked for in the list header alone."""
    return tuple(each for each in plain(raw) if not raw["signature"] or each != SIG30)


@follows("R-MQQB-insecure-nacks=not-sent", Delivery.permitted)
def mqqb_insecure_nacks_not_sent(plain, self, message_class):
    """Negative acknowledgments that tell of queues and rights are not sent."""
    return message_class not in INSECURE


@follows("R-MQQB-encryption-choice=best-key", Encryption.provider)
def mqqb_encryption_choice_best_key(plain, self, level, keys):
    """A body is encrypted for the strongest provider that the receiver has a key for, which an enhanced one needs."""
    if PROVIDERS[level] is ENHANCED and not {ENHANCED.name, ADVANCED.name} & keys.keys():
        return plain(level, keys)
    return plain(max((each for each in PROVIDERS if PROVIDERS[each].name in keys), default=level), keys)


@follows("R-MQQB-encryption-choice=best-key", PacketWriter._algorithms)
def _any_cipher(plain, self, fields):
    try:
        return plain(fields)
    except MqError:
        numbers = ("privacy_level", "hash_algorithm", "encryption_algorithm")
        return tuple(fields.number(name, DEFAULT_HASH) for name in numbers)


_AS_SENT = "R-MQQB-signed-and-encrypted=as-sent"


@follows(_AS_SENT, Admission.authentic)
def mqqb_signed_and_encrypted_as_sent(plain, self, coming):
    """A signature is over the body as it is in the packet."""
    clear, coming.clear = coming.clear, None
    holds = plain(coming)
    coming.clear = clear
    return holds


@follows(_AS_SENT, Sealing.sign)
def _signs_encrypted(plain, self, message, queue):
    clear, sent = message.fields["body"], {}
    if message.fields["privacy"] != "none" and queue.kind == "outgoing":
        with suppress(MqError):  # it will not be sent
            said = self.manager.outgoing.said(queue, message)
            self.dress(said, message)
            sent = {name: said[name] for name in ("body", "symmetric_key", "encryption_algorithm")}
    message.fields["body"] = sent.get("body", clear)
    plain(message, queue)
    message.fields["body"] = clear
    if sent and message.carried:
        message.carried["sealed"]["sent"] = sent


@follows(_AS_SENT, Sealing.dress)
def _sends_signed(plain, self, said, message):
    plain(said, message)
    said |= (message.carried or {}).get("sealed", {}).get("sent", {})
