"""Write the valid captures."""
import runpy
runpy.run_path("valid.py", run_name="__main__")
