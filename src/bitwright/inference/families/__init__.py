"""Infers a program for every size from executions at a few sizes."""
