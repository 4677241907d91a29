// The functions and their documented errors against the queue manager that MQCONFORM_MQRT names, on a real clock.
#include "check.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

int checked, failed;
static WCHAR path[64], format[128], transactional[128], target[128];

static HRESULT make(const WCHAR *name, int in_transactions, WCHAR *into) {
    struct bag bag = {0};
    DWORD length = 128;
    put_text(&bag, PROPID_Q_PATHNAME, (WCHAR *)(uintptr_t)name);
    put_number(&bag, PROPID_Q_TRANSACTION, VT_UI1, (uint64_t)in_transactions);
    return MQCreateQueue(NULL, &bag.props, into, &length);
}

static void name(WCHAR *into, const char *prefix, const char *suffix) {
    char text[64];
    int length = snprintf(text, sizeof text, "%s%d%s", prefix, (int)getpid(), suffix);
    for (int i = 0; i <= length; i++) into[i] = (unsigned char)text[i];
}

static HRESULT send_text(QUEUEHANDLE queue, const char *body, ITransaction *transaction) {
    struct bag bag = {0};
    put_bytes(&bag, PROPID_M_BODY, body, (uint32_t)strlen(body));
    put_text(&bag, PROPID_M_LABEL, (WCHAR *)(uintptr_t)u"a label");
    return MQSendMessage(queue, &bag.props, transaction);
}

static HRESULT take(QUEUEHANDLE queue, DWORD action, HANDLE cursor, ITransaction *transaction, const char *body) {
    struct room space;
    HRESULT status = MQReceiveMessage(queue, 0, action, room(&space, 64, 250), NULL, NULL, cursor, transaction);
    if (status == MQ_OK && (space.size->ulVal != strlen(body) || memcmp(space.body, body, strlen(body)))) return 0x77;
    return status;
}

static void queues(void) {
    struct bag bag = {0};
    WCHAR small[4], again[128];
    DWORD length = 128;
    QUEUEHANDLE queue;
    EXPECT(MQCreateQueue(NULL, NULL, format, &length), MQ_ERROR_ILLEGAL_MQQUEUEPROPS);
    EXPECT(MQCreateQueue(NULL, &bag.props, format, &length), MQ_ERROR_ILLEGAL_MQQUEUEPROPS);
    put_text(&bag, PROPID_Q_LABEL, (WCHAR *)(uintptr_t)u"x");
    EXPECT(MQCreateQueue(NULL, &bag.props, format, NULL), MQ_ERROR_INVALID_PARAMETER);
    EXPECT(MQCreateQueue(NULL, &bag.props, format, &length), MQ_ERROR_INSUFFICIENT_PROPERTIES);
    put_text(&bag, PROPID_Q_PATHNAME, path);
    put_number(&bag, PROPID_Q_CREATE_TIME, VT_I4, 1);
    EXPECT(MQCreateQueue(NULL, &bag.props, format, &length), MQ_ERROR_PROPERTY);
    EXPECT(bag.statuses[0], MQ_OK);
    EXPECT(bag.statuses[2], MQ_ERROR_PROPERTY_NOTALLOWED);
    bag.ids[2] = PROPID_Q_QUOTA;
    EXPECT(MQCreateQueue(NULL, &bag.props, format, &length), MQ_ERROR_PROPERTY);
    EXPECT(bag.statuses[2], MQ_ERROR_ILLEGAL_PROPERTY_VT);
    bag.values[2].vt = VT_UI4;
    bag.values[1].pwszVal = NULL;
    EXPECT(MQCreateQueue(NULL, &bag.props, format, &length), MQ_ERROR_PROPERTY);
    EXPECT(bag.statuses[1], MQ_ERROR_ILLEGAL_PROPERTY_VALUE);
    bag.values[1].pwszVal = path;
    bag.ids[2] = PROPID_Q_LABEL;
    put_number(&bag, 9999, VT_UI4, 0);
    length = 4;
    EXPECT(MQCreateQueue(NULL, &bag.props, small, &length), MQ_INFORMATION_FORMATNAME_BUFFER_TOO_SMALL);
    TRUE_THAT(length > 20 && length < 128);
    EXPECT(bag.statuses[2], MQ_INFORMATION_DUPLICATE_PROPERTY);
    EXPECT(bag.statuses[3], MQ_INFORMATION_UNSUPPORTED_PROPERTY);
    length = 128;
    EXPECT(MQCreateQueue(NULL, &bag.props, format, &length), MQ_ERROR_QUEUE_EXISTS);
    EXPECT(MQPathNameToFormatName(NULL, format, &length), MQ_ERROR_INVALID_PARAMETER);
    EXPECT(MQPathNameToFormatName(u"nothing+?", format, &length), MQ_ERROR_ILLEGAL_QUEUE_PATHNAME);
    EXPECT(MQPathNameToFormatName(u".\\private$\\nowhere", format, &length), MQ_ERROR_QUEUE_NOT_FOUND);
    length = 3;
    EXPECT(MQPathNameToFormatName(path, small, &length), MQ_ERROR_FORMATNAME_BUFFER_TOO_SMALL);
    EXPECT(MQPathNameToFormatName(path, format, &length), MQ_OK);
    EXPECT(length, wide(format) + 1);

    EXPECT(MQOpenQueue(NULL, MQ_SEND_ACCESS, 0, &queue), MQ_ERROR_INVALID_PARAMETER);
    EXPECT(MQOpenQueue(format, MQ_SEND_ACCESS, 0, NULL), MQ_ERROR_INVALID_PARAMETER);
    EXPECT(MQOpenQueue(u"", MQ_SEND_ACCESS, 0, &queue), MQ_ERROR_ILLEGAL_FORMATNAME);
    EXPECT(MQOpenQueue(u"NONSENSE", MQ_SEND_ACCESS, 0, &queue), MQ_ERROR_ILLEGAL_FORMATNAME);
    EXPECT(MQOpenQueue(format, 3, 0, &queue), MQ_ERROR_UNSUPPORTED_ACCESS_MODE);
    EXPECT(MQOpenQueue(format, MQ_SEND_ACCESS, 2, &queue), MQ_ERROR_INVALID_PARAMETER);
    EXPECT(MQOpenQueue(u"DIRECT=OS:.\\private$\\nowhere", MQ_RECEIVE_ACCESS, 0, &queue), MQ_ERROR_QUEUE_NOT_FOUND);
    EXPECT(MQOpenQueue(format, MQ_RECEIVE_ACCESS, MQ_DENY_RECEIVE_SHARE, &queue), MQ_OK);
    QUEUEHANDLE other;
    EXPECT(MQOpenQueue(format, MQ_RECEIVE_ACCESS, 0, &other), MQ_ERROR_SHARING_VIOLATION);
    TRUE_THAT(other == NULL);
    length = 1;
    EXPECT(MQHandleToFormatName(queue, again, &length), MQ_ERROR_FORMATNAME_BUFFER_TOO_SMALL);
    EXPECT(MQHandleToFormatName(queue, again, &length), MQ_OK);
    TRUE_THAT(same(again, format));
    EXPECT(MQHandleToFormatName(queue, again, NULL), MQ_ERROR_INVALID_PARAMETER);
    EXPECT(MQHandleToFormatName((HANDLE)(uintptr_t)12345, again, &length), MQ_ERROR_INVALID_HANDLE);
    EXPECT(send_text(queue, "x", NULL), MQ_ERROR_ACCESS_DENIED);
    EXPECT(MQCloseQueue(queue), MQ_OK);
    EXPECT(MQCloseQueue(queue), MQ_ERROR_INVALID_HANDLE);
    EXPECT(MQPurgeQueue(queue), MQ_ERROR_INVALID_HANDLE);
    EXPECT(MQDeleteQueue(NULL), MQ_ERROR_INVALID_PARAMETER);
    EXPECT(MQDeleteQueue(u"DIRECT=OS:.\\private$\\nowhere"), MQ_ERROR_QUEUE_NOT_FOUND);
}

