  ;; The rest of a guest that is written by hand: what the canonical ABI wants beside the function `call`. A guest
  ;; can give back `(call $answer)`, an output that is the text `7`.

  (type $call (func
    (param $name i32) (param $name_length i32)
    (param $parameters i32) (param $parameters_length i32)
    (param $id i32) (param $id_length i32)
    (param $deadline i64) (param $max_result i64)
    (result i32)))

  (memory (export "memory") 2)

  ;; Strings for the guest are put behind the first page, and none is ever moved.
  (global $free (mut i32) (i32.const 65536))
  (func (export "cabi_realloc") (param $old i32) (param $old_size i32) (param $align i32) (param $size i32) (result i32)
    (global.get $free)
    (global.set $free
      (i32.and (i32.add (i32.add (global.get $free) (local.get $size)) (i32.const 7)) (i32.const -8))))

  ;; A list of one definition, of which all but name, description and parameters is zero: absent, empty or false.
  (data (i32.const 16) "run")
  (data (i32.const 32) "Written by hand.")
  (data (i32.const 64) "{\"type\":\"object\",\"properties\":{}}")
  (data (i32.const 128) "\90\00\00\00\01\00\00\00")
  (data (i32.const 144) "\10\00\00\00\03\00\00\00")
  (data (i32.const 164) "\20\00\00\00\10\00\00\00\40\00\00\00\21\00\00\00")
  (func (export "ringfence:tool/guest@0.1.0#definitions") (result i32)
    (i32.const 128))

  ;; The result of a call, at 512: ok, with the address and the length of its content at 520 and 524. The content, at
  ;; 640: a text, with its address at 644 and its length at 648.
  (data (i32.const 500) "7")
  (func $answer (result i32)
    (i32.store (i32.const 520) (i32.const 640))
    (i32.store (i32.const 524) (i32.const 1))
    (i32.store (i32.const 644) (i32.const 500))
    (i32.store (i32.const 648) (i32.const 1))
    (i32.const 512))
