from mutlist2 import *
import re as _re
# --- OrderAck / FinalAck
def ob(off, fm, v):
    def g(cap, rec, r):
        b = bytearray(rec['um']['body']); cur = struct.unpack_from('<' + fm, b, off)[0]
        nv = v(cur) if callable(v) else v
        if nv is False: return False
        struct.pack_into('<' + fm, b, off, nv); redo(rec, body=bytes(b))
    return g
OAB = TX(); FAB = TX(jn=1); FAB2 = TX(jp=1)
for kind, sec, base, n in (('OA', '2.2.4', OAB, 'OrderAck'), ('FA', '2.2.5', FAB, 'FinalAck')):
    k = kind.lower(); p = K(kind); s = Q + sec + '.'; S_ = 'MS-MQQB ' + sec
    for v, t in ((3, 'priority 3'), (0x100 | 0x20, 'TR and DH'), (0x8000, 'X0'), (0x10, 'SH')):
        if v == 0x120 or v == 0x10: continue
        M(f'{k}-base-{v:x}', S_, f'BaseHeader.Flags of {n} is not 0: {t}', [s + 'base-flags'], base, o('base', 2, 'H', v), pick=p)
    M(f'{k}-base-sess', S_, f'{n} has SH set and a SessionHeader', [s + 'base-flags'], base, lambda cap, rec, r: redo(rec, sess=[0, 0, 0, 1, 0, 64, 0]) if False else redo(rec, bflag_set=16, raw={'sess': bytes(16)}), pick=p)
    M(f'{k}-base-debug', S_, f'{n} has DH set and a DebugHeader', [s + 'base-flags', B + 'debug-header-user-message-only'], base, lambda cap, rec, r: redo(rec, debug=dict(qt=0)), pick=p)
    for kw, t in (({'jn': 1}, 'JN'), ({'jp': 1}, 'JP'), ({'rc': 3}, 'RC'), ({'rq': (2, 7)}, 'a response queue'), ({'aq': (2, 7)}, 'an administration queue'), ({'cq': b'\1' * 16}, 'a ConnectorType'), ({'soap': ('<hh/>', '<bb/>')}, 'a SoapHeader'), ({'sec': dict(st=1, sid=b'\1\1\0\0\0\0\0\1\0\0\0\0', de=1)}, 'a SecurityHeader'), ({'tx': dict(fm=1, lm=1, id=5, ord=1, ts=5, num=1, prev=0), 'dm': 1}, 'a TransactionHeader'), ({'mqf': dict(d=[], a=[], r=[], sig=b'')}, 'a MultiQueueFormatHeader')):
        if kind == 'OA' and 'tx' in kw: kw = {k_: v_ for k_, v_ in kw.items()}
        M(f'{k}-user-{"-".join(kw)}', S_, f'{n} has {t}', [s + 'user-flags'] + ([U + 'admin-queue-absent'] if 'aq' in kw else []), base, lambda cap, rec, r, kw=kw: redo(rec, **kw), pick=p)
    for b_ in (7, 24, 31): M(f'{k}-user-bit{b_}', S_, f'bit {b_} of UserHeader.Flags of {n} is set', [s + 'user-flags', U + {7: 'flags-x1', 24: 'flags-x2', 31: 'flags-x4'}[b_]], base, o('user', 44, 'I', 1 << b_), pick=p, close=KEEP)
    M(f'{k}-dm', S_, f'DM of {n} is {1 if kind == "OA" else 0}', [Q + ('2.2.4.delivery' if kind == 'OA' else '2.2.5.user-flags')] + ([Q + '2.2.4.user-flags'] if kind == 'OA' else []), base, lambda cap, rec, r: redo(rec, dm=1 - rec['um']['dm']), pick=p, provable=kind == 'FA')
    M(f'{k}-dq-5', S_, f'{n} goes to a public queue', [s + 'destination-type', s + 'destination'], TX(False, jn=1), lambda cap, rec, r: redo(rec, dq=(5, guid(r))), pick=p)
    for v in (5, 0, 0x04000000): M(f'{k}-private-{v}', S_, f'{n} goes to private queue {v:#x}', [s + 'destination'], TX(False, jn=1), lambda cap, rec, r, v=v: redo(rec, dq=(3, v)), pick=p)
    for nm_, fn in (('os', lambda h: 'OS:%s\\PRIVATE$\\order_queue$' % h.name), ('name', lambda h: 'TCP:%s\\PRIVATE$\\order_queue' % h.ip), ('public', lambda h: 'TCP:%s\\order_queue$' % h.ip), ('ip', lambda h: 'TCP:10.0.0.256\\PRIVATE$\\order_queue$'), ('noip', lambda h: 'TCP:\\PRIVATE$\\order_queue$'), ('suffix', lambda h: 'TCP:%s\\PRIVATE$\\order_queue$;JOURNAL' % h.ip), ('prefix', lambda h: 'DIRECT=TCP:%s\\PRIVATE$\\order_queue$' % h.ip)):
        M(f'{k}-direct-{nm_}', S_, f'{n} goes to a direct name of another form ({nm_})', [s + 'destination'], TX(True, jn=1), lambda cap, rec, r, fn=fn: redo(rec, dq=(7, fn(cap.c.h[0]))), pick=p)
    M(f'{k}-direct-address', S_, f'the address in the name of {n} is that of its own sender', [s + 'address'], TX(True, jn=1), lambda cap, rec, r: redo(rec, dq=(7, 'TCP:%s\\PRIVATE$\\order_queue$' % cap.c.h[1].ip)), pick=p)
    M(f'{k}-form-private', 'MS-MQQB 3.1.7.17', f'{n} goes to private queue 4, the messages went to direct names', [Q + '3.1.7.17.destination-form'], TX(True, jn=1), lambda cap, rec, r: redo(rec, dq=(3, 4), qma=cap.c.h[0].qm), pick=p, close=KEEP)
    M(f'{k}-form-direct', 'MS-MQQB 3.1.7.17', f'{n} goes to a direct name, the messages did not', [Q + '3.1.7.17.destination-form'], TX(False, jn=1), lambda cap, rec, r: redo(rec, dq=(7, 'TCP:%s\\PRIVATE$\\order_queue$' % cap.c.h[0].ip), qma=NULLG), pick=p, close=KEEP)
    for nm_, l in (('case', 'QM ordering ack'), ('empty', ''), ('short', 'QM Ordering Ac'), ('long', 'QM Ordering Ack.')):
        M(f'{k}-label-{nm_}', S_, f'the label of {n} is {l!r}', [s + 'label'], base, lambda cap, rec, r, l=l: redo(rec, label=l), pick=p)
    for v in (1, 4, 8): M(f'{k}-props-{v}', S_, f'MessagePropertiesHeader.Flags of {n} is {v}', [s + 'properties-flags'], base, lambda cap, rec, r, v=v: redo(rec, flags=v), pick=p)
    for v in (1, 19, 0x1011): M(f'{k}-bodytype-{v:x}', S_, f'the body type of {n} is {v:#x}', [s + 'body-type'], base, lambda cap, rec, r, v=v: redo(rec, btype=v), pick=p)
    for v in (32, 40, 35): M(f'{k}-size-{v}', S_, f'the body of {n} has {v} bytes', [s + 'message-size'], base, lambda cap, rec, r, v=v: redo(rec, body=(rec['um']['body'] + bytes(8))[:v]), pick=p)
    M(f'{k}-privacy', 'MS-MQQB 3.1.7.17', f'{n} asks for encryption', [Q + '3.1.7.17.privacy-level'], base, lambda cap, rec, r: redo(rec, priv=1), pick=p)
    M(f'{k}-number-0', S_ + '.1', f'TxSequenceNumber of {n} is 0', [s + '1.number'], base, lambda cap, rec, r: (ob(8, 'I', 0)(cap, rec, r), ob(12, 'I', 0xFFFFFFFF if kind == 'OA' else 0)(cap, rec, r))[0], pick=p)
    M(f'{k}-sequence-other', S_ + '.1', f'{n} names a sequence that was never sent', [s + '1.sequence'], base, ob(0, 'I', lambda v: v + 1000), pick=p)
    M(f'{k}-sequence-ts', S_ + '.1', f'{n} names a sequence with another TimeStamp', [s + '1.sequence'], base, ob(4, 'I', lambda v: v - 1), pick=p)
