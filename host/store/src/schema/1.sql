-- Version 1 of the schema. Never edited: a change is a new file beside this one.

-- What is installed. `signature` is the text of the minisign file, NULL for an unsigned package; it stands in the row
-- so that it can never belong to another version than the row does. `manifest` is the manifest as the package holds it.
CREATE TABLE installed (
    source           TEXT PRIMARY KEY,
    version          TEXT NOT NULL,
    publisher        TEXT NOT NULL,
    digest           TEXT NOT NULL,
    key_id           TEXT,
    signature        TEXT,
    effects_accepted INTEGER NOT NULL,
    installed_at     INTEGER NOT NULL,
    manifest         TEXT NOT NULL,
    CHECK ((key_id IS NULL) = (signature IS NULL))
) STRICT;

-- The highest version that a source ever had, and who signed it. Kept when the tool is removed.
CREATE TABLE pin (
    source    TEXT PRIMARY KEY,
    version   TEXT NOT NULL,
    digest    TEXT NOT NULL,
    publisher TEXT NOT NULL,
    key_id    TEXT
) STRICT;

-- Whose signatures count, and for which sources: a JSON array of patterns.
CREATE TABLE trusted_key (
    key_id         TEXT PRIMARY KEY,
    public_key     TEXT NOT NULL,
    publisher      TEXT NOT NULL,
    sources        TEXT NOT NULL,
    added_at       INTEGER NOT NULL,
    revoked_at     INTEGER,
    revoked_reason TEXT,
    CHECK ((revoked_at IS NULL) = (revoked_reason IS NULL))
) STRICT;

-- How full the hour buckets were. `caller` is JSON.
CREATE TABLE rate_bucket (
    caller   TEXT NOT NULL,
    source   TEXT NOT NULL,
    tool     TEXT NOT NULL,
    minute_empty_at INTEGER NOT NULL,
    hour_empty_at INTEGER NOT NULL,
    PRIMARY KEY (caller, source, tool)
) STRICT, WITHOUT ROWID;
