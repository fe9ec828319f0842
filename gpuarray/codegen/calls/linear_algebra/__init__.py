"""Factorisations of matrices: a panel of columns at a time, and products for the columns right of it."""
