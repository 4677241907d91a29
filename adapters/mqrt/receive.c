// Receiving and peeking, at once or later. A message whose buffers are too small stays in its queue: where that can happen, a
// receive has two steps, either both phases of a two-phase read, or a peek and then a receive of what it saw.
#include "internal.h"

#include <stdlib.h>
#include <string.h>

enum { LABEL_UNITS = 250, NAME_UNITS = 1024, LIST_UNITS = 32768, SENDER_BYTES = 68, CERTIFICATE_BYTES = 65536, PENDING = 0x103 };
#define VECTOR (VT_UI1 | VT_VECTOR)
enum plan { PLAIN, TWO_PHASE, LOOK_FIRST };

struct read {
    struct waiter waiter; // first: the background hands it back
    enum plan plan;
    uint32_t generation;
    char queue[256], cursor[256], transaction[256];
    DWORD timeout, action;
    uint64_t lookup_id;
    bool by_id, again, taken; // again: somebody else took what was seen. taken: only the caller has to learn of the message
    int64_t began;
    MQMSGPROPS *props;
    OVERLAPPED *overlapped;
    PMQRECEIVECALLBACK callback;
    HANDLE hqueue, hcursor;
    HRESULT warning, result;
    DWORD body;
};

static void (*on_completion)(OVERLAPPED *);

EXPORT void mqrt_on_completion(void (*completion)(OVERLAPPED *)) { __atomic_store_n(&on_completion, completion, __ATOMIC_RELEASE); }

// --- the properties of a message that came ---

// Where the value of a text or of bytes comes from.
static const struct json *source(const struct answer *a, const struct json *message, PROPID id) {
    switch (id) {
    case PROPID_M_BODY: return json_member(a, message, "body");
    case PROPID_M_LABEL: return json_member(a, message, "label");
    case PROPID_M_EXTENSION: return json_member(a, message, "extension");
    case PROPID_M_SENDER_CERT: return json_member(a, message, "certificate");
    case PROPID_M_RESP_QUEUE: case PROPID_M_RESP_FORMAT_NAME: return json_member(a, message, "response_queue");
    case PROPID_M_ADMIN_QUEUE: return json_member(a, message, "administration_queue");
    default: return NULL;
    }
}

// The text of a SID as its bytes, of which there are at most 68; 0: it is none.
static size_t sender(const struct json *text, uint8_t bytes[SENDER_BYTES]) {
    uint64_t parts[17] = {0};
    int count = 0;
    if (!text || text->kind != JSON_TEXT || text->length < 6 || memcmp(text->text, "S-1-", 4)) return 0;
    for (uint32_t i = 4; i < text->length; i++) {
        unsigned digit = (unsigned)text->text[i] - '0';
        if (text->text[i] == '-') count++;
        else if (digit > 9 || (parts[count] = parts[count] * 10 + digit) >> 48) return 0;
        if (count > 15) return 0;
    }
    bytes[0] = 1;
    bytes[1] = (uint8_t)count;
    for (int i = 0; i < 6; i++) bytes[2 + i] = (uint8_t)(parts[0] >> (40 - 8 * i));
    for (int i = 0; i < count; i++) for (int j = 0; j < 4; j++) bytes[8 + 4 * i + j] = (uint8_t)(parts[1 + i] >> (8 * j));
    return 8 + 4 * (size_t)count;
}

static DWORD name_units(const struct read *read, WCHAR *into, DWORD room) {
    DWORD units = room;
    HRESULT status = handle_name(read->waiter.queue, into, &units);
    return status == MQ_ERROR_INVALID_HANDLE ? 0 : units;
}

static bool of_destination(PROPID id) { return id == PROPID_M_DEST_QUEUE || id == PROPID_M_DEST_FORMAT_NAME; }

