// Sending and moving, and the table of message properties.
#include "internal.h"

#include <string.h>

enum { IGNORED, SENT, OURS, UNKNOWN }; // OURS: written after the send. UNKNOWN: no session has it
#define VECTOR (VT_UI1 | VT_VECTOR)

static const struct property PROPERTIES[] = { // by their numbers, with gaps
    {0},
    {PROPID_M_CLASS, VT_UI2, 0, SENT, 0},
    {PROPID_M_MSGID, VECTOR, 0, OURS, 0},
    {PROPID_M_CORRELATIONID, VECTOR, 0, SENT, 0},
    {PROPID_M_PRIORITY, VT_UI1, 0, SENT, 0}, {PROPID_M_DELIVERY, VT_UI1, 0, SENT, 0},
    {PROPID_M_ACKNOWLEDGE, VT_UI1, 0, SENT, 0}, {PROPID_M_JOURNAL, VT_UI1, 0, SENT, 0},
    {PROPID_M_APPSPECIFIC, VT_UI4, 0, SENT, 0},
    {PROPID_M_BODY, VECTOR, PROPID_M_BODY_SIZE, SENT, MQ_ERROR_BUFFER_OVERFLOW}, {PROPID_M_BODY_SIZE, VT_UI4, 0, IGNORED, 0},
    {PROPID_M_LABEL, VT_LPWSTR, PROPID_M_LABEL_LEN, SENT, MQ_ERROR_LABEL_BUFFER_TOO_SMALL},
    {PROPID_M_LABEL_LEN, VT_UI4, 0, IGNORED, 0}, {PROPID_M_TIME_TO_REACH_QUEUE, VT_UI4, 0, SENT, 0},
    {PROPID_M_TIME_TO_BE_RECEIVED, VT_UI4, 0, SENT, 0},
    {PROPID_M_RESP_QUEUE, VT_LPWSTR, PROPID_M_RESP_QUEUE_LEN, SENT, MQ_ERROR_FORMATNAME_BUFFER_TOO_SMALL},
    {PROPID_M_RESP_QUEUE_LEN, VT_UI4, 0, IGNORED, 0},
    {PROPID_M_ADMIN_QUEUE, VT_LPWSTR, PROPID_M_ADMIN_QUEUE_LEN, SENT, MQ_ERROR_FORMATNAME_BUFFER_TOO_SMALL},
    {PROPID_M_ADMIN_QUEUE_LEN, VT_UI4, 0, IGNORED, 0}, {PROPID_M_VERSION, VT_UI4, 0, IGNORED, 0},
    {PROPID_M_SENDERID, VECTOR, PROPID_M_SENDERID_LEN, IGNORED, MQ_ERROR_SENDERID_BUFFER_TOO_SMALL},
    {PROPID_M_SENDERID_LEN, VT_UI4, 0, IGNORED, 0}, {PROPID_M_SENDERID_TYPE, VT_UI4, 0, SENT, 0},
    {PROPID_M_PRIV_LEVEL, VT_UI4, 0, SENT, 0}, {PROPID_M_AUTH_LEVEL, VT_UI4, 0, SENT, 0},
    {PROPID_M_AUTHENTICATED, VT_UI1, 0, IGNORED, 0}, {PROPID_M_HASH_ALG, VT_UI4, 0, SENT, 0},
    {PROPID_M_ENCRYPTION_ALG, VT_UI4, 0, SENT, 0},
    {PROPID_M_SENDER_CERT, VECTOR, PROPID_M_SENDER_CERT_LEN, SENT, MQ_ERROR_SENDER_CERT_BUFFER_TOO_SMALL},
    {PROPID_M_SENDER_CERT_LEN, VT_UI4, 0, IGNORED, 0},
    {PROPID_M_SRC_MACHINE_ID, VT_CLSID, 0, IGNORED, 0},
    {PROPID_M_SENTTIME, VT_UI4, 0, IGNORED, 0}, {PROPID_M_ARRIVEDTIME, VT_UI4, 0, IGNORED, 0},
    {PROPID_M_DEST_QUEUE, VT_LPWSTR, PROPID_M_DEST_QUEUE_LEN, IGNORED, MQ_ERROR_FORMATNAME_BUFFER_TOO_SMALL},
    {PROPID_M_DEST_QUEUE_LEN, VT_UI4, 0, IGNORED, 0},
    {PROPID_M_EXTENSION, VECTOR, PROPID_M_EXTENSION_LEN, SENT, MQ_ERROR_BUFFER_OVERFLOW},
    {PROPID_M_EXTENSION_LEN, VT_UI4, 0, IGNORED, 0}, {PROPID_M_SECURITY_CONTEXT, VT_UI4, 0, SENT, 0},
    {PROPID_M_CONNECTOR_TYPE, VT_CLSID, 0, SENT, 0},
    {PROPID_M_XACT_STATUS_QUEUE, VT_LPWSTR, PROPID_M_XACT_STATUS_QUEUE_LEN, IGNORED, MQ_ERROR_FORMATNAME_BUFFER_TOO_SMALL},
    {PROPID_M_XACT_STATUS_QUEUE_LEN, VT_UI4, 0, IGNORED, 0}, {PROPID_M_TRACE, VT_UI1, 0, SENT, 0},
    {PROPID_M_BODY_TYPE, VT_UI4, 0, SENT, 0},
    {PROPID_M_DEST_SYMM_KEY, VECTOR, PROPID_M_DEST_SYMM_KEY_LEN, UNKNOWN, MQ_ERROR_SYMM_KEY_BUFFER_TOO_SMALL},
    {PROPID_M_DEST_SYMM_KEY_LEN, VT_UI4, 0, IGNORED, 0},
    {PROPID_M_SIGNATURE, VECTOR, PROPID_M_SIGNATURE_LEN, UNKNOWN, MQ_ERROR_SIGNATURE_BUFFER_TOO_SMALL},
    {PROPID_M_SIGNATURE_LEN, VT_UI4, 0, IGNORED, 0}, {PROPID_M_PROV_TYPE, VT_UI4, 0, UNKNOWN, 0},
    {PROPID_M_PROV_NAME, VT_LPWSTR, PROPID_M_PROV_NAME_LEN, UNKNOWN, MQ_ERROR_PROV_NAME_BUFFER_TOO_SMALL},
    {PROPID_M_PROV_NAME_LEN, VT_UI4, 0, IGNORED, 0}, {PROPID_M_FIRST_IN_XACT, VT_UI1, 0, IGNORED, 0},
    {PROPID_M_LAST_IN_XACT, VT_UI1, 0, IGNORED, 0},
    {PROPID_M_XACTID, VECTOR, 0, IGNORED, 0},
    {PROPID_M_AUTHENTICATED_EX, VT_UI1, 0, IGNORED, 0},
    {PROPID_M_RESP_FORMAT_NAME, VT_LPWSTR, PROPID_M_RESP_FORMAT_NAME_LEN, SENT, MQ_ERROR_FORMATNAME_BUFFER_TOO_SMALL},
    {PROPID_M_RESP_FORMAT_NAME_LEN, VT_UI4, 0, IGNORED, 0},
    {0}, {0},
    {PROPID_M_DEST_FORMAT_NAME, VT_LPWSTR, PROPID_M_DEST_FORMAT_NAME_LEN, IGNORED, MQ_ERROR_FORMATNAME_BUFFER_TOO_SMALL},
    {PROPID_M_DEST_FORMAT_NAME_LEN, VT_UI4, 0, IGNORED, 0}, {PROPID_M_LOOKUPID, VT_UI8, 0, OURS, 0},
    {PROPID_M_SOAP_ENVELOPE, VT_LPWSTR, PROPID_M_SOAP_ENVELOPE_LEN, IGNORED, MQ_ERROR_BUFFER_OVERFLOW},
    {PROPID_M_SOAP_ENVELOPE_LEN, VT_UI4, 0, IGNORED, 0},
    {PROPID_M_COMPOUND_MESSAGE, VECTOR, PROPID_M_COMPOUND_MESSAGE_SIZE, IGNORED, MQ_ERROR_BUFFER_OVERFLOW},
    {PROPID_M_COMPOUND_MESSAGE_SIZE, VT_UI4, 0, IGNORED, 0},
    {0}, {0}, // PROPID_M_SOAP_HEADER and PROPID_M_SOAP_BODY: of HTTP alone
    {PROPID_M_DEADLETTER_QUEUE, VT_LPWSTR, PROPID_M_DEADLETTER_QUEUE_LEN, UNKNOWN, MQ_ERROR_FORMATNAME_BUFFER_TOO_SMALL},
    {PROPID_M_DEADLETTER_QUEUE_LEN, VT_UI4, 0, IGNORED, 0}, {PROPID_M_ABORT_COUNT, VT_UI4, 0, IGNORED, 0},
    {PROPID_M_MOVE_COUNT, VT_UI4, 0, IGNORED, 0},
    {0}, {0}, {0}, {0}, // those of groups, which no version has
    {PROPID_M_LAST_MOVE_TIME, VT_UI4, 0, IGNORED, 0}};

