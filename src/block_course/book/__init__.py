"""Extensions of Sphinx that the book is built with. They know Sphinx and nothing of the course."""