M('oa-previous', 'MS-MQQB 2.2.4.1', 'TxPreviousSequenceNumber of an OrderAck is its TxSequenceNumber', [Q + '2.2.4.1.previous'], OAB, lambda cap, rec, r: ob(12, 'I', struct.unpack_from('<I', rec['um']['body'], 8)[0])(cap, rec, r), pick=K('OA'))
M('oa-previous-0', 'MS-MQQB 2.2.4.1', 'TxPreviousSequenceNumber of an OrderAck for several messages is 0', [Q + '2.2.4.1.previous'], OAB, ob(12, 'I', lambda v: False if v == 0 else 0), pick=K('OA'))
M('oa-reserved', 'MS-MQQB 2.2.4.1', 'Reserved of an OrderAck is not zero', [Q + '2.2.4.1.reserved'], OAB, ob(16, 'I', 1), pick=K('OA'), close=KEEP)
M('oa-reserved-last', 'MS-MQQB 2.2.4.1', 'the last byte of Reserved of an OrderAck is not zero', [Q + '2.2.4.1.reserved'], OAB, ob(35, 'B', 0x80), pick=K('OA'), close=KEEP)
def oaup(d):
    def g(cap, rec, r):
        n = struct.unpack_from('<I', rec['um']['body'], 8)[0] + d; ob(8, 'I', n)(cap, rec, r); ob(12, 'I', n - 1)(cap, rec, r)
    return g
for d in (1, 50): M(f'oa-beyond-{d}', 'MS-MQQB 3.1.1.6.2', f'an OrderAck acknowledges {d} more than was sent', [Q + '3.1.1.6.2.in-order', Q + '3.1.5.8.6.accepted'], OAB, oaup(d), pick=K('OA'))
def gap(seed):
    cap, c = mk(seed); r = cap.r; cap.c = c
    t = transaction(c, 0, 4, jn=0, jp=0, dt=1000); c.advance(c.t + 3_000_000); c.close(); cap.t = t; return cap
def twoacks(seed, direct=None):
    """a sequence acknowledged in two steps: 2 of 4, then 4 of 4"""
    cap, c = mk(seed, rtt=2); r = cap.r; cap.c = c; c.advance(c.t + 10_500_000)
    transaction(c, 0, 2, jn=0, jp=0); c.advance(c.t + 495_000); transaction(c, 0, 2, jn=0, jp=0, dt=1); c.advance(c.t + 3_000_000); c.close(); return cap
def back(cap, rec, r):
    oa = [x for x in cap.recs if x['kind'] == 'OA']
    x = copy.deepcopy(oa[0]); u = x['um']; n = struct.unpack_from('<I', u['body'], 8)[0]
    if n < 2: return False
    u['mid'] += 5000; b = bytearray(u['body']); struct.pack_into('<II', b, 8, n - 1, n - 2); u['body'] = bytes(b); x['data'], x['offs'] = encode(u); x['t'] = oa[0]['t'] + 100_000
    cap.recs = [y for y in cap.recs if y['t'] <= oa[0]['t']] + [x]; return x
M('oa-goes-back', 'MS-MQQB 3.1.1.6.2', 'a second OrderAck acknowledges a lower number of the same sequence', [Q + '3.1.1.6.2.never-decreases'], TX(n=4, rounds=1), back)
def oaearly(ms):
    def g(cap, rec, r):
        oa = [x for x in cap.recs if x['kind'] == 'OA'][0]; m = txms(cap)[-1] if False else [x for x in txms(cap) if x['t'] < oa['t']]
        oa['t'] = m[-1]['t'] + ms * 1000
        if any(x['t'] == oa['t'] for x in cap.recs if x is not oa): return False
        return oa
    return g
for ms in (5, 200): M(f'oa-early-{ms}', 'MS-MQQB 3.1.2.7', f'an OrderAck is sent {ms} ms after the last message', [Q + '3.1.2.7.order-ack-delay'], S(tx=True, n=2, before=0, after=0, jn=0, jp=0, side=0) if False else TX(n=2, rounds=1), oaearly(ms))
M('fa-number', 'MS-MQQB 2.2.5.1', 'a FinalAck has the number after the one of its message', [Q + '2.2.5.1.sequence-number'], FAB, ob(8, 'I', lambda v: v + 1), pick=K('FA'))
M('fa-previous', 'MS-MQQB 2.2.5.1', 'the previous number of a FinalAck is not that of its message', [Q + '2.2.5.1.previous'], FAB2, ob(12, 'I', lambda v: v + 1), pick=K('FA'))
M('fa-previous-0', 'MS-MQQB 2.2.5.1', 'the previous number of a FinalAck for a later message is 0', [Q + '2.2.5.1.previous'], FAB, ob(12, 'I', lambda v: False if v == 0 else 0), pick=K('FA'))
M('fa-source', 'MS-MQQB 2.2.5.1', 'SourceGUID of a FinalAck is its own sender', [Q + '2.2.5.1.source-guid'], FAB, lambda cap, rec, r: redo(rec, body=rec['um']['body'][:16] + cap.c.h[1].qm + rec['um']['body'][32:]), pick=K('FA'))
M('fa-source-null', 'MS-MQQB 2.2.5.1', 'SourceGUID of a FinalAck is null', [Q + '2.2.5.1.source-guid'], FAB2, lambda cap, rec, r: redo(rec, body=rec['um']['body'][:16] + NULLG + rec['um']['body'][32:]), pick=K('FA'))
M('fa-mid', 'MS-MQQB 2.2.5.1', 'MessageID of a FinalAck is that of no message', [Q + '2.2.5.1.message-id'], FAB, ob(32, 'I', lambda v: v + 100000), pick=K('FA'))
M('fa-mid-0', 'MS-MQQB 2.2.5.1', 'MessageID of a FinalAck is 0', [Q + '2.2.5.1.message-id'], FAB2, ob(32, 'I', 0), pick=K('FA'))
for v in (0x8005, 0x8002, 0x800A, 0x8001, 0xC004): M(f'fa-class-{v:x}', 'MS-MQQB 2.2.5', f'the class of a FinalAck is {v:#x}', [Q + '2.2.5.message-class'], FAB, lambda cap, rec, r, v=v: redo(rec, cls=v), pick=K('FA'), provable=v != 0x8005)
M('oa-class', 'MS-MQQB 2.2.4', 'what is an OrderAck in all else has class 0x00FE', [Q + '2.2.4.message-class', P + 'message-class'], OAB, lambda cap, rec, r: redo(rec, cls=0xFE), pick=K('OA'), provable=False)
M('oa-class-normal', 'MS-MQQB 2.2.4', 'what is an OrderAck in all else has class MQMSG_CLASS_NORMAL', [Q + '2.2.4.message-class'], OAB, lambda cap, rec, r: redo(rec, cls=0), pick=K('OA'), provable=False)
def unwanted(cap, rec, r):
    fa = [x for x in cap.recs if x['kind'] == 'FA'][0]; mid = struct.unpack_from('<I', fa['um']['body'], 32)[0]
    for x in cap.recs:
        if x['kind'] == 'UM' and x['um']['mid'] == mid: redo(x, jn=0, jp=0)
    return fa
