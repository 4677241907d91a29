"""MSMQMessage: its members (MC-MQAC 3.17.4.1) and what a new message shows (3.17.3)."""

from __future__ import annotations

from typing import Final

from conformance.activex.members import (
    Argument,
    Domain,
    Event,
    Guids,
    Longs,
    Member,
    Named,
    Slot,
    Texts,
    Variants,
    left_out,
    property_slots,
)
from conformance.activex.values import (
    E_INVALIDARG,
    ILLEGAL_PROPERTY_VALUE,
    LABEL_TOO_LONG,
    Variant,
    long,
    octets,
    short,
    text,
    truth,
)

COCLASS: Final = "MSMQMessage"
INTERFACE: Final = "IMSMQMessage4"
SECTION: Final = "3.17.4.1"
NULL_GUID: Final = "00000000-0000-0000-0000-000000000000"
BASE_PROVIDER: Final = "Microsoft Base Cryptographic Provider, v1.0"
ENHANCED_PROVIDER: Final = "Microsoft Enhanced Cryptographic Provider, v1.0"

_ELEMENTS: Final = {"I1": 1, "I2": -2, "UI2": 3, "I4": 4, "UI4": 5, "R8": "1.5", "BOOL": True, "BSTR": "a"}
BODIES: Final = Variants(
    (
        *(Variant(vt, number) for vt, number in (("I1", -128), ("UI1", 255), ("I2", -(2**15)), ("UI2", 2**16 - 1))),
        *(Variant(vt, number) for vt, number in (("I4", -(2**31)), ("UI4", 2**32 - 1), ("R4", "1.5"), ("R8", "-0.1"))),
        *(Variant(vt, value) for vt, value in (("CY", "922337203685477.5807"), ("DATE", "36526.5"), ("BOOL", True))),
        text("Ünï€ \U0001f600"),
        octets(bytes(range(256))),
        *(Variant("ARRAY", (Variant(vt, value),), vt) for vt, value in _ELEMENTS.items()),
    ),
    refused=(Variant("EMPTY"), Variant("NULL"), Variant("I8", 1), Variant("UI8", 1)),
)
BYTES: Final = Variants((octets(b"\x00"), octets(bytes(range(256)))))
TWENTY: Final = Variants((octets(bytes(range(20))), octets(b"\xff" * 20)))


def _row(
    name: str,
    vt: str,
    initial: Variant | None = None,
    *,
    takes: Domain | None = None,
    refusal: int | None = None,
    kept_as: str | None = None,
    null: bool = False,
    unimplemented: bool = False,
    **forms: tuple[int, str],
) -> Member:
    slots = tuple(property_slots(SECTION, vt, **forms))
    return Member(COCLASS, INTERFACE, name, slots, vt, initial, null, takes, refusal, unimplemented, kept_as)


def _method(name: str, opnum: int, *arguments: Argument, event: Event | None = None) -> Member:
    slots = (Slot("method", opnum, f"{SECTION}.{opnum - 6}", arguments),)
    return Member(COCLASS, INTERFACE, name, slots, event=event)


def _queue(name: str, kept_as: str, get: tuple[int, str], putref: tuple[int, str] | None = None) -> Member:
    """Return the row of a property that hands out an object for a queue name of the message."""
    if putref is None:
        return _row(name, "DISPATCH", null=True, kept_as=kept_as, get=get)
    return _row(name, "DISPATCH", null=True, kept_as=kept_as, get=get, putref=putref)


REFUSED: Final = ILLEGAL_PROPERTY_VALUE
ACK: Final = "AcknowledgementsRequested"
RESPONSE: Final = "ResponseQueueFormatName"
ADMINISTRATION: Final = "AdministrationQueueFormatName"

