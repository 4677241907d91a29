// The C functions of Message Queuing (mqrt.dll), for programs on Linux. Layouts are those of Windows: WCHAR has 16 bits, ULONG and
// HRESULT have 32, pointers are native. README.md says what is offered.
#ifndef MQRT_H
#define MQRT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef int32_t HRESULT;
typedef uint32_t DWORD, ULONG, PROPID;
typedef uint16_t WCHAR;
typedef void *HANDLE, *QUEUEHANDLE;

typedef struct { uint32_t Data1; uint16_t Data2, Data3; uint8_t Data4[8]; } GUID;
typedef struct { uint32_t cElems; uint8_t *pElems; } CAUB; typedef struct { uint32_t cElems; int16_t *pElems; } CAI;
typedef struct { uint32_t cElems; uint16_t *pElems; } CAUI; typedef struct { uint32_t cElems; int32_t *pElems; } CAL;
typedef struct { uint32_t cElems; uint32_t *pElems; } CAUL; typedef struct { uint32_t cElems; uint64_t *pElems; } CAUH;
typedef struct { uint32_t cElems; GUID *pElems; } CACLSID; typedef struct { uint32_t cElems; WCHAR **pElems; } CALPWSTR;
typedef struct { uint32_t cElems; struct tagMQPROPVARIANT *pElems; } CAPROPVARIANT;
typedef struct { uint32_t cbSize; uint8_t *pBlobData; } BLOB;

typedef struct tagMQPROPVARIANT {
    uint16_t vt, wReserved1, wReserved2, wReserved3;
    union {
        uint8_t bVal;
        int16_t iVal, boolVal;
        uint16_t uiVal;
        int32_t lVal;
        uint32_t ulVal;
        int64_t hVal;
        uint64_t uhVal;
        GUID *puuid;
        WCHAR *pwszVal;
        void *ptr;
        BLOB blob;
        CAUB caub;
        CAI cai;
        CAUI caui;
        CAL cal;
        CAUL caul;
        CAUH cauh;
        CACLSID cauuid;
        CALPWSTR calpwstr;
        CAPROPVARIANT capropvar;
    };
} MQPROPVARIANT;

enum {
    VT_EMPTY = 0, VT_NULL = 1, VT_I2 = 2, VT_I4 = 3, VT_BOOL = 11, VT_VARIANT = 12, VT_I1 = 16, VT_UI1 = 17, VT_UI2 = 18,
    VT_UI4 = 19, VT_I8 = 20, VT_UI8 = 21, VT_LPWSTR = 31, VT_BLOB = 65, VT_CLSID = 72, VT_VECTOR = 0x1000
};

// One layout for all: cProp identifiers, values and (where aStatus is not NULL) a status each.
typedef struct { DWORD cProp; PROPID *aPropID; MQPROPVARIANT *aPropVar; HRESULT *aStatus; } MQPROPS;
typedef MQPROPS MQMSGPROPS, MQQUEUEPROPS, MQQMPROPS, MQMGMTPROPS, MQPRIVATEPROPS;

typedef struct {
    uintptr_t Internal, InternalHigh; // the HRESULT once it ended, 0x103 before; the bytes of the body
    union { struct { DWORD Offset, OffsetHigh; }; void *Pointer; };
    HANDLE hEvent; // of mqrt_event_create
} OVERLAPPED;
typedef void (*PMQRECEIVECALLBACK)(HRESULT, QUEUEHANDLE, DWORD timeout, DWORD action, MQMSGPROPS *, OVERLAPPED *, HANDLE cursor);

typedef struct { uint32_t rel; PROPID prop; MQPROPVARIANT prval; } MQPROPERTYRESTRICTION;
typedef struct { uint32_t cRes; MQPROPERTYRESTRICTION *paPropRes; } MQRESTRICTION;
typedef struct { uint32_t cCol; PROPID *aCol; } MQCOLUMNSET;
typedef struct { PROPID propColumn; uint32_t dwOrder; } MQSORTKEY;
typedef struct { uint32_t cCol; MQSORTKEY *aCol; } MQSORTSET;