M('fa-unwanted', 'MS-MQQB 3.1.7.2.2', 'a positive FinalAck is sent for a message with neither JN, JP nor FA', [Q + '3.1.7.2.2.wanted'], TX(jn=1, n=2), unwanted)
M('fa-unwanted-2', 'MS-MQQB 3.1.7.2.2', 'a positive FinalAck is sent for a message whose JP is clear, another message of the transaction had it', [Q + '3.1.7.2.2.wanted'], TX(jp=1, n=3, rounds=1), unwanted)
for cls, txm, q in ((0x800A, True, 'not-transactional-message'),):
    pass
def rejn(seed):
    cap, c = mk(seed, direct=False); r = cap.r; cap.c = c; u = message(r, c, 0, dm=r.choice([0, 1])); u['flags'] = 4; u['aq'] = (2, 7); u['meta']['acks'] = [(0x8009, 20000)]; send(c, 0, u); c.close(); cap.built = True; return cap
M('aa-nottxq-for-plain', 'MS-MQQB 3.1.5.8.2', 'a message outside transactions is rejected for its queue not being transactional', [Q + '3.1.5.8.2.not-transactional-queue'], rejn, nop, pick=K('AA'))
def rejt(seed):
    cap, c = mk(seed, direct=False); r = cap.r; cap.c = c; u = message(r, c, 0, dm=1); u['flags'] = 4; u['aq'] = (2, 7); u['pr'] = 0; u['meta']['acks'] = [(0x800A, 20000)]; u['meta']['noorder'] = 1; c.tx(0, u, 1, 1, 5); c.close(); cap.built = True; return cap
M('aa-nottxm-for-tx', 'MS-MQQB 3.1.5.8.2', 'a transactional message is rejected for not being transactional', [Q + '3.1.5.8.2.not-transactional-message'], rejt, nop, pick=K('AA'))
# --- administration acknowledgments
A7 = Q + '3.1.7.15.'
aa = K('AA')
for nm_, fn in (('ordinal', lambda u, r: u['corr'][:16] + struct.pack('<I', struct.unpack('<I', u['corr'][16:])[0] + 1)), ('zero', lambda u, r: bytes(20)), ('guid', lambda u, r: u['src'] + u['corr'][16:]), ('swapped', lambda u, r: u['corr'][16:] + u['corr'][:16])):
    M(f'aa-corr-{nm_}', 'MS-MQQB 3.1.7.15', f'CorrelationID of an administration acknowledgment does not name the message ({nm_})', [A7 + 'correlation', P + 'correlation-id-acknowledged'], ADM(), lambda cap, rec, r, fn=fn: redo(rec, corr=fn(rec['um'], r)), pick=aa)
for dm in (0, 1): M(f'aa-delivery-{dm}', 'MS-MQQB 3.1.7.15', f'an administration acknowledgment has DM {1-dm}, its message {dm}', [A7 + 'delivery'], ADM(dm=dm), lambda cap, rec, r, dm=dm: redo(rec, dm=1 - dm), pick=aa)
M('aa-delivery-neg', 'MS-MQQB 3.1.7.15', 'a negative acknowledgment of a recoverable message is express', [A7 + 'delivery'], ADM(dm=1, neg=True, direct=False), lambda cap, rec, r: redo(rec, dm=0), pick=aa)
M('aa-ttrq', 'MS-MQQB 3.1.7.15', 'TimeToReachQueue of an administration acknowledgment is 345600', [A7 + 'times'], ADM(), lambda cap, rec, r: redo(rec, ttrq=345600), pick=aa, close=KEEP)
M('aa-ttbr', 'MS-MQQB 3.1.7.15', 'TimeToBeReceived of an administration acknowledgment is 3600', [A7 + 'times'], ADM(), lambda cap, rec, r: redo(rec, ttbr=3600), pick=aa, close=KEEP)
for nm_, kw in (('jn', dict(jn=1)), ('jp', dict(jp=1)), ('flags', dict(flags=1, aq=(2, 9))), ('flags-neg', dict(flags=8, aq=(5, b'\7' * 16)))):
    M(f'aa-plain-{nm_}', 'MS-MQQB 3.1.7.15', f'an administration acknowledgment asks for journaling or acknowledgments ({nm_})', [A7 + 'plain'], ADM(), lambda cap, rec, r, kw=kw: redo(rec, **kw), pick=aa)
M('aa-encrypted', 'MS-MQQB 3.1.7.15', 'an administration acknowledgment is encrypted', [A7 + 'plain'], ADM(False), lambda cap, rec, r: redo(rec, priv=1, body=rbytes(r, 16), sec=dict(st=0, eb=1, de=0, key=b'\x01\x02\0\0' + struct.pack('<I', 0x6801) + b'\0\xa4\0\0' + rbytes(r, 256), prov=prov(1, 'Microsoft Base Cryptographic Provider v1.0'))), pick=aa, close=KEEP)
M('aa-signed', 'MS-MQQB 3.1.7.15', 'an administration acknowledgment is signed', [A7 + 'unsigned'], ADM(), lambda cap, rec, r: (lambda u: (u.update(hash=0x800E, sec=dict(st=2, sid=u['src'], de=1, cert=KEYS[0][3])), u['sec'].update(sig=sign(u, KEYS[0])), redo(rec, sec=u['sec'], hash=0x800E))[2])(copy.deepcopy(rec['um'])), pick=aa, close=KEEP)
M('aa-response-none', 'MS-MQQB 3.1.7.15', 'an administration acknowledgment has no response queue', [A7 + 'response-queue'], ADM(), lambda cap, rec, r: redo(rec, rq=(0, 0)), pick=aa, close=KEEP)
M('aa-response-other', 'MS-MQQB 3.1.7.15', 'the response queue of an administration acknowledgment is another than the message\'s destination', [A7 + 'response-queue'], ADM(False), lambda cap, rec, r: redo(rec, rq=(2, 4711)) if rec['um']['rq'][0] == 2 else redo(rec, rq=(5, guid(r))), pick=aa, close=KEEP)
M('aa-response-direct', 'MS-MQQB 3.1.7.15', 'the response queue of an administration acknowledgment is a direct name the message was not sent to', [A7 + 'response-queue'], ADM(True), lambda cap, rec, r: redo(rec, rq=(7, rec['um']['rq'][1] + 'x')), pick=aa, close=KEEP)
M('aa-destination', 'MS-MQQB 3.1.7.15', 'an administration acknowledgment goes to another queue than the administration queue', [A7 + 'destination'], ADM(False), lambda cap, rec, r: redo(rec, dq=(rec['um']['dq'][0], 4712 if rec['um']['dq'][0] == 3 else guid(r))), pick=aa, close=KEEP)
M('aa-destination-direct', 'MS-MQQB 3.1.7.15', 'an administration acknowledgment goes to another direct name', [A7 + 'destination'], ADM(True), lambda cap, rec, r: redo(rec, dq=(7, rec['um']['dq'][1] + '2')), pick=aa, close=KEEP)
M('aa-body-missing', 'MS-MQQB 3.1.7.15', 'a negative acknowledgment does not return the body', [A7 + 'body'], ADM(False, neg=True), lambda cap, rec, r: redo(rec, body=b''), pick=aa, close=KEEP)
M('aa-body-other', 'MS-MQQB 3.1.7.15', 'a negative acknowledgment returns another body', [A7 + 'body'], ADM(neg=True), lambda cap, rec, r: redo(rec, body=rec['um']['body'][:-1] + bytes([rec['um']['body'][-1] ^ 1])), pick=aa, close=KEEP)
for cls, fl, d in ((0x4000, 1, False), (2, 2, False), (0xC001, 2, False), (0x8003, 1, False), (0xC000, 4, True), (0x4000, 8, True)):
    M(f'aa-class-{cls:x}-{fl}', 'MS-MQQB 3.1.7.15', f'an acknowledgment of class {cls:#x} is sent, the message asks for {fl} alone', [A7 + 'requested'], ADM(d, fl=fl, cls=cls), lambda cap, rec, r: setattr(cap, 'built', True), pick=K('AA', -1))
