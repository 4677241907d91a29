"""Members of the interfaces of queries, destinations, events, collections and management: see `type_library_rows`."""

from __future__ import annotations

from typing import Final

_QUERY = """QueueGuid? ServiceTypeGuid? Label? CreateTime? ModifyTime? RelServiceType? RelLabel? RelCreateTime?
 RelModifyTime?""".replace("\n", "")
ROWS: Final[dict[str, str]] = {
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
