"""A second reader, written apart from the encoder: reassembles, decodes, counts, checks what the layout and the counts demand."""
import struct, sys, json, glob, os, collections
def frames(path):
    b=open(path,'rb').read(); assert b[:4]==b'\xd4\xc3\xb2\xa1'; o=24; last=0
    while o<len(b):
        s,u,c,l=struct.unpack_from('<IIII',b,o); o+=16; t=s+u/1e6; assert t>=last-1e-9; last=t; yield t,b[o:o+c]; o+=c
def ck(b):
    if len(b)%2: b+=b'\0'
    s=sum(struct.unpack('>%dH'%(len(b)//2),b)); 
    while s>>16: s=(s&0xffff)+(s>>16)
    return s
def streams(path):
    conns={}; pings=[]
    for t,f in frames(path):
        ip=f[14:]; assert ck(ip[:20])==0xffff; src,dst=ip[12:16],ip[16:20]; p=ip[20:]; assert struct.unpack('>H',ip[2:4])[0]==len(ip)
        if ip[9]==17: pings.append((t,src,dst,p)); continue
        assert ck(src+dst+struct.pack('>BBH',0,6,len(p))+p)==0xffff
        sp,dp,seq,ack,off,fl=struct.unpack_from('>HHIIBB',p); d=p[(off>>4)*4:]
        key=(src,sp,dst,dp) if dp==1801 else (dst,dp,src,sp); side=0 if dp==1801 else 1
        c=conns.setdefault(key,dict(next=[None,None],ev=[],t0=t))
        if fl&2: c['next'][side]=(seq+1)&0xffffffff; continue
        if d:
            assert seq==c['next'][side],(path,'seq'); c['ev'].append((t,side,d)); c['next'][side]=(seq+len(d))&0xffffffff
        if fl&1: c['next'][side]=(c['next'][side]+1)&0xffffffff
    return conns,pings
class Bad(Exception): pass
def u(b,o,n):
    if o+n>len(b): raise Bad('short')
    return int.from_bytes(b[o:o+n],'little')
def z16(b,o,end):
    while o+2<=end:
        if b[o:o+2]==b'\0\0': return o+2
        o+=2
    raise Bad('no NUL')
def al(x,n=4): return (x+n-1)//n*n
def name(b,o,kind,start):
    if kind==0: return o,None
    if kind==1: return o+4,u(b,o,4)
    if kind==2: u(b,o,16); return o+16,b[o:o+16]
    if kind==3: u(b,o,20); return o+20,b[o:o+20]
    n=u(b,o,2); s=b[o+2:o+2+n]
    if n<2 or n%2 or len(s)!=n or s[-2:]!=b'\0\0': raise Bad('direct')
    if z16(s,0,n)!=n: raise Bad('direct nul')
    return start+al(o+2+n-start),s.decode('utf-16-le')[:-1]
def user(b,err):
    """b: packet of PacketSize bytes"""
    r={}; fl=u(b,2,2); uf=u(b,60,4); r['uf']=uf; r['src']=b[16:32]; r['mid']=u(b,56,4); r['sent']=u(b,52,4); r['dm']=uf>>5&3; r['addr']=b[32:48]; r['ttrq']=u(b,12,4)
    if not uf>>21&1: raise Bad('MP')
    if uf>>25&1: raise Bad('AH')
    if r['dm']>1: raise Bad('DM')
    if uf&31>29: err.append('hops')
    dq,aq,rq=uf>>10&7,uf>>13&7,uf>>16&7
    D={0:0,3:1,5:2,7:4}; Aq={0:0,2:1,3:1,5:2,6:3,7:4}; Rq={0:0,1:0,2:1,3:1,4:1,5:2,6:3,7:4}
    if dq not in D or aq not in Aq: raise Bad('type')
    o,r['dqn']=name(b,64,D[dq],16); o,r['aqn']=name(b,o,Aq[aq],16); o,r['rqn']=name(b,o,Rq[rq],16); r['dq'],r['aq'],r['rq']=dq,aq,rq
    if (dq==7)!=(r['addr']==bytes(16)): err.append('address')
    if uf>>22&1: u(b,o,16); o+=16
    if uf>>20&1:
        f=u(b,o,4); r['th']=(f,u(b,o+4,4),u(b,o+8,4),u(b,o+12,4),u(b,o+16,4)); o+=20
        if f&1: u(b,o,16); o+=16
        if fl&7: err.append('tx priority')
        if r['dm']!=1: err.append('tx express')
        if f>>24: err.append('tx bits')
    if uf>>19&1:
        f=u(b,o,2); z=[u(b,o+2,2),u(b,o+4,2),u(b,o+6,2),u(b,o+8,4),u(b,o+12,4)]; o+=16; r['sec']=(f,z); items=[]
        for n in z: u(b,o,n); items.append(b[o:o+n]); o=al(o+n)
        if o>len(b): raise Bad('sec')
        if not any(z): err.append('sec sizes')
        s=f&15
        if s>2 or f&16 or f>>8 or (s==0)!=(z[0]==0): err.append('sec flags')
        if s==1 and (z[0]<8 or items[0][0]!=1 or z[0]!=8+4*items[0][1]): err.append('sid')
        if s==2 and z[0]!=16: err.append('guid')
        if bool(f&128)!=any(z): err.append('AI')
        if z[3] and items[3][0]!=0x30: err.append('cert')
        if z[3]>65535: err.append('certsize')
        if f&64 and z[4] or not f&64 and z[2] and not z[4]: err.append('provider')
        if z[4] and (z[4]<6 or z[4]%2 or items[4][-2:]!=b'\0\0'): err.append('provname')
    p=o; mf=u(b,p,1); ll=u(b,p+1,1); r['cls']=u(b,p+2,2); r['corr']=b[p+4:p+24]; bt=u(b,p+24,4); ms=u(b,p+32,4); am=u(b,p+36,4); pv=u(b,p+40,4); ha=u(b,p+44,4); en=u(b,p+48,4); xs=u(b,p+52,4)
    r.update(mf=mf,bt=bt); o=p+56; lab=b[o:o+2*ll]; o+=2*ll
    if ll and (len(lab)!=2*ll or z16(lab,0,len(lab))!=2*ll or ll>250): raise Bad('label')
    r['label']=lab[:-2].decode('utf-16-le','replace'); o+=xs; r['body']=b[o:o+ms]; 
    if o+ms>len(b): raise Bad('body')
    o=p+al(o+ms-p) 
    if o>len(b): raise Bad('pad')
    if bt not in (0,1,2,3,11,16,17,18,19,20,21,31,65,72): err.append('bodytype')
    if pv not in (0,1,3,5) or ha not in (0x8001,0x8002,0x8003,0x8004,0x800c,0x800e) or en not in (0x6602,0x6610,0x660e,0x660f,0x6801): err.append('alg')
    if pv in(1,3) and en not in(0x6602,0x6801) or pv==5 and en not in(0x6610,0x660e,0x660f): err.append('alg by privacy')
    if pv and (en in(0x6610,0x660e,0x660f) and ms%16 or en==0x6602 and ms%8): err.append('cipher length')
    if bool(pv)!=bool(r.get('sec') and r['sec'][0]&32): err.append('EB')
    if am<ms or mf>>4: err.append('mph')
    if bool(mf)!=bool(aq): err.append('admin queue')
    if r['cls']&~0xE1FF: err.append('class')
    if rq in(1,4) and not aq: err.append('rq')
    if fl&0x20:
        f=u(b,o,2); q=f&3; o+=4
        if q>1 or f>>2 or u(b,o-2,2): err.append('debug')
        if q: u(b,o,16); o+=16
    elif fl&0x100: err.append('TR')
    if uf>>28&1:
        for i in (0x320,0x384):
            if u(b,o,2)!=i: raise Bad('soap')
            if u(b,o+2,2): err.append('soap reserved')
            n=u(b,o+4,4); o+=8
            if o+2*n>len(b) or n<1 or z16(b,o,o+2*n)!=o+2*n: raise Bad('soap string')
            o+=2*n
        o=al(o)
    if uf>>23&1:
        for i in (0x64,0xC8,0x12C):
            st=o; sz=u(b,o,4)
            if u(b,o+4,2)!=i: raise Bad('mqf id')
            if u(b,o+6,2): err.append('mqf reserved')
            if sz<12 or o+sz>len(b): raise Bad('mqf size')
            n=u(b,o+8,4); o+=12; names=[]
            for _ in range(n):
                k=u(b,o,2); o+=2
                if k in(1,2,6): o=st+al(o-st); ln={1:16,2:20,6:16}[k]; u(b,o,ln); names.append((k,b[o:o+ln])); o+=ln
                elif k==3: e=z16(b,o,st+sz); names.append((k,b[o:e-2].decode('utf-16-le'))); o=e
                else: raise Bad('element')
            if al(o)!=st+sz: raise Bad('mqf end')
            o=st+sz
            if i==0x64:
                own={3:(2,r['addr']+struct.pack('<I',r['dqn']) if dq==3 else 0),5:(1,r['dqn']),7:(3,r['dqn'])}[dq]
                if own not in names: err.append('own missing')
        if u(b,o,2)!=0x15e: raise Bad('mqf sign')
        if u(b,o+2,2): err.append('mqfs reserved')
        n=u(b,o+4,4); o+=8+al(n)
    if o!=len(b): raise Bad('rest %d'%(len(b)-o))
    if uf&0x80 or uf>>24&1 or uf>>26&3 or uf>>29: err.append('uf reserved')
    if fl&0xFEC8: err.append('bh reserved')
    return r
def read(path):
    """-> packets, errors"""
    conns,pings=streams(path); n=0; errs=[]; kinds=collections.Counter(); mids={}
    last={}
    for t,s,d,p in pings:
        n+=1; kinds['ping']+=1
        if len(p)!=32 or p[10:12]!=b'\x48\x55': errs.append('ping')
    for key,c in conns.items():
        buf=[b'',b'']; state=0; sent=[0,0]; rs=[0,0]; acked=[0,0]; ra=[0,0]; waiting=[None,None]; wrec=[None,None]; ec=None; cp=None; txs=[{},{}]; tlast={}
        def err(x,t): errs.append('%s @%.4f'%(x,t-c['t0']))
        dead=False
        for t,side,d in c['ev']:
            buf[side]+=d
            while not dead and len(buf[side])>=16:
                b=buf[side]; sz=u(b,8,4); fl=u(b,2,2)
                if b[0]!=0x10 or b[4:8]!=b'LIOR' or sz<20 or sz>0x400000: err('base',t); dead=True; break
                tot=sz+(16 if fl&16 and not fl&8 else 0)
                if len(b)<tot: break
                pk=b[:sz]; se=b[sz:tot]; buf[side]=b[tot:]; n+=1
                try:
                    if fl&8:
                        pt=u(pk,18,2)&15; cs=pk[18]>>4&1
                        if u(pk,12,4)!=0xffffffff or u(pk,16,2) or u(pk,18,2)>>5: err('internal',t)
                        if pt==2:
                            kinds['establish']+=1
                            if sz!=572: raise Bad('ec size')
                            if state==0 and side==0: 
                                ec=(t,pk)
                                if cs: err('cs',t)
                            elif state==1 and side==1:
                                q=ec[1]
                                if pk[20:36]!=q[20:36] or pk[52:56]!=q[52:56] or pk[56:58]!=q[56:58] or pk[60:]!=b'\x5a'*512: err('ec response',t)
                                if q[36:52]!=bytes(16) and pk[36:52]!=q[36:52] and not cs: err('ec server',t)
                                rtt=t-ec[0]
                            else: raise Bad('ec order')
                            if pk[56]!=0x10 or pk[57]>>3 or u(pk,58,2): err('os',t)
                            state+=1
                        elif pt==3:
                            kinds['parameters']+=1
                            if sz!=32: raise Bad('cp size')
                            if not (state==2 and side==0 or state==3 and side==1): raise Bad('cp order')
                            x=struct.unpack_from('<IIHH',pk,20)
                            if side==0:
                                cp=x
                                if abs(x[0]-min(max(rtt*8000,500),120000))>50: err('rtt',t)
                            elif x[:2]!=cp[:2]: err('cp resp',t)
                            if not(500<=x[0]<=120000 and 20000<=x[1]<=120000) or x[2] or cs: err('cp',t)
                            state+=1
                        elif pt==1:
                            kinds['ack']+=1
                            if sz!=36 or not fl&16: raise Bad('ack size')
                            if cs: err('cs',t)
                            if state!=4: raise Bad('ack order')
                            se=pk[20:]
                        else: raise Bad('pt')
                    else:
                        if state!=4: raise Bad('msg order')
                        e=[]; r=user(pk,e)
                        for x in e: err('user '+x,t)
                        sent[side]+=1; rs[side]+=r['dm']
                        if waiting[side] is None: waiting[side]=t
                        if r['dm'] and wrec[side] is None: wrec[side]=t
                        k='order' if r['cls']==0xff else 'final' if r['label']=='QM Ordering Ack' else 'adm' if r['cls'] in (2,0x4000) or r['corr'][:16]!=bytes(16) and r['cls']>=0x8000 and r['cls'] not in (0x8100,0xA010,0xE1F0) else 'msg'
                        kinds[k]+=1
                        if not t-700<r['sent']<t+1 or r['ttrq']+r['sent']<t: err('time',t)
                        idk=(r['src'],r['mid'])
                        con=(r['body'] if k=='msg' else None,r['label'],r['dqn'])
                        if idk in mids and mids[idk]!=con: err('mid',t)
                        mids[idk]=con
                        if k in('order','final'):
                            if fl or len(r['body'])!=36 or r['bt'] or r['mf']: err('ackpacket',t)
                            if r['uf']&~0x1c00!=(1<<21|(32 if k=='final' else 0)): err('ackflags %x'%r['uf'],t)
                            o_,ts,num,prev=struct.unpack_from('<IIII',r['body'])
                            got=txs[1-side].get((o_,ts))
                            if not got or num not in got: err('acks unknown',t)
                            elif k=='order':
                                if prev!=num-1: err('prev',t)
                                if t-got[num][0]<.5: err('order early',t)
                                got['acked']=max(got.get('acked',0),num)
                            elif (r['body'][16:32]!=got[num][1]['src'] or u(r['body'],32,4)!=got[num][1]['mid'] or prev!=got[num][1]['th'][4]): err('final',t)
                            if r['dq']==3 and r['dqn']!=4 or r['dq']==7 and not r['dqn'].startswith('TCP:'+'.'.join(map(str,key[0] if side==1 else key[2]))+'\\PRIVATE$\\order_queue$'): err('ack queue',t)
                        if 'th' in r:
                            f,o_,ts,num,prev=r['th']; g=txs[side].setdefault((o_,ts),{}); 
                            if prev!=num-1: err('tx prev',t)
                            if num in g and g[num][1]['mid']!=r['mid']: err('tx twice',t)
                            if num>1 and num-1 not in g: err('tx gap',t)
                            L=tlast.get(side)
                            if L and (o_,ts)!=L:
                                if (o_,ts)!=(L[0]+1,L[1]): err('next sequence',t)
                                pg=txs[side][L]; mx=max(x for x in pg if x!='acked')
                                if pg.get('acked',0)<mx: err('not all acked',t)
                            elif L and g.get('acked') and g['acked']>=max(x for x in g if x!='acked') and num not in g: err('continued',t)
                            tlast[side]=(o_,ts); g[num]=(t,r)
                    if se:
                        ak,rk,rf,us,rsn,wd,_=struct.unpack('<HHIHHHH',se); o=1-side
                        if ak!=sent[o]: err('ack %d of %d'%(ak,sent[o]),t)
                        if us!=sent[side] or rsn!=rs[side]: err('sent count',t)
                        if wd!=64: err('window',t)
                        nr=rs[o]-ra[o]
                        if (rk,rf)!=((ra[o]+1,(1<<nr)-1) if nr else (0,0)): err('rec ack',t)
                        if waiting[o] is None: err('nothing',t)
                        else:
                            lim=cp[1]/2000 if wrec[o] is None else cp[0]/1000; w0=waiting[o] if wrec[o] is None else wrec[o]
                            if t-w0>lim+.02: err('late %.3f'%(t-w0),t)
                            if not fl&8 and t-w0<.75*lim: err('early',t)
                        acked[o]=ak; ra[o]=rs[o]; waiting[o]=wrec[o]=None
                    if sent[side]-acked[side]>64: err('window over',t)
                except Bad as x: err('PARSE '+str(x),t); dead=True
        if not dead and (buf[0] or buf[1]): err('PARSE incomplete',t)
    return n,errs,kinds
if __name__=='__main__':
    R=os.path.dirname(os.path.abspath(__file__)); tot=0; K=collections.Counter(); bad=0
    for f in sorted(glob.glob(R+'/valid/*.pcap')):
        n,e,k=read(f); tot+=n; K+=k
        if e: bad+=1; print(os.path.basename(f),e[:4])
    print('valid',tot,dict(K),'files with errors',bad)
    rows=[json.loads(l) for l in open(R+'/mutations.jsonl')]; seen=parse=0; un=[]
    for r in rows:
        n,e,k=read(R+'/'+r['file'])
        if any('PARSE' in x or 'base' in x for x in e): parse+=1
        if e: seen+=1
        else: un.append(r['name'])
    print('mutations',len(rows),'this reader sees',seen,'do not parse',parse); print('unseen:',' '.join(un))
    if len(sys.argv)>1:
        for r in rows:
            print(r['name'],read(R+'/'+r['file'])[1][:3])
