"""Options of earlier versions, and what to give instead: a command that is given one says so in one line."""

INSTEAD = {
    "--accuracy": "validate --network FOLDER counts how often the average of its networks is wrong",
    "--basis-seed": "no basis changes the limit, so templates are unit vectors",
    "--cell": "train on the rule file of -o, which gives a network of its cells",
    "--cells": "give --tile 1",
    "--coefficients": "in Python there is infer(..., coefficients=2)",
    "--counter": "bitwright run examples/addition-counter.bw",
    "--ensemble": "train --networks keeps the networks in a folder, and run --network averages them",
    "--force": "delete the files, or name another folder",
    "--list": "bitwright examples --json says what each file is about",
    "--neighbourhood": "in Python there is infer(..., neighbourhood='von-neumann')",
    "--offsets": "in Python there is infer(..., offsets=2)",
    "--ones": "name the inputs, or take all of them with validate",
    "--open": "open the address that it prints",
    "--oracle-arrays": "give --oracle arrays:MODULE:FUNCTION",
    "--scope": "give --domain input, inputs or runs",
    "--unmasked": "in Python there is size(..., unmasked=True)",
    "--unsliced": "--evaluate takes every step by itself, and Python has validate(..., unsliced=True)",
    "--verify": "bitwright cache always reads every entry",
    "--vnnlib-version": "in Python there is export(..., vnnlib_version='2.0')",
    "--whole": "give --tile all",
}
