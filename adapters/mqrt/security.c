// Security descriptors and certificates.
#include "internal.h"

#include <stdlib.h>
#include <string.h>

enum { SELF_RELATIVE = 0x8000, PARTS = 4, MOST = 1 << 20 };

// Owner, group, SACL and DACL of a descriptor in either form. The length of a part stands in itself: of a SID in its count, of an
// ACL behind its revision.
static const uint8_t *part(const uint8_t *descriptor, int at) {
    uint16_t control;
    memcpy(&control, descriptor + 2, 2);
    if (control & SELF_RELATIVE) {
        uint32_t offset;
        memcpy(&offset, descriptor + 4 + 4 * at, 4);
        return offset ? descriptor + offset : NULL;
    }
    const uint8_t *pointer;
    memcpy(&pointer, descriptor + (sizeof(void *) == 8 ? 8 : 4) + sizeof pointer * (size_t)at, sizeof pointer);
    return pointer;
}

static uint32_t part_length(const uint8_t *bytes, int at) {
    uint16_t size;
    if (!bytes) return 0;
    if (at < 2) return 8 + 4u * bytes[1];
    memcpy(&size, bytes + 2, 2);
    return size;
}

// The self-relative form, with the parts that `information` names. NULL: no memory, or it is not one.
static uint8_t *self_relative(const uint8_t *descriptor, DWORD information, uint32_t *length) {
    static const DWORD bit[PARTS] = {1, 2, 8, 4};
    *length = 20;
    if (descriptor[0] != 1) return NULL;
    for (int i = 0; i < PARTS; i++) if (information & bit[i]) *length += (part_length(part(descriptor, i), i) + 3) & ~3u;
    uint8_t *made = calloc(1, *length);
    if (!made) return NULL;
    uint16_t control;
    memcpy(&control, descriptor + 2, 2);
    control |= SELF_RELATIVE;
    made[0] = 1;
    memcpy(made + 2, &control, 2);
    uint32_t at = 20;
    for (int i = 0; i < PARTS; i++) {
        const uint8_t *bytes = information & bit[i] ? part(descriptor, i) : NULL;
        if (!bytes) continue;
        memcpy(made + 4 + 4 * i, &at, 4);
        memcpy(made + at, bytes, part_length(bytes, i));
        at += (part_length(bytes, i) + 3) & ~3u;
    }
    return made;
}

EXPORT HRESULT MQGetQueueSecurity(const WCHAR *format_name, DWORD information, void *descriptor, DWORD length, DWORD *needed) {
    struct request request;
    struct answer answer;
    size_t units, size = 0;
    HRESULT status = name_check(format_name, &units);
    if (!FAILED(status) && (!needed || (length && !descriptor))) status = MQ_ERROR_INVALID_PARAMETER;
    if (FAILED(status)) return status;
    request_open(&request, SECURITY_GET);
    out_target(&request.out, format_name, units);
    out_number(&request.out, "information", information);
    out_number(&request.out, "length", length);
    status = request_call(&request, &answer, NULL);
    const struct json *bytes = json_member(&answer, answer.result, "descriptor"), *whole = json_member(&answer, answer.result,
        "length_needed");
    if (bytes && !json_bytes(bytes, descriptor, length, &size)) status = session_nonsense();
    int64_t told = json_integer(whole, (int64_t)size);
    *needed = told >= 0 && told <= UINT32_MAX ? (DWORD)told : 0;
    if (!FAILED(status) && size > length) {
        *needed = (DWORD)size;
        status = MQ_ERROR_SECURITY_DESCRIPTOR_TOO_SMALL;
    }
    answer_free(&answer);
    return status;
}

EXPORT HRESULT MQSetQueueSecurity(const WCHAR *format_name, DWORD information, const void *descriptor) {
    struct request request;
    struct answer answer;
    size_t units;
    uint32_t length;
    HRESULT status = name_check(format_name, &units);
    if (FAILED(status)) return status;
    if (!descriptor) return MQ_ERROR_INVALID_PARAMETER;
    uint8_t *bytes = self_relative(descriptor, information, &length);
    if (!bytes) return MQ_ERROR_ILLEGAL_SECURITY_DESCRIPTOR;
    request_open(&request, SECURITY_SET);
    out_target(&request.out, format_name, units);
    out_number(&request.out, "information", information);
    out_bytes(&request.out, "descriptor", bytes, length);
    free(bytes);
    status = request_call(&request, &answer, NULL);
    answer_free(&answer);
    return status;
}

// A context keeps the certificate, for PROPID_M_SECURITY_CONTEXT; without one it stands for the caller's internal certificate.
EXPORT HRESULT MQGetSecurityContext(const void *certificate, DWORD length, HANDLE *context) {
    struct handle made = {.length = certificate ? length : 0};
    if (!context) return MQ_ERROR_INVALID_PARAMETER;
    *context = NULL;
    if ((certificate && !length) || (!certificate && length) || length > MOST) return MQ_ERROR_INVALID_CERTIFICATE;
    made.data = malloc(length + 1);
    if (!made.data) return MQ_ERROR_INSUFFICIENT_RESOURCES;
    if (length) memcpy(made.data, certificate, length);
    *context = (HANDLE)(uintptr_t)handle_add(CERTIFICATE, &made);
    return *context ? MQ_OK : MQ_ERROR_INSUFFICIENT_RESOURCES;
}

EXPORT HRESULT MQGetSecurityContextEx(const void *certificate, DWORD length, HANDLE *context) {
    return MQGetSecurityContext(certificate, length, context);
}

EXPORT void MQFreeSecurityContext(HANDLE context) { handle_remove(context, CERTIFICATE); }

// 1: always, 2: if there is none. The directory that would hold it takes no certificates from programs.
EXPORT HRESULT MQRegisterCertificate(DWORD flags, const void *certificate, DWORD length) {
    if (flags != 1 && flags != 2) return MQ_ERROR_INVALID_PARAMETER;
    if ((certificate && !length) || (!certificate && length)) return MQ_ERROR_INVALID_PARAMETER;
    HRESULT status = session_ready(NULL);
    return FAILED(status) ? status : MQ_ERROR_NO_DS;
}
