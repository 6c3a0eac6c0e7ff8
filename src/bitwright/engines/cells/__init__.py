"""One small network in every cell of a program: it runs the program at any size."""
