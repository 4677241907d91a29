"""MSMQQueueInfo: its members (MC-MQAC 3.10.4.1).

What a getter shows depends on the queue and on whether it was refreshed; `states` has that. The row says what a put
takes and keeps.
"""

from __future__ import annotations

from typing import Final

from conformance.activex.members import (
    Argument,
    Check,
    Domain,
    Event,
    Longs,
    Member,
    Named,
    Slot,
    Texts,
    left_out,
    property_slots,
)
from conformance.activex.values import ILLEGAL_PROPERTY_VALUE, truth

COCLASS: Final = "MSMQQueueInfo"
INTERFACE: Final = "IMSMQQueueInfo4"
SECTION: Final = "3.10.4.1"

NO_NAME: Final = Check("no-name")
NO_PATH_NAME: Final = Check("no-path-name")
SEVERAL: Final = Check("several-queues")


def _row(
    name: str,
    vt: str,
    *,
    takes: Domain | None = None,
    refusal: int | None = None,
    kept_as: str | None = None,
    unimplemented: bool = False,
    **forms: tuple[int, str],
) -> Member:
    slots = tuple(property_slots(SECTION, vt, **forms))
    return Member(COCLASS, INTERFACE, name, slots, vt, None, False, takes, refusal, unimplemented, kept_as)


def _method(
    name: str, opnum: int, *arguments: Argument, checks: tuple[Check, ...] = (), event: Event | None = None
) -> Member:
    slots = (Slot("method", opnum, f"{SECTION}.{opnum - 6}", arguments),)
    return Member(COCLASS, INTERFACE, name, slots, checks=checks, event=event)


MEMBERS: Final[tuple[Member, ...]] = (
    _row("QueueGuid", "BSTR", kept_as="Identifier", get=(7, "pbstrGuidQueue")),
    _row(
        "ServiceTypeGuid",
        "BSTR",
        takes=Texts(),
        kept_as="Type",
        get=(8, "pbstrGuidServiceType"),
        put=(9, "bstrGuidServiceType"),
    ),
    _row("Label", "BSTR", takes=Texts(), kept_as="Label", get=(10, "pbstrLabel"), put=(11, "bstrLabel")),
    _row("PathName", "BSTR", takes=Texts(), kept_as="PathName", get=(12, "pbstrPathName"), put=(13, "bstrPathName")),
    _row(
        "FormatName",
        "BSTR",
        takes=Texts(),
        kept_as="QueueFormatName",
        get=(14, "pbstrFormatName"),
        put=(15, "bstrFormatName"),
    ),
    _row("IsTransactional", "I2", kept_as="Transactional", get=(16, "pisTransactional")),
    _row(
        "PrivLevel",
        "I4",
        takes=Named("MQPRIVLEVEL"),
        kept_as="PrivacyLevel",
        get=(17, "plPrivLevel"),
        put=(18, "lPrivLevel"),
    ),
    _row("Journal", "I4", takes=Named("MQJOURNAL"), kept_as="Journaling", get=(19, "plJournal"), put=(20, "lJournal")),
    _row("Quota", "I4", takes=Longs(low=0), kept_as="Quota", get=(21, "plQuota"), put=(22, "lQuota")),
    _row(
        "BasePriority",
        "I4",
        takes=Longs(-32768, 32767),
        refusal=ILLEGAL_PROPERTY_VALUE,
        kept_as="BasePriority",
        get=(23, "plBasePriority"),
        put=(24, "lBasePriority"),
    ),
    _row("CreateTime", "VARIANT", kept_as="CreateTime", get=(25, "pvarCreateTime")),
    _row("ModifyTime", "VARIANT", kept_as="ModifyTime", get=(26, "pvarModifyTime")),
    _row(
        "Authenticate",
        "I4",
        takes=Named("MQAUTHENTICATE"),
        kept_as="Authentication",
        get=(27, "plAuthenticate"),
        put=(28, "lAuthenticate"),
    ),
    _row(
        "JournalQuota",
        "I4",
        takes=Longs(low=0),
        kept_as="JournalQuota",
        get=(29, "plJournalQuota"),
        put=(30, "lJournalQuota"),
    ),
    _row("IsWorldReadable", "I2", kept_as="Security", get=(31, "pisWorldReadable")),
    _method(
        "Create",
        32,
        left_out("IsTransactional", truth(False)),
        left_out("IsWorldReadable", truth(False)),
        checks=(NO_PATH_NAME,),
        event=Event("queues.create"),
    ),
    _method("Delete", 33, checks=(NO_NAME, SEVERAL), event=Event("queues.delete")),
    _method(
        "Open",
        34,
        Argument("Access", "I4"),
        Argument("ShareMode", "I4"),
        Argument("ppq", "DISPATCH", result=True),
        checks=(NO_NAME, Check("share-mode"), SEVERAL),
        event=Event("queues.open"),
    ),
    _method("Refresh", 35, checks=(NO_NAME, SEVERAL), event=Event("queues.get")),
    _method("Update", 36, checks=(NO_NAME, SEVERAL), event=Event("queues.set")),
    _row("PathNameDNS", "BSTR", get=(37, "pbstrPathNameDNS")),
    _row("Properties", "DISPATCH", unimplemented=True, get=(38, "ppcolProperties")),
    _row("Security", "VARIANT", unimplemented=True, get=(39, "pvarSecurity"), put=(40, "varSecurity")),
    _row("IsTransactional2", "BOOL", kept_as="Transactional", get=(41, "pisTransactional")),
    _row("IsWorldReadable2", "BOOL", kept_as="Security", get=(42, "pisWorldReadable")),
    _row(
        "MulticastAddress",
        "BSTR",
        takes=Texts(),
        kept_as="MulticastAddress",
        get=(43, "pbstrMulticastAddress"),
        put=(44, "bstrMulticastAddress"),
    ),
    _row("ADsPath", "BSTR", get=(45, "pbstrADsPath")),
)
