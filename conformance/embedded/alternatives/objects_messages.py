"""Alternatives of readings about messages as objects, and about sending them (MC-MQAC 3.17)."""

from __future__ import annotations

from dataclasses import replace

from conformance.embedded.alternatives.base import follows
from conformance.embedded.entities import NULL_GUID, MqError
from conformance.embedded.objects.codes import E_INVALIDARG
from conformance.embedded.objects.message import MessageObject
from conformance.embedded.objects.message_send import MessageSending
from conformance.embedded.objects.transaction_argument import NO_TRANSACTION
from conformance.embedded.objects.variants import Variant, long

E_INVALIDARG_AS_PRINTED = 0x80000003
FOUR_DAYS = 345_600


@follows("R-MQAC-com-result-values=as-printed", MessageObject.put_body)
def mqac_com_result_values_as_printed(plain, self, given):
    """put Body and Send answer the E_INVALIDARG of 16 bits."""
    try:
        plain(given)
    except MqError as failure:
        raise MqError(_as_printed(failure.status)) from None


@follows("R-MQAC-com-result-values=as-printed", MessageObject.send)
def mqac_com_result_values_as_printed_send(plain, self, destination, transaction):
    try:
        plain(destination, transaction)
    except MqError as failure:
        raise MqError(_as_printed(failure.status)) from None


def _as_printed(status: int) -> int:
    return E_INVALIDARG_AS_PRINTED if status == E_INVALIDARG else status


@follows("R-MQAC-variant-true=one", "message_object.invoke")
def mqac_variant_true_one(plain, self, name, kind, given, caller):
    """IsFirstInTransaction2 and IsLastInTransaction2 are 1 where they are true."""
    found = plain(name, kind, given, caller)
    told = name.lower() in ("isfirstintransaction2", "islastintransaction2") and found is not None
    return Variant("BOOL", 1) if told and found is not None and found.value is True else found


@follows("R-MQAC-new-message-defaults=as-stored", MessageObject.initial)
def mqac_new_message_defaults_as_stored(plain, self):
    """A new message shows the defaults of the queue manager."""
    return {**plain(), "reach": FOUR_DAYS, "label": "", "correlation": bytes(20)}


@follows("R-MQAC-provider-name=comma", MessageObject.initial)
def mqac_provider_name_comma(plain, self):
    """The version in the provider's name has a comma."""
    found = plain()
    return {**found, "provider_name": found["provider_name"].replace("1.0", "1,0")}


@follows("R-MQAC-acknowledgment-combinations=any-bits", MessageObject.write)
def mqac_acknowledgment_combinations_any_bits(plain, self, row, value):
    """put Ack takes any combination of the four bits."""
    plain(replace(row, valid=lambda bits: 0 <= bits <= 15) if row.name == "Ack" else row, value)


@follows("R-MQAC-queue-getter-refresh=fails", MessageObject.queue_info)
def mqac_queue_getter_refresh_fails(plain, self, format_name):
    """The getter of a queue that cannot be refreshed fails."""
    found = self.manager.parts.queue_info(self.manager, format_name)
    found.refresh()
    return found


@follows("R-MQAC-send-timers=receive-lengthened", MessageSending.shorten)
def mqac_send_timers_receive_lengthened(plain, self):
    """The time to be received is raised to the time to reach the queue."""
    values = self.message.values
    values["receive"] = max(values["reach"], values["receive"])


@follows("R-MQAC-send-default-transaction=fails", MessageSending.unit)
def mqac_send_default_transaction_fails(plain, self):
    """Send without the argument Transaction fails."""
    if self.given.left_out:
        raise MqError(E_INVALIDARG)
    return plain()


@follows("R-MQAC-send-transaction-type=converted", MessageSending.unit)
def mqac_send_transaction_type_converted(plain, self):
    """A VT_I2 counts as the number that it holds, and VT_EMPTY as no transaction."""
    if self.given.vt in ("I2", "EMPTY"):
        self.given = long(int(self.given.value or NO_TRANSACTION))
    return plain()


@follows("R-MQAC-send-again=every-set", MessageSending.complete)
def mqac_send_again_every_set(plain, self):
    """What Send sets counts as set: a message object cannot be sent again without a connector type."""
    unnamed = self.message.values["sender"] is None
    plain()
    if unnamed:
        self.message.marked.add("sender")
    if self.message.values["connector"] == NULL_GUID:
        self.message.marked.add("class")
