from fac import *
CAPS = []
def cap_(name):
    def d(f): CAPS.append((name, f)); return f
    return d
def fl(r, conn, tx=False):
    base = ['sid', 'signed', 'signedprov', 'qmsig', 'mqf', 'mqfsig', 'cq', 'soap', 'admin', 'resp', 'extd', 'debug', 'trace0']
    if tx: base = [x for x in base if x != 'admin']
    if not conn.direct: base += ['enc', 'enc']
    f = [x for x in base if r.random() < .13]
    s = [x for x in f if x in ('sid', 'signed', 'signedprov', 'qmsig', 'enc', 'mqfsig')]
    for x in s[1:]: f.remove(x)
    if 'mqfsig' in f and 'mqf' in f: f.remove('mqf')
    if 'mqf' in f and any(x in f for x in ('signed', 'signedprov', 'qmsig')): f.remove('mqf')
    if 'debug' in f and 'trace0' in f: f.remove('trace0')
    return f
def mixed(seed, direct, n, both=True, txp=0.15, ping=None, **k):
    cap, c = mk(seed, direct=direct, **({'ping': ping} if ping is not None else {}), **k); r = cap.r
    for _ in range(n):
        i = 1 if both and r.random() < .3 else 0
        if r.random() < txp and i == 0: transaction(c, i, r.randint(1, 4), feats=fl(r, c, True), fa=int(r.random() < .2), cg=r.random() < .15)
        else: send(c, i, message(r, c, i, feats=fl(r, c) + (['want'] if r.random() < .4 else [])), dt=r.choice([300, 1500, 20000, 300000, 2000000]))
    c.close(); return cap
def wants(seed, direct):
    """session acknowledgments in user messages: both directions, replies late in the timer"""
    cap, c = mk(seed, direct=direct); r = cap.r
    for _ in range(12):
        for _ in range(r.randint(1, 5)): send(c, 0, message(r, c, 0, dm=0), dt=2000)
        st = c.s[1]
        send(c, 1, message(r, c, 1, feats=['want'], dm=r.choice([0, 1])), dt=max(1000, int(st['tmr'] - c.t - st['tdur'] * 0.2)) if st['tmr'] else 1000)
        if r.random() < .6:
            send(c, 0, message(r, c, 0, dm=1), dt=900); send(c, 0, message(r, c, 0, dm=1), dt=900)
            st = c.s[1]; send(c, 1, message(r, c, 1, feats=['want'], dm=0), dt=max(1000, int(st['tmr'] - c.t - st['tdur'] * 0.15)))
    c.close(); return cap
def flood(seed, direct, n, dm, both=False):
    cap, c = mk(seed, direct=direct); r = cap.r
    for k in range(n):
        i = 1 if both and k % 3 == 2 else 0
        send(c, i, message(r, c, i, dm=dm if dm is not None else r.choice([0, 1]), sz=r.randint(0, 40)), dt=r.choice([100, 200, 500, 900]))
    for _ in range(3): send(c, 0, message(r, c, 0, dm=0, sz=5), dt=100)
    c.close(); return cap
def txseq(seed, direct, rounds, jn=0, jp=0, fa=0, reverse=False):
    cap, c = mk(seed, direct=direct); r = cap.r
    for _ in range(rounds):
        for _ in range(r.randint(1, 3)): transaction(c, 0, r.randint(1, 6), feats=fl(r, c, True), jn=jn, jp=jp, fa=fa, dt=20000, meta={'final': r.choice([0x4000, 0x4000, 0x4000, 0xC001, 0xC000, 0])} if (jn or jp or fa) else None)
        if reverse: transaction(c, 1, r.randint(1, 3), feats=fl(r, c, True), jn=0, jp=0)
        c.advance(c.t + r.choice([700_000, 4_000_000, 15_000_000]))
    c.close(); return cap
def txreject(seed, direct, cls):
    cap, c = mk(seed, direct=direct); r = cap.r
    transaction(c, 0, 2, jn=0, jp=0); c.advance(c.t + 3_000_000)
    transaction(c, 0, 1, meta={'reject': cls}); c.close(); return cap
