#include "json.h"

#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 64 }; // objects and arrays in each other: a hostile line must not overflow the stack

static struct json *value_at(const char **at, int depth);

static void blank(const char **at)
{
    *at += strspn(*at, " \t\r\n");
}

static bool expect(const char **at, char wanted)
{
    blank(at);
    if (**at != wanted) return false;
    ++*at;
    return true;
}

static struct json *new_value(enum json_kind kind)
{
    struct json *value = calloc(1, sizeof *value);
    value->kind = kind;
    return value;
}

// Four hexadecimal digits, or -1.
static long unit_at(const char *at)
{
    if (strspn(at, "0123456789abcdefABCDEF") < 4) return -1;
    char digits[5] = {at[0], at[1], at[2], at[3], 0};
    return strtol(digits, NULL, 16);
}

// Writes a character in UTF-8 and returns the end. NUL takes two bytes.
static char *utf8(char *to, long c)
{
    if (c > 0 && c < 0x80) {
        *to++ = (char)c;
        return to;
    }
    int bytes = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const int leads[] = {0, 0, 0xC0, 0xE0, 0xF0};
    *to++ = (char)(leads[bytes] | (c >> (6 * (bytes - 1))));
    for (int left = bytes - 2; left >= 0; left--) *to++ = (char)(0x80 | ((c >> (6 * left)) & 0x3F));
    return to;
}

// The text between quotes, or NULL. It is never longer than it is written.
static char *string_at(const char **at)
{
    if (!expect(at, '"')) return NULL;
    char *text = malloc(strlen(*at) + 1), *to = text;
    while (**at != '"') {
        if (**at == 0) goto wrong;
        if (**at != '\\') {
            *to++ = *(*at)++;
            continue;
        }
        char c = *++*at;
        if (c == 0) goto wrong;
        ++*at;
        if (c != 'u') {
            const char *plain = strchr("bfnrt", c);
            *to++ = plain ? "\b\f\n\r\t"[plain - "bfnrt"] : c;
            continue;
        }
        long unit = unit_at(*at);
        if (unit < 0) goto wrong;
        *at += 4;
        if (unit >= 0xD800 && unit < 0xDC00 && (*at)[0] == '\\' && (*at)[1] == 'u') {
            long low = unit_at(*at + 2);
            if (low >= 0xDC00 && low < 0xE000) {
                unit = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
                *at += 6;
            }
        }
        to = utf8(to, unit);
    }
    ++*at;
    *to = 0;
    return text;
wrong:
    free(text);
    return NULL;
}

// The items of an array or the members of an object, up to its end.
static struct json *items_at(const char **at, enum json_kind kind, char end, int depth)
{
    struct json *all = new_value(kind), **last = &all->first;
    if (expect(at, end)) return all;
    do {
        char *name = NULL;
        if (kind == JSON_OBJECT && (!(name = string_at(at)) || !expect(at, ':'))) {
            free(name);
            goto wrong;
        }
        struct json *item = value_at(at, depth + 1);
        if (!item) {
            free(name);
            goto wrong;
        }
        item->name = name;
        *last = item;
        last = &item->next;
    } while (expect(at, ','));
    if (expect(at, end)) return all;
wrong:
    json_free(all);
    return NULL;
}

static struct json *value_at(const char **at, int depth)
{
    static const char *const words[] = {"null", "true", "false"}; // in the order of enum json_kind
    if (depth > DEEPEST) return NULL;
    if (expect(at, '{')) return items_at(at, JSON_OBJECT, '}', depth);
    if (expect(at, '[')) return items_at(at, JSON_ARRAY, ']', depth);
    if (**at == '"') {
        char *text = string_at(at);
        if (!text) return NULL;
        struct json *value = new_value(JSON_TEXT);
        value->text = text;
        return value;
    }
    for (int word = 0; word < 3; word++)
        if (strncmp(*at, words[word], strlen(words[word])) == 0) {
            *at += strlen(words[word]);
            return new_value((enum json_kind)word);
        }
    char *end;
    double number = strtod(*at, &end);
    if (end == *at) return NULL;
    *at = end;
    struct json *value = new_value(JSON_NUMBER);
    value->number = number;
    return value;
}

struct json *json_parse(const char *line)
{
    struct json *value = value_at(&line, 0);
    blank(&line);
    if (*line == 0) return value;
    json_free(value);
    return NULL;
}

void json_free(struct json *value)
{
    while (value) {
        struct json *next = value->next;
        json_free(value->first);
        free(value->name);
        free(value->text);
        free(value);
        value = next;
    }
}

const struct json *json_member(const struct json *object, const char *name)
{
    const struct json *each = object && object->kind == JSON_OBJECT ? object->first : NULL;
    while (each && strcmp(each->name, name) != 0) each = each->next;
    return each;
}

const char *json_text(const struct json *object, const char *name, const char *missing)
{
    const struct json *found = json_member(object, name);
    return found && found->kind == JSON_TEXT ? found->text : missing;
}

long long json_number(const struct json *object, const char *name, long long missing)
{
    const struct json *found = json_member(object, name);
    return found && found->kind == JSON_NUMBER ? (long long)found->number : missing;
}

void json_write_text(FILE *out, const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    fputc('"', out);
    while (*at) {
        unsigned lead = *at++;
        if (lead >= ' ' && lead < 127 && lead != '"' && lead != '\\') {
            fputc((int)lead, out);
            continue;
        }
        unsigned long c = lead < 0x80 ? lead : lead < 0xE0 ? lead & 0x1F : lead < 0xF0 ? lead & 0x0F : lead & 0x07;
        while ((*at & 0xC0) == 0x80) c = c << 6 | (*at++ & 0x3F);
        if (c >= 0x10000) {
            fprintf(out, "\\u%04lx", 0xD800 + ((c - 0x10000) >> 10));
            c = 0xDC00 + (c & 0x3FF);
        }
        fprintf(out, "\\u%04lx", c);
    }
    fputc('"', out);
}
