"""Files that are complete or absent, append-only files, and the one reader of every JSON document we write."""