def noask(cap, rec, r):
    x = cap.orig; redo(x, flags=0, aq=(0, 0)); return rec
M('aa-not-asked', 'MS-MQQB 3.1.7.15', 'an administration acknowledgment is sent for a message that asks for none', [A7 + 'requested', A7 + 'destination'], ADM(), noask, pick=aa, close=KEEP)
# --- pings
PG = S(ping=True)
def ping(kind, fn):
    def g(cap, rec, r):
        p = [x for x in cap.pings if x['kind'] == kind][0]; return fn(cap, p, r)
    return g
def pset(p, off, fm, v): d = bytearray(p['data']); struct.pack_into('<' + fm, d, off, v(struct.unpack_from('<' + fm, d, off)[0]) if callable(v) else v); p['data'] = bytes(d)
def nosess(cap): # nothing after the pings
    cap.recs = []; [setattr(c, 'open_t', None) for c in cap.conns]
for k, w in (('PQ', 'request'), ('PR', 'response')):
    for n in (20, 28, 8): M(f'ping-size-{w}-{n}', 'MS-MQQB 2.2.7', f'a Ping {w} has {n} bytes', [Q + '2.2.7.size'], PG, ping(k, lambda cap, p, r, n=n, k=k: (p.update(data=(p['data'] + bytes(8))[:n]), nosess(cap), setattr(cap, 'pings', [x for x in cap.pings if x['t'] <= p['t']]))[1]), close=KEEP)
    for v in (0x4855, 0, 0x5549): M(f'ping-signature-{w}-{v:x}', 'MS-MQQB 2.2.7', f'the signature of a Ping {w} is {v:#x}', [Q + '2.2.7.signature'], PG, ping(k, lambda cap, p, r, v=v: (pset(p, 2, 'H', v), nosess(cap), setattr(cap, 'pings', [x for x in cap.pings if x['t'] <= p['t']]))[1]), close=KEEP)
M('ping-rf', 'MS-MQQB 2.2.7', 'RF is set in a Ping request', [Q + '2.2.7.request-rf'], PG, ping('PQ', lambda cap, p, r: pset(p, 0, 'H', lambda v: v | 2)), close=KEEP)
for nm_, fn in (('plus', lambda v: (v + 1) & INF), ('zero', lambda v: 0 if v else 1), ('swap', lambda v: int.from_bytes(v.to_bytes(4, 'little'), 'big') if v.to_bytes(4, 'little') != v.to_bytes(4, 'big') else v ^ 1)):
    M(f'ping-cookie-{nm_}', 'MS-MQQB 2.2.7', f'a Ping response does not repeat the Cookie ({nm_})', [Q + '2.2.7.response-cookie'], PG, ping('PR', lambda cap, p, r, fn=fn: (pset(p, 4, 'I', fn), nosess(cap))[1]), close=KEEP)
M('ping-rc', 'MS-MQQB 2.2.7', 'a Ping response does not repeat the RC bit', [Q + '2.2.7.response-rc'], PG, ping('PR', lambda cap, p, r: pset(p, 0, 'H', lambda v: v ^ 1)), close=KEEP)
M('ping-port', 'MS-MQQB 2.1.2', 'a Ping response goes to another port than its request came from', [Q + '2.1.2.response-address'], PG, ping('PR', lambda cap, p, r: (p.update(dport=p['dport'] + 1), nosess(cap))[1]), close=KEEP)
M('ping-port-3527', 'MS-MQQB 2.1.2', 'a Ping response goes to port 3527 of the initiator', [Q + '2.1.2.response-address'], PG, ping('PR', lambda cap, p, r: (p.update(dport=3527), nosess(cap))[1]), close=KEEP, provable=False)
M('ping-address', 'MS-MQQB 2.1.2', 'a Ping response goes to another host than its request came from', [Q + '2.1.2.response-address'], PG, ping('PR', lambda cap, p, r: (p.update(dst=Host(r)), nosess(cap))[1]), close=KEEP)
M('ping-qm', 'MS-MQQB 2.2.7', 'a Ping request and the EstablishConnection request after it name different queue managers', [Q + '2.2.7.qm-guid'], PG, ping('PQ', lambda cap, p, r: p.update(data=p['data'][:8] + guid(r))), close=KEEP)
M('ping-response-qm', 'MS-MQQB 2.2.7', 'a Ping response names another queue manager than its host\'s EstablishConnection response', [Q + '2.2.7.response-qm-guid'], S(ping=True, direct=False), ping('PR', lambda cap, p, r: p.update(data=p['data'][:8] + guid(r))), close=KEEP)
M('ping-response-echo', 'MS-MQQB 2.2.7', 'a Ping response has the QMGuid of the request', [Q + '2.2.7.response-qm-guid'], S(ping=True, direct=False), ping('PR', lambda cap, p, r: p.update(data=p['data'][:8] + cap.c.h[0].qm)), close=KEEP)
M('ping-refused', 'MS-MQQB 3.1.7.6', 'a connection is made after a Ping response with RF set', [Q + '3.1.7.6.refused'], PG, ping('PR', lambda cap, p, r: pset(p, 0, 'H', lambda v: v | 2)), close=KEEP)
def late(ms):
    def g(cap, p, r):
        q = [x for x in cap.pings if x['kind'] == 'PQ'][0]; q['t'] -= ms * 1000
    return g
for ms in (1200, 5000): M(f'ping-late-{ms}', 'MS-MQQB 3.1.2.9', f'a connection is made on a Ping response more than {ms} ms late', [Q + '3.1.2.9.one-second'], PG, ping('PR', late(ms)), close=KEEP)
def manyping(seed):
    cap = Cap(seed); r = cap.r; A, Bh = Host(r), Host(r)
    for k in range(4): c = Conn(cap, A, Bh, cap.t0 + k * 6_000_000, True, setup=False); c.do_ping()
    return cap
for nm_, fn in (('same', lambda v: v - 1), ('two', lambda v: v + 1), ('back', lambda v: max(v - 3, 0))):
    M(f'pingcookie-next-{nm_}', 'MS-MQQB 3.1.7.6', f'the third Ping request does not have the next Cookie ({nm_})', [Q + '3.1.7.6.cookie'], manyping, lambda cap, rec, r, fn=fn: [pset(x, 4, 'I', fn) for x in cap.pings[4:6]] and setattr(cap, 'pings', cap.pings[:6]), close=KEEP, provable=nm_ != 'back')
