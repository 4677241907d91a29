// As much JSON as a driver needs.
#ifndef JSON_H
#define JSON_H

#include <stdbool.h>
#include <stdio.h>

enum json_kind { JSON_NULL, JSON_TRUE, JSON_FALSE, JSON_NUMBER, JSON_TEXT, JSON_ARRAY, JSON_OBJECT };

// A value. name: of a member of an object. text: of a text, in UTF-8; NUL is C0 80 and half of a surrogate pair has three
// bytes, so that each text is a string of C. first: of the items or members, and next: the one behind it.
struct json {
    enum json_kind kind;
    char *name, *text;
    double number;
    struct json *first, *next;
};

struct json *json_parse(const char *line); // NULL if the line is not JSON
void json_free(struct json *value);
const struct json *json_member(const struct json *object, const char *name); // NULL if it is not there
const char *json_text(const struct json *object, const char *name, const char *missing);
long long json_number(const struct json *object, const char *name, long long missing);
void json_write_text(FILE *out, const char *text); // with its quotes, in ASCII

#endif