typedef struct { uint8_t uow[16]; int32_t isoLevel; uint32_t isoFlags, grfTCSupported, grfRMSupported, grfTCSupportedRetaining,
    grfRMSupportedRetaining; } XACTTRANSINFO;
typedef struct ITransaction ITransaction;
typedef struct {
    HRESULT (*QueryInterface)(ITransaction *, const GUID *, void **);
    ULONG (*AddRef)(ITransaction *);
    ULONG (*Release)(ITransaction *);
    HRESULT (*Commit)(ITransaction *, int32_t retaining, uint32_t tc, uint32_t rm);
    HRESULT (*Abort)(ITransaction *, const void *reason, int32_t retaining, int32_t async);
    HRESULT (*GetTransactionInfo)(ITransaction *, XACTTRANSINFO *);
} ITransactionVtbl;
struct ITransaction { const ITransactionVtbl *lpVtbl; };

#define MQ_NO_TRANSACTION ((ITransaction *)0)
#define MQ_MTS_TRANSACTION ((ITransaction *)1)
#define MQ_XA_TRANSACTION ((ITransaction *)2)
#define MQ_SINGLE_MESSAGE ((ITransaction *)3)

enum {
    MQ_RECEIVE_ACCESS = 1, MQ_SEND_ACCESS = 2, MQ_MOVE_ACCESS = 4, MQ_PEEK_ACCESS = 32, MQ_ADMIN_ACCESS = 128,
    MQ_DENY_NONE = 0, MQ_DENY_RECEIVE_SHARE = 1
};
#define MQ_ACTION_RECEIVE 0u
#define MQ_ACTION_PEEK_CURRENT 0x80000000u
#define MQ_ACTION_PEEK_NEXT 0x80000001u
#define MQ_LOOKUP_PEEK_CURRENT 0x40000010u
#define MQ_LOOKUP_PEEK_NEXT 0x40000011u
#define MQ_LOOKUP_PEEK_PREV 0x40000012u
#define MQ_LOOKUP_PEEK_FIRST 0x40000014u
#define MQ_LOOKUP_PEEK_LAST 0x40000018u
#define MQ_LOOKUP_RECEIVE_CURRENT 0x40000020u
#define MQ_LOOKUP_RECEIVE_NEXT 0x40000021u
#define MQ_LOOKUP_RECEIVE_PREV 0x40000022u
#define MQ_LOOKUP_RECEIVE_FIRST 0x40000024u
#define MQ_LOOKUP_RECEIVE_LAST 0x40000028u
#define MQ_LOOKUP_RECEIVE_ALLOW_PEEK 0x40000120u

