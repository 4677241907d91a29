"""Named, deliberate deviations of the embedded queue manager: each is what a harness must find.

`FAULTS` is the registry; `apply_faults` makes the parts of a manager that has some of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from conformance.embedded.alternatives import ALTERNATIVES
from conformance.embedded.faults.acknowledging import ACKNOWLEDGING_FAULTS
from conformance.embedded.faults.afterwards import AFTERWARDS_FAULTS
from conformance.embedded.faults.base import Fault
from conformance.embedded.faults.cursors_particular import CURSOR_FAULTS
from conformance.embedded.faults.expiring import EXPIRING_FAULTS
from conformance.embedded.faults.journaling import JOURNALING_FAULTS
from conformance.embedded.faults.keeping import KEEPING_FAULTS
from conformance.embedded.faults.killed import KILLED_FAULTS
from conformance.embedded.faults.message_attributes import MESSAGE_ATTRIBUTE_FAULTS
from conformance.embedded.faults.moving import MOVING_FAULTS
from conformance.embedded.faults.moving_refusals import MOVE_REFUSAL_FAULTS
from conformance.embedded.faults.names import NAME_FAULTS
from conformance.embedded.faults.names_accepted import ACCEPTED_FAULTS
from conformance.embedded.faults.names_both_ways import BOTH_WAYS_FAULTS
from conformance.embedded.faults.names_direct import DIRECT_FAULTS
from conformance.embedded.faults.names_given import GIVEN_NAME_FAULTS
from conformance.embedded.faults.names_guids import GUID_FAULTS
from conformance.embedded.faults.names_kinds import KIND_FAULTS
from conformance.embedded.faults.names_mended import MENDED_FAULTS
from conformance.embedded.faults.names_multiple import MULTIPLE_FAULTS
from conformance.embedded.faults.names_paths import PATH_FAULTS
from conformance.embedded.faults.names_refused import REFUSED_FAULTS
from conformance.embedded.faults.names_refused_forms import REFUSED_FORM_FAULTS
from conformance.embedded.faults.names_tidied import TIDIED_FAULTS
from conformance.embedded.faults.names_versions import VERSION_FAULTS
from conformance.embedded.faults.opening import OPENING_FAULTS
from conformance.embedded.faults.opening_refused import REFUSED_OPEN_FAULTS
from conformance.embedded.faults.outgoing import OUTGOING_FAULTS
from conformance.embedded.faults.outgoing_transfer import TRANSFERRED_FAULTS
from conformance.embedded.faults.packets import PACKET_FAULTS
from conformance.embedded.faults.packets_fields import WRITTEN_FIELD_FAULTS
from conformance.embedded.faults.packets_headers import HEADER_PACKET_FAULTS
from conformance.embedded.faults.packets_misread import MISREAD_FAULTS
from conformance.embedded.faults.packets_multiple import MULTIPLE_PACKET_FAULTS
from conformance.embedded.faults.packets_optional import OPTIONAL_FAULTS
from conformance.embedded.faults.packets_particular import PARTICULAR_PACKET_FAULTS
from conformance.embedded.faults.property_texts import TEXT_FAULTS
from conformance.embedded.faults.queue_attributes import QUEUE_ATTRIBUTE_FAULTS
from conformance.embedded.faults.queue_created import CREATED_QUEUE_FAULTS
from conformance.embedded.faults.queue_identity import QUEUE_IDENTITY_FAULTS
from conformance.embedded.faults.quotas import QUOTA_FAULTS
from conformance.embedded.faults.racing import RACING_FAULTS
from conformance.embedded.faults.read_answers import READ_ANSWER_FAULTS
from conformance.embedded.faults.reading import READING_FAULTS
from conformance.embedded.faults.reads_two_phase import TWO_PHASE_FAULTS
from conformance.embedded.faults.recovering import RECOVERING_FAULTS
from conformance.embedded.faults.seeking import SEEKING_FAULTS
from conformance.embedded.faults.sending_several import SEVERAL_FAULTS
from conformance.embedded.faults.structures import STRUCTURE_FAULTS
from conformance.embedded.faults.structures_ndr import NDR_FAULTS
from conformance.embedded.faults.structures_places import PLACE_FAULTS
from conformance.embedded.faults.structures_transfer import TRANSFER_FAULTS
from conformance.embedded.faults.transactions_ended import ENDED_FAULTS
from conformance.embedded.faults.transactions_ending import TRANSACTION_FAULTS
from conformance.embedded.faults.transactions_prepare import PREPARE_FAULTS
from conformance.embedded.faults.waiting import WAITING_FAULTS
from conformance.embedded.manager import Parts

FAULTS: Mapping[str, type[Fault]] = MappingProxyType(
    {
        fault.name: fault
        for fault in (
            *KEEPING_FAULTS,
            *READING_FAULTS,
            *NAME_FAULTS,
            *PATH_FAULTS,
            *DIRECT_FAULTS,
            *GUID_FAULTS,
            *MULTIPLE_FAULTS,
            *TEXT_FAULTS,
            *REFUSED_FAULTS,
            *ACCEPTED_FAULTS,
            *MENDED_FAULTS,
            *KIND_FAULTS,
            *BOTH_WAYS_FAULTS,
            *VERSION_FAULTS,
            *TIDIED_FAULTS,
            *GIVEN_NAME_FAULTS,
            *REFUSED_FORM_FAULTS,
            *PACKET_FAULTS,
            *MULTIPLE_PACKET_FAULTS,
            *HEADER_PACKET_FAULTS,
            *WRITTEN_FIELD_FAULTS,
            *MISREAD_FAULTS,
            *OPTIONAL_FAULTS,
            *PARTICULAR_PACKET_FAULTS,
            *STRUCTURE_FAULTS,
            *NDR_FAULTS,
            *TRANSFER_FAULTS,
            *PLACE_FAULTS,
            *AFTERWARDS_FAULTS,
            *TRANSACTION_FAULTS,
            *PREPARE_FAULTS,
            *ENDED_FAULTS,
            *TWO_PHASE_FAULTS,
            *MOVING_FAULTS,
            *MOVE_REFUSAL_FAULTS,
            *READ_ANSWER_FAULTS,
            *WAITING_FAULTS,
            *SEEKING_FAULTS,
            *CURSOR_FAULTS,
            *OPENING_FAULTS,
            *SEVERAL_FAULTS,
            *REFUSED_OPEN_FAULTS,
            *QUOTA_FAULTS,
            *JOURNALING_FAULTS,
            *EXPIRING_FAULTS,
            *ACKNOWLEDGING_FAULTS,
            *QUEUE_ATTRIBUTE_FAULTS,
            *QUEUE_IDENTITY_FAULTS,
            *CREATED_QUEUE_FAULTS,
            *MESSAGE_ATTRIBUTE_FAULTS,
            *RECOVERING_FAULTS,
            *KILLED_FAULTS,
            *RACING_FAULTS,
            *OUTGOING_FAULTS,
            *TRANSFERRED_FAULTS,
        )
    }
)


def apply_faults(names: Iterable[str]) -> Parts:
    """The parts of a manager with these faults. Raises KeyError for a name the registry does not have.

    `READING=ALTERNATIVE` is a name too: see `conformance.embedded.alternatives`.
    """
    parts = Parts()
    for name in names:
        if "=" in name:
            ALTERNATIVES[name]().apply(parts)
        else:
            FAULTS[name]().apply(parts)
    return parts


__all__ = ["FAULTS", "Fault", "apply_faults"]
