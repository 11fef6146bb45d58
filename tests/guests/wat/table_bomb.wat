  ;; Makes its table grow until it may not.

  (import "ringfence:tool/progress@0.1.0" "report" (func $report (param f64 i32 f64 i32 i32 i32)))

  (table $table 1 funcref)

  (func (export "ringfence:tool/guest@0.1.0#call") (type $call)
    (drop (table.grow $table (ref.null func) (i32.const 65536)))
    (call $report (f64.const 0) (i32.const 0) (f64.const 0) (i32.const 0) (i32.const 0) (i32.const 0))
    (loop $grow
      (br_if $grow (i32.ne (table.grow $table (ref.null func) (i32.const 65536)) (i32.const -1))))
    unreachable)
