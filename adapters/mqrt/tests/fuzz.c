// Random property arrays, and answers with flipped bytes, under a sanitizer: `fuzz ROUNDS [SEED]`. Each buffer has just the size that
// the array says, so that a byte too many is found. What comes back is freed, so that a leak is found too.
#include "check.h"
#include "fake.h"

#include <unistd.h>

int checked, failed;
static int passed;
static const WCHAR NAME[] = u"DIRECT=OS:HOST\\private$\\q";
static uint64_t state = 1;

static uint32_t any(uint32_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % below;
}

static size_t flipped(long id, const char *method, const char *line, char *to, size_t room) {
    static const char *const messages[] = {
        "{\"body\":\"\"}", "{\"body\":\"AAAA\",\"label\":\"\\ud800\\u0000\xF0\x9F\x98\x80\",\"sender\":\"S-1-5-1-2-3-4-5-6-7-8-9-10-11-12-13-14-15\"}",
        "{\"body\":\"AA==\",\"identifier\":7,\"correlation_identifier\":\"AQ==\",\"priority\":\"x\",\"class\":-5,\"lookup_identifier\":\"18446744073709551615\"}",
        "{\"body\":\"QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWZnaGlqa2xtbm9wcXJzdHV2d3h5eg==\",\"label\":\"a label of some length\",\"extension\":\"AQIDBAUG\",\"certificate\":\"AQIDBAUG\",\"administration_queue\":\"DIRECT=OS:HOST\\\\private$\\\\admin\",\"response_queue\":\"\",\"acknowledgements\":[\"positive_arrival\",5],\"privacy\":\"enhanced\",\"authentication\":\"sig30\",\"lookup_identifier\":\"4\"}"};
    static const char *const values[] = {"{\"vt\":4127,\"value\":[\"a\",null]}",
        "{\"vt\":4108,\"value\":[{\"vt\":4115,\"value\":[0,2]},{\"vt\":4108,\"value\":[{\"vt\":31,\"value\":\"x\"}]}]}",
        "{\"vt\":1}", "{\"vt\":72,\"value\":\"db0760c6-b874-5485-9d0b-bf112870b534\"}", "{\"vt\":20,\"value\":\"-5\"}",
        "{\"vt\":65,\"value\":\"AQID\"}", "{\"vt\":4168,\"value\":[\"db0760c6-b874-5485-9d0b-bf112870b534\",\"x\"]}",
        "{\"vt\":99,\"value\":0}"};
    if (!strcmp(method, "hello")) return fake_hello(id, to, room);
    fake_message = messages[any(4)];
    size_t used = fake_usual(id, method, line, to, room);
    if (!strcmp(method, "management.get")) used = (size_t)snprintf(to, room,
        "{\"jsonrpc\":\"2.0\",\"id\":%ld,\"result\":{\"status\":0,\"values\":[%s]}}\n", id, values[any(8)]);
    if (!strcmp(method, "queues.get")) used = (size_t)snprintf(to, room,
        "{\"jsonrpc\":\"2.0\",\"id\":%ld,\"result\":{\"status\":0,\"properties\":{\"PROPID_Q_LABEL\":\"x\",\"PROPID_Q_PATHNAME\":\"\\ud800y\",\"PROPID_Q_QUOTA\":%s,\"PROPID_Q_INSTANCE\":\"%s\",\"PROPID_Q_JOURNAL\":1}}}\n", id, any(2) ? "5" : "{}", any(2) ? "db0760c6-b874-5485-9d0b-bf112870b534" : "x");
    if (any(40) == 0) to[any((uint32_t)used - 1)] ^= (char)(1 << any(8));
    if (any(200) == 0) return FAKE_HANG_UP;
    for (size_t i = 0; i + 1 < used; i++) if (to[i] == '\n')
        to[i] = ' '; // a flipped byte may be a line's end: then the rest answers later
    return used;
}

static void *owned[256];
static int owned_count;

