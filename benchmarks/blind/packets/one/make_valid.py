import os, json, glob
from sim import *
ROOT=os.path.dirname(os.path.abspath(__file__)); OUT=ROOT+'/valid'; os.makedirs(OUT,exist_ok=True)
for f in glob.glob(OUT+'/*.pcap'): os.remove(f)
CERT=open(ROOT+'/cert.der','rb').read()
STATS={}
def st(k): STATS[k]=STATS.get(k,0)+1
ALPH='abcdefghijklmnopqrstuvwxyz0123456789-_.!#$%&()=@^{}~'
def name(r,even=None):
    n=r.choice([1,3,6,9,20,40]); s=''.join(r.choice(ALPH) for _ in range(n)); return s
def direct(r,qm,even=False):
    p=r.choice(['OS:%s\\private$\\%s','TCP:%s\\private$\\%s','OS:%s\\%s','TCP:%s\\%s','OS:%s\\PRIVATE$\\%s'])
    s=p%(qm.ip if p[0]=='T' else qm.name,name(r))
    if even and len(s)%2: s+='z'
    return s
def uni(r,n):
    return ''.join(r.choice(['a','Z','ß','Ω','Ж','中','\u3042',' ','\u0001','\uffee','é']) for _ in range(n))
def guid(r): return r.randbytes(16)
CUSTOM=[0x0003,0x0010,0x0100,0x01FF,0x0123,0x2000,0x2105,0x6001,0x8100,0xA010,0xE1F0,0x41AB]
def body(r,w):
    k=r.randrange(12)
    if k==0: return 0,b''
    if k==1: return 31,wz(uni(r,r.randrange(0,60)))
    if k==2: return 3,r.randbytes(4)
    if k==3: return 20,r.randbytes(8)
    if k==4: return 17,r.randbytes(1)
    if k==5: return 72,r.randbytes(16)
    if k==6: return 11,b'\xff\xff'
    if k==7: return 1,b''
    if k==8: return 18,r.randbytes(2)
    if k==9: return 65,r.randbytes(r.choice([1,5,17,333,1461,2920,9000]))
    if k==10 and w.big>0: w.big-=1; st('big body'); return 65,r.randbytes(r.randrange(20000,100001))
    return 0,b'<?xml version="1.0"?><order id="%d"/>'%r.randrange(10**6)