# --- order of the session
def reorder(sel, where, at):
    """the first packet of kind sel comes right before/after that of kind at"""
    def g(cap, rec, r):
        x = [y for y in cap.recs if y['kind'] == sel and (sel != 'UM' or True)][0]; a = [y for y in cap.recs if y['kind'] == at][0]
        x['t'] = a['t'] + (-300 if where == 'before' else 300)
        cap.recs = [y for y in cap.recs if y['t'] <= x['t'] or y is x]; return x
    return g
I1 = [Q + '2.1.1.initialization']
M('um-before-cpr', 'MS-MQQB 2.1.1', 'a user message is sent before the ConnectionParameters response', I1 + [Q + '3.1.5.8.state-closes'], S(side=0, before=0), reorder('UM', 'before', 'CPR'))
M('um-before-cpq', 'MS-MQQB 2.1.1', 'a user message is sent before the ConnectionParameters request', I1, S(side=0, before=0), reorder('UM', 'before', 'CPQ'))
M('um-first', 'MS-MQQB 2.1.1', 'a user message is sent before the EstablishConnection response', I1, S(side=0, before=0), reorder('UM', 'before', 'ECR'))
M('cpq-early', 'MS-MQQB 2.1.1', 'the ConnectionParameters request is sent before the EstablishConnection response', I1, AN, reorder('CPQ', 'before', 'ECR'))
M('sa-early', 'MS-MQQB 2.1.1', 'a SessionAck is sent before the ConnectionParameters response', I1 + [Q + '3.1.6.4.something-to-acknowledge'], AN, lambda cap, rec, r: (lambda x, a: (x.update(data=enc_sa([0, 0, 0, 0, 0, 64, 0]), t=a['t'] - 300), setattr(cap, 'recs', [y for y in cap.recs if y['t'] < a['t'] - 300] + [x]), x)[2])([y for y in cap.recs if y['kind'] == 'SA' and y['side'] == 1][0], [y for y in cap.recs if y['kind'] == 'CPR'][0]))
M('oa-early-state', 'MS-MQQB 2.1.1', 'an OrderAck is sent before the session is open', I1, TX(rounds=1), reorder('OA', 'before', 'CPR'))
def again_(kind, side=None):
    def g(cap, rec, r):
        a = [y for y in cap.recs if y['kind'] == kind][0]; m = [y for y in cap.recs if y['kind'] == 'UM'][1]; x = dict(a); x['t'] = m['t'] + 300; cap.recs = [y for y in cap.recs if y['t'] <= m['t']] + [x]; return x
    return g
for k in ('ECQ', 'CPQ', 'CPR', 'ECR'): M(f'again-{k.lower()}', 'MS-MQQB 2.1.1', f'{NAMES[k.lower()]} is sent a second time in the open session', I1 + [Q + ('3.1.5.3.state-closes' if k[0] == 'E' else '3.1.5.4.state-closes')], AN, again_(k))
def nofirst(n):
    def g(cap, rec, r):
        m = sorted([y for y in cap.recs], key=lambda y: y['t']); cap.recs = m[n:]; cap.recs = [y for y in cap.recs if y['t'] <= m[n]['t']]; return m[n]
    return g
M('no-establish', 'MS-MQQB 2.1.1', 'a session begins with the ConnectionParameters exchange', I1, AN, nofirst(2))
M('no-initialization', 'MS-MQQB 2.1.1', 'a session begins with a user message', I1, S(side=0, before=0), nofirst(4))
M('no-parameters', 'MS-MQQB 2.1.1', 'user messages follow the EstablishConnection exchange at once', I1, S(side=0, before=0), lambda cap, rec, r: (lambda m: (setattr(cap, 'recs', m[:2] + m[4:5]), m[4])[1])(sorted(cap.recs, key=lambda y: y['t'])))
M('acceptor-first', 'MS-MQQB 2.1.1', 'the acceptor sends the EstablishConnection request', I1, AN, lambda cap, rec, r: (lambda x: (x.update(side=1), setattr(cap, 'recs', [x]), x)[2])([y for y in cap.recs if y['kind'] == 'ECQ'][0]))
# --- the receiver goes on
def goes_on(kind, fn, q, name, text):
    def build(seed):
        cap = S(side=0, before=1, after=3)(seed); return cap
    M(name, 'MS-MQQB 3.1.5', text, q, build, fn, close=KEEP, provable=True)
# --- acknowledgments in time, windows
def noack(kind, ackt=20000, wait=15_000_000):
    def build(seed):
        cap, c = mk(seed, rtt=2, ackt=ackt); r = cap.r; cap.c = c; cap.built = True
        for _ in range(3): send(c, 0, message(r, c, 0, dm=0 if kind == 'x' else 1, sz=4), dt=1500)
        c.ev = []; c.t += wait
        send(c, 0, message(r, c, 0, dm=0, sz=5)); cap.target = cap.recs[-1]; c.ev = []; c.t += 1000; c.sessack(1); c.ev = []; c.closed = (c.t + 5000, 'fin0'); return cap
    return build
M('ack-late-express', 'MS-MQQB 3.1.5.8.2', 'express messages are acknowledged 15 s after, AckTimeout is 20 s', [Q + '3.1.5.8.2.acknowledged-in-time'], noack('x'), nop, close=KEEP)
M('ack-late-express-60', 'MS-MQQB 3.1.5.8.2', 'express messages are acknowledged 100 s after, AckTimeout is 120 s', [Q + '3.1.5.8.2.acknowledged-in-time'], noack('x', 120000, 100_000_000), nop, close=KEEP)
M('ack-late-recoverable', 'MS-MQQB 3.1.5.8.7', 'recoverable messages are acknowledged 5 s after, RecoverableAckTimeout is 500 ms', [Q + '3.1.5.8.2.acknowledged-in-time'], noack('r', 20000, 5_000_000), nop, close=KEEP)
def many(n, dm):
    def build(seed):
        cap, c = mk(seed, rtt=2, ackt=120000); r = cap.r; cap.c = c; cap.built = True
        for k in range(n):
            u = message(r, c, 0, dm=dm, sz=4); u['sent'] = c.t // 1000000; u['mid'] = c.h[0].next_mid(); u['pseed'] = k + 5; c.t += 300; c.s[0]['sent'] += 1; c.s[0]['rsent'] += dm
            d, of = encode(u); c.rec(0, 'UM', d, of, u)
            st = c.s[1]; st['recv'] += 1; st['unacked'] += 1
            if dm: 
                st['rrecv'] += 1
        cap.target = cap.recs[-1]
        c.ev = []; c.closed = (c.t + 3000, 'fin0'); return cap
    return build
M('window-65', 'MS-MQQB 3.1.7.1', '66 express messages are sent without an acknowledgment, the window is 64', [Q + '3.1.7.1.window'], many(66, 0), nop, close=KEEP)
M('window-100', 'MS-MQQB 3.1.7.1', '100 express messages are sent without an acknowledgment, the window is 64', [Q + '3.1.7.1.window'], many(100, 0), nop, close=KEEP)
M('recoverable-40', 'MS-MQQB 3.1.5.8.7', '40 recoverable messages come within 20 ms and no acknowledgment is sent after the 33rd', [Q + '3.1.5.8.7.recoverable-at-once'], many(40, 1), nop, close=KEEP)
def idleack(n):
    def build(seed):
        cap = S()(seed); c = cap.c; cap.built = True
        for k in range(n):
            c.closed = None; c.ev = []; c.t += 12_000_000; rc = c.sessack(1); c.ev = []
        cap.target = rc; c.closed = (c.t + 1000, 'fin0'); return cap
    return build
