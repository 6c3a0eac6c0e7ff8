"""The service layer, one file per task: open, run, train, certify, validate, size, export, infer.

Python programs, the command line and the local page call these functions, so that all three give the same results.
"""
