// How many calls a second the library makes of a session that costs nothing: an echo in a process of its own.
// `make bench` in adapters/mqrt.
#include "fake.h"
#include "mqrt.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char path[64];
static const WCHAR NAME[] = u"DIRECT=OS:HOST\\private$\\q";
static int calls;

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void check(HRESULT status) {
    if (status < 0) { printf("0x%08X\n", (unsigned)status); exit(1); }
}

static void *sends(void *given) {
    uint8_t body[1024] = {0};
    PROPID id = PROPID_M_BODY;
    MQPROPVARIANT value = {.vt = VT_UI1 | VT_VECTOR, .caub = {1024, body}};
    MQMSGPROPS props = {1, &id, &value, NULL};
    for (int i = 0; i < calls; i++) check(MQSendMessage(given, &props, NULL));
    return NULL;
}

static void *receives(void *given) {
    static uint8_t body[4000000];
    PROPID id = PROPID_M_BODY;
    MQPROPVARIANT value = {.vt = VT_UI1 | VT_VECTOR, .caub = {sizeof body, body}};
    MQMSGPROPS props = {1, &id, &value, NULL};
    for (int i = 0; i < calls; i++) check(MQReceiveMessage(given, 0, MQ_ACTION_RECEIVE, &props, NULL, NULL, NULL, NULL));
    return NULL;
}

static void *purges(void *given) {
    for (int i = 0; i < calls; i++) check(MQPurgeQueue(given));
    return NULL;
}

static void run(const char *what, void *(*act)(void *), QUEUEHANDLE queue, int threads) {
    pthread_t all[64];
    double from = seconds();
    for (int i = 0; i < threads; i++) pthread_create(&all[i], NULL, act, queue);
    for (int i = 0; i < threads; i++) pthread_join(all[i], NULL);
    printf("%-22s %2d threads %8.0f calls/s\n", what, threads, threads * calls / (seconds() - from));
}

int main(int count, char **given) {
    cpu_set_t one; // all on one processor: to wake another that sleeps can take longer than a call
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
    calls = count > 1 ? atoi(given[1]) : 100000;
    snprintf(path, sizeof path, "/tmp/mqrt-bench-%d", (int)getpid());
    pid_t echo = fork();
    if (!echo) { fake_start(path, NULL); for (;;) pause(); }
    usleep(200000);
    setenv("MQCONFORM_MQRT", path, 1);
    QUEUEHANDLE queue;
    check(MQOpenQueue(NAME, MQ_SEND_ACCESS, 0, &queue));
    run("MQPurgeQueue", purges, queue, 1);
    run("MQSendMessage, 1 KiB", sends, queue, 1);
    run("MQReceiveMessage", receives, queue, 1);
    calls /= 4;
    run("MQPurgeQueue", purges, queue, 4);
    kill(echo, SIGTERM);
    waitpid(echo, NULL, 0);
    unlink(path);
}
