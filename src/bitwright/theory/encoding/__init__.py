"""From states to the examples they match, Eq. (5), and from examples to what they write, Eq. (6)."""