const struct property *message_property(PROPID id) {
    return id && id < sizeof PROPERTIES / sizeof *PROPERTIES && PROPERTIES[id].id ? &PROPERTIES[id] : NULL;
}

// A word of the protocol by the number of the API; NULL: the number is none.
static const char *word(const char *const *words, uint32_t number, uint32_t count) { return number < count ? words[number] : NULL; }

static void acknowledgements(struct out *out, uint8_t bits) {
    static const char *const names[] = {"positive_arrival", "positive_receive", "negative_arrival", "negative_receive"};
    out_key(out, "acknowledgements");
    out_word(out, "[");
    for (int i = 0; i < 4; i++) if (bits >> i & 1) out_text(out, NULL, names[i]);
    out_word(out, "]");
}

// Signatures, senders and encryption: for a session without certificates, only "none" and the numbers that then mean nothing.
static HRESULT write_security(struct out *out, PROPID id, const MQPROPVARIANT *value, bool offered) {
    static const char *const senders[] = {"none", "sid"}, *const levels[] = {"none", "sig10", "sig10", NULL, "sig20", NULL,
        NULL, NULL, "sig30"};
    static const char *const privacies[] = {"none", "base", NULL, "enhanced", NULL, "enhanced"};
    const char *text = id == PROPID_M_SENDERID_TYPE ? word(senders, value->ulVal, 2) : id == PROPID_M_AUTH_LEVEL ? word(levels,
        value->ulVal, 9) : word(privacies, value->ulVal, 6);
    const char *member = id == PROPID_M_SENDERID_TYPE ? "sender_type" : id == PROPID_M_AUTH_LEVEL ? "authentication" : "privacy";
    if (id == PROPID_M_HASH_ALG || id == PROPID_M_ENCRYPTION_ALG) {
        if (offered) out_number(out, id == PROPID_M_HASH_ALG ? "hash_algorithm" : "encryption_algorithm", value->ulVal);
        return MQ_OK;
    }
    if (!text) return MQ_ERROR_ILLEGAL_PROPERTY_VALUE;
    if (offered) out_text(out, member, text);
    return offered || !value->ulVal || id == PROPID_M_SENDERID_TYPE ? MQ_OK : MQ_ERROR_NO_DS;
}

