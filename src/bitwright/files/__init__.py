"""Files that are complete or not there, files that only grow, and the one reader of every JSON document we write."""
