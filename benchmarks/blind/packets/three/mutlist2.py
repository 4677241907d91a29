from mutlist import *
T5 = 'MQMQ-2.2.20.5.'; S4 = 'MQMQ-2.2.20.4.'
# --- TransactionHeader
M('tx-num-0', 'MS-MQMQ 2.2.20.5', 'TxSequenceNumber is 0', T5 + 'sequence-number-range', S(tx=True), lambda cap, rec, r: (patch(rec, 'tx', 12, 'I', 0), patch(rec, 'tx', 16, 'I', 0))[0])
M('tx-prev-equal', 'MS-MQMQ 2.2.20.5', 'PreviousTxSequenceNumber is the message\'s own number', [T5 + 'previous-before', Q + '3.1.7.1.3.previous-number'], S(tx=True, n=3, k=1), lambda cap, rec, r: patch(rec, 'tx', 16, 'I', get(rec, 'tx', 12, 'I')))
M('tx-prev-later', 'MS-MQMQ 2.2.20.5', 'PreviousTxSequenceNumber is greater than TxSequenceNumber', [T5 + 'previous-before'], S(tx=True, n=2, k=1), lambda cap, rec, r: patch(rec, 'tx', 16, 'I', get(rec, 'tx', 12, 'I') + 5))
M('tx-prev-max', 'MS-MQMQ 2.2.20.5', 'PreviousTxSequenceNumber is 0xFFFFFFFF', [T5 + 'previous-before'], S(tx=True, n=2, k=1), f('tx', 16, 'I', 0xFFFFFFFF))
M('tx-first-prev', 'MS-MQMQ 2.2.20.5', 'the first message of a sequence has previous number 1', [T5 + 'first-has-no-previous', T5 + 'previous-before'], S(tx=True, before=0, side=0), lambda cap, rec, r: False if get(rec, 'tx', 12, 'I') != 1 else patch(rec, 'tx', 16, 'I', 1))
M('tx-prev-zero', 'MS-MQMQ 2.2.20.5', 'the third message of a sequence has previous number 0', [T5 + 'first-has-no-previous', Q + '3.1.7.1.3.previous-number', T5 + 'previous'], S(tx=True, n=3, k=2, before=1), lambda cap, rec, r: patch(rec, 'tx', 16, 'I', 0))
M('tx-prev-gap', 'MS-MQQB 3.1.7.1.3', 'a message sent for the first time leaves out the number before its own as the previous one', [Q + '3.1.7.1.3.previous-number', T5 + 'previous'], S(tx=True, n=5, k=4), lambda cap, rec, r: patch(rec, 'tx', 16, 'I', get(rec, 'tx', 12, 'I') - 2))
M('tx-cg-no-guid', 'MS-MQMQ 2.2.20.5', 'CG is set, there is no ConnectorQMGuid', T5 + 'connector-present', S(tx=True, sz=3), o('tx', 0, 'I', 1))
M('tx-cg-no-guid-sec', 'MS-MQMQ 2.2.20.5', 'CG is set, a SecurityHeader stands where ConnectorQMGuid must', T5 + 'connector-present', S(tx=True, feats=['sid'], sz=3), o('tx', 0, 'I', 1))
M('tx-guid-no-cg', 'MS-MQMQ 2.2.20.5', 'CG is clear, there is a ConnectorQMGuid', [T5 + 'connector-absent', B + 'packet-size-headers'], S(tx=True, cg=True), cl('tx', 0, 'I', 1))
for b in range(8): M(f'tx-x{b+1}', 'MS-MQMQ 2.2.20.5', f'unused bit X{b+1} of TransactionHeader.Flags is set', T5 + f'flags-x{b+1}', S(tx=True, n=1 + b % 3, k=b % 2 if b % 3 else 0), o('tx', 0, 'I', 1 << (24 + b)), close=KEEP)
M('tx-fm-missing', 'MS-MQMQ 2.2.20.5', 'FM is clear in the first message of a transaction', T5 + 'first-in-transaction', S(tx=True, n=3, k=0), cl('tx', 0, 'I', 4), close=KEEP)
M('tx-fm-missing-single', 'MS-MQMQ 2.2.20.5', 'FM is clear in the only message of a transaction', T5 + 'first-in-transaction', S(tx=True, n=1), cl('tx', 0, 'I', 4), close=KEEP)
M('tx-fm-second', 'MS-MQMQ 2.2.20.5', 'FM is set in the second message of a transaction too', T5 + 'first-in-transaction', S(tx=True, n=3, k=1), o('tx', 0, 'I', 4), close=KEEP)
M('tx-fm-last', 'MS-MQMQ 2.2.20.5', 'FM is set in the last of four messages of a transaction', T5 + 'first-in-transaction', S(tx=True, n=4, k=3), o('tx', 0, 'I', 4), close=KEEP)
M('tx-lm-missing', 'MS-MQMQ 2.2.20.5', 'LM is clear in the last message of a transaction, another transaction follows', T5 + 'last-in-transaction', TX(n=2), cl('tx', 0, 'I', 8), close=KEEP, pick=lambda cap, r: [x for x in cap.recs if x['kind'] == 'UM' and x['um']['tx'] and x['um']['tx']['lm']][0])
M('tx-lm-first', 'MS-MQMQ 2.2.20.5', 'LM is set in the first of three messages of a transaction', T5 + 'last-in-transaction', S(tx=True, n=3, k=0), o('tx', 0, 'I', 8), close=KEEP)
M('tx-lm-middle', 'MS-MQMQ 2.2.20.5', 'LM is set in the third of five messages of a transaction', T5 + 'last-in-transaction', S(tx=True, n=5, k=2), o('tx', 0, 'I', 8), close=KEEP)
def txid(rec, v): patch(rec, 'tx', 0, 'I', get(rec, 'tx', 0, 'I') & 0xFF00000F | (v & 0xFFFFF) << 4)
def txms(cap): return [x for x in sorted(cap.recs, key=lambda x: x['t']) if x['kind'] == 'UM' and x['um']['tx']]
M('tx-id-changes', 'MS-MQMQ 2.2.20.5', 'the second of three messages of a transaction has another ID', [T5 + 'transaction-identifier', T5 + 'first-in-transaction'], S(tx=True, n=3, k=1), lambda cap, rec, r: txid(rec, rec['um']['tx']['id'] + 77), close=KEEP)
M('tx-id-last', 'MS-MQMQ 2.2.20.5', 'the last of two messages of a transaction has another ID', [T5 + 'transaction-identifier', T5 + 'first-in-transaction'], S(tx=True, n=2, k=1), lambda cap, rec, r: txid(rec, rec['um']['tx']['id'] + 1), close=KEEP)
def idagain(cap, rec, r):
    m = txms(cap); first = m[0]['um']['tx']['id']; oth = [x for x in m if x['um']['tx']['id'] != first]
    last = [x for x in oth if x['um']['tx']['id'] == oth[-1]['um']['tx']['id']]
    for x in last: txid(x, first)
    return last[-1]