def message(w,s,t,d,tx=False,small=False):
    r=w.rnd; src,dst=s.qm[d],s.qm[1-d]; bt,b=body(r,w)
    m=dict(body=b,bodytype=bt,breserved=r.randrange(256),padbytes=lambda n:r.randbytes(n),prio=r.randrange(8),tag=r.getrandbits(32),corr=r.choice([bytes(20),r.randbytes(20)]),
      ttrq=r.choice([0xFFFFFFFF,345600,3600,600,0xFFFFFFFE]),ttbr=r.choice([0xFFFFFFFF,3600,86400,120,0x80000000]),dm=r.choice([0,0,1]),
      label=r.choice(['','hello',uni(r,r.randrange(1,249)),'x'*249,'L']),hash=r.choice([0x8001,0x8002,0x8003,0x8004,0x800C,0x800E]),enc=r.choice([0x6602,0x6610,0x660E,0x660F,0x6801]),
      cls=r.choice([0]*9+CUSTOM[:4]) if r.random()<.8 else r.choice(CUSTOM),jn=r.random()<.15,jp=r.random()<.15,ext=r.choice([b'']*4+[r.randbytes(r.randrange(1,90))]))
    m['jn']=int(m['jn']); m['jp']=int(m['jp'])
    if m['cls']: st('application class')
    third=guid(r)
    if s.direct: m.update(addr=NULLG,dq=(7,direct(r,dst)))
    else: m['dq']=r.choice([(3,r.randrange(1,1<<31)),(3,r.randrange(1,60)),(5,guid(r))])
    st('DQ %d'%m['dq'][0])
    if r.random()<.35 and not m['cls']:
        m['mflags']=r.choice([1,2,4,8,5,10,15,3,12]); k=r.choice([2,3,5,6,7]) if not s.direct else r.choice([2,5,6,7,7])
        m['aq']=(k,{2:r.randrange(1,99),3:r.randrange(1,99),5:guid(r),6:(third,r.randrange(1,99)),7:direct(r,src)}[k]); st('AQ %d'%k)
    if r.random()<.4:
        k=r.choice([2,5,6,7]+([] if s.direct else [3])+([1,4] if m.get('aq') else []))
        m['rq']=(k,{1:None,2:r.randrange(1,99),3:r.randrange(1,99),4:r.randrange(1,99),5:guid(r),6:(guid(r),r.randrange(1,99)),7:direct(r,src)}[k]); st('RQ %d'%k)
    if r.random()<.15: m['cq']=guid(r); st('ConnectorType')
    x=r.random()
    if x<.08: m['sec']=dict(st=1,sid=sid([r.getrandbits(32) for _ in range(r.randrange(1,9))]),de=r.randrange(2)); st('security: SID')
    elif x<.14: m.update(hash=0x800E,sec=dict(st=2,sid=src.guid,sign=r.randbytes(r.choice([128,256])),de=1)); st('security: signed by QM')
    elif x<.18: m.update(hash=0x800E,sec=dict(st=1,sid=sid(),sign=r.randbytes(256),de=0,prov=provider(r.choice([1,24,12]),r.choice(['Own Provider1','My CSP v2.1']))));st('security: other provider')
    elif x<.22: m['sec']=dict(st=1,sid=sid(),cert=CERT); st('security: certificate')
    elif x<.32 and not s.direct:
        pl,alg=r.choice([(1,0x6602),(1,0x6801),(3,0x6602),(3,0x6801),(5,0x660E),(5,0x660F),(5,0x6610)])
        n=r.randrange(1,60); n*={0x6602:8,0x6801:1}.get(alg,16)
        m.update(priv=pl,enc=alg,body=r.randbytes(n),bodytype=r.choice([0,65,31]),sec=dict(st=r.choice([0,1]),eb=1,de=1,key=simpleblob(alg,r)))
        if m['sec']['st']: m['sec']['sid']=sid()
        st('encrypted %d %x'%(pl,alg))
    if r.random()<.12:
        m['dh']=r.choice([dict(qt=1,q=guid(r)),dict(qt=1,q=guid(r)),dict(qt=1,q=guid(r))]); m['tr']=r.randrange(2); st('DebugHeader')
        if r.random()<.25: m['dh']=dict(qt=0); m['tr']=0; st('DebugHeader without queue')
    if r.random()<.1: m['soap']=tuple(''.join(r.choice('<abc>/ ') for _ in range(2*r.randrange(0,60)+1)) for _ in 'hb'); st('SoapHeader')
    if r.random()<.1:
        def el():
            k=r.choice([1,2,3,3,6]); return (k,{1:guid(r),2:(guid(r),r.randrange(1,99)),3:direct(r,w.qms[r.randrange(len(w.qms))],True),6:guid(r)}[k])
        dq=m['dq']
        if dq[0]==7:
            v=dq[1] if len(dq[1])%2==0 else dq[1]+'z'; m['dq']=(7,v); own=(3,v)
        else: own=(2,(dst.guid,dq[1])) if dq[0]==3 else (1,dq[1])
        dest=[el() for _ in range(r.choice([0,1,3,8,25]))]; dest.insert(r.randrange(len(dest)+1),own)
        m['mqf']=dict(dest=dest,adm=[],resp=[el() for _ in range(r.randrange(1,4))] if m.get('rq') else [],sign=b''); st('MQF %d elements'%len(dest))
    if tx:
        m['th']=tx; 
        if r.random()<.2: tx['cg']=guid(r)
        if r.random()<.3: tx['fa']=1
        m['cls']=0
    m=s.plain(t,d,**m)
    return m
def setup(seed,nq=2):
    w=World(seed); r=w.rnd; w.big=1 if r.random()<.4 else 0; names=['alpha','srv02','hub.example.com','ws-17','store9','X']; r.shuffle(names)
    w.qms=[QM(r,'10.%d.%d.%d'%(i+1,r.randrange(256),r.randrange(2,250)),names[i],server=r.random()<.6) for i in range(nq)]; w.txs={}
    return w
def txo(w,a,b):
    k=(id(a),id(b))
    if k not in w.txs: w.txs[k]=TxOut(a.stamp+1000*len(w.txs)); 
    return w.txs[k]
def mk(w,a,b,direct,ping=False,rtt=None,ato=None):
    r=w.rnd; s=Sess(w,a,b,direct,rtt=rtt or r.randrange(2,60)/1000,ato=ato or r.choice([20000,20000,30000,60000,120000]),auto=True,seb=0 if ping else 1,osx=r.randrange(2))
    s.tx=[txo(w,a,b),txo(w,b,a)]; s.breserved=lambda:r.randrange(256); s.sereserved=lambda:r.getrandbits(16); s.reqpad=r.randbytes(512)
    return s
def pingit(w,a,b,t):
    r=w.rnd; a.cookie+=1; rc=0 if a.server else 1; sp=r.randrange(3600,60000); x=lambda:r.getrandbits(14)<<2
    w.cap.udp(t,a.ip,sp,b.ip,3527,ping(rc|x(),a.cookie,a.guid)); d=r.uniform(.001,.2); w.cap.udp(t+d,b.ip,3527,a.ip,sp,ping(rc|x(),a.cookie,b.guid)); w.count+=2; return t+d+.003
