"""A recorded run as one HTML page that works offline in any current browser."""

from bitwright.viewer.page.page import trace_page

__all__ = ["trace_page"]
