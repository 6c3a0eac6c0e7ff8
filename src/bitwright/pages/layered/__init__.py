"""Boxes and arrows in layers: where boxes stand and how arrows run between them."""

from bitwright.pages.layered.drawing import Drawing, draw
from bitwright.pages.layered.svg import drawing_svg

__all__ = ["Drawing", "draw", "drawing_svg"]