// What a text or bytes need: WCHARs with the NUL, or bytes. 0: the message has none.
static uint32_t need(const struct read *read, const struct answer *a, const struct json *message, PROPID id) {
    uint8_t bytes[SENDER_BYTES];
    const struct json *value = source(a, message, id);
    if (id == PROPID_M_SENDERID) return (uint32_t)sender(json_member(a, message, "sender"), bytes);
    if (of_destination(id)) return name_units(read, NULL, 0);
    if (message_property(id)->vt == VECTOR) return (uint32_t)json_byte_count(value);
    return value || id == PROPID_M_LABEL ? (uint32_t)json_units(value, NULL, 0) + 1 : 0;
}

static uint32_t room(const MQMSGPROPS *props, uint32_t at) {
    const struct property *known = message_property(props->aPropID[at]);
    if (known->vt == VECTOR) return props->aPropVar[at].caub.cElems;
    int length = props_find(props, known->length);
    return length < 0 ? 0 : props->aPropVar[length].ulVal;
}

static int64_t bits(const struct answer *a, const struct json *message) {
    static const char *const names[] = {"positive_arrival", "positive_receive", "negative_arrival", "negative_receive"};
    int64_t found = 0;
    for (const struct json *item = json_first(a, json_member(a, message, "acknowledgements")); item; item = json_next(a, item))
        for (int i = 0; i < 4; i++) if (json_is(item, names[i])) found |= 1 << i;
    return found;
}

static int64_t place(const struct json *text, const char *const *words, const int *numbers) {
    for (int i = 0; words[i]; i++) if (json_is(text, words[i])) return numbers[i];
    return 0;
}

// The number of a property that is one. Where the message does not show it: what a message has that was sent without it.
static int64_t scalar(const struct answer *a, const struct json *m, PROPID id) {
    static const char *const signatures[] = {"sig10", "sig20", "sig30", NULL}, *const privacies[] = {"base", "enhanced", NULL};
    static const int signature_numbers[] = {1, 3, 5}, privacy_numbers[] = {1, 3};
    switch (id) {
    case PROPID_M_CLASS: return json_integer(json_member(a, m, "class"), 0);
    case PROPID_M_PRIORITY: return json_integer(json_member(a, m, "priority"), 3);
    case PROPID_M_DELIVERY: return json_is(json_member(a, m, "delivery"), "recoverable");
    case PROPID_M_ACKNOWLEDGE: return bits(a, m);
    case PROPID_M_JOURNAL:
        return json_integer(json_member(a, m, "negative_journaling"), 0)
            | json_integer(json_member(a, m, "positive_journaling"), 0) << 1;
    case PROPID_M_APPSPECIFIC: return json_integer(json_member(a, m, "application_tag"), 0);
    case PROPID_M_TIME_TO_REACH_QUEUE: return json_integer(json_member(a, m, "time_to_reach_queue"), UINT32_MAX);
    case PROPID_M_TIME_TO_BE_RECEIVED: return json_integer(json_member(a, m, "time_to_be_received"), UINT32_MAX);
    case PROPID_M_VERSION: return 0x10;
    case PROPID_M_SENDERID_TYPE: return json_member(a, m, "sender") != NULL;
    case PROPID_M_PRIV_LEVEL: return place(json_member(a, m, "privacy"), privacies, privacy_numbers);
    case PROPID_M_AUTHENTICATED: return place(json_member(a, m, "authentication"), signatures, signature_numbers) != 0;
    case PROPID_M_AUTHENTICATED_EX: return place(json_member(a, m, "authentication"), signatures, signature_numbers);
    case PROPID_M_HASH_ALG: return 0x800E;       // SHA-512, the default of today
    case PROPID_M_ENCRYPTION_ALG: return 0x6602; // RC2, the default
    case PROPID_M_SENTTIME: return json_integer(json_member(a, m, "sent_time"), 0);
    case PROPID_M_ARRIVEDTIME: return json_integer(json_member(a, m, "arrival_time"), 0);
    case PROPID_M_TRACE: return json_integer(json_member(a, m, "trace"), 0);
    case PROPID_M_BODY_TYPE: return json_integer(json_member(a, m, "body_type"), 0);
    case PROPID_M_PROV_TYPE: return 1;
    case PROPID_M_FIRST_IN_XACT: return json_integer(json_member(a, m, "first_in_transaction"), 0);
    case PROPID_M_LAST_IN_XACT: return json_integer(json_member(a, m, "last_in_transaction"), 0);
    case PROPID_M_LOOKUPID: return json_integer(json_member(a, m, "lookup_identifier"), 0);
    default: return 0;
    }
}

