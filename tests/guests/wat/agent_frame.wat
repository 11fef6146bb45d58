  ;; What a component of `near:agent` exports. None of it is ever called.

  (memory (export "memory") 1)
  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (unreachable))
  (func (export "near:agent/tool@0.3.0#execute") (param i32 i32 i32 i32 i32) (result i32) (unreachable))
  (func (export "near:agent/tool@0.3.0#schema") (result i32) (unreachable))
  (func (export "near:agent/tool@0.3.0#description") (result i32) (unreachable))
