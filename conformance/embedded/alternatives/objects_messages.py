"""Alternatives of readings about messages as objects, and about sending them (MC-MQAC 3.17)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from conformance.embedded.alternatives.base import follows
from conformance.embedded.entities import NULL_GUID, MqError
from conformance.embedded.objects.codes import E_INVALIDARG
from conformance.embedded.objects.message import MessageObject
from conformance.embedded.objects.message_properties import Property
from conformance.embedded.objects.message_send import MessageSending
from conformance.embedded.objects.queue_info import QueueInfoObject
from conformance.embedded.objects.transaction_argument import NO_TRANSACTION, Unit
from conformance.embedded.objects.variants import Variant, long

E_INVALIDARG_AS_PRINTED = 0x80000003
FOUR_DAYS = 345_600


@follows("R-MQAC-com-result-values=as-printed", "message_object")
class _OldNumbers(MessageObject):
    """put Body and Send answer the E_INVALIDARG of 16 bits."""

    def put_body(self, given: Variant) -> None:
        try:
            super().put_body(given)
        except MqError as failure:
            raise MqError(_as_printed(failure.status)) from None

    def send(self, destination: Any, transaction: Variant) -> None:
        try:
            super().send(destination, transaction)
        except MqError as failure:
            raise MqError(_as_printed(failure.status)) from None


def _as_printed(status: int) -> int:
    return E_INVALIDARG_AS_PRINTED if status == E_INVALIDARG else status


@follows("R-MQAC-variant-true=one", "message_object")
class _One(MessageObject):
    """IsFirstInTransaction2 and IsLastInTransaction2 are 1 where they are true."""

    def invoke(self, name: str, kind: str, given: list[Variant], caller: Any) -> Variant | None:
        found = super().invoke(name, kind, given, caller)
        told = name.lower() in ("isfirstintransaction2", "islastintransaction2") and found is not None
        return Variant("BOOL", 1) if told and found is not None and found.value is True else found


@follows("R-MQAC-new-message-defaults=as-stored", "message_object")
class _AsStored(MessageObject):
    """A new message shows the defaults of the queue manager."""

    def initial(self) -> Mapping[str, Any]:
        return {**super().initial(), "reach": FOUR_DAYS, "label": "", "correlation": bytes(20)}


@follows("R-MQAC-provider-name=comma", "message_object")
class _Comma(MessageObject):
    """The version in the provider's name has a comma."""

    def initial(self) -> Mapping[str, Any]:
        found = super().initial()
        return {**found, "provider_name": found["provider_name"].replace("1.0", "1,0")}


@follows("R-MQAC-acknowledgment-combinations=any-bits", "message_object")
class _AnyBits(MessageObject):
    """put Ack takes any combination of the four bits."""

    def write(self, row: Property, value: Any) -> None:
        super().write(replace(row, valid=lambda bits: 0 <= bits <= 15) if row.name == "Ack" else row, value)


@follows("R-MQAC-queue-getter-refresh=fails", "message_object")
class _Fails(MessageObject):
    """The getter of a queue that cannot be refreshed fails."""

    def queue_info(self, format_name: str | None) -> QueueInfoObject:
        found = self.manager.parts.queue_info(self.manager, format_name)
        found.refresh()
        return found


@follows("R-MQAC-send-timers=receive-lengthened", "message_sending")
class _Lengthens(MessageSending):
    """The time to be received is raised to the time to reach the queue."""

    def shorten(self) -> None:
        values = self.message.values
        values["receive"] = max(values["reach"], values["receive"])


@follows("R-MQAC-send-default-transaction=fails", "message_sending")
class _NoDefault(MessageSending):
    """Send without the argument Transaction fails."""

    def unit(self) -> Unit:
        if self.given.left_out:
            raise MqError(E_INVALIDARG)
        return super().unit()


@follows("R-MQAC-send-transaction-type=converted", "message_sending")
class _Converts(MessageSending):
    """A VT_I2 counts as the number that it holds, and VT_EMPTY as no transaction."""

    def unit(self) -> Unit:
        if self.given.vt in ("I2", "EMPTY"):
            self.given = long(int(self.given.value or NO_TRANSACTION))
        return super().unit()


@follows("R-MQAC-send-again=every-set", "message_sending")
class _Marks(MessageSending):
    """What Send sets counts as set: a message object cannot be sent again without a connector type."""

    def complete(self) -> None:
        unnamed = self.message.values["sender"] is None
        super().complete()
        if unnamed:
            self.message.marked.add("sender")
        if self.message.values["connector"] == NULL_GUID:
            self.message.marked.add("class")
