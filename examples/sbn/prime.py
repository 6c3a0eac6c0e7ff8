def prime(n):
    """1 if n is a prime number, else 0, by trial division; at 8 bits n from 0 to 127."""
    found = 0
    divisor = 2
    while divisor < n:
        rest = n
        while rest >= divisor:
            rest -= divisor
        if rest == 0:
            break
        divisor += 1
    if divisor == n:
        found = 1
    return found
