// The queue manager, the computer and what MQMgmt... tells of queues.
#include "internal.h"

#include <stdlib.h>
#include <string.h>

// "MACHINE" or "QUEUE=" and a format name, as the request's target.
static HRESULT write_target(struct out *out, const WCHAR *object) {
    size_t units = object ? wide_length(object) : 0;
    if (!units || units == SIZE_MAX) return MQ_ERROR_INVALID_PARAMETER;
    if (wide_is(object, units, "MACHINE", true)) out_target(out, NULL, 0);
    else if (units >= 6 && wide_is(object, 6, "QUEUE=", true)) {
        if (units == 6) return MQ_ERROR_ILLEGAL_FORMATNAME;
        out_target(out, object + 6, units - 6);
    } else return MQ_ERROR_INVALID_PARAMETER;
    return MQ_OK;
}

static HRESULT local(const WCHAR *machine, struct session *about) {
    HRESULT status = session_ready(about);
    return FAILED(status) ? status : name_local(about, machine) ? MQ_OK : MQ_ERROR_REMOTE_MACHINE_NOT_AVAILABLE;
}

EXPORT HRESULT MQMgmtGetInfo(const WCHAR *machine, const WCHAR *object, MQMGMTPROPS *props) {
    struct session about;
    struct request request;
    struct answer answer;
    HRESULT status = props_check(props, MQ_ERROR_INVALID_PARAMETER);
    if (!object) return MQ_ERROR_INVALID_PARAMETER;
    for (uint32_t i = 0; !FAILED(status) && i < props->cProp; i++)
        if (props->aPropVar[i].vt != VT_NULL) status = MQ_ERROR_ILLEGAL_PROPERTY_VT;
    if (!FAILED(status) && props->cProp > 128) status = MQ_ERROR_TOO_MANY_PROPERTIES;
    if (!FAILED(status)) status = local(machine, &about);
    if (FAILED(status)) return status;
    request_open(&request, MANAGEMENT_GET);
    status = write_target(&request.out, object);
    out_word(&request.out, ",\"properties\":[");
    for (uint32_t i = 0; i < props->cProp; i++) out_number(&request.out, NULL, props->aPropID[i]);
    out_word(&request.out, "]");
    if (FAILED(status)) { out_close(&request.out); return status; }
    status = request_call(&request, &answer, "values");
    const struct json *values = FAILED(status) ? NULL : json_member(&answer, answer.result, "values"), *value;
    if (values && (values->kind != JSON_ARRAY || values->length != props->cProp)) status = session_nonsense();
    value = json_first(&answer, FAILED(status) ? NULL : values);
    for (uint32_t i = 0; value; i++, value = json_next(&answer, value))
        if (!variant_read(&answer, value, &props->aPropVar[i])) {
            for (uint32_t j = 0; j <= i; j++) {
                variant_free(&props->aPropVar[j]);
                props->aPropVar[j].vt = VT_NULL;
            }
            status = session_nonsense();
            break;
        }
    answer_free(&answer);
    return status;
}

EXPORT HRESULT MQMgmtAction(const WCHAR *machine, const WCHAR *object, const WCHAR *action) {
    struct session about;
    struct request request;
    struct answer answer;
    size_t units = action ? wide_length(action) : 0;
    if (!object || !units || units == SIZE_MAX) return MQ_ERROR_INVALID_PARAMETER;
    HRESULT status = local(machine, &about);
    if (FAILED(status)) return status;
    request_open(&request, MANAGEMENT_ACT);
    status = write_target(&request.out, object);
    out_wide(&request.out, "action", action, units);
    if (FAILED(status)) { out_close(&request.out); return status; }
    status = request_call(&request, &answer, NULL);
    answer_free(&answer);
    return status;
}

static WCHAR *computer(const struct session *about) {
    WCHAR *name = calloc(about->computer_units + 1, sizeof *name);
    if (name) memcpy(name, about->computer, about->computer_units * sizeof *name);
    return name;
}

