"""Branch and cut: presolve, valid inequalities, separation, master problem, tree."""