// Message properties.
enum {
    PROPID_M_CLASS = 1, PROPID_M_MSGID, PROPID_M_CORRELATIONID, PROPID_M_PRIORITY, PROPID_M_DELIVERY, PROPID_M_ACKNOWLEDGE,
    PROPID_M_JOURNAL, PROPID_M_APPSPECIFIC, PROPID_M_BODY, PROPID_M_BODY_SIZE, PROPID_M_LABEL, PROPID_M_LABEL_LEN,
    PROPID_M_TIME_TO_REACH_QUEUE, PROPID_M_TIME_TO_BE_RECEIVED, PROPID_M_RESP_QUEUE, PROPID_M_RESP_QUEUE_LEN,
    PROPID_M_ADMIN_QUEUE, PROPID_M_ADMIN_QUEUE_LEN, PROPID_M_VERSION, PROPID_M_SENDERID, PROPID_M_SENDERID_LEN,
    PROPID_M_SENDERID_TYPE, PROPID_M_PRIV_LEVEL, PROPID_M_AUTH_LEVEL, PROPID_M_AUTHENTICATED, PROPID_M_HASH_ALG,
    PROPID_M_ENCRYPTION_ALG, PROPID_M_SENDER_CERT, PROPID_M_SENDER_CERT_LEN, PROPID_M_SRC_MACHINE_ID, PROPID_M_SENTTIME,
    PROPID_M_ARRIVEDTIME, PROPID_M_DEST_QUEUE, PROPID_M_DEST_QUEUE_LEN, PROPID_M_EXTENSION, PROPID_M_EXTENSION_LEN,
    PROPID_M_SECURITY_CONTEXT, PROPID_M_CONNECTOR_TYPE, PROPID_M_XACT_STATUS_QUEUE, PROPID_M_XACT_STATUS_QUEUE_LEN,
    PROPID_M_TRACE, PROPID_M_BODY_TYPE, PROPID_M_DEST_SYMM_KEY, PROPID_M_DEST_SYMM_KEY_LEN, PROPID_M_SIGNATURE,
    PROPID_M_SIGNATURE_LEN, PROPID_M_PROV_TYPE, PROPID_M_PROV_NAME, PROPID_M_PROV_NAME_LEN, PROPID_M_FIRST_IN_XACT,
    PROPID_M_LAST_IN_XACT, PROPID_M_XACTID, PROPID_M_AUTHENTICATED_EX, PROPID_M_RESP_FORMAT_NAME, PROPID_M_RESP_FORMAT_NAME_LEN,
    PROPID_M_DEST_FORMAT_NAME = 58, PROPID_M_DEST_FORMAT_NAME_LEN, PROPID_M_LOOKUPID, PROPID_M_SOAP_ENVELOPE,
    PROPID_M_SOAP_ENVELOPE_LEN, PROPID_M_COMPOUND_MESSAGE, PROPID_M_COMPOUND_MESSAGE_SIZE, PROPID_M_SOAP_HEADER,
    PROPID_M_SOAP_BODY, PROPID_M_DEADLETTER_QUEUE, PROPID_M_DEADLETTER_QUEUE_LEN, PROPID_M_ABORT_COUNT, PROPID_M_MOVE_COUNT,
    PROPID_M_LAST_MOVE_TIME = 75
};
// Properties of queues, of the manager and of the computer. Those of management are the numbers of MS-MQMQ 2.3.11 and 2.3.12.
enum {
    PROPID_Q_INSTANCE = 101, PROPID_Q_TYPE, PROPID_Q_PATHNAME, PROPID_Q_JOURNAL, PROPID_Q_QUOTA, PROPID_Q_BASEPRIORITY,
    PROPID_Q_JOURNAL_QUOTA, PROPID_Q_LABEL, PROPID_Q_CREATE_TIME, PROPID_Q_MODIFY_TIME, PROPID_Q_AUTHENTICATE,
    PROPID_Q_PRIV_LEVEL, PROPID_Q_TRANSACTION, PROPID_Q_PATHNAME_DNS = 124, PROPID_Q_MULTICAST_ADDRESS, PROPID_Q_ADS_PATH,
    PROPID_QM_SITE_ID = 201, PROPID_QM_MACHINE_ID, PROPID_QM_PATHNAME, PROPID_QM_CONNECTION, PROPID_QM_ENCRYPTION_PK,
    PROPID_QM_ENCRYPTION_PK_BASE = 231, PROPID_QM_ENCRYPTION_PK_ENHANCED, PROPID_QM_PATHNAME_DNS,
    PROPID_QM_ENCRYPTION_PK_AES = 244, PROPID_PC_VERSION = 5801, PROPID_PC_DS_ENABLED = 5802
};

