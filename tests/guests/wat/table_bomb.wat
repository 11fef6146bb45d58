  ;; Makes its table grow until it may not.

  (table $table 1 funcref)

  (func (export "ringfence:tool/guest@0.1.0#call") (type $call)
    (loop $grow
      (br_if $grow (i32.ne (table.grow $table (ref.null func) (i32.const 65536)) (i32.const -1))))
    unreachable)
