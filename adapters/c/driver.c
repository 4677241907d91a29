// A driver for mqconform over the queue manager in queue_manager.c: one JSON object a line on stdin and stdout.
// Calls of this queue manager block, so each read that may wait has a thread of its own.
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "queue_manager.h"

// What the driver holds open, by the number of the request that opened it. Only the main thread uses the list.
struct opened {
    long long number;
    struct handle *handle;
    struct cursor *cursor;
    struct opened *next;
};

struct method {
    const char *facet, *name;
    void (*does)(long long number, const struct json *params);
};

static struct opened *all_opened;

// Threads answer at the same time: the lock keeps their lines apart.
static pthread_mutex_t output = PTHREAD_MUTEX_INITIALIZER;

static void begin_answer(long long number, code status)
{
    pthread_mutex_lock(&output);
    printf("{\"jsonrpc\":\"2.0\",\"id\":%lld,\"result\":{\"status\":%u", number, status);
}

static void end_line(const char *end)
{
    printf("%s\n", end);
    fflush(stdout);
    pthread_mutex_unlock(&output);
}

static void answer(long long number, code status)
{
    begin_answer(number, status);
    end_line("}}");
}

// Handles. A harness may send any text or number as a handle: unknown ones are refused.

static struct opened *hold(long long number, struct handle *handle, struct cursor *cursor)
{
    struct opened *one = malloc(sizeof *one);
    if (!one) abort();
    *one = (struct opened){number, handle, cursor, all_opened};
    return all_opened = one;
}

static void forget_all(void)
{
    while (all_opened) {
        struct opened *next = all_opened->next;
        free(all_opened);
        all_opened = next;
    }
}

static const struct opened *held(const struct json *params, const char *name)
{
    long long number = json_number(params, name, -1);
    const struct opened *each = all_opened;
    while (each && each->number != number) each = each->next;
    return each;
}

static struct handle *queue_of(const struct json *params)
{
    const struct opened *found = held(params, "queue");
    return found ? found->handle : NULL;
}

static struct cursor *cursor_of(const struct json *params)
{
    const struct opened *found = held(params, "cursor");
    return found ? found->cursor : NULL;
}

static void answer_opened(long long number, code wrong, const char *name, struct handle *handle, struct cursor *cursor)
{
    if (wrong) {
        answer(number, wrong);
        return;
    }
    hold(number, handle, cursor);
    begin_answer(number, 0);
    printf(",\"%s\":%lld", name, number);
    end_line("}}");
}

// Methods.

static void stop(long long number, const struct json *params)
{
    (void)params;
    answer(number, 0);
    exit(0);
}

static void reset(long long number, const struct json *params)
{
    (void)params;
    mq_reset();
    forget_all();
    answer(number, 0);
}

static void create_queue(long long number, const struct json *params)
{
    const char *path_name = json_text(params, "path_name", "");
    code wrong = mq_create(path_name);
    begin_answer(number, wrong);
    if (!wrong) {
        char *format_name = malloc(strlen(path_name) + sizeof "DIRECT=OS:");
        if (!format_name) abort();
        sprintf(format_name, "DIRECT=OS:%s", path_name);
        printf(",\"format_name\":");
        json_write_text(stdout, format_name);
        free(format_name);
    }
    end_line("}}");
}

static void delete_queue(long long number, const struct json *params)
{
    answer(number, mq_delete(json_text(params, "format_name", "")));
}

static void open_queue(long long number, const struct json *params)
{
    struct handle *handle = NULL;
    code wrong = mq_open(json_text(params, "format_name", ""), json_text(params, "access", ""), &handle);
    answer_opened(number, wrong, "queue", handle, NULL);
}

static void close_queue(long long number, const struct json *params)
{
    struct handle *handle = queue_of(params);
    answer(number, handle ? mq_close(handle) : INVALID_HANDLE);
}

static void open_cursor(long long number, const struct json *params)
{
    struct handle *handle = queue_of(params);
    struct cursor *cursor = NULL;
    code wrong = handle ? mq_open_cursor(handle, &cursor) : INVALID_HANDLE;
    answer_opened(number, wrong, "cursor", NULL, cursor);
}

static void close_cursor(long long number, const struct json *params)
{
    struct cursor *cursor = cursor_of(params);
    answer(number, cursor ? mq_close_cursor(cursor) : INVALID_HANDLE);
}

static void send_message(long long number, const struct json *params)
{
    struct handle *handle = queue_of(params);
    const struct json *message = json_member(params, "message");
    if (!handle) {
        answer(number, INVALID_HANDLE);
        return;
    }
    answer(number, mq_send(handle, json_text(message, "body", ""), json_text(message, "label", ""),
                           (int)json_number(message, "priority", 3)));
}

// A read, and what its thread has to know.
struct call {
    enum read_kind kind;
    long long number;
    struct handle *handle;
    struct cursor *cursor;
    uint32_t timeout_ms;
};

// The queue manager says that a read is in line. If your API has no such sign, leave this out: a timer would guess.
static void pending(long long number)
{
    pthread_mutex_lock(&output);
    printf("{\"jsonrpc\":\"2.0\",\"method\":\"pending\",\"params\":{\"id\":%lld", number);
    end_line("}}");
}

