// The search for public queues, in the directory of the session.
#include "internal.h"

#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 32, RESTRICTIONS = 16 };
static const char *const LEVELS[] = {"None", "Optional", "Body"}, *const OPERATORS[] = {"LESS-THAN", "LESS-THAN-OR-EQUAL",
    "GREATER-THAN", "GREATER-THAN-OR-EQUAL", "EQUALS", "NOT-EQUALS"};

static HRESULT write_restriction(struct out *out, const MQPROPERTYRESTRICTION *one) {
    const struct queue_property *known = queue_property(one->prop);
    const MQPROPVARIANT *value = &one->prval;
    if (one->rel > 5) return MQ_ERROR_ILLEGAL_RELATION;
    if (!known) return MQ_ERROR_ILLEGAL_RESTRICTION_PROPID;
    if (value->vt != known->vt) return MQ_ERROR_ILLEGAL_PROPERTY_VT;
    if ((value->vt == VT_CLSID || value->vt == VT_LPWSTR) && !value->ptr) return MQ_ERROR_ILLEGAL_PROPERTY_VALUE;
    if (known->id == PROPID_Q_PRIV_LEVEL && value->ulVal > 2) return MQ_ERROR_ILLEGAL_PROPERTY_VALUE;
    out_key(out, NULL);
    out_word(out, "{");
    out_text(out, "attribute", known->attribute);
    out_text(out, "operator", OPERATORS[one->rel]);
    if (known->id == PROPID_Q_PRIV_LEVEL) out_text(out, "value", LEVELS[value->ulVal]);
    else if (known->vt == VT_UI1) out_flag(out, "value", value->bVal != 0);
    else if (known->vt == VT_I4) out_number(out, "value", value->lVal);
    else queue_value(out, "value", value);
    out_word(out, "}");
    return MQ_OK;
}

// One order for each column: those that sort come first.
static HRESULT write_order(struct out *out, const MQCOLUMNSET *columns, const MQSORTSET *sort) {
    out_word(out, ",\"order\":[");
    for (uint32_t i = 0; i < sort->cCol; i++) {
        uint32_t at = 0;
        while (at < columns->cCol && columns->aCol[at] != sort->aCol[i].propColumn) at++;
        if (at == columns->cCol) return MQ_ERROR_ILLEGAL_SORT_PROPID;
        if (sort->aCol[i].dwOrder > 1) return MQ_ERROR_ILLEGAL_SORT;
    }
    for (uint32_t at = 0; at < columns->cCol; at++) {
        uint32_t i = 0;
        while (i < sort->cCol && columns->aCol[at] != sort->aCol[i].propColumn) i++;
        out_key(out, NULL);
        out_word(out, "{");
        out_number(out, "priority", i < sort->cCol ? i : sort->cCol + at);
        out_flag(out, "ascending", i == sort->cCol || !sort->aCol[i].dwOrder);
        out_word(out, "}");
    }
    out_word(out, "]");
    return MQ_OK;
}

static HRESULT write_query(struct out *out, const MQRESTRICTION *restriction, const MQCOLUMNSET *columns, const MQSORTSET *sort) {
    HRESULT status = MQ_OK;
    out_text(out, "class", "queue");
    out_word(out, ",\"attributes\":[");
    for (uint32_t i = 0; i < columns->cCol; i++) {
        const struct queue_property *known = queue_property(columns->aCol[i]);
        if (!known) return MQ_ERROR_ILLEGAL_PROPID;
        out_text(out, NULL, known->attribute);
    }
    out_word(out, "],\"filter\":[");
    for (uint32_t i = 0; restriction && i < restriction->cRes && !FAILED(status); i++) status = write_restriction(out,
        &restriction->paPropRes[i]);
    out_word(out, "]");
    return !FAILED(status) && sort && sort->cCol ? write_order(out, columns, sort) : status;
}

// What the directory said: true, there is an object or a query.
static bool succeeded(const struct answer *a, HRESULT *status) {
    const struct json *result = json_member(a, a->result, "result");
    if (FAILED(*status) || json_is(result, "Success")) return !FAILED(*status);
    if (json_is(result, "DirectoryNotConnected")) *status = MQ_ERROR_NO_DS;
    else if (!json_is(result, "EndOfData") && !json_is(result, "ObjectNotFound")) *status = MQ_ERROR_DS_ERROR;
    return false;
}

