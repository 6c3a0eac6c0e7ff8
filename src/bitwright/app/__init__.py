"""From what a person names to what is run: an algorithm, K, the range of n, a rounding and an engine.

The command line, the web page and the studies use this and nothing of their own.
"""