def names(seed, direct_, k):
    cap, c = mk(seed, direct=direct_); r = cap.r
    for aq in (0, 2, 3, 5, 6, 7):
        for rq in range(8):
            if (rq == 1 or rq == 4) and not aq: continue
            if rq == 4 and aq in (5, 7): continue
            u = message(r, c, 0, sz=r.randint(0, 9), acks=False)
            if aq: u['flags'] = r.choice([4, 8, 12])
            u['aq'] = (aq, {0: 0, 2: r.randint(5, 999), 3: r.randint(5, 999), 5: guid(r), 6: (guid(r), r.randint(5, 99)), 7: other_direct(r)}[aq])
            u['rq'] = (rq, {0: 0, 1: 0, 2: r.randint(5, 999), 3: r.randint(5, 999), 4: r.randint(5, 999), 5: guid(r), 6: (guid(r), r.randint(5, 99)), 7: r.choice([direct(r, c.h[0]), other_direct(r)])}[rq])
            if r.random() < .2: u['cq'] = guid(r)
            send(c, 0, u)
    c.close(); return cap
def headers(seed, direct):
    cap, c = mk(seed, direct=direct); r = cap.r
    fs = ['plain', 'sid', 'signed', 'signedprov', 'qmsig', 'mqf', 'mqfsig', 'cq', 'soap', 'admin', 'resp', 'extd', 'debug', 'trace0'] + ([] if direct else ['enc'])
    for f in fs:
        for g in ('', 'soap', 'cq', 'mqf', 'resp', 'trace0'):
            if g and g == f: continue
            if g == 'mqf' and f in ('signed', 'signedprov', 'qmsig', 'mqfsig'): continue
            if g == 'trace0' and f == 'debug': continue
            send(c, 0, message(r, c, 0, feats=[f, g]))
    for pad in range(8): send(c, 0, message(r, c, 0, sz=pad))
    c.close(); return cap
def allmix(seed, direct):
    cap, c = mk(seed, direct=direct); r = cap.r
    for _ in range(12):
        u = message(r, c, 0, feats=['cq', 'soap', 'mqfsig', 'resp', 'extd', r.choice(['debug', 'trace0'])], dm=1)
        if r.random() < .5: send(c, 0, u)
        else: finish_sign(u); u['pr'] = 0; finish_sign(u); c.tx(0, u, 1, 1, c.h[0].next_tr(), cg=guid(r) if r.random() < .5 else None)
    c.close(); return cap
def sizes(seed, direct, szs):
    cap, c = mk(seed, direct=direct); r = cap.r
    for s in szs: send(c, 0, message(r, c, 0, sz=s, dm=r.choice([0, 1])))
    c.close(); return cap
def maxsize(seed):
    cap, c = mk(seed, direct=False); r = cap.r; u = message(r, c, 0, sz=4, dm=0); u['extd'] = b''; u['label'] = ''
    n = len(encode(u)[0]); u['body'] = rbytes(r, 0x400000 - n + 4); send(c, 0, u); c.close(); return cap
def admin(seed, direct):
    cap, c = mk(seed, direct=direct); r = cap.r
    for _ in range(18): send(c, r.choice([0, 0, 1]), message(r, c, 0, feats=['admin'] + (['resp'] if r.random() < .3 else [])) if False else message(r, c, 0, feats=['admin', r.choice(['resp', 'cq', ''])]), dt=r.choice([2000, 60000])) if False else send(c, 0, message(r, c, 0, feats=['admin', r.choice(['resp', 'cq', ''])]), dt=r.choice([2000, 60000]))
    c.advance(c.t + 2_000_000)
    for _ in range(6): send(c, 1, message(r, c, 1, feats=['admin']), dt=5000)
    c.close(); return cap
def traces(seed):
    cap, c = mk(seed, direct=False); r = cap.r
    for _ in range(10): r.choice([trace, trace_sender])(c, 0, message(r, c, 0, feats=[r.choice(['sid', 'soap', 'cq', ''])]), dt=50000)
    c.advance(c.t + 300000); c.close(); return cap