static PROPID measured(PROPID length) { // the property whose length it is
    for (PROPID id = 1; id <= PROPID_M_LAST_MOVE_TIME; id++) {
        const struct property *known = message_property(id);
        if (known && known->length == length) return id;
    }
    return 0;
}

static void give_identifier(const struct answer *a, const struct json *m, PROPID id, uint8_t into[20]) {
    const struct json *identifier = json_member(a, m, "identifier"), *correlation = json_member(a, m, "correlation_identifier");
    size_t size;
    GUID source;
    memset(into, 0, 20);
    if (id == PROPID_M_CORRELATIONID) json_bytes(correlation, into, 20, &size);
    if (id != PROPID_M_MSGID || !json_guid(json_member(a, identifier, "source"), &source)) return;
    uint32_t ordinal = (uint32_t)json_integer(json_member(a, identifier, "ordinal"), 0);
    memcpy(into, &source, 16);
    memcpy(into + 16, &ordinal, 4);
}

// One property; its buffer is large enough. False: the session's value is nonsense.
static bool give(const struct read *read, const struct answer *a, const struct json *m, uint32_t at) {
    const struct property *known = message_property(read->props->aPropID[at]);
    MQPROPVARIANT *into = &read->props->aPropVar[at];
    uint8_t bytes[SENDER_BYTES];
    size_t size;
    if (known->vt == VT_CLSID) {
        memset(into->puuid, 0, sizeof(GUID));
        if (known->id == PROPID_M_SRC_MACHINE_ID) json_guid(json_member(a, json_member(a, m, "identifier"), "source"), into->puuid);
    } else if (known->vt == VECTOR && !known->length) give_identifier(a, m, known->id, into->caub.pElems);
    else if (known->id == PROPID_M_SENDERID) {
        size = sender(json_member(a, m, "sender"), bytes);
        if (size) memcpy(into->caub.pElems, bytes, size);
    } else if (known->vt == VECTOR) {
        const struct json *value = source(a, m, known->id);
        return !value || json_bytes(value, into->caub.pElems, into->caub.cElems, &size);
    } else if (known->vt == VT_LPWSTR) {
        uint32_t units = need(read, a, m, known->id), wide = room(read->props, at);
        if (units && of_destination(known->id)) name_units(read, into->pwszVal, wide);
        else if (units && units <= wide) {
            json_units(source(a, m, known->id), into->pwszVal, units - 1);
            into->pwszVal[units - 1] = 0;
        } else if (wide) into->pwszVal[0] = 0;
    } else if (!measured(known->id)) {
        into->uhVal = (uint64_t)scalar(a, m, known->id);
        if (known->vt != VT_UI8) into->uhVal &= known->vt == VT_UI4 ? UINT32_MAX : known->vt == VT_UI2 ? UINT16_MAX : UINT8_MAX;
        into->vt = known->vt;
    }
    return true;
}

// Whether each buffer is large enough. The lengths needed are not told yet: they stand where the rooms stand.
static HRESULT fits(const struct read *read, const struct answer *a, const struct json *m) {
    const MQMSGPROPS *props = read->props;
    HRESULT status = MQ_OK;
    for (uint32_t i = 0; props && i < props->cProp; i++) {
        const struct property *known = message_property(props->aPropID[i]);
        if (!known || !known->length || props_repeated(props, i) || need(read, a, m, known->id) <= room(props, i)) continue;
        if (!status || known->id == PROPID_M_BODY) status = known->small;
    }
    return status;
}