M('tx-id-again', 'MS-MQMQ 2.2.20.5', 'a later transaction has the ID of an earlier one', [T5 + 'transaction-identifier-unique'], TX(rounds=3), idagain, close=KEEP)
M('tx-id-all-zero-twice', 'MS-MQMQ 2.2.20.5', 'two transactions have ID 0', [T5 + 'transaction-identifier-unique'], TX(n=1, rounds=3), lambda cap, rec, r: [txid(x, 0) for x in txms(cap)[:2]] and None, close=KEEP)
# sequences
def seqset(rec, **k):
    t = dict(rec['um']['tx']); t.update(k); redo(rec, tx=t)
def nthtx(n, fn):
    def g(cap, rec, r):
        x = txms(cap)[n]; fn(cap, x, r); return x
    return g
def newseq(cap):
    m = txms(cap); o0 = m[0]['um']['tx']['ord']; return [x for x in m if x['um']['tx']['ord'] != o0][0]
M('seq-first-not-1', 'MS-MQMQ 2.2.20.5', 'a new transactional sequence begins with number 2', [Q + '3.1.1.5.first-number', T5 + 'sequence-number-from-one'], TX(), lambda cap, rec, r: (lambda x: (seqset(x, num=2, prev=1), x)[1])(newseq(cap)))
M('seq-first-not-1-start', 'MS-MQMQ 2.2.20.5', 'the second transactional sequence of a session begins with number 7 and previous number 0', [Q + '3.1.1.5.first-number', T5 + 'sequence-number-from-one'], TX(), lambda cap, rec, r: (lambda x: (seqset(x, num=7, prev=0), x)[1])(newseq(cap)))
M('seq-number-skips', 'MS-MQQB 3.1.7.1.3', 'a message sent for the first time leaves out a number', [Q + '3.1.7.1.3.next-number'], TX(n=4), nthtx(2, lambda cap, x, r: seqset(x, num=4, prev=2)))
M('seq-number-skips-far', 'MS-MQQB 3.1.7.1.3', 'the second message of a sequence has number 1000 and previous number 1', [Q + '3.1.7.1.3.next-number', T5 + 'sequence-number'], TX(n=3), nthtx(1, lambda cap, x, r: seqset(x, num=1000, prev=1)))
M('seq-number-repeats', 'MS-MQMQ 2.2.20.5', 'two different messages of a sequence have the same number', [Q + '3.1.7.1.3.next-number', T5 + 'sequence-number'], TX(n=4), nthtx(2, lambda cap, x, r: seqset(x, num=2, prev=1)))
M('seq-ordinal-skips', 'MS-MQQB 3.1.1.5', 'the next sequence has an Ordinal 2 higher', [Q + '3.1.1.5.next-sequence'], TX(), lambda cap, rec, r: (lambda x: (seqset(x, ord=x['um']['tx']['ord'] + 1), x)[1])(newseq(cap)))
M('seq-ordinal-back', 'MS-MQQB 3.1.1.5', 'a new message goes to a sequence with a lower Ordinal', [Q + '3.1.1.5.older-sequence'], TX(), lambda cap, rec, r: (lambda x: False if x['um']['tx']['ord'] < 3 else (seqset(x, ord=x['um']['tx']['ord'] - 2), x)[1])(newseq(cap)))
M('seq-timestamp-back', 'MS-MQQB 3.1.1.5', 'a new sequence has an earlier TimeStamp', [Q + '3.1.1.5.older-sequence', Q + '3.1.1.5.next-sequence'], TX(), lambda cap, rec, r: (lambda x: (seqset(x, ts=x['um']['tx']['ts'] - 1000), x)[1])(newseq(cap)))
M('seq-old-goes-on', 'MS-MQQB 3.1.1.5', 'after all was acknowledged the next message goes on in the old sequence', [], TX(), lambda cap, rec, r: (lambda x, l: (seqset(x, ord=l['ord'], num=l['num'] + 1, prev=l['num']), x)[1])(newseq(cap), [y['um']['tx'] for y in txms(cap) if y['um']['tx']['ord'] == txms(cap)[0]['um']['tx']['ord']][-1]), provable=True)
M('seq-new-too-early', 'MS-MQQB 3.1.1.5', 'a new sequence is begun while the messages before are not acknowledged', [Q + '3.1.1.5.all-acknowledged'], TX(n=4), nthtx(2, lambda cap, x, r: seqset(x, ord=x['um']['tx']['ord'] + 1, num=1, prev=0)))
def resent(fn, same=True, jump=30_500_000, order=None):
    def build(seed):
        cap, c = mk(seed, rtt=3); r = cap.r; cap.c = c; cap.built = True
        t = transaction(c, 0, 3, jn=0, jp=0, meta={'noorder': 1}); c.advance(c.t + jump)
        l = [copy.deepcopy(x['um']) for x in t]
        for u in l: u['sess'] = None; u['meta'] = {'noorder': 1}
        fn(l); out = [c.send(0, u, dt=2000) for u in l]; cap.target = out[-1]; c.advance(c.t + 100_000); c.ev = []; c.closed = (c.t + 1000, 'fin0'); return cap
    return build
