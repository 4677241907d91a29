// Queues and cursors.
#include "internal.h"

#include <stdlib.h>
#include <string.h>

static const struct queue_property PROPERTIES[] = {
    {PROPID_Q_INSTANCE, VT_CLSID, 0, 0, "PROPID_Q_INSTANCE", "identifier"},
    {PROPID_Q_TYPE, VT_CLSID, 1, 1, "PROPID_Q_TYPE", "type"},
    {PROPID_Q_PATHNAME, VT_LPWSTR, 1, 0, "PROPID_Q_PATHNAME", "path_name"},
    {PROPID_Q_JOURNAL, VT_UI1, 1, 1, "PROPID_Q_JOURNAL", "journaling"},
    {PROPID_Q_QUOTA, VT_UI4, 1, 1, "PROPID_Q_QUOTA", "quota"},
    {PROPID_Q_BASEPRIORITY, VT_I2, 1, 1, "PROPID_Q_BASEPRIORITY", "base_priority"},
    {PROPID_Q_JOURNAL_QUOTA, VT_UI4, 1, 1, "PROPID_Q_JOURNAL_QUOTA", "journal_quota"},
    {PROPID_Q_LABEL, VT_LPWSTR, 1, 1, "PROPID_Q_LABEL", "label"},
    {PROPID_Q_CREATE_TIME, VT_I4, 0, 0, "PROPID_Q_CREATE_TIME", "create_time"},
    {PROPID_Q_MODIFY_TIME, VT_I4, 0, 0, "PROPID_Q_MODIFY_TIME", "modify_time"},
    {PROPID_Q_AUTHENTICATE, VT_UI1, 1, 1, "PROPID_Q_AUTHENTICATE", "authentication"},
    {PROPID_Q_PRIV_LEVEL, VT_UI4, 1, 1, "PROPID_Q_PRIV_LEVEL", "privacy_level"},
    {PROPID_Q_TRANSACTION, VT_UI1, 1, 0, "PROPID_Q_TRANSACTION", "transactional"},
    {PROPID_Q_PATHNAME_DNS, VT_LPWSTR, 0, 0, "PROPID_Q_PATHNAME_DNS", "qualified_path_name"},
    {PROPID_Q_MULTICAST_ADDRESS, VT_LPWSTR, 1, 1, "PROPID_Q_MULTICAST_ADDRESS", "multicast_address"},
    {PROPID_Q_ADS_PATH, VT_LPWSTR, 0, 0, "PROPID_Q_ADS_PATH", "directory_path"}};

const struct queue_property *queue_property(PROPID id) {
    for (size_t i = 0; i < sizeof PROPERTIES / sizeof *PROPERTIES; i++) if (PROPERTIES[i].id == id) return &PROPERTIES[i];
    return NULL;
}

void queue_value(struct out *out, const char *name, const MQPROPVARIANT *value) {
    char guid[37];
    switch (value->vt) {
    case VT_UI1: out_number(out, name, value->bVal); break;
    case VT_I2: out_number(out, name, value->iVal); break;
    case VT_UI4: out_number(out, name, value->ulVal); break;
    case VT_CLSID: guid_text(value->puuid, guid); out_text(out, name, guid); break;
    case VT_LPWSTR: out_wide(out, name, value->pwszVal, wide_length(value->pwszVal)); break;
    default: out_key(out, name); out_word(out, "null");
    }
}

