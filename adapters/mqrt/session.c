// The connection to the session: one for a process, made at the first call. Whoever waits for an answer reads the socket if
// nobody does, and hands out the answers of others; a thread in the background reads only while asynchronous calls wait.
#include "internal.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { LINE = 8 << 20, BUCKETS = 64, HELLO_MS = 10000, PENDING_MS = 250 };

static const char *const NAMES[METHODS] = {
    "queues.create", "queues.delete", "queues.open", "queues.close", "queues.purge", "queues.get", "queues.set", "messages.send",
    "messages.receive", "messages.peek", "messages.peek_next", "messages.receive_by_lookup_id", "messages.peek_by_lookup_id",
    "messages.receive_begin", "messages.receive_end", "messages.move", "messages.cancel", "cursors.open", "cursors.close",
    "transactions.begin", "transactions.commit", "transactions.abort", "management.get", "management.act", "security.get",
    "security.set", "security.certificates", "names.parse", "directory.own", "directory.begin", "directory.next", "directory.end"};
// What a call whose facet is missing answers.
static const struct { enum method from, to; HRESULT status; } REFUSALS[] = {
    {CANCEL, CANCEL, MQ_ERROR_UNSUPPORTED_OPERATION}, {SECURITY_GET, CERTIFICATES, MQ_ERROR_ILLEGAL_OPERATION},
    {DIRECTORY_OWN, DIRECTORY_END, MQ_ERROR_NO_DS}, {0, METHODS, MQ_ERROR_UNSUPPORTED_OPERATION}};

static struct {
    pthread_mutex_t lock, writing, connecting; // in this order where two are held: connecting, lock, writing
    int fd;                                    // -1: none
    bool leading, background;                  // somebody reads; the thread runs
    struct session about;
    struct waiter *waiting[BUCKETS], *following, *completed, *last_completed;
    uint32_t background_waits; // waiters that only the background would answer
    pthread_cond_t wanted;
    char *in; // what was read and is no whole line yet: only the leader's
    size_t in_from, in_seen, in_to, in_room;
} S = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, .fd = -1,
    .wanted = PTHREAD_COND_INITIALIZER};
static atomic_uint next_id = 1;

int64_t milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

// --- waiters ---

static struct waiter **place(uint32_t id) {
    struct waiter **at = &S.waiting[id % BUCKETS];
    while (*at && (*at)->id != id) at = &(*at)->next;
    return at;
}

static void complete(struct waiter *w) {
    w->behind = NULL;
    if (S.completed) S.last_completed->behind = w;
    else S.completed = w;
    S.last_completed = w;
    pthread_cond_signal(&S.wanted);
}

static void finish(struct waiter *w) {
    w->done = true;
    if (w->background) { S.background_waits--; complete(w); }
    else if (w->following) pthread_cond_signal(&w->cond);
}

// The session is over: all that wait learn it. Locked.
static void die(void) {
    if (S.fd < 0) return;
    shutdown(S.fd, SHUT_RDWR); // ends a write that is blocked
    pthread_mutex_lock(&S.writing);
    close(S.fd);
    S.fd = -1;
    pthread_mutex_unlock(&S.writing);
    S.about.generation++;
    for (int i = 0; i < BUCKETS; i++) {
        while (S.waiting[i]) {
            struct waiter *w = S.waiting[i];
            S.waiting[i] = w->next;
            w->failure = MQ_ERROR_SERVICE_NOT_AVAILABLE;
            finish(w);
        }
    }
}

HRESULT session_nonsense(void) {
    pthread_mutex_lock(&S.lock);
    if (S.fd >= 0) shutdown(S.fd, SHUT_RDWR); // whoever reads sees the end
    if (!S.leading) die();
    pthread_mutex_unlock(&S.lock);
    return MQ_ERROR_SERVICE_NOT_AVAILABLE;
}

// --- reading ---

