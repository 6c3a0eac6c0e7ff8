"""One long run of a large program by the sign rule: a compiled loop that looks only at what moves."""
