import sys, check, struct
def dump(f):
    print('==',f.split('/')[-1]); conns,pings=check.streams(f)
    for t,s,d,p in pings: print('  ping',p[:8].hex(),'%.3f'%(t%100),s.hex(),d.hex(),p[8:].hex())
    for k,c in conns.items():
        buf=[b'',b'']
        for t,side,d in c['ev']:
            buf[side]+=d
            while len(buf[side])>=16:
                b=buf[side]; sz=check.u(b,8,4); fl=check.u(b,2,2); tot=sz+(16 if fl&16 and not fl&8 else 0)
                if len(b)<tot or sz<16: break
                buf[side]=b[tot:]; pk=b[:sz]; se=b[sz:tot]
                try:
                    if fl&8: x='internal pt %d '%(pk[18]&15)+(pk[20:].hex() if sz<60 else 'C %s S %s ts %s os %s'%(pk[20:24].hex(),pk[36:40].hex(),pk[52:56].hex(),pk[56:58].hex()))
                    else:
                        e=[]; r=check.user(pk,e); x='user mid %d dm %d cls %04x mf %x dq %s %r aq %s %s rq %s %r th %s body %s.. label %s corr %s %s'%(r['mid'],r['dm'],r['cls'],r['mf'],r['dq'],r['dqn'],r['aq'],r['aqn'],r['rq'],r['rqn'],r.get('th'),r['body'][:36].hex() if r['cls']==255 or 'Order' in r['label'] else len(r['body']),ascii(r['label'][:16]),r['corr'][:4].hex()+r['corr'][16:].hex(),e)
                except check.Bad as q: x='BAD %s'%q
                print('  %8.3f %s %s %s'%(t-c['t0'],'>' if side==0 else '<',x[:260],'SE '+se.hex() if se else ''))
for f in sys.argv[1:]: dump(f)
