"""The command line behind start.sh: setup, say, serve."""
