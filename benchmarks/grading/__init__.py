"""The grader beside `nbgrader autograde`: time, memory, kills, a gallery of cheats; each with its bound."""