// The properties of a creation or of a setting, as the request's member; the path name is left to the caller.
static HRESULT write_properties(struct out *out, const MQQUEUEPROPS *props, bool making) {
    HRESULT statuses[MOST_PROPERTIES] = {0};
    out_key(out, "properties");
    out_word(out, "{");
    for (uint32_t i = 0; i < props->cProp; i++) {
        const MQPROPVARIANT *value = &props->aPropVar[i];
        const struct queue_property *known = queue_property(props->aPropID[i]);
        bool none = known && known->id == PROPID_Q_MULTICAST_ADDRESS && value->vt == VT_EMPTY;
        if (!known) statuses[i] = MQ_INFORMATION_UNSUPPORTED_PROPERTY;
        else if (props_repeated(props, i)) statuses[i] = MQ_INFORMATION_DUPLICATE_PROPERTY;
        else if (making ? !known->made : !known->set) statuses[i] = MQ_ERROR_PROPERTY_NOTALLOWED;
        else if (value->vt != known->vt && !none) statuses[i] = MQ_ERROR_ILLEGAL_PROPERTY_VT;
        else if ((value->vt == VT_CLSID || value->vt == VT_LPWSTR) && !value->ptr) statuses[i] = MQ_ERROR_ILLEGAL_PROPERTY_VALUE;
        else if (known->id != PROPID_Q_PATHNAME) queue_value(out, known->name, value);
    }
    out_word(out, "}");
    return props_result(statuses, props);
}

EXPORT HRESULT MQCreateQueue(const void *descriptor, MQQUEUEPROPS *props, WCHAR *format_name, DWORD *length) {
    struct session about;
    struct request request;
    struct answer answer;
    HRESULT status = props_check(props, MQ_ERROR_ILLEGAL_MQQUEUEPROPS), warning;
    if (FAILED(status)) return status;
    if (!length || (*length && !format_name)) return MQ_ERROR_INVALID_PARAMETER;
    int path = props_find(props, PROPID_Q_PATHNAME);
    request_open(&request, QUEUES_CREATE);
    warning = write_properties(&request.out, props, true);
    status = FAILED(warning) ? warning : path < 0 ? MQ_ERROR_INSUFFICIENT_PROPERTIES : session_ready(&about);
    if (!FAILED(status)) status = name_path(&about, props->aPropVar[path].pwszVal, &request.out, "path_name");
    if (FAILED(status)) { out_close(&request.out); return status; }
    status = request_call(&request, &answer, "format_name");
    WCHAR *name = FAILED(status) ? NULL : json_wide(json_member(&answer, answer.result, "format_name"));
    answer_free(&answer);
    if (FAILED(status)) return status;
    if (!name) return MQ_ERROR_INSUFFICIENT_RESOURCES;
    if (descriptor && about.offers[SECURITY_SET]) status = MQSetQueueSecurity(name, 0xF, descriptor);
    if (!FAILED(status)) status = name_give(name, wide_length(name), format_name, length,
        MQ_INFORMATION_FORMATNAME_BUFFER_TOO_SMALL);
    free(name);
    return status ? status : warning;
}

EXPORT HRESULT MQDeleteQueue(const WCHAR *format_name) {
    struct request request;
    struct answer answer;
    size_t units;
    HRESULT status = name_check(format_name, &units);
    if (FAILED(status)) return status;
    request_open(&request, QUEUES_DELETE);
    out_wide(&request.out, "format_name", format_name, units);
    status = request_call(&request, &answer, NULL);
    answer_free(&answer);
    return status;
}

EXPORT HRESULT MQSetQueueProperties(const WCHAR *format_name, MQQUEUEPROPS *props) {
    struct request request;
    struct answer answer;
    size_t units;
    HRESULT status = name_check(format_name, &units), warning;
    if (!FAILED(status)) status = props_check(props, MQ_ERROR_ILLEGAL_MQQUEUEPROPS);
    if (FAILED(status)) return status;
    request_open(&request, QUEUES_SET);
    warning = write_properties(&request.out, props, false);
    out_wide(&request.out, "format_name", format_name, units);
    if (FAILED(warning)) { out_close(&request.out); return warning; }
    status = request_call(&request, &answer, NULL);
    answer_free(&answer);
    return status ? status : warning;
}

