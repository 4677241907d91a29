// What the test programs share: expectations, and property arrays that are short to write.
#ifndef CHECK_H
#define CHECK_H

#include "mqrt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern int checked, failed;
_Static_assert(sizeof(MQPROPVARIANT) == 8 + 2 * sizeof(void *) && sizeof(MQPROPERTYRESTRICTION) == 16 + 2 * sizeof(void *),
    "as on Windows");
_Static_assert(sizeof(MQPROPS) == 4 * sizeof(void *) && sizeof(XACTTRANSINFO) == 40
    && sizeof(OVERLAPPED) == 8 + 3 * sizeof(void *), "as on Windows");
static inline void expect(HRESULT got, HRESULT wanted, const char *what, const char *file, int line) {
    __atomic_add_fetch(&checked, 1, __ATOMIC_RELAXED);
    if (got == wanted) return;
    __atomic_add_fetch(&failed, 1, __ATOMIC_RELAXED);
    printf("%s:%d: %s is 0x%08X and not 0x%08X\n", file, line, what, (unsigned)got, (unsigned)wanted);
}
#define EXPECT(call, wanted) expect((HRESULT)(call), (HRESULT)(wanted), #call, __FILE__, __LINE__)
#define TRUE_THAT(what) expect((what) ? 1 : 0, 1, #what, __FILE__, __LINE__)

struct bag { MQPROPS props; PROPID ids[80]; MQPROPVARIANT values[80]; HRESULT statuses[80]; };
static inline MQPROPVARIANT *put(struct bag *bag, PROPID id, uint16_t vt) {
    uint32_t at = bag->props.cProp++;
    bag->props = (MQPROPS){at + 1, bag->ids, bag->values, bag->statuses};
    bag->ids[at] = id;
    bag->statuses[at] = 0x55;
    bag->values[at] = (MQPROPVARIANT){.vt = vt};
    return &bag->values[at];
}
static inline MQPROPVARIANT *put_number(struct bag *bag, PROPID id, uint16_t vt, uint64_t value) {
    MQPROPVARIANT *into = put(bag, id, vt);
    into->uhVal = value;
    return into;
}
static inline MQPROPVARIANT *put_text(struct bag *bag, PROPID id, WCHAR *text) {
    MQPROPVARIANT *into = put(bag, id, VT_LPWSTR);
    into->pwszVal = text;
    return into;
}
static inline MQPROPVARIANT *put_bytes(struct bag *bag, PROPID id, const void *bytes, uint32_t count) {
    MQPROPVARIANT *into = put(bag, id, VT_UI1 | VT_VECTOR);
    into->caub = (CAUB){count, (uint8_t *)(uintptr_t)bytes};
    return into;
}
// Room for a body and a label: what most receives here ask for.
struct room { struct bag bag; uint8_t body[64]; WCHAR label[260]; MQPROPVARIANT *size, *label_length; };
static inline MQPROPS *room(struct room *room, uint32_t body, uint32_t label) {
    memset(room, 0, sizeof *room);
    put_bytes(&room->bag, PROPID_M_BODY, room->body, body);
    room->size = put_number(&room->bag, PROPID_M_BODY_SIZE, VT_UI4, 0);
    put_text(&room->bag, PROPID_M_LABEL, room->label);
    room->label_length = put_number(&room->bag, PROPID_M_LABEL_LEN, VT_UI4, label);
    return &room->bag.props;
}
static inline size_t wide(const WCHAR *text) {
    size_t units = 0;
    while (text[units]) units++;
    return units;
}
static inline int same(const WCHAR *one, const WCHAR *other) { return wide(one) == wide(other) && !memcmp(one, other,
    wide(one) * 2); }
#endif