nop = lambda cap, rec, r: None
def chg(k, **kw):
    def g(l): l[k]['tx'] = {**l[k]['tx'], **kw}
    return g
M('resend-number', 'MS-MQQB 3.1.7.1.3', 'a message sent again has another number', [Q + '3.1.7.1.3.resent-number'], resent(lambda l: [u.update(tx={**u['tx'], 'num': u['tx']['num'] + 3, 'prev': u['tx']['num'] + 2}) for u in l]), nop, close=KEEP)
M('resend-sequence', 'MS-MQQB 3.1.7.1.3', 'messages sent again on the same session have another sequence', [Q + '3.1.7.1.3.resent-number'], resent(lambda l: [u.update(tx={**u['tx'], 'ord': u['tx']['ord'] + 1}) for u in l]), nop, close=KEEP)
M('resend-previous', 'MS-MQQB 3.1.7.1.3', 'a message sent again names a higher previous number than before', [Q + '3.1.7.1.3.resent-previous', T5 + 'previous-before'], resent(chg(1, prev=2)), nop, close=KEEP)
M('resend-early', 'MS-MQQB 3.1.6.5', 'unacknowledged messages are sent again after 3 seconds', [Q + '3.1.6.5.resend-interval'], resent(lambda l: None, jump=3_000_000), nop, close=KEEP)
M('resend-early-20', 'MS-MQQB 3.1.6.5', 'unacknowledged messages are sent again after 20 seconds', [Q + '3.1.6.5.resend-interval'], resent(lambda l: None, jump=20_000_000), nop, close=KEEP)
M('resend-order', 'MS-MQQB 3.1.6.5', 'unacknowledged messages are sent again in reverse order', [Q + '3.1.6.5.resend-order'], resent(lambda l: l.reverse()), nop, close=KEEP)
M('resend-order-2', 'MS-MQQB 3.1.6.5', 'the last two unacknowledged messages are sent again in the wrong order', [Q + '3.1.6.5.resend-order'], resent(lambda l: l.insert(1, l.pop())), nop, close=KEEP)
M('resend-other-body', 'MS-MQQB 3.1.7.1.1', 'a MessageID comes again with another body', [Q + '3.1.7.1.1.identifier', 'MQMQ-2.2.19.2.message-id-unique'], resent(lambda l: l[2].update(body=b'other body', btype=0, mid=l[2]['mid'], tx={**l[2]['tx'], 'num': 4, 'prev': 3})), nop, close=KEEP)
# --- identifiers, times
def two(fn):
    def g(cap, rec, r):
        m = [x for x in sorted(cap.recs, key=lambda x: x['t']) if x['kind'] == 'UM' and x['side'] == 0 and not x['um']['tx']]
        return fn(m, r)
    return g
def EX(seed):
    cap, c = mk(seed, ping=False); r = cap.r; cap.c = c; d = destq(r, c, 0)
    for _ in range(8):
        u = message(r, c, 0, sz=r.randint(5, 80), feats=[r.choice(['sid', 'soap', ''])]); u.update(d); send(c, 0, u)
    c.close(); return cap
