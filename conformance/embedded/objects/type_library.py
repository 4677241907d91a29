"""The type library (MC-MQAC 6): interfaces with their identifiers and members, and constants."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from conformance.spec.constants.enumerations import ENUMERATIONS
from conformance.spec.constants.hresults import HRESULTS
from conformance.spec.constants.interfaces import COCLASSES, INTERFACES

if TYPE_CHECKING:
    from conformance.embedded.objects.variants import ComObject

_WANTS, _GIVES = "WantDestinationQueue? WantBody?", ">ppmsg:DISPATCH"
ROWS: Final[dict[str, str]] = {
    "ITransaction": """
        method Commit fRetaining:I2 grfTC:UI4 grfRM:UI4
        method Abort pboidReason fRetaining:I2 fAsync:I2
        method GetTransactionInfo >pinfo
    """,
    "IMSMQTransaction": """
        get Transaction plTransaction:I4
        method Commit fRetaining? grfTC? grfRM?
        method Abort fRetaining? fAsync?
    """,
    "IMSMQTransaction2": """
        method InitNew varTransaction:VARIANT
        get Properties ppcolProperties:DISPATCH
    """,
    "IMSMQTransaction3": """
        get ITransaction pvarITransaction:VARIANT
    """,
    "IMSMQTransactionDispenser3": """
        method BeginTransaction >ptransaction:DISPATCH
        get Properties ppcolProperties:DISPATCH
    """,
    "IMSMQCoordinatedTransactionDispenser3": """
        method BeginTransaction >ptransaction:DISPATCH
        get Properties ppcolProperties:DISPATCH
    """,
    "IMSMQQueueInfo4": """
        get QueueGuid pbstrGuidQueue:BSTR
        get ServiceTypeGuid pbstrGuidServiceType:BSTR
        put ServiceTypeGuid bstrGuidServiceType:BSTR
        get Label pbstrLabel:BSTR
        put Label bstrLabel:BSTR
        get PathName pbstrPathName:BSTR
        put PathName bstrPathName:BSTR
        get FormatName pbstrFormatName:BSTR
        put FormatName bstrFormatName:BSTR
        get IsTransactional pisTransactional:I2
        get PrivLevel plPrivLevel:I4
        put PrivLevel lPrivLevel:I4
        get Journal plJournal:I4
        put Journal lJournal:I4
        get Quota plQuota:I4
        put Quota lQuota:I4
        get BasePriority plBasePriority:I4
        put BasePriority lBasePriority:I4
        get CreateTime pvarCreateTime:VARIANT
        get ModifyTime pvarModifyTime:VARIANT
        get Authenticate plAuthenticate:I4
        put Authenticate lAuthenticate:I4
        get JournalQuota plJournalQuota:I4
        put JournalQuota lJournalQuota:I4
        get IsWorldReadable pisWorldReadable:I2
        method Create IsTransactional? IsWorldReadable?
        method Delete
        method Open Access:I4 ShareMode:I4 >ppq:DISPATCH
        method Refresh
        method Update
        get PathNameDNS pbstrPathNameDNS:BSTR
        get Properties ppcolProperties:DISPATCH
        get Security pvarSecurity:VARIANT
        put Security varSecurity:VARIANT
        get IsTransactional2 pisTransactional:BOOL
        get IsWorldReadable2 pisWorldReadable:BOOL
        get MulticastAddress pbstrMulticastAddress:BSTR
        put MulticastAddress bstrMulticastAddress:BSTR
        get ADsPath pbstrADsPath:BSTR
    """,
    "IMSMQQueue4": f"""
        get Access plAccess:I4
        get ShareMode plShareMode:I4
        get QueueInfo ppqinfo:DISPATCH
        get Handle plHandle:I4
        get IsOpen pisOpen:I2
        method Close
        method Receive_v1 Transaction? {_WANTS} ReceiveTimeout? {_GIVES}
        method Peek_v1 {_WANTS} ReceiveTimeout? {_GIVES}
        method EnableNotification Event:DISPATCH Cursor? ReceiveTimeout?
        method Reset
        method ReceiveCurrent_v1 Transaction? {_WANTS} ReceiveTimeout? {_GIVES}
        method PeekNext_v1 {_WANTS} ReceiveTimeout? {_GIVES}
        method PeekCurrent_v1 {_WANTS} ReceiveTimeout? {_GIVES}
        method Receive Transaction? {_WANTS} ReceiveTimeout? WantConnectorType? {_GIVES}
        method Peek {_WANTS} ReceiveTimeout? WantConnectorType? {_GIVES}
        method ReceiveCurrent Transaction? {_WANTS} ReceiveTimeout? WantConnectorType? {_GIVES}
        method PeekNext {_WANTS} ReceiveTimeout? WantConnectorType? {_GIVES}
        method PeekCurrent {_WANTS} ReceiveTimeout? WantConnectorType? {_GIVES}
        get Properties ppcolProperties:DISPATCH
        get Handle2 pvarHandle:VARIANT
        method ReceiveByLookupId LookupId:VARIANT Transaction? {_WANTS} WantConnectorType? {_GIVES}
        method ReceiveNextByLookupId LookupId:VARIANT Transaction? {_WANTS} WantConnectorType? {_GIVES}
        method ReceivePreviousByLookupId LookupId:VARIANT Transaction? {_WANTS} WantConnectorType? {_GIVES}
        method ReceiveFirstByLookupId Transaction? {_WANTS} WantConnectorType? {_GIVES}
        method ReceiveLastByLookupId Transaction? {_WANTS} WantConnectorType? {_GIVES}
        method PeekByLookupId LookupId:VARIANT {_WANTS} WantConnectorType? {_GIVES}
        method PeekNextByLookupId LookupId:VARIANT {_WANTS} WantConnectorType? {_GIVES}
        method PeekPreviousByLookupId LookupId:VARIANT {_WANTS} WantConnectorType? {_GIVES}
        method PeekFirstByLookupId {_WANTS} WantConnectorType? {_GIVES}
        method PeekLastByLookupId {_WANTS} WantConnectorType? {_GIVES}
        method Purge
        get IsOpen2 pisOpen:BOOL
        method ReceiveByLookupIdAllowPeek LookupId:VARIANT Transaction? {_WANTS} WantConnectorType? {_GIVES}
    """,
    "IMSMQMessage4": """
        get Class plClass:I4
        get PrivLevel plPrivLevel:I4
        put PrivLevel lPrivLevel:I4
        get AuthLevel plAuthLevel:I4
        put AuthLevel lAuthLevel:I4
        get IsAuthenticated pisAuthenticated:I2
        get Delivery plDelivery:I4
        put Delivery lDelivery:I4
        get Trace plTrace:I4
        put Trace lTrace:I4
        get Priority plPriority:I4
        put Priority lPriority:I4
        get Journal plJournal:I4
        put Journal lJournal:I4
        get ResponseQueueInfo_v1 ppqinfoResponse:DISPATCH
        putref ResponseQueueInfo_v1 pqinfoResponse:DISPATCH
        get AppSpecific plAppSpecific:I4
        put AppSpecific lAppSpecific:I4
        get SourceMachineGuid pbstrGuidSrcMachine:BSTR
        get BodyLength pcbBody:I4
        get Body pvarBody:VARIANT
        put Body varBody:VARIANT
        get AdminQueueInfo_v1 ppqinfoAdmin:DISPATCH
        putref AdminQueueInfo_v1 pqinfoAdmin:DISPATCH
        get Id pvarMsgId:VARIANT
        get CorrelationId pvarMsgId:VARIANT
        put CorrelationId varMsgId:VARIANT
        get Ack plAck:I4
        put Ack lAck:I4
        get Label pbstrLabel:BSTR
        put Label bstrLabel:BSTR
        get MaxTimeToReachQueue plMaxTimeToReachQueue:I4
        put MaxTimeToReachQueue lMaxTimeToReachQueue:I4
        get MaxTimeToReceive plMaxTimeToReceive:I4
        put MaxTimeToReceive lMaxTimeToReceive:I4
        get HashAlgorithm plHashAlg:I4
        put HashAlgorithm lHashAlg:I4
        get EncryptAlgorithm plEncryptAlg:I4
        put EncryptAlgorithm lEncryptAlg:I4
        get SentTime pvarSentTime:VARIANT
        get ArrivedTime plArrivedTime:VARIANT
        get DestinationQueueInfo ppqinfoDest:DISPATCH
        get SenderCertificate pvarSenderCert:VARIANT
        put SenderCertificate varSenderCert:VARIANT
        get SenderId pvarSenderId:VARIANT
        get SenderIdType plSenderIdType:I4
        put SenderIdType lSenderIdType:I4
        method Send DestinationQueue:DISPATCH Transaction?
        method AttachCurrentSecurityContext
        get SenderVersion plSenderVersion:I4
        get Extension pvarExtension:VARIANT
        put Extension varExtension:VARIANT
        get ConnectorTypeGuid pbstrGuidConnectorType:BSTR
        put ConnectorTypeGuid bstrGuidConnectorType:BSTR
        get TransactionStatusQueueInfo ppqinfoXactStatus:DISPATCH
        get DestinationSymmetricKey pvarDestSymmKey:VARIANT
        put DestinationSymmetricKey varDestSymmKey:VARIANT
        get Signature pvarSignature:VARIANT
        put Signature varSignature:VARIANT
        get AuthenticationProviderType plAuthProvType:I4
        put AuthenticationProviderType lAuthProvType:I4
        get AuthenticationProviderName pbstrAuthProvName:BSTR
        put AuthenticationProviderName bstrAuthProvName:BSTR
        put SenderId varSenderId:VARIANT
        get MsgClass plMsgClass:I4
        put MsgClass lMsgClass:I4
        get Properties ppcolProperties:DISPATCH
        get TransactionId pvarXactId:VARIANT
        get IsFirstInTransaction pisFirstInXact:I2
        get IsLastInTransaction pisLastInXact:I2
        get ResponseQueueInfo_v2 ppqinfoResponse:DISPATCH
        putref ResponseQueueInfo_v2 pqinfoResponse:DISPATCH
        get AdminQueueInfo_v2 ppqinfoAdmin:DISPATCH
        putref AdminQueueInfo_v2 pqinfoAdmin:DISPATCH
        get ReceivedAuthenticationLevel psReceivedAuthenticationLevel:I2
        get ResponseQueueInfo ppqinfoResponse:DISPATCH
        putref ResponseQueueInfo pqinfoResponse:DISPATCH
        get AdminQueueInfo ppqinfoAdmin:DISPATCH
        putref AdminQueueInfo pqinfoAdmin:DISPATCH
        get ResponseDestination ppdestResponse:DISPATCH
        putref ResponseDestination pdestResponse:DISPATCH
        get Destination ppdestDestination:DISPATCH
        get LookupId pvarLookupId:VARIANT
        get IsAuthenticated2 pisAuthenticated:BOOL
        get IsFirstInTransaction2 pisFirstInXact:BOOL
        get IsLastInTransaction2 pisLastInXact:BOOL
        method AttachCurrentSecurityContext2
        get SoapEnvelope pbstrSoapEnvelope:BSTR
        get CompoundMessage pvarCompoundMessage:VARIANT
        put SoapHeader bstrSoapHeader:BSTR
        put SoapBody bstrSoapBody:BSTR
    """,
}

_QUERY = """QueueGuid? ServiceTypeGuid? Label? CreateTime? ModifyTime? RelServiceType? RelLabel? RelCreateTime?
 RelModifyTime?""".replace("\n", "")
OTHER_ROWS: Final[dict[str, str]] = {
    "IMSMQQuery4": f"""
        method LookupQueue_v2 {_QUERY} >ppqinfos:DISPATCH
        get Properties ppcolProperties:DISPATCH
        method LookupQueue {_QUERY} MulticastAddress? RelMulticastAddress? >ppqinfos:DISPATCH
    """,
    "IMSMQQueueInfos4": """
        method Reset
        method Next >ppqinfoNext:DISPATCH
        get Properties ppcolProperties:DISPATCH
    """,
    "IMSMQDestination": """
        method Open
        method Close
        get IsOpen pfisOpen:BOOL
        get IADs ppIADs:DISPATCH
        putref IADs pIADs:DISPATCH
        get ADsPath pbstrADsPath:BSTR
        put ADsPath bstrADsPath:BSTR
        get PathName pbstrPathName:BSTR
        put PathName bstrPathName:BSTR
        get FormatName pbstrFormatName:BSTR
        put FormatName bstrFormatName:BSTR
        get Destinations ppDestinations:DISPATCH
        putref Destinations pDestinations:DISPATCH
        get Properties ppcolProperties:DISPATCH
    """,
    "IMSMQPrivateDestination": """
        get Handle pvarHandle:VARIANT
        put Handle varHandle:VARIANT
    """,
    "IMSMQCollection": """
        method Item Index:VARIANT >pvarRet:VARIANT
        get Count pCount:I4
        method _NewEnum >ppunk:UNKNOWN
    """,
    "IMSMQEvent2": """
        get Properties ppcolProperties:DISPATCH
    """,
    "_DMSMQEventEvents": """
        method Arrived Queue:DISPATCH Cursor:I4
        method ArrivedError Queue:DISPATCH ErrorCode:I4 Cursor:I4
    """,
    "IMSMQPrivateEvent": """
        get Hwnd phwnd:I4
        method FireArrivedEvent pq:DISPATCH msgcursor:I4
        method FireArrivedErrorEvent pq:DISPATCH hrStatus msgcursor:I4
    """,
    "IMSMQManagement": """
        method Init Machine? Pathname? FormatName?
        get FormatName pbstrFormatName:BSTR
        get Machine pbstrMachine:BSTR
        get MessageCount plMessageCount:I4
        get ForeignStatus plForeignStatus:I4
        get QueueType plQueueType:I4
        get IsLocal pfIsLocal:BOOL
        get TransactionalStatus plTransactionalStatus:I4
        get BytesInQueue pvBytesInQueue:VARIANT
    """,
    "IMSMQQueueManagement": """
        get JournalMessageCount plJournalMessageCount:I4
        get BytesInJournal pvBytesInJournal:VARIANT
        method EodGetReceiveInfo >pvCollection:VARIANT
    """,
    "IMSMQOutgoingQueueManagement": """
        get State plState:I4
        get NextHops pvNextHops:VARIANT
        method EodGetSendInfo >ppCollection:DISPATCH
        method Resume
        method Pause
        method EodResend
    """,
    "IMSMQApplication": """
        method MachineIdOfMachineName MachineName:BSTR >pbstrGuid:BSTR
    """,
    "IMSMQApplication2": """
        method RegisterCertificate Flags? ExternalCertificate?
        method MachineNameOfMachineId bstrGuid:BSTR >pbstrMachineName:BSTR
        get MSMQVersionMajor psMSMQVersionMajor:I2
        get MSMQVersionMinor psMSMQVersionMinor:I2
        get MSMQVersionBuild psMSMQVersionBuild:I2
        get IsDsEnabled pfIsDsEnabled:BOOL
        get Properties ppcolProperties:DISPATCH
    """,
    "IMSMQApplication3": """
        method ActiveQueues >pvActiveQueues:VARIANT
        get PrivateQueues pvPrivateQueues:VARIANT
        get DirectoryServiceServer pbstrDirectoryServiceServer:BSTR
        get IsConnected pfIsConnected:BOOL
        get BytesInAllQueues pvBytesInAllQueues:VARIANT
        put Machine bstrMachine:BSTR
        get Machine pbstrMachine:BSTR
        method Connect
        method Disconnect
        method Tidy
    """,
}

Json = Any
REVISIONS: Final[Mapping[str, tuple[int, ...]]] = {
    "IMSMQQueueInfo": (36, 40, 45, 45),
    "IMSMQQueue": (19, 25, 38, 39),
    "IMSMQMessage": (55, 81, 97, 97),
    "IMSMQQuery": (7, 8, 9, 9),
    "IMSMQQueueInfos": (8, 9, 9, 9),
    "IMSMQTransactionDispenser": (7, 8, 8),
    "IMSMQCoordinatedTransactionDispenser": (7, 8, 8),
}
"""Interfaces whose revisions repeat and extend their first one: the last slot of each."""
FIRST_SLOT: Final[Mapping[str, int]] = {"IUnknown": 3, "IDispatch": 7, "dispinterface": 7}
NO_ERRORS: Final = frozenset(
    {
        "MQ_ERROR_RESOLVE_ADDRESS", "MQ_ERROR_TOO_MANY_PROPERTIES", "MQ_ERROR_MESSAGE_NOT_AUTHENTICATED",
        "MQ_ERROR_MESSAGE_LOCKED_UNDER_TRANSACTION", "MQDS_UNKNOWN_SOURCE",
    }
)  # fmt: skip
"""Status codes of MS-MQMQ 2.4 that MQERROR does not have."""
ALONE: Final[dict[str, dict[str, int]]] = {
    "MQCERT_REGISTER": {"MQCERT_REGISTER_ALWAYS": 1, "MQCERT_REGISTER_IF_NOT_EXIST": 2},
    "MQMSGIDSIZE": {"MQMSG_MSGID_SIZE": 20, "MQMSG_CORRELATIONID_SIZE": 20, "MQMSG_XACTID_SIZE": 20},
    "MQMSGMAX": {"MQ_MAX_MSG_LABEL_LEN": 249},
    "MQPRIORITY": {"MQ_MIN_PRIORITY": 0, "MQ_MAX_PRIORITY": 7},
    "MQMAX": {"MQ_MAX_Q_NAME_LEN": 124, "MQ_MAX_Q_LABEL_LEN": 124},
    "QUEUE_TYPE": {
        "MQ_TYPE_PUBLIC": 0, "MQ_TYPE_PRIVATE": 1, "MQ_TYPE_MACHINE": 2, "MQ_TYPE_CONNECTOR": 3, "MQ_TYPE_MULTICAST": 4,
    },
    "FOREIGN_STATUS": {"MQ_STATUS_FOREIGN": 0, "MQ_STATUS_NOT_FOREIGN": 1, "MQ_STATUS_UNKNOWN": 2},
    "XACT_STATUS": {"MQ_XACT_STATUS_XACT": 0, "MQ_XACT_STATUS_NOT_XACT": 1, "MQ_XACT_STATUS_UNKNOWN": 2},
    "MQDEFAULT": {
        "DEFAULT_M_PRIORITY": 3, "DEFAULT_M_DELIVERY": 0, "DEFAULT_M_ACKNOWLEDGE": 0, "DEFAULT_M_JOURNAL": 0,
        "DEFAULT_M_APPSPECIFIC": 0, "DEFAULT_M_PRIV_LEVEL": 0, "DEFAULT_M_AUTH_LEVEL": 0, "DEFAULT_M_SENDERID_TYPE": 1,
        "DEFAULT_Q_JOURNAL": 0, "DEFAULT_Q_BASEPRIORITY": 0, "DEFAULT_Q_QUOTA": 0xFFFFFFFF,
        "DEFAULT_Q_JOURNAL_QUOTA": 0xFFFFFFFF, "DEFAULT_Q_TRANSACTION": 0, "DEFAULT_Q_AUTHENTICATE": 0,
        "DEFAULT_Q_PRIV_LEVEL": 1, "DEFAULT_M_LOOKUPID": 0,
    },
    "MQERROR": {
        **{name: value for name, value in HRESULTS.items() if value >> 16 == 0xC00E and name not in NO_ERRORS},
        "MQ_ERROR_CANT_CREATE_CERT_STORE": HRESULTS["MQ_ERROR_CANNOT_CREATE_CERT_STORE"],
        "MQ_ERROR_CANT_OPEN_CERT_STORE": HRESULTS["MQ_ERROR_CANNOT_OPEN_CERT_STORE"],
    },
    "MQWARNING": {name: value for name, value in HRESULTS.items() if value >> 16 == 0x400E},
}  # fmt: skip
"""Enumerations that the interface definition has alone.

