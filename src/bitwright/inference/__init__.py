"""Templates from executions: what states and their successors confirm, clear, or leave open."""
