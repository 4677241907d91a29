// A session that lies, dies, or is not there: each call answers with a code, and the next one works again.
#include "check.h"
#include "fake.h"

#include <pthread.h>
#include <unistd.h>

int checked, failed;
static const WCHAR NAME[] = u"DIRECT=OS:HOST\\private$\\q";
static const char *_Atomic lie; // the line for the next request but hello; %ld is its id
static _Atomic int greeting, count_down = -1, silent;
enum { DEEP = 1, LARGE, TWICE };
static _Atomic int special;

static size_t lies(long id, const char *method, const char *line, char *to, size_t room) {
    if (!strcmp(method, "hello") && greeting) {
        static const char *const bad[] = {"", "nonsense\n", "{\"jsonrpc\":\"2.0\",\"id\":%ld,\"result\":{\"status\":0}}\n",
            "{\"jsonrpc\":\"2.0\",\"id\":%ld,\"result\":{\"status\":0,\"protocol\":\"9.9\",\"computer\":\"H\",\"queue_manager\":\"db0760c6-b874-5485-9d0b-bf112870b534\",\"facets\":{}}}\n", "{\"jsonrpc\":\"2.0\",\"id\":%ld,\"error\":{\"code\":-32001,\"message\":\"no\"}}\n"};
        return greeting == 1 ? FAKE_HANG_UP : (size_t)snprintf(to, room, bad[greeting - 1], id);
    }
    if (strcmp(method, "hello") && count_down >= 0 && count_down-- == 0) {
        count_down = 300;
        return FAKE_HANG_UP;
    }
    if (silent && !strncmp(method, "messages.", 9)) return silent == 2 ? (size_t)snprintf(to, room,
        "{\"jsonrpc\":\"2.0\",\"method\":\"pending\",\"params\":{\"id\":%ld}}\n", id) : 0;
    size_t used = fake_usual(id, method, line, to, room);
    if (strcmp(method, "hello") && (lie || special)) {
        const char *text = lie;
        lie = NULL;
        if (text) return !*text ? FAKE_HANG_UP : (size_t)snprintf(to, room, text, id);
        int what = special;
        special = 0;
        size_t depth = what == DEEP ? 100000 : what == LARGE ? 9 << 20 : 0;
        if (depth) { memset(to, what == DEEP ? '[' : ' ', depth); to[depth] = '\n'; return depth + 1; }
        if (what == TWICE) { memcpy(to + used, to, used); return used * 2; }
    }
    return used;
}

