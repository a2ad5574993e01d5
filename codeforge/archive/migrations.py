"""The database's schema, as migrations by name. A migration that was released never changes: add another.

Imports sqlite-utils at the top: import this module inside functions.
"""

from sqlite_utils import Database, Migrations

MIGRATIONS_TABLE = "_migrations"

migrations = Migrations("codeforge")
migrations.migrations_table = MIGRATIONS_TABLE


def _first(db: Database) -> None:
    for statement in _FIRST:
        db.execute(statement)


# Bodies are canonical JSON, stored once under their SHA-256. A candidate's row shows its newest state; the
# whole record is the payload of the step `step_seq`, so that the chain covers it.
_FIRST = (
    """
    CREATE TABLE sessions (
        id TEXT PRIMARY KEY,
        command TEXT NOT NULL,
        repo TEXT NOT NULL,
        base_commit TEXT NOT NULL,
        task TEXT NOT NULL,
        model TEXT NOT NULL,
        versions TEXT NOT NULL,
        status TEXT NOT NULL,
        summary TEXT NOT NULL,
        started_at TEXT NOT NULL,
        finished_at TEXT,
        parent_session TEXT,
        forked_at_seq INTEGER,
        owner TEXT NOT NULL,
        last_seq INTEGER NOT NULL,
        last_hash TEXT NOT NULL,
        last_at TEXT NOT NULL
    )
    """,
    "CREATE INDEX sessions_repo ON sessions (repo, id)",
    "CREATE TABLE messages (hash TEXT PRIMARY KEY, body TEXT NOT NULL)",
    "CREATE TABLE payloads (hash TEXT PRIMARY KEY, body TEXT NOT NULL)",
    """
    CREATE TABLE steps (
        session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
        seq INTEGER NOT NULL,
        kind TEXT NOT NULL,
        content_hash TEXT NOT NULL REFERENCES payloads (hash),
        elapsed_s REAL NOT NULL,
        tokens TEXT NOT NULL,
        at TEXT NOT NULL,
        hash TEXT NOT NULL,
        PRIMARY KEY (session_id, seq)
    )
    """,
    """
    CREATE TABLE session_messages (
        session_id TEXT NOT NULL,
        seq INTEGER NOT NULL,
        step_seq INTEGER NOT NULL,
        message_hash TEXT NOT NULL REFERENCES messages (hash),
        PRIMARY KEY (session_id, seq),
        FOREIGN KEY (session_id, step_seq) REFERENCES steps (session_id, seq) ON DELETE CASCADE
    )
    """,
    """
    CREATE TABLE candidates (
        session_id TEXT NOT NULL,
        id TEXT NOT NULL,
        parent_id TEXT,
        status TEXT NOT NULL,
        reward_total REAL,
        first_seq INTEGER NOT NULL,
        step_seq INTEGER NOT NULL,
        content_hash TEXT NOT NULL REFERENCES payloads (hash),
        PRIMARY KEY (session_id, id),
        FOREIGN KEY (session_id, step_seq) REFERENCES steps (session_id, seq) ON DELETE CASCADE
    )
    """,
    """
    CREATE TABLE versions (
        kind TEXT NOT NULL,
        version TEXT NOT NULL,
        first_session TEXT NOT NULL,
        first_seen_at TEXT NOT NULL,
        PRIMARY KEY (kind, version)
    )
    """,
)

_IN_ORDER = (("0001_sessions_messages_steps_candidates_versions", _first),)
NAMES = frozenset(name for name, _ in _IN_ORDER)

for _name, _function in _IN_ORDER:
    migrations(name=_name)(_function)