static void queue_properties(void) {
    struct bag bag = {0};
    GUID type = {1, 2, 3, {4, 5, 6, 7, 8, 9, 10, 11}}, got = {0};
    put(&bag, PROPID_Q_LABEL, VT_NULL);
    put(&bag, PROPID_Q_QUOTA, VT_NULL);
    put(&bag, PROPID_Q_INSTANCE, VT_NULL);
    put(&bag, PROPID_Q_BASEPRIORITY, VT_I2);
    put(&bag, 4711, VT_NULL);
    put(&bag, PROPID_Q_LABEL, VT_NULL);
    put(&bag, PROPID_Q_TYPE, VT_CLSID)->puuid = &got;
    put(&bag, PROPID_Q_MULTICAST_ADDRESS, VT_NULL);
    put(&bag, PROPID_Q_CREATE_TIME, VT_NULL);
    EXPECT(MQGetQueueProperties(format, &bag.props), MQ_INFORMATION_PROPERTY);
    EXPECT(bag.values[0].vt, VT_LPWSTR);
    TRUE_THAT(bag.values[0].pwszVal && same(bag.values[0].pwszVal, u"x"));
    EXPECT(bag.values[1].vt, VT_UI4);
    EXPECT(bag.values[1].ulVal, 0xFFFFFFFF);
    EXPECT(bag.values[2].vt, VT_CLSID);
    EXPECT(bag.values[3].iVal, 0);
    EXPECT(bag.statuses[4], MQ_INFORMATION_UNSUPPORTED_PROPERTY);
    EXPECT(bag.values[4].vt, VT_NULL);
    EXPECT(bag.statuses[5], MQ_INFORMATION_DUPLICATE_PROPERTY);
    EXPECT(bag.values[7].vt, VT_EMPTY);
    TRUE_THAT(bag.values[8].vt == VT_I4 && bag.values[8].lVal > 1500000000);
    MQFreeMemory(bag.values[0].pwszVal);
    MQFreeMemory(bag.values[2].puuid);
    bag.values[0].vt = VT_LPWSTR;
    EXPECT(MQGetQueueProperties(format, &bag.props), MQ_ERROR_PROPERTY);
    EXPECT(bag.statuses[0], MQ_ERROR_ILLEGAL_PROPERTY_VT);
    EXPECT(MQGetQueueProperties(format, NULL), MQ_ERROR_ILLEGAL_MQQUEUEPROPS);
    EXPECT(MQGetQueueProperties(NULL, &bag.props), MQ_ERROR_INVALID_PARAMETER);

    struct bag set = {0};
    put_text(&set, PROPID_Q_LABEL, (WCHAR *)(uintptr_t)u"\xD800 \"\\ \x4E2D");
    put(&set, PROPID_Q_TYPE, VT_CLSID)->puuid = &type;
    EXPECT(MQSetQueueProperties(format, &set.props), MQ_OK);
    put_number(&set, PROPID_Q_TRANSACTION, VT_UI1, 1);
    EXPECT(MQSetQueueProperties(format, &set.props), MQ_ERROR_PROPERTY);
    EXPECT(set.statuses[2], MQ_ERROR_PROPERTY_NOTALLOWED);
    EXPECT(MQSetQueueProperties(format, NULL), MQ_ERROR_ILLEGAL_MQQUEUEPROPS);
    struct bag read = {0};
    put(&read, PROPID_Q_LABEL, VT_NULL);
    put(&read, PROPID_Q_TYPE, VT_CLSID)->puuid = &got;
    EXPECT(MQGetQueueProperties(format, &read.props), MQ_OK);
    TRUE_THAT(same(read.values[0].pwszVal, u"\xD800 \"\\ \x4E2D") && !memcmp(&got, &type, sizeof got));
    MQFreeMemory(read.values[0].pwszVal);
}

