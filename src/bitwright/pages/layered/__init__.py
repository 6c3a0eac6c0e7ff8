"""Boxes and arrows in layers: where boxes stand and how arrows run between them."""

from bitwright.pages.layered.drawing import Drawing, draw, drawing_svg

__all__ = ["Drawing", "draw", "drawing_svg"]
