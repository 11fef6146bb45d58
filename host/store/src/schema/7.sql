-- Version 7 of the schema. Never edited: a change is a new file beside this one.

-- Which key took the place of which, by a statement that the old one signed. The statement is kept: it is the reason.
CREATE TABLE rotation (
    old_key_id TEXT PRIMARY KEY,
    new_key_id TEXT NOT NULL,
    statement  TEXT NOT NULL,
    signature  TEXT NOT NULL,
    taken_at   INTEGER NOT NULL
) STRICT;
