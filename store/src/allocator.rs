//! Keeps the process small where glibc's allocator would not: a server lives for days beside the tools of its user. It
//! limits the arenas, returns freed memory, and drops pages that were read for the last time.

/// Allows two arenas instead of eight a core, because what each keeps of freed memory adds up. The caller has not
/// started a thread yet.
pub fn limit_arenas() {
    // SAFETY: the call takes no pointer, and only one thread exists.
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 2);
    }
}

/// Frees the memory that holds a part of the binary, after its last use. When the part is read again all the same, the
/// system loads it from the file.
#[cfg_attr(not(target_os = "linux"), expect(unused_variables, reason = "the call is Linux's"))]
pub fn drop_pages(part: &'static [u8]) {
    // SAFETY: the first takes no pointer. The second is given whole pages of constant data, which are mapped from the
    // file of the binary and never written to, so they come back as they were.
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
pub fn return_freed() {
    // SAFETY: the call takes no pointer, and any thread may make it at any time.
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    unsafe {
        libc::malloc_trim(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dropped_pages_are_there_when_they_are_read_again() {
        static PART: &[u8] = include_bytes!("../../assets/all-MiniLM-L6-v2-int8/tokenizer.json");
        let before = PART.to_vec();
        drop_pages(PART);
        assert!(PART == before);
        drop_pages(&PART[..10]);
        assert!(PART == before);
    }
}
