-- Version 2 of the schema. Never edited: a change is a new file beside this one.

-- What tools keep between calls. `package` is what the package calls itself; `user` is JSON, a string or null. The rows
-- of a source go with its row in `installed`, but not when an update replaces that row.
CREATE TABLE tool_state (
    source  TEXT NOT NULL,
    package TEXT NOT NULL,
    user    TEXT NOT NULL,
    key     TEXT NOT NULL,
    value   BLOB NOT NULL,
    PRIMARY KEY (source, package, user, key)
) STRICT, WITHOUT ROWID;
