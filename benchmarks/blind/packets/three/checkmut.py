import io, sys, contextlib, json, os, shutil, tempfile, check
src = open('check2.py').read().replace('run(sys.argv[1])', ''); ns = {}
sys.argv = ['x', '/nonexistent']
exec(compile(src, 'check2', 'exec'), ns)
miss = []
for m in json.load(open('mutations.json')):
    d = tempfile.mkdtemp(); shutil.copy(m['file'], d); b = io.StringIO(); det = False
    with contextlib.redirect_stdout(b):
        try: check.main(d)
        except Exception: det = True
        try: ns['run'](d)
        except Exception: det = True
    o = b.getvalue()
    lines = [l for l in o.splitlines() if not l.startswith('{')]
    lines = [l for l in lines if not l.rstrip().endswith('unacked 139') and 'unacked' not in l]
    if not det and not lines: miss.append(m['name'])
    shutil.rmtree(d)
print(len(miss)); print(miss)
