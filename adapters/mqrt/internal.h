// What the modules of the library share.
#ifndef INTERNAL_H
#define INTERNAL_H

#include "mqrt.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#define EXPORT __attribute__((visibility("default")))
#define FAILED(hr) ((hr) < 0)

// json.c: lines are parsed in place; a text is its bytes in UTF-8 (half of a surrogate pair has three) and may hold NULs.
enum json_kind { JSON_NULL, JSON_FALSE, JSON_TRUE, JSON_NUMBER, JSON_TEXT, JSON_ARRAY, JSON_OBJECT };
struct json {
    enum json_kind kind;
    bool integer;          // of a number: fits into `number`
    uint32_t next, length; // index of the sibling behind, 0 for none; bytes of the text, or how many items
    uint32_t first, name_length;
    const char *name;
    char *text;
    int64_t number;
};
struct answer { char *line; struct json *nodes; uint32_t count, room; const struct json *result; };
bool json_parse(struct answer *into, char *line, size_t length); // into owns the line from here on, also where it is no JSON
void answer_free(struct answer *answer);
const struct json *json_member(const struct answer *a, const struct json *object, const char *name); // NULL: not there, or null
const struct json *json_first(const struct answer *a, const struct json *list);
const struct json *json_next(const struct answer *a, const struct json *item);
bool json_is(const struct json *text, const char *word);
int64_t json_integer(const struct json *value, int64_t missing); // numbers, and decimal text
bool json_decimal(const struct json *text, uint64_t *value);
size_t json_units(const struct json *text, WCHAR *into, size_t room); // UTF-16 without NUL; the whole length, whatever the room
WCHAR *json_wide(const struct json *text);                           // with a NUL, for MQFreeMemory
bool json_bytes(const struct json *text, uint8_t *into, size_t room, size_t *size); // base64; the whole size
size_t json_byte_count(const struct json *text);
bool json_guid(const struct json *text, GUID *guid);
void guid_text(const GUID *guid, char text[37]);

// Text that grows: requests.
struct out { char *at; size_t used, room; bool failed; char small[2048]; };
void out_open(struct out *out);
void out_close(struct out *out);
void out_raw(struct out *out, const char *text, size_t length);
void out_word(struct out *out, const char *text);
void out_key(struct out *out, const char *name); // ,"name": with the comma where one is needed
void out_number(struct out *out, const char *name, int64_t value);
void out_decimal(struct out *out, const char *name, uint64_t value); // as text
void out_flag(struct out *out, const char *name, bool value);
void out_text(struct out *out, const char *name, const char *ascii);
void out_wide(struct out *out, const char *name, const WCHAR *text, size_t units);
void out_bytes(struct out *out, const char *name, const void *bytes, size_t count);
size_t wide_length(const WCHAR *text); // SIZE_MAX from 65,536 on
bool wide_is(const WCHAR *text, size_t units, const char *ascii, bool fold);

// session.c: the connection to the session, one for a process.
enum method {
    QUEUES_CREATE, QUEUES_DELETE, QUEUES_OPEN, QUEUES_CLOSE, QUEUES_PURGE, QUEUES_GET, QUEUES_SET, SEND, RECEIVE, PEEK,
    PEEK_NEXT, RECEIVE_BY_ID, PEEK_BY_ID, RECEIVE_BEGIN, RECEIVE_END, MOVE, CANCEL, CURSORS_OPEN, CURSORS_CLOSE, BEGIN, COMMIT,
    ABORT, MANAGEMENT_GET, MANAGEMENT_ACT, SECURITY_GET, SECURITY_SET, CERTIFICATES, PARSE, DIRECTORY_OWN, DIRECTORY_BEGIN,
    DIRECTORY_NEXT, DIRECTORY_END, METHODS
};
struct session { // what hello said
    bool offers[METHODS];
    WCHAR computer[256];
    size_t computer_units;
    GUID manager;
    uint32_t version, generation; // PROPID_PC_VERSION; of the connection
    uint64_t most_bytes;          // of a body
};
struct request { struct out out; enum method method; uint32_t id, generation; };
struct waiter { // a request without answer
    struct waiter *next, *behind;
    uint32_t id, queue;
    bool done, pending, background, following;
    HRESULT failure;
    pthread_cond_t cond;
    struct answer answer;
    void (*completed)(struct waiter *);
};
HRESULT session_ready(struct session *about); // connects where it has to
void request_open(struct request *request, enum method method);
HRESULT request_call(struct request *request, struct answer *answer,
    const char *needed); // closes it; needed: a member of a success
