"""wiring: config -> parts, the only place that names the implementations."""
