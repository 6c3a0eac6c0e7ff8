"""The infinitely wide network: kernels, mean and variance of the limit, roundings, ensemble sizes."""