#define ANSWER(result) "{\"jsonrpc\":\"2.0\",\"id\":%ld,\"result\":" result "}\n"
static const struct { const char *line; HRESULT status; } LIES[] = {
    {"", MQ_ERROR_SERVICE_NOT_AVAILABLE},
    {"nonsense\n", MQ_ERROR_SERVICE_NOT_AVAILABLE},
    {"\n", MQ_ERROR_SERVICE_NOT_AVAILABLE},
    {"[]\n", MQ_ERROR_SERVICE_NOT_AVAILABLE},
    {"{\"id\":%ld}\n", MQ_ERROR_SERVICE_NOT_AVAILABLE},
    {"{\"jsonrpc\":\"2.0\",\"id\":\"%ld\",\"result\":{\"status\":0}}\n", MQ_ERROR_SERVICE_NOT_AVAILABLE},
    {"{\"jsonrpc\":\"2.0\",\"id\":1%ld,\"result\":{\"status\":0}}\n", MQ_ERROR_SERVICE_NOT_AVAILABLE},
    {"{\"jsonrpc\":\"2.0\",\"id\":%ld,\"result\":{\"status\":0},\"more\":1}\n", MQ_ERROR_SERVICE_NOT_AVAILABLE},
    {"{\"jsonrpc\":\"2.0\",\"id\":%ld,\"id\":1,\"result\":{\"status\":0}}\n", MQ_ERROR_SERVICE_NOT_AVAILABLE},
    {"{\"jsonrpc\":\"2.0\",\"id\":%ld,\"result\":{\"status\":0,\"status\":0}}\n", MQ_ERROR_SERVICE_NOT_AVAILABLE},
    {"{\"jsonrpc\":\"2.0\",\"id\":%ld,\"result\":[]}\n", MQ_ERROR_SERVICE_NOT_AVAILABLE},
    {"{\"jsonrpc\":\"2.0\",\"method\":7,\"id\":%ld}\n", MQ_ERROR_SERVICE_NOT_AVAILABLE},
    {"{\"jsonrpc\":\"2.0\",\"id\":%ld,\"result\":{\"status\":NaN}}\n", MQ_ERROR_SERVICE_NOT_AVAILABLE},
    {"{\"jsonrpc\":\"2.0\",\"id\":%ld,\"result\":{\"status\":0,\"x\":\"\x01\"}}\n", MQ_ERROR_SERVICE_NOT_AVAILABLE},
    {"{\"jsonrpc\":\"2.0\",\"id\":%ld,\"result\":{\"status\":0,\"x\":\"\xC0\x80\"}}\n", MQ_ERROR_SERVICE_NOT_AVAILABLE},
    {"{\"jsonrpc\":\"2.0\",\"id\":%ld,\"result\":{\"status\":0,\"x\":\"\\ud80\"}}\n", MQ_ERROR_SERVICE_NOT_AVAILABLE},
    {"{\"jsonrpc\":\"2.0\",\"id\":%ld,\"result\":{\"status\":01}}\n", MQ_ERROR_SERVICE_NOT_AVAILABLE},
    {ANSWER("{}"), MQ_ERROR_SERVICE_NOT_AVAILABLE},
    {ANSWER("{\"status\":\"0\"}"), MQ_ERROR_SERVICE_NOT_AVAILABLE},
    {ANSWER("{\"status\":-1}"), MQ_ERROR_SERVICE_NOT_AVAILABLE},
    {ANSWER("{\"status\":4294967296}"), MQ_ERROR_SERVICE_NOT_AVAILABLE},
    {ANSWER("{\"status\":1.5}"), MQ_ERROR_SERVICE_NOT_AVAILABLE},
    {ANSWER("{\"status\":0}"), MQ_ERROR_SERVICE_NOT_AVAILABLE}, // no message
    {ANSWER("{\"status\":0,\"message\":7}"), MQ_ERROR_SERVICE_NOT_AVAILABLE},
    {ANSWER("{\"status\":0,\"message\":{\"label\":\"x\"}}"), MQ_ERROR_SERVICE_NOT_AVAILABLE},
    {ANSWER("{\"status\":0,\"message\":{\"body\":\"x\"}}"), MQ_ERROR_SERVICE_NOT_AVAILABLE},
    {ANSWER("{\"status\":0,\"message\":{\"body\":\"****\"}}"), MQ_ERROR_SERVICE_NOT_AVAILABLE},
    {ANSWER("{\"status\":0,\"message\":{\"body\":17}}"), MQ_ERROR_SERVICE_NOT_AVAILABLE},
    {ANSWER("{\"status\":null}"), MQ_ERROR_SERVICE_NOT_AVAILABLE},
    {ANSWER("{\"status\":null,\"failure\":{\"kind\":\"Error\",\"text\":\"\"}}"), MQ_ERROR},
    {ANSWER("{\"status\":null,\"failure\":{\"kind\":\"NotExpressible\",\"text\":\"\"}}"), MQ_ERROR_UNSUPPORTED_OPERATION},
    {ANSWER("{\"status\":3222142983}"), MQ_ERROR_INVALID_HANDLE},
    {"{\"jsonrpc\":\"2.0\",\"id\":%ld,\"error\":{\"code\":-32601,\"message\":\"\"}}\n", MQ_ERROR},
    {ANSWER("{\"status\":0,\"message\":{\"body\":\"\",\"label\":5,\"sender\":\"S-1-999999999999999999\",\"lookup_identifier\":\"x\",\"identifier\":[],\"acknowledgements\":{}}}"), MQ_OK},
};

