  ;; Has a large table, as compilers make for large programs, and does nothing wrong.

  (table $table 21160 funcref)

  (func (export "ringfence:tool/guest@0.1.0#call") (type $call)
    (drop (table.get $table (i32.const 21159)))
    (call $answer))
