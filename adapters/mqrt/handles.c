// Handles: numbers of a place in a table and of its tenant, so that any number that a program hands in can be looked up.
#include "internal.h"

#include <stdlib.h>
#include <string.h>

enum { PLACES = 1 << 20 };

struct entry { enum kind kind; uint32_t serial, generation,
    parent; char *json; WCHAR *name; size_t units; void *data; uint32_t length; };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct entry *entries;
static uint32_t count, hint;

void handles_lock(void) { pthread_mutex_lock(&lock); }

void handles_unlock(bool in_child) {
    if (in_child) pthread_mutex_init(&lock, NULL);
    else pthread_mutex_unlock(&lock);
}

// The number is below 2^31, as PROPID_M_SECURITY_CONTEXT has 32 bits: 11 bits of the tenant, 20 of the place, counted from 1.
static uint32_t numbered(uint32_t at) { return (entries[at].serial & 0x7FF) << 20 | (at + 1); }

static struct entry *look(const void *handle, enum kind kind) {
    uintptr_t number = (uintptr_t)handle;
    uint32_t at = ((uint32_t)number & (PLACES - 1)) - 1;
    if (number > INT32_MAX || at >= count || entries[at].kind != kind || numbered(at) != number) return NULL;
    return &entries[at];
}

uint32_t handle_add(enum kind kind, const struct handle *about) {
    uint32_t at = 0, number = 0;
    char *json = strdup(about->json);
    pthread_mutex_lock(&lock);
    for (at = hint; at < count && entries[at].kind; at++) {}
    if (at == count && json && count < PLACES - 2) {
        uint32_t room = count ? count * 2 : 64;
        struct entry *grown = room <= PLACES ? realloc(entries, room * sizeof *grown) : NULL;
        if (grown) {
            memset(grown + count, 0, (room - count) * sizeof *grown);
            entries = grown;
            count = room;
        }
    }
    if (at < count && json) {
        uint32_t serial = entries[at].serial + 1;
        entries[at] = (struct entry){kind, serial, about->generation, about->parent, json, about->name, about->units,
            about->data, about->length};
        hint = at + 1;
        number = numbered(at);
    }
    pthread_mutex_unlock(&lock);
    if (number) return number;
    free(json);
    free(about->name);
    free(about->data);
    return 0;
}

// A handle of an earlier session is stale: MQ_ERROR_STALE_HANDLE comes from `request`, which compares generations.
HRESULT handle_find(const void *handle, enum kind kind, struct handle *about) {
    pthread_mutex_lock(&lock);
    struct entry *entry = look(handle, kind);
    if (entry) {
        *about = (struct handle){.id = (uint32_t)(uintptr_t)handle, .generation = entry->generation, .parent = entry->parent,
            .length = entry->length};
        strcpy(about->json, entry->json);
    }
    pthread_mutex_unlock(&lock);
    return entry ? MQ_OK : MQ_ERROR_INVALID_HANDLE;
}

static void clear(struct entry *entry) {
    free(entry->json);
    free(entry->name);
    free(entry->data);
    *entry = (struct entry){.serial = entry->serial};
    if ((uint32_t)(entry - entries) < hint) hint = (uint32_t)(entry - entries);
}

bool handle_remove(const void *handle, enum kind kind) {
    pthread_mutex_lock(&lock);
    struct entry *entry = look(handle, kind);
    if (entry) {
        clear(entry);
        if (kind == QUEUE) // its cursors end with it
            for (uint32_t at = 0; at < count; at++)
                if (entries[at].kind == CURSOR && entries[at].parent == (uint32_t)(uintptr_t)handle) clear(&entries[at]);
    }
    pthread_mutex_unlock(&lock);
    return entry != NULL;
}

bool handle_text(const struct json *value, struct handle *about) {
    struct out out;
    WCHAR units[128];
    bool good = false;
    out_open(&out);
    out_word(&out, "["); // an item: no comma
    if (value && value->kind == JSON_NUMBER && value->integer) out_number(&out, NULL, value->number);
    else if (value && value->kind == JSON_TEXT && json_units(value, units, 128) <= 128) out_wide(&out, NULL, units,
        json_units(value, units, 128));
    if (!out.failed && out.used > 1 && out.used < sizeof about->json) {
        memcpy(about->json, out.at + 1, out.used - 1);
        about->json[out.used - 1] = 0;
        good = true;
    }
    out_close(&out);
    return good;
}

// The name is copied while the table is locked: the queue may be closed at any time.
HRESULT handle_name(uint32_t queue, WCHAR *into, DWORD *length) {
    pthread_mutex_lock(&lock);
    struct entry *entry = look((void *)(uintptr_t)queue, QUEUE);
    HRESULT status = entry ? name_give(entry->name, entry->units, into, length, MQ_ERROR_FORMATNAME_BUFFER_TOO_SMALL)
        : MQ_ERROR_INVALID_HANDLE;
    pthread_mutex_unlock(&lock);
    return status;
}

// What a certificate or a locator keeps, copied while the table is locked. into NULL: into `out`, as a member of the request.
HRESULT handle_data(const void *handle, enum kind kind, void *into, size_t room, struct out *out, const char *member) {
    pthread_mutex_lock(&lock);
    struct entry *entry = look(handle, kind);
    if (entry && into) memcpy(into, entry->data, entry->length < room ? entry->length : room);
    else if (entry && entry->length) out_bytes(out, member, entry->data, entry->length);
    pthread_mutex_unlock(&lock);
    return entry ? MQ_OK : MQ_ERROR_INVALID_HANDLE;
}