static HRESULT write_value(struct out *out, PROPID id, const MQPROPVARIANT *value, bool secure) {
    size_t units = value->vt == VT_LPWSTR ? wide_length(value->pwszVal) : 0;
    if (units == SIZE_MAX) return id == PROPID_M_LABEL ? MQ_ERROR_LABEL_TOO_LONG : MQ_ERROR_ILLEGAL_PROPERTY_VALUE;
    switch (id) {
    case PROPID_M_CLASS: if (value->uiVal) out_number(out, "class", value->uiVal); return MQ_OK;
    case PROPID_M_CORRELATIONID:
        if (value->caub.cElems != 20) return MQ_ERROR_ILLEGAL_PROPERTY_SIZE;
        out_bytes(out, "correlation_identifier", value->caub.pElems, 20);
        return MQ_OK;
    case PROPID_M_PRIORITY:
        if (value->bVal > 7) return MQ_ERROR_ILLEGAL_PROPERTY_VALUE;
        out_number(out, "priority", value->bVal);
        return MQ_OK;
    case PROPID_M_DELIVERY:
        if (value->bVal > 1) return MQ_ERROR_ILLEGAL_PROPERTY_VALUE;
        out_text(out, "delivery", value->bVal ? "recoverable" : "express");
        return MQ_OK;
    case PROPID_M_ACKNOWLEDGE:
        if (value->bVal > 15) return MQ_ERROR_ILLEGAL_PROPERTY_VALUE;
        if (value->bVal) acknowledgements(out, value->bVal);
        return MQ_OK;
    case PROPID_M_JOURNAL:
        if (value->bVal > 3) return MQ_ERROR_ILLEGAL_PROPERTY_VALUE;
        if (value->bVal & 1) out_flag(out, "negative_journaling", true);
        if (value->bVal & 2) out_flag(out, "positive_journaling", true);
        return MQ_OK;
    case PROPID_M_APPSPECIFIC: out_number(out, "application_tag", value->ulVal); return MQ_OK;
    case PROPID_M_BODY: out_bytes(out, "body", value->caub.pElems, value->caub.cElems); return MQ_OK;
    case PROPID_M_LABEL: out_wide(out, "label", value->pwszVal, units); return MQ_OK;
    case PROPID_M_TIME_TO_REACH_QUEUE: out_number(out, "time_to_reach_queue", value->ulVal); return MQ_OK;
    case PROPID_M_TIME_TO_BE_RECEIVED: out_number(out, "time_to_be_received", value->ulVal); return MQ_OK;
    case PROPID_M_RESP_QUEUE: case PROPID_M_RESP_FORMAT_NAME: if (units) out_wide(out, "response_queue", value->pwszVal,
        units); return MQ_OK;
    case PROPID_M_ADMIN_QUEUE: if (units) out_wide(out, "administration_queue", value->pwszVal, units); return MQ_OK;
    case PROPID_M_TRACE:
        if (value->bVal > 1) return MQ_ERROR_ILLEGAL_PROPERTY_VALUE;
        if (value->bVal) out_flag(out, "trace", true);
        return MQ_OK;
    case PROPID_M_EXTENSION: if (value->caub.cElems) out_bytes(out, "extension", value->caub.pElems,
        value->caub.cElems); return MQ_OK;
    case PROPID_M_BODY_TYPE: out_number(out, "body_type", value->ulVal); return MQ_OK;
    case PROPID_M_SENDER_CERT: if (secure && value->caub.cElems) out_bytes(out, "certificate", value->caub.pElems,
        value->caub.cElems); return MQ_OK;
    case PROPID_M_SECURITY_CONTEXT:
        if (!secure || !value->ulVal) return MQ_OK;
        return FAILED(handle_data((void *)(uintptr_t)value->ulVal, CERTIFICATE, NULL, 0, out, "certificate"))
            ? MQ_ERROR_BAD_SECURITY_CONTEXT : MQ_OK;
    case PROPID_M_CONNECTOR_TYPE: return MQ_OK; // it is only asked whether there is one
    default: return write_security(out, id, value, secure);
    }
}

