"""Options of earlier versions, and what to give instead: a command that is given one says so in one line."""

INSTEAD = {
    "--cells": "give --tile 1",
    "--list": "bitwright examples --json says what each file is about",
    "--oracle-arrays": "give --oracle arrays:MODULE:FUNCTION",
    "--scope": "give --domain input, inputs or runs",
    "--unmasked": "in Python there is size(..., unmasked=True)",
    "--unsliced": "--evaluate takes every step by itself, and Python has validate(..., unsliced=True)",
    "--verify": "bitwright cache always reads every entry",
    "--whole": "give --tile all",
}
