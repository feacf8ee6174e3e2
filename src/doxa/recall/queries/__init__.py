"""queries: text + running dialogue -> query."""