static void give_lengths(struct read *read, const struct answer *a, const struct json *m) {
    const MQMSGPROPS *props = read->props;
    read->body = (DWORD)json_byte_count(json_member(a, m, "body"));
    for (uint32_t i = 0; props && i < props->cProp; i++) {
        PROPID of = message_property(props->aPropID[i]) ? measured(props->aPropID[i]) : 0;
        if (!of || props_repeated(props, i)) continue;
        uint32_t needed = need(read, a, m, of);
        props->aPropVar[i] = (MQPROPVARIANT){.vt = VT_UI4, .ulVal = needed};
    }
}

// All of a message, or as much of the body as its buffer has room for, and the lengths.
static HRESULT give_all(struct read *read, const struct answer *a, const struct json *m, HRESULT too_small) {
    const MQMSGPROPS *props = read->props;
    bool good = json_member(a, m, "body") != NULL;
    for (uint32_t i = 0; props && i < props->cProp && good; i++) {
        const struct property *known = message_property(props->aPropID[i]);
        if (!known || props_repeated(props, i) || (too_small && known->id != PROPID_M_BODY)) continue;
        good = give(read, a, m, i);
    }
    if (good) give_lengths(read, a, m);
    return good ? too_small : session_nonsense();
}

// Types and buffers, before anything is asked. roomy: no message is too large for them.
static HRESULT check(const MQMSGPROPS *props, uint64_t most, bool *roomy) {
    HRESULT statuses[MOST_PROPERTIES] = {0};
    *roomy = true;
    if (!props || !props->cProp) return MQ_OK;
    HRESULT status = props_check(props, MQ_ERROR_INVALID_PARAMETER);
    if (FAILED(status)) return status;
    for (uint32_t i = 0; i < props->cProp; i++) {
        const struct property *known = message_property(props->aPropID[i]);
        const MQPROPVARIANT *value = &props->aPropVar[i];
        int length = known && known->length ? props_find(props, known->length) : -1;
        bool buffer = known && (known->vt == VECTOR || known->vt == VT_LPWSTR || known->vt == VT_CLSID);
        if (!known) statuses[i] = MQ_INFORMATION_UNSUPPORTED_PROPERTY;
        else if (props_repeated(props, i)) statuses[i] = MQ_INFORMATION_DUPLICATE_PROPERTY;
        else if (value->vt != known->vt && (buffer || (value->vt != VT_NULL && value->vt != VT_EMPTY)))
            statuses[i] = MQ_ERROR_ILLEGAL_PROPERTY_VT;
        else if (known->vt == VT_LPWSTR && length < 0) statuses[i] = MQ_ERROR_INSUFFICIENT_PROPERTIES;
        else if (known->vt == VECTOR && !known->length && value->caub.cElems != 20) statuses[i] = MQ_ERROR_ILLEGAL_PROPERTY_SIZE;
        else if (known->vt == VECTOR ? value->caub.cElems && !value->caub.pElems : buffer && !value->ptr
            && (known->vt == VT_CLSID || room(props, i))) statuses[i] = MQ_ERROR_ILLEGAL_PROPERTY_VALUE;
        else if (known->length) {
            uint64_t limit = known->id == PROPID_M_LABEL ? LABEL_UNITS : known->id == PROPID_M_SENDERID ? SENDER_BYTES
                : known->id == PROPID_M_SENDER_CERT ? CERTIFICATE_BYTES : known->id == PROPID_M_RESP_FORMAT_NAME ? LIST_UNITS
                : known->vt == VT_LPWSTR ? NAME_UNITS : most;
            bool never = known->sent != 1 && known->id != PROPID_M_SENDERID && !of_destination(known->id); // no message has it
            if (!never && room(props, i) < limit) *roomy = false;
        }
    }
    status = props_result(statuses, props);
    if (status == MQ_ERROR_PROPERTY) // a length that is missing is an error of the call
        for (uint32_t i = 0; i < props->cProp; i++)
            if (statuses[i] == MQ_ERROR_INSUFFICIENT_PROPERTIES) return statuses[i];
    return status;
}

