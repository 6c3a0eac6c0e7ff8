"""Boxes and arrows in layers: where boxes stand and how arrows run between them."""