#define MQ_OK 0
// The codes of MS-MQMQ 2.4 that programs meet.
enum {
    MQ_INFORMATION_PROPERTY = (int32_t)0x400E0001, MQ_INFORMATION_ILLEGAL_PROPERTY = (int32_t)0x400E0002,
    MQ_INFORMATION_PROPERTY_IGNORED = (int32_t)0x400E0003, MQ_INFORMATION_UNSUPPORTED_PROPERTY = (int32_t)0x400E0004,
    MQ_INFORMATION_DUPLICATE_PROPERTY = (int32_t)0x400E0005, MQ_INFORMATION_OPERATION_PENDING = (int32_t)0x400E0006,
    MQ_INFORMATION_FORMATNAME_BUFFER_TOO_SMALL = (int32_t)0x400E0009, MQ_INFORMATION_OWNER_IGNORED = (int32_t)0x400E000B,
    MQ_ERROR = (int32_t)0xC00E0001, MQ_ERROR_PROPERTY = (int32_t)0xC00E0002, MQ_ERROR_QUEUE_NOT_FOUND = (int32_t)0xC00E0003,
    MQ_ERROR_QUEUE_NOT_ACTIVE = (int32_t)0xC00E0004, MQ_ERROR_QUEUE_EXISTS = (int32_t)0xC00E0005,
    MQ_ERROR_INVALID_PARAMETER = (int32_t)0xC00E0006, MQ_ERROR_INVALID_HANDLE = (int32_t)0xC00E0007,
    MQ_ERROR_OPERATION_CANCELLED = (int32_t)0xC00E0008, MQ_ERROR_SHARING_VIOLATION = (int32_t)0xC00E0009,
    MQ_ERROR_SERVICE_NOT_AVAILABLE = (int32_t)0xC00E000B, MQ_ERROR_MACHINE_NOT_FOUND = (int32_t)0xC00E000D,
    MQ_ERROR_ILLEGAL_SORT = (int32_t)0xC00E0010, MQ_ERROR_NO_DS = (int32_t)0xC00E0013,
    MQ_ERROR_ILLEGAL_QUEUE_PATHNAME = (int32_t)0xC00E0014, MQ_ERROR_ILLEGAL_PROPERTY_VALUE = (int32_t)0xC00E0018,
    MQ_ERROR_ILLEGAL_PROPERTY_VT = (int32_t)0xC00E0019, MQ_ERROR_BUFFER_OVERFLOW = (int32_t)0xC00E001A,
    MQ_ERROR_IO_TIMEOUT = (int32_t)0xC00E001B, MQ_ERROR_ILLEGAL_CURSOR_ACTION = (int32_t)0xC00E001C,
    MQ_ERROR_MESSAGE_ALREADY_RECEIVED = (int32_t)0xC00E001D, MQ_ERROR_ILLEGAL_FORMATNAME = (int32_t)0xC00E001E,
    MQ_ERROR_FORMATNAME_BUFFER_TOO_SMALL = (int32_t)0xC00E001F, MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION = (int32_t)0xC00E0020,
    MQ_ERROR_ILLEGAL_SECURITY_DESCRIPTOR = (int32_t)0xC00E0021, MQ_ERROR_SENDERID_BUFFER_TOO_SMALL = (int32_t)0xC00E0022,
    MQ_ERROR_SECURITY_DESCRIPTOR_TOO_SMALL = (int32_t)0xC00E0023, MQ_ERROR_ACCESS_DENIED = (int32_t)0xC00E0025,
    MQ_ERROR_INSUFFICIENT_RESOURCES = (int32_t)0xC00E0027, MQ_ERROR_USER_BUFFER_TOO_SMALL = (int32_t)0xC00E0028,
    MQ_ERROR_MESSAGE_STORAGE_FAILED = (int32_t)0xC00E002A, MQ_ERROR_SENDER_CERT_BUFFER_TOO_SMALL = (int32_t)0xC00E002B,
    MQ_ERROR_INVALID_CERTIFICATE = (int32_t)0xC00E002C, MQ_ERROR_BAD_SECURITY_CONTEXT = (int32_t)0xC00E0035,
    MQ_ERROR_ILLEGAL_MQCOLUMNS = (int32_t)0xC00E0038, MQ_ERROR_ILLEGAL_PROPID = (int32_t)0xC00E0039,
    MQ_ERROR_ILLEGAL_RELATION = (int32_t)0xC00E003A, MQ_ERROR_ILLEGAL_PROPERTY_SIZE = (int32_t)0xC00E003B,
    MQ_ERROR_ILLEGAL_RESTRICTION_PROPID = (int32_t)0xC00E003C, MQ_ERROR_ILLEGAL_MQQUEUEPROPS = (int32_t)0xC00E003D,
    MQ_ERROR_PROPERTY_NOTALLOWED = (int32_t)0xC00E003E, MQ_ERROR_INSUFFICIENT_PROPERTIES = (int32_t)0xC00E003F,
    MQ_ERROR_ILLEGAL_MQQMPROPS = (int32_t)0xC00E0041, MQ_ERROR_DS_ERROR = (int32_t)0xC00E0043,
    MQ_ERROR_UNSUPPORTED_ACCESS_MODE = (int32_t)0xC00E0045, MQ_ERROR_RESULT_BUFFER_TOO_SMALL = (int32_t)0xC00E0046,
    MQ_ERROR_QUEUE_NOT_AVAILABLE = (int32_t)0xC00E004B, MQ_ERROR_DTC_CONNECT = (int32_t)0xC00E004C,
    MQ_ERROR_TRANSACTION_IMPORT = (int32_t)0xC00E004E, MQ_ERROR_TRANSACTION_USAGE = (int32_t)0xC00E0050,
    MQ_ERROR_TRANSACTION_SEQUENCE = (int32_t)0xC00E0051, MQ_ERROR_MISSING_CONNECTOR_TYPE = (int32_t)0xC00E0055,
    MQ_ERROR_STALE_HANDLE = (int32_t)0xC00E0056, MQ_ERROR_TRANSACTION_ENLIST = (int32_t)0xC00E0058,
    MQ_ERROR_QUEUE_DELETED = (int32_t)0xC00E005A, MQ_ERROR_ILLEGAL_CONTEXT = (int32_t)0xC00E005B,
    MQ_ERROR_ILLEGAL_SORT_PROPID = (int32_t)0xC00E005C, MQ_ERROR_LABEL_TOO_LONG = (int32_t)0xC00E005D,
    MQ_ERROR_LABEL_BUFFER_TOO_SMALL = (int32_t)0xC00E005E, MQ_ERROR_SYMM_KEY_BUFFER_TOO_SMALL = (int32_t)0xC00E0061,
    MQ_ERROR_SIGNATURE_BUFFER_TOO_SMALL = (int32_t)0xC00E0062, MQ_ERROR_PROV_NAME_BUFFER_TOO_SMALL = (int32_t)0xC00E0063,
    MQ_ERROR_ILLEGAL_OPERATION = (int32_t)0xC00E0064, MQ_ERROR_REMOTE_MACHINE_NOT_AVAILABLE = (int32_t)0xC00E0069,
    MQ_ERROR_UNSUPPORTED_OPERATION = (int32_t)0xC00E006A, MQ_ERROR_CERTIFICATE_NOT_PROVIDED = (int32_t)0xC00E006D,
    MQ_ERROR_Q_DNS_PROPERTY_NOT_SUPPORTED = (int32_t)0xC00E006E, MQ_ERROR_ILLEGAL_MQPRIVATEPROPS = (int32_t)0xC00E007B,
    MQ_ERROR_PROPERTIES_CONFLICT = (int32_t)0xC00E0087, MQ_ERROR_MESSAGE_NOT_FOUND = (int32_t)0xC00E0088,
    MQ_ERROR_Q_ADS_PROPERTY_NOT_SUPPORTED = (int32_t)0xC00E0091, MQ_ERROR_TOO_MANY_PROPERTIES = (int32_t)0xC00E009A,
    MQ_ERROR_MESSAGE_LOCKED_UNDER_TRANSACTION = (int32_t)0xC00E009C
};

