"""Steps from a table of answers: what every local state of a cell sets, whoever gave the answers."""
