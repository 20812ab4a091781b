//! An allocator for tests that ends a forked child if it uses memory of the heap where it must not.

use super::fork::exit;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The exit code of a child that used the allocator.
pub const ALLOCATED: i32 = 99;

thread_local! {
    /// The process whose children must not use the allocator; 0: there is none.
    static PARENT: Cell<u32> = const { Cell::new(0) };
}

/// During `work`, children that this thread forks end with [`ALLOCATED`] when they allocate or free memory.
pub fn forbid_in_children<T>(work: impl FnOnce() -> T) -> T {
    PARENT.set(std::process::id());
    let result = work();
    PARENT.set(0);
    result
}

fn check() {
    let parent = PARENT.try_with(Cell::get).unwrap_or(0);
    if parent != 0 && parent != std::process::id() {
        exit(ALLOCATED);
    }
}

struct Checked;

#[global_allocator]
static ALLOCATOR: Checked = Checked;

// SAFETY: all calls are passed on to the system's allocator, with the same arguments.
unsafe impl GlobalAlloc for Checked {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        check();
        // SAFETY: the caller fulfils the contract, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        check();
        // SAFETY: as above.
        unsafe { System.dealloc(block, layout) }
    }
}