static HRESULT receive(QUEUEHANDLE queue) { // a PLAIN one: its buffers are as large as any message
    static _Thread_local uint8_t body[4000000];
    struct bag bag = {0};
    WCHAR label[250];
    uint8_t sender[68], id[20];
    put_bytes(&bag, PROPID_M_BODY, body, sizeof body);
    put_text(&bag, PROPID_M_LABEL, label);
    put_number(&bag, PROPID_M_LABEL_LEN, VT_UI4, 250);
    put_bytes(&bag, PROPID_M_SENDERID, sender, 68);
    put_bytes(&bag, PROPID_M_MSGID, id, 20);
    put(&bag, PROPID_M_LOOKUPID, VT_UI8);
    put(&bag, PROPID_M_ACKNOWLEDGE, VT_UI1);
    return MQReceiveMessage(queue, 0, MQ_ACTION_RECEIVE, &bag.props, NULL, NULL, NULL, NULL);
}

static QUEUEHANDLE opened(void) {
    QUEUEHANDLE queue;
    EXPECT(MQOpenQueue(NAME, MQ_RECEIVE_ACCESS, 0, &queue), MQ_OK);
    return queue;
}

static void no_session(void) {
    struct bag bag = {0};
    WCHAR text[64];
    DWORD length = 64;
    QUEUEHANDLE queue;
    ITransaction *t;
    put(&bag, PROPID_Q_PATHNAME, VT_NULL);
    EXPECT(MQOpenQueue(NAME, MQ_SEND_ACCESS, 0, &queue), MQ_ERROR_SERVICE_NOT_AVAILABLE);
    EXPECT(MQDeleteQueue(NAME), MQ_ERROR_SERVICE_NOT_AVAILABLE);
    EXPECT(MQGetQueueProperties(NAME, &bag.props), MQ_ERROR_SERVICE_NOT_AVAILABLE);
    EXPECT(MQPathNameToFormatName(u".\\private$\\q", text, &length), MQ_ERROR_SERVICE_NOT_AVAILABLE);
    EXPECT(MQBeginTransaction(&t), MQ_ERROR_SERVICE_NOT_AVAILABLE);
    EXPECT(MQMgmtGetInfo(NULL, u"MACHINE", &bag.props), MQ_ERROR_SERVICE_NOT_AVAILABLE);
    EXPECT(MQMgmtAction(NULL, u"MACHINE", u"CONNECT"), MQ_ERROR_SERVICE_NOT_AVAILABLE);
    EXPECT(MQGetQueueSecurity(NAME, 1, NULL, 0, &length), MQ_ERROR_SERVICE_NOT_AVAILABLE);
    EXPECT(MQADsPathToFormatName(u"x", text, &length), MQ_ERROR_SERVICE_NOT_AVAILABLE);
    EXPECT(MQGetMachineProperties(NULL, NULL, &bag.props), MQ_ERROR_SERVICE_NOT_AVAILABLE);
    EXPECT(MQGetPrivateComputerInformation(NULL, &bag.props), MQ_ERROR_SERVICE_NOT_AVAILABLE);
    EXPECT(MQRegisterCertificate(1, NULL, 0), MQ_ERROR_SERVICE_NOT_AVAILABLE);
    bag.values[0] = (MQPROPVARIANT){.vt = VT_LPWSTR, .pwszVal = (WCHAR *)(uintptr_t)u".\\private$\\q"};
    EXPECT(MQCreateQueue(NULL, &bag.props, text, &length), MQ_ERROR_SERVICE_NOT_AVAILABLE);
    bag.ids[0] = PROPID_Q_LABEL;
    EXPECT(MQSetQueueProperties(NAME, &bag.props), MQ_ERROR_SERVICE_NOT_AVAILABLE);
}

static _Atomic int heard_count;
static _Atomic HRESULT heard_status;
static void heard(HRESULT status, QUEUEHANDLE queue, DWORD timeout, DWORD action, MQMSGPROPS *props, OVERLAPPED *overlapped,
    HANDLE cursor) {
    (void)queue; (void)timeout; (void)action; (void)props; (void)overlapped; (void)cursor;
    heard_status = status;
    heard_count++;
}