// VT_NULL: the value is allocated where it is a text or a GUID. A GUID may also go to a buffer of the caller.
static HRESULT give_value(const struct json *value, const struct queue_property *known, MQPROPVARIANT *into) {
    MQPROPVARIANT made;
    if (!value) {
        if (known->id == PROPID_Q_MULTICAST_ADDRESS) *into = (MQPROPVARIANT){.vt = VT_EMPTY};
        return MQ_OK;
    }
    if (into->vt == VT_CLSID) return json_guid(value, into->puuid) ? MQ_OK : MQ_ERROR;
    if (!value_read(value, known->vt, &made)) { variant_free(&made); return MQ_ERROR; }
    *into = made;
    return MQ_OK;
}

EXPORT HRESULT MQGetQueueProperties(const WCHAR *format_name, MQQUEUEPROPS *props) {
    struct request request;
    struct answer answer;
    HRESULT statuses[MOST_PROPERTIES] = {0}, warning;
    size_t units;
    bool any = false;
    HRESULT status = name_check(format_name, &units);
    if (!FAILED(status)) status = props_check(props, MQ_ERROR_ILLEGAL_MQQUEUEPROPS);
    if (FAILED(status)) return status;
    request_open(&request, QUEUES_GET);
    out_wide(&request.out, "format_name", format_name, units);
    out_word(&request.out, ",\"properties\":[");
    for (uint32_t i = 0; i < props->cProp; i++) {
        const struct queue_property *known = queue_property(props->aPropID[i]);
        uint16_t vt = props->aPropVar[i].vt;
        if (!known) statuses[i] = MQ_INFORMATION_UNSUPPORTED_PROPERTY;
        else if (props_repeated(props, i)) statuses[i] = MQ_INFORMATION_DUPLICATE_PROPERTY;
        else if (vt != VT_NULL && (vt != known->vt || vt == VT_LPWSTR)) statuses[i] = MQ_ERROR_ILLEGAL_PROPERTY_VT;
        else if (vt == VT_CLSID && !props->aPropVar[i].puuid) statuses[i] = MQ_ERROR_ILLEGAL_PROPERTY_VALUE;
        else { out_text(&request.out, NULL, known->name); any = true; }
    }
    out_word(&request.out, "]");
    warning = props_result(statuses, props);
    if (FAILED(warning) || !any) { out_close(&request.out); return warning; }
    status = request_call(&request, &answer, "properties");
    const struct json *values = FAILED(status) ? NULL : json_member(&answer, answer.result, "properties");
    for (uint32_t i = 0; values && i < props->cProp && !FAILED(status); i++)
        if (!statuses[i]) {
            const struct queue_property *known = queue_property(props->aPropID[i]);
            if (FAILED(give_value(json_member(&answer, values, known->name), known, &props->aPropVar[i])))
                status = session_nonsense();
        }
    answer_free(&answer);
    return status ? status : warning;
}

