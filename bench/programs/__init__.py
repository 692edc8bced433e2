"""The programs that are measured, each written once for both libraries.

A function takes a library, builds what it needs, and returns the work to be measured.
"""