static void wait_heard(int times) {
    for (int i = 0; i < 1000 && heard_count < times; i++) usleep(10000);
    EXPECT(heard_count, times);
}

static void *storm(void *none) {
    (void)none;
    for (int i = 0; i < 200; i++) {
        QUEUEHANDLE queue;
        HRESULT status = MQOpenQueue(NAME, MQ_RECEIVE_ACCESS, 0, &queue);
        if (status < 0) continue;
        ITransaction *t = NULL;
        receive(queue);
        if (i % 7 == 0) MQReceiveMessage(queue, 1000, MQ_ACTION_RECEIVE, NULL, NULL, heard, NULL, NULL);
        if (i % 3 == 0 && MQBeginTransaction(&t) >= 0) t->lpVtbl->Release(t);
        MQCloseQueue(queue);
    }
    return NULL;
}

static void directory(void) {
    PROPID ids[4] = {PROPID_Q_PATHNAME, PROPID_Q_INSTANCE, PROPID_Q_PRIV_LEVEL, PROPID_Q_JOURNAL};
    MQCOLUMNSET columns = {4, ids};
    MQSORTKEY key = {PROPID_Q_PATHNAME, 1};
    MQSORTSET sort = {1, &key};
    MQPROPERTYRESTRICTION one[2] = {{4, PROPID_Q_LABEL, {.vt = VT_LPWSTR, .pwszVal = (WCHAR *)(uintptr_t)u"x"}}, {5,
        PROPID_Q_PRIV_LEVEL, {.vt = VT_UI4, .ulVal = 2}}};
    MQRESTRICTION restriction = {2, one};
    MQPROPVARIANT values[9];
    HANDLE locator;
    DWORD count = 3, seen = 0;
    EXPECT(MQLocateBegin(NULL, &restriction, &columns, &sort, &locator), MQ_OK);
    EXPECT(MQLocateNext(locator, &count, values), MQ_ERROR_RESULT_BUFFER_TOO_SMALL);
    for (count = 9; MQLocateNext(locator, &count, values) == MQ_OK && count && seen < 100; seen += count, count = 9)
        for (DWORD i = 0; i < count; i += 4) {
            TRUE_THAT(same(values[i].pwszVal, u"HOST\\q") && values[i + 2].ulVal == 2 && values[i + 3].bVal == 1);
            MQFreeMemory(values[i].pwszVal);
            MQFreeMemory(values[i + 1].puuid);
        }
    TRUE_THAT(count == 0 && seen % 4 == 0);
    EXPECT(MQLocateEnd(locator), MQ_OK);
    EXPECT(MQLocateEnd(locator), MQ_ERROR_INVALID_HANDLE);
    lie = ANSWER("{\"status\":0,\"result\":\"GenericError\"}");
    EXPECT(MQLocateBegin(NULL, NULL, &columns, NULL, &locator), MQ_ERROR_DS_ERROR);
    lie = ANSWER("{\"status\":0,\"result\":\"ObjectNotFound\"}");
    EXPECT(MQLocateBegin(NULL, NULL, &columns, NULL, &locator), MQ_OK);
    EXPECT(MQLocateNext(locator, &count, values), MQ_ERROR_RESULT_BUFFER_TOO_SMALL);
    count = 4;
    EXPECT(MQLocateNext(locator, &count, values), MQ_OK);
    EXPECT(count, 0);
    EXPECT(MQLocateEnd(locator), MQ_OK);
    one[0].rel = 6;
    EXPECT(MQLocateBegin(NULL, &restriction, &columns, &sort, &locator), MQ_ERROR_ILLEGAL_RELATION);
    one[0].rel = 0;
    one[0].prop = 7;
    EXPECT(MQLocateBegin(NULL, &restriction, &columns, &sort, &locator), MQ_ERROR_ILLEGAL_RESTRICTION_PROPID);
    key.propColumn = PROPID_Q_LABEL;
    EXPECT(MQLocateBegin(NULL, NULL, &columns, &sort, &locator), MQ_ERROR_ILLEGAL_SORT_PROPID);
    ids[0] = 7;
    EXPECT(MQLocateBegin(NULL, NULL, &columns, NULL, &locator), MQ_ERROR_ILLEGAL_PROPID);
}

