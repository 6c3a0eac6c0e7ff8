def collatz(n):
    """How many Collatz steps lead from n, 1 or more, to 1; at 8 bits n up to 14, for 3n + 1 must stay below 128."""
    steps = 0
    while n != 1:
        half = 0
        rest = n
        while rest > 1:
            rest -= 2
            half += 1
        if rest == 0:
            n = half
        else:
            n += 2 * n + 1
        steps += 1
    return steps