HRESULT request_start(struct request *request, struct waiter *waiter); // until it is answered or waits
HRESULT request_wait(struct request *request, struct waiter *waiter);
HRESULT answer_status(struct answer *answer, const char *needed);
void session_complete(struct waiter *waiter); // run its `completed` in the background
bool session_cancel(uint32_t queue, bool (*chosen)(const struct waiter *, const void *), const void *with);
HRESULT session_nonsense(void); // ends the session
int64_t milliseconds(void);

// handles.c
enum kind { NONE, QUEUE, CURSOR, CERTIFICATE, LOCATOR };
struct handle { // a copy of what is known of one
    uint32_t id, generation, parent;
    char json[256];
    WCHAR *name; // these three only for handle_add
    size_t units;
    void *data;
    uint32_t length;
};
uint32_t handle_add(enum kind kind, const struct handle *about); // 0: no memory; owns name and data
HRESULT handle_find(const void *handle, enum kind kind, struct handle *about);
bool handle_remove(const void *handle, enum kind kind);
bool handle_text(const struct json *value, struct handle *about); // of the session's handle, for about->json
HRESULT handle_name(uint32_t queue, WCHAR *into, DWORD *length);
HRESULT handle_data(const void *handle, enum kind kind, void *into, size_t room, struct out *out, const char *member);
void handles_lock(void);
void handles_unlock(bool in_child);
void events_lock(void);
void events_unlock(bool in_child);
void event_signal(const void *handle);

// properties.c
enum { MOST_PROPERTIES = 256 };
HRESULT props_check(const MQPROPS *props, HRESULT missing);
HRESULT props_result(const HRESULT *statuses, const MQPROPS *props); // fills aStatus; what the function returns for it
int props_find(const MQPROPS *props, PROPID id);                     // -1: not there
bool props_repeated(const MQPROPS *props, uint32_t at);
bool variant_read(const struct answer *a, const struct json *value,
    MQPROPVARIANT *into); // the protocol's `variant`; false: nonsense
bool value_read(const struct json *value, uint16_t vt, MQPROPVARIANT *into);              // allocates texts and GUIDs
void variant_free(MQPROPVARIANT *value);

// names.c
HRESULT name_give(const WCHAR *name, size_t units, WCHAR *into, DWORD *length, HRESULT too_small);
HRESULT name_path(const struct session *about, const WCHAR *path, struct out *out, const char *member); // "." becomes the computer
HRESULT name_check(const WCHAR *format_name, size_t *units);
bool name_local(const struct session *about, const WCHAR *computer); // NULL, "." and its name
void out_target(struct out *out, const WCHAR *format_name, size_t units); // format_name NULL: the machine

// transaction.c
HRESULT transaction_json(ITransaction *transaction, uint32_t generation, char json[256], bool *single); // json empty: none
HRESULT transaction_begin(char json[256], uint32_t *generation);
HRESULT transaction_end(const char *json, uint32_t generation, enum method end);

// queues.c. made: MQCreateQueue takes it. set: MQSetQueueProperties does. attribute: its name in a directory.
struct queue_property { PROPID id; uint16_t vt; bool made, set; const char *name, *attribute; };
const struct queue_property *queue_property(PROPID id);
void queue_value(struct out *out, const char *name, const MQPROPVARIANT *value);

// send.c and receive.c
struct property { PROPID id; uint16_t vt; PROPID length; uint8_t sent; HRESULT small; }; // length: the property with its length
const struct property *message_property(PROPID id);

#endif