// --- the steps of a read ---

static void out_handle(struct out *out, const char *name, const char *json) {
    if (!*json) return;
    out_key(out, name);
    out_word(out, json);
}

// MQ_LOOKUP_...: what it does stands in the last hexadecimal digit.
static const char *seek(DWORD action) {
    static const char *const words[] = {"current", "next", "previous", NULL, "first", NULL, NULL, NULL, "last"};
    return (action & 15) <= 8 ? words[action & 15] : NULL;
}

static bool takes(const struct read *read) { return read->by_id ? (read->action & 0x20) != 0 : read->action == MQ_ACTION_RECEIVE; }

static void write_first(const struct read *read, struct request *request) {
    bool plain = takes(read) && read->plan == PLAIN;
    enum method method = read->by_id ? (plain ? RECEIVE_BY_ID : PEEK_BY_ID) : read->action == MQ_ACTION_PEEK_NEXT ? PEEK_NEXT
        : !takes(read) || read->plan == LOOK_FIRST ? PEEK : plain ? RECEIVE : RECEIVE_BEGIN;
    DWORD timeout = read->timeout;
    if (read->began && timeout != UINT32_MAX) {
        int64_t left = (int64_t)timeout - (milliseconds() - read->began);
        timeout = left > 0 ? (DWORD)left : 0;
    }
    request_open(request, method);
    request->generation = read->generation;
    out_handle(&request->out, "queue", read->queue);
    if (read->by_id) {
        out_decimal(&request->out, "lookup_identifier", read->lookup_id);
        out_text(&request->out, "action", seek(read->action));
    } else {
        out_handle(&request->out, "cursor", read->cursor);
        out_number(&request->out, "timeout_ms", timeout);
    }
    if (plain) out_handle(&request->out, "transaction", read->transaction);
}

static HRESULT end_two_phases(const struct read *read, const char *json, bool keep) {
    struct request request;
    struct answer answer;
    request_open(&request, RECEIVE_END);
    request.generation = read->generation;
    out_handle(&request.out, "read", json);
    out_flag(&request.out, "acknowledge", keep);
    HRESULT status = request_call(&request, &answer, NULL);
    answer_free(&answer);
    return status;
}

// Take what was seen: with a cursor, what it points at.
static HRESULT take_seen(struct read *read, const struct json *seen) {
    struct request request;
    struct answer answer;
    uint64_t lookup_id;
    if (!*read->cursor && !json_decimal(seen, &lookup_id)) return session_nonsense();
    request_open(&request, *read->cursor ? RECEIVE : RECEIVE_BY_ID);
    request.generation = read->generation;
    out_handle(&request.out, "queue", read->queue);
    out_handle(&request.out, "cursor", read->cursor);
    if (*read->cursor) out_number(&request.out, "timeout_ms", 0);
    else {
        out_decimal(&request.out, "lookup_identifier", lookup_id);
        out_text(&request.out, "action", "current");
    }
    out_handle(&request.out, "transaction", read->transaction);
    HRESULT status = request_call(&request, &answer, "message");
    read->again = status == MQ_ERROR_MESSAGE_NOT_FOUND || status == MQ_ERROR_IO_TIMEOUT
        || status == MQ_ERROR_MESSAGE_ALREADY_RECEIVED;
    if (!FAILED(status)) {
        const struct json *message = json_member(&answer, answer.result, "message");
        status = fits(read, &answer, message);
        status = give_all(read, &answer, message, status);
    }
    answer_free(&answer);
    return status;
}