int main(void) {
    char path[64];
    unsetenv("MQCONFORM_MQRT");
    no_session();
    setenv("MQCONFORM_MQRT", "/nowhere/at/all", 1);
    no_session();
    setenv("MQCONFORM_MQRT", "127.0.0.1:1", 1);
    no_session();
    snprintf(path, sizeof path, "/tmp/mqrt-hostile-%d", (int)getpid());
    fake_start(path, lies);
    for (greeting = 1; greeting <= 5; greeting++) no_session();
    greeting = 0;
    for (size_t i = 0; i < sizeof LIES / sizeof *LIES; i++) {
        QUEUEHANDLE queue = opened();
        lie = LIES[i].line;
        HRESULT status = receive(queue);
        checked++;
        if (status != LIES[i].status) { failed++; printf("the lie %zu: 0x%08X: %s", i, (unsigned)status, LIES[i].line); }
        status = receive(queue);
        expect(status == MQ_OK || status == MQ_ERROR_STALE_HANDLE, 1, "the receive behind it", LIES[i].line, (int)i);
        TRUE_THAT(MQCloseQueue(queue) != MQ_ERROR_INVALID_HANDLE);
        EXPECT(MQCloseQueue(queue), MQ_ERROR_INVALID_HANDLE);
    }
    for (int what = DEEP; what <= TWICE; what++) {
        QUEUEHANDLE queue = opened();
        special = what;
        EXPECT(receive(queue), what == TWICE ? MQ_OK : MQ_ERROR_SERVICE_NOT_AVAILABLE);
        EXPECT(MQOpenQueue(NAME, MQ_RECEIVE_ACCESS, 0, &queue) == MQ_OK || what == TWICE, 1);
        opened();
    }
    silent = 1; // neither an answer nor `pending`
    QUEUEHANDLE queue = opened();
    OVERLAPPED overlapped = {0};
    EXPECT(MQReceiveMessage(queue, 9, MQ_ACTION_RECEIVE, NULL, &overlapped, heard, NULL, NULL), MQ_INFORMATION_OPERATION_PENDING);
    silent = 2;
    EXPECT(MQReceiveMessage(queue, 9, MQ_ACTION_PEEK_CURRENT, NULL, NULL, heard, NULL, NULL), MQ_INFORMATION_OPERATION_PENDING);
    silent = 0;
    lie = ""; // the session dies while both wait
    EXPECT(MQDeleteQueue(NAME), MQ_ERROR_SERVICE_NOT_AVAILABLE);
    wait_heard(2);
    EXPECT(heard_status, MQ_ERROR_SERVICE_NOT_AVAILABLE);
    EXPECT(MQGetOverlappedResult(&overlapped), MQ_ERROR_SERVICE_NOT_AVAILABLE);
    ITransaction *t;
    EXPECT(MQBeginTransaction(&t), MQ_OK);
    lie = "";
    EXPECT(t->lpVtbl->Commit(t, 0, 0, 0), MQ_ERROR_SERVICE_NOT_AVAILABLE);
    queue = opened();
    EXPECT(MQMoveMessage(queue, queue, 1, t), MQ_ERROR_STALE_HANDLE);
    EXPECT(t->lpVtbl->Release(t), 0);

    directory();
    count_down = 50; // now and then the session dies, with 64 threads in it
    pthread_t all[64];
    for (int i = 0; i < 64; i++) pthread_create(&all[i], NULL, storm, NULL);
    for (int i = 0; i < 64; i++) pthread_join(all[i], NULL);
    count_down = -1;
    opened();
    unlink(path);
    printf("%d checked, %d failed\n", checked, failed);
    return failed != 0;
}
