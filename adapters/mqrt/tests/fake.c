#include "fake.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { ROOM = 10 << 20 };

const char *volatile fake_message = "{\"body\":\"aGVsbG8=\",\"label\":\"label\",\"lookup_identifier\":\"7\",\"identifier\":{\"source\":\"00112233-4455-6677-8899-aabbccddeeff\",\"ordinal\":5},\"response_queue\":\"DIRECT=OS:HOST\\\\private$\\\\r\",\"sender\":\"S-1-5-21-1-2-3\",\"sent_time\":17,\"priority\":4,\"delivery\":\"recoverable\",\"acknowledgements\":[\"negative_receive\"],\"extension\":\"AQI=\"}";
static int listener;
static fake_answer answers;

size_t fake_hello(long id, char *to, size_t room) {
    return (size_t)snprintf(to, room,
        "{\"jsonrpc\":\"2.0\",\"id\":%ld,\"result\":{\"status\":0,\"protocol\":\"1.4\",\"name\":\"fake\",\"version\":\"1\",\"profile\":\"msmq-6.0\",\"computer\":\"HOST\",\"queue_manager\":\"db0760c6-b874-5485-9d0b-bf112870b534\",\"facets\":{\"queues\":[\"create\",\"delete\",\"open\",\"close\",\"purge\",\"get\",\"set\"],\"messages\":[\"send\",\"receive\",\"peek\",\"peek_next\",\"receive_begin\",\"receive_end\",\"receive_by_lookup_id\",\"peek_by_lookup_id\",\"move\",\"cancel\"],\"cursors\":[\"open\",\"close\"],\"transactions\":[\"begin\",\"commit\",\"abort\"],\"management\":[\"get\",\"act\"],\"security\":[\"get\",\"set\",\"certificates\"],\"names\":[\"parse\"],\"directory\":[\"begin\",\"next\",\"end\"]},\"limits\":{\"max_body_bytes\":4000000}}}\n", id);
}

size_t fake_usual(long id, const char *method, const char *line, char *to, size_t room) {
    (void)line;
    const char *more = "";
    if (!strcmp(method, "hello")) return fake_hello(id, to, room);
    if (!strcmp(method, "queues.open")) more = ",\"queue\":\"q1\"";
    if (!strcmp(method, "queues.create")) more = ",\"format_name\":\"DIRECT=OS:HOST\\\\private$\\\\q\"";
    if (!strcmp(method, "queues.get"))
        more = ",\"properties\":{\"PROPID_Q_LABEL\":\"x\",\"PROPID_Q_QUOTA\":5,\"PROPID_Q_TYPE\":\"db0760c6-b874-5485-9d0b-bf112870b534\",\"PROPID_Q_MULTICAST_ADDRESS\":null}";
    if (!strcmp(method, "cursors.open")) more = ",\"cursor\":17";
    if (!strcmp(method, "transactions.begin")) more = ",\"transaction\":\"t1\"";
    if (!strcmp(method, "messages.send"))
        more = ",\"identifier\":{\"source\":\"00112233-4455-6677-8899-aabbccddeeff\",\"ordinal\":5},\"lookup_identifier\":\"9\"";
    if (!strcmp(method, "names.parse")) more = ",\"kind\":\"path\"";
    if (!strcmp(method, "management.get")) more = ",\"values\":[{\"vt\":4127,\"value\":[\"a\",\"b\"]}]";
    if (!strcmp(method, "security.get")) more = ",\"descriptor\":\"AQAAgAAAAAAAAAAAAAAAAAAAAAA=\",\"length_needed\":20";
    if (!strcmp(method, "directory.begin")) more = ",\"result\":\"Success\",\"query\":\"1\"";
    if (!strcmp(method, "directory.end")) more = ",\"result\":\"Success\"";
    if (!strcmp(method, "directory.next")) more = id % 3
        ? ",\"result\":\"Success\",\"object\":{\"path_name\":\"HOST\\\\q\",\"identifier\":\"db0760c6-b874-5485-9d0b-bf112870b534\",\"privacy_level\":\"Body\",\"journaling\":true}" : ",\"result\":\"EndOfData\"";
    size_t used = (size_t)snprintf(to, room, "{\"jsonrpc\":\"2.0\",\"id\":%ld,\"result\":{\"status\":0%s", id, more);
    if (!strncmp(method, "messages.receive", 16) || !strncmp(method, "messages.peek", 13))
        if (strcmp(method, "messages.receive_end")) used += (size_t)snprintf(to + used, room - used,
            ",\"read\":\"r1\",\"message\":%s", fake_message);
    return used + (size_t)snprintf(to + used, room - used, "}}\n");
}

static void *serve(void *given) {
    int fd = (int)(intptr_t)given;
    char *in = malloc(ROOM), *out = malloc(ROOM), method[64];
    size_t have = 0;
    for (ssize_t got; (got = read(fd, in + have, ROOM - have - 1)) > 0;) {
        have += (size_t)got;
        in[have] = 0;
        char *from = in, *feed;
        while ((feed = memchr(from, '\n', have - (size_t)(from - in)))) {
            *feed = 0;
            const char *id = strstr(from, "\"id\":"), *name = strstr(from, "\"method\":\"");
            size_t length = name ? strcspn(name + 10, "\"") : 0;
            if (length && length < sizeof method) memcpy(method, name + 10, length);
            method[length] = 0;
            size_t size = answers(id ? atol(id + 5) : 0, method, from, out, ROOM);
            if (size == FAKE_HANG_UP) goto over;
            for (size_t done = 0; done < size;) {
                ssize_t sent = send(fd, out + done, size - done, MSG_NOSIGNAL);
                if (sent <= 0) goto over;
                done += (size_t)sent;
            }
            from = feed + 1;
        }
        have -= (size_t)(from - in);
        memmove(in, from, have);
    }
over:
    close(fd);
    free(in);
    free(out);
    return NULL;
}

static void *take(void *none) {
    (void)none;
    for (int fd; (fd = accept(listener, NULL, NULL)) >= 0;) {
        pthread_t thread;
        if (!pthread_create(&thread, NULL, serve, (void *)(intptr_t)fd)) pthread_detach(thread);
    }
    return NULL;
}

void fake_start(const char *path, fake_answer answer) {
    static int started;
    answers = answer ? answer : fake_usual;
    if (started++) return;
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    pthread_t thread;
    snprintf(at.sun_path, sizeof at.sun_path, "%s", path);
    unlink(path);
    listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(listener, (struct sockaddr *)&at, sizeof at) || listen(listener, 64)) { perror("fake"); exit(2); }
    setenv("MQCONFORM_MQRT", path, 1);
    pthread_create(&thread, NULL, take, NULL);
    pthread_detach(thread);
}