static void *own(size_t size) {
    void *made = calloc(1, size ? size : 1);
    if (!size) { free(made); made = malloc(0); }
    return owned[owned_count++] = made;
}

static const uint16_t TYPES[] = {VT_EMPTY, VT_NULL, VT_I2, VT_I4, VT_BOOL, VT_UI1, VT_UI2, VT_UI4, VT_UI8, VT_LPWSTR, VT_CLSID,
    VT_UI1 | VT_VECTOR, VT_LPWSTR | VT_VECTOR};

// A property's own type most times, as a table of the documents has it: here, by its number.
static uint16_t type_of(PROPID id) {
    static const char kinds[] = "-2BB11114B4W444W4W44B4444144B4C44W4B44CW414B4B44W411B1W4--W48W4B4--W444----4";
    static const char queues[] = "-CCW14h4Wii141", *const known = "124B8WCB";
    char kind = id < 76 ? kinds[id] : id > 100 && id < 114 ? queues[id - 100] : known[any(8)];
    switch (kind) {
    case '1': return VT_UI1;
    case '2': return VT_UI2;
    case '4': return VT_UI4;
    case '8': return VT_UI8;
    case 'h': return VT_I2;
    case 'i': return VT_I4;
    case 'W': return VT_LPWSTR;
    case 'C': return VT_CLSID;
    case 'B': return VT_UI1 | VT_VECTOR;
    default: return TYPES[any(13)];
    }
}

static void fill(struct bag *bag, uint32_t base, uint32_t numbers) {
    uint32_t wide_room = any(5) ? any(40) : 0, count = any(12);
    memset(bag, 0, sizeof *bag);
    bag->props = (MQPROPS){0, bag->ids, bag->values, bag->statuses};
    for (uint32_t i = 0; i < count; i++) {
        PROPID id = any(30) ? base + any(numbers) : any(10000);
        MQPROPVARIANT *value = put(bag, id, any(8) ? type_of(id) : TYPES[any(13)]);
        value->uhVal = any(4) ? any(9) : any(0x7FFFFFFF);
        if (value->vt == VT_UI4) value->ulVal = any(wide_room + 1); // as a length, it says the truth
        if (value->vt == VT_CLSID) value->puuid = any(20) ? own(sizeof(GUID)) : NULL;
        if (value->vt == VT_LPWSTR) {
            value->pwszVal = any(20) ? own((wide_room + 1) * 2) : NULL;
            for (uint32_t j = 0; value->pwszVal && j < wide_room; j++) value->pwszVal[j] = (WCHAR)(any(3) ? 'a' + any(26)
                : 1 + any(0xFFFE));
        }
        if (value->vt == (VT_UI1 | VT_VECTOR)) {
            value->caub.cElems = any(3) ? 20 : any(70);
            value->caub.pElems = any(30) ? own(value->caub.cElems) : NULL;
        }
        if (value->vt == (VT_LPWSTR | VT_VECTOR)) value->uhVal = 0;
    }
    if (!any(10)) bag->props.aStatus = NULL;
    if (!any(50)) bag->props.aPropVar = NULL;
    if (!any(50)) bag->props.aPropID = NULL;
}

static void give_back(struct bag *bag, const struct bag *before) {
    for (uint32_t i = 0; i < bag->props.cProp; i++) {
        MQPROPVARIANT *value = &bag->values[i];
        if (before->values[i].vt != VT_NULL || value->vt == VT_NULL) continue;
        if (value->vt == VT_LPWSTR || value->vt == VT_CLSID) MQFreeMemory(value->ptr);
        if (value->vt & VT_VECTOR || value->vt == VT_BLOB) {
            for (uint32_t j = 0; j < value->caub.cElems && value->vt == (VT_LPWSTR | VT_VECTOR); j++)
                MQFreeMemory(value->calpwstr.pElems[j]);
            if (value->vt == (VT_VARIANT | VT_VECTOR)) {
                struct bag inner = {0}, nothing = {0};
                inner.props.cProp = value->capropvar.cElems;
                memcpy(inner.values, value->capropvar.pElems, value->capropvar.cElems * sizeof *inner.values);
                for (int j = 0; j < 80; j++) nothing.values[j].vt = VT_NULL;
                give_back(&inner, &nothing);
            }
            MQFreeMemory(value->caub.pElems);
        }
    }
}