M('ack-for-nothing', 'MS-MQQB 3.1.6.4', 'a SessionAck is sent though no message came since the last', [Q + '3.1.6.4.something-to-acknowledge'], idleack(1), nop, close=KEEP)
M('ack-for-nothing-3', 'MS-MQQB 3.1.6.4', 'SessionAcks go on in an idle session', [Q + '3.1.6.4.something-to-acknowledge'], idleack(3), nop, close=KEEP)
M('ack-before-message', 'MS-MQQB 3.1.6.4', 'the first packet of the open session is a SessionAck that acknowledges nothing', [Q + '3.1.6.4.something-to-acknowledge'], AN, lambda cap, rec, r: (lambda x, a: (x.update(data=enc_sa([0, 0, 0, 0, 0, 64, 0]), t=a['t'] + 300), setattr(cap, 'recs', [y for y in cap.recs if y['t'] <= a['t']] + [x]), x)[2])([y for y in cap.recs if y['kind'] == 'SA' and y['side'] == 1][0], [y for y in cap.recs if y['kind'] == 'CPR'][0]))
# --- forwarding, reports
def routed(seed):
    cap, c = mk(seed, direct=False); r = cap.r; cap.c = c; g = guid(r); cap.t_ = None
    for k in range(6):
        u = message(r, c, 0, sz=8)
        if k % 2: u.update(src=g, mid=100 + k, rc=2, jn=0, jp=0)
        rc = send(c, 0, u)
        if k == 3: cap.target = rc
    c.close(); return cap
M('hop-count-0-passed', 'MS-MQQB 3.1.5.8.2', 'a message of another queue manager is passed on with hop count 0, next to the initiator\'s own', [Q + '3.1.5.8.2.hop-count', Q + '3.1.5.2.3.client-guid'], routed, lambda cap, rec, r: redo(rec, rc=0), close=KEEP)
def RP(side):
    def build(seed):
        cap, c = mk(seed, direct=False); r = cap.r; cap.c = c
        send(c, 0, message(r, c, 0)); (trace_sender if side else trace)(c, 0, message(r, c, 0, sz=6), dt=5000); c.advance(c.t + 50000); send(c, 0, message(r, c, 0)); c.close(); return cap
    return build
R7 = Q + '3.1.7.1.7.'; rp = K('RP')
def rlab(fn): return lambda cap, rec, r: redo(rec, label=fn(rec['um']['label']))
def rbody(fn): return lambda cap, rec, r: redo(rec, body=fn(rec['um']['body'].decode('utf-16-le')).encode('utf-16-le'))
for nm_, fn in (('verb', lambda l: l.replace('received by', 'sent by')), ('hex', lambda l: 'XYZW' + l[4:]), ('nohops', lambda l: l[:13] + l[16:]), ('ampm', lambda l: l.replace(' AM ', ' ').replace(' PM ', ' ')), ('braces', lambda l: l.replace('received by ', 'received by {').replace(' at ', '} at ')), ('month', lambda l: _re.sub(r',(\w{3}) ', ',Foo ', l)), ('empty', lambda l: ''), ('year', lambda l: l[:-2] + '20' + l[-2:])):
    M(f'report-label-{nm_}', 'MS-MQQB 3.1.7.1.7', f'the label of a report does not have its format ({nm_})', [R7 + 'label'], RP(len(nm_) % 2), rlab(fn), pick=rp, close=KEEP)
for nm_, fn in (('tag', lambda b: b.replace('MESSAGE ID', 'MESSAGE-ID')), ('lf', lambda b: b.replace('\r\n', '\n')), ('short', lambda b: b.split('\r\n')[0]), ('queue', lambda b: _re.sub(r'QUEUE>[^<]*<', 'QUEUE>nowhere<', b)), ('hex', lambda b: b.replace('<MESSAGE ID>', '<MESSAGE ID>0x'))):
    M(f'report-body-{nm_}', 'MS-MQQB 3.1.7.1.7', f'the body of a report does not have its format ({nm_})', [R7 + 'body'], RP(1), rbody(fn), pick=rp, close=KEEP)
M('report-mid', 'MS-MQQB 3.1.7.1.7', 'label and body of a report name different messages', [R7 + 'message-id'], RP(1), lambda cap, rec, r: redo(rec, body=_re.sub('ID>[0-9A-F]{8}<', 'ID>0BADF00D<', rec['um']['body'].decode('utf-16-le')).encode('utf-16-le')), pick=rp, close=KEEP)
M('report-hops', 'MS-MQQB 3.1.7.1.7', 'label and body of a report name different numbers of hops', [R7 + 'message-id'], RP(1), lambda cap, rec, r: redo(rec, body=rec['um']['body'].decode('utf-16-le').replace('COUNT>00 ', 'COUNT>07 ').encode('utf-16-le')), pick=rp, close=KEEP)
M('report-dm', 'MS-MQQB 3.1.7.1.7', 'a report is recoverable', [R7 + 'delivery'], RP(1), lambda cap, rec, r: redo(rec, dm=1), pick=rp)
M('report-dm-receiver', 'MS-MQQB 3.1.5.8.9', 'the report of a receiver is recoverable', [R7 + 'delivery'], RP(0), lambda cap, rec, r: redo(rec, dm=1), pick=rp)
M('report-dq', 'MS-MQQB 3.1.7.1.7', 'a report goes to a private queue', [R7 + 'destination'], RP(1), lambda cap, rec, r: redo(rec, dq=(3, 9)), pick=rp, close=KEEP)
M('report-dq-direct', 'MS-MQQB 3.1.7.1.7', 'a report goes to a direct name', [R7 + 'destination'], RP(0), lambda cap, rec, r: redo(rec, dq=(7, 'OS:x\\reports'), qma=NULLG), pick=rp, close=KEEP)
# --- MS-MQRR extension family behind a user message
def EXT(dl=None, v6=None):
    def build(seed):
        cap, c = mk(seed, direct=False); r = cap.r; cap.c = c; send(c, 0, message(r, c, 0))
        u = message(r, c, 0, feats=[r.choice(['sid', 'soap', ''])], sz=8); u['meta']['ext'] = ext_family(r, dl, v6); u['ext'] = b''.join(u['meta']['ext']); cap.target = send(c, 0, u); c.close(); return cap
    return build
R2 = 'MQRR-2.2.5.'
def ex(fn):
    def g(cap, rec, r):
        l = [bytearray(x) for x in rec['um']['meta']['ext']]; res = fn(l, r)
        if res is False: return False
        redo(rec, ext=b''.join(bytes(x) for x in (res or l)))
    return g
