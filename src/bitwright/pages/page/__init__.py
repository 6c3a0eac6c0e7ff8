"""A recorded run as one HTML page that works offline in any current browser."""

from bitwright.pages.page.page import run_title, trace_page

__all__ = ["run_title", "trace_page"]
