"""One benchmark a module: its docstring's first line is its help, `run(options)` its work (see `benchmarks.common`)."""
