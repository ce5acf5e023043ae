"""C as text and syntax tree: preprocessing, parsing, names, printing."""
