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

/// Lets go of the memory that holds a part of the binary, once it was read for the last time: should it be looked at again,
/// the system reads it from the file again.
#[cfg_attr(not(target_os = "linux"), expect(unused_variables, reason = "the call is Linux's"))]
pub(crate) fn forget(part: &'static [u8]) {
    // SAFETY: the first takes no pointer. The second is given whole pages of constant data, which are mapped from the file
    // of the binary and never written to, so they come back as they were.
    #[cfg(target_os = "linux")]
    unsafe {
        let Ok(page) = usize::try_from(libc::sysconf(libc::_SC_PAGESIZE)) else { return };
        let before = part.as_ptr().align_offset(page);
        let bytes = part.len().saturating_sub(before) / page * page;
        if bytes > 0 {
            libc::madvise(part.as_ptr().add(before).cast_mut().cast(), bytes, libc::MADV_DONTNEED);
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_forgotten_is_there_when_it_is_looked_at() {
        static PART: &[u8] = include_bytes!("../assets/all-MiniLM-L6-v2-int8/tokenizer.json");
        let before = PART.to_vec();
        forget(PART);
        assert!(PART == before);
        forget(&PART[..10]);
        assert!(PART == before);
    }
}
