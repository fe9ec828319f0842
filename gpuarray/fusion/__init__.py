"""Plans: simplification of graphs, and grouping of their nodes into steps."""