EXPORT HRESULT MQOpenQueue(const WCHAR *format_name, DWORD access, DWORD share, QUEUEHANDLE *queue) {
    static const struct { DWORD access; const char *word; } ACCESS[] = {
        {MQ_RECEIVE_ACCESS, "receive"}, {MQ_SEND_ACCESS, "send"}, {MQ_MOVE_ACCESS, "move"}, {MQ_PEEK_ACCESS, "peek"},
        {MQ_RECEIVE_ACCESS | MQ_ADMIN_ACCESS, "receive_admin"}, {MQ_PEEK_ACCESS | MQ_ADMIN_ACCESS, "peek_admin"}};
    struct request request;
    struct answer answer;
    struct session about;
    struct handle made = {0};
    const char *word = NULL;
    if (!queue) return MQ_ERROR_INVALID_PARAMETER;
    *queue = NULL;
    HRESULT status = name_check(format_name, &made.units);
    if (FAILED(status)) return status;
    for (size_t i = 0; i < sizeof ACCESS / sizeof *ACCESS; i++) if (ACCESS[i].access == access) word = ACCESS[i].word;
    if (!word) return MQ_ERROR_UNSUPPORTED_ACCESS_MODE;
    if (share > MQ_DENY_RECEIVE_SHARE) return MQ_ERROR_INVALID_PARAMETER;
    status = session_ready(&about);
    if (FAILED(status)) return status;
    request_open(&request, QUEUES_OPEN);
    request.generation = made.generation = about.generation;
    out_wide(&request.out, "format_name", format_name, made.units);
    out_text(&request.out, "access", word);
    out_text(&request.out, "share", share ? "deny_receive" : "deny_none");
    status = request_call(&request, &answer, "queue");
    if (!FAILED(status) && !handle_text(json_member(&answer, answer.result, "queue"), &made)) status = session_nonsense();
    answer_free(&answer);
    if (FAILED(status)) return status;
    made.name = malloc((made.units + 1) * sizeof *made.name);
    if (!made.name) return MQ_ERROR_INSUFFICIENT_RESOURCES;
    memcpy(made.name, format_name, (made.units + 1) * sizeof *made.name);
    *queue = (QUEUEHANDLE)(uintptr_t)handle_add(QUEUE, &made);
    return *queue ? status : MQ_ERROR_INSUFFICIENT_RESOURCES;
}

// A request about one handle of the session.
static HRESULT about_handle(enum method method, const char *member, const struct handle *handle, struct answer *answer,
    const char *needed) {
    struct request request;
    request_open(&request, method);
    request.generation = handle->generation;
    out_key(&request.out, member);
    out_word(&request.out, handle->json);
    return request_call(&request, answer, needed);
}

// Receives that wait on the handle are cancelled first, as their programs expect MQ_ERROR_OPERATION_CANCELLED.
EXPORT HRESULT MQCloseQueue(QUEUEHANDLE queue) {
    struct handle about;
    struct answer answer;
    HRESULT status = handle_find(queue, QUEUE, &about);
    if (FAILED(status) || !handle_remove(queue, QUEUE)) return MQ_ERROR_INVALID_HANDLE;
    session_cancel(about.id, NULL, NULL);
    status = about_handle(QUEUES_CLOSE, "queue", &about, &answer, NULL);
    answer_free(&answer);
    return status;
}

EXPORT HRESULT MQPurgeQueue(QUEUEHANDLE queue) {
    struct handle about;
    struct answer answer;
    HRESULT status = handle_find(queue, QUEUE, &about);
    if (FAILED(status)) return status;
    status = about_handle(QUEUES_PURGE, "queue", &about, &answer, NULL);
    answer_free(&answer);
    return status;
}

EXPORT HRESULT MQCreateCursor(QUEUEHANDLE queue, HANDLE *cursor) {
    struct handle about, made = {0};
    struct answer answer;
    if (!cursor) return MQ_ERROR_INVALID_PARAMETER;
    *cursor = NULL;
    HRESULT status = handle_find(queue, QUEUE, &about);
    if (FAILED(status)) return status;
    status = about_handle(CURSORS_OPEN, "queue", &about, &answer, "cursor");
    if (!FAILED(status) && !handle_text(json_member(&answer, answer.result, "cursor"), &made)) status = session_nonsense();
    answer_free(&answer);
    if (FAILED(status)) return status;
    made.generation = about.generation;
    made.parent = about.id;
    *cursor = (HANDLE)(uintptr_t)handle_add(CURSOR, &made);
    return *cursor ? status : MQ_ERROR_INSUFFICIENT_RESOURCES;
}

EXPORT HRESULT MQCloseCursor(HANDLE cursor) {
    struct handle about;
    struct answer answer;
    HRESULT status = handle_find(cursor, CURSOR, &about);
    if (FAILED(status) || !handle_remove(cursor, CURSOR)) return MQ_ERROR_INVALID_HANDLE;
    status = about_handle(CURSORS_CLOSE, "cursor", &about, &answer, NULL);
    answer_free(&answer);
    return status;
}
