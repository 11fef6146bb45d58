  ;; A tool of `near:agent` for a host that can do more.

  (import "near:agent/host@0.3.0" "nostr-sign-event" (func (param i32 i32 i32)))
