"""Measurements behind tables of the report and the site that take a machine of their own, or hours."""
