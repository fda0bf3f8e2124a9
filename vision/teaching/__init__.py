"""From photographs of the owner's own pieces to lessons, and reading the table with them."""
