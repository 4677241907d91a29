"""The rules of connections as compiled code: what is usual is proven usual, everything else goes to the rules."""