M('mid-again', 'MS-MQMQ 2.2.19.2', 'two messages in a row have the same MessageID', [Q + '3.1.7.1.1.identifier', U + 'message-id-unique'], EX, two(lambda m, r: (redo(m[4], mid=m[3]['um']['mid']), m[4])[1]))
M('mid-again-far', 'MS-MQMQ 2.2.19.2', 'the last message has the MessageID of the first, its body is another', [Q + '3.1.7.1.1.identifier', U + 'message-id-unique'], EX, two(lambda m, r: (redo(m[-1], mid=m[0]['um']['mid']), m[-1])[1]))
M('mid-falls', 'MS-MQQB 3.1.7.1.1', 'a message to the same queue has a lower MessageID than the one before', [Q + '3.1.7.1.1.ordinal'], EX, two(lambda m, r: (redo(m[5], mid=m[0]['um']['mid'] - 1000), m[5])[1]), close=KEEP)
M('mid-swapped', 'MS-MQQB 3.1.7.1.1', 'two messages to the same queue have their MessageIDs swapped', [Q + '3.1.7.1.1.ordinal'], EX, two(lambda m, r: (redo(m[2], mid=m[3]['um']['mid']), redo(m[3], mid=m[3]['um']['mid'] - 1), m[3])[2]), close=KEEP)
M('expired', 'MS-MQQB 3.1.7.1.2', 'a message is sent 100 seconds after SentTime, TimeToReachQueue is 60', [Q + '3.1.7.1.2.expired', B + 'time-to-reach-queue-expired-sender'], EX, two(lambda m, r: (redo(m[3], ttrq=60, sent=m[3]['um']['sent'] - 100), m[3])[1]), close=KEEP)
M('expired-day', 'MS-MQQB 3.1.7.1.2', 'a message is sent five days after SentTime, TimeToReachQueue is four days', [Q + '3.1.7.1.2.expired', B + 'time-to-reach-queue-expired-sender'], EX, two(lambda m, r: (redo(m[6], ttrq=345600, sent=m[6]['um']['sent'] - 432000), m[6])[1]), close=KEEP)
M('sent-future', 'MS-MQMQ 2.2.19.2', 'SentTime is an hour after the packet', [U + 'sent-time'], EX, two(lambda m, r: (redo(m[2], sent=m[2]['um']['sent'] + 3600), m[2])[1]), close=KEEP, provable=False)
M('clientguid-other', 'MS-MQQB 3.1.5.2.3', 'ClientGuid is not the queue manager whose own messages (hop count 0) the initiator sends', [Q + '3.1.5.2.3.client-guid', Q + '2.2.3.1.client-guid'], EX, lambda cap, rec, r: (lambda g: [x.update(data=x['data'][:20] + g + x['data'][36:]) for x in cap.recs if x['kind'] in ('ECQ', 'ECR')] and None)(guid(r)), close=KEEP)
# --- SessionHeader: in SessionAcks and user messages
def SH(seed):
    cap, c = mk(seed, ping=None) if False else mk(seed); r = cap.r; cap.c = c
    for k in range(4):
        for _ in range(r.randint(2, 4)): send(c, 0, message(r, c, 0, dm=r.choice([0, 1, 1]), sz=9), dt=1500)
        for _ in range(r.randint(1, 2)): send(c, 1, message(r, c, 1, dm=r.choice([0, 1]), sz=9), dt=1500)
        if k < 3:
            i = k % 2; st = c.s[i]; c.advance(int(st['tmr'] - st['tdur'] * .2)); u = message(r, c, i, feats=['want'], dm=1, sz=5); send(c, i, u, dt=500)
        c.advance(c.t + 700_000)
    c.close(); return cap
def sah(kind, side=None, cond=None, nth=None):
    def pick(cap, r):
        m = [x for x in cap.recs if (x['kind'] == 'SA' if kind == 'sa' else (x['um'] and x['um']['sess'])) and (side is None or x['side'] == side)]
        m = [x for x in m if cond is None or cond(x)]
        return m[nth] if nth is not None else r.choice(m)
    return pick
