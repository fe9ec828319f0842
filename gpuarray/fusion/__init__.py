"""How what was asked becomes launches: simplification, grouping into steps, and plans."""
