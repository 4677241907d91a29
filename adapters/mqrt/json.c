// JSON as the adapter protocol has it: bounded, each member once, no second reading of a byte.
#include "internal.h"

#include <stdlib.h>
#include <string.h>

enum { NESTING = 64, VALUES = 200000, MEMBERS = 1024, DIGITS = 308 };

struct parser { struct answer *into; char *at, *end; };

static uint32_t parse_value(struct parser *p, int depth);

static void skip_blanks(struct parser *p) {
    while (p->at < p->end && (*p->at == ' ' || *p->at == '\t' || *p->at == '\r' || *p->at == '\n')) p->at++;
}

static char *put_utf8(char *to, uint32_t point) {
    if (point < 0x80) { *to++ = (char)point; return to; }
    if (point < 0x800) *to++ = (char)(0xC0 | point >> 6);
    else {
        if (point < 0x10000) *to++ = (char)(0xE0 | point >> 12);
        else { *to++ = (char)(0xF0 | point >> 18); *to++ = (char)(0x80 | (point >> 12 & 0x3F)); }
        *to++ = (char)(0x80 | (point >> 6 & 0x3F));
    }
    *to++ = (char)(0x80 | (point & 0x3F));
    return to;
}

static bool hexadecimal(const char *at, int digits, uint32_t *value) {
    *value = 0;
    for (int i = 0; i < digits; i++) {
        char c = at[i];
        uint32_t digit = c >= '0' && c <= '9' ? (uint32_t)(c - '0') : (c | 32) >= 'a' && (c | 32) <= 'f'
            ? (uint32_t)((c | 32) - 'a' + 10) : 16;
        if (digit == 16) return false;
        *value = *value << 4 | digit;
    }
    return true;
}

// The bytes that a character has, by its first; 0: it is none. The bytes behind are looked at too.
static int utf8_size(const unsigned char *at, const unsigned char *end) {
    int size = at[0] < 0xC2 ? 0 : at[0] < 0xE0 ? 2 : at[0] < 0xF0 ? 3 : at[0] < 0xF5 ? 4 : 0;
    if (!size || end - at < size) return 0;
    for (int i = 1; i < size; i++) if ((at[i] & 0xC0) != 0x80) return 0;
    if ((at[0] == 0xE0 && at[1] < 0xA0) || (at[0] == 0xED && at[1] > 0x9F) || (at[0] == 0xF0 && at[1] < 0x90) || (at[0] == 0xF4
        && at[1] > 0x8F)) return 0;
    return size;
}

static bool parse_escape(struct parser *p, char **to) {
    if (p->end - p->at < 2) return false;
    static const char *const from = "\"\\/bfnrt", *const meaning = "\"\\/\b\f\n\r\t";
    char c = p->at[1];
    const char *found = c ? strchr(from, c) : NULL;
    if (found) { *(*to)++ = meaning[found - from]; p->at += 2; return true; }
    uint32_t point, low;
    if (c != 'u' || p->end - p->at < 6 || !hexadecimal(p->at + 2, 4, &point)) return false;
    p->at += 6;
    if (point >= 0xD800 && point < 0xDC00 && p->end - p->at >= 6 && p->at[0] == '\\' && p->at[1] == 'u'
        && hexadecimal(p->at + 2, 4, &low) && low >= 0xDC00 && low < 0xE000) {
        point = 0x10000 + ((point - 0xD800) << 10) + (low - 0xDC00);
        p->at += 6;
    }
    *to = put_utf8(*to, point);
    return true;
}

// Behind the first quote. The text takes the place of its own escapes.
static bool parse_text(struct parser *p, char **text, uint32_t *length) {
    char *to = *text = p->at;
    for (;;) {
        char *run = p->at;
        while (p->at < p->end && (unsigned char)*p->at >= 0x20 && (unsigned char)*p->at < 0x80 && *p->at != '"'
            && *p->at != '\\') p->at++;
        size_t plain = (size_t)(p->at - run);
        if (to != run) memmove(to, run, plain);
        to += plain;
        if (p->at >= p->end || (unsigned char)*p->at < 0x20) return false;
        if (*p->at == '"') break;
        if (*p->at == '\\') {
            if (!parse_escape(p, &to)) return false;
            continue;
        }
        int size = utf8_size((unsigned char *)p->at, (unsigned char *)p->end);
        if (!size) return false;
        memmove(to, p->at, (size_t)size);
        to += size;
        p->at += size;
    }
    *length = (uint32_t)(to - *text);
    p->at++;
    return true;
}