// A line of its own memory, or NULL: nothing within the time (in_to tells, *over false), or the end (*over true).
static char *read_line(int fd, int timeout, size_t *length, bool *over) {
    *over = false;
    for (;;) {
        char *from = S.in + S.in_from, *feed = S.in_to > S.in_seen ? memchr(S.in + S.in_seen, '\n', S.in_to - S.in_seen) : NULL;
        if (feed) {
            *length = (size_t)(feed - from);
            char *line = malloc(*length + 1);
            if (line) memcpy(line, from, *length);
            S.in_from = S.in_seen = (size_t)(feed + 1 - S.in);
            if (S.in_from == S.in_to) S.in_from = S.in_seen = S.in_to = 0;
            *over = !line;
            return line;
        }
        S.in_seen = S.in_to;
        if (S.in_from) {
            memmove(S.in, S.in + S.in_from, S.in_to - S.in_from);
            S.in_to -= S.in_from;
            S.in_seen -= S.in_from;
            S.in_from = 0;
        }
        if (S.in_room - S.in_to < 4096) {
            size_t room = S.in_room ? S.in_room * 2 : 65536;
            char *in = S.in_to > LINE ? NULL : realloc(S.in, room);
            if (!in) { *over = true; return NULL; }
            S.in = in;
            S.in_room = room;
        }
        if (timeout >= 0) {
            struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
            int ready = poll(&poll_fd, 1, timeout);
            if (ready == 0 || (ready < 0 && errno == EINTR)) return NULL;
        }
        ssize_t got = read(fd, S.in + S.in_to, S.in_room - S.in_to);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) { *over = true; return NULL; }
        S.in_to += (size_t)got;
    }
}

static bool well_formed(const struct answer *a, const struct json *line, const struct json **id, const struct json **method) {
    if (line->kind != JSON_OBJECT || !json_is(json_member(a, line, "jsonrpc"), "2.0")) return false;
    const struct json *result = json_member(a, line, "result"), *error = json_member(a, line, "error");
    *id = json_member(a, line, "id");
    *method = json_member(a, line, "method");
    if (*method) return (*method)->kind == JSON_TEXT && !*id && !result && !error;
    return *id && (*id)->kind == JSON_NUMBER && (*id)->integer && line->length == 3 && (result ? result->kind == JSON_OBJECT
        : error && error->kind == JSON_OBJECT);
}

// Hand out a line. Locked. False: it is nonsense.
static bool hand_out(struct answer *a, bool parsed) {
    const struct json *line = parsed ? &a->nodes[1] : NULL, *id, *method;
    if (!line || !well_formed(a, line, &id, &method)) return false;
    if (method) {
        int64_t which = json_integer(json_member(a, json_member(a, line, "params"), "id"), -1);
        struct waiter *w = which > 0 && which <= UINT32_MAX ? *place((uint32_t)which) : NULL;
        if (json_is(method, "pending") && w) {
            w->pending = true;
            if (w->following) pthread_cond_signal(&w->cond);
        }
        answer_free(a);
        return true;
    }
    struct waiter **at = id->number > 0 && id->number <= UINT32_MAX ? place((uint32_t)id->number) : NULL, *w = at ? *at : NULL;
    if (!w) return false; // nobody asked
    *at = w->next;
    a->result = json_member(a, line, "result");
    w->answer = *a;
    finish(w);
    return true;
}

// Read until a line came, or the time is over. Locked before and behind, not while it reads.
static void lead(int timeout) {
    int fd = S.fd;
    S.leading = true;
    pthread_mutex_unlock(&S.lock);
    size_t length;
    bool over, parsed = false;
    struct answer answer = {0};
    char *line = read_line(fd, timeout, &length, &over);
    if (line) parsed = json_parse(&answer, line, length) && length <= LINE;
    pthread_mutex_lock(&S.lock);
    S.leading = false;
    if (line && !hand_out(&answer, parsed)) {
        answer_free(&answer);
        over = true;
    }
    if (over) die();
}

// Somebody else reads from now on. Locked.
static void pass_on(void) {
    if (S.leading) return;
    if (S.following) pthread_cond_signal(&S.following->cond);
    else if (S.background_waits) pthread_cond_signal(&S.wanted);
}

static void follow(struct waiter *w, int timeout) {
    w->following = true;
    w->behind = S.following;
    S.following = w;
    if (timeout < 0) pthread_cond_wait(&w->cond, &S.lock);
    else {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += (long)timeout * 1000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&w->cond, &S.lock, &until);
    }
    w->following = false;
    for (struct waiter **at = &S.following; *at; at = &(*at)->behind)
        if (*at == w) { *at = w->behind; break; }
}

static void *run_background(void *none) {
    (void)none;
    pthread_mutex_lock(&S.lock);
    for (;;) {
        struct waiter *w = S.completed;
        if (w) {
            S.completed = w->behind;
            pthread_mutex_unlock(&S.lock);
            w->completed(w);
            pthread_mutex_lock(&S.lock);
        } else if (S.background_waits && !S.leading && S.fd >= 0) lead(-1);
        else {
            pass_on();
            pthread_cond_wait(&S.wanted, &S.lock);
        }
    }
    return NULL;
}

