// A queue manager in memory, to be replaced by yours. It does not depend on mqconform; driver.c drives it.
// Its reads block: a thread that finds no message waits until another thread ends its read. Any thread may call it.
// It keeps its durable state, the names of the queues, in a file. Messages are lost when it ends.
#ifndef QUEUE_MANAGER_H
#define QUEUE_MANAGER_H

#include <stdint.h>

typedef uint32_t code; // an HRESULT of MS-MQMQ 2.4; 0 is success

#define QUEUE_NOT_FOUND 0xC00E0003u
#define QUEUE_EXISTS 0xC00E0005u
#define INVALID_HANDLE 0xC00E0007u
#define CANCELLED 0xC00E0008u
#define PATH_NAME 0xC00E0014u
#define PROPERTY_VALUE 0xC00E0018u
#define IO_TIMEOUT 0xC00E001Bu
#define ILLEGAL_CURSOR_ACTION 0xC00E001Cu
#define ALREADY_RECEIVED 0xC00E001Du
#define FORMAT_NAME 0xC00E001Eu
#define ACCESS_DENIED 0xC00E0025u
#define QUEUE_DELETED 0xC00E005Au
#define LABEL_TOO_LONG 0xC00E005Du
#define MESSAGE_NOT_FOUND 0xC00E0088u
#define NOT_FOUND 0xC0000225u
#define WAIT_FOR_EVER 0xFFFFFFFFu // a time-out

enum read_kind { RECEIVE, PEEK, PEEK_NEXT };

struct handle; // an open queue
struct cursor;

// What a read gives: the caller frees both texts.
struct message {
    char *body, *label;
    int priority;
};

void mq_start(const char *folder); // of the durable state
void mq_reset(void);               // deletes every queue
code mq_create(const char *path_name);
code mq_delete(const char *format_name);
code mq_open(const char *format_name, const char *access, struct handle **handle); // access: send, receive or peek
code mq_close(struct handle *handle);
code mq_send(struct handle *handle, const char *body, const char *label, int priority);
code mq_open_cursor(struct handle *handle, struct cursor **cursor);
code mq_close_cursor(struct cursor *cursor);

// Blocks until there is a message, until the time is over, or until somebody cancels the call, closes the handle or the
// cursor, or deletes the queue. cursor: NULL for none. call: the caller's name for it. in_line: called with that name if
// the read has to wait, once it is in line.
code mq_read(enum read_kind kind, struct handle *handle, struct cursor *cursor, uint32_t timeout_ms, long long call,
             void (*in_line)(long long call), struct message *message);
code mq_cancel(long long call); // ends the read that waits for this call

#endif