static bool digits(struct parser *p, size_t *count) {
    char *from = p->at;
    while (p->at < p->end && *p->at >= '0' && *p->at <= '9') p->at++;
    *count = (size_t)(p->at - from);
    return *count > 0;
}

static bool parse_number(struct parser *p, struct json *node) {
    bool negative = *p->at == '-', whole = true;
    size_t count, more;
    p->at += negative;
    char *first = p->at;
    if (!digits(p, &count) || count > DIGITS || (*first == '0' && count > 1)) return false;
    char *last = p->at;
    if (p->at < p->end && *p->at == '.') {
        whole = false;
        p->at++;
        if (!digits(p, &more)) return false;
    }
    if (p->at < p->end && (*p->at | 32) == 'e') {
        whole = false;
        p->at++;
        if (p->at < p->end && (*p->at == '+' || *p->at == '-')) p->at++;
        if (!digits(p, &more) || more > 3) return false;
    }
    node->integer = whole && count <= 18;
    for (char *c = first; node->integer && c < last; c++) node->number = node->number * 10 + (*c - '0');
    if (negative) node->number = -node->number;
    return true;
}

static bool parse_word(struct parser *p, const char *word) {
    size_t length = strlen(word);
    if ((size_t)(p->end - p->at) < length || memcmp(p->at, word, length)) return false;
    p->at += length;
    return true;
}

static uint32_t new_node(struct answer *a) {
    if (a->count == a->room) {
        uint32_t room = a->room ? a->room * 4 : 16; // few answers have more
        struct json *nodes = a->count >= VALUES ? NULL : realloc(a->nodes, room * sizeof *nodes);
        if (!nodes) return 0;
        a->nodes = nodes;
        a->room = room;
    }
    memset(&a->nodes[a->count], 0, sizeof *a->nodes);
    return a->count++;
}

static bool named_before(const struct answer *a, uint32_t object, const char *name, uint32_t length) {
    for (uint32_t at = a->nodes[object].first; at; at = a->nodes[at].next)
        if (a->nodes[at].name_length == length && !memcmp(a->nodes[at].name, name, length)) return true;
    return false;
}

static bool parse_items(struct parser *p, uint32_t list, int depth, bool object) {
    struct answer *a = p->into;
    char close = object ? '}' : ']';
    uint32_t last = 0;
    skip_blanks(p);
    if (p->at < p->end && *p->at == close) { p->at++; return true; }
    for (;;) {
        char *name = NULL;
        uint32_t length = 0;
        skip_blanks(p);
        if (object) {
            if (p->at >= p->end || *p->at != '"') return false;
            p->at++;
            if (!parse_text(p, &name, &length) || a->nodes[list].length >= MEMBERS || named_before(a, list, name, length))
                return false;
            skip_blanks(p);
            if (p->at >= p->end || *p->at != ':') return false;
            p->at++;
            skip_blanks(p);
        }
        uint32_t item = parse_value(p, depth + 1);
        if (!item) return false;
        a->nodes[item].name = name;
        a->nodes[item].name_length = length;
        if (last) a->nodes[last].next = item;
        else a->nodes[list].first = item;
        last = item;
        a->nodes[list].length++;
        skip_blanks(p);
        if (p->at >= p->end || (*p->at != ',' && *p->at != close)) return false;
        if (*p->at++ == close) return true;
    }
}

