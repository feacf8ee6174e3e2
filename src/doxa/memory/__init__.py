"""memory: events -> state.

The only package that holds a store: it appends events, folds them into one state per user, and keeps the
states that are in use loaded.
"""

from doxa.memory.beliefs import Beliefs, is_name
from doxa.memory.codec import (
    Codec,
    Named,
    change_from,
    promotion_from,
    promotion_to,
    rule_from,
    rule_to,
    turn_from,
)
from doxa.memory.columns import Columns, grown, microseconds
from doxa.memory.dimensions import dimension_of, measures
from doxa.memory.events import (
    BY_CLAIMS,
    EVENTS,
    Accepted,
    Annotated,
    Demoted,
    Distrusted,
    Event,
    FeedbackGiven,
    Identified,
    Maintained,
    Promoted,
    Retracted,
    Revision,
    SetAside,
    Tasked,
    TaskEvent,
    Undone,
    Withdrawal,
    Withdrawn,
    event_of,
)
from doxa.memory.files import digest, drop_unfinished, load_arrays, replacing, save_arrays
from doxa.memory.fitting import require_types
from doxa.memory.forest import TaskForest
from doxa.memory.identity import SAME_AS, is_identity, pair_of
from doxa.memory.kin import FRESH, KIN, PET, kin_of, sex_of
from doxa.memory.lexical import MAX_TERM
from doxa.memory.log import MemoryLog, fold_row, turn_of
from doxa.memory.mentions import MentionIndex, Tie, key_of, mention_index
from doxa.memory.names import MOST_CANDIDATES, Name, NameIndex, fold, full_forms
from doxa.memory.ontology import (
    RelationType,
    addressing,
    answered_by,
    attribute,
    describe,
    inflected,
    inventory,
    is_tie,
    kinds_of,
    relation_names,
    relation_type,
    using,
    verb_type,
)
from doxa.memory.paged import Form, Keys, Lists, Pack, PackWriter, Records, Table, joined
from doxa.memory.passages import encoded_texts
from doxa.memory.predicates import PredicateIndex, predicate_of
from doxa.memory.promotions import LEAST_SUPPORT, Promotions, live_support, promotion_id, standing
from doxa.memory.rules import describe_rule, in_force, rule_id
from doxa.memory.slots import Slot, fact_id, slot_of
from doxa.memory.snapshots import Snapshots
from doxa.memory.state import Kept, Note, UserState
from doxa.memory.taskcodec import commit_from, commit_to
from doxa.memory.tasktree import TaskTree, place_of
from doxa.memory.validity import held_on, is_current, turning_day
from doxa.memory.vectors import VectorMatrix

__all__ = [
    "digest",
    "load_arrays",
    "drop_unfinished",
    "replacing",
    "require_types",
    "save_arrays",
    "Codec",
    "Named",
    "BY_CLAIMS",
    "Accepted",
    "Annotated",
    "Beliefs",
    "Columns",
    "Demoted",
    "Distrusted",
    "EVENTS",
    "Event",
    "FRESH",
    "FeedbackGiven",
    "Identified",
    "KIN",
    "LEAST_SUPPORT",
    "MAX_TERM",
    "MOST_CANDIDATES",
    "Maintained",
    "MemoryLog",
    "Tie",
    "MentionIndex",
    "Name",
    "NameIndex",
    "Note",
    "PET",
    "PredicateIndex",
    "Promoted",
    "Promotions",
    "RelationType",
    "Retracted",
    "Revision",
    "SetAside",
    "SAME_AS",
    "Kept",
    "Snapshots",
    "Slot",
    "TaskEvent",
    "TaskForest",
    "TaskTree",
    "Tasked",
    "Undone",
    "UserState",
    "VectorMatrix",
    "Withdrawal",
    "Withdrawn",
    "answered_by",
    "attribute",
    "change_from",
    "commit_from",
    "commit_to",
    "addressing",
    "describe",
    "dimension_of",
    "describe_rule",
    "encoded_texts",
    "event_of",
    "fact_id",
    "fold",
    "fold_row",
    "full_forms",
    "grown",
    "held_on",
    "in_force",
    "inflected",
    "inventory",
    "is_current",
    "is_identity",
    "is_name",
    "is_tie",
    "joined",
    "key_of",
    "mention_index",
    "kin_of",
    "kinds_of",
    "live_support",
    "measures",
    "microseconds",
    "pair_of",
    "place_of",
    "predicate_of",
    "promotion_from",
    "promotion_id",
    "promotion_to",
    "relation_names",
    "relation_type",
    "rule_from",
    "rule_id",
    "rule_to",
    "sex_of",
    "slot_of",
    "standing",
    "turn_from",
    "turn_of",
    "turning_day",
    "using",
    "verb_type",
    "Form",
    "Keys",
    "Lists",
    "Pack",
    "PackWriter",
    "Records",
    "Table",
]
