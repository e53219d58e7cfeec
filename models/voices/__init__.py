"""Voices people bring: reference clips and what is kept of them."""