static HRESULT check_value(const struct property *known, const MQPROPVARIANT *value) {
    if (value->vt != known->vt) return MQ_ERROR_ILLEGAL_PROPERTY_VT;
    if (known->vt == VECTOR && value->caub.cElems && !value->caub.pElems) return MQ_ERROR_ILLEGAL_PROPERTY_VALUE;
    if ((known->vt == VT_LPWSTR || known->vt == VT_CLSID) && !value->ptr) return MQ_ERROR_ILLEGAL_PROPERTY_VALUE;
    if (known->id == PROPID_M_MSGID && value->caub.cElems != 20) return MQ_ERROR_ILLEGAL_PROPERTY_SIZE;
    return MQ_OK;
}

static HRESULT write_message(struct out *out, const MQMSGPROPS *props, bool secure) {
    HRESULT statuses[MOST_PROPERTIES] = {0};
    bool certified = props_find(props, PROPID_M_SENDER_CERT) >= 0;
    out_key(out, "message");
    out_word(out, "{");
    for (uint32_t i = 0; i < props->cProp; i++) {
        const struct property *known = message_property(props->aPropID[i]);
        const MQPROPVARIANT *value = &props->aPropVar[i];
        if (!known || known->sent == UNKNOWN) statuses[i] = MQ_INFORMATION_UNSUPPORTED_PROPERTY;
        else if (props_repeated(props, i)) statuses[i] = MQ_INFORMATION_DUPLICATE_PROPERTY;
        else if (known->sent == IGNORED) statuses[i] = MQ_INFORMATION_PROPERTY_IGNORED;
        else {
            statuses[i] = check_value(known, value);
            if (!statuses[i] && known->sent == SENT && !(certified && known->id == PROPID_M_SECURITY_CONTEXT))
                statuses[i] = write_value(out, known->id, value, secure);
        }
    }
    out_word(out, "}");
    int class = props_find(props, PROPID_M_CLASS);
    HRESULT result = props_result(statuses, props);
    if (!FAILED(result) && props_find(props, PROPID_M_RESP_QUEUE) >= 0 && props_find(props, PROPID_M_RESP_FORMAT_NAME) >= 0)
        return MQ_ERROR_PROPERTIES_CONFLICT;
    if (!FAILED(result) && class >= 0 && props->aPropVar[class].uiVal && props_find(props, PROPID_M_CONNECTOR_TYPE) < 0)
        return MQ_ERROR_MISSING_CONNECTOR_TYPE;
    return result;
}

