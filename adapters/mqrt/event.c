// Events, as far as OVERLAPPED.hEvent needs them: Linux has none that a thread can wait for and reset.
#include "internal.h"

#include <errno.h>
#include <time.h>


static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct { HANDLE handle; bool manual, set; } events[1024];

void events_lock(void) { pthread_mutex_lock(&lock); }

void events_unlock(bool in_child) {
    if (in_child) {
        pthread_mutex_init(&lock, NULL);
        pthread_cond_init(&changed, NULL);
    } else pthread_mutex_unlock(&lock);
}

// Handles of events: bit 30, a serial number of the place, the place and bit 0.
static uint32_t serials[1024];

static int look(const void *handle) {
    uintptr_t at = ((uintptr_t)handle & 0x7FF) >> 1;
    return handle && events[at].handle == handle ? (int)at : -1;
}

EXPORT HANDLE mqrt_event_create(int32_t manual, int32_t set) {
    HANDLE made = NULL;
    pthread_mutex_lock(&lock);
    for (uintptr_t at = 0; at < 1024 && !made; at++) {
        if (events[at].handle) continue;
        made = (HANDLE)(0x40000000u | (uintptr_t)(++serials[at] & 0x3FFFF) << 11 | at << 1 | 1);
        events[at].handle = made;
        events[at].manual = manual != 0;
        events[at].set = set != 0;
    }
    pthread_mutex_unlock(&lock);
    return made;
}

static int32_t change(HANDLE event, int set, bool remove) {
    pthread_mutex_lock(&lock);
    int at = look(event);
    if (at >= 0) {
        events[at].set = set;
        if (remove) events[at].handle = NULL;
        pthread_cond_broadcast(&changed);
    }
    pthread_mutex_unlock(&lock);
    return at >= 0;
}

EXPORT int32_t mqrt_event_set(HANDLE event) { return change(event, 1, false); }
EXPORT int32_t mqrt_event_reset(HANDLE event) { return change(event, 0, false); }
EXPORT int32_t mqrt_event_close(HANDLE event) { return change(event, 0, true); }
void event_signal(const void *handle) { change((HANDLE)(uintptr_t)handle, 1, false); }

EXPORT int32_t mqrt_event_wait(HANDLE event, DWORD milliseconds) {
    struct timespec until;
    int32_t result = 0x102;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += (time_t)(milliseconds / 1000);
    until.tv_nsec += (long)(milliseconds % 1000) * 1000000;
    if (until.tv_nsec >= 1000000000) { until.tv_sec++; until.tv_nsec -= 1000000000; }
    pthread_mutex_lock(&lock);
    for (bool over = false;; ) {
        int at = look(event);
        if (at < 0) { result = -1; break; }
        if (events[at].set) {
            events[at].set = events[at].manual;
            result = 0;
            break;
        }
        if (over) break;
        if (milliseconds == UINT32_MAX) pthread_cond_wait(&changed, &lock);
        else over = pthread_cond_timedwait(&changed, &lock, &until) == ETIMEDOUT;
    }
    pthread_mutex_unlock(&lock);
    return result;
}