static void sends(QUEUEHANDLE queue, QUEUEHANDLE reader) {
    struct bag bag = {0};
    struct room space;
    uint8_t id[20] = {0}, first[20], correlation[20] = {9, 8, 7}, got[20];
    WCHAR response[128], label[8] = u"\x4E2D!";
    GUID machine;
    EXPECT(MQSendMessage(queue, NULL, NULL), MQ_ERROR_INSUFFICIENT_PROPERTIES);
    EXPECT(MQSendMessage(NULL, &bag.props, NULL), MQ_ERROR_INVALID_HANDLE);
    put_number(&bag, PROPID_M_PRIORITY, VT_UI1, 8);
    put_number(&bag, PROPID_M_DELIVERY, VT_UI4, 0);
    put_bytes(&bag, PROPID_M_CORRELATIONID, correlation, 19);
    put_text(&bag, PROPID_M_LABEL, NULL);
    EXPECT(MQSendMessage(queue, &bag.props, NULL), MQ_ERROR_PROPERTY);
    EXPECT(bag.statuses[0], MQ_ERROR_ILLEGAL_PROPERTY_VALUE);
    EXPECT(bag.statuses[1], MQ_ERROR_ILLEGAL_PROPERTY_VT);
    EXPECT(bag.statuses[2], MQ_ERROR_ILLEGAL_PROPERTY_SIZE);
    EXPECT(bag.statuses[3], MQ_ERROR_ILLEGAL_PROPERTY_VALUE);
    bag.values[0].bVal = 6;
    bag.values[1] = (MQPROPVARIANT){.vt = VT_UI1, .bVal = 1};
    bag.values[2].caub.cElems = 20;
    bag.values[3].pwszVal = label;
    put_bytes(&bag, PROPID_M_BODY, "the body", 8);
    put_bytes(&bag, PROPID_M_MSGID, id, 20);
    put_text(&bag, PROPID_M_RESP_QUEUE, (WCHAR *)(uintptr_t)u"DIRECT=OS:HOST\\private$\\r");
    put_number(&bag, PROPID_M_APPSPECIFIC, VT_UI4, 0xFFFFFFFE);
    put_number(&bag, PROPID_M_ACKNOWLEDGE, VT_UI1, 4);
    put_number(&bag, PROPID_M_JOURNAL, VT_UI1, 3);
    put_text(&bag, PROPID_M_ADMIN_QUEUE, format);
    EXPECT(MQSendMessage(queue, &bag.props, NULL), MQ_OK);
    TRUE_THAT(id[16] | id[17] | id[18] | id[19]);
    memcpy(first, id, 20);
    put_number(&bag, PROPID_M_SENTTIME, VT_UI4, 1);
    put_number(&bag, PROPID_M_SENTTIME, VT_UI4, 1);
    put_number(&bag, 999, VT_UI4, 1);
    bag.values[4].caub.cElems = 0;
    EXPECT(MQSendMessage(queue, &bag.props, NULL), MQ_INFORMATION_PROPERTY);
    EXPECT(bag.statuses[11], MQ_INFORMATION_PROPERTY_IGNORED);
    EXPECT(bag.statuses[12], MQ_INFORMATION_DUPLICATE_PROPERTY);
    EXPECT(bag.statuses[13], MQ_INFORMATION_UNSUPPORTED_PROPERTY);
    struct bag class = {0};
    put_number(&class, PROPID_M_CLASS, VT_UI2, 2);
    EXPECT(MQSendMessage(queue, &class.props, NULL), MQ_ERROR_MISSING_CONNECTOR_TYPE);

    MQPROPS *props = room(&space, 64, 250);
    put_bytes(&space.bag, PROPID_M_MSGID, got, 20);
    put_bytes(&space.bag, PROPID_M_CORRELATIONID, correlation, 20);
    put_text(&space.bag, PROPID_M_RESP_QUEUE, response);
    MQPROPVARIANT *length = put_number(&space.bag, PROPID_M_RESP_QUEUE_LEN, VT_UI4, 5);
    put(&space.bag, PROPID_M_SRC_MACHINE_ID, VT_CLSID)->puuid = &machine;
    MQPROPVARIANT *priority = put(&space.bag, PROPID_M_PRIORITY, VT_NULL), *tag = put(&space.bag, PROPID_M_APPSPECIFIC, VT_UI4);
    MQPROPVARIANT *acknowledge = put(&space.bag, PROPID_M_ACKNOWLEDGE, VT_UI1), *journal = put(&space.bag, PROPID_M_JOURNAL,
        VT_UI1);
    MQPROPVARIANT *lookup = put(&space.bag, PROPID_M_LOOKUPID, VT_UI8), *class_got = put(&space.bag, PROPID_M_CLASS, VT_UI2);
    memset(correlation, 0, 20);
    EXPECT(MQReceiveMessage(reader, 0, MQ_ACTION_RECEIVE, props, NULL, NULL, NULL, NULL), MQ_ERROR_FORMATNAME_BUFFER_TOO_SMALL);
    EXPECT(length->ulVal, wide(u"DIRECT=OS:HOST\\private$\\r") + 1);
    length->ulVal = 128;
    space.label_length->ulVal = 2;
    EXPECT(MQReceiveMessage(reader, 0, MQ_ACTION_RECEIVE, props, NULL, NULL, NULL, NULL), MQ_ERROR_LABEL_BUFFER_TOO_SMALL);
    EXPECT(space.label_length->ulVal, 3);
    memset(space.body, 0, sizeof space.body);
    space.bag.values[0].caub.cElems = 3;
    length->ulVal = 128;
    EXPECT(MQReceiveMessage(reader, 0, MQ_ACTION_RECEIVE, props, NULL, NULL, NULL, NULL), MQ_ERROR_BUFFER_OVERFLOW);
    TRUE_THAT(!memcmp(space.body, "the\0", 4) && space.size->ulVal == 8);
    space.bag.values[0].caub.cElems = 64;
    length->ulVal = 128;
    EXPECT(MQReceiveMessage(reader, 0, MQ_ACTION_RECEIVE, props, NULL, NULL, NULL, NULL), MQ_OK);
    TRUE_THAT(!memcmp(space.body, "the body", 8) && same(space.label, label) && same(response, u"DIRECT=OS:HOST\\private$\\r"));
    TRUE_THAT(!memcmp(got, first, 20) && !memcmp(got, &machine, 16) && correlation[0] == 9);
    TRUE_THAT(priority->vt == VT_UI1 && priority->bVal == 6 && tag->ulVal == 0xFFFFFFFE && acknowledge->bVal == 4
        && journal->bVal == 3);
    TRUE_THAT(lookup->uhVal != 0 && class_got->uiVal == 0);
    EXPECT(MQReceiveMessage(reader, 0, MQ_ACTION_RECEIVE, NULL, NULL, NULL, NULL, NULL), MQ_OK);
    EXPECT(MQReceiveMessage(reader, 50, MQ_ACTION_RECEIVE, NULL, NULL, NULL, NULL, NULL), MQ_ERROR_IO_TIMEOUT);
    struct bag wrong = {0};
    put_text(&wrong, PROPID_M_LABEL, label);
    EXPECT(MQReceiveMessage(reader, 0, MQ_ACTION_RECEIVE, &wrong.props, NULL, NULL, NULL, NULL), MQ_ERROR_INSUFFICIENT_PROPERTIES);
    wrong.ids[0] = PROPID_M_PRIORITY;
    EXPECT(MQReceiveMessage(reader, 0, MQ_ACTION_RECEIVE, &wrong.props, NULL, NULL, NULL, NULL), MQ_ERROR_PROPERTY);
    EXPECT(wrong.statuses[0], MQ_ERROR_ILLEGAL_PROPERTY_VT);
    EXPECT(MQReceiveMessage(reader, 0, 77, NULL, NULL, NULL, NULL, NULL), MQ_ERROR_INVALID_PARAMETER);
    EXPECT(MQReceiveMessage(reader, 0, MQ_ACTION_PEEK_NEXT, NULL, NULL, NULL, NULL, NULL), MQ_ERROR_INVALID_PARAMETER);
    EXPECT(MQReceiveMessage(queue, 0, MQ_ACTION_RECEIVE, NULL, NULL, NULL, NULL, NULL), MQ_ERROR_ACCESS_DENIED);
}