HRESULT MQOpenQueue(const WCHAR *format_name, DWORD access, DWORD share, QUEUEHANDLE *queue);
HRESULT MQCloseQueue(QUEUEHANDLE queue);
HRESULT MQCreateQueue(const void *security_descriptor, MQQUEUEPROPS *props, WCHAR *format_name, DWORD *length);
HRESULT MQDeleteQueue(const WCHAR *format_name);
HRESULT MQGetQueueProperties(const WCHAR *format_name, MQQUEUEPROPS *props);
HRESULT MQSetQueueProperties(const WCHAR *format_name, MQQUEUEPROPS *props);
HRESULT MQPurgeQueue(QUEUEHANDLE queue);
HRESULT MQCreateCursor(QUEUEHANDLE queue, HANDLE *cursor);
HRESULT MQCloseCursor(HANDLE cursor);
HRESULT MQSendMessage(QUEUEHANDLE queue, MQMSGPROPS *props, ITransaction *transaction);
HRESULT MQReceiveMessage(QUEUEHANDLE queue, DWORD timeout, DWORD action, MQMSGPROPS *props, OVERLAPPED *overlapped,
    PMQRECEIVECALLBACK callback, HANDLE cursor, ITransaction *transaction);
HRESULT MQReceiveMessageByLookupId(QUEUEHANDLE queue, uint64_t lookup_id, DWORD action, MQMSGPROPS *props,
    OVERLAPPED *overlapped, PMQRECEIVECALLBACK callback, ITransaction *transaction);