static void *perform(void *argument)
{
    struct call call = *(struct call *)argument;
    struct message message;
    free(argument);
    code wrong = mq_read(call.kind, call.handle, call.cursor, call.timeout_ms, call.number, pending, &message);
    begin_answer(call.number, wrong);
    if (!wrong) {
        printf(",\"message\":{\"priority\":%d,\"body\":", message.priority);
        json_write_text(stdout, message.body);
        printf(",\"label\":");
        json_write_text(stdout, message.label);
        printf("}");
        free(message.body);
        free(message.label);
    }
    end_line("}}");
    return NULL;
}

// The call blocks if there is no message, and the driver must go on reading requests: a later send may bring the message.
// So the call has a thread, which answers when the call returns. Without a time-out it cannot block.
static void read_message(enum read_kind kind, long long number, const struct json *params)
{
    const struct json *cursor = json_member(params, "cursor");
    bool with_cursor = cursor && cursor->kind != JSON_NULL;
    struct call *call = malloc(sizeof *call);
    if (!call) abort();
    *call = (struct call){kind, number, queue_of(params), with_cursor ? cursor_of(params) : NULL,
                          (uint32_t)json_number(params, "timeout_ms", 0)};
    if (!call->handle || (with_cursor && !call->cursor)) {
        free(call);
        answer(number, INVALID_HANDLE);
        return;
    }
    if (call->timeout_ms == 0) {
        perform(call);
        return;
    }
    pthread_t thread;
    if (pthread_create(&thread, NULL, perform, call) != 0) abort();
    pthread_detach(thread);
}

static void receive_message(long long number, const struct json *params)
{
    read_message(RECEIVE, number, params);
}

static void peek_message(long long number, const struct json *params)
{
    read_message(PEEK, number, params);
}

static void peek_next_message(long long number, const struct json *params)
{
    read_message(PEEK_NEXT, number, params);
}

static void cancel(long long number, const struct json *params)
{
    answer(number, mq_cancel(json_number(params, "request", -1)));
}

static void hello(long long number, const struct json *params);

static const struct method METHODS[] = { // those of one facet stand together
    {"manager", "hello", hello},
    {"manager", "stop", stop},
    {"manager", "reset", reset},
    {"queues", "create", create_queue},
    {"queues", "delete", delete_queue},
    {"queues", "open", open_queue},
    {"queues", "close", close_queue},
    {"cursors", "open", open_cursor},
    {"cursors", "close", close_cursor},
    {"messages", "send", send_message},
    {"messages", "receive", receive_message},
    {"messages", "peek", peek_message},
    {"messages", "peek_next", peek_next_message},
    {"messages", "cancel", cancel},
};
enum { METHOD_COUNT = sizeof METHODS / sizeof METHODS[0] };

// Declares the methods of the table, and the values that they accept; a missing list means all values.
static void hello(long long number, const struct json *params)
{
    mq_start(json_text(params, "state_dir", "."));
    begin_answer(number, 0);
    printf(",\"protocol\":\"1.1\",\"name\":\"memory\",\"version\":\"1\",\"profile\":\"msmq-4.0\",\"computer\":\"HOST\","
           "\"clock\":\"real\",\"slack_ms\":500,\"accepts\":{\"message\":[\"body\",\"label\",\"priority\"],"
           "\"properties\":[],\"access\":[\"send\",\"receive\",\"peek\"],\"share\":[\"deny_none\"],"
           "\"format_names\":[]},\"facets\":{");
    for (int each = 0; each < METHOD_COUNT; each++) {
        bool first = each == 0 || strcmp(METHODS[each].facet, METHODS[each - 1].facet) != 0;
        if (first) printf("%s\"%s\":[", each == 0 ? "" : "],", METHODS[each].facet);
        printf("%s\"%s\"", first ? "" : ",", METHODS[each].name);
    }
    end_line("]}}}");
}

static const struct method *method_named(const char *name)
{
    for (int each = 0; each < METHOD_COUNT; each++) {
        const struct method *method = &METHODS[each];
        size_t facet = strlen(method->facet);
        if (strcmp(method->facet, "manager") == 0 && strcmp(method->name, name) == 0) return method;
        if (strncmp(method->facet, name, facet) == 0 && name[facet] == '.' && strcmp(method->name, name + facet + 1) == 0)
            return method;
    }
    return NULL;
}

int main(void)
{
    char *line = NULL;
    size_t size = 0;
    while (getline(&line, &size, stdin) > 0) {
        struct json *request = json_parse(line);
        if (!request) {
            fprintf(stderr, "not JSON: %s", line);
            return 1;
        }
        long long number = json_number(request, "id", 0);
        const struct method *method = method_named(json_text(request, "method", ""));
        if (method) {
            method->does(number, json_member(request, "params"));
        } else {
            pthread_mutex_lock(&output);
            printf("{\"jsonrpc\":\"2.0\",\"id\":%lld,\"error\":{\"code\":-32601,\"message\":\"no such method\"", number);
            end_line("}}");
        }
        json_free(request);
    }
    exit(0); // the end of the input ends the driver, and the reads that wait
}