// The index of the value, which is never 0: node 0 is not used.
static uint32_t parse_value(struct parser *p, int depth) {
    uint32_t at = new_node(p->into);
    if (!at || depth > NESTING || p->at >= p->end) return 0;
    struct json *node = &p->into->nodes[at];
    char c = *p->at;
    bool good;
    if (c == '{' || c == '[') {
        node->kind = c == '{' ? JSON_OBJECT : JSON_ARRAY;
        p->at++;
        good = parse_items(p, at, depth, c == '{');
    } else if (c == '"') {
        node->kind = JSON_TEXT;
        p->at++;
        good = parse_text(p, &node->text, &node->length);
    } else if (c == 't' || c == 'f' || c == 'n') {
        node->kind = c == 't' ? JSON_TRUE : c == 'f' ? JSON_FALSE : JSON_NULL;
        good = parse_word(p, c == 't' ? "true" : c == 'f' ? "false" : "null");
    } else {
        node->kind = JSON_NUMBER;
        good = parse_number(p, node);
    }
    return good ? at : 0;
}

bool json_parse(struct answer *into, char *line, size_t length) {
    struct parser p = {into, line, line + length};
    *into = (struct answer){.line = line};
    new_node(into);
    if (!into->count) return false;
    skip_blanks(&p);
    uint32_t value = parse_value(&p, 1);
    skip_blanks(&p);
    return value == 1 && p.at == p.end;
}

void answer_free(struct answer *answer) {
    free(answer->line);
    free(answer->nodes);
    *answer = (struct answer){0};
}

const struct json *json_first(const struct answer *a, const struct json *list) {
    return list && list->first ? &a->nodes[list->first] : NULL;
}

const struct json *json_next(const struct answer *a, const struct json *item) {
    return item->next ? &a->nodes[item->next] : NULL;
}

const struct json *json_member(const struct answer *a, const struct json *object, const char *name) {
    size_t length = strlen(name);
    if (!object || object->kind != JSON_OBJECT) return NULL;
    for (const struct json *m = json_first(a, object); m; m = json_next(a, m))
        if (m->name_length == length && !memcmp(m->name, name, length)) return m->kind == JSON_NULL ? NULL : m;
    return NULL;
}

bool json_is(const struct json *text, const char *word) {
    return text && text->kind == JSON_TEXT && text->length == strlen(word) && !memcmp(text->text, word, text->length);
}

bool json_decimal(const struct json *text, uint64_t *value) {
    *value = 0;
    if (!text || text->kind != JSON_TEXT || !text->length || text->length > 20) return false;
    for (uint32_t i = 0; i < text->length; i++) {
        unsigned digit = (unsigned)text->text[i] - '0';
        if (digit > 9 || *value > (UINT64_MAX - digit) / 10) return false;
        *value = *value * 10 + digit;
    }
    return true;
}

int64_t json_integer(const struct json *value, int64_t missing) {
    uint64_t number;
    if (!value) return missing;
    if (value->kind == JSON_NUMBER && value->integer) return value->number;
    if (value->kind == JSON_TRUE || value->kind == JSON_FALSE) return value->kind == JSON_TRUE;
    bool negative = value->kind == JSON_TEXT && value->length && value->text[0] == '-';
    struct json rest = *value;
    if (negative) { rest.text++; rest.length--; }
    if (json_decimal(&rest, &number)) return negative ? (int64_t)(0 - number) : (int64_t)number;
    return missing;
}

size_t json_units(const struct json *text, WCHAR *into, size_t room) {
    size_t units = 0;
    if (!text || text->kind != JSON_TEXT) return 0;
    const unsigned char *at = (unsigned char *)text->text, *end = at + text->length;
    while (at < end) {
        int size = *at < 0x80 ? 1 : *at < 0xE0 ? 2 : *at < 0xF0 ? 3 : 4;
        uint32_t point = size == 1 ? *at : *at & (0xFFu >> (size + 1));
        for (int i = 1; i < size; i++) point = point << 6 | (at[i] & 0x3F);
        at += size;
        if (point >= 0x10000) {
            if (units < room) into[units] = (WCHAR)(0xD800 + ((point - 0x10000) >> 10));
            units++;
            point = 0xDC00 + (point & 0x3FF);
        }
        if (units < room) into[units] = (WCHAR)point;
        units++;
    }
    return units;
}

