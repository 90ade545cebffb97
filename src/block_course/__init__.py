"""The machinery of the course: checks, release and grading. Importing the package imports none of them."""
