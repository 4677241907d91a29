import mutlist, mut
try:
    import mutlist2
except ImportError: pass
try:
    import mutlist3
except ImportError: pass
mut.run()