static void cursors(QUEUEHANDLE queue, QUEUEHANDLE reader) {
    HANDLE cursor, second;
    struct room space;
    uint64_t ids[3];
    EXPECT(MQCreateCursor(reader, NULL), MQ_ERROR_INVALID_PARAMETER);
    EXPECT(MQCreateCursor(NULL, &cursor), MQ_ERROR_INVALID_HANDLE);
    EXPECT(MQCreateCursor(reader, &cursor), MQ_OK);
    for (int i = 0; i < 3; i++) {
        static const char *const bodies[] = {"one", "two", "three"};
        EXPECT(send_text(queue, bodies[i], NULL), MQ_OK);
    }
    EXPECT(take(reader, MQ_ACTION_PEEK_CURRENT, cursor, NULL, "one"), MQ_OK);
    EXPECT(take(reader, MQ_ACTION_PEEK_NEXT, cursor, NULL, "two"), MQ_OK);
    EXPECT(take(reader, MQ_ACTION_RECEIVE, cursor, NULL, "two"), MQ_OK);
    EXPECT(take(reader, MQ_ACTION_PEEK_CURRENT, cursor, NULL, "three"), MQ_OK);
    EXPECT(take(reader, MQ_ACTION_PEEK_NEXT, cursor, NULL, ""), MQ_ERROR_IO_TIMEOUT);
    EXPECT(take(reader, MQ_ACTION_PEEK_CURRENT, (HANDLE)5, NULL, "one"), MQ_ERROR_INVALID_HANDLE);
    EXPECT(MQCloseCursor(cursor), MQ_OK);
    EXPECT(MQCloseCursor(cursor), MQ_ERROR_INVALID_HANDLE);
    EXPECT(MQCreateCursor(reader, &second), MQ_OK);
    QUEUEHANDLE other;
    EXPECT(MQOpenQueue(format, MQ_PEEK_ACCESS, 0, &other), MQ_OK);
    EXPECT(take(other, MQ_ACTION_PEEK_CURRENT, second, NULL, "one"), MQ_ERROR_INVALID_HANDLE);
    EXPECT(MQCloseQueue(other), MQ_OK);

    MQPROPS *props = room(&space, 64, 250);
    MQPROPVARIANT *lookup = put(&space.bag, PROPID_M_LOOKUPID, VT_UI8);
    EXPECT(MQReceiveMessageByLookupId(reader, 0, MQ_LOOKUP_PEEK_FIRST, props, NULL, NULL, NULL), MQ_OK);
    ids[0] = lookup->uhVal;
    space.label_length->ulVal = 250;
    EXPECT(MQReceiveMessageByLookupId(reader, ids[0], MQ_LOOKUP_PEEK_NEXT, props, NULL, NULL, NULL), MQ_OK);
    TRUE_THAT(!memcmp(space.body, "three", 5) && lookup->uhVal != ids[0]);
    ids[1] = lookup->uhVal;
    space.label_length->ulVal = 250;
    EXPECT(MQReceiveMessageByLookupId(reader, ids[1], MQ_LOOKUP_PEEK_PREV, props, NULL, NULL, NULL), MQ_OK);
    EXPECT(MQReceiveMessageByLookupId(reader, 1, MQ_LOOKUP_PEEK_FIRST, NULL, NULL, NULL, NULL), MQ_ERROR_INVALID_PARAMETER);
    EXPECT(MQReceiveMessageByLookupId(reader, 1, 3, NULL, NULL, NULL, NULL), MQ_ERROR_INVALID_PARAMETER);
    EXPECT(MQReceiveMessageByLookupId(reader, ids[1], MQ_LOOKUP_PEEK_NEXT, NULL, NULL, NULL, NULL), MQ_ERROR_MESSAGE_NOT_FOUND);
    space.bag.values[0].caub.cElems = 2;
    space.label_length->ulVal = 250;
    EXPECT(MQReceiveMessageByLookupId(reader, ids[1], MQ_LOOKUP_RECEIVE_CURRENT, props, NULL, NULL, NULL),
        MQ_ERROR_BUFFER_OVERFLOW);
    EXPECT(MQReceiveMessageByLookupId(reader, ids[1], MQ_LOOKUP_RECEIVE_CURRENT, NULL, NULL, NULL, NULL), MQ_OK);
    EXPECT(MQReceiveMessageByLookupId(reader, ids[1], MQ_LOOKUP_RECEIVE_CURRENT, NULL, NULL, NULL, NULL),
        MQ_ERROR_MESSAGE_NOT_FOUND);
    QUEUEHANDLE sub;
    EXPECT(MQOpenQueue(target, MQ_MOVE_ACCESS, 0, &sub), MQ_OK);
    EXPECT(MQMoveMessage(NULL, sub, ids[0], NULL), MQ_ERROR_INVALID_HANDLE);
    EXPECT(MQMoveMessage(reader, sub, ids[0], NULL), MQ_OK);
    EXPECT(MQMoveMessage(reader, sub, ids[0], NULL), MQ_ERROR_MESSAGE_NOT_FOUND);
    EXPECT(MQCloseQueue(sub), MQ_OK);
    EXPECT(MQOpenQueue(target, MQ_RECEIVE_ACCESS, 0, &sub), MQ_OK);
    EXPECT(take(sub, MQ_ACTION_RECEIVE, NULL, NULL, "one"), MQ_OK);
    EXPECT(MQCloseQueue(sub), MQ_OK);
    EXPECT(MQMarkMessageRejected(reader, 1), MQ_ERROR_TRANSACTION_USAGE);
    EXPECT(MQMarkMessageRejected(NULL, 1), MQ_ERROR_INVALID_HANDLE);
    EXPECT(send_text(queue, "purged", NULL), MQ_OK);
    EXPECT(MQPurgeQueue(reader), MQ_OK);
    EXPECT(take(reader, MQ_ACTION_RECEIVE, NULL, NULL, ""), MQ_ERROR_IO_TIMEOUT);
}