def ackfor(w,s,t,d,x):
    """administration acknowledgments of x, which side d sent; d's peer sends them"""
    f=x.get('mflags',0); r=w.rnd
    if s.direct or not f or x.get('aq',(0,))[0] not in (2,5) or x.get('cls'): return
    def send(now,cls):
        if s.closed: return
        q=x['aq']; dq=(3,q[1]) if q[0]==2 else (5,q[1]); rq=(2,x['dq'][1]) if x['dq'][0]==3 else (5,x['dq'][1])
        y=s.plain(now,1-d,dq=dq,rq=rq,cls=cls,corr=x['src']+struct.pack('<I',x['mid']),dm=x.get('dm',0),ttrq=0xFFFFFFFF,ttbr=0xFFFFFFFF,label='',body=b'',bodytype=x['bodytype'],hash=0x800E,enc=0x6610)
        if cls&0x8000 and not (x.get('sec') or {}).get('eb'): y['body']=x['body']
        s.msg(now,1-d,y,'adm'); st('admin ack %04x'%cls)
    if f&4 and not f&1 and not x.get('th') and r.random()<.6: return w.at(t+.01,lambda n:send(n,r.choice([0x8003])))
    if f&1: w.at(t+.01,lambda n:send(n,2))
    if f&2: w.at(t+r.uniform(.05,.2),lambda n:send(n,0x4000))
    elif f&8 and r.random()<.5: w.at(t+r.uniform(.05,.2),lambda n:send(n,r.choice([0xC001,0xC000]) if not x.get('th') else 0xC001)) if not x.get('th') else None
def burst(w,s,t,d,n,tx=0,piggy=False):
    """n messages of side d from t on, then wait until all timers have run; returns the next time"""
    r=w.rnd; dur=max(s.rto/1000,s.ato/2000)+.5
    ids=[]; left=0
    plan=[]
    while len(plan)<n:
        if tx and r.random()<tx:
            k=min(r.choice([1,1,2,3,5]),n-len(plan)); i=w.txid=getattr(w,'txid',r.randrange(1,5000))+1
            plan+=[dict(fm=int(j==0),lm=int(j==k-1),id=i) for j in range(k)]
        else: plan.append(None)
    sent=[]
    def go(now,p):
        if s.closed: return
        if p is not None: th=s.tx[d].take(); th.update(p); m=message(w,s,now,d,tx=th); st('transactional')
        else: m=message(w,s,now,d); st('recoverable' if m['dm'] else 'express')
        s.msg(now,d,m); sent.append(m); ackfor(w,s,now,d,m)
    for p in plan: w.at(t,lambda now,p=p:go(now,p)); t+=r.choice([.0005,.002,.004,.009])
    if piggy:
        def pg(now):
            pr=1-d
            if s.closed or s.timer[pr] is None or not s.unack[pr]: return
            t0,du=s.tstart[pr]; at=t0+du*r.uniform(.78,.95)
            def snd(now2):
                if s.closed or s.timer[pr] is None or s.tstart[pr]!=(t0,du) or not s.unack[pr]: return
                m=message(w,s,now2,pr); m['piggy']=1; s.msg(now2,pr,m); ackfor(w,s,now2,pr,m); st('piggybacked SessionHeader')
            w.at(max(at,now),snd)
        w.at(t+.05 if s.rto>=500 else t,pg)
    if any(plan):
        def fin(now):
            for m in sent:
                if m.get('th') and (m.get('jn') or m.get('jp') or m['th'].get('fa')) and r.random()<.7 and not s.closed: s.fack(now,1-d,m); st('FinalAck'); now+=.002
        w.at(t+1.5,fin)
    return t+dur+2.5+dur
def done(w,i,kind):
    w.run(); p='%s/%03d.pcap'%(OUT,i); w.cap.write(p); ROWS.append(dict(file='valid/%03d.pcap'%i,kind=kind,packets=w.count)); return w.count
