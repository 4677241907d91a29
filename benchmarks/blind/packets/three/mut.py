from fac import *
import json, zlib, re as _re
IDS = {}
for x in json.load(open('../requirements.json')): IDS[x['id']] = x
LIST = []; META = []; KEEP = 'keep'; CUT = 'cut'
OFFI = {'base': 0, 'int': 16, 'ec': 20, 'cp': 20, 'sess': 20}
def patch(rec, h, off, f, v):
    o = (rec['offs'] if rec['um'] else OFFI)[h] + off; d = bytearray(rec['data']); struct.pack_into('<' + f, d, o, v); rec['data'] = bytes(d)
def get(rec, h, off, f):
    return struct.unpack_from('<' + f, rec['data'], (rec['offs'] if rec['um'] else OFFI)[h] + off)[0]
def orp(rec, h, off, f, v): patch(rec, h, off, f, get(rec, h, off, f) | v)
def clr(rec, h, off, f, v): patch(rec, h, off, f, get(rec, h, off, f) & ~v)
def redo(rec, **k):
    u = copy.deepcopy(rec['um']); u.update(k); rec['um'] = u; rec['data'], rec['offs'] = encode(u)
def piece(rec, h):
    """the bytes of one header of an encoded message"""
    o = rec['offs']; st = o[h]; ends = sorted([v for v in o.values() if v > st] + [len(rec['data'])]); return rec['data'][st:ends[0]]
