"""Contracts to run on any block: what holds, what is broken, and which fault it is."""

from transformer_block.audit.facts import Facts
from transformer_block.audit.report import Fault, Report, Row
from transformer_block.audit.running import audit

__all__ = ["Facts", "Fault", "Report", "Row", "audit"]
