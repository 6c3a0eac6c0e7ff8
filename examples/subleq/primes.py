"""The sieve of Eratosthenes: prints the primes up to a limit, at most 299, and returns how many there are."""

MOST = 299


def cross_out(composite: list[int], n, limit):
    multiple = n * n
    while multiple <= limit:
        composite[multiple] = 1
        multiple += n


def primes(limit):
    composite = [0] * (MOST + 1)
    if limit > MOST:
        limit = MOST
    count = 0
    n = 2
    while n <= limit:
        if composite[n] == 0:
            print(n)
            count += 1
            if n <= limit // n:
                cross_out(composite, n, limit)
        n += 1
    return count
