"""Graphs: nodes, layouts, and the checked constructors that make them."""
