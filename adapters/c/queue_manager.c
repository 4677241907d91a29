#define _POSIX_C_SOURCE 200809L
#include "queue_manager.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#define DIRECT "DIRECT=OS:"
#define START (-1)      // a place in front of every message
#define END INT64_MAX   // a place behind every message

// A message in its queue. place: a smaller number is nearer to the front.
struct entry {
    struct message message;
    int64_t place;
    struct entry *next;
};

// A read that waits. Whoever ends it gives it a code, and for 0 a message, and wakes its thread.
struct read {
    long long call;
    struct handle *handle;
    struct cursor *cursor;
    bool takes, ended;
    code code;
    struct message *message; // where it goes
    pthread_cond_t wake_up;
    struct read *next; // the one behind it in line
};

// Messages in the order of receipt, and the line of reads that wait for one, oldest first.
struct queue {
    char *path_name;
    struct entry *first;
    struct read *line;
    bool deleted;
    struct queue *next;
};

struct handle {
    struct queue *queue;
    char access[8];
    bool closed;
};

// A place in a queue. UNREAD: its next read looks behind the place. READ: it stands at a message that it has peeked.
struct cursor {
    struct handle *handle;
    enum { UNREAD, READ, WAITING } state;
    int64_t place;
    bool closed;
};

// One lock guards everything. Queues, handles and cursors are never freed: a thread may still hold one.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct queue *queues;
static int64_t sent;
static char *file, *fresh;

static void *zeroed(size_t size)
{
    void *memory = calloc(1, size);
    if (!memory) abort();
    return memory;
}

// Gives up the lock and passes on a code.
static code unlocked(code code)
{
    pthread_mutex_unlock(&lock);
    return code;
}

// Messages and cursors.

static struct message copy(const struct message *message)
{
    return (struct message){strdup(message->body), strdup(message->label), message->priority};
}

// The first message behind a place, or NULL.
static struct entry *behind(const struct queue *queue, int64_t place)
{
    struct entry *each = queue->first;
    while (each && each->place <= place) each = each->next;
    return each;
}

static void remove_entry(struct queue *queue, struct entry *entry)
{
    struct entry **link = &queue->first;
    while (*link != entry) link = &(*link)->next;
    *link = entry->next;
    free(entry->message.body);
    free(entry->message.label);
    free(entry);
}

// The message that a cursor's read gives; NULL if the read has to wait.
static code find_with_cursor(const struct cursor *cursor, enum read_kind kind, struct entry **found)
{
    if (cursor->state == WAITING) return ILLEGAL_CURSOR_ACTION;
    if (cursor->state == UNREAD && kind == PEEK_NEXT) return ILLEGAL_CURSOR_ACTION;
    if (cursor->state == UNREAD || kind == PEEK_NEXT) {
        *found = behind(cursor->handle->queue, cursor->place);
        return 0;
    }
    *found = behind(cursor->handle->queue, cursor->place - 1);
    return *found && (*found)->place == cursor->place ? 0 : ALREADY_RECEIVED;
}

static void stand_at(struct cursor *cursor, const struct entry *entry, bool takes)
{
    cursor->place = entry ? entry->place : END;
    cursor->state = entry && !takes ? READ : UNREAD;
}

// The line of reads.

static void end_read(struct read *read, code code, const struct entry *entry)
{
    struct read **link = &read->handle->queue->line;
    while (*link != read) link = &(*link)->next;
    *link = read->next;
    read->ended = true;
    read->code = code;
    if (entry) *read->message = copy(&entry->message);
    if (read->cursor) stand_at(read->cursor, entry, read->takes);
    pthread_cond_signal(&read->wake_up);
}

// Ends the reads of a handle, of a cursor, or all of a queue.
static void end_reads(struct queue *queue, const struct handle *handle, const struct cursor *cursor, code code)
{
    for (struct read *read = queue->line, *next; read; read = next) {
        next = read->next;
        if ((!handle || read->handle == handle) && (!cursor || read->cursor == cursor)) end_read(read, code, NULL);
    }
}

// The new message goes to the reads in line, in their order, until one takes it.
static void put(struct queue *queue, struct entry *entry)
{
    struct entry **link = &queue->first;
    while (*link && (*link)->place < entry->place) link = &(*link)->next;
    entry->next = *link;
    *link = entry;
    for (struct read *read = queue->line, *next; read; read = next) {
        next = read->next;
        bool takes = read->takes;
        end_read(read, 0, entry);
        if (takes) {
            remove_entry(queue, entry);
            return;
        }
    }
}