ROWS=[]
def scen(i):
    w=setup(7000+i,nq=4); r=w.rnd; a,b,c,e=w.qms; k=i%8; t=w.t0
    if k in (0,1,2,3):   # one session, both directions, several bursts
        dr=k in (1,3); pg=r.random()<.4
        if pg: t=pingit(w,a,b,t); st('Ping')
        s=mk(w,a,b,dr,ping=pg,rtt=r.choice([None,None,.1,.25,.9]) if k<2 else None)
        w.at(t,lambda n:setattr(s,'t1',s.hand(n))); t+=2*s.rtt+.05
        for j in range(r.randrange(2,4)):
            t=burst(w,s,t,r.choice([0,0,1]) if not dr or k==1 else 0,r.randrange(1,14),tx=.4 if k>=2 else 0,piggy=r.random()<.4)
        w.at(t,lambda n:s.close(n,r.randrange(2)))
        return done(w,i,['guid session','direct session','guid session, transactional','direct session, transactional'][k])
    if k==4:   # several sessions at once
        ss=[]
        for x,y,dr in [(a,b,False),(c,b,True),(b,e,False),(e,b,True)][:r.randrange(2,5)]:
            s=mk(w,x,y,dr); t1=t+r.uniform(0,.5); w.at(t1,lambda n,s=s:s.hand(n)); t2=t1+.3
            for j in range(2): t2=burst(w,s,t2,0,r.randrange(2,8),tx=.3)
            w.at(t2,lambda n,s=s:s.close(n,0))
        return done(w,i,'several sessions at once')
    if k==5:   # lost session, everything sent again
        dr=r.random()<.5; s=mk(w,a,b,dr); ms=[]; w.at(t,lambda n:s.hand(n)); t+=.3
        tx=r.random()<.6; s.noack=not tx; s.auto=tx
        n=r.randrange(2,9); idx=r.randrange(1,9999)
        def go(now,j):
            if tx: th=s.tx[0].take(); th.update(fm=1,lm=1,id=idx+j); m=message(w,s,now,0,tx=th)
            else: m=message(w,s,now,0)
            m['ttrq']=0xFFFFFFFF; m.pop('mflags',0); m.pop('aq',0)
            if m.get('rq',(0,))[0] in (1,4): m.pop('rq')
            st('resent transactional' if tx else 'resent, never arrived'); s.msg(now,0,m); ms.append(m)
        for j in range(n): w.at(t,lambda now,j=j:go(now,j)); t+=.004
        w.at(t+.02,lambda now:(setattr(s,'closed',True),s.c.close(now,1 if tx else 0,rst=True)))
        t+=6; s2=mk(w,a,b,dr,rtt=.02,ato=20000)
        def re(now):
            s2.hand(now); s2.intx=list(s.intx); 
            for j,m in enumerate(ms): w.at(now+.1+j*.003,lambda n2,m=m:s2.msg(n2,0,dict(m)))
        w.at(t,re); st('resent after reconnect')
        t+=s2.ato/2000+2; t=burst(w,s2,t,0,r.randrange(1,6),tx=.5 if tx else 0); w.at(t,lambda n:s2.close(n,0))
        return done(w,i,'session lost, messages resent')
    if k==6:   # routed messages through b
        s=mk(w,a,b,False); w.at(t,lambda n:s.hand(n)); t+=.3
        def rt(now):
            m=message(w,s,now,0); m['src']=c.guid; m['mid']=c.nextmid(); m['rc']=r.randrange(1,0x1E); m['sent']=int(now)-r.randrange(0,50); m['addr']=r.choice([b.guid,e.guid])
            if m.get('mqf'): m.pop('mqf')
            if (m.get('sec') or {}).get('st')==2: m['sec']['sid']=c.guid
            m.pop('mflags',0); m.pop('aq',0)
            if m.get('rq',(0,))[0] in (1,4): m.pop('rq')
            s.msg(now,0,m); st('routed')
        for j in range(r.randrange(3,14)): w.at(t,rt); t+=.01
        t+=s.ato/2000+1; w.at(t,lambda n:s.close(n,1)); return done(w,i,'routed messages')
    # k==7: many recoverable ones, then pings and a refusal
    s=mk(w,a,b,False); w.at(t,lambda n:s.hand(n)); t+=.3
    nn=[r.randrange(20,31)]
    def rec(now): m=message(w,s,now,0); m['dm']=1; m.pop('mflags',0); m.pop('aq',0); m['rq']=(0,None); s.msg(now,0,m); st('recoverable')
    for j in range(nn[0]): w.at(t,rec); t+=.002
    t+=s.rto/1000+1; 
    for j in range(20): w.at(t,lambda now:s.msg(now,0,message(w,s,now,0)) if 0 else rec(now)); t+=.003
    t+=s.rto/1000+2; w.at(t,lambda n:s.close(n,0))
    t+=1
    tp=pingit(w,e,b,t); return done(w,i,'recoverable bursts, a Ping')
if __name__=='__main__':
    n=0; i=1
    while n<1700: n+=scen(i); i+=1
    open(ROOT+'/valid.jsonl','w').write(''.join(json.dumps(x)+'\n' for x in ROWS))
    print(n,'packets in',i-1,'files'); print(json.dumps(STATS,indent=0,sort_keys=True).replace('\n',' '))
