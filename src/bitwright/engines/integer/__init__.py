"""Integer networks at work: the same sums in NumPy and on a device, to the last bit."""
