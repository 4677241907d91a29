"""Members of the interfaces of transactions, queues and messages (MC-MQAC 6), in the order of their slots.

A row is the kind and name of a member, then its arguments: `name:TYPE`, `name?` for a VARIANT that may be left out, and
`>name:TYPE` for what a method gives back. The argument of a getter is what it gives back. A type that no VARIANT has
is left out.
"""

from __future__ import annotations

from typing import Final

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