def setpiece(rec, h, b): u = rec['um']; redo(rec, raw={**u['raw'], h: b})
def cut(cap, rec, after=1500):
    t = rec['t']; cap.recs = [x for x in cap.recs if x['t'] <= t]; cap.pings = [x for x in cap.pings if x['t'] <= t]
    cap.conns = cap.conns[:]; 
    for c in cap.conns:
        if c.open_t is not None and c.open_t > t: c.open_t = None; continue
        if c.id == rec['conn']: c.closed = (t + 200 + len(rec['data']) // 1460 * 10 + after, random.Random(t).choice(['fin', 'rst']) + str(1 - rec['side']))
        elif c.closed and c.closed[0] > t: c.closed = (t + 900, 'fin0')
def M(name, section, sentence, reqs, base, fn, close=CUT, pick=None, provable=True):
    LIST.append((name, section, sentence, [reqs] if isinstance(reqs, str) else list(reqs), base, fn, close, pick, provable))
# ---------- base captures
def S(feats=(), direct=None, dm=None, sz=None, side=None, before=None, after=None, tweak=None, tx=False, ping=None, noacks=True, want=False, **tk):
    """a session with a target message somewhere in it"""
    def build(seed):
        kk = {} if ping is None else {'ping': ping}
        d = direct if direct is not None else random.Random(seed).random() < .5
        cap, c = mk(seed, direct=d, **kk); r = cap.r
        i = side if side is not None else r.choice([0, 0, 1])
        if want:
            for _ in range(r.randint(1, 4)): send(c, 1 - i, message(r, c, 1 - i, dm=1 if want == 2 else None), dt=1500)
        for _ in range(before if before is not None else r.randint(0, 6)):
            if r.random() < .15: transaction(c, 0, r.randint(1, 2), feats=[r.choice(['sid', 'soap', ''])])
            else: k = r.choice([0, 1]) if not want else i; send(c, k, message(r, c, k, feats=[r.choice(['sid', 'soap', 'cq', 'resp', 'mqf', 'admin', ''])]))
        if tx:
            recs = transaction(c, i, tk.get('n', 1), feats=feats, sz=sz, cg=tk.get('cg', False), jn=tk.get('jn'), jp=tk.get('jp'), fa=tk.get('fa', 0)); t = recs[tk.get('k', 0)]
        else:
            if want:
                st = c.s[i]
                if st['tmr'] and st['unacked']: c.advance(int(st['tmr'] - st['tdur'] * .2))
            u = message(r, c, i, feats=list(feats) + (['want'] if want else []), dm=dm, sz=sz, acks=not noacks)
            if tweak: tweak(u, r, c, i)
            t = send(c, i, u, dt=500)
        cap.target = t; cap.c = c
        for _ in range(after if after is not None else r.randint(1, 5)): k = r.choice([0, 1]); send(c, k, message(r, c, k, feats=[r.choice(['sid', 'soap', 'resp', ''])]))
        c.close(); return cap
    return build
def K(kind, nth=None, cond=None):
    def pick(cap, r):
        m = [x for x in cap.recs if x['kind'] == kind and (cond is None or cond(x))]
        return m[nth] if nth is not None else r.choice(m)
    return pick
def TX(direct=None, jn=0, jp=0, fa=0, rounds=2, n=None, ping=None):
    def build(seed):
        kk = {} if ping is None else {'ping': ping}
        d = direct if direct is not None else random.Random(seed).random() < .5
        cap, c = mk(seed, direct=d, **kk); r = cap.r; cap.c = c
        for _ in range(rounds):
            for _ in range(r.randint(1, 2)): transaction(c, 0, n or r.randint(2, 4), feats=[r.choice(['sid', 'soap', 'cq', ''])], jn=jn, jp=jp, fa=fa, dt=10000)
            c.advance(c.t + 5_000_000)
            for _ in range(r.randint(0, 2)): send(c, 0, message(r, c, 0))
        c.close(); return cap
    return build
def ADM(direct=None, fl=None, dm=None, cls=None, d=20000, neg=False):
    def build(seed):
        dd = direct if direct is not None else random.Random(seed).random() < .3
        cap, c = mk(seed, direct=dd); r = cap.r; cap.c = c
        for _ in range(r.randint(1, 4)): send(c, 0, message(r, c, 0))
        u = message(r, c, 0, dm=dm, sz=r.randint(5, 60)); me = c.h[0]
        u['aq'] = (7, direct_(r, me)) if dd else r.choice([(2, r.randint(5, 99)), (5, guid(r))])
        f, cl = (2, 0x4000) if dd else r.choice([(1, 2), (2, 0x4000), (3, 2)])
        if neg: f, cl = (8, 0xC001)
        u['flags'] = fl or f; u['meta']['acks'] = ([(2, d // 2)] if fl == 1 and cls == 0x4000 else []) + [(cls or cl, d)]
        cap.orig = send(c, 0, u); c.advance(c.t + 100000)
        for _ in range(r.randint(1, 3)): send(c, 0, message(r, c, 0))
        c.close(); return cap
    return build
direct_ = direct
def AN(seed): # any session with many kinds
    cap, c = mk(seed); r = cap.r; cap.c = c
    transaction(c, 0, 2, jn=1, jp=0); c.advance(c.t + 4_000_000)
    for _ in range(r.randint(2, 5)): k = r.choice([0, 1]); send(c, k, message(r, c, k, feats=[r.choice(['sid', 'soap', 'mqf', 'resp', ''])]))
    c.close(); return cap
def run():
    out = f'{HERE}/mutations'; os.makedirs(out, exist_ok=True)
    for f in os.listdir(out): os.remove(f'{out}/{f}')
    bad = 0; names = set()
    for k, (name, section, sentence, reqs, base, fn, close, pick, provable) in enumerate(LIST):
        assert name not in names, name; names.add(name)
        for q in reqs:
            if q not in IDS: print('unknown id', q, name)
        for att in range(40):
            seed = zlib.crc32(name.encode()) + att * 7919
            try:
                cap = base(seed); r = random.Random(seed ^ 0x55)
                rec = pick(cap, r) if pick else getattr(cap, 'target', None)
                old = [(x['t'], x['side'], x['data']) for x in cap.recs] + [(p['t'], p['sport'], p['dport'], p['src'].ip, p['dst'].ip, p['data']) for p in cap.pings]
                res = fn(cap, rec, r)
                if res is False: continue
                if isinstance(res, dict): rec = res
                new = [(x['t'], x['side'], x['data']) for x in cap.recs] + [(p['t'], p['sport'], p['dport'], p['src'].ip, p['dst'].ip, p['data']) for p in cap.pings]
                if old == new and not getattr(cap, 'built', False): raise IndexError('nothing changed')
                if close == CUT and rec is not None: cut(cap, rec)
                break
            except (IndexError,) as e:
                err = e; continue
        else:
            print('FAILED', name); bad += 1; continue
        fn_ = f'mutations/{k:03d}-{name}.pcap'; write(cap, f'{HERE}/{fn_}')
        META.append(dict(file=fn_, name=name, section=section, sentence=sentence, provable=provable, requirement=[q for q in reqs if q in IDS]))
    json.dump(META, open(f'{HERE}/mutations.json', 'w'), indent=1)
    print(len(META), 'mutations', bad, 'failed')