It prints the first numbers of MQERROR a line off, without MQ_ERROR: they are those of MS-MQMQ 2.4.
"""
_VERSION = re.compile(r"_v(\d)\Z")
_REVISION = re.compile(r"\d?\Z")


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument as the interface definition declares it. vt: its type, None if no VARIANT has it."""

    name: str
    vt: str | None
    flags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Member:
    """A member of an interface. called: its name in the newest revision of the interface."""

    slot: int
    kind: str
    name: str
    arguments: tuple[Argument, ...]
    called: str


class TypeLibrary:
    """Describes the classes to clients that make no object."""

    def described(self, target: type[ComObject]) -> dict[str, Json]:
        """Return the description of a class in the form of the protocol."""
        return {
            **({"clsid": self.clsid(target.CLASS)} if target.CLASS in COCLASSES else {}),
            "interfaces": [self.interface(name) for name in (*target.INTERFACES, *target.SOURCES)],
            "constants": self.constants(),
        }

    def interface(self, name: str) -> dict[str, Json]:
        """Return the description of an interface."""
        return {
            "name": name,
            "iid": self.iid(name),
            "base": self.base(name),
            "members": [_told(each, self.base(name)) for each in self.members(name)],
        }

    def clsid(self, name: str) -> str:
        """Return the identifier of a class."""
        return COCLASSES[name]

    def iid(self, name: str) -> str:
        """Return the identifier of an interface."""
        return INTERFACES[name].uuid

    def base(self, name: str) -> str:
        """Return the interface that an interface extends."""
        return INTERFACES[name].base

    def members(self, name: str) -> tuple[Member, ...]:
        """Return the members of an interface, without those of its base."""
        return declared(name)

    def constants(self) -> dict[str, dict[str, int]]:
        """Return the enumerations."""
        listed = {each: dict(found.members) for each, found in ENUMERATIONS.items() if _is_ours(found.source)}
        return {**listed, **ALONE}


