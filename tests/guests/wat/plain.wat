;; Adds two numbers, and knows nothing of any host.
(component
  (core module $m
    (func (export "add") (param i64 i64) (result i64) (i64.add (local.get 0) (local.get 1))))
  (core instance $i (instantiate $m))
  (func (export "add") (param "a" u64) (param "b" u64) (result u64) (canon lift (core func $i "add"))))
