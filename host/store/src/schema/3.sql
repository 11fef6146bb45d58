-- Version 3 of the schema. Never edited: a change is a new file beside this one.

-- Where the package came from, as `ringfence install` takes it; NULL where that is not known.
ALTER TABLE installed ADD COLUMN location TEXT;