static void round_of(QUEUEHANDLE *queue, QUEUEHANDLE *cursor) {
    struct bag bag, before;
    WCHAR name[64];
    DWORD length = any(64), what = any(10);
    ITransaction *t = NULL;
    OVERLAPPED overlapped = {0};
    static const WCHAR *const objects[] = {u"MACHINE", u"QUEUE=x", u"QUEUE=", u"machine", u"", u"QUEUE"};
    if (any(6) == 0 && MQBeginTransaction(&t) < 0) t = NULL;
    if (what < 5) fill(&bag, 1, 75);
    else fill(&bag, what == 8 ? 0 : what == 9 ? 201 : 101, what == 8 ? 28 : 26);
    before = bag;
    HRESULT status = 0;
    if (what < 2) status = MQSendMessage(*queue, &bag.props, any(4) ? t : (ITransaction *)(uintptr_t)any(4));
    else if (what < 4) status = MQReceiveMessage(*queue, any(5), any(3) ? 0 : 0x80000000u + any(2), any(20) ? &bag.props : NULL,
        NULL, NULL, any(2) ? *cursor : NULL, t);
    else if (what == 4) status = MQReceiveMessageByLookupId(*queue, any(3), 0x40000000u + any(0x40), &bag.props, any(5) ? NULL
        : &overlapped, NULL, t);
    else if (what == 5) status = MQCreateQueue(NULL, &bag.props, name, &length);
    else if (what == 6) status = MQSetQueueProperties(any(9) ? NAME : u"", &bag.props);
    else if (what == 7) status = MQGetQueueProperties(NAME, &bag.props);
    else if (what == 8) {
        for (uint32_t i = 0; i < bag.props.cProp && any(20); i++) bag.values[i].vt = before.values[i].vt = VT_NULL;
        if (any(4)) bag.props.cProp = bag.props.cProp ? 1 : 0;
        status = MQMgmtGetInfo(NULL, objects[any(6)], &bag.props);
    } else status = any(2) ? MQGetMachineProperties(NULL, NULL, &bag.props) : MQGetPrivateComputerInformation(NULL, &bag.props);
    checked++;
    passed += status >= 0;
    while (what == 4 && status == MQ_INFORMATION_OPERATION_PENDING
        && MQGetOverlappedResult(&overlapped) == MQ_INFORMATION_OPERATION_PENDING) usleep(100);
    while (what == 4 && status >= 0 && overlapped.Internal == 0x103) usleep(100);
    if (what >= 7) give_back(&bag, &before);
    if (t) t->lpVtbl->Release(t);
    if (status == MQ_ERROR_STALE_HANDLE || status == MQ_ERROR_INVALID_HANDLE || status == MQ_ERROR_SERVICE_NOT_AVAILABLE
        || any(500) == 0) {
        MQCloseQueue(*queue);
        if (MQOpenQueue(NAME, MQ_RECEIVE_ACCESS, 0, queue) < 0 || MQCreateCursor(*queue, cursor) < 0) *cursor = NULL;
    }
    while (owned_count) free(owned[--owned_count]);
}

int main(int count, char **given) {
    char path[64];
    QUEUEHANDLE queue = NULL, cursor = NULL;
    int rounds = count > 1 ? atoi(given[1]) : 1000;
    state = count > 2 ? strtoull(given[2], NULL, 10) : 1;
    snprintf(path, sizeof path, "/tmp/mqrt-fuzz-%d", (int)getpid());
    fake_start(path, flipped);
    MQOpenQueue(NAME, MQ_RECEIVE_ACCESS, 0, &queue);
    for (int i = 0; i < rounds; i++) round_of(&queue, &cursor);
    unlink(path);
    printf("%d rounds, %d of them passed, no crash\n", checked, passed);
    return 0;
}
