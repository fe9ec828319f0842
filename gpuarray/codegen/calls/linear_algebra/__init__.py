"""Factorisations of matrices: a panel of columns at a time, and products for what is right of it."""