// The identifier that the message got, and its lookup identifier.
static HRESULT give_identifier(const struct answer *answer, const MQMSGPROPS *props) {
    int at = props_find(props, PROPID_M_MSGID), lookup = props_find(props, PROPID_M_LOOKUPID);
    const struct json *identifier = json_member(answer, answer->result, "identifier"), *number = json_member(answer,
        answer->result, "lookup_identifier");
    if (lookup >= 0 && number && !json_decimal(number, &props->aPropVar[lookup].uhVal)) return session_nonsense();
    if (at < 0 || !identifier) return MQ_OK;
    GUID source;
    int64_t ordinal = json_integer(json_member(answer, identifier, "ordinal"), -1);
    if (!json_guid(json_member(answer, identifier, "source"), &source) || ordinal < 0 || ordinal > UINT32_MAX)
        return session_nonsense();
    memcpy(props->aPropVar[at].caub.pElems, &source, 16);
    memcpy(props->aPropVar[at].caub.pElems + 16, &ordinal, 4);
    return MQ_OK;
}

// MQ_SINGLE_MESSAGE: what `act` does, in a transaction of its own. json: of the transaction of the call, and of this one then.
static HRESULT begin_single(char json[256], bool single) {
    uint32_t generation;
    return single ? transaction_begin(json, &generation) : MQ_OK;
}

static HRESULT end_single(const char *json, bool single, uint32_t generation, HRESULT status) {
    if (!single) return status;
    HRESULT ended = transaction_end(json, generation, FAILED(status) ? ABORT : COMMIT);
    return FAILED(status) ? status : FAILED(ended) ? ended : status;
}

EXPORT HRESULT MQSendMessage(QUEUEHANDLE queue, MQMSGPROPS *props, ITransaction *transaction) {
    struct session about;
    struct handle handle;
    struct request request;
    struct answer answer;
    char json[256];
    bool single;
    HRESULT status = handle_find(queue, QUEUE, &handle), warning = MQ_OK;
    if (!FAILED(status)) status = props_check(props, MQ_ERROR_INSUFFICIENT_PROPERTIES);
    if (!FAILED(status)) status = session_ready(&about);
    if (!FAILED(status)) status = transaction_json(transaction, handle.generation, json, &single);
    if (FAILED(status)) return status;
    request_open(&request, SEND);
    request.generation = handle.generation;
    out_key(&request.out, "queue");
    out_word(&request.out, handle.json);
    warning = write_message(&request.out, props, about.offers[CERTIFICATES]);
    status = FAILED(warning) ? warning : begin_single(json, single);
    if (FAILED(status)) { out_close(&request.out); return status; }
    if (*json) {
        out_key(&request.out, "transaction");
        out_word(&request.out, json);
    }
    status = request_call(&request, &answer, NULL);
    if (!FAILED(status)) {
        HRESULT given = give_identifier(&answer, props);
        if (FAILED(given)) status = given;
    }
    answer_free(&answer);
    status = end_single(json, single, handle.generation, status);
    return status ? status : warning;
}

EXPORT HRESULT MQMoveMessage(QUEUEHANDLE source, QUEUEHANDLE destination, uint64_t lookup_id, ITransaction *transaction) {
    struct handle from, to;
    struct request request;
    struct answer answer;
    char json[256];
    bool single;
    HRESULT status = handle_find(source, QUEUE, &from);
    if (!FAILED(status)) status = handle_find(destination, QUEUE, &to);
    if (!FAILED(status) && from.generation != to.generation) status = MQ_ERROR_STALE_HANDLE;
    if (!FAILED(status)) status = transaction_json(transaction, from.generation, json, &single);
    if (!FAILED(status)) status = begin_single(json, single);
    if (FAILED(status)) return status;
    request_open(&request, MOVE);
    request.generation = from.generation;
    out_key(&request.out, "queue");
    out_word(&request.out, from.json);
    out_decimal(&request.out, "lookup_identifier", lookup_id);
    out_key(&request.out, "destination");
    out_word(&request.out, to.json);
    if (*json) {
        out_key(&request.out, "transaction");
        out_word(&request.out, json);
    }
    status = request_call(&request, &answer, NULL);
    answer_free(&answer);
    return end_single(json, single, from.generation, status);
}

// It works in a transaction of a coordinator alone, and no thread here is in one.
EXPORT HRESULT MQMarkMessageRejected(QUEUEHANDLE queue, uint64_t lookup_id) {
    struct handle handle;
    (void)lookup_id;
    HRESULT status = handle_find(queue, QUEUE, &handle);
    if (!FAILED(status)) status = session_ready(NULL);
    return FAILED(status) ? status : MQ_ERROR_TRANSACTION_USAGE;
}
