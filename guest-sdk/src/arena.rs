//! An allocator for an instance that serves one call.
//!
//! Memory comes from a fixed arena by moving a mark. The arena lies in `.bss`, so it is part of the instance's first
//! memory: nothing grows, which costs two system calls a time, and hardly anything is freed, which would be pointless
//! shortly before the instance ends. Only the last block can be resized in place or given back, which is what growing
//! strings and vectors need. What the arena cannot hold comes from the system's allocator.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::{Cell, UnsafeCell};
use std::ptr;

/// An arena of `SIZE` bytes with the system's allocator behind it.
///
/// The mark lies before the memory, so that a call that needs little writes to one page and not to two.
#[repr(C, align(16))]
pub(crate) struct Arena<const SIZE: usize> {
    /// Offset of the first free byte.
    top: Cell<usize>,
    memory: UnsafeCell<[u8; SIZE]>,
}

// Elsewhere there are threads, and the type is no `Sync`.
#[cfg(target_arch = "wasm32")]
#[expect(unsafe_code, reason = "a global allocator is a static")]
// SAFETY: a component has a single thread.
unsafe impl<const SIZE: usize> Sync for Arena<SIZE> {}

impl<const SIZE: usize> Arena<SIZE> {
    pub(crate) const fn new() -> Self {
        Self { top: Cell::new(0), memory: UnsafeCell::new([0; SIZE]) }
    }

    fn base(&self) -> *mut u8 {
        self.memory.get().cast()
    }

    /// Where in the arena `block` begins, if it lies there.
    fn offset_of(&self, block: *mut u8) -> Option<usize> {
        block.addr().checked_sub(self.base().addr()).filter(|offset| *offset < SIZE)
    }

    /// Moves the mark over a new block and returns the block's offset.
    fn reserve(&self, layout: Layout) -> Option<usize> {
        let base = self.base().addr();
        let start = (base + self.top.get()).checked_next_multiple_of(layout.align())? - base;
        self.move_top(start, layout.size()).then_some(start)
    }

    /// Ends the used part `size` bytes behind `start`, unless the arena ends before.
    fn move_top(&self, start: usize, size: usize) -> bool {
        match start.checked_add(size) {
            Some(end) if end <= SIZE => {
                self.top.set(end);
                true
            }
            _ => false,
        }
    }

    fn is_last(&self, offset: usize, size: usize) -> bool {
        offset + size == self.top.get()
    }
}

#[expect(unsafe_code, reason = "an allocator hands out raw memory")]
// SAFETY: blocks in the arena do not overlap, because each begins behind the mark and the mark never moves back over a
// block in use: it moves back only to the start of the last block, when that is given back, or to its new end, when it
// shrinks. All other blocks are the system allocator's.
unsafe impl<const SIZE: usize> GlobalAlloc for Arena<SIZE> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        match self.reserve(layout) {
            // SAFETY: `offset + layout.size()` is within the arena.
            Some(offset) => unsafe { self.base().add(offset) },
            // SAFETY: the caller's promise about `layout` is what the system allocator asks for.
            None => unsafe { System.alloc(layout) },
        }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        match self.offset_of(block) {
            Some(offset) if self.is_last(offset, layout.size()) => self.top.set(offset),
            Some(_) => {}
            // SAFETY: a block outside of the arena was allocated by the system allocator with this layout.
            None => unsafe { System.dealloc(block, layout) },
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        let Some(offset) = self.offset_of(block) else {
            // SAFETY: a block outside of the arena was allocated by the system allocator with this layout.
            return unsafe { System.realloc(block, layout, new_size) };
        };
        if self.is_last(offset, layout.size()) && self.move_top(offset, new_size) {
            return block;
        }
        if new_size <= layout.size() {
            return block;
        }
        // SAFETY: the caller promises that `new_size`, rounded up to the alignment, fits in an `isize`.
        let new_layout = unsafe { Layout::from_size_align_unchecked(new_size, layout.align()) };
        // SAFETY: `new_size` is not 0, as the caller promises.
        let new_block = unsafe { self.alloc(new_layout) };
        if !new_block.is_null() {
            // SAFETY: both blocks hold at least `layout.size()` bytes, and the new one overlaps no block in use.
            unsafe { ptr::copy_nonoverlapping(block, new_block, layout.size()) };
        }
        new_block
    }
}

