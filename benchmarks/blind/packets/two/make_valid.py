import os, sys
from wire import *
TARGET = int(sys.argv[1]) if len(sys.argv) > 1 else 5000
BT = [(0, None), (1, 0), (2, 2), (3, 4), (11, 2), (16, 1), (17, 1), (18, 2), (19, 4), (20, 8), (21, 8), (31, 'w'), (65, None), (72, 16), (0x1011, None), (0x1003, None)]
NAMES = ['orders', 'q', 'in.box', 'Bestellungen', 'a_b-c', 'queue$1', 'X' * 60]
class View:
    "one queue manager as one peer of it sees it: own transactional sequence, shared message ids"
    def __init__(s, q, rng): s._q = q; s.txts = 0; s.txord = 1; s.rng = rng
    def __getattr__(s, n): return getattr(s.__dict__['_q'], n)
    def __setattr__(s, n, v):
        if n in ('mid', 'cookie', 'txid'): setattr(s._q, n, v)
        else: s.__dict__[n] = v
class Gen:
    def __init__(self, seed):
        self.r = Rng(seed); self.n = 0
    def body(self, m=None):
        r = self.r; t, k = r.choice(BT)
        x = r.random()
        if k == 'w': return t, wz(''.join(chr(r.randint(0x20, 0x7e)) for _ in range(r.randint(0, 200))))
        if isinstance(k, int):
            return t, (b'\0\0' if t == 11 else r.randbytes(k))
        n = 0 if x < .12 else r.randint(1, 60) if x < .55 else r.randint(60, 3000) if x < .97 else r.randint(3000, 100000)
        if t == 0x1003: n &= ~3
        return t, r.randbytes(n)
    def direct(self, host, ip): 
        r = self.r; q = r.choice(NAMES)
        return r.choice(['OS:%s\\private$\\%s', 'OS:%s\\%s', 'OS:%s\\PRIVATE$\\%s', 'OS:%s.example.com\\private$\\%s']) % (host, q) if r.random() < .7 else 'TCP:%s\\private$\\%s' % (ip, q)
    def report(self, s, d):
        r = self.r; a, b = s.q[d], s.q[1 - d]; g = lambda x: '%s-%s-%s-%s-%s' % (x[3::-1].hex(), x[5:3:-1].hex(), x[7:5:-1].hex(), x[8:10].hex(), x[10:].hex()); src = r.guid(); mid = r.getrandbits(32); G = g(src).upper()
        lab = '%s:%08X:%02X received by %s at %02d:%02d:%02d AM Mon,Jan %02d %02d' % (G[:4], mid, 0, G, r.randint(1, 11), r.randint(0, 59), r.randint(0, 59), r.randint(1, 28), r.randint(20, 26))
        return dict(cls=1, dest=('pub', s.pub[1 - d][0]), qma=b.guid, dm=0, label=lab, btype=31, body=wz('<MESSAGE ID>%08X</MESSAGE ID>\r\n<TARGET QUEUE>PUBLIC=%s</TARGET QUEUE>\r\n' % (mid, g(r.guid()).upper())))
    def fields(self, s, d, tx=False):
        r = self.r; a, b = s.q[d], s.q[1 - d]; k = {}
        if not tx and not s.direct and r.random() < .02: return self.report(s, d)
        if s.direct: k['dest'] = ('direct', self.direct(b.name, b.ip)); k['qma'] = NULLG
        else: k['dest'] = ('id', r.randint(5, 40)) if r.random() < .6 else ('pub', s.pub[1 - d][r.randint(0, 3)]); k['qma'] = b.guid
        k['pr'] = r.choice([3, 3, 3, 0, 1, 2, 4, 5, 6, 7]); k['dm'] = r.choice([0, 0, 1])
        k['jn'] = int(r.random() < .15); k['jp'] = int(r.random() < .15)
        k['ttrq'] = r.choice([INF, INF, 345600, r.randint(4000, 10 ** 7), 0xFFFFFFFE]); k['ttbr'] = r.choice([INF, INF, 0, r.randint(0, 10 ** 7)])
        k['btype'], k['body'] = self.body()
        if r.random() < .3: k['alloc'] = len(k['body']) + r.randint(0, 64)
        if r.random() < .6: k['label'] = ''.join(chr(r.choice([r.randint(0x20, 0x7e), r.randint(0xa1, 0x17f), 0x20ac])) for _ in range(r.choice([1, 2, 5, 14, 30, r.randint(0, 249), 249])))
        if r.random() < .15: k['ext'] = r.randbytes(r.choice([1, 2, 3, 4, 17, 256, r.randint(1, 900)]))
        if r.random() < .4: k['corr'] = r.randbytes(20)
        if r.random() < .4: k['tag'] = r.getrandbits(32)
        k['hash'] = r.choice([0x8001, 0x8002, 0x8003, 0x8004, 0x800C, 0x800E]); k['enc'] = r.choice([0x6602, 0x6610, 0x660E, 0x660F, 0x6801])
        if r.random() < .12: k['cls'] = r.choice([0x0003, 0x0011, 0x00fe, 0x0100, 0x0155, 0x01ff, 0x2000, 0x21aa, 0x6001, 0xe1ff, 0xa101])
        if r.random() < .1: k['connector'] = r.guid()
        if r.random() < .3:
            k['pflags'] = r.randint(1, 15); aq = r.choice([2, 2, 3, 5, 6, 7]) if not s.direct else r.choice([2, 5, 6, 7]); k['aq'] = aq
            k['admin'] = {2: ('id', r.randint(5, 99)), 3: ('id', r.randint(5, 99)), 5: ('pub', s.pub[d][r.randint(0, 3)]), 6: ('full', r.guid(), r.randint(5, 99)), 7: ('direct', self.direct(a.name, a.ip))}[aq]
        if r.random() < .35:
            rq = r.choice([2, 3, 5, 6, 7] + ([1, 4] if k.get('aq') else []) if not s.direct else [2, 5, 6, 7] + ([1, 4] if k.get('aq') else [])); k['rq'] = rq
            k['resp'] = {1: None, 2: ('id', r.randint(5, 99)), 3: ('id', r.randint(5, 99)), 4: ('id', r.randint(5, 99)), 5: ('pub', r.guid()), 6: ('full', r.guid(), r.randint(5, 99)), 7: ('direct', self.direct(a.name, a.ip))}[rq]
        if r.random() < .08: k['debug'] = dict(qt=0); 
        elif r.random() < .1: k['debug'] = dict(qt=1, q=r.guid()); k['tr'] = r.randint(0, 1)
        if r.random() < .06: k['soap'] = dict(h='h' * (2 * r.randint(0, 40) + 1), b='b' * (2 * r.randint(0, 60) + 1))
        x = r.random()
        if x < .1: k['sec'] = dict(st=1, sid=sid(r))
        elif x < .13: k['sec'] = dict(st=2, sid=a.guid)
        elif x < .15: k['sec'] = dict(st=0, cert=CERT)
        elif x < .20:   # signed as MSMQ 1.0 does; no label and no queues go in
            for f in ('label', 'admin', 'resp', 'aq', 'rq', 'pflags', 'connector', 'soap'): k.pop(f, None)
            k['hash'] = 0x800E; k['sec'] = dict(st=1, sid=sid(r), cert=CERT) if r.random() < .7 else dict(st=2, sid=a.guid, cert=CERT)
            k['sec']['sig'] = rsasign(0x800E, k.get('corr', b'\0' * 20) + P('<I', k.get('tag', 0)) + k['body'])
            if r.random() < .3: k['sec'].update(de=0, prov=provinfo(1, 'Microsoft Enhanced Cryptographic Provider, v1.0'))
        elif x < .26 and not s.direct:
            pl = r.choice([1, 3, 5]); al = r.choice({1: [0x6602, 0x6801], 3: [0x6602, 0x6801], 5: [0x660E, 0x660F, 0x6610]}[pl]); bl = {0x6602: 8, 0x6801: 1}.get(al, 16)
            k['body'] = r.randbytes(bl * r.randint(1, 40)); k['alloc'] = len(k['body']); k['privacy'] = pl; k['enc'] = al
            k['sec'] = dict(st=1, sid=sid(r), eb=1, de=0, key=simpleblob(al, r), prov=provinfo(CSPT[pl], CSP[pl]))
        if r.random() < .08 and not k.get('soap') and 'sig' not in (k.get('sec') or {}): k['mq'] = self.mqf(s, d, k)
        if not tx and 'mq' not in k and r.random() < .05:  # forwarded for another queue manager
            k['src'] = r.guid(); k['rc'] = r.randint(1, 0x1d); k['mid'] = r.getrandbits(32); k['sent'] = s.t // 1000000 - r.randint(0, 300)
            if (k.get('sec') or {}).get('st') == 2: k['sec']['sid'] = k['src']
        return k
    def elems(self, first, n):
        r = self.r; out = []; off = 12; todo = list(first); 
        def add(e):
            nonlocal off
            out.append(e); off = 12 + len(mqelems(out))
        def dname(even):  # even/odd number of WCHARs with NUL
            t = 'OS:host%s\\private$\\%s' % (r.choice('abcxyz'), 'q' * r.randint(1, 20))
            if (len(t) + 1) % 2 != (0 if even else 1): t += 'z'
            return ('direct', t)
        for _ in range(n): todo.append(r.choice([('pub', r.guid()), ('full', r.guid(), r.randint(1, 99)), ('dl', r.guid()), dname(bool(r.randint(0, 1)))]))
        r.shuffle(todo)
        for e in todo:
            if e[0] == 'pub' and off % 4 != 2: add(dname(True) if off % 4 == 0 else dname(False))
            add(e)
        if off % 4: add(dname(True))
        assert off % 4 == 0
        return out
    def mqf(self, s, d, k):
        r = self.r; q = k['dest']; b = s.q[1 - d]
        own = ('direct', q[1]) if q[0] == 'direct' else q if q[0] == 'pub' else ('full', b.guid, q[1])
        adm = []
        if k.get('aq'):
            a = k['admin']; aq = k['aq']
            adm = [('full', s.q[d].guid, a[1]) if aq == 2 else ('full', b.guid, a[1]) if aq == 3 else a]
        rs = []
        if k.get('rq') not in (None, 0, 1, 4):
            a = k['resp']; rs = [('full', s.q[d].guid, a[1]) if k['rq'] == 2 else ('full', b.guid, a[1]) if k['rq'] == 3 else a]
        return dict(d=self.elems([own], r.choice([0, 1, 2, 5, 20])), a=self.elems(adm, r.choice([0, 0, 1, 3]) if adm else 0), r=self.elems(rs, r.choice([0, 0, 1, 4])))
    # ---- one session
    def sess(self, cap, a, b, t, direct):
        r = self.r; s = Sess(cap, a, b, r, t, direct)
        s.pend = []; s.pub = [[r.guid() for _ in range(4)] for _ in range(2)]
        rt = r.choice([2, 5, 11, 30, 48, 48, 80, 125, 250]); s.rtt = rt * 1000; s.rat = max(500, 8 * rt); s.at = r.choice([20000, 20000, 30000, 60000, 120000]); s.os = r.randint(0, 1)
        return s
    def open(self, s):
        r = self.r
        if r.random() < .35 and not self.noping: s.ping(dt=r.randint(500, 400000)); self.n += 2
        s.hello(ecq=dict(qs=r.randint(0, 1)), ecr=dict(os=r.randint(0, 1))); self.n += 4
    def round(self, s, hist, last=False):
        """one side sends a burst; the acknowledgments follow when their timers end"""
        r = self.r; d = 0 if r.random() < .7 else 1; o = 1 - d
        n = r.choice([1, 1, 2, 3, 5, 9, 14]); t_first = s.t; t_rec = None; msgs = []; txs = []; oldt = s.t
        dotx = r.random() < .4; nrec = 0; i = 0
        while i < n:
            if dotx and nrec < 20 and r.random() < .7:
                cnt = r.choice([1, 1, 2, 3]); s.q[d].txid += 1; tid = s.q[d].txid & 0xfffff
                for j in range(cnt):
                    f = self.fields(s, d, True); f.pop('pr', None); f.pop('dm', None); f.pop('rc', None)
                    if not hasattr(s.q[d], 'nexttx') or s.q[d].__dict__.get('nexttx') is None: s.q[d].nexttx = 1
                    num = s.q[d].nexttx; s.q[d].nexttx = num + 1
                    f['tx'] = s.tx(d, num=num, fm=int(j == 0), lm=int(j == cnt - 1), id=tid, fa=int(r.random() < .2), conn=r.guid() if r.random() < .1 else None)
                    if f['tx']['conn'] is None: del f['tx']['conn']
                    if t_rec is None: t_rec = s.t
                    m = s.um(d, dt=r.randint(300, 3000), mss=r.choice([1460, 1460, 536]), **f); msgs.append(m); txs.append(m); self.n += 1; nrec += 1
                    if d == 0: s.pend.append(m)
                i += cnt
            else:
                f = self.fields(s, d)
                if nrec >= 20: f['dm'] = 0
                if f['dm'] == 1 and t_rec is None: t_rec = s.t
                nrec += f['dm']
                if i < n - 1 and r.random() < .12: s.coal = 1
                m = s.um(d, dt=r.randint(300, 3000), mss=r.choice([1460, 1460, 1000, 300]), **f); msgs.append(m); self.n += 1; i += 1
        if getattr(s, 'hold', b''): s.raw(d, b'')
        hist += msgs
        if last and r.random() < .5: return msgs
        tl = s.t
        pig = None
        if t_rec is not None:
            due = t_rec + s.rat * 1000
            if r.random() < .3 and tl < t_rec + s.rat * 200:
                s.t = t_rec + int(s.rat * 1000 * r.uniform(.84, .95)); f = self.fields(s, o); f['dm'] = 0
                if len(f['body']) > 2000: f['body'] = f['body'][:16] if f.get('sec') is None else f['body']; f.pop('alloc', None) if f.get('sec') is None else 0
                if f['btype'] in (0x1003, 0x1011, 0, 65, 31) and f.get('sec') is None: f['btype'] = 0
                pig = s.t; s.um(o, sess={}, **f); self.n += 1
            else: s.t = max(s.t, due + r.randint(200, 3000)); s.ack(o); self.n += 1
        else:
            s.t = max(s.t, t_first + s.at * 500 - r.randint(0, 2000)); s.ack(o); self.n += 1
        tack = s.t; need = pig  # time of the first message of side o that side d has to acknowledge
        # order acknowledgments
        if txs:
            s.t = max(s.t + r.randint(2000, 60000), txs[-1]._t + 505000 + r.randint(0, 300000))
            lastn = txs[-1].tx['num']; k = lastn
            if len(txs) > 1 and r.random() < .3: k = txs[-2].tx['num']
            need = need or s.t; s.oack(o, k); self.n += 1
            if k != lastn and r.random() < .7: s.t += r.randint(510000, 900000); s.oack(o, lastn); k = lastn; self.n += 1
            if d == 0: s.pend = [m for m in s.pend if m.tx['num'] > k]
            if k == lastn: s.q[d].txord += 1; s.q[d].nexttx = 1
            tf = None
            for m in txs:
                if m.tx['num'] <= k and (m.jn or m.jp or m.tx.get('fa')) and r.random() < .7:
                    if tf is None: s.t += r.randint(1000, 100000); tf = s.t
                    c = 0x4000 if r.random() < .8 else r.choice([0xC000, 0xC001, 0xC002])
                    s.fack(o, m, c, dt=r.randint(300, 3000)); self.n += 1
            if tf is not None: s.t = tf + s.rat * 1000 + r.randint(200, 2000); s.ack(d); self.n += 1; need = None
        # administration acknowledgments
        if not s.direct:
            tf = None; any_ = False
            for m in msgs:
                if m.pflags & 15 and m.aq in (2, 5) and m.src == s.q[d].guid and not m.tx and m.rc == 0 and m.cls == 0 and r.random() < .5:
                    cs = ([2] if m.pflags & 1 else []) + ([0x4000] if m.pflags & 2 else []) + ([0x8000, 0x8001, 0x8002, 0x8003, 0x8004, 0x8006, 0x8007, 0x800A, 0x800B] if m.pflags & 4 else []) + ([0xC000, 0xC001, 0xC002, 0xC004] if m.pflags & 8 else [])
                    if tf is None and m.dm: tf = s.t
                    if not any_: need = need or s.t
                    any_ = True
                    s.aack(o, m, r.choice(cs), dt=r.randint(300, 2000)); self.n += 1
            if tf is not None: s.t = max(s.t, tf + s.rat * 1000 + r.randint(200, 2000)); s.ack(d); self.n += 1; need = None
        if need is not None: s.t = max(s.t, need + s.at * 500 - r.randint(0, 2000)); s.ack(d); self.n += 1
        elif r.random() < .3: s.wait(r.uniform(.1, 20))
        return []
    def conv(self, path, nr):
        r = self.r; cap = Cap(); t = (1700000000 + r.randint(0, 50000000)) * 1000000 + r.randint(0, 999999)
        qs = [QM(r, '10.%d.%d.%d' % (r.randint(0, 9), i, r.randint(2, 250)), n) for i, n in enumerate(('alpha', 'hostb', 'gamma'))]
        pairs = [(0, 1)] if r.random() < .75 else [(0, 1), (0, 2)]
        self.noping = len(pairs) > 1
        for i, j in pairs:
            a, b = View(qs[i], r), View(qs[j], r); direct = r.random() < .4
            s = self.sess(cap, a, b, t + r.randint(0, 900000) + 2000000, direct); self.open(s); hist = []; left = []
            for x in range(nr): left = self.round(s, hist, x == nr - 1)
            s.close(r.randint(0, 1), r.randint(1000, 200000))
            if left and left[0].src == a.guid:   # unacknowledged when the connection went: sent again
                n = self.sess(cap, a, b, s.t + r.randint(5000000, 6000000), direct); n.pub = s.pub; self.open(n); t_rec = None; t0 = n.t
                left = [m for m in s.pend if m not in left] + left
                for m in left:
                    if m.src != a.guid and m.src not in (a.guid,): pass
                    if m.dm and t_rec is None: t_rec = n.t
                    m.sess = None; m.f_bsh = 0; n.send(m, 0, dt=r.randint(300, 1500)); self.n += 1
                if t_rec: n.t = max(n.t, t_rec + n.rat * 1000 + r.randint(200, 2000))
                else: n.t = max(n.t, t0 + n.at * 500 - 1500)
                n.ack(1); self.n += 1
                tx = [m for m in left if m.tx]
                if tx:
                    n.t = max(n.t + 3000, tx[-1]._t + 510000); n.oack(1, tx[-1].tx['num']); self.n += 1; n.wait(n.at / 2000 - .01); n.ack(0); self.n += 1
                n.close(r.randint(0, 1))
            t += r.randint(0, 3000000)
        cap.write(path)
def main():
    for f in os.listdir(HERE + '/valid'): os.remove(HERE + '/valid/' + f)
    tot = 0; i = 0
    while tot < TARGET:
        i += 1; g = Gen(7000 + i); g.conv('%s/valid/%03d.pcap' % (HERE, i), g.r.randint(2, 6)); tot += g.n
    print(i, 'files', tot, 'packets')
main()