rec_ = lambda x: get(x, 'sess', 4, 'I') != 0; norec = lambda x: get(x, 'sess', 4, 'I') == 0
WN = {'sa': 'a SessionAck', 'um': 'a SessionHeader in a user message'}
for w in ('sa', 'um'):
    M(f'window-0-{w}', 'MS-MQMQ 2.2.20.4', f'WindowSize of {WN[w]} is 0', [S4 + 'window-size-range'], SH, f('sess', 12, 'H', 0), pick=sah(w))
    for v in (32, 63): M(f'window-{v}-{w}', 'MS-MQMQ 2.2.20.4', f'WindowSize of {WN[w]} is {v}', [S4 + 'window-size-default'], SH, f('sess', 12, 'H', v), pick=sah(w), close=KEEP)
    M(f'window-128-{w}', 'MS-MQMQ 2.2.20.4 / MS-MQQB 3.1.6.4', f'WindowSize of {WN[w]} is 128, over that of ConnectionParameters', [Q + '3.1.6.4.window-size', S4 + 'window-size-default'], SH, f('sess', 12, 'H', 128), pick=sah(w), close=KEEP)
    for d in (1, 200):
        M(f'ack-more-{d}-{w}', 'MS-MQMQ 2.2.20.4', f'AckSequenceNumber of {WN[w]} is {d} more than was sent', [Q + '3.1.1.6.1.acknowledged-were-sent', S4 + 'ack-sequence-number'], SH, lambda cap, rec, r, d=d: patch(rec, 'sess', 0, 'H', get(rec, 'sess', 0, 'H') + d), pick=sah(w))
    M(f'ack-back-{w}', 'MS-MQMQ 2.2.20.4', f'AckSequenceNumber of {WN[w]} goes back to 0', [Q + '3.1.1.6.1.never-decreases', S4 + 'ack-sequence-number'], SH, lambda cap, rec, r: False if get(rec, 'sess', 0, 'H') < 5 else patch(rec, 'sess', 0, 'H', 0), pick=sah(w))
    M(f'rec-number-alone-{w}', 'MS-MQMQ 2.2.20.4', f'RecoverableMsgAckSeqNumber of {WN[w]} is 1, the flags are 0', [Q + '3.1.6.4.recoverable-none', S4 + 'recoverable-ack-none'], SH, f('sess', 2, 'H', 1), pick=sah(w, cond=norec))
    M(f'rec-flags-alone-{w}', 'MS-MQMQ 2.2.20.4', f'RecoverableMsgAckSeqNumber of {WN[w]} is 0, a flag is set', [Q + '3.1.6.4.recoverable-none', S4 + 'recoverable-ack-none'], SH, f('sess', 4, 'I', 1), pick=sah(w, cond=norec))
    M(f'rec-flags-cleared-{w}', 'MS-MQMQ 2.2.20.4', f'the flags of {WN[w]} are 0, RecoverableMsgAckSeqNumber is not', [Q + '3.1.6.4.recoverable-none', S4 + 'recoverable-ack-first-bit', S4 + 'recoverable-ack-none'], SH, f('sess', 4, 'I', 0), pick=sah(w, cond=rec_))
    M(f'rec-bit0-{w}', 'MS-MQMQ 2.2.20.4', f'bit 0 of the flags of {WN[w]} is clear, others are set', [S4 + 'recoverable-ack-first-bit', Q + '3.1.6.4.recoverable-lowest'], SH, cl('sess', 4, 'I', 1), pick=sah(w, cond=lambda x: get(x, 'sess', 4, 'I') & 3 == 3))
    M(f'rec-beyond-{w}', 'MS-MQMQ 2.2.20.4', f'{WN[w]} acknowledges a recoverable number that was never sent', [Q + '3.1.1.6.1.recoverable-were-sent'], SH, o('sess', 4, 'I', 0x80000000), pick=sah(w, cond=rec_))
    M(f'rec-beyond-number-{w}', 'MS-MQMQ 2.2.20.4', f'{WN[w]} acknowledges from recoverable number 500 on', [Q + '3.1.1.6.1.recoverable-were-sent'], SH, f('sess', 2, 'H', 500), pick=sah(w, cond=rec_))
    M(f'rec-again-{w}', 'MS-MQMQ 2.2.20.4', f'{WN[w]} acknowledges recoverable numbers that were acknowledged before', [Q + '3.1.6.4.recoverable-once'], SH, lambda cap, rec, r: False if get(rec, 'sess', 2, 'H') < 3 else patch(rec, 'sess', 2, 'H', 1), pick=sah(w, cond=rec_))
    for d in (1, -1, 40):
        M(f'sent-count-{d}-{w}', 'MS-MQMQ 2.2.20.4', f'UserMsgSequenceNumber of {WN[w]} is off by {d}', [Q + '3.1.7.1.3.user-messages-sent', S4 + 'user-msg-sequence-number'], SH, lambda cap, rec, r, d=d: False if get(rec, 'sess', 8, 'H') + d < 0 else patch(rec, 'sess', 8, 'H', get(rec, 'sess', 8, 'H') + d), pick=sah(w))
    for d in (1, -1): M(f'rsent-count-{d}-{w}', 'MS-MQMQ 2.2.20.4', f'RecoverableMsgSeqNumber of {WN[w]} is off by {d}', [Q + '3.1.7.1.3.recoverable-messages-sent', S4 + 'recoverable-sequence-number'], SH, lambda cap, rec, r, d=d: False if get(rec, 'sess', 10, 'H') + d < 0 else patch(rec, 'sess', 10, 'H', get(rec, 'sess', 10, 'H') + d), pick=sah(w))
