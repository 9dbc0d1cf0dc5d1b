// The tile dialect: one operation per whole-tile action of a workgroup.
//
// Layouts are text in the notation of tilefold-layout. Thread-value layouts map (thread of the
// workgroup, value) to the column-major index of an element in the operand's block tile; LDS
// layouts map block-tile coordinates to elements from the start of one buffer.
//
// A constraint that two names shared would say that their values are equal, so that each
// operand, result and attribute has its own.
irdl.dialect @tile {
  // A whole matrix in global memory.
  irdl.type @matrix
  // The block tile of one operand in the local data share, in one or more buffers.
  irdl.type @shared
  // A block tile on its way from global memory to LDS, in VGPRs.
  irdl.type @staged
  // The accumulators of a workgroup's tile of C, in VGPRs.
  irdl.type @accumulator

  // The whole problem, C = A x B, before anything is decided.
  irdl.operation @gemm {
    %a = irdl.any
    %b = irdl.any
    %c = irdl.any
    %m = irdl.is i32
    %n = irdl.is i32
    %k = irdl.is i32
    %lda = irdl.is i32
    %ldb = irdl.is i32
    %ldc = irdl.is i32
    %a_order = irdl.base "#builtin.string"
    %b_order = irdl.base "#builtin.string"
    %c_order = irdl.base "#builtin.string"
    %a_element = irdl.base "#builtin.string"
    %b_element = irdl.base "#builtin.string"
    %c_element = irdl.base "#builtin.string"
    %accumulate = irdl.base "#builtin.string"
    irdl.operands(a: %a, b: %b, c: %c, m: %m, n: %n, k: %k, lda: %lda, ldb: %ldb, ldc: %ldc)
    irdl.attributes {"a_order" = %a_order, "b_order" = %b_order, "c_order" = %c_order, "a_element" = %a_element, "b_element" = %b_element, "c_element" = %c_element, "accumulate" = %accumulate}
  }

  // An operand as a matrix of `rows` x `cols`, contiguous along one of the two ("row": the
  // second coordinate), `ld` elements from one line to the next. `space` is "global"; "buffer"
  // where accesses go through a range-checked descriptor; "clamped" where lanes past the last
  // row (by the first coordinate) access the last one instead.
  irdl.operation @view {
    %base = irdl.any
    %rows = irdl.is i32
    %cols = irdl.is i32
    %ld = irdl.is i32
    %view = irdl.base @tile::@matrix
    %operand = irdl.base "#builtin.string"
    %element = irdl.base "#builtin.string"
    %order = irdl.base "#builtin.string"
    %space = irdl.base "#builtin.string"
    irdl.operands(base: %base, rows: %rows, cols: %cols, ld: %ld)
    irdl.results(view: %view)
    irdl.attributes {"operand" = %operand, "element" = %element, "order" = %order, "space" = %space}
  }

  // Which tile of C this workgroup computes, as tile coordinates along M and N. Workgroups go
  // down groups of `group_rows` tile rows, group after group.
  irdl.operation @block {
    %m = irdl.is i32
    %n = irdl.is i32
    %block_m = irdl.is i32
    %block_n = irdl.is i32
    %tile = irdl.any
    %group_rows = irdl.base "#builtin.integer"
    irdl.operands(m: %m, n: %n)
    irdl.results(block_m: %block_m, block_n: %block_n)
    irdl.attributes {"tile" = %tile, "group_rows" = %group_rows}
  }

  // Local data share for the block tile of one operand, `buffers` times over.
  irdl.operation @lds {
    %lds = irdl.base @tile::@shared
    %operand = irdl.base "#builtin.string"
    %element = irdl.base "#builtin.string"
    %layout = irdl.base "#builtin.string"
    %buffers = irdl.base "#builtin.integer"
    irdl.results(lds: %lds)
    irdl.attributes {"operand" = %operand, "element" = %element, "layout" = %layout, "buffers" = %buffers}
  }

  // Accumulators of the workgroup's tile, all zero.
  irdl.operation @zero {
    %acc = irdl.base @tile::@accumulator
    %atom = irdl.base "#builtin.string"
    %repeat = irdl.any
    irdl.results(acc: %acc)
    irdl.attributes {"atom" = %atom, "repeat" = %repeat}
  }

  // Block tile (`block`, `step`) of `source` to buffer `buffer` of `target`, waited for. Values are
  // loaded in the order of `layout` and stored in that of `stores`, which has the same ones for
  // every thread.
  irdl.operation @copy {
    %source = irdl.base @tile::@matrix
    %block = irdl.is i32
    %step = irdl.is i32
    %target = irdl.base @tile::@shared
    %buffer = irdl.is i32
    %tile = irdl.any
    %layout = irdl.base "#builtin.string"
    %stores = irdl.base "#builtin.string"
    %load = irdl.base "#builtin.string"
    %store = irdl.base "#builtin.string"
    irdl.operands(source: %source, block: %block, step: %step, target: %target, buffer: %buffer)
    irdl.attributes {"tile" = %tile, "layout" = %layout, "stores" = %stores, "load" = %load, "store" = %store}
  }

  // The first half of a copy: global memory to VGPRs, not waited for.
  irdl.operation @load {
    %source = irdl.base @tile::@matrix
    %block = irdl.is i32
    %step = irdl.is i32
    %staged = irdl.base @tile::@staged
    %tile = irdl.any
    %layout = irdl.base "#builtin.string"
    %load = irdl.base "#builtin.string"
    irdl.operands(source: %source, block: %block, step: %step)
    irdl.results(staged: %staged)
    irdl.attributes {"tile" = %tile, "layout" = %layout, "load" = %load}
  }

  // The second half of a copy: VGPRs to LDS, in the order of `layout`, whatever that of the load.
  irdl.operation @commit {
    %staged = irdl.base @tile::@staged
    %target = irdl.base @tile::@shared
    %buffer = irdl.is i32
    %layout = irdl.base "#builtin.string"
    %store = irdl.base "#builtin.string"
    irdl.operands(staged: %staged, target: %target, buffer: %buffer)
    irdl.attributes {"layout" = %layout, "store" = %store}
  }

  // All waves of the workgroup arrive before any leaves; LDS accesses before it are done.
  irdl.operation @barrier {}

  // Fragments from buffer `buffer` of both tiles, multiplied and added to the accumulators.
  // `ahead`, `lead` and `priority` are as in a fold; with `ahead` below zero, the order is left to
  // the code generator. Where the atom takes B `first`, the accumulators hold the transposed tiles.
  irdl.operation @mma {
    %a = irdl.base @tile::@shared
    %b = irdl.base @tile::@shared
    %buffer = irdl.is i32
    %acc = irdl.base @tile::@accumulator
    %sum = irdl.base @tile::@accumulator
    %atom = irdl.base "#builtin.string"
    %repeat = irdl.any
    %a_layout = irdl.base "#builtin.string"
    %b_layout = irdl.base "#builtin.string"
    %a_read = irdl.base "#builtin.string"
    %b_read = irdl.base "#builtin.string"
    %first = irdl.base "#builtin.string"
    %ahead = irdl.base "#builtin.integer"
    %lead = irdl.base "#builtin.string"
    %priority = irdl.base "#builtin.integer"
    irdl.operands(a: %a, b: %b, buffer: %buffer, acc: %acc)
    irdl.results(sum: %sum)
    irdl.attributes {"atom" = %atom, "repeat" = %repeat, "a_layout" = %a_layout, "b_layout" = %b_layout, "a_read" = %a_read, "b_read" = %b_read, "first" = %first, "ahead" = %ahead, "lead" = %lead, "priority" = %priority}
  }

  // A multiplication with the loads of the next tiles spread among its matrix instructions: the
  // next load, of A and B in turn, with every `cadence`-th of them; what `ahead` of them use is
  // read from LDS during the `ahead` before; `priority` is the wave's around each. The operand
  // that `lead` names is loaded first, and a fragment of it is kept while the other's run past.
  // The last `tail` matrix instructions are left to a `rest`; what they use has been read.
  irdl.operation @fold {
    %source_a = irdl.base @tile::@matrix
    %block_a = irdl.is i32
    %source_b = irdl.base @tile::@matrix
    %block_b = irdl.is i32
    %step = irdl.is i32
    %a = irdl.base @tile::@shared
    %b = irdl.base @tile::@shared
    %buffer = irdl.is i32
    %acc = irdl.base @tile::@accumulator
    %staged_a = irdl.base @tile::@staged
    %staged_b = irdl.base @tile::@staged
    %sum = irdl.base @tile::@accumulator
    %a_tile = irdl.any
    %b_tile = irdl.any
    %a_copy = irdl.base "#builtin.string"
    %b_copy = irdl.base "#builtin.string"
    %a_load = irdl.base "#builtin.string"
    %b_load = irdl.base "#builtin.string"
    %atom = irdl.base "#builtin.string"
    %repeat = irdl.any
    %a_layout = irdl.base "#builtin.string"
    %b_layout = irdl.base "#builtin.string"
    %a_read = irdl.base "#builtin.string"
    %b_read = irdl.base "#builtin.string"
    %first = irdl.base "#builtin.string"
    %cadence = irdl.base "#builtin.integer"
    %ahead = irdl.base "#builtin.integer"
    %lead = irdl.base "#builtin.string"
    %priority = irdl.base "#builtin.integer"
    %tail = irdl.base "#builtin.integer"
    irdl.operands(source_a: %source_a, block_a: %block_a, source_b: %source_b, block_b: %block_b, step: %step, a: %a, b: %b, buffer: %buffer, acc: %acc)
    irdl.results(staged_a: %staged_a, staged_b: %staged_b, sum: %sum)
    irdl.attributes {"a_tile" = %a_tile, "b_tile" = %b_tile, "a_copy" = %a_copy, "b_copy" = %b_copy, "a_load" = %a_load, "b_load" = %b_load, "atom" = %atom, "repeat" = %repeat, "a_layout" = %a_layout, "b_layout" = %b_layout, "a_read" = %a_read, "b_read" = %b_read, "first" = %first, "cadence" = %cadence, "ahead" = %ahead, "lead" = %lead, "priority" = %priority, "tail" = %tail}
  }

  // The matrix instructions that a fold has left, added to its accumulators.
  irdl.operation @rest {
    %acc = irdl.base @tile::@accumulator
    %sum = irdl.base @tile::@accumulator
    irdl.operands(acc: %acc)
    irdl.results(sum: %sum)
  }

  // The accumulators, converted to the element type of `target`, to block (`block_m`,
  // `block_n`) of it. `exchange` is "none", or "halves" where first each lane of a wave's lower
  // half gives the upper half of an atom's values to the lane as far into the upper half, for
  // that one's lower values; `layout` is theirs after it. `edge` is "none" where blocks are
  // whole, else what stores one element where a block overlaps the edge of the matrix.
  irdl.operation @store {
    %acc = irdl.base @tile::@accumulator
    %target = irdl.base @tile::@matrix
    %block_m = irdl.is i32
    %block_n = irdl.is i32
    %atom = irdl.base "#builtin.string"
    %tile = irdl.any
    %layout = irdl.base "#builtin.string"
    %store = irdl.base "#builtin.string"
    %exchange = irdl.base "#builtin.string"
    %edge = irdl.base "#builtin.string"
    irdl.operands(acc: %acc, target: %target, block_m: %block_m, block_n: %block_n)
    irdl.attributes {"atom" = %atom, "tile" = %tile, "layout" = %layout, "store" = %store, "exchange" = %exchange, "edge" = %edge}
  }
}