// The calling thread waits here. pthread_cond_wait lets go of the lock meanwhile, and has it again when it returns.
static code wait_in_line(struct read *read, uint32_t timeout_ms, void (*in_line)(long long call))
{
    struct timespec due;
    clock_gettime(CLOCK_MONOTONIC, &due);
    due.tv_sec += timeout_ms / 1000;
    due.tv_nsec += timeout_ms % 1000 * 1000000L;
    if (due.tv_nsec >= 1000000000L) {
        due.tv_sec++;
        due.tv_nsec -= 1000000000L;
    }
    pthread_condattr_t monotonic; // setting the computer's clock must not end a read
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&read->wake_up, &monotonic);
    pthread_condattr_destroy(&monotonic);

    struct read **last = &read->handle->queue->line;
    while (*last) last = &(*last)->next;
    *last = read;
    if (read->cursor) read->cursor->state = WAITING;
    if (timeout_ms > 0) in_line(read->call);
    while (!read->ended) { // a thread may also wake for no reason: it looks again
        int woken = 0;
        if (timeout_ms == WAIT_FOR_EVER) pthread_cond_wait(&read->wake_up, &lock);
        else woken = pthread_cond_timedwait(&read->wake_up, &lock, &due);
        if (woken == ETIMEDOUT && !read->ended) end_read(read, IO_TIMEOUT, NULL);
    }
    pthread_cond_destroy(&read->wake_up);
    return read->code;
}

// Handles.

static code check(const struct handle *handle, const char *access, const char *or_access)
{
    if (handle->closed) return INVALID_HANDLE;
    if (handle->queue->deleted) return QUEUE_DELETED;
    return strcmp(handle->access, access) == 0 || strcmp(handle->access, or_access) == 0 ? 0 : ACCESS_DENIED;
}

// The length in UTF-16: a character of four bytes has two units there. NUL is written C0 80.
static code check_label(const char *label)
{
    int length = 0;
    for (const char *at = label; *at; at++) {
        if ((*at & 0xC0) != 0x80) length++;
        if ((*at & 0xF8) == 0xF0) length++;
    }
    if (length > 249) return LABEL_TOO_LONG;
    return strstr(label, "\xC0\x80") ? PROPERTY_VALUE : 0;
}

code mq_send(struct handle *handle, const char *body, const char *label, int priority)
{
    pthread_mutex_lock(&lock);
    code wrong = check(handle, "send", "send");
    if (!wrong) wrong = check_label(label);
    if (wrong) return unlocked(wrong);
    struct entry *entry = zeroed(sizeof *entry);
    entry->message = (struct message){strdup(body), strdup(label), priority};
    // Higher priorities are nearer to the front; of one priority, the first that was sent.
    entry->place = ((int64_t)(7 - priority) << 48) + sent++;
    put(handle->queue, entry);
    return unlocked(0);
}

code mq_read(enum read_kind kind, struct handle *handle, struct cursor *cursor, uint32_t timeout_ms, long long call,
             void (*in_line)(long long call), struct message *message)
{
    bool takes = kind == RECEIVE;
    pthread_mutex_lock(&lock);
    code wrong = check(handle, "receive", takes ? "receive" : "peek");
    if (!wrong && cursor && (cursor->closed || cursor->handle != handle)) wrong = INVALID_HANDLE;
    if (wrong) return unlocked(wrong);
    struct entry *found = NULL;
    if (cursor) wrong = find_with_cursor(cursor, kind, &found);
    else found = behind(handle->queue, START);
    if (!wrong && !found && cursor && takes && timeout_ms == 0) wrong = MESSAGE_NOT_FOUND;
    if (wrong) return unlocked(wrong);
    if (!found) {
        struct read read = {.call = call, .handle = handle, .cursor = cursor, .takes = takes, .message = message};
        return unlocked(wait_in_line(&read, timeout_ms, in_line));
    }
    *message = copy(&found->message);
    if (cursor) stand_at(cursor, found, takes);
    if (takes) remove_entry(handle->queue, found);
    return unlocked(0);
}

code mq_open_cursor(struct handle *handle, struct cursor **cursor)
{
    pthread_mutex_lock(&lock);
    code wrong = check(handle, "receive", "peek");
    if (wrong) return unlocked(wrong);
    *cursor = zeroed(sizeof **cursor);
    (*cursor)->handle = handle;
    (*cursor)->place = START;
    return unlocked(0);
}

code mq_close_cursor(struct cursor *cursor)
{
    pthread_mutex_lock(&lock);
    if (cursor->closed || cursor->handle->closed) return unlocked(INVALID_HANDLE);
    cursor->closed = true;
    end_reads(cursor->handle->queue, NULL, cursor, CANCELLED);
    return unlocked(0);
}