MEMBERS: Final[tuple[Member, ...]] = (
    _row("Class", "I4", long(0), kept_as="Class", get=(7, "plClass")),
    _row(
        "PrivLevel",
        "I4",
        long(0),
        takes=Named("MQMSGPRIVLEVEL"),
        refusal=REFUSED,
        kept_as="PrivacyLevel",
        get=(8, "plPrivLevel"),
        put=(9, "lPrivLevel"),
    ),
    _row(
        "AuthLevel",
        "I4",
        long(0),
        takes=Named("MQMSGAUTHLEVEL"),
        refusal=REFUSED,
        kept_as="RequestedAuthenticationLevel",
        get=(10, "plAuthLevel"),
        put=(11, "lAuthLevel"),
    ),
    _row("IsAuthenticated", "I2", short(0), kept_as="AuthenticationLevel", get=(12, "pisAuthenticated")),
    _row(
        "Delivery",
        "I4",
        long(0),
        takes=Named("MQMSGDELIVERY"),
        refusal=REFUSED,
        kept_as="DeliveryGuarantee",
        get=(13, "plDelivery"),
        put=(14, "lDelivery"),
    ),
    _row(
        "Trace",
        "I4",
        long(0),
        takes=Named("MQMSGTRACE"),
        refusal=REFUSED,
        kept_as="TracingRequested",
        get=(15, "plTrace"),
        put=(16, "Trace"),
    ),
    _row(
        "Priority",
        "I4",
        long(3),
        takes=Longs(0, 7),
        refusal=REFUSED,
        kept_as="Priority",
        get=(17, "plPriority"),
        put=(18, "lPriority"),
    ),
    _row(
        "Journal",
        "I4",
        long(0),
        takes=Named("MQMSGJOURNAL", further=(1 | 2,)),
        refusal=REFUSED,
        kept_as="Journaling",
        get=(19, "plJournal"),
        put=(20, "lJournal"),
    ),
    _queue("ResponseQueueInfo_v1", RESPONSE, (21, "ppqinfoResponse"), (22, "pqinfoResponse")),
    _row(
        "AppSpecific",
        "I4",
        long(0),
        takes=Longs(),
        kept_as="ApplicationTag",
        get=(23, "plAppSpecific"),
        put=(24, "lAppSpecific"),
    ),
    _row(
        "SourceMachineGuid", "BSTR", text(NULL_GUID), kept_as="SourceMachineIdentifier", get=(25, "pbstrGuidSrcMachine")
    ),
    _row("BodyLength", "I4", long(0), kept_as="Body", get=(26, "pcbBody")),
    _row(
        "Body",
        "VARIANT",
        null=True,
        takes=BODIES,
        refusal=E_INVALIDARG,
        kept_as="Body",
        get=(27, "pvarBody"),
        put=(28, "varBody"),
    ),
    _queue("AdminQueueInfo_v1", ADMINISTRATION, (29, "ppqinfoAdmin"), (30, "pqinfoAdmin")),
    _row("Id", "VARIANT", null=True, kept_as="Identifier", get=(31, "pvarMsgId")),
    _row(
        "CorrelationId",
        "VARIANT",
        null=True,
        takes=TWENTY,
        kept_as="CorrelationIdentifier",
        get=(32, "pvarMsgId"),
        put=(33, "varMsgId"),
    ),
    _row(
        "Ack",
        "I4",
        long(0),
        takes=Named("MQMSGACKNOWLEDGEMENT"),
        refusal=REFUSED,
        kept_as=ACK,
        get=(34, "plAck"),
        put=(35, "lAck"),
    ),
    _row(
        "Label",
        "BSTR",
        text(""),
        takes=Texts(below=250),
        refusal=LABEL_TOO_LONG,
        kept_as="Label",
        get=(36, "pbstrLabel"),
        put=(37, "bstrLabel"),
    ),
    _row(
        "MaxTimeToReachQueue",
        "I4",
        long(0xFFFFFFFF),
        takes=Longs(),
        kept_as="TimeToReachQueue",
        get=(38, "plMaxTimeToReachQueue"),
        put=(39, "lMaxTimeToReachQueue"),
    ),
    _row(
        "MaxTimeToReceive",
        "I4",
        long(0xFFFFFFFF),
        takes=Longs(),
        kept_as="TimeToBeReceived",
        get=(40, "plMaxTimeToReceive"),
        put=(41, "lMaxTimeToReceive"),
    ),
    _row(
        "HashAlgorithm",
        "I4",
        long(0x8004),
        takes=Named("MQCALG"),
        kept_as="HashAlgorithm",
        get=(42, "plHashAlg"),
        put=(43, "lHashAlg"),
    ),
    _row(
        "EncryptAlgorithm",
        "I4",
        long(0x6801),
        takes=Named("MQCALG"),
        kept_as="EncryptionAlgorithm",
        get=(44, "plEncryptAlg"),
        put=(45, "lEncryptAlg"),
    ),
    _row("SentTime", "VARIANT", kept_as="SentTime", get=(46, "pvarSentTime")),
    _row("ArrivedTime", "VARIANT", kept_as="ArrivalTime", get=(47, "plArrivedTime")),
    _queue("DestinationQueueInfo", "DestinationQueueFormatName", (48, "ppqinfoDest")),
    _row(
        "SenderCertificate",
        "VARIANT",
        null=True,
        takes=BYTES,
        kept_as="SenderCertificate",
        get=(49, "pvarSenderCert"),
        put=(50, "varSenderCert"),
    ),
    _row(
        "SenderId",
        "VARIANT",
        null=True,
        takes=BYTES,
        kept_as="SenderIdentifier",
        get=(51, "pvarSenderId"),
        put=(70, "varSenderId"),
    ),
    _row(
        "SenderIdType",
        "I4",
        long(1),
        takes=Named("MQMSGSENDERIDTYPE"),
        kept_as="SenderIdentifierType",
        get=(52, "plSenderIdType"),
        put=(53, "lSenderIdType"),
    ),
    _method(
        "Send", 54, Argument("DestinationQueue", "DISPATCH"), left_out("Transaction"), event=Event("messages.send")
    ),
    _method("AttachCurrentSecurityContext", 55),
    _row("SenderVersion", "I4", long(0x10), get=(56, "plSenderVersion")),
    _row(
        "Extension",
        "VARIANT",
        null=True,
        takes=BYTES,
        kept_as="Extension",
        get=(57, "pvarExtension"),
        put=(58, "varExtension"),
    ),
    _row(
        "ConnectorTypeGuid",
        "BSTR",
        text("{" + NULL_GUID + "}"),
        takes=Guids(),
        refusal=REFUSED,
        kept_as="ConnectorTypeIdentifier",
        get=(59, "pbstrGuidConnectorType"),
        put=(60, "bstrGuidConnectorType"),
    ),
    _queue("TransactionStatusQueueInfo", "TransactionStatusQueueFormatName", (61, "ppqinfoXactStatus")),
    _row(
        "DestinationSymmetricKey",
        "VARIANT",
        null=True,
        takes=BYTES,
        kept_as="SymmetricKey",
        get=(62, "pvarDestSymmKey"),
        put=(63, "varDestSymmKey"),
    ),
    _row(
        "Signature",
        "VARIANT",
        null=True,
        takes=BYTES,
        kept_as="Signature",
        get=(64, "pvarSignature"),
        put=(65, "varSignature"),
    ),
    _row(
        "AuthenticationProviderType",
        "I4",
        long(1),
        takes=Longs(),
        kept_as="AuthenticationProviderType",
        get=(66, "plAuthProvType"),
        put=(67, "lAuthProvType"),
    ),
    _row(
        "AuthenticationProviderName",
        "BSTR",
        text(BASE_PROVIDER),
        takes=Texts(further=(BASE_PROVIDER, ENHANCED_PROVIDER)),
        kept_as="AuthenticationProviderName",
        get=(68, "pbstrAuthProvName"),
        put=(69, "bstrAuthProvName"),
    ),
    _row(
        "MsgClass",
        "I4",
        long(0),
        takes=Named("MQMSGCLASS"),
        kept_as="Class",
        get=(71, "plMsgClass"),
        put=(72, "lMsgClass"),
    ),
    _row("Properties", "DISPATCH", unimplemented=True, get=(73, "ppcolProperties")),
    _row(
        "TransactionId", "VARIANT", null=True, kept_as="TransactionalMessageSequenceIdentifier", get=(74, "pvarXactId")
    ),
    _row("IsFirstInTransaction", "I2", short(0), kept_as="FirstInTransaction", get=(75, "pisFirstInXact")),
    _row("IsLastInTransaction", "I2", short(0), kept_as="LastInTransaction", get=(76, "pisLastInXact")),
    _queue("ResponseQueueInfo_v2", RESPONSE, (77, "ppqinfoResponse"), (78, "pqinfoResponse")),
    _queue("AdminQueueInfo_v2", ADMINISTRATION, (79, "ppqinfoAdmin"), (80, "ppqinfoAdmin")),
    _row(
        "ReceivedAuthenticationLevel",
        "I2",
        short(0),
        kept_as="AuthenticationLevel",
        get=(81, "psReceivedAuthenticationLevel"),
    ),
    _queue("ResponseQueueInfo", RESPONSE, (82, "ppqinfoResponse"), (83, "pqinfoResponse")),
    _queue("AdminQueueInfo", ADMINISTRATION, (84, "ppqinfoAdmin"), (85, "pqinfoAdmin")),
    _queue("ResponseDestination", "ResponseMultiQueueFormatName", (86, "ppdestResponse"), (87, "pdestResponse")),
    _queue("Destination", "DestinationMultiQueueFormatName", (88, "ppdestDestination")),
    _row("LookupId", "VARIANT", text("0"), kept_as="LookupIdentifier", get=(89, "pvarLookupId")),
    _row("IsAuthenticated2", "BOOL", truth(False), kept_as="AuthenticationLevel", get=(90, "pisAuthenticated")),
    _row("IsFirstInTransaction2", "BOOL", truth(False), kept_as="FirstInTransaction", get=(91, "pisFirstInXact")),
    _row("IsLastInTransaction2", "BOOL", truth(False), kept_as="LastInTransaction", get=(92, "pisLastInXact")),
    _method("AttachCurrentSecurityContext2", 93),
    _row("SoapEnvelope", "BSTR", null=True, kept_as="SoapEnvelope", get=(94, "pbstrSoapEnvelope")),
    _row("CompoundMessage", "VARIANT", null=True, kept_as="SoapCompoundMessage", get=(95, "pvarCompoundMessage")),
    _row("SoapHeader", "BSTR", takes=Texts(), kept_as="SOAPHeader", put=(96, "bstrSoapHeader")),
    _row("SoapBody", "BSTR", takes=Texts(), kept_as="SOAPBody", put=(97, "bstrSoapBody")),
)
