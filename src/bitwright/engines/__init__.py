"""Engines: each answers one question, "given these states, what comes next?"."""
