"""In Postgres: the tables of users' rows cut by user, and names in the order of code points."""

from alembic import context, op

from doxa.backends.store.partitions import cut

revision = "m006"
down_revision = "m005"

NAMES = {
    "events": ("scope varchar(400)", "turn_id varchar(400)"),
    "vectors": ("scope varchar(400)", "model varchar(200)"),
    "answers": ("scope varchar(400)", "answer_id varchar(64)"),
    "records": ("scope varchar(400)", "shelf varchar(64)", "key varchar(400)", "turn_id varchar(400)"),
    "heads": ("scope varchar(400)",),
    "keys": ("key_id varchar(64)",),
}
"""Columns that are compared byte by byte: prefixes are found by an index, and no update of a locale spoils one."""


def upgrade() -> None:
    """Cut the tables, with what they hold; SQLite's stay as they are."""
    connection = op.get_bind()
    if connection.dialect.name != "postgresql":
        return
    for table, columns in NAMES.items():
        changes = []
        for column in columns:
            name, kind = column.split()
            changes.append(f'ALTER COLUMN {name} TYPE {kind} COLLATE "C"')
        connection.exec_driver_sql(f"ALTER TABLE {table} {', '.join(changes)}")
        if table != "keys":  # belongs to no user
            cut(connection, table, context.config.attributes["partitions"])
