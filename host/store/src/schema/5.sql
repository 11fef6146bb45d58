-- Version 5 of the schema. Never edited: a change is a new file beside this one.

-- The place in the audit log up to which the calls are in `rate_bucket`. One row, or none before the first save.
CREATE TABLE rates_counted (place INTEGER NOT NULL) STRICT;
