"""Counts of people who do not exist: a population drawn to fit noisy margins of the true one, and nothing else."""
