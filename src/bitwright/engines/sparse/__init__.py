"""One long run of a large program: compiled loops that look only at what moves."""
