import mutlib
for x in ('mut_a', 'mut_b', 'mut_i', 'mut_s'):
    try: __import__(x)
    except ModuleNotFoundError as e:
        if e.name != x: raise
mutlib.flush(); print(len(mutlib.ROWS))
