"""Guest kernels: recipe, source, cache and build; and what a kernel of this machine does."""
