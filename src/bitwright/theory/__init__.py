"""The infinitely wide network: kernels, mean and variance of the limit, rounding rules and ensemble sizes."""
