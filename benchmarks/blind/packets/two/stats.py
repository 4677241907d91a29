import glob, collections, check, struct
C = collections.Counter(); big = 0
for p in sorted(glob.glob('valid/*.pcap')):
    conns, pings = check.load(p)
    for c in conns:
        C['conns'] += 1
        for t, d, b, size in c['ev']:
            flg, = struct.unpack_from('<H', b, 2)
            if flg & 8: continue
            m = check.um(b, size, flg); f = m['f']; C['um'] += 1
            for n, bit in (('sec', 19), ('tx', 20), ('cq', 22), ('mq', 23), ('hh', 28), ('jn', 8), ('jp', 9)): C[n] += f >> bit & 1
            C['dbg'] += flg >> 5 & 1; C['tr'] += flg >> 8 & 1; C['sess'] += flg >> 4 & 1; C['dq%d' % (f >> 10 & 7)] += 1; C['aq%d' % (f >> 13 & 7)] += 1; C['rq%d' % (f >> 16 & 7)] += 1
            C['dm%d' % m['dm']] += 1; C['cls %x' % m['cls']] += 1; C['b2b'] += d; C['body0'] += not m['body']; C['body>20k'] += len(m['body']) > 20000
            if 'sec' in m: C['signed'] += m['sec'][3] > 0; C['encrypted'] += m['sec'][2] > 0
            C['rc'] += f & 31 > 0
print(dict(C))
