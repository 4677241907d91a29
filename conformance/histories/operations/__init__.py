"""Everything the harness knows of a call outside the model: one `Operation` a method, one file a family of methods."""
