"""What the rules compute, proved for numbers of every length: chains of positions, laws, windows and a clock."""