HRESULT MQMoveMessage(QUEUEHANDLE source, QUEUEHANDLE destination, uint64_t lookup_id, ITransaction *transaction);
HRESULT MQMarkMessageRejected(QUEUEHANDLE queue, uint64_t lookup_id);
HRESULT MQGetOverlappedResult(OVERLAPPED *overlapped);
HRESULT MQBeginTransaction(ITransaction **transaction);
HRESULT MQPathNameToFormatName(const WCHAR *path_name, WCHAR *format_name, DWORD *length);
HRESULT MQHandleToFormatName(QUEUEHANDLE queue, WCHAR *format_name, DWORD *length);
HRESULT MQInstanceToFormatName(const GUID *instance, WCHAR *format_name, DWORD *length);
HRESULT MQADsPathToFormatName(const WCHAR *ads_path, WCHAR *format_name, DWORD *length);
HRESULT MQLocateBegin(const WCHAR *context, MQRESTRICTION *restriction, MQCOLUMNSET *columns, MQSORTSET *sort, HANDLE *locator);
HRESULT MQLocateNext(HANDLE locator, DWORD *count, MQPROPVARIANT *values);
HRESULT MQLocateEnd(HANDLE locator);
HRESULT MQGetMachineProperties(const WCHAR *machine, const GUID *machine_id, MQQMPROPS *props);
HRESULT MQGetPrivateComputerInformation(const WCHAR *computer, MQPRIVATEPROPS *props);
HRESULT MQMgmtGetInfo(const WCHAR *machine, const WCHAR *object, MQMGMTPROPS *props);
HRESULT MQMgmtAction(const WCHAR *machine, const WCHAR *object, const WCHAR *action);
HRESULT MQGetQueueSecurity(const WCHAR *format_name, DWORD information, void *descriptor, DWORD length, DWORD *needed);
HRESULT MQSetQueueSecurity(const WCHAR *format_name, DWORD information, const void *descriptor);
HRESULT MQGetSecurityContext(const void *certificate, DWORD length, HANDLE *context);
HRESULT MQGetSecurityContextEx(const void *certificate, DWORD length, HANDLE *context);
HRESULT MQRegisterCertificate(DWORD flags, const void *certificate, DWORD length);
void MQFreeSecurityContext(HANDLE context);
void MQFreeMemory(void *memory);

// What Windows has elsewhere. An event is a handle for OVERLAPPED.hEvent; manual: it stays set until it is reset.
HANDLE mqrt_event_create(int32_t manual, int32_t set);
int32_t mqrt_event_set(HANDLE event); // these four: 1 done, 0 not an event
int32_t mqrt_event_reset(HANDLE event);
int32_t mqrt_event_close(HANDLE event);
int32_t mqrt_event_wait(HANDLE event, DWORD milliseconds); // 0 set, 0x102 time-out, -1 not an event
// Called by a thread of the library when a receive with OVERLAPPED, but no event or callback, ended: a completion port's part.
void mqrt_on_completion(void (*completion)(OVERLAPPED *));
// Cancel waiting receives of a queue: the one with this OVERLAPPED, or all of them. 1: one was waiting.
int32_t CancelIoEx(HANDLE queue, OVERLAPPED *overlapped);
// What .NET clients call of kernel32.dll; windows.c says what they get.
int32_t GetComputerNameW(WCHAR *name, DWORD *length);
int32_t GetHandleInformation(HANDLE handle, DWORD *flags);
DWORD FormatMessageW(DWORD flags, const void *source, DWORD code, DWORD language, WCHAR *into, DWORD room, void *arguments);

#ifdef __cplusplus
}
#endif

#endif
