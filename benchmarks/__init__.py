"""Side-by-side measurements, each a command: `python -m benchmarks NAME`."""