WCHAR *json_wide(const struct json *text) {
    size_t units = json_units(text, NULL, 0);
    WCHAR *wide = malloc((units + 1) * sizeof *wide);
    if (!wide) return NULL;
    json_units(text, wide, units);
    wide[units] = 0;
    return wide;
}

size_t json_byte_count(const struct json *text) {
    if (!text || text->kind != JSON_TEXT || text->length % 4) return 0;
    size_t count = text->length / 4 * 3;
    for (uint32_t i = text->length; i && text->length - i < 2 && text->text[i - 1] == '='; i--) count--;
    return count;
}

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
static uint8_t values[256]; // 1 more than the value; 0: none

__attribute__((constructor)) static void fill_values(void) {
    for (int i = 0; i < 64; i++) values[(unsigned char)alphabet[i]] = (uint8_t)(i + 1);
}

bool json_bytes(const struct json *text, uint8_t *into, size_t room, size_t *size) {
    *size = json_byte_count(text);
    if (!text || text->kind != JSON_TEXT || text->length % 4) return false;
    size_t done = 0;
    for (uint32_t i = 0; i < text->length; i += 4) {
        const unsigned char *four = (unsigned char *)text->text + i;
        size_t here = *size - done < 3 ? *size - done : 3;
        uint32_t bits = 0;
        for (size_t j = 0; j < 4; j++) {
            if (!values[four[j]] && j <= here) return false;
            bits = bits << 6 | (values[four[j]] ? (uint32_t)values[four[j]] - 1 : 0);
        }
        for (size_t j = 0; j < here; j++, done++)
            if (done < room) into[done] = (uint8_t)(bits >> (16 - 8 * j));
    }
    return true;
}

bool json_guid(const struct json *text, GUID *guid) {
    uint32_t part[11];
    static const int at[11] = {0, 9, 14, 19, 21, 24, 26, 28, 30, 32, 34}, size[11] = {8, 4, 4, 2, 2, 2, 2, 2, 2, 2, 2};
    if (!text || text->kind != JSON_TEXT || text->length != 36) return false;
    for (int i = 0; i < 11; i++) if (!hexadecimal(text->text + at[i], size[i], &part[i])) return false;
    for (int i = 8; i < 24; i += 5) if (text->text[i] != '-') return false;
    guid->Data1 = part[0];
    guid->Data2 = (uint16_t)part[1];
    guid->Data3 = (uint16_t)part[2];
    for (int i = 0; i < 8; i++) guid->Data4[i] = (uint8_t)part[3 + i];
    return true;
}

void guid_text(const GUID *g, char text[37]) {
    static const char hex[] = "0123456789abcdef";
    uint8_t bytes[16] = {(uint8_t)(g->Data1 >> 24), (uint8_t)(g->Data1 >> 16), (uint8_t)(g->Data1 >> 8), (uint8_t)g->Data1,
                         (uint8_t)(g->Data2 >> 8), (uint8_t)g->Data2, (uint8_t)(g->Data3 >> 8), (uint8_t)g->Data3};
    memcpy(bytes + 8, g->Data4, 8);
    for (int i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10) *text++ = '-';
        *text++ = hex[bytes[i] >> 4];
        *text++ = hex[bytes[i] & 15];
    }
    *text = 0;
}

void out_open(struct out *out) {
    out->at = out->small;
    out->used = 0;
    out->room = sizeof out->small;
    out->failed = false;
}

void out_close(struct out *out) {
    if (out->at != out->small) free(out->at);
    out_open(out);
}

static bool out_room(struct out *out, size_t more) {
    if (out->failed || out->room - out->used >= more) return !out->failed;
    size_t room = (out->used + more) * 2;
    char *at = more > SIZE_MAX / 4 ? NULL : realloc(out->at == out->small ? NULL : out->at, room);
    if (!at) { out->failed = true; return false; }
    if (out->at == out->small) memcpy(at, out->small, out->used);
    out->at = at;
    out->room = room;
    return true;
}

