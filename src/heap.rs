//! Keeps the process small where glibc's allocator would not: a server lives for days beside the tools of its user.
//! Not an allocator.

/// Two arenas instead of eight a core: what each keeps of freed memory adds up. To be called before threads are started.
pub(crate) fn limit() {
    // SAFETY: takes no pointer; the only thread there is calls it.
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 2);
    }
}

/// Returns freed memory to the system after a large, passing need: loading, and embedding many documents. glibc keeps
/// freed blocks for later, and raises the size from which it does not with every large block it frees.
pub(crate) fn give_back() {
    // SAFETY: takes no pointer and may be called at any time, from any thread.
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    unsafe {
        libc::malloc_trim(0);
    }
}