M('rsent-count-all', 'MS-MQMQ 2.2.20.4', 'RecoverableMsgSeqNumber counts express messages too', [Q + '3.1.7.1.3.recoverable-messages-sent', S4 + 'recoverable-sequence-number-zero'], SH, lambda cap, rec, r: False if get(rec, 'sess', 8, 'H') == get(rec, 'sess', 10, 'H') else patch(rec, 'sess', 10, 'H', get(rec, 'sess', 8, 'H')), pick=sah('sa'))
def sizes_(kind, n): return lambda cap, rec, r: rec.update(data=(lambda d: d[:8] + struct.pack('<I', len(d) - 16 * (kind == 'XX')) + d[12:])(rec['data'][:n] + bytes(max(0, n - len(rec['data'])))))
for k, n, q in [('sa', 32, '2.2.6.size'), ('sa', 40, '2.2.6.size'), ('ecq', 568, '2.2.3.size'), ('ecr', 576, '2.2.3.size'), ('ecr', 60, '2.2.3.size'), ('cpq', 36, '2.2.2.size'), ('cpr', 28, '2.2.2.size')]:
    M(f'size-{k}-{n}', 'MS-MQQB ' + q[:5], f'{NAMES[k]} has {n} bytes' , Q + q, KINDS[k][0], sizes_(k, n), pick=KINDS[k][1])
M('int-cut', 'MS-MQQB 2.2.1', 'a packet with IN set ends behind its BaseHeader', Q + '2.2.1.present', AN, sizes_('sa', 16), pick=K('CPQ'))
M('int-cut-18', 'MS-MQQB 2.2.1', 'a packet with IN set has 2 bytes of InternalHeader', Q + '2.2.1.present', AN, sizes_('sa', 18), pick=K('CPR'))
# --- InternalHeader
for k, v in zip(INT, [1, 0x8000, 0xC0, 0xFFFF, 0x100]): M(f'int-reserved-{k}', 'MS-MQQB 2.2.1', f'InternalHeader.Reserved of {NAMES[k]} is {v:#x}', Q + '2.2.1.reserved', KINDS[k][0], f('int', 0, 'H', v), close=KEEP, pick=KINDS[k][1])
for b in range(5, 16):
    for k in (INT[b % 5], INT[(b + 2) % 5]): M(f'int-x{b}-{k}', 'MS-MQQB 2.2.1', f'reserved bit X{b} of InternalHeader.Flags is set in {NAMES[k]}', Q + '2.2.1.unused-bits', KINDS[k][0], o('int', 2, 'H', 1 << b), close=KEEP, pick=KINDS[k][1])
for k, v in [('sa', 0), ('sa', 4), ('ecq', 15), ('ecr', 0), ('cpq', 8), ('cpr', 4)]: M(f'int-pt-{k}-{v}', 'MS-MQQB 2.2.1', f'InternalHeader.Flags.PT of {NAMES[k]} is {v}', [Q + '2.2.1.packet-type'], KINDS[k][0], lambda cap, rec, r, v=v: (clr(rec, 'int', 2, 'H', 15), orp(rec, 'int', 2, 'H', v))[0], pick=KINDS[k][1])
for k, v, q in [('ecq', 3, '2.2.3.packet-type'), ('ecr', 1, '2.2.3.packet-type'), ('cpq', 2, '2.2.2.packet-type'), ('cpr', 1, '2.2.2.packet-type'), ('sa', 3, '2.2.6.packet-type'), ('sa', 2, '2.2.6.packet-type')]:
    M(f'int-other-{k}-{v}', 'MS-MQQB ' + q[:5], f'{NAMES[k]} has the packet type {v} of another packet', [Q + q] + ([Q + '2.2.3.size', Q + '2.2.2.size', Q + '2.2.6.size'][(v + 1) % 3:][:1]), KINDS[k][0], lambda cap, rec, r, v=v: (clr(rec, 'int', 2, 'H', 15), orp(rec, 'int', 2, 'H', v))[0], pick=KINDS[k][1])
for k, q in [('sa', '2.2.1.refused-elsewhere'), ('ecq', '3.1.5.2.3.cs'), ('cpq', '3.1.5.3.2.cs'), ('cpr', '3.1.5.4.1.cs')]: M(f'cs-{k}', 'MS-MQQB ' + q.rsplit('.', 1)[0], f'the connection-refused bit is set in {NAMES[k]}', Q + q, KINDS[k][0], o('int', 2, 'H', 16), pick=KINDS[k][1])
def refuse(direct): 
    def b(seed): return S(direct=direct, after=0)(seed)
    return b