EXPORT HRESULT MQLocateBegin(const WCHAR *context, MQRESTRICTION *restriction, MQCOLUMNSET *columns, MQSORTSET *sort,
    HANDLE *locator) {
    struct session about;
    struct request request;
    struct answer answer;
    struct handle made = {0};
    if (!locator) return MQ_ERROR_INVALID_PARAMETER;
    *locator = NULL;
    if (context) return MQ_ERROR_ILLEGAL_CONTEXT;
    if (!columns || !columns->cCol || columns->cCol > COLUMNS || !columns->aCol) return MQ_ERROR_ILLEGAL_MQCOLUMNS;
    if (restriction && restriction->cRes && (!restriction->paPropRes || restriction->cRes > RESTRICTIONS))
        return MQ_ERROR_INVALID_PARAMETER;
    if (sort && sort->cCol && (!sort->aCol || sort->cCol > COLUMNS)) return MQ_ERROR_ILLEGAL_SORT;
    HRESULT status = session_ready(&about);
    if (FAILED(status)) return status;
    request_open(&request, DIRECTORY_BEGIN);
    request.generation = made.generation = about.generation;
    status = write_query(&request.out, restriction, columns, sort);
    if (FAILED(status)) { out_close(&request.out); return status; }
    status = request_call(&request, &answer, "result");
    if (succeeded(&answer, &status) && !handle_text(json_member(&answer, answer.result, "query"), &made))
        status = session_nonsense();
    answer_free(&answer);
    if (FAILED(status)) return status;
    made.length = columns->cCol * (uint32_t)sizeof(PROPID);
    made.data = malloc(made.length);
    if (!made.data) return MQ_ERROR_INSUFFICIENT_RESOURCES;
    memcpy(made.data, columns->aCol, made.length);
    *locator = (HANDLE)(uintptr_t)handle_add(LOCATOR, &made);
    return *locator ? MQ_OK : MQ_ERROR_INSUFFICIENT_RESOURCES;
}

static HRESULT ask(enum method method, const struct handle *about, struct answer *answer) {
    struct request request;
    request_open(&request, method);
    request.generation = about->generation;
    out_key(&request.out, "query");
    out_word(&request.out, about->json);
    return request_call(&request, answer, "result");
}

static bool give_column(const struct json *value, PROPID id, MQPROPVARIANT *into) {
    const struct queue_property *known = queue_property(id);
    *into = (MQPROPVARIANT){.vt = VT_EMPTY};
    if (!value) return true; // the object has none
    for (uint32_t level = 0; id == PROPID_Q_PRIV_LEVEL && level < 3; level++)
        if (json_is(value, LEVELS[level])) { *into = (MQPROPVARIANT){.vt = VT_UI4, .ulVal = level}; return true; }
    if (id != PROPID_Q_PRIV_LEVEL && value_read(value, known->vt, into)) return true;
    variant_free(into);
    return false;
}

// As many objects as there is room for; *count becomes 0 behind the last.
EXPORT HRESULT MQLocateNext(HANDLE locator, DWORD *count, MQPROPVARIANT *values) {
    struct handle about;
    PROPID columns[COLUMNS];
    if (!count || !values) return MQ_ERROR_INVALID_PARAMETER;
    HRESULT status = handle_find(locator, LOCATOR, &about);
    if (!FAILED(status)) status = handle_data(locator, LOCATOR, columns, sizeof columns, NULL, NULL);
    if (FAILED(status)) return status;
    uint32_t width = about.length / (uint32_t)sizeof(PROPID), room = *count;
    if (room < width) return MQ_ERROR_RESULT_BUFFER_TOO_SMALL;
    *count = 0;
    for (bool more = *about.json != 0; more && !FAILED(status) && *count + width <= room;) {
        struct answer answer;
        status = ask(DIRECTORY_NEXT, &about, &answer);
        more = succeeded(&answer, &status);
        const struct json *object = more ? json_member(&answer, answer.result, "object") : NULL;
        for (uint32_t i = 0; object && i < width && !FAILED(status); i++)
            if (!give_column(json_member(&answer, object, queue_property(columns[i])->attribute), columns[i],
                &values[(*count)++])) status = session_nonsense();
        if (more && !object) status = session_nonsense();
        answer_free(&answer);
    }
    for (; FAILED(status) && *count; --*count) variant_free(&values[*count - 1]);
    return status;
}

EXPORT HRESULT MQLocateEnd(HANDLE locator) {
    struct handle about;
    struct answer answer;
    HRESULT status = handle_find(locator, LOCATOR, &about);
    if (FAILED(status) || !handle_remove(locator, LOCATOR)) return MQ_ERROR_INVALID_HANDLE;
    if (!*about.json) return MQ_OK;
    status = ask(DIRECTORY_END, &about, &answer);
    answer_free(&answer);
    return status;
}
