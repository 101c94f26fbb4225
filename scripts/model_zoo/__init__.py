"""Makers of the models that scripts/make_models.py writes, a file per kind of network."""