static void transactions(void) {
    static const GUID unknown = {0, 0, 0, {0xC0, 0, 0, 0, 0, 0, 0, 0x46}}, face = {0x0FB15084, 0xAF41, 0x11CE, {0xBD, 0x2B,
        0x20, 0x4C, 0x4F, 0x4F, 0x50, 0x20}}, none = {1, 2, 3, {0}};
    QUEUEHANDLE queue, reader;
    ITransaction *t, *same_one, strange = {NULL};
    XACTTRANSINFO info;
    EXPECT(MQBeginTransaction(NULL), MQ_ERROR_INVALID_PARAMETER);
    EXPECT(MQOpenQueue(transactional, MQ_SEND_ACCESS, 0, &queue), MQ_OK);
    EXPECT(MQOpenQueue(transactional, MQ_RECEIVE_ACCESS, 0, &reader), MQ_OK);
    EXPECT(send_text(queue, "none", NULL), MQ_ERROR_TRANSACTION_USAGE);
    EXPECT(send_text(queue, "strange", &strange), MQ_ERROR_TRANSACTION_ENLIST);
    EXPECT(send_text(queue, "single", MQ_SINGLE_MESSAGE), MQ_OK);
    EXPECT(take(reader, MQ_ACTION_PEEK_CURRENT, NULL, MQ_SINGLE_MESSAGE, ""), MQ_ERROR_TRANSACTION_USAGE);
    EXPECT(take(reader, MQ_ACTION_RECEIVE, NULL, MQ_SINGLE_MESSAGE, "single"), MQ_OK);
    EXPECT(MQBeginTransaction(&t), MQ_OK);
    EXPECT(t->lpVtbl->QueryInterface(t, &face, (void **)&same_one), MQ_OK);
    EXPECT(t->lpVtbl->QueryInterface(t, &unknown, (void **)&same_one), MQ_OK);
    EXPECT(t->lpVtbl->QueryInterface(t, &none, (void **)&same_one), 0x80004002);
    EXPECT(t->lpVtbl->QueryInterface(t, &none, NULL), 0x80004003);
    EXPECT(t->lpVtbl->Release(t), 2);
    EXPECT(t->lpVtbl->Release(t), 1);
    EXPECT(t->lpVtbl->GetTransactionInfo(t, &info), MQ_OK);
    EXPECT(t->lpVtbl->GetTransactionInfo(t, NULL), 0x80070057);
    EXPECT(send_text(queue, "committed", t), MQ_OK);
    EXPECT(take(reader, MQ_ACTION_RECEIVE, NULL, NULL, ""), MQ_ERROR_IO_TIMEOUT);
    EXPECT(t->lpVtbl->Commit(t, 1, 0, 0), 0x8004D00F);
    EXPECT(t->lpVtbl->Commit(t, 0, 0, 0), MQ_OK);
    EXPECT(t->lpVtbl->Commit(t, 0, 0, 0), MQ_ERROR_TRANSACTION_SEQUENCE);
    EXPECT(t->lpVtbl->Abort(t, NULL, 0, 0), MQ_ERROR_TRANSACTION_SEQUENCE);
    EXPECT(t->lpVtbl->Release(t), 0);
    EXPECT(send_text(queue, "gone", t), MQ_ERROR_TRANSACTION_ENLIST);
    EXPECT(MQBeginTransaction(&t), MQ_OK);
    struct room space;
    MQPROPS *props = room(&space, 2, 250);
    EXPECT(MQReceiveMessage(reader, 0, MQ_ACTION_RECEIVE, props, NULL, NULL, NULL, t), MQ_ERROR_BUFFER_OVERFLOW);
    EXPECT(take(reader, MQ_ACTION_RECEIVE, NULL, t, "committed"), MQ_OK);
    EXPECT(MQReceiveMessage(reader, 0, MQ_ACTION_RECEIVE, NULL, &(OVERLAPPED){0}, NULL, NULL, t), MQ_ERROR_INVALID_PARAMETER);
    EXPECT(t->lpVtbl->Abort(t, NULL, 0, 1), 0x8004D00F);
    EXPECT(t->lpVtbl->Abort(t, NULL, 0, 0), MQ_OK);
    EXPECT(t->lpVtbl->Release(t), 0);
    EXPECT(MQBeginTransaction(&t), MQ_OK);
    EXPECT(take(reader, MQ_ACTION_RECEIVE, NULL, t, "committed"), MQ_OK);
    EXPECT(t->lpVtbl->Release(t), 0); // aborts
    EXPECT(take(reader, MQ_ACTION_RECEIVE, NULL, NULL, "committed"), MQ_OK);
    EXPECT(MQCloseQueue(queue), MQ_OK);
    EXPECT(MQCloseQueue(reader), MQ_OK);
}

