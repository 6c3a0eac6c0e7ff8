"""`bitwright serve`: a local page to write, run and look at programs. The work is done in processes of its own."""
