  ;; Imports a function that the contract's `log` does not have.

  (import "ringfence:tool/log@0.1.0" "erase" (func $erase))

  (func (export "ringfence:tool/guest@0.1.0#call") (type $call)
    (call $erase)
    (call $answer))
