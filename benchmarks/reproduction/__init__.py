"""The paper's experiments, and what became of them: one file each, and a report that sets claim beside measurement."""
