"""Kokoro's network for the CPU in C++: compiled for this machine once, kept below home(), loaded through ctypes.

Where no compiler is to be had the torch network in `models.families.kokoro.network` does the same work more slowly.
"""
