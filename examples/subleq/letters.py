"""Sorts the characters of its input, up to 80 of them, by bubble sort, and prints them."""
# ruff: noqa: F821  (put and get belong to the small language)


def sort(a: list[int], n):
    while n > 1:
        i = 1
        while i < n:
            if a[i - 1] > a[i]:
                higher = a[i - 1]
                a[i - 1] = a[i]
                a[i] = higher
            i += 1
        n -= 1


def letters():
    text = [0] * 80
    n = 0
    c = get()
    while c >= 0 and n < len(text):
        text[n] = c
        n += 1
        c = get()
    sort(text, n)
    i = 0
    while i < n:
        put(text[i])
        i += 1
