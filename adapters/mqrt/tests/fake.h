// A session for tests, in the same process: it answers what it is told to, on a Unix socket that MQCONFORM_MQRT names.
#ifndef FAKE_H
#define FAKE_H
#include <stddef.h>
// Writes the line of the answer (with its line feed) for a request, and returns its length; 0: no answer; FAKE_HANG_UP: closes.
#define FAKE_HANG_UP ((size_t)-1)
typedef size_t (*fake_answer)(long id, const char *method, const char *line, char *to, size_t room);
void fake_start(const char *path, fake_answer answer); // answer NULL: fake_usual
size_t fake_usual(long id, const char *method, const char *line, char *to, size_t room);
size_t fake_hello(long id, char *to, size_t room);
extern const char *volatile fake_message; // the `message` of every read, as JSON
#endif
