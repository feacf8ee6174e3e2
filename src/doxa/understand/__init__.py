"""understand: turn -> claims."""

from doxa.understand.disambiguate import Choice, Target, choose_senses, likely_pos, senses_of, senses_of_all
from doxa.understand.foreign import foreign_language
from doxa.understand.gate import weighed, worded
from doxa.understand.graphs import split_sentences, understand_graph
from doxa.understand.grounding import ground
from doxa.understand.identity import identify, of_world
from doxa.understand.known import Known, known_near
from doxa.understand.open_ie import open_propositions
from doxa.understand.parts import plans_of
from doxa.understand.prompted import Roles, extract_with_model, prompt_version
from doxa.understand.questions import find_question, read_question
from doxa.understand.relations import Mapped, RelationMapper
from doxa.understand.requests import LONGEST, Request, kept_words, request_of
from doxa.understand.teaching.head import Head, load_head, save_head, taught, taught_by
from doxa.understand.teaching.marks import append_marks, drop_marks, is_relation_name, read_marks, reseal_marks
from doxa.understand.teaching.teach import teach
from doxa.understand.teaching.unsure import lines_heard, unsure_of
from doxa.understand.turn import read_ahead, understand
from doxa.understand.values import Extraction, Statement, Understanding
from doxa.understand.variants import kind_of

__all__ = [
    "Known",
    "LONGEST",
    "Choice",
    "Extraction",
    "Head",
    "Mapped",
    "RelationMapper",
    "Request",
    "Roles",
    "Statement",
    "Target",
    "Understanding",
    "append_marks",
    "choose_senses",
    "drop_marks",
    "extract_with_model",
    "find_question",
    "foreign_language",
    "ground",
    "identify",
    "is_relation_name",
    "kept_words",
    "known_near",
    "kind_of",
    "likely_pos",
    "lines_heard",
    "load_head",
    "of_world",
    "open_propositions",
    "plans_of",
    "prompt_version",
    "read_ahead",
    "read_marks",
    "reseal_marks",
    "read_question",
    "request_of",
    "save_head",
    "senses_of",
    "senses_of_all",
    "split_sentences",
    "taught",
    "taught_by",
    "teach",
    "understand",
    "understand_graph",
    "unsure_of",
    "weighed",
    "worded",
]
