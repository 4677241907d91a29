// Internal transactions, and the object of each: it has only ITransaction. MC-MQAC 3.8.4.1 says what its methods refuse.
#include "internal.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { XACTTC_SYNC = 2 };
#define XACT_E_NOTSUPPORTED ((HRESULT)0x8004D00F)
#define E_NOINTERFACE ((HRESULT)0x80004002)
#define E_POINTER ((HRESULT)0x80004003)
#define E_INVALIDARG ((HRESULT)0x80070057)

struct transaction {
    ITransaction face;
    struct transaction *next;
    atomic_uint references;
    atomic_bool ended;
    uint32_t generation;
    char json[256];
};

static struct transaction *all; // under the lock of the handles

static struct transaction *find(const ITransaction *face) {
    struct transaction *t = all;
    while (t && &t->face != face) t = t->next;
    return t;
}

HRESULT transaction_end(const char *json, uint32_t generation, enum method end) {
    struct request request;
    struct answer answer;
    request_open(&request, end);
    request.generation = generation;
    out_key(&request.out, "transaction");
    out_word(&request.out, json);
    HRESULT status = request_call(&request, &answer, NULL);
    answer_free(&answer);
    return status;
}

HRESULT transaction_begin(char json[256], uint32_t *generation) {
    struct session about;
    struct request request;
    struct answer answer;
    struct handle handle = {0};
    HRESULT status = session_ready(&about);
    if (FAILED(status)) return status;
    request_open(&request, BEGIN);
    request.generation = *generation = about.generation;
    status = request_call(&request, &answer, "transaction");
    if (!FAILED(status) && !handle_text(json_member(&answer, answer.result, "transaction"), &handle)) status = session_nonsense();
    answer_free(&answer);
    strcpy(json, handle.json);
    return status;
}

// MQ_MTS_TRANSACTION and MQ_XA_TRANSACTION: no coordinator has a transaction in this thread, so there is none.
HRESULT transaction_json(ITransaction *transaction, uint32_t generation, char json[256], bool *single) {
    HRESULT status = MQ_OK;
    json[0] = 0;
    *single = transaction == MQ_SINGLE_MESSAGE;
    if ((uintptr_t)transaction <= 3) return MQ_OK;
    handles_lock();
    struct transaction *t = find(transaction);
    if (!t) status = MQ_ERROR_TRANSACTION_ENLIST; // of somebody else
    else if (t->generation != generation) status = MQ_ERROR_STALE_HANDLE;
    else strcpy(json, t->json);
    handles_unlock(false);
    return status;
}

static HRESULT query(ITransaction *face, const GUID *wanted, void **into) {
    static const GUID ours[] = {{0x00000000, 0, 0, {0xC0, 0, 0, 0, 0, 0, 0, 0x46}}, {0x0FB15084, 0xAF41, 0x11CE, {0xBD, 0x2B,
        0x20, 0x4C, 0x4F, 0x4F, 0x50, 0x20}}};
    if (!into) return E_POINTER;
    *into = NULL;
    if (!wanted || (memcmp(wanted, &ours[0], sizeof *ours) && memcmp(wanted, &ours[1], sizeof *ours))) return E_NOINTERFACE;
    face->lpVtbl->AddRef(face);
    *into = face;
    return MQ_OK;
}

static ULONG add_reference(ITransaction *face) { return atomic_fetch_add(&((struct transaction *)face)->references, 1) + 1; }

// The last reference to a transaction that was not ended aborts it.
static ULONG release(ITransaction *face) {
    struct transaction *t = (struct transaction *)face;
    ULONG left = atomic_fetch_sub(&t->references, 1) - 1;
    if (left) return left;
    handles_lock();
    for (struct transaction **at = &all; *at; at = &(*at)->next)
        if (*at == t) { *at = t->next; break; }
    handles_unlock(false);
    if (!t->ended) transaction_end(t->json, t->generation, ABORT);
    free(t);
    return 0;
}

static HRESULT end(struct transaction *t, enum method how) {
    if (atomic_exchange(&t->ended, true)) return MQ_ERROR_TRANSACTION_SEQUENCE;
    HRESULT status = transaction_end(t->json, t->generation, how);
    if (FAILED(status)) t->ended = false;
    return status;
}

static HRESULT commit(ITransaction *face, int32_t retaining, uint32_t tc, uint32_t rm) {
    if (retaining || rm || (tc && tc != XACTTC_SYNC)) return XACT_E_NOTSUPPORTED; // programs give 0 for tc, and it is taken
    return end((struct transaction *)face, COMMIT);
}

static HRESULT abort_it(ITransaction *face, const void *reason, int32_t retaining, int32_t async) {
    (void)reason;
    return retaining || async ? XACT_E_NOTSUPPORTED : end((struct transaction *)face, ABORT);
}

// The session does not tell the identifier: each transaction has one of its own here.
static HRESULT information(ITransaction *face, XACTTRANSINFO *info) {
    if (!info) return E_INVALIDARG;
    memset(info, 0, sizeof *info);
    uintptr_t unique = (uintptr_t)face;
    memcpy(info->uow, &unique, sizeof unique);
    memcpy(info->uow + 12, &((struct transaction *)face)->generation, 4);
    return MQ_OK;
}

static const ITransactionVtbl METHODS_OF_IT = {query, add_reference, release, commit, abort_it, information};

EXPORT HRESULT MQBeginTransaction(ITransaction **into) {
    if (!into) return MQ_ERROR_INVALID_PARAMETER;
    *into = NULL;
    struct transaction *t = calloc(1, sizeof *t);
    if (!t) return MQ_ERROR_INSUFFICIENT_RESOURCES;
    HRESULT status = transaction_begin(t->json, &t->generation);
    if (FAILED(status)) { free(t); return status; }
    t->face.lpVtbl = &METHODS_OF_IT;
    t->references = 1;
    handles_lock();
    t->next = all;
    all = t;
    handles_unlock(false);
    *into = &t->face;
    return status;
}