code mq_close(struct handle *handle)
{
    pthread_mutex_lock(&lock);
    if (handle->closed) return unlocked(INVALID_HANDLE);
    handle->closed = true;
    end_reads(handle->queue, handle, NULL, CANCELLED);
    return unlocked(0);
}

code mq_cancel(long long call)
{
    pthread_mutex_lock(&lock);
    for (struct queue *queue = queues; queue; queue = queue->next)
        for (struct read *read = queue->line; read; read = read->next)
            if (read->call == call) {
                end_read(read, CANCELLED, NULL);
                return unlocked(0);
            }
    return unlocked(NOT_FOUND);
}

// Queues.

static void save(void)
{
    FILE *out = fopen(fresh, "w");
    if (!out) abort();
    for (struct queue *queue = queues; queue; queue = queue->next) fprintf(out, "%s\n", queue->path_name);
    if (fclose(out) != 0 || rename(fresh, file) != 0) abort();
}

static void add(const char *path_name)
{
    struct queue *queue = zeroed(sizeof *queue);
    queue->path_name = strdup(path_name);
    queue->next = queues;
    queues = queue;
}

// COMPUTER\private$\NAME
static bool is_private_queue(const char *path_name)
{
    static const char middle[] = "\\private$";
    const char *last = strrchr(path_name, '\\');
    size_t length = last ? strlen(last + 1) : 0;
    if (length < 1 || length > 124) return false;
    for (const unsigned char *at = (const unsigned char *)last + 1; *at; at++)
        if (*at < '!' || *at > 0x7F || strchr("\"+,;", *at)) return false;
    size_t computer = (size_t)(last - path_name);
    if (computer < sizeof middle) return false; // its NUL stands for one character of a computer's name
    computer -= sizeof middle - 1;
    for (size_t at = 0; at < computer; at++)
        if (path_name[at] < '!' || path_name[at] > '~') return false;
    return strncasecmp(path_name + computer, middle, sizeof middle - 1) == 0;
}

// Names are case-insensitive.
static struct queue *queue_named(const char *path_name)
{
    struct queue *queue = queues;
    while (queue && strcasecmp(queue->path_name, path_name) != 0) queue = queue->next;
    return queue;
}

static code find(const char *format_name, struct queue **queue)
{
    if (strncasecmp(format_name, DIRECT, strlen(DIRECT)) != 0) return FORMAT_NAME;
    if (!is_private_queue(format_name + strlen(DIRECT))) return FORMAT_NAME;
    *queue = queue_named(format_name + strlen(DIRECT));
    return *queue ? 0 : QUEUE_NOT_FOUND;
}

static void remove_queue(struct queue *queue)
{
    struct queue **link = &queues;
    while (*link != queue) link = &(*link)->next;
    *link = queue->next;
    queue->deleted = true;
    end_reads(queue, NULL, NULL, QUEUE_DELETED);
    while (queue->first) remove_entry(queue, queue->first);
}

void mq_start(const char *folder)
{
    file = zeroed(strlen(folder) + sizeof "/queues.txt");
    fresh = zeroed(strlen(folder) + sizeof "/queues.new");
    sprintf(file, "%s/queues.txt", folder);
    sprintf(fresh, "%s/queues.new", folder);
    FILE *in = fopen(file, "r");
    if (!in) return;
    char *line = NULL;
    size_t size = 0;
    while (getline(&line, &size, in) > 0) {
        line[strcspn(line, "\n")] = 0;
        add(line);
    }
    free(line);
    fclose(in);
}

void mq_reset(void)
{
    pthread_mutex_lock(&lock);
    while (queues) remove_queue(queues);
    save();
    pthread_mutex_unlock(&lock);
}

code mq_create(const char *path_name)
{
    pthread_mutex_lock(&lock);
    if (!is_private_queue(path_name)) return unlocked(PATH_NAME);
    if (queue_named(path_name)) return unlocked(QUEUE_EXISTS);
    add(path_name);
    save();
    return unlocked(0);
}

code mq_delete(const char *format_name)
{
    struct queue *queue;
    pthread_mutex_lock(&lock);
    code wrong = find(format_name, &queue);
    if (wrong) return unlocked(wrong);
    remove_queue(queue);
    save();
    return unlocked(0);
}

code mq_open(const char *format_name, const char *access, struct handle **handle)
{
    struct queue *queue;
    pthread_mutex_lock(&lock);
    code wrong = find(format_name, &queue);
    if (wrong) return unlocked(wrong);
    *handle = zeroed(sizeof **handle);
    (*handle)->queue = queue;
    snprintf((*handle)->access, sizeof(*handle)->access, "%s", access);
    return unlocked(0);
}
