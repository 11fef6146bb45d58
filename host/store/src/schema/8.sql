-- Version 8 of the schema. Never edited: a change is a new file beside this one.

-- How full the buckets of the rates were at a moment, in nanoseconds until they are empty, and that moment: `place` is
-- the one in the audit log up to which calls are in the buckets, `wall` are milliseconds since the Unix epoch, `uptime`
-- nanoseconds since the start `boot` of the machine. What was kept before, by the clock that can be set, is counted again
-- from the audit log.
DROP TABLE rates_counted;
CREATE TABLE rates_saved (
    place  INTEGER NOT NULL,
    wall   INTEGER NOT NULL,
    boot   TEXT,
    uptime INTEGER,
    CHECK ((boot IS NULL) = (uptime IS NULL))
) STRICT;
DROP TABLE rate_bucket;
CREATE TABLE rate_bucket (
    caller      TEXT NOT NULL,
    source      TEXT NOT NULL,
    tool        TEXT NOT NULL,
    minute_left INTEGER NOT NULL,
    hour_left   INTEGER NOT NULL,
    PRIMARY KEY (caller, source, tool)
) STRICT, WITHOUT ROWID;
