"""Write the captures with one mistake each."""
import runmut
