"""`make fuzz`: what reads bytes that nobody vouches for, searched by coverage. Needs atheris; see wire.py."""