def reconnect(seed, direct, tx, wait):
    """a connection lost before the acknowledgments; a new one brings the messages again"""
    cap, c = mk(seed, direct=direct, rtt=3, ping=False); r = cap.r; A, B = c.h
    lost = []
    if tx:
        t = transaction(c, 0, 3, jn=0, jp=0, dt=1000); lost = [x['um'] for x in t]
    else: lost = [send(c, 0, message(r, c, 0, dm=r.choice([0, 1])), dt=1500)['um'] for _ in range(5)]
    c.ev = []; c.closed = (c.t + 3000, r.choice(['rst0', 'rst1', 'fin1']))
    d = Conn(cap, A, B, c.t + wait, direct, rtt=3, ackt=c.ackt)
    if tx: d.s[0]['oid'] = c.s[0]['oid']; d.s[0]['num'] = c.s[0]['num']
    for u in lost:
        u = copy.deepcopy(u); u['sess'] = None; u['meta'] = {}; u['ttrq'] = INF if False else u['ttrq']
        d.send(0, u)
    for _ in range(4):
        if tx: d.advance(d.t + 1_500_000); transaction(d, 0, 2, jn=0, jp=0)
        else: send(d, 0, message(r, d, 0))
    d.close(); return cap
def resend_same(seed, direct):
    """no order acknowledgment within 30 s; the unacknowledged messages come again on the same session"""
    cap, c = mk(seed, direct=direct, rtt=3); r = cap.r
    t = transaction(c, 0, 3, jn=0, jp=0, meta={'noorder': 1}); c.advance(c.t + 30_500_000)
    for x in t:
        u = copy.deepcopy(x['um']); u['sess'] = None; u['meta'] = {}; c.send(0, u)
    c.advance(c.t + 2_000_000); transaction(c, 0, 1, jn=0, jp=0); c.close(); return cap
def several(seed, n):
    cap = Cap(seed); r = cap.r; S = Host(r); t = cap.t0
    hs = [Host(r) for _ in range(n)]
    for k, H in enumerate(hs):
        c = Conn(cap, H, S, t + k * r.randint(100_000, 3_000_000), r.random() < .5, ping=r.random() < .5)
        for _ in range(r.randint(3, 9)): send(c, 0, message(r, c, 0, feats=fl(r, c)))
        if r.random() < .5: transaction(c, 0, 2)
        c.close()
    return cap
def again(seed, n):
    """the same two hosts, one connection after the other"""
    cap = Cap(seed); r = cap.r; A, B = Host(r), Host(r); t = cap.t0; direct_ = r.random() < .5
    for k in range(n):
        I, O = (A, B) if r.random() < .7 else (B, A)
        c = Conn(cap, I, O, t, direct_, ping=r.random() < .4)
        for _ in range(r.randint(2, 6)): send(c, r.choice([0, 0, 1]), None or message(r, c, 0)) if False else send(c, 0, message(r, c, 0, feats=fl(r, c)))
        if r.random() < .5: send(c, 1, message(r, c, 1))
        c.close(); t = c.closed[0] + r.randint(400_000, 9_000_000)
    return cap
def routed(seed):
    cap, c = mk(seed, direct=False); r = cap.r; X = [guid(r) for _ in range(3)]; n = [r.randint(1, 99999) for _ in X]
    for _ in range(20):
        u = message(r, c, 0, feats=[r.choice(['sid', 'soap', 'cq', 'mqf', '', ''])], acks=False)
        k = r.randint(0, 2)
        if r.random() < .7:
            n[k] += 1; u['src'] = X[k]; u['mid'] = n[k]; u['rc'] = r.choice([1, 1, 2, 3, 15, 29]); u['sent'] = c.t // 1000000 - r.randint(0, 30); u['jn'] = u['jp'] = 0
        send(c, 0, u)
    c.close(); return cap
def pingonly(seed, rf):
    cap = Cap(seed); r = cap.r; A, B = Host(r), Host(r)
    for k in range(r.randint(2, 5)):
        c = Conn(cap, A, B, cap.t0 + k * 6_000_000, True, setup=False); c.do_ping(rf=rf)
    if not rf:
        c = Conn(cap, A, B, c.t + 5_000_000, True, ping=True); send(c, 0, message(r, c, 0)); c.close()
    return cap
def extension(seed):
    cap, c = mk(seed, direct=False); r = cap.r
    for k in range(8):
        u = message(r, c, 0, feats=[r.choice(['sid', 'soap', 'mqf', ''])]); u['ext'] = b''.join(ext_family(r)); send(c, 0, u)
    c.close(); return cap