M('cs-ecr-direct', 'MS-MQQB 3.1.5.3.1', 'an EstablishConnection response refuses a request with a null ServerGuid', Q + '3.1.5.3.1.cs', refuse(True), o('int', 2, 'H', 16), pick=K('ECR'), provable=False)
M('cs-ecr-named', 'MS-MQQB 3.1.5.3.1', 'an EstablishConnection response refuses a request for its own queue manager', Q + '3.1.5.3.1.cs', refuse(False), o('int', 2, 'H', 16), pick=K('ECR'), provable=False)
# --- EstablishConnection
for k in ('ecq', 'ecr'):
    n = NAMES[k]; b, p = KINDS[k]
    M(f'ec-re-{k}', 'MS-MQQB 2.2.3.1', f'RE of {n} is not 0x10', Q + '2.2.3.1.re', b, f('ec', 36, 'B', {'ecq': 0, 'ecr': 0x11}[k]), pick=p)
    M(f'ec-reserved-{k}', 'MS-MQQB 2.2.3.1', f'EstablishConnectionHeader.Reserved of {n} is not zero', Q + '2.2.3.1.reserved', b, f('ec', 38, 'H', {'ecq': 1, 'ecr': 0x5A5A}[k]), pick=p, close=KEEP)
    for x in range(11, 16): M(f'ec-x{x}-{k}', 'MS-MQQB 2.2.3.1', f'unused bit X{x} of OperatingSystem of {n} is set', Q + '2.2.3.1.unused-bits', b, o('ec', 36, 'H', 1 << x), pick=p, close=KEEP)
for nm_, fn in [('first', lambda cap, rec, r: patch(rec, 'ec', 40, 'B', 0)), ('last', lambda cap, rec, r: patch(rec, 'ec', 551, 'B', 0xA5)), ('zero', lambda cap, rec, r: rec.update(data=rec['data'][:60] + bytes(512))), ('middle', lambda cap, rec, r: patch(rec, 'ec', 300, 'I', 0x5A5A5A5B))]:
    M(f'ec-padding-{nm_}', 'MS-MQQB 2.2.3.1', f'the padding of an EstablishConnection response is not all 0x5A ({nm_})', Q + '2.2.3.1.padding', AN, fn, pick=K('ECR'))
M('ec-clientguid', 'MS-MQQB 3.1.5.3.1', 'an EstablishConnection response has another ClientGuid', Q + '3.1.5.3.1.client-guid', AN, lambda cap, rec, r: rec.update(data=rec['data'][:20] + guid(r) + rec['data'][36:]), pick=K('ECR'))
M('ec-guids-swapped', 'MS-MQQB 3.1.5.3.1', 'an EstablishConnection response has its own identifier as ClientGuid', Q + '3.1.5.3.1.client-guid', AN, lambda cap, rec, r: rec.update(data=rec['data'][:20] + rec['data'][36:52] + rec['data'][36:]), pick=K('ECR'))
M('ec-serverguid', 'MS-MQQB 3.1.5.3.1', 'an accepting EstablishConnection response has another ServerGuid than the one asked for', [Q + '3.1.5.3.1.server-guid', Q + '3.1.5.3.1.cs'], S(direct=False), lambda cap, rec, r: rec.update(data=rec['data'][:36] + guid(r) + rec['data'][52:]), pick=K('ECR'))
M('ec-serverguid-null', 'MS-MQQB 2.2.3.1', 'the EstablishConnection response to a direct request has a null ServerGuid', [Q + '3.1.5.3.1.server-guid', Q + '2.2.3.1.server-guid-response'], S(direct=True), lambda cap, rec, r: rec.update(data=rec['data'][:36] + NULLG + rec['data'][52:]), pick=K('ECR'))
for nm_, v in (('plus', 1), ('zero', None)): M(f'ec-timestamp-{nm_}', 'MS-MQQB 3.1.5.3.1', f'an EstablishConnection response does not repeat the TimeStamp ({nm_})', Q + '3.1.5.3.1.time-stamp', AN, lambda cap, rec, r, v=v: patch(rec, 'ec', 32, 'I', 0 if v is None else get(rec, 'ec', 32, 'I') + v), pick=K('ECR'))
for pg in (True, False): M(f'ec-se-response-{int(pg)}', 'MS-MQQB 3.1.5.3.1', f'an EstablishConnection response does not repeat the SE bit ({"pinged" if pg else "not pinged"})', Q + '3.1.5.3.1.se', S(ping=pg), lambda cap, rec, r: patch(rec, 'ec', 36, 'H', get(rec, 'ec', 36, 'H') ^ 0x100), pick=K('ECR'))
def bothec(fn):
    def g(cap, rec, r):
        for x in cap.recs:
            if x['kind'] in ('ECQ', 'ECR'): fn(x)
    return g
