// A program that loads the library, leaves a receive waiting and unloads it: `unload LIBRARY`.
#include "check.h"
#include "fake.h"

#include <dlfcn.h>
#include <unistd.h>

int checked, failed;

static size_t waits(long id, const char *method, const char *line, char *to, size_t room) {
    if (!strcmp(method, "messages.cancel") || strncmp(method, "messages.", 9)) return fake_usual(id, method, line, to, room);
    return (size_t)snprintf(to, room, "{\"jsonrpc\":\"2.0\",\"method\":\"pending\",\"params\":{\"id\":%ld}}\n", id);
}

static void heard(HRESULT status, QUEUEHANDLE queue, DWORD timeout, DWORD action, MQMSGPROPS *props, OVERLAPPED *overlapped,
    HANDLE cursor) {
    (void)status; (void)queue; (void)timeout; (void)action; (void)props; (void)overlapped; (void)cursor;
}

int main(int count, char **given) {
    char path[64];
    snprintf(path, sizeof path, "/tmp/mqrt-unload-%d", (int)getpid());
    fake_start(path, waits);
    for (int i = 0; i < 3; i++) {
        QUEUEHANDLE queue;
        void *library = count > 1 ? dlopen(given[1], RTLD_NOW | RTLD_LOCAL) : NULL;
        if (!library) { puts(dlerror()); return 2; }
        HRESULT (*open)(const WCHAR *, DWORD, DWORD, QUEUEHANDLE *);
        HRESULT (*receive)(QUEUEHANDLE, DWORD, DWORD, MQMSGPROPS *, OVERLAPPED *, PMQRECEIVECALLBACK, HANDLE, ITransaction *);
        *(void **)&open = dlsym(library, "MQOpenQueue");
        *(void **)&receive = dlsym(library, "MQReceiveMessage");
        EXPECT(open(u"DIRECT=OS:HOST\\private$\\q", MQ_RECEIVE_ACCESS, 0, &queue), MQ_OK);
        EXPECT(receive(queue, 9, MQ_ACTION_RECEIVE, NULL, NULL, heard, NULL, NULL), MQ_INFORMATION_OPERATION_PENDING);
        EXPECT(dlclose(library), 0);
        usleep(20000);
    }
    unlink(path);
    printf("%d checked, %d failed\n", checked, failed);
    return failed != 0;
}
