"""Node programs, whose rules every node of a graph runs, and the graphs that they run on."""