// What the answer to the first step means. The answer is freed.
static HRESULT proceed(struct read *read) {
    struct answer *a = &read->waiter.answer;
    read->again = false;
    HRESULT status = FAILED(read->waiter.failure) ? read->waiter.failure : answer_status(a, "message");
    if (!FAILED(status)) {
        const struct json *message = json_member(a, a->result, "message");
        HRESULT too_small = fits(read, a, message);
        struct handle begun = {0};
        if (takes(read) && read->plan == LOOK_FIRST && !too_small)
            status = take_seen(read, json_member(a, message, "lookup_identifier"));
        else if (takes(read) && read->plan == TWO_PHASE) {
            if (!handle_text(json_member(a, a->result, "read"), &begun)) status = session_nonsense();
            else {
                status = end_two_phases(read, begun.json, !too_small);
                if (!FAILED(status)) status = give_all(read, a, message, too_small);
            }
        } else status = give_all(read, a, message, too_small);
    }
    answer_free(a);
    return status ? status : read->warning;
}

// The whole of a read, except that it may be left waiting.
static HRESULT run(struct read *read, bool may_wait) {
    for (;;) {
        struct request request;
        write_first(read, &request);
        HRESULT status = may_wait ? request_start(&request, &read->waiter) : request_wait(&request, &read->waiter);
        if (status == MQ_INFORMATION_OPERATION_PENDING && may_wait) return status;
        if (FAILED(status)) { answer_free(&read->waiter.answer); return status; }
        status = proceed(read);
        if (!read->again) return status;
    }
}

static void tell(struct read *read) {
    OVERLAPPED *overlapped = read->overlapped;
    void (*completion)(OVERLAPPED *) = __atomic_load_n(&on_completion, __ATOMIC_ACQUIRE);
    HANDLE event = overlapped ? overlapped->hEvent : NULL;
    if (overlapped) {
        overlapped->InternalHigh = read->body;
        __atomic_store_n(&overlapped->Internal, (uintptr_t)(uint32_t)read->result, __ATOMIC_RELEASE);
    }
    if (read->callback)
        read->callback(read->result, read->hqueue, read->timeout, read->action, read->props, overlapped, read->hcursor);
    else if (event) event_signal(event);
    else if (overlapped && completion) completion(overlapped);
}

// In the background.
static void completed(struct waiter *waiter) {
    struct read *read = (struct read *)waiter;
    if (!read->taken) {
        HRESULT status = proceed(read);
        if (read->again) status = run(read, true);
        if (status == MQ_INFORMATION_OPERATION_PENDING) return;
        read->result = status;
    }
    tell(read);
    free(read);
}

static HRESULT start(const struct read *about) {
    struct read *read = malloc(sizeof *read);
    if (!read) return MQ_ERROR_INSUFFICIENT_RESOURCES;
    *read = *about;
    read->waiter.completed = completed;
    if (read->overlapped) read->overlapped->Internal = PENDING;
    HRESULT status = run(read, true);
    if (status == MQ_INFORMATION_OPERATION_PENDING) return status;
    if (FAILED(status)) { // at once: nobody is called
        if (read->overlapped) read->overlapped->Internal = (uintptr_t)(uint32_t)status;
        return free(read), status;
    }
    read->result = status;
    if (!read->callback && read->overlapped->hEvent) { tell(read); free(read); return status; } // the caller may free its part
    read->taken = true;
    session_complete(&read->waiter);
    return status;
}

