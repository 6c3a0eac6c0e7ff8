def gcd(a, b):
    """Greatest common divisor of two numbers, 1 or more, by repeated subtraction; at 8 bits up to 127."""
    while a != b:
        if a < b:
            b -= a
        else:
            a -= b
    return a