// Locked. False: there is no thread, and none can be started.
static bool background(void) {
    pthread_t thread;
    if (!S.background && !pthread_create(&thread, NULL, run_background, NULL)) {
        pthread_detach(thread);
        S.background = true;
    }
    return S.background;
}

void session_complete(struct waiter *w) {
    pthread_mutex_lock(&S.lock);
    complete(w);
    pthread_mutex_unlock(&S.lock);
}

// --- connecting ---

static int dial(const char *where) {
    const char *colon = strrchr(where, ':');
    if (strchr(where, '/') || !colon) {
        struct sockaddr_un path = {.sun_family = AF_UNIX};
        int fd = strlen(where) < sizeof path.sun_path ? socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0) : -1;
        if (fd < 0) return -1;
        strcpy(path.sun_path, where);
        if (!connect(fd, (struct sockaddr *)&path, sizeof path)) return fd;
        close(fd);
        return -1;
    }
    char host[256];
    size_t length = (size_t)(colon - where);
    if (length >= sizeof host) return -1;
    memcpy(host, where, length);
    host[length] = 0;
    if (length > 1 && host[0] == '[' && host[length - 1] == ']') { memmove(host, host + 1, length - 2); host[length - 2] = 0; }
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL;
    if (getaddrinfo(host, colon + 1, &hints, &found)) return -1;
    int fd = -1, on = 1;
    for (struct addrinfo *at = found; at && fd < 0; at = at->ai_next) {
        fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fd >= 0 && connect(fd, at->ai_addr, at->ai_addrlen)) { close(fd); fd = -1; }
    }
    freeaddrinfo(found);
    if (fd >= 0) setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return fd;
}