// The parts that both functions share. action, timeout, lookup_id and by_id are set.
static HRESULT receive(struct read *read, QUEUEHANDLE queue, HANDLE cursor, ITransaction *transaction) {
    struct session about;
    struct handle handle, place;
    bool single, roomy;
    HRESULT status = handle_find(queue, QUEUE, &handle);
    if (!FAILED(status) && cursor) {
        status = handle_find(cursor, CURSOR, &place);
        if (!FAILED(status) && place.parent != handle.id) status = MQ_ERROR_INVALID_HANDLE;
        if (!FAILED(status)) strcpy(read->cursor, place.json);
    }
    if (FAILED(status)) return status;
    if (!takes(read) && (uintptr_t)transaction > 2) return MQ_ERROR_TRANSACTION_USAGE;
    bool later = read->overlapped || read->callback;
    if (later && (uintptr_t)transaction > 2) return MQ_ERROR_INVALID_PARAMETER;
    status = session_ready(&about);
    if (FAILED(status)) return status;
    // MQ_SINGLE_MESSAGE means no transaction for a receive, MC-MQAC 2.2.2.1.
    status = transaction_json(transaction, handle.generation, read->transaction, &single);
    if (!FAILED(status)) status = read->warning = check(read->props, about.most_bytes, &roomy);
    if (FAILED(status)) return status;
    if (takes(read) && !roomy) {
        bool looks = about.offers[PEEK_BY_ID] && about.offers[RECEIVE_BY_ID];
        if (!read->by_id && !*read->transaction && about.offers[RECEIVE_BEGIN] && about.offers[RECEIVE_END]) read->plan = TWO_PHASE;
        else if (looks && (read->by_id || about.offers[PEEK])) read->plan = LOOK_FIRST;
    }
    if (read->plan == LOOK_FIRST) read->began = milliseconds();
    read->generation = handle.generation;
    read->waiter.queue = handle.id;
    strcpy(read->queue, handle.json);
    read->hqueue = queue;
    read->hcursor = cursor;
    return later ? start(read) : run(read, false);
}

EXPORT HRESULT MQReceiveMessage(QUEUEHANDLE queue, DWORD timeout, DWORD action, MQMSGPROPS *props, OVERLAPPED *overlapped,
    PMQRECEIVECALLBACK callback, HANDLE cursor, ITransaction *transaction) {
    struct read read = {.timeout = timeout, .action = action, .props = props, .overlapped = overlapped, .callback = callback};
    if (action != MQ_ACTION_RECEIVE && action != MQ_ACTION_PEEK_CURRENT && action != MQ_ACTION_PEEK_NEXT)
        return MQ_ERROR_INVALID_PARAMETER;
    if (action == MQ_ACTION_PEEK_NEXT && !cursor) return MQ_ERROR_INVALID_PARAMETER;
    return receive(&read, queue, cursor, transaction);
}

EXPORT HRESULT MQReceiveMessageByLookupId(QUEUEHANDLE queue, uint64_t lookup_id, DWORD action, MQMSGPROPS *props,
    OVERLAPPED *overlapped, PMQRECEIVECALLBACK callback, ITransaction *transaction) {
    struct read read = {.action = action, .lookup_id = lookup_id, .by_id = true, .props = props, .overlapped = overlapped,
        .callback = callback};
    bool known = (action & ~0x1Fu) == 0x40000000u || (action & ~0xFu) == 0x40000020u || action == MQ_LOOKUP_RECEIVE_ALLOW_PEEK;
    if (!known || !(action & 0x30) || !seek(action)) return MQ_ERROR_INVALID_PARAMETER;
    if (lookup_id && ((action & 15) == 4 || (action & 15) == 8))
        return MQ_ERROR_INVALID_PARAMETER; // the first and the last take none
    return receive(&read, queue, NULL, transaction);
}

EXPORT HRESULT MQGetOverlappedResult(OVERLAPPED *overlapped) {
    if (!overlapped) return MQ_ERROR_INVALID_PARAMETER;
    uintptr_t status = __atomic_load_n(&overlapped->Internal, __ATOMIC_ACQUIRE);
    return status == PENDING ? MQ_INFORMATION_OPERATION_PENDING : (HRESULT)(uint32_t)status;
}

static bool of_overlapped(const struct waiter *waiter, const void *overlapped) {
    return waiter->background && (!overlapped || ((const struct read *)waiter)->overlapped == overlapped);
}

EXPORT int32_t CancelIoEx(HANDLE queue, OVERLAPPED *overlapped) {
    struct handle handle;
    return !FAILED(handle_find(queue, QUEUE, &handle)) && session_cancel(handle.id, of_overlapped, overlapped);
}