static struct { pthread_mutex_t lock; pthread_cond_t came; int calls; HRESULT status; DWORD action; OVERLAPPED *overlapped; } told = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0, 0, NULL};

static void heard(HRESULT status, QUEUEHANDLE queue, DWORD timeout, DWORD action, MQMSGPROPS *props, OVERLAPPED *overlapped,
    HANDLE cursor) {
    (void)timeout; (void)props; (void)cursor;
    if (status == MQ_OK && MQReceiveMessage(queue, 0, MQ_ACTION_PEEK_CURRENT, NULL, NULL, NULL, NULL,
        NULL) != MQ_ERROR_IO_TIMEOUT) status = 0x77; // calls work in it
    pthread_mutex_lock(&told.lock);
    told.calls++;
    told.status = status;
    told.action = action;
    told.overlapped = overlapped;
    pthread_cond_broadcast(&told.came);
    pthread_mutex_unlock(&told.lock);
}

static void completion(OVERLAPPED *overlapped) { heard(MQGetOverlappedResult(overlapped), NULL, 0, 0, NULL, overlapped, NULL); }

static void heard_times(int calls) {
    pthread_mutex_lock(&told.lock);
    while (told.calls < calls) pthread_cond_wait(&told.came, &told.lock);
    pthread_mutex_unlock(&told.lock);
}

// Response queues in a list that is longer than the name of any one queue: a message that does not fit stays.
static void response_queues(QUEUEHANDLE queue, QUEUEHANDLE reader) {
    static WCHAR names[4096], got[4096];
    struct bag bag = {0}, answer = {0};
    size_t units = 0;
    for (int i = 0; i < 60; i++) {
        char text[64];
        snprintf(text, sizeof text, "%sDIRECT=OS:OTHER\\private$\\answers-%03d", i ? "," : "", i);
        for (const char *at = text; *at; at++) names[units++] = (unsigned char)*at;
    }
    put_text(&bag, PROPID_M_RESP_FORMAT_NAME, names);
    EXPECT(MQSendMessage(queue, &bag.props, NULL), MQ_OK);
    put_text(&answer, PROPID_M_RESP_FORMAT_NAME, got);
    MQPROPVARIANT *length = put_number(&answer, PROPID_M_RESP_FORMAT_NAME_LEN, VT_UI4, 1024);
    EXPECT(MQReceiveMessage(reader, 0, MQ_ACTION_RECEIVE, &answer.props, NULL, NULL, NULL, NULL),
        MQ_ERROR_FORMATNAME_BUFFER_TOO_SMALL);
    EXPECT(length->ulVal, units + 1);
    length->ulVal = 4096;
    EXPECT(MQReceiveMessage(reader, 0, MQ_ACTION_RECEIVE, &answer.props, NULL, NULL, NULL, NULL), MQ_OK);
    TRUE_THAT(wide(got) == units && !memcmp(got, names, 2 * units));
}

static void later(QUEUEHANDLE queue, QUEUEHANDLE reader) {
    struct room space;
    OVERLAPPED overlapped = {0}, second = {0};
    EXPECT(MQGetOverlappedResult(NULL), MQ_ERROR_INVALID_PARAMETER);
    EXPECT(MQReceiveMessage(reader, 5000, MQ_ACTION_RECEIVE, room(&space, 64, 250), NULL, heard, NULL, NULL),
        MQ_INFORMATION_OPERATION_PENDING);
    EXPECT(send_text(queue, "called back", NULL), MQ_OK);
    heard_times(1);
    TRUE_THAT(told.status == MQ_OK && space.size->ulVal == 11 && told.action == MQ_ACTION_RECEIVE);
    overlapped.hEvent = mqrt_event_create(1, 0);
    EXPECT(MQReceiveMessage(reader, 5000, MQ_ACTION_RECEIVE, room(&space, 64, 250), &overlapped, NULL, NULL, NULL),
        MQ_INFORMATION_OPERATION_PENDING);
    EXPECT(MQGetOverlappedResult(&overlapped), MQ_INFORMATION_OPERATION_PENDING);
    EXPECT(mqrt_event_wait(overlapped.hEvent, 10), 0x102);
    EXPECT(send_text(queue, "event", NULL), MQ_OK);
    EXPECT(mqrt_event_wait(overlapped.hEvent, 5000), 0);
    EXPECT(MQGetOverlappedResult(&overlapped), MQ_OK);
    TRUE_THAT(overlapped.InternalHigh == 5 && space.size->ulVal == 5);
    EXPECT(mqrt_event_reset(overlapped.hEvent), 1);
    EXPECT(send_text(queue, "at once", NULL), MQ_OK);
    EXPECT(MQReceiveMessage(reader, 5000, MQ_ACTION_RECEIVE, room(&space, 3, 250), &overlapped, NULL, NULL, NULL),
        MQ_ERROR_BUFFER_OVERFLOW);
    EXPECT(MQReceiveMessage(reader, 5000, MQ_ACTION_RECEIVE, room(&space, 64, 250), &overlapped, NULL, NULL, NULL), MQ_OK);
    EXPECT(mqrt_event_wait(overlapped.hEvent, 0), 0); // nothing is written any more to what the caller may free now
    EXPECT(MQGetOverlappedResult(&overlapped), MQ_OK);
    EXPECT(mqrt_event_close(overlapped.hEvent), 1);
    EXPECT(mqrt_event_wait(overlapped.hEvent, 1), -1);
    EXPECT(MQReceiveMessage(reader, 60, MQ_ACTION_PEEK_CURRENT, NULL, &second, heard, NULL, NULL),
        MQ_INFORMATION_OPERATION_PENDING);
    heard_times(2);
    TRUE_THAT(told.status == MQ_ERROR_IO_TIMEOUT && told.overlapped == &second
        && MQGetOverlappedResult(&second) == MQ_ERROR_IO_TIMEOUT);
    mqrt_on_completion(completion);
    overlapped.hEvent = NULL;
    EXPECT(MQReceiveMessage(reader, 5000, MQ_ACTION_RECEIVE, NULL, &overlapped, NULL, NULL, NULL),
        MQ_INFORMATION_OPERATION_PENDING);
    EXPECT(CancelIoEx(reader, &second), 0);
    EXPECT(CancelIoEx(reader, &overlapped), 1);
    heard_times(3);
    TRUE_THAT(told.status == MQ_ERROR_OPERATION_CANCELLED);
    QUEUEHANDLE closed;
    EXPECT(MQOpenQueue(format, MQ_RECEIVE_ACCESS, 0, &closed), MQ_OK);
    EXPECT(MQReceiveMessage(closed, 0xFFFFFFFF, MQ_ACTION_RECEIVE, NULL, NULL, heard, NULL, NULL),
        MQ_INFORMATION_OPERATION_PENDING);
    EXPECT(MQCloseQueue(closed), MQ_OK);
    heard_times(4);
    TRUE_THAT(told.status == MQ_ERROR_OPERATION_CANCELLED);
}