def pause(seed):
    cap, c = mk(seed, direct=r_(seed)); r = cap.r
    for _ in range(5): send(c, 0, message(r, c, 0))
    c.drain(); s = c.sessfields(1); s[5] = 1; rc = c.rec(1, 'SA', enc_sa(s), dt=200000); rc['offs'] = {'base': 0, 'int': 16, 'sess': 20}
    c.ev = []; c.closed = (c.t + 900000, 'fin1'); return cap
def r_(s): return bool(s % 2)
def gen():
    k = 0
    def go(name, f, *a, **kw): CAPS.append((name, f, a, kw))
    for s in range(24): go(f'mixed-{s:02d}', mixed, 100 + s, r_(s), 14 + s)
    for s in range(6): go(f'oneway-{s}', mixed, 150 + s, r_(s), 15, both=False, txp=.3)
    for s in range(6): go(f'piggyback-{s}', wants, 200 + s, r_(s))
    for s in range(4): go(f'express-flood-{s}', flood, 300 + s, r_(s), [130, 260, 500, 700][s], 0, s > 1)
    for s in range(4): go(f'recoverable-flood-{s}', flood, 320 + s, r_(s), [40, 80, 250, 300][s], 1, s > 1)
    for s in range(3): go(f'both-flood-{s}', flood, 340 + s, r_(s), 300, None, True)
    for s in range(4): go(f'tx-{s}', txseq, 400 + s, r_(s), 4)
    for s in range(8): go(f'tx-final-{s}', txseq, 420 + s, r_(s), 3, *[(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1)][s % 4])
    for s in range(2): go(f'tx-both-ways-{s}', txseq, 440 + s, r_(s), 3, reverse=True)
    for s, cls in enumerate([0x8009, 0x8000, 0x8004, 0x8007, 0x800B, 0x8006, 0x8003]): go(f'tx-refused-{s}', txreject, 460 + s, r_(s), cls)
    for s in range(4): go(f'names-{s}', names, 500 + s, r_(s), s)
    for s in range(4): go(f'headers-{s}', headers, 520 + s, r_(s))
    for s in range(4): go(f'combined-{s}', allmix, 540 + s, r_(s))
    go('size-small', sizes, 600, True, list(range(0, 40))); go('size-64k', sizes, 601, False, [65535, 65536, 70001, 1459, 1460, 1461]); go('size-1m', sizes, 602, True, [1 << 20, 300001]); go('size-max', maxsize, 603)
    for s in range(4): go(f'admin-{s}', admin, 620 + s, r_(s))
    for s in range(3): go(f'trace-{s}', traces, 640 + s)
    for s in range(4): go(f'reconnect-{s}', reconnect, 660 + s, r_(s), s > 1, [5_200_000, 31_000_000][s % 2])
    for s in range(2): go(f'resend-{s}', resend_same, 680 + s, r_(s))
    for s in range(4): go(f'several-{s}', several, 700 + s, 3 + s)
    for s in range(4): go(f'again-{s}', again, 720 + s, 3 + s)
    for s in range(3): go(f'routed-{s}', routed, 740 + s)
    for s in range(4): go(f'ping-{s}', pingonly, 760 + s, s % 2)
    for s in range(3): go(f'extension-{s}', extension, 780 + s)
    for s in range(2): go(f'pause-{s}', pause, 790 + s)
    for s in range(4): go(f'rtt-{s}', mixed, 800 + s, r_(s), 10, txp=0, rtt=[63, 100, 350, 900][s])
if __name__ == '__main__':
    os.makedirs(f'{HERE}/valid', exist_ok=True); gen(); tot = 0
    for name, f, a, kw in CAPS:
        cap = f(*a, **kw)
        for c in cap.conns:
            for st in c.s:
                if (st['flags'] or st['unacked']) and not c.closed[1].startswith('rst') and 'reconnect' not in name: print('left', name, st['flags'], st['unacked'])
        tot += cap.n_packets(); write(cap, f'{HERE}/valid/{name}.pcap')
    print(len(CAPS), 'captures', tot, 'packets')
