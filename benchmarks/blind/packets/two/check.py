import struct, sys, glob, collections
U = struct.unpack_from
def frames(p):
    b = open(p, 'rb').read(); o = 24
    while o < len(b):
        s, u, n, _ = U('<IIII', b, o); yield s * 1000000 + u, b[o + 16:o + 16 + n]; o += 16 + n
def csum(b):
    if len(b) & 1: b += b'\0'
    s = sum(struct.unpack('!%dH' % (len(b) // 2), b))
    while s >> 16: s = (s & 0xffff) + (s >> 16)
    return s
def load(p):
    st = {}; pings = []; conns = []
    for t, f in frames(p):
        ip = f[14:]; assert csum(ip[:20]) == 0xffff; src, dst = ip[12:16], ip[16:20]; pl = ip[20:]
        assert csum(src + dst + struct.pack('!BBH', 0, ip[9], len(pl)) + pl) == 0xffff
        if ip[9] == 17: pings.append((t, src, dst, U('!HH', pl), pl[8:])); continue
        sp, dp, seq, ack, off, fl = U('!HHIIBB', pl); data = pl[(off >> 4) * 4:]
        k = (src, sp, dst, dp); rk = (dst, dp, src, sp)
        if fl == 2: c = dict(cl=k, ev=[], buf={k: b'', rk: b''}, nx={k: (seq + 1) & 0xffffffff}, t=t); st[k] = st[rk] = c; conns.append(c); continue
        c = st[k]
        if fl & 2: c['nx'][k] = (seq + 1) & 0xffffffff; continue
        if data:
            assert seq == c['nx'][k], (seq, c['nx'])
            c['nx'][k] = (seq + len(data)) & 0xffffffff; c['buf'][k] += data; d = 0 if k == c['cl'] else 1
            while len(c['buf'][k]) >= 16:
                b = c['buf'][k]; size, = U('<I', b, 8); flg, = U('<H', b, 2); n = size + (16 if flg & 16 and not flg & 8 else 0)
                if size < 16 or len(b) < n: break
                c['ev'].append((t, d, b[:n], size)); c['buf'][k] = b[n:]
    for c in conns:
        c['left'] = [len(x) for x in c['buf'].values()]
    return conns, pings
def direct(b, o, base):
    n, = U('<H', b, o); s = b[o + 2:o + 2 + n]; assert n % 2 == 0 and n >= 2 and s[-2:] == b'\0\0', 'direct'
    o += 2 + n; o += -(o - base) % 4; return s[:-2].decode('utf-16-le'), o
def um(b, size, flg):
    m = {}; o = 16
    m['src'] = b[16:32]; m['qma'] = b[32:48]; m['ttbr'], m['sent'], m['mid'], f = U('<IIII', b, 48); m['f'] = f; o = 64
    m['dm'] = f >> 5 & 3
    for k, v in (('d', f >> 10 & 7), ('a', f >> 13 & 7), ('r', f >> 16 & 7)):
        if v in (2, 3, 4): m[k] = (v, U('<I', b, o)[0]); o += 4
        elif v == 5: m[k] = (v, b[o:o + 16]); o += 16
        elif v == 6: m[k] = (v, b[o:o + 20]); o += 20
        elif v == 7: x, o = direct(b, o, 16); m[k] = (v, x)
    if f >> 22 & 1: o += 16
    m['tx'] = None
    if f >> 20 & 1:
        m['tx'] = U('<IIIII', b, o); o += 20 + (16 if m['tx'][0] & 1 else 0)
    if f >> 19 & 1:
        z = U('<HHHHII', b, o); o += 16
        m['sec'] = z
        for n in z[1:]: o += n + (-n % 4)
    s0 = o
    m['pf'], ll, m['cls'] = U('<BBH', b, o); m['corr'] = b[o + 4:o + 24]; bt, tag, ms, al, pr, ha, en, xs = U('<IIIIIIII', b, o + 24); o += 56
    lab = b[o:o + 2 * ll]; m['label'] = lab.decode('utf-16-le', 'replace'); assert not ll or m['label'].index('\0') == ll - 1, 'label'
    o += 2 * ll + xs; m['body'] = b[o:o + ms]; o += ms; o += -(o - s0) % 4; m['al'] = al; assert al >= ms, 'alloc'
    if flg >> 5 & 1: q, = U('<H', b, o); o += 4 + (16 if q & 3 == 1 else 0)
    if f >> 28 & 1:
        for i in (0x320, 0x384):
            x, r, n = U('<HHI', b, o); assert x == i, 'soap'; assert b[o + 8 + 2 * n - 2:o + 8 + 2 * n] == b'\0\0', 'soapnul'; o += 8 + 2 * n
    if f >> 23 & 1:
        for i in (0x64, 0xc8, 0x12c):
            n, x, r, c = U('<IHHI', b, o); assert x == i and n >= 12, 'mqf'; q = o + 12
            for _ in range(c):
                t, = U('<H', b, q); q += 2
                if t == 3:
                    while b[q:q + 2] != b'\0\0': q += 2
                    q += 2
                else:
                    q += -(q - o) % 4; q += {1: 16, 2: 20, 6: 16}[t]
            assert q == o + n, ('mqfsize', q - o, n); o += n + (-n % 4)
        x, r, n = U('<HHI', b, o); assert x == 0x15e, 'mqsig'; o += 8 + n
    assert o == size, ('fill', o, size)
    m['sess'] = U('<HHIHHHH', b, size) if flg >> 4 & 1 else None
    return m
def check(p, quiet=False):
    R = []; n = 0; cnt = collections.Counter(); conns, pings = load(p); n += len(pings); cnt['ping'] += len(pings); ids = {}
    for c in conns:
        if any(c['left']): R.append(('left', c['left']))
        S = [0, 0]; RS = [0, 0]; LA = [0, 0]; una = [None, None]; unr = [None, None]; acks = [0, 0]; step = 0; rat = at = 0; txs = {}
        def sess(t, d, h, extra=0):
            o = 1 - d
            if h[0] != S[o]: R.append(('ack', h[0], S[o]))
            e = (LA[d] + 1, (1 << (RS[o] - LA[d])) - 1) if RS[o] > LA[d] else (0, 0)
            if (h[1], h[2]) != e: R.append(('rack', h[1:3], e))
            LA[d] = RS[o]
            if (h[3], h[4]) != (S[d], RS[d]): R.append(('seq', h[3:5], S[d], RS[d]))
            if h[5] != 64: R.append(('win', h[5]))
            for w, lim, nm in ((una[o], at * 500, 'any'), (unr[o], rat * 1000, 'rec')):
                if w and t - w > lim + 12000: R.append(('late', nm, t - w, lim))
            if unr[o] and not extra and t - unr[o] < rat * 1000 - 15000: R.append(('early', t - unr[o], rat))
            if extra and (not unr[o] or t - unr[o] < rat * 750): R.append(('pigearly',))
            if S[o] == acks[o]: R.append(('nothing',))
            una[o] = unr[o] = None; acks[o] = S[o]
        for t, d, b, size in c['ev']:
            n += 1; ver, res, flg, sig, _, ttrq = U('<BBHIII', b)
            if ver != 16 or sig != 0x524F494C: R.append(('base', ver, hex(sig)))
            if flg & 8:
                r, f = U('<HH', b, 16); pt = f & 15; cnt['pt%d' % pt] += 1
                if r or f >> 4 or ttrq != 0xffffffff: R.append(('int', r, f, ttrq))
                if pt == 2:
                    if step not in (0, 1) or size != 572: R.append(('ec', step, size))
                    g = (b[20:36], b[36:52], U('<IHH', b, 52))
                    if step == 1 and (g[0] != eg[0] or eg[1] not in (g[1], b'\0' * 16) or g[2][0] != eg[2][0] or (g[2][1] ^ eg[2][1]) & 0x1ff or b[60:] != b'\x5a' * 512): R.append(('ecres',))
                    if g[2][1] & 0xf8ff != 0x10 or g[2][2]: R.append(('ecos', g[2]))
                    eg = g; step += 1
                    if step == 1: et = t
                    else: rtt = (t - et) / 1000
                elif pt == 3:
                    if step not in (2, 3) or size != 32: R.append(('cp', step, size))
                    g = U('<IIHH', b, 20)
                    if step == 3 and g != cg: R.append(('cpres', g, cg))
                    cg = g; step += 1; rat, at = g[:2]
                    if not 500 <= rat <= 120000 or not 20000 <= at <= 120000 or g[2]: R.append(('cpval', g))
                    if abs(rat - max(500, 8 * rtt)) > 20: R.append(('rat', rat, rtt))
                elif pt == 1:
                    if step != 4 or size != 36 or flg & 0x30 != 0x10: R.append(('sa', step, size, hex(flg)))
                    else: sess(t, d, U('<HHIHHHH', b, 20))
                else: R.append(('pt', pt))
                continue
            if step != 4: R.append(('state', step))
            if flg & 0xfec0: R.append(('baseflags', hex(flg)))
            try: m = um(b, size, flg)
            except Exception as e: R.append(('parse', type(e).__name__, str(e)[:60])); continue
            cnt['ack ' + hex(m['cls']) if m['label'] == 'QM Ordering Ack\0' else 'um'] += 1
            for k in 'rd':
                pass
            S[d] += 1; RS[d] += m['dm'] == 1; una[d] = una[d] or t
            if m['dm'] == 1: unr[d] = unr[d] or t
            if m['sess']: sess(t, d, m['sess'], 1)
            if abs(m['sent'] - t // 1000000) > 400: R.append(('sent', m['sent'] - t // 1000000))
            k = (m['src'], m['mid'])
            if k in ids and ids[k] != m['body']: R.append(('dupid',))
            ids[k] = m['body']
            if m['tx']:
                if flg & 7 or m['dm'] != 1: R.append(('txpr',))
                fl, o_, ts, num, prev = m['tx']; q = txs.get(d)
                if prev != num - 1: R.append(('prev', num, prev))
                if q and (ts, o_) == q[:2] and num != q[2] + 1: R.append(('num', num, q))
                if q and (ts, o_) != q[:2] and ((ts, o_) != (q[0], q[1] + 1) or num != 1): R.append(('newseq', q, ts, o_, num))
                txs[d] = (ts, o_, num, t)
            if m['cls'] == 0xff:
                q = txs.get(1 - d); a = U('<IIII', m['body'])
                if not q or (a[1], a[0]) != q[:2] or a[2] > q[2] or a[3] != a[2] - 1 : R.append(('oack', a, q))
                elif t - q[3] < 495000: R.append(('oackearly', t - q[3]))
            if bool(m['pf'] & 15) != bool(m['f'] >> 13 & 7): R.append(('admin',))
            dq = m['f'] >> 10 & 7
            if (dq == 7) != (m['qma'] == b'\0' * 16): R.append(('qma',))
    return R, n, cnt
if __name__ == '__main__':
    tot = 0; C = collections.Counter(); fs = sorted(glob.glob(sys.argv[1])); none = []
    for p in fs:
        try: R, n, c = check(p)
        except Exception as e: R, n, c = [('EXC', repr(e)[:80])], 0, {}
        tot += n; C.update(c)
        if len(sys.argv) > 2 or (R and 'valid' in p): print(p.split('/')[-1], R[:4])
    print(tot, dict(C))
