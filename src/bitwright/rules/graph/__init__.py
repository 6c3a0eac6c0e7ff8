"""Node programs: rules that every node of a graph runs, and the graphs they run on."""
