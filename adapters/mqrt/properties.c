// Property arrays and their values.
#include "internal.h"

#include <stdlib.h>
#include <string.h>

HRESULT props_check(const MQPROPS *props, HRESULT missing) {
    if (!props || !props->cProp || !props->aPropID || !props->aPropVar) return missing;
    return props->cProp > MOST_PROPERTIES ? MQ_ERROR_TOO_MANY_PROPERTIES : MQ_OK;
}

HRESULT props_result(const HRESULT *statuses, const MQPROPS *props) {
    HRESULT result = MQ_OK;
    for (uint32_t i = 0; i < props->cProp; i++) {
        if (props->aStatus) props->aStatus[i] = statuses[i];
        if (FAILED(statuses[i])) result = MQ_ERROR_PROPERTY;
        else if (statuses[i] && !result) result = MQ_INFORMATION_PROPERTY;
    }
    return result;
}

int props_find(const MQPROPS *props, PROPID id) {
    for (uint32_t i = 0; i < props->cProp; i++) if (props->aPropID[i] == id) return (int)i;
    return -1;
}

bool props_repeated(const MQPROPS *props, uint32_t at) { return props_find(props, props->aPropID[at]) < (int)at; }

static size_t element_size(uint16_t vt) {
    switch (vt) {
    case VT_I1: case VT_UI1: return 1;
    case VT_I2: case VT_UI2: case VT_BOOL: return 2;
    case VT_I4: case VT_UI4: return 4;
    case VT_I8: case VT_UI8: return 8;
    case VT_CLSID: return sizeof(GUID);
    case VT_LPWSTR: return sizeof(WCHAR *);
    case VT_VARIANT: return sizeof(MQPROPVARIANT);
    default: return 0;
    }
}

// A number, GUID or text that vt selects, to where it stays.
static bool element_read(const struct answer *a, const struct json *value, uint16_t vt, void *to) {
    if (vt == VT_VARIANT) return variant_read(a, value, to);
    if (vt == VT_CLSID) return json_guid(value, to);
    if (vt == VT_LPWSTR) {
        WCHAR *text = value->kind == JSON_TEXT ? json_wide(value) : NULL;
        memcpy(to, &text, sizeof text);
        return text || value->kind == JSON_NULL;
    }
    uint64_t number;
    if (value->kind == JSON_TEXT && value->length && value->text[0] != '-') {
        if (!json_decimal(value, &number)) return false;
    } else {
        number = (uint64_t)json_integer(value, INT64_MIN);
        if (number == (uint64_t)INT64_MIN) return false;
    }
    if (vt == VT_BOOL) number = number ? 0xFFFF : 0;
    size_t size = element_size(vt);
    memcpy(to, &number, size); // of the low bytes: Linux of x86 and ARM has them first
    return size > 0;
}

bool value_read(const struct json *value, uint16_t vt, MQPROPVARIANT *into) {
    memset(into, 0, sizeof *into);
    into->vt = vt;
    if (vt == VT_CLSID) {
        into->puuid = malloc(sizeof(GUID));
        return into->puuid && json_guid(value, into->puuid);
    }
    if (vt == VT_BLOB || vt == (VT_UI1 | VT_VECTOR)) {
        size_t size = json_byte_count(value);
        into->blob = (BLOB){(uint32_t)size, malloc(size + 1)};
        return into->blob.pBlobData && json_bytes(value, into->blob.pBlobData, size, &size);
    }
    return element_size(vt) && vt != VT_VARIANT && element_read(NULL, value, vt, &into->uhVal);
}

bool variant_read(const struct answer *a, const struct json *variant, MQPROPVARIANT *into) {
    int64_t vt = json_integer(json_member(a, variant, "vt"), -1);
    const struct json *value = json_member(a, variant, "value");
    memset(into, 0, sizeof *into);
    if (vt == VT_EMPTY || vt == VT_NULL) { into->vt = (uint16_t)vt; return true; }
    if (vt == VT_LPWSTR && !value) { into->vt = VT_LPWSTR; return true; }
    if (vt < 0 || vt > UINT16_MAX || !value) return false;
    if (!(vt & VT_VECTOR) || vt == (VT_UI1 | VT_VECTOR)) return value_read(value, (uint16_t)vt, into);
    size_t size = element_size((uint16_t)(vt & ~VT_VECTOR));
    if (!size || value->kind != JSON_ARRAY) return false;
    uint8_t *items = calloc(value->length + 1, size);
    into->vt = (uint16_t)vt;
    into->caub.pElems = items;
    if (!items) return false;
    for (const struct json *item = json_first(a, value); item; item = json_next(a, item)) {
        bool good = element_read(a, item, (uint16_t)(vt & ~VT_VECTOR), items + into->caub.cElems * size);
        into->caub.cElems++;
        if (!good) return false;
    }
    return true;
}

void variant_free(MQPROPVARIANT *value) {
    if (value->vt == VT_CLSID || value->vt == VT_LPWSTR) free(value->ptr);
    if (value->vt & VT_VECTOR || value->vt == VT_BLOB) {
        for (uint32_t i = 0; i < value->caub.cElems; i++) {
            if (value->vt == (VT_LPWSTR | VT_VECTOR)) free(value->calpwstr.pElems[i]);
            if (value->vt == (VT_VARIANT | VT_VECTOR)) variant_free(&value->capropvar.pElems[i]);
        }
        free(value->caub.pElems);
    }
    memset(value, 0, sizeof *value);
}
