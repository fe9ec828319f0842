"""What was asked: nodes, layouts, and the checked constructors that make them."""
