// Queue names: what is made or compared here. What they mean decides the queue manager.
#include "internal.h"

#include <stdlib.h>
#include <string.h>

// A text into the caller's buffer of *length units, which becomes the length with the NUL.
HRESULT name_give(const WCHAR *name, size_t units, WCHAR *into, DWORD *length, HRESULT too_small) {
    DWORD room = *length;
    *length = (DWORD)units + 1;
    if (room < units + 1 || !into) return too_small;
    memcpy(into, name, units * sizeof *into);
    into[units] = 0;
    return MQ_OK;
}

HRESULT name_check(const WCHAR *format_name, size_t *units) {
    *units = format_name ? wide_length(format_name) : 0;
    return !format_name ? MQ_ERROR_INVALID_PARAMETER : !*units || *units == SIZE_MAX ? MQ_ERROR_ILLEGAL_FORMATNAME : MQ_OK;
}

static bool same_name(const WCHAR *one, const WCHAR *other, size_t units) {
    for (size_t i = 0; i < units; i++) {
        WCHAR a = one[i] >= 'a' && one[i] <= 'z' ? (WCHAR)(one[i] - 32) : one[i], b = other[i] >= 'a' && other[i] <= 'z'
            ? (WCHAR)(other[i] - 32) : other[i];
        if (a != b) return false;
    }
    return true;
}

bool name_local(const struct session *about, const WCHAR *computer) {
    size_t units = computer ? wide_length(computer) : 0;
    return !units || (units == 1 && *computer == '.') || (units == about->computer_units && same_name(computer, about->computer,
        units));
}

// The path with the computer's name for a "." at its start; its length, or 0: it is too long, or none.
static size_t expand(const struct session *about, const WCHAR *path, WCHAR into[1024]) {
    size_t units = wide_length(path), here = 0;
    bool dot = units != SIZE_MAX && units > 1 && path[0] == '.' && path[1] == '\\';
    if (!units || units > 512) return 0;
    if (dot) memcpy(into, about->computer, (here = about->computer_units) * sizeof *into);
    memcpy(into + here, path + dot, (units - dot) * sizeof *into);
    return here + units - dot;
}

HRESULT name_path(const struct session *about, const WCHAR *path, struct out *out, const char *member) {
    WCHAR whole[1024];
    size_t units = expand(about, path, whole);
    if (units) out_wide(out, member, whole, units);
    return units ? MQ_OK : MQ_ERROR_ILLEGAL_QUEUE_PATHNAME;
}

void out_target(struct out *out, const WCHAR *format_name, size_t units) {
    out_key(out, "target");
    out_word(out, "{");
    out_text(out, "type", format_name ? "queue" : "machine");
    if (format_name) out_wide(out, "format_name", format_name, units);
    out_word(out, "}");
}

// The direct name of the path, if the path is one and the queue, where it is a local one, is there.
EXPORT HRESULT MQPathNameToFormatName(const WCHAR *path, WCHAR *into, DWORD *length) {
    static const char direct[] = "DIRECT=OS:";
    struct session about;
    struct request request;
    struct answer answer;
    WCHAR name[1024 + sizeof direct];
    if (!path || !length || (*length && !into)) return MQ_ERROR_INVALID_PARAMETER;
    HRESULT status = session_ready(&about);
    if (FAILED(status)) return status;
    if (about.offers[PARSE]) {
        request_open(&request, PARSE);
        status = name_path(&about, path, &request.out, "text");
        out_text(&request.out, "form", "path_name");
        if (FAILED(status)) out_close(&request.out);
        else {
            status = request_call(&request, &answer, "kind");
            answer_free(&answer);
        }
        if (FAILED(status)) return status;
    }
    WCHAR *start = name + sizeof direct - 1;
    size_t at = sizeof direct - 1, units = expand(&about, path, start), own = about.computer_units;
    bool slash = false, local = units > own && start[own] == '\\' && same_name(start, about.computer, own);
    for (size_t i = 0; i < units; i++) slash = slash || start[i] == '\\';
    if (!slash) return MQ_ERROR_ILLEGAL_QUEUE_PATHNAME;
    for (size_t i = 0; i < at; i++) name[i] = (unsigned char)direct[i];
    at += units;
    if (local && about.offers[QUEUES_GET]) {
        request_open(&request, QUEUES_GET);
        out_wide(&request.out, "format_name", name, at);
        out_word(&request.out, ",\"properties\":[\"PROPID_Q_TYPE\"]");
        status = request_call(&request, &answer, NULL);
        answer_free(&answer);
        if (status == MQ_ERROR_QUEUE_NOT_FOUND || status == MQ_ERROR_SERVICE_NOT_AVAILABLE) return status;
    }
    return name_give(name, at, into, length, MQ_ERROR_FORMATNAME_BUFFER_TOO_SMALL);
}

EXPORT HRESULT MQInstanceToFormatName(const GUID *instance, WCHAR *into, DWORD *length) {
    char text[48] = "PUBLIC=";
    WCHAR wide[48];
    if (!instance || !length || (*length && !into)) return MQ_ERROR_INVALID_PARAMETER;
    guid_text(instance, text + 7);
    for (size_t i = 0; i < 44; i++) wide[i] = (unsigned char)text[i];
    return name_give(wide, 43, into, length, MQ_ERROR_FORMATNAME_BUFFER_TOO_SMALL);
}

EXPORT HRESULT MQHandleToFormatName(QUEUEHANDLE queue, WCHAR *into, DWORD *length) {
    struct handle about;
    HRESULT status = handle_find(queue, QUEUE, &about);
    if (FAILED(status)) return status;
    if (!length || (*length && !into)) return MQ_ERROR_INVALID_PARAMETER;
    return handle_name(about.id, into, length);
}

// Active Directory is not behind the session's directory: no path of it is known.
EXPORT HRESULT MQADsPathToFormatName(const WCHAR *path, WCHAR *into, DWORD *length) {
    if (!path || !length || (*length && !into)) return MQ_ERROR_INVALID_PARAMETER;
    HRESULT status = session_ready(NULL);
    return FAILED(status) ? status : MQ_ERROR_NO_DS;
}
