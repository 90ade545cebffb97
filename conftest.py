"""`pytest --nbval FILE` compares every notebook of the course with tolerance, wherever it lies."""

pytest_plugins = ["block_course.outputs.plugin"]