void out_raw(struct out *out, const char *text, size_t length) {
    if (!out_room(out, length)) return;
    memcpy(out->at + out->used, text, length);
    out->used += length;
}

void out_word(struct out *out, const char *text) { out_raw(out, text, strlen(text)); }

void out_key(struct out *out, const char *name) {
    char before = out->used ? out->at[out->used - 1] : '{';
    if (before != '{' && before != '[' && before != ':') out_raw(out, ",", 1);
    if (!name) return; // an item of a list
    out_raw(out, "\"", 1);
    out_word(out, name);
    out_raw(out, "\":", 2);
}

static void number(struct out *out, uint64_t value) {
    char text[20], *at = text + sizeof text;
    do *--at = (char)('0' + value % 10); while (value /= 10);
    out_raw(out, at, (size_t)(text + sizeof text - at));
}

void out_number(struct out *out, const char *name, int64_t value) {
    out_key(out, name);
    if (value < 0) out_raw(out, "-", 1);
    number(out, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void out_decimal(struct out *out, const char *name, uint64_t value) {
    out_key(out, name);
    out_raw(out, "\"", 1);
    number(out, value);
    out_raw(out, "\"", 1);
}

void out_flag(struct out *out, const char *name, bool value) {
    out_key(out, name);
    out_word(out, value ? "true" : "false");
}

void out_text(struct out *out, const char *name, const char *ascii) {
    out_key(out, name);
    out_raw(out, "\"", 1);
    out_word(out, ascii);
    out_raw(out, "\"", 1);
}

void out_wide(struct out *out, const char *name, const WCHAR *text, size_t units) {
    static const char hex[] = "0123456789abcdef";
    out_key(out, name);
    if (units > SIZE_MAX / 32 || !out_room(out, units * 6 + 2)) { out->failed = true; return; }
    char *to = out->at + out->used;
    *to++ = '"';
    for (size_t i = 0; i < units; i++) {
        WCHAR c = text[i];
        if (c == '"' || c == '\\') { *to++ = '\\'; *to++ = (char)c; }
        else if (c >= 0x20 && c < 0x7F) *to++ = (char)c;
        else {
            *to++ = '\\'; *to++ = 'u';
            for (int shift = 12; shift >= 0; shift -= 4) *to++ = hex[c >> shift & 15];
        }
    }
    *to++ = '"';
    out->used = (size_t)(to - out->at);
}

void out_bytes(struct out *out, const char *name, const void *bytes, size_t count) {
    out_key(out, name);
    if (count > SIZE_MAX / 8 || !out_room(out, (count + 2) / 3 * 4 + 2)) { out->failed = true; return; }
    const uint8_t *at = bytes;
    char *to = out->at + out->used;
    *to++ = '"';
    for (size_t i = 0; i < count; i += 3) {
        size_t here = count - i < 3 ? count - i : 3;
        uint32_t bits = (uint32_t)at[i] << 16 | (here > 1 ? (uint32_t)at[i + 1] << 8 : 0) | (here > 2 ? at[i + 2] : 0);
        *to++ = alphabet[bits >> 18];
        *to++ = alphabet[bits >> 12 & 63];
        *to++ = here > 1 ? alphabet[bits >> 6 & 63] : '=';
        *to++ = here > 2 ? alphabet[bits & 63] : '=';
    }
    *to++ = '"';
    out->used = (size_t)(to - out->at);
}

size_t wide_length(const WCHAR *text) {
    for (size_t units = 0; units < 65536; units++) if (!text[units]) return units;
    return SIZE_MAX;
}

bool wide_is(const WCHAR *text, size_t units, const char *ascii, bool fold) {
    for (size_t i = 0; i < units; i++) {
        WCHAR c = text[i];
        if (fold && c >= 'a' && c <= 'z') c = (WCHAR)(c - 32);
        if (!ascii[i] || c != (unsigned char)ascii[i]) return false;
    }
    return !ascii[units];
}