@cache
def declared(name: str) -> tuple[Member, ...]:
    """Return the members of an interface as it declares them; empty for one that has none."""
    family = _REVISION.sub("", name)
    last, revision = None, 0
    if family in REVISIONS:
        revision = int(name.removeprefix(family) or 1)
        last, name = REVISIONS[family][revision - 1], f"{family}{len(REVISIONS[family])}"
    rows = ({**ROWS, **OTHER_ROWS}).get(name, "").split("\n")
    first = _first_slot(name)
    members = [_member(first + at, row.split(), revision) for at, row in enumerate(filter(None, map(str.strip, rows)))]
    return tuple(each for each in members if last is None or each.slot <= last)


def _first_slot(name: str) -> int:
    base = INTERFACES[name].base
    return FIRST_SLOT[base] if base in FIRST_SLOT else _first_slot(base) + len(declared(base))


def _member(slot: int, row: list[str], revision: int) -> Member:
    kind, called, *arguments = row
    version = _VERSION.search(called)
    older = version is not None and revision and int(version[1]) >= revision
    name = _VERSION.sub("", called) if older else called
    return Member(slot, kind, name, tuple(_argument(kind, each) for each in arguments), called)


def _argument(kind: str, word: str) -> Argument:
    if word.endswith("?"):
        return Argument(word[:-1], "VARIANT", ("in", "optional"))
    name, _, vt = word.lstrip(">").partition(":")
    if kind != "get" and not word.startswith(">"):
        return Argument(name, vt or None, ("in",))
    return Argument(name, vt or None, ("out", "retval") if vt else ("out",))


def _told(member: Member, base: str) -> dict[str, Json]:
    place = {"dispid": member.slot - FIRST_SLOT[base]} if base == "dispinterface" else {}
    return {
        "name": member.name,
        "kind": member.kind,
        "slot": member.slot,
        **place,
        "arguments": [
            {"name": each.name, **({"vt": each.vt} if each.vt else {}), "flags": list(each.flags)}
            for each in member.arguments
        ],
    }


def _is_ours(source: str) -> bool:
    return source.startswith("MC-MQAC 2.2.2")