#[cfg(test)]
#[expect(unsafe_code, reason = "allocators are tested through their unsafe interface")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bytes(size: usize) -> Layout {
        Layout::from_size_align(size, 1).unwrap()
    }

    #[test]
    fn the_last_block_grows_and_shrinks_in_place() {
        let arena = Arena::<64>::new();
        // SAFETY: sizes are not 0, and each layout is the block's.
        unsafe {
            let block = arena.alloc(bytes(8));
            assert_eq!(arena.realloc(block, bytes(8), 64), block);
            assert_eq!(arena.realloc(block, bytes(64), 8), block);
            assert_eq!(arena.top.get(), 8);
            arena.dealloc(block, bytes(8));
            assert_eq!(arena.top.get(), 0);
        }
    }

    #[test]
    fn a_block_below_another_moves_when_it_grows() {
        let arena = Arena::<64>::new();
        // SAFETY: sizes are not 0, and each layout is the block's.
        unsafe {
            let below = arena.alloc(bytes(8));
            below.write_bytes(7, 8);
            let above = arena.alloc(bytes(8));
            above.write_bytes(9, 8);
            let moved = arena.realloc(below, bytes(8), 16);
            assert_ne!(moved, below);
            assert_eq!(std::slice::from_raw_parts(moved, 8), [7; 8]);
            assert_eq!(std::slice::from_raw_parts(above, 8), [9; 8]);
        }
    }

    #[test]
    fn what_does_not_fit_comes_from_the_system() {
        let arena = Arena::<64>::new();
        // SAFETY: sizes are not 0, and each layout is the block's.
        unsafe {
            let block = arena.alloc(bytes(65));
            assert_eq!(arena.offset_of(block), None);
            assert_eq!(arena.top.get(), 0);
            arena.dealloc(block, bytes(65));

            let grown = arena.realloc(arena.alloc(bytes(60)), bytes(60), 1000);
            assert_eq!(arena.offset_of(grown), None);
            arena.dealloc(grown, bytes(1000));
        }
    }

    /// What a program does with its memory.
    #[derive(Clone, Debug)]
    enum Step {
        Alloc { size: usize, align: usize },
        Resize { which: usize, size: usize },
        Free { which: usize },
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            (1_usize..200, 0_u32..7).prop_map(|(size, power)| Step::Alloc { size, align: 1 << power }),
            (0_usize..8, 1_usize..300).prop_map(|(which, size)| Step::Resize { which, size }),
            (0_usize..8).prop_map(|which| Step::Free { which }),
        ]
    }

    /// A block in use and the byte that fills it.
    struct Block {
        start: *mut u8,
        layout: Layout,
        fill: u8,
    }

    impl Block {
        fn check(&self) {
            assert_eq!(self.start.addr() % self.layout.align(), 0);
            // SAFETY: the block is in use.
            let content = unsafe { std::slice::from_raw_parts(self.start, self.layout.size()) };
            assert!(content.iter().all(|byte| *byte == self.fill));
        }
    }

    proptest! {
        /// Blocks are aligned and nobody writes over another's, whatever the order of requests.
        #[test]
        fn blocks_keep_their_content(steps in prop::collection::vec(step(), 0..60)) {
            let arena = Arena::<2048>::new();
            let mut blocks: Vec<Block> = Vec::new();
            for (fill, step) in (0_u8..).zip(steps) {
                // SAFETY: sizes are not 0, each layout is the block's, and no block is used after it was given back.
                unsafe { apply(&arena, &mut blocks, fill, step) };
                blocks.iter().for_each(Block::check);
            }
            for block in blocks {
                // SAFETY: as above.
                unsafe { arena.dealloc(block.start, block.layout) };
            }
        }
    }

    unsafe fn apply<const SIZE: usize>(arena: &Arena<SIZE>, blocks: &mut Vec<Block>, fill: u8, step: Step) {
        match step {
            Step::Alloc { size, align } => {
                let layout = Layout::from_size_align(size, align).unwrap();
                // SAFETY: the caller's promise.
                let start = unsafe { arena.alloc(layout) };
                // SAFETY: the block has `size` bytes.
                unsafe { start.write_bytes(fill, size) };
                blocks.push(Block { start, layout, fill });
            }
            Step::Resize { which, size } if which < blocks.len() => {
                let block = &mut blocks[which];
                let kept = size.min(block.layout.size());
                // SAFETY: the caller's promise.
                block.start = unsafe { arena.realloc(block.start, block.layout, size) };
                block.layout = Layout::from_size_align(size, block.layout.align()).unwrap();
                // SAFETY: the block has `kept` bytes of the old content.
                let content = unsafe { std::slice::from_raw_parts(block.start, kept) };
                assert!(content.iter().all(|byte| *byte == block.fill));
                // SAFETY: the block has `size` bytes.
                unsafe { block.start.write_bytes(block.fill, size) };
            }
            Step::Free { which } if which < blocks.len() => {
                let block = blocks.swap_remove(which);
                // SAFETY: the caller's promise.
                unsafe { arena.dealloc(block.start, block.layout) };
            }
            Step::Resize { .. } | Step::Free { .. } => {}
        }
    }
}
