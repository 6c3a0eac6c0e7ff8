"""Shared helpers for every other package: errors, files, workers and bits."""
