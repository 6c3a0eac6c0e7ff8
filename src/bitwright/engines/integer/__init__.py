"""Integer networks at work: the same sums in NumPy, in compiled loops and on a device, to the last bit."""
