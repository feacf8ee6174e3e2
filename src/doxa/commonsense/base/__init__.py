"""base: files of sentences -> a base of knowledge that is opened at once and walked by concepts."""

from doxa.commonsense.base.base import KnowledgeBase
from doxa.commonsense.base.build import build
from doxa.commonsense.base.files import Card, Rows, read_card

__all__ = ["Card", "KnowledgeBase", "Rows", "build", "read_card"]
