"""Programs that write generated modules, data and pages of this project; they are not part of the installed package.

`docs/contributing.md` lists them.
"""
