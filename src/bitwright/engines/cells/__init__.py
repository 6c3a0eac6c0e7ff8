"""One small network in every cell of a program: it runs every program made of its kinds of cells."""
