"""The grader: a trusted side that judges, a box that runs learners' code, and only bytes between them."""