def st_(i, off, fm, v): return lambda l, r: struct.pack_into('<' + fm, l[i], off, v(struct.unpack_from('<' + fm, l[i], off)[0]) if callable(v) else v)
EL = [('x-size', 'HeaderSize of ExtensionHeader is 16', '2.header-size', EXT(), st_(0, 0, 'I', 16)), ('x-remaining', 'RemainingHeadersSize is 4 too many', '2.remaining-headers-size', EXT(), st_(0, 4, 'I', lambda v: v + 4)), ('x-remaining-own', 'RemainingHeadersSize counts ExtensionHeader too', '2.remaining-headers-size', EXT(), st_(0, 4, 'I', lambda v: v + 12)),
      ('x-sq', 'SQ is clear', '2.subqueue-flag', EXT(), st_(0, 8, 'B', lambda v: v & ~2)), ('x-ea', 'EA is clear', '2.extended-address-flag', EXT(), st_(0, 8, 'B', lambda v: v & ~16)), ('x-dl-clear', 'DL is clear, a DeadLetterHeader is there', '2.dead-letter-flag', EXT(True), st_(0, 8, 'B', lambda v: v & ~1)), ('x-dl-set', 'DL is set, there is no DeadLetterHeader', '2.dead-letter-flag', EXT(False), st_(0, 8, 'B', lambda v: v | 1)), ('x-di', 'DI is set without a DeadLetterHeader', '2.dead-letter-invalid-flag', EXT(False), st_(0, 8, 'B', lambda v: v | 8)),
      ('s-size', 'HeaderSize of SubqueueHeader is 144', '3.header-size', EXT(), st_(1, 0, 'I', 144)), ('s-tm', 'TM of SubqueueHeader is set', '3.tm', EXT(), st_(1, 4, 'B', lambda v: v | 1)), ('s-class', 'AcknowledgementClass is no message class', '3.acknowledgement-class', EXT(), st_(1, 4, 'I', lambda v: (v & ~0x1FFFE) | 0x1234 << 1)), ('s-never', 'MoveCounter is 0, LastMoveTime is not', '3.last-move-time-never', EXT(), lambda l, r: struct.pack_into('<II', l[1], 12, 0, 12345)),
      ('s-name-nul', 'SubqueueName has no NUL', '3.subqueue-name', EXT(), lambda l, r: l[1].__setitem__(slice(20, 84), ('s' * 32).encode('utf-16-le'))), ('s-name-rest', 'there is something behind the NUL of SubqueueName', '3.subqueue-name', EXT(), lambda l, r: l[1].__setitem__(slice(20, 84), 'ab\0cd'.encode('utf-16-le') + bytes(54))), ('s-target-nul', 'TargetSubqueueName has no NUL', '3.target-subqueue-name', EXT(), lambda l, r: l[1].__setitem__(slice(84, 148), ('t' * 32).encode('utf-16-le'))), ('s-target-rest', 'there is something behind the NUL of TargetSubqueueName', '3.target-subqueue-name', EXT(), lambda l, r: l[1].__setitem__(147, 7)),
      ('d-size', 'HeaderSize of DeadLetterHeader leaves itself out', '4.header-size', EXT(True), st_(2, 0, 'I', lambda v: v - 4)), ('d-nul', 'DeadLetterPathName has no NUL', '4.path-terminated', EXT(True), lambda l, r: [l[0], l[1], struct.pack('<I', 28) + 'srv\\dead_let'.encode('utf-16-le'), l[3]] and (lambda n: [bytearray(struct.pack('<IIB', 12, 148 + len(n) + 28, l[0][8]) + bytes(3)), l[1], n, l[3]])(struct.pack('<I', 28) + 'srv\\dead_let'.encode('utf-16-le'))), ('d-pad', 'the padding of DeadLetterPathName is not zero', '4.path-padding', EXT(True), lambda l, r: False if l[2][-4:] != b'\0\0\0\0' else l[2].__setitem__(-1, 9)),
      ('e-size', 'HeaderSize of ExtendedAddressHeader is 24', '5.header-size', EXT(), st_(3, 0, 'I', 24)), ('e-type', 'AddressType is 2', '5.address-type', EXT(v6=1), st_(3, 6, 'H', 2)), ('e-length-4', 'AddressLength of an IPv4 address is 16', '5.address-length', EXT(v6=1), st_(3, 4, 'H', 16)), ('e-length-6', 'AddressLength of an IPv6 address is 4', '5.address-length', EXT(v6=6), st_(3, 4, 'H', 4)), ('e-scope', 'AddressScope is not 0 with an IPv4 address', '5.address-scope', EXT(v6=1), st_(3, 8, 'I', 3)),
      ('order-sd', 'DeadLetterHeader stands before SubqueueHeader', 'order', EXT(True), lambda l, r: [l[0], l[2], l[1], l[3]]), ('order-ed', 'ExtendedAddressHeader stands before SubqueueHeader', 'order', EXT(False), lambda l, r: [l[0], l[3], l[1], l[2]])]
for nm_, t, q, base, fn in EL: M("ext-" + nm_, "MS-MQRR 2.2.5" + ("." + q.split(".")[0] if q[0].isdigit() else ""), t, [R2 + q], base, ex(fn))

def refused(wait):
    def g(cap, rec, r):
        other = guid(r); m = sorted(cap.recs, key=lambda y: y['t'])[:3]
        m[0].update(data=m[0]['data'][:36] + other + m[0]['data'][52:]); orp(m[1], 'int', 2, 'H', 16); m[2]['t'] += wait; cap.recs = m; return m[2]
    return g
for w_ in (0, 3_000_000): M(f'invalid-closes-{w_}', 'MS-MQQB 3.1.5.3.2', f'the initiator goes on with ConnectionParameters after a response that refuses ({w_ // 1000} ms)', [Q + '3.1.5.3.2.invalid-closes'], S(direct=False), refused(w_))
def dropped(cap, rec, r):
    other = guid(r); m = sorted(cap.recs, key=lambda y: y['t'])[:2]
    m[0].update(data=m[0]['data'][:36] + other + m[0]['data'][52:]); cap.recs = m; return m[1]