static bool write_all(int fd, const char *at, size_t length) {
    while (length) {
        ssize_t sent = send(fd, at, length, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return false;
        at += sent;
        length -= (size_t)sent;
    }
    return true;
}

static bool understand(const struct answer *a, struct session *about) {
    const struct json *result = json_member(a, &a->nodes[1], "result"), *computer = json_member(a, result, "computer");
    const struct json *facets = json_member(a, result, "facets"), *protocol = json_member(a, result, "protocol");
    const struct json *profile = json_member(a, result, "profile");
    if (json_integer(json_member(a, result, "status"), -1) || !computer || !facets || facets->kind != JSON_OBJECT || !protocol)
        return false;
    if (protocol->kind != JSON_TEXT || protocol->length != 3 || memcmp(protocol->text, "1.", 2) || protocol->text[2] < '0'
        || protocol->text[2] > '4') return false;
    about->computer_units = json_units(computer, about->computer, 255);
    if (!about->computer_units || about->computer_units > 255 || !json_guid(json_member(a, result, "queue_manager"),
        &about->manager)) return false;
    about->version = profile && profile->kind == JSON_TEXT && profile->length == 8 ? (uint32_t)(profile->text[5] - '0') << 24 : 0;
    int64_t most = json_integer(json_member(a, json_member(a, result, "limits"), "max_body_bytes"), 4 << 20);
    about->most_bytes = most < 0 ? 4 << 20 : (uint64_t)most;
    memset(about->offers, 0, sizeof about->offers);
    for (const struct json *facet = json_first(a, facets); facet; facet = json_next(a, facet)) {
        if (facet->kind != JSON_ARRAY) return false;
        for (const struct json *name = json_first(a, facet); name; name = json_next(a, name))
            for (int m = 0; m < METHODS; m++)
                if (name->kind == JSON_TEXT && strlen(NAMES[m]) == facet->name_length + 1 + name->length && !memcmp(NAMES[m],
                    facet->name, facet->name_length) && NAMES[m][facet->name_length] == '.'
                    && !memcmp(NAMES[m] + facet->name_length + 1, name->text, name->length))
                    about->offers[m] = true;
    }
    return true;
}

// Connect and say hello. `connecting` is held, nobody leads and no line was read.
static bool greet(int fd, struct session *about) {
    struct out hello;
    size_t length = 0;
    bool over = false;
    char *line = NULL;
    uint32_t id = atomic_fetch_add(&next_id, 1);
    out_open(&hello);
    out_word(&hello, "{\"jsonrpc\":\"2.0\"");
    out_number(&hello, "id", id);
    out_word(&hello, ",\"method\":\"hello\",\"params\":{\"versions\":[\"1.4\",\"1.3\",\"1.2\",\"1.1\",\"1.0\"],"
        "\"harness\":\"libmqrt\",\"state_dir\":\"\"}}\n");
    S.in_from = S.in_seen = S.in_to = 0;
    if (write_all(fd, hello.at, hello.used)) line = read_line(fd, HELLO_MS, &length, &over);
    out_close(&hello);
    struct answer answer = {0};
    const struct json *which, *method;
    bool good = line && json_parse(&answer, line, length) && well_formed(&answer, &answer.nodes[1], &which, &method) && !method
        && which->number == (int64_t)id && understand(&answer, about);
    answer_free(&answer);
    return good;
}

static HRESULT connect_now(void) {
    HRESULT status = MQ_OK;
    pthread_mutex_lock(&S.connecting);
    pthread_mutex_lock(&S.lock);
    bool free_to_read = S.fd < 0 && !S.leading;
    struct session about = S.about;
    pthread_mutex_unlock(&S.lock);
    if (free_to_read) {
        const char *where = getenv("MQCONFORM_MQRT");
        int fd = where && *where ? dial(where) : -1;
        if (fd >= 0 && greet(fd, &about)) {
            pthread_mutex_lock(&S.lock);
            pthread_mutex_lock(&S.writing);
            S.fd = fd;
            about.generation = S.about.generation + 1;
            S.about = about;
            pthread_mutex_unlock(&S.writing);
            pthread_mutex_unlock(&S.lock);
        } else {
            if (fd >= 0) close(fd);
            status = MQ_ERROR_SERVICE_NOT_AVAILABLE;
        }
    }
    pthread_mutex_unlock(&S.connecting);
    return status;
}

HRESULT session_ready(struct session *about) {
    pthread_mutex_lock(&S.lock);
    HRESULT status = MQ_OK;
    if (S.fd < 0) {
        pthread_mutex_unlock(&S.lock);
        status = connect_now();
        pthread_mutex_lock(&S.lock);
        if (S.fd < 0) status = MQ_ERROR_SERVICE_NOT_AVAILABLE;
    }
    if (about) *about = S.about;
    pthread_mutex_unlock(&S.lock);
    return status;
}

// --- requests ---

void request_open(struct request *r, enum method method) {
    r->method = method;
    r->id = atomic_fetch_add(&next_id, 1);
    r->generation = 0;
    if (r->id > INT32_MAX) { atomic_store(&next_id, 2); r->id = 1; }
    out_open(&r->out);
    out_word(&r->out, "{\"jsonrpc\":\"2.0\"");
    out_number(&r->out, "id", r->id);
    out_word(&r->out, ",\"method\":\"");
    out_word(&r->out, NAMES[method]);
    out_word(&r->out, "\",\"params\":{");
}

static HRESULT refusal(enum method method) {
    for (int i = 0;; i++)
        if (method >= REFUSALS[i].from && method <= REFUSALS[i].to) return REFUSALS[i].status;
}

// Put the waiter in line and write. generation: of the handles in it; 0: there are none.
static HRESULT submit(struct request *r, struct waiter *w) {
    out_word(&r->out, "}}\n");
    HRESULT status = r->out.failed ? MQ_ERROR_INSUFFICIENT_RESOURCES : r->out.used > LINE ? MQ_ERROR_MESSAGE_STORAGE_FAILED
        : session_ready(NULL);
    if (FAILED(status)) return status;
    pthread_mutex_lock(&S.lock);
    uint32_t generation = S.about.generation;
    if (S.fd < 0) status = MQ_ERROR_SERVICE_NOT_AVAILABLE;
    else if (r->generation && r->generation != generation) status = MQ_ERROR_STALE_HANDLE;
    else if (!S.about.offers[r->method]) status = refusal(r->method);
    else if (*place(r->id)) status = MQ_ERROR_INSUFFICIENT_RESOURCES;
    if (FAILED(status)) { pthread_mutex_unlock(&S.lock); return status; }
    w->id = r->id;
    w->next = S.waiting[w->id % BUCKETS];
    S.waiting[w->id % BUCKETS] = w;
    pthread_mutex_unlock(&S.lock);
    pthread_mutex_lock(&S.writing);
    if (S.fd >= 0 && S.about.generation == generation && !write_all(S.fd, r->out.at, r->out.used)) shutdown(S.fd, SHUT_RDWR);
    pthread_mutex_unlock(&S.writing);
    return MQ_OK;
}

// Until the answer; or, for a session that never says that a call waits, a quarter of a second.
static void await(struct waiter *w, bool until_pending) {
    int64_t end = until_pending ? milliseconds() + PENDING_MS : 0;
    pthread_mutex_lock(&S.lock);
    while (!w->done && !(until_pending && w->pending)) {
        int left = until_pending ? (int)(end - milliseconds()) : -1;
        if (until_pending && left <= 0) break;
        if (S.leading) follow(w, left);
        else lead(left);
    }
    pass_on();
    pthread_mutex_unlock(&S.lock);
}

static void waiter_open(struct waiter *w) {
    w->done = w->pending = w->background = w->following = false;
    w->failure = MQ_OK;
    w->answer = (struct answer){0};
    pthread_cond_init(&w->cond, NULL);
}

HRESULT answer_status(struct answer *a, const char *needed) {
    const struct json *status = json_member(a, a->result, "status"), *failure = json_member(a, a->result, "failure");
    HRESULT code = MQ_ERROR;
    if (!a->result) return MQ_ERROR; // an error of JSON-RPC
    if (!status && failure) return json_is(json_member(a, failure, "kind"), "NotExpressible") ? MQ_ERROR_UNSUPPORTED_OPERATION
        : MQ_ERROR;
    int64_t number = json_integer(status, -1);
    if (!status || status->kind != JSON_NUMBER || number < 0 || number > UINT32_MAX) return session_nonsense();
    code = (HRESULT)(uint32_t)number;
    if (!FAILED(code) && needed && !json_member(a, a->result, needed)) return session_nonsense();
    return code;
}

HRESULT request_wait(struct request *r, struct waiter *w) {
    waiter_open(w);
    HRESULT status = submit(r, w);
    out_close(&r->out);
    if (FAILED(status)) return status;
    await(w, false);
    return w->failure;
}

HRESULT request_call(struct request *r, struct answer *answer, const char *needed) {
    struct waiter w = {.queue = 0};
    HRESULT status = request_wait(r, &w);
    *answer = w.answer;
    return FAILED(status) ? status : answer_status(answer, needed);
}

HRESULT request_start(struct request *r, struct waiter *w) {
    waiter_open(w);
    HRESULT status = submit(r, w);
    out_close(&r->out);
    if (FAILED(status)) return status;
    await(w, true);
    pthread_mutex_lock(&S.lock);
    bool leave = background() && !w->done;
    if (leave) {
        w->background = true;
        S.background_waits++;
        pthread_cond_signal(&S.wanted);
    }
    pthread_mutex_unlock(&S.lock);
    if (leave) return MQ_INFORMATION_OPERATION_PENDING; // the waiter may be gone
    await(w, false);
    return w->failure;
}

bool session_cancel(uint32_t queue, bool (*chosen)(const struct waiter *, const void *), const void *with) {
    uint32_t ids[256];
    int count = 0;
    pthread_mutex_lock(&S.lock);
    for (int i = 0; i < BUCKETS; i++)
        for (struct waiter *w = S.waiting[i]; w && count < 256; w = w->next)
            if (w->queue == queue && (!chosen || chosen(w, with))) ids[count++] = w->id;
    pthread_mutex_unlock(&S.lock);
    for (int i = 0; i < count; i++) {
        struct request r;
        struct answer answer;
        request_open(&r, CANCEL);
        out_number(&r.out, "request", ids[i]);
        request_call(&r, &answer, NULL);
        answer_free(&answer);
    }
    return count > 0;
}

// --- fork: the child has a connection of its own, and the handles of its parent are stale ---

static void before_fork(void) {
    pthread_mutex_lock(&S.lock);
    handles_lock();
    events_lock();
}

static void in_parent(void) {
    events_unlock(false);
    handles_unlock(false);
    pthread_mutex_unlock(&S.lock);
}

static void in_child(void) {
    events_unlock(true);
    handles_unlock(true);
    if (S.fd >= 0) close(S.fd);
    S.fd = -1;
    S.about.generation++;
    S.leading = S.background = false;
    memset(S.waiting, 0, sizeof S.waiting);
    S.following = S.completed = S.last_completed = NULL;
    S.background_waits = 0;
    S.in = NULL; // its reader may have been about to move it
    S.in_from = S.in_seen = S.in_to = S.in_room = 0;
    pthread_mutex_init(&S.lock, NULL);
    pthread_mutex_init(&S.writing, NULL);
    pthread_mutex_init(&S.connecting, NULL);
    pthread_cond_init(&S.wanted, NULL);
}

__attribute__((constructor)) static void watch_forks(void) { pthread_atfork(before_fork, in_parent, in_child); }
