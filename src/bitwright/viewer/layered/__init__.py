"""Boxes and arrows in layers: where boxes stand and how arrows run between them."""

from bitwright.viewer.layered.drawing import Drawing, Layout, draw
from bitwright.viewer.layered.svg import drawing_svg

__all__ = ["Drawing", "Layout", "draw", "drawing_svg"]