M('ec-se-pinged', 'MS-MQQB 2.2.3.1', 'SE is 1 although the acceptor was pinged for this session', [Q + '2.2.3.1.se', Q + '3.1.5.2.3.se'], S(ping=True), bothec(lambda x: patch(x, 'ec', 36, 'H', get(x, 'ec', 36, 'H') | 0x100)), close=KEEP)
M('ec-se-not-pinged', 'MS-MQQB 2.2.3.1', 'SE is 0 although no ping was sent', [Q + '2.2.3.1.se', Q + '3.1.5.2.3.se'], S(ping=False), bothec(lambda x: patch(x, 'ec', 36, 'H', get(x, 'ec', 36, 'H') & ~0x100)), close=KEEP)
M('ec-os-ping', 'MS-MQQB 2.2.3.1 / 2.2.7', 'the OS bit and the RC bit of the ping before it tell different kinds of system', [Q + '2.2.3.1.os', Q + '2.2.7.request-rc'], S(ping=True), bothec(lambda x: patch(x, 'ec', 36, 'H', get(x, 'ec', 36, 'H') ^ 0x200)), close=KEEP)
def sgq(direct): return lambda cap, rec, r: [x.update(data=x['data'][:36] + (NULLG if not direct else cap.c.h[1].qm) + x['data'][52:]) for x in cap.recs if x['kind'] == 'ECQ'] and None
M('ec-null-for-private', 'MS-MQQB 3.1.5.2.3', 'ServerGuid of the request is null, only private and public queues are addressed', [Q + '3.1.5.2.3.server-guid', Q + '2.2.3.1.server-guid'], S(direct=False), sgq(False), close=KEEP)
M('ec-guid-for-direct', 'MS-MQQB 3.1.5.2.3', 'ServerGuid of the request is set, only direct names are addressed', [Q + '3.1.5.2.3.server-guid', Q + '2.2.3.1.server-guid'], S(direct=True), sgq(True), close=KEEP)
def twoconn(fn):
    def build(seed):
        cap = Cap(seed); r = cap.r; A, Bh = Host(r), Host(r); d = r.random() < .5
        c = Conn(cap, A, Bh, cap.t0, d); [send(c, 0, message(r, c, 0)) for _ in range(3)]; c.close()
        e = Conn(cap, A, Bh, c.closed[0] + 8_000_000, d); [send(e, 0, message(r, e, 0)) for _ in range(3)]; e.close(); cap.c = e; cap.e = (c, e); return cap
    return build
def ts2(d):
    def g(cap, rec, r):
        for x in cap.recs:
            if x['conn'] == 1 and x['kind'] in ('ECQ', 'ECR'): patch(x, 'ec', 32, 'I', get(x, 'ec', 32, 'I') + d)
    return g
M('ec-timestamp-fast', 'MS-MQQB 3.1.5.2.3', 'from one connection to the next TimeStamp grows by an hour more than the time between', Q + '3.1.5.2.3.time-stamp', twoconn(None), ts2(3_600_000), close=KEEP)
M('ec-timestamp-30s', 'MS-MQQB 3.1.5.2.3', 'from one connection to the next TimeStamp grows by 30 seconds more than the time between', Q + '3.1.5.2.3.time-stamp', twoconn(None), ts2(30_000), close=KEEP)
# --- ConnectionParameters
C2 = Q + '2.2.2.1.'
def both_cp(off, fm, v): return lambda cap, rec, r: [patch(x, 'cp', off, fm, v) for x in cap.recs if x['kind'] in ('CPQ', 'CPR')] and None
for v in (499, 120001, 0, 0xFFFFFFFF): M(f'cp-rat-{v}', 'MS-MQQB 2.2.2.1', f'RecoverableAckTimeout of the request is {v}', [C2 + 'recoverable-ack-timeout', Q + '3.1.5.3.2.round-trip'], AN, f('cp', 0, 'I', v), pick=K('CPQ'))
for v in (19999, 120001, 0, 500000): M(f'cp-at-{v}', 'MS-MQQB 2.2.2.1', f'AckTimeout of the request is {v}', C2 + 'ack-timeout', AN, f('cp', 4, 'I', v), pick=K('CPQ'))
for k in ('cpq', 'cpr'): M(f'cp-reserved-{k}', 'MS-MQQB 2.2.2.1', f'ConnectionParametersHeader.Reserved of {NAMES[k]} is not zero', C2 + 'reserved', AN, f('cp', 8, 'H', 0x40 if k == 'cpq' else 1), pick=K(k.upper()), close=KEEP)
for d in (1, 300): M(f'cpr-rat-{d}', 'MS-MQQB 3.1.5.4.1', f'RecoverableAckTimeout of the response is {d} more than asked', Q + '3.1.5.4.1.recoverable-ack-timeout', AN, lambda cap, rec, r, d=d: patch(rec, 'cp', 0, 'I', get(rec, 'cp', 0, 'I') + d), pick=K('CPR'))
for d in (1000, -1): M(f'cpr-at-{d}', 'MS-MQQB 3.1.5.4.1', f'AckTimeout of the response is off by {d}', [Q + '3.1.5.4.1.ack-timeout'], AN, lambda cap, rec, r, d=d: False if not 20000 <= get(rec, 'cp', 4, 'I') + d <= 120000 else patch(rec, 'cp', 4, 'I', get(rec, 'cp', 4, 'I') + d), pick=K('CPR'))
def RT(rtt): return lambda seed: mixedrt(seed, rtt)
def mixedrt(seed, rtt):
    cap, c = mk(seed, rtt=rtt); r = cap.r; cap.c = c
    for _ in range(5): send(c, 0, message(r, c, 0, dm=0))
    c.close(); return cap
for rtt, v in ((300, 500), (20, 4000), (1000, 1000)): M(f'cp-roundtrip-{rtt}', 'MS-MQQB 3.1.5.3.2', f'RecoverableAckTimeout is {v} after a round trip of {rtt} ms', Q + '3.1.5.3.2.round-trip', RT(rtt), both_cp(0, 'I', v), close=KEEP)