static void management(void) {
    static WCHAR object[160] = u"QUEUE=";
    struct bag bag = {0}, machine = {0}, computer = {0}, security = {0};
    uint8_t descriptor[512];
    DWORD needed = 0;
    HANDLE context;
    memcpy(object + 6, format, sizeof format);
    put(&bag, 7, VT_NULL);
    put(&bag, 1, VT_NULL);
    put(&bag, 27, VT_NULL);
    EXPECT(MQMgmtGetInfo(NULL, object, &bag.props), MQ_OK);
    TRUE_THAT(bag.values[0].vt == VT_UI4 && bag.values[1].vt == VT_LPWSTR && bag.values[2].vt == (VT_LPWSTR | VT_VECTOR)
        && bag.values[2].calpwstr.cElems == 1);
    MQFreeMemory(bag.values[1].pwszVal);
    for (uint32_t i = 0; i < bag.values[2].calpwstr.cElems; i++) MQFreeMemory(bag.values[2].calpwstr.pElems[i]);
    MQFreeMemory(bag.values[2].calpwstr.pElems);
    EXPECT(MQMgmtGetInfo(NULL, u"MACHINE", &bag.props), MQ_ERROR_ILLEGAL_PROPERTY_VT);
    bag.values[0].vt = VT_NULL;
    bag.props.cProp = 1;
    EXPECT(MQMgmtGetInfo(NULL, u"MACHINE", NULL), MQ_ERROR_INVALID_PARAMETER);
    EXPECT(MQMgmtGetInfo(NULL, NULL, &bag.props), MQ_ERROR_INVALID_PARAMETER);
    EXPECT(MQMgmtGetInfo(NULL, u"QUEUE=", &bag.props), MQ_ERROR_ILLEGAL_FORMATNAME);
    EXPECT(MQMgmtGetInfo(NULL, u"SESSION=x", &bag.props), MQ_ERROR_INVALID_PARAMETER);
    EXPECT(MQMgmtGetInfo(u"elsewhere", u"MACHINE", &bag.props), MQ_ERROR_REMOTE_MACHINE_NOT_AVAILABLE);
    EXPECT(MQMgmtAction(NULL, u"MACHINE", u"DISCONNECT"), MQ_OK);
    EXPECT(MQMgmtAction(NULL, u"MACHINE", u"CONNECT"), MQ_OK);
    EXPECT(MQMgmtAction(NULL, u"MACHINE", NULL), MQ_ERROR_INVALID_PARAMETER);
    TRUE_THAT(MQMgmtAction(NULL, u"MACHINE", u"DANCE") < 0);

    put(&machine, PROPID_QM_MACHINE_ID, VT_NULL);
    put(&machine, PROPID_QM_PATHNAME, VT_NULL);
    EXPECT(MQGetMachineProperties(NULL, NULL, &machine.props), MQ_OK);
    EXPECT(MQGetMachineProperties(u"x", machine.values[0].puuid, &machine.props), MQ_ERROR_INVALID_PARAMETER);
    machine.props.cProp = 1;
    EXPECT(MQGetMachineProperties(NULL, machine.values[0].puuid, &machine.props), MQ_OK);
    EXPECT(MQGetMachineProperties(u"elsewhere", NULL, &machine.props), MQ_ERROR_NO_DS);
    EXPECT(MQGetMachineProperties(NULL, NULL, NULL), MQ_ERROR_ILLEGAL_MQQMPROPS);
    MQFreeMemory(machine.values[0].puuid);
    MQFreeMemory(machine.values[1].pwszVal);
    put(&computer, PROPID_PC_VERSION, VT_UI4);
    put(&computer, PROPID_PC_DS_ENABLED, VT_NULL);
    EXPECT(MQGetPrivateComputerInformation(NULL, &computer.props), MQ_OK);
    TRUE_THAT(computer.values[0].ulVal == 0x04000000 && computer.values[1].vt == VT_BOOL && !computer.values[1].boolVal);
    EXPECT(MQGetPrivateComputerInformation(u"x", &computer.props), MQ_ERROR_INVALID_PARAMETER);
    EXPECT(MQGetPrivateComputerInformation(NULL, NULL), MQ_ERROR_ILLEGAL_MQPRIVATEPROPS);

    WCHAR text[8];
    DWORD length = 2;
    EXPECT(GetComputerNameW(text, &length), 0);
    EXPECT(GetComputerNameW(text, &length), 1);
    EXPECT(length, wide(text));
    EXPECT(GetHandleInformation(NULL, NULL) | (int)FormatMessageW(0, NULL, 5, 0, text, 8, NULL), 0);

    EXPECT(MQGetQueueSecurity(format, 7, NULL, 0, &needed), MQ_ERROR_SECURITY_DESCRIPTOR_TOO_SMALL);
    TRUE_THAT(needed >= 20 && needed <= sizeof descriptor);
    EXPECT(MQGetQueueSecurity(format, 7, descriptor, sizeof descriptor, &needed), MQ_OK);
    EXPECT(MQSetQueueSecurity(format, 4, descriptor), MQ_OK);
    EXPECT(MQSetQueueSecurity(format, 4, NULL), MQ_ERROR_INVALID_PARAMETER);
    EXPECT(MQGetQueueSecurity(format, 7, descriptor, 512, NULL), MQ_ERROR_INVALID_PARAMETER);
    EXPECT(MQGetSecurityContext(NULL, 0, NULL), MQ_ERROR_INVALID_PARAMETER);
    EXPECT(MQGetSecurityContext("x", 0, &context), MQ_ERROR_INVALID_CERTIFICATE);
    EXPECT(MQGetSecurityContextEx("certificate", 11, &context), MQ_OK);
    MQFreeSecurityContext(context);
    MQFreeSecurityContext(context);
    put_number(&security, PROPID_M_SECURITY_CONTEXT, VT_UI4, (uintptr_t)context);
    QUEUEHANDLE queue;
    EXPECT(MQOpenQueue(format, MQ_SEND_ACCESS, 0, &queue), MQ_OK);
    EXPECT(MQSendMessage(queue, &security.props, NULL), MQ_ERROR_PROPERTY);
    EXPECT(security.statuses[0], MQ_ERROR_BAD_SECURITY_CONTEXT);
    EXPECT(MQCloseQueue(queue), MQ_OK);
    EXPECT(MQRegisterCertificate(3, NULL, 0), MQ_ERROR_INVALID_PARAMETER);
    EXPECT(MQRegisterCertificate(1, NULL, 0), MQ_ERROR_NO_DS);
}

