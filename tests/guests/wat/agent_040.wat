  ;; Speaks version 0.4.0 of `near:agent`: the versions in this file are replaced when it is read.

  (import "near:agent/host@0.3.0" "now-millis" (func (result i64)))
