import json, os
from sim import *
ROOT = os.path.dirname(os.path.abspath(__file__)); OUT = ROOT+'/mutations'; os.makedirs(OUT, exist_ok=True)
ROWS = []; SEED = [1000]
CERT = open(ROOT+'/cert.der', 'rb').read()
def Q(x): return 'MQQB-'+x
def M(x): return 'MQMQ-'+x
def world():
    SEED[0] += 1
    w = World(SEED[0]); r = w.rnd
    I = QM(r, '10.%d.%d.%d' % (r.randrange(1, 9), r.randrange(0, 9), r.randrange(2, 99)), r.choice(['alpha', 'node17', 'ws-04', 'billing']), server=r.random() < .5)
    A = QM(r, '10.%d.%d.%d' % (r.randrange(10, 19), r.randrange(0, 9), r.randrange(2, 99)), r.choice(['bravo', 'srv02', 'hub.example.com', 'store9']), server=True)
    I.txo = TxOut(I.stamp); A.txo = TxOut(A.stamp)
    w.I, w.A = I, A; return w
def session(w, direct=False, auto=False, rtt=None, **k):
    s = Sess(w, w.I, w.A, direct=direct, rtt=rtt or w.rnd.uniform(.004, .05), auto=auto, **k); s.tx = [w.I.txo, w.A.txo]; return s
def save(w, name, section, sentence, brk, reqs, provable=True, why=''):
    n = len(ROWS)+1; f = '%03d-%s.pcap' % (n, name)
    assert not any(r['name'] == name for r in ROWS), name
    w.run(); w.cap.write(OUT+'/'+f)
    row = dict(file='mutations/'+f, name=name, section=section, sentence=sentence, reqs=None)
    del row['reqs']; row['break'] = brk; row['requirements'] = reqs; row['provable'] = provable
    if not provable: row['why'] = why
    ROWS.append(row)
def flush():
    ok = {x['id'] for x in json.load(open(ROOT+'/../requirements.json'))}
    for r in ROWS:
        for i in r['requirements']: assert i in ok, (r['name'], i)
    open(ROOT+'/mutations.jsonl', 'w').write(''.join(json.dumps(r)+'\n' for r in ROWS))
def apply(w, patch):
    for k, v in (patch or {}).items(): w.patch(k, v(w.get(k)) if callable(v) else v)
def fix(w, d):  # after structural change of w.b keep PacketSize right
    pass
def U(name, section, sentence, brk, reqs, kw=None, patch=None, raw=None, direct=False, pre=1, mk=None, prov=True, why='', after=None, dm=0, setup=None, piggy=False, tx=False):
    """one user message is broken: handshake, valid messages, the broken one, then the acceptor hangs up"""
    w = world(); s = session(w, direct); t = s.hand(w.t0)
    for i in range(pre):
        s.msg(t, 0, s.plain(t, 0, label='message %d' % i, body=b'payload %d....' % i)); t += w.rnd.uniform(.002, .02)
    k = kw(w, s) if callable(kw) else dict(kw or {})
    if piggy:
        s.msg(t, 1, s.plain(t, 1, direct=direct)); t += s.ato/2000*.9; k['piggy'] = 1
    if tx: m = s.txm(t, 0, **k)
    else: m = s.plain(t, 0, **k)
    if dm: m['dm'] = 1
    if setup: setup(m, w, s)
    def hook(s_, t_, d, kind, p):
        apply(p, patch)
        if raw: raw(p)
    s.hooks.append(hook)
    s.msg(t, 0, m); s.hooks.pop(); t += .02
    if after: after(w, s, t)
    else: s.close(t, 1)
    save(w, name, section, sentence, brk, reqs, prov, why)
def cut(name):
    """hook: remove a field, PacketSize following"""
    def f(p):
        o, fm = p.off[name]; n = struct.calcsize('<'+fm); del p.b[o:o+n]; p.patch('BH.size', p.get('BH.size')-n)
    return f
def insert(before, data):
    def f(p):
        o = p.off[before][0]; p.b[o:o] = data; p.patch('BH.size', p.get('BH.size')+len(data))
    return f
def I(name, kind, section, sentence, brk, reqs, patch=None, raw=None, prov=True, why='', direct=False, stop=True, **kw):
    """one packet of the handshake or one SessionAck is broken"""
    w = world(); s = session(w, direct, **kw)
    def hook(s_, t_, d, k, p):
        if k == kind:
            apply(p, patch)
            if raw: raw(p)
    s.hooks.append(hook); t = w.t0; s.c.open(t); t += .002
    seq = [('ecreq', s.ecreq, 0), ('ecresp', s.ecresp, s.rtt), ('cpreq', s.cpreq, s.rtt+.001), ('cpresp', s.cpresp, 2*s.rtt+.002)]
    for k, f, dt in seq:
        f(t+dt)
        if k == kind and stop: s.close(t+dt+.02, 1 if k in ('ecreq', 'cpreq') else 0); return save(w, name, section, sentence, brk, reqs, prov, why)
    t += 2*s.rtt+.02
    s.msg(t, 0, s.plain(t, 0)); s.msg(t+.01, 0, s.plain(t, 0, label='second'))
    t += s.ato/2000+.001; s.ack(t, 1); s.close(t+.03, 0)
    save(w, name, section, sentence, brk, reqs, prov, why)
def A(name, section, sentence, brk, reqs, kind='oack', patch=None, raw=None, prov=True, why='', direct=False, kw=None, fk=None, body=None, cls=0x4000):
    """an OrderAck or FinalAck is broken. One transactional message with JP goes out, is acknowledged, taken"""
    w = world(); s = session(w, direct); t = s.hand(w.t0)
    m = s.txm(t, 0, jp=1, label='debit 7'); s.msg(t, 0, m)
    m2 = s.txm(t+.01, 0, jp=1, label='debit 8'); s.msg(t+.01, 0, m2)
    s.ack(t+s.rto/1000+.001, 1); t += .5+.02+max(0, s.rto/1000-.5)
    def hook(s_, t_, d, k, p):
        if k == kind:
            if body: body(p)
            apply(p, patch)
            if raw: raw(p)
    s.hooks.append(hook)
    if kind == 'oack': s.oack(t, 1, **(kw(w, s) if callable(kw) else kw or {}))
    else:
        s.oack(t, 1); s.fack(t+.4, 1, m, cls, **(kw(w, s) if callable(kw) else kw or {})); t += .4
    s.close(t+.03, 0); save(w, name, section, sentence, brk, reqs, prov, why)