static void directory(void) {
    MQCOLUMNSET columns = {1, &(PROPID){PROPID_Q_PATHNAME}};
    HANDLE locator;
    DWORD length = 64;
    WCHAR text[64];
    GUID guid = {0x11223344, 0x5566, 0x7788, {0x99, 0xAA, 0xBB, 0xCC, 0xDD, 0xEE, 0xFF, 0}};
    EXPECT(MQLocateBegin(NULL, NULL, &columns, NULL, NULL), MQ_ERROR_INVALID_PARAMETER);
    EXPECT(MQLocateBegin(u"x", NULL, &columns, NULL, &locator), MQ_ERROR_ILLEGAL_CONTEXT);
    EXPECT(MQLocateBegin(NULL, NULL, NULL, NULL, &locator), MQ_ERROR_ILLEGAL_MQCOLUMNS);
    EXPECT(MQLocateBegin(NULL, NULL, &columns, NULL, &locator), MQ_ERROR_NO_DS);
    EXPECT(MQLocateNext(locator, &length, NULL), MQ_ERROR_INVALID_PARAMETER);
    EXPECT(MQLocateNext(locator, &length, &(MQPROPVARIANT){0}), MQ_ERROR_INVALID_HANDLE);
    EXPECT(MQLocateEnd(locator), MQ_ERROR_INVALID_HANDLE);
    EXPECT(MQADsPathToFormatName(NULL, text, &length), MQ_ERROR_INVALID_PARAMETER);
    EXPECT(MQADsPathToFormatName(u"LDAP://x", text, &length), MQ_ERROR_NO_DS);
    EXPECT(MQInstanceToFormatName(NULL, text, &length), MQ_ERROR_INVALID_PARAMETER);
    EXPECT(MQInstanceToFormatName(&guid, text, &length), MQ_OK);
    TRUE_THAT(same(text, u"PUBLIC=11223344-5566-7788-99aa-bbccddeeff00"));
}

static void *many(void *given) {
    for (int i = 0; i < 20; i++) {
        EXPECT(send_text(given, "thread", NULL), MQ_OK);
        if (i % 5 == 0) {
            QUEUEHANDLE own;
            EXPECT(MQOpenQueue(format, MQ_PEEK_ACCESS, 0, &own), MQ_OK);
            TRUE_THAT(MQReceiveMessage(own, 0, MQ_ACTION_PEEK_CURRENT, NULL, NULL, NULL, NULL, NULL) == MQ_OK);
            EXPECT(MQCloseQueue(own), MQ_OK);
        }
    }
    return NULL;
}

static void threads_and_forks(QUEUEHANDLE queue, QUEUEHANDLE reader) {
    pthread_t all[64];
    int status = 1;
    fflush(stdout);
    for (int i = 0; i < 64; i++) pthread_create(&all[i], NULL, many, queue);
    pid_t child = fork();
    if (!child) { // a session of its own, and the handles of the parent are stale
        failed = checked = 0;
        QUEUEHANDLE own;
        EXPECT(send_text(queue, "stale", NULL), MQ_ERROR_STALE_HANDLE);
        make(path, 0, target); // the session may give each process a manager of its own
        EXPECT(MQOpenQueue(format, MQ_SEND_ACCESS, 0, &own), MQ_OK);
        EXPECT(send_text(own, "child", NULL), MQ_OK);
        EXPECT(MQCloseQueue(queue), MQ_ERROR_STALE_HANDLE);
        EXPECT(MQCloseQueue(queue), MQ_ERROR_INVALID_HANDLE);
        fflush(stdout);
        _exit(failed != 0);
    }
    for (int i = 0; i < 64; i++) pthread_join(all[i], NULL);
    waitpid(child, &status, 0);
    EXPECT(status, 0);
    int got = 0;
    while (MQReceiveMessage(reader, 0, MQ_ACTION_RECEIVE, NULL, NULL, NULL, NULL, NULL) == MQ_OK) got++;
    TRUE_THAT(got == 64 * 20 || got == 64 * 20 + 1);
}

int main(void) {
    WCHAR other[64];
    QUEUEHANDLE queue = NULL, reader = NULL;
    name(path, ".\\private$\\mqrt-", "");
    name(other, ".\\private$\\mqrt-", "-t");
    queues();
    memcpy(target, format, sizeof target);
    memcpy(target + wide(target), u";sub", 10);
    EXPECT(make(other, 1, transactional), MQ_OK);
    queue_properties();
    EXPECT(MQOpenQueue(format, MQ_SEND_ACCESS, 0, &queue), MQ_OK);
    EXPECT(MQOpenQueue(format, MQ_RECEIVE_ACCESS, 0, &reader), MQ_OK);
    sends(queue, reader);
    cursors(queue, reader);
    transactions();
    response_queues(queue, reader);
    later(queue, reader);
    management();
    directory();
    threads_and_forks(queue, reader);
    EXPECT(MQDeleteQueue(transactional), MQ_OK);
    EXPECT(MQDeleteQueue(format), MQ_OK);
    printf("%d checked, %d failed\n", checked, failed);
    return failed != 0;
}
