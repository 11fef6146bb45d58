-- Version 6 of the schema. Never edited: a change is a new file beside this one.

-- What tools keep is also apart for each signer: `signer` is the id of the key, or `unsigned/` and whom the package names
-- as its publisher. What is there already is that of the package that is installed, which has seen it so far.
ALTER TABLE tool_state RENAME TO tool_state_of_any_signer;
CREATE TABLE tool_state (
    source  TEXT NOT NULL,
    signer  TEXT NOT NULL,
    package TEXT NOT NULL,
    user    TEXT NOT NULL,
    key     TEXT NOT NULL,
    value   BLOB NOT NULL,
    PRIMARY KEY (source, signer, package, user, key)
) STRICT, WITHOUT ROWID;
INSERT INTO tool_state
    SELECT source, coalesce(key_id, 'unsigned/' || publisher), package, user, key, value
    FROM tool_state_of_any_signer JOIN installed USING (source);
DROP TABLE tool_state_of_any_signer;
