//! Returns freed memory to the system after a large, passing need: loading, and embedding many documents. Not an
//! allocator.

/// glibc keeps freed blocks for later, and raises the size from which it does not with every large block it frees.
pub(crate) fn give_back() {
    // SAFETY: takes no pointer and may be called at any time, from any thread.
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    unsafe {
        libc::malloc_trim(0);
    }
}