M('cs-clear', 'MS-MQQB 3.1.5.3.1', 'the acceptor does not refuse a request for another queue manager; it names itself', [Q + '3.1.5.3.1.cs', Q + '3.1.5.3.1.server-guid'], S(direct=False), dropped)
env = ('<se:Envelope xmlns:se="http://schemas.xmlsoap.org/soap/envelope/"><se:Header/><se:Body/></se:Envelope>\0').encode('utf-16-le')
srmp1 = struct.pack('<HHI', 0x1F4, 0, len(env) // 2) + env + bytes(-len(env) % 4); srmp2 = struct.pack('<HHIII', 0x258, 0, 8, 4, 4) + b'POSTbody'
M('srmp-envelope-no-ah', 'MS-MQRR 2.2.5.1.1', 'a binary message (AH clear) has an SRMPEnvelopeHeader', ['MQRR-2.2.5.1.1.no-srmp-headers', B + 'packet-size-headers'], S(['soap']), lambda cap, rec, r: redo(rec, raw={'debug': srmp1}))
M('srmp-both-no-ah', 'MS-MQRR 2.2.5.1.1', 'a binary message (AH clear) has an SRMPEnvelopeHeader and a CompoundMessageHeader', ['MQRR-2.2.5.1.1.no-srmp-headers', B + 'packet-size-headers'], S(), lambda cap, rec, r: redo(rec, raw={'debug': srmp1 + srmp2}))
M('srmp-ah-no-headers', 'MS-MQRR 2.2.5.1.2', 'AH is set, there is neither SRMPEnvelopeHeader nor CompoundMessageHeader', [U + 'http-flag', 'MQRR-2.2.5.1.2.srmp-headers-present'], S(['cq'], dm=0), o('user', 44, 'I', 1 << 25))

def MQL(tail):
    """the target lists its own queue (a direct name) and names after it; tail(r) gives raw elements"""
    def tw(u, r, c, i):
        own = u['dq'][1]; pad = 'OS:p\\q' if (2 + len(u16z(own))) % 4 == 0 else None
        u['mqf'] = dict(d=[(3, own)] + tail(r, (12 + 2 + len(u16z(own)))), a=[], r=[], sig=b'')
    return S(direct=True, tweak=tw)
bt = lambda cap, rec, r: setattr(cap, 'built', True)
W = struct.pack
M('mqf-direct-count', 'MS-MQMQ 2.2.18.1.4.1', 'a direct name in Destination has a Count in front of the text, as in UserHeader', ['MQMQ-2.2.18.1.4.1.layout', F4 + '1.direct-format-name'], MQL(lambda r, p: [('raw', W('<H', 3) + rawname('OS:h\\q', pad=0))]), bt)
def odd(p): return p % 4 == 2
M('mqf-dl-unaligned', 'MS-MQMQ 2.2.18.1.4.2', 'DistributionListIdentifier does not begin at a multiple of 4', ['MQMQ-2.2.18.1.4.2.alignment'], MQL(lambda r, p: [('raw', (W('<H', 3) + u16z('OS:ab\\q') if p % 4 == 2 else W('<H', 3) + u16z('OS:a\\q') + b'') + b''), ('raw', W('<H', 6) + guid(r))] if False else ([(3, 'OS:a\\q')] if (p % 4 == 2) == ((2 + len(u16z('OS:a\\q'))) % 4 == 2) else []) + [('raw', W('<H', 6) + guid(r))]), lambda cap, rec, r: bt(cap, rec, r) if sum(len(enc_elem(12, f_, v_, r)) if f_ != 'raw' else 0 for f_, v_ in rec['um']['mqf']['d']) % 4 == 0 else False)
M('mqf-private-unaligned', 'MS-MQMQ 2.2.18.1.7.2', 'SourceQueueManager of a private name in Destination does not begin at a multiple of 4', ['MQMQ-2.2.18.1.7.2.source-queue-manager', F4 + 'private-format-name'], MQL(lambda r, p: [('raw', W('<H', 2) + guid(r) + W('<I', 9))]), lambda cap, rec, r: bt(cap, rec, r) if (12 + 2 + len(u16z(rec['um']['mqf']['d'][0][1]))) % 4 == 0 else False)
M('mqf-private-short', 'MS-MQMQ 2.2.18.1.4', 'the last private name in Destination has no PrivateQueueIdentifier', [F4 + 'format-name-structure', F4 + 'private-format-name', 'MQMQ-2.2.18.1.7.2.layout'], MQL(lambda r, p: [('raw', W('<H', 2) + bytes(-(p + 2) % 4) + guid(r))]), bt)
M('mqf-public-short', 'MS-MQMQ 2.2.18.1.4', 'the last public name in Destination has 8 bytes', [F4 + 'format-name-structure', F4 + 'public-format-name', 'MQMQ-2.2.18.1.7.1.layout'], MQL(lambda r, p: [('raw', W('<H', 1) + guid(r)[:8])]), bt)
M('mqf-dl-short', 'MS-MQMQ 2.2.18.1.4', 'the last distribution list in Destination has 12 bytes', [F4 + 'format-name-structure', F4 + 'distribution-list-format-name', 'MQMQ-2.2.18.1.4.2.layout'], MQL(lambda r, p: [('raw', W('<H', 6) + bytes(-(p + 2) % 4) + guid(r)[:12])]), bt)
M('mqf-type-only', 'MS-MQMQ 2.2.18.1.4', 'the last element of Destination is a FormatType alone', [F4 + 'format-name-structure', F2 + 'format-name-list'], MQL(lambda r, p: [('raw', W('<H', 1))]), bt)
M('mqf-direct-guid', 'MS-MQMQ 2.2.18.1.4', 'an element of FormatType 3 holds a GUID', [F4 + 'format-name-structure', F4 + 'direct-format-name', F4 + '1.direct-format-name'], MQL(lambda r, p: [('raw', W('<H', 3) + b'\x21\x43' * 8)]), bt)
M('mqf-list-overpadded', 'MS-MQMQ 2.2.20.2', 'four bytes of padding too many at the end of FormatNameList', [F2 + 'format-name-list-layout', F2 + 'format-name-list'], MQL(lambda r, p: []), lambda cap, rec, r: (lambda b, n: setpiece(rec, 'mqf', W('<I', n + 4) + b[4:n] + b'\1\2\3\4' + b[n:]))(piece(rec, 'mqf'), mpos(rec, 1)))
M('dq-private-long', 'MS-MQMQ 2.2.18.1.5.1', 'the private destination queue has 8 bytes', ['MQMQ-2.2.18.1.5.1.layout', U + 'destination-private'], S(direct=False), lambda cap, rec, r: False if rec['um']['dq'][0] != 3 else redo(rec, dqraw=W('<Q', 77)))
M('dq-public-short', 'MS-MQMQ 2.2.18.1.7.1', 'the public destination queue has 12 bytes', ['MQMQ-2.2.18.1.7.1.layout', U + 'destination-public'], S(direct=False), lambda cap, rec, r: False if rec['um']['dq'][0] != 5 else redo(rec, dqraw=guid(r)[:12]))
M('aq-missing-name', 'MS-MQMQ 2.2.19.2', 'AQ is 5, AdminQueue is not there', [U + 'admin-queue-present', U + 'admin-public'], S(), lambda cap, rec, r: redo(rec, flags=4, aq=(5, guid(r)), aqraw=b''))
M('rq-missing-name', 'MS-MQMQ 2.2.19.2', 'RQ is 6, ResponseQueue is not there', [U + 'response-queue-present', U + 'response-private-other'], S(), lambda cap, rec, r: redo(rec, rq=(6, (guid(r), 5)), rqraw=b''))
M('rq-name-not-wanted', 'MS-MQMQ 2.2.19.2', 'RQ is 0, a name stands where ResponseQueue would', [U + 'response-queue-none', U + 'response-type-none'], S(), lambda cap, rec, r: redo(rec, rq=(0, 0), rqraw=W('<I', 5)))
M('rq-same-with-name', 'MS-MQMQ 2.2.19.2', 'RQ is 1, ResponseQueue has a name of its own', [U + 'response-queue-none', U + 'response-type-same'], S(tweak=lambda u, r, c, i: u.update(flags=4, aq=(2, 8), rq=(1, 0))), lambda cap, rec, r: redo(rec, rqraw=W('<I', 9)))
M('aq-name-not-wanted', 'MS-MQMQ 2.2.19.2', 'AQ is 0, a GUID stands where AdminQueue would', [U + 'admin-queue-none', U + 'admin-type-none'], S(), lambda cap, rec, r: redo(rec, flags=0, aq=(0, 0), rq=(0, 0), aqraw=guid(r)))
M('names-swapped', 'MS-MQMQ 2.2.19.2', 'AdminQueue and ResponseQueue stand in each other\'s place', [U + 'admin-queue-layout', U + 'response-queue-layout'], S(tweak=lambda u, r, c, i: u.update(flags=4, aq=(7, 'OS:%s\\PRIVATE$\\adm' % c.h[i].name), rq=(5, b'\x13' * 16))), lambda cap, rec, r: redo(rec, aqraw=enc_name(*rec['um']['rq']), rqraw=enc_name(*rec['um']['aq'])))
M('cq-first', 'MS-MQMQ 2.2.19.2', 'ConnectorType stands before DestinationQueue', [U + 'connector-type-layout', U + 'destination-queue-layout'], S(['cq'], direct=True), lambda cap, rec, r: (lambda b, c_: setpiece(rec, 'user', b[:48] + c_ + b[48:-16]))(piece(rec, 'user'), rec['um']['cq']))
