-- Version 4 of the schema. Never edited: a change is a new file beside this one.

-- To whose package the grant of a source was given. `key_id` is NULL where that was unsigned; then `publisher` tells
-- whose it claimed to be. The row outlives the package, as the operator's file does.
CREATE TABLE grant_holder (
    source    TEXT PRIMARY KEY NOT NULL,
    key_id    TEXT,
    publisher TEXT NOT NULL
) STRICT, WITHOUT ROWID;