// What is known of this computer without a directory: its identifier and its name.
static HRESULT give_machine(const struct session *about, PROPID id, MQPROPVARIANT *into) {
    switch (id) {
    case PROPID_QM_MACHINE_ID:
        if (into->vt != VT_NULL && into->vt != VT_CLSID) return MQ_ERROR_ILLEGAL_PROPERTY_VT;
        if (into->vt == VT_CLSID && !into->puuid) return MQ_ERROR_ILLEGAL_PROPERTY_VALUE;
        if (into->vt == VT_NULL) *into = (MQPROPVARIANT){.vt = VT_CLSID, .puuid = malloc(sizeof(GUID))};
        if (into->puuid) *into->puuid = about->manager;
        return into->puuid ? MQ_OK : MQ_ERROR_INSUFFICIENT_RESOURCES;
    case PROPID_QM_PATHNAME: case PROPID_QM_PATHNAME_DNS:
        if (into->vt != VT_NULL) return MQ_ERROR_ILLEGAL_PROPERTY_VT;
        *into = (MQPROPVARIANT){.vt = VT_LPWSTR, .pwszVal = computer(about)};
        return into->pwszVal ? MQ_OK : MQ_ERROR_INSUFFICIENT_RESOURCES;
    case PROPID_QM_SITE_ID: case PROPID_QM_CONNECTION: case PROPID_QM_ENCRYPTION_PK: case PROPID_QM_ENCRYPTION_PK_BASE:
    case PROPID_QM_ENCRYPTION_PK_ENHANCED: case PROPID_QM_ENCRYPTION_PK_AES: return MQ_ERROR_NO_DS;
    default: return MQ_INFORMATION_UNSUPPORTED_PROPERTY;
    }
}

EXPORT HRESULT MQGetMachineProperties(const WCHAR *machine, const GUID *machine_id, MQQMPROPS *props) {
    struct session about;
    HRESULT statuses[MOST_PROPERTIES] = {0}, status = props_check(props, MQ_ERROR_ILLEGAL_MQQMPROPS);
    bool directory = false;
    if (!FAILED(status) && machine && machine_id) status = MQ_ERROR_INVALID_PARAMETER;
    if (!FAILED(status)) status = session_ready(&about);
    if (FAILED(status)) return status;
    if (!name_local(&about, machine) || (machine_id && memcmp(machine_id, &about.manager, sizeof *machine_id)))
        return MQ_ERROR_NO_DS;
    for (uint32_t i = 0; i < props->cProp; i++) {
        statuses[i] = props_repeated(props, i) ? MQ_INFORMATION_DUPLICATE_PROPERTY : give_machine(&about, props->aPropID[i],
            &props->aPropVar[i]);
        directory = directory || statuses[i] == MQ_ERROR_NO_DS;
    }
    status = props_result(statuses, props);
    return directory ? MQ_ERROR_NO_DS : status;
}

static HRESULT integrated(const struct session *about, MQPROPVARIANT *into) {
    struct request request;
    struct answer answer;
    *into = (MQPROPVARIANT){.vt = VT_BOOL};
    if (!about->offers[DIRECTORY_OWN]) return MQ_OK;
    request_open(&request, DIRECTORY_OWN);
    HRESULT status = request_call(&request, &answer, "integrated");
    if (!FAILED(status)) into->boolVal = json_integer(json_member(&answer, answer.result, "integrated"), 0) ? -1 : 0;
    answer_free(&answer);
    return FAILED(status) ? status : MQ_OK;
}

EXPORT HRESULT MQGetPrivateComputerInformation(const WCHAR *name, MQPRIVATEPROPS *props) {
    struct session about;
    HRESULT statuses[MOST_PROPERTIES] = {0}, status = props_check(props, MQ_ERROR_ILLEGAL_MQPRIVATEPROPS);
    if (!FAILED(status) && name) status = MQ_ERROR_INVALID_PARAMETER;
    if (!FAILED(status)) status = session_ready(&about);
    if (FAILED(status)) return status;
    for (uint32_t i = 0; i < props->cProp; i++) {
        MQPROPVARIANT *into = &props->aPropVar[i];
        PROPID id = props->aPropID[i];
        bool known = id == PROPID_PC_VERSION || id == PROPID_PC_DS_ENABLED;
        if (!known) statuses[i] = MQ_INFORMATION_UNSUPPORTED_PROPERTY;
        else if (props_repeated(props, i)) statuses[i] = MQ_INFORMATION_DUPLICATE_PROPERTY;
        else if (into->vt != VT_NULL && into->vt != (id == PROPID_PC_VERSION ? VT_UI4 : VT_BOOL))
            statuses[i] = MQ_ERROR_ILLEGAL_PROPERTY_VT;
        else if (id == PROPID_PC_VERSION) *into = (MQPROPVARIANT){.vt = VT_UI4, .ulVal = about.version};
        else statuses[i] = integrated(&about, into);
    }
    return props_result(statuses, props);
}

EXPORT void MQFreeMemory(void *memory) { free(memory); }
