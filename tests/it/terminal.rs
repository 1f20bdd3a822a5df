//! Runs the binary on a pseudo-terminal: what only people see, and what they are asked.

use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::{FromRawFd, OwnedFd};
use std::process::Command;

/// Runs a command with a terminal as stdin, stdout and stderr; `typed` is typed at once. Returns the exit code and all
/// that was shown.
pub(crate) fn on_terminal(mut command: Command, typed: &str) -> (Option<i32>, String) {
    let (mut ours, theirs) = pair();
    command.env("TERM", "xterm-256color");
    command.stdin(theirs.try_clone().unwrap()).stdout(theirs.try_clone().unwrap()).stderr(theirs);
    let mut child = command.spawn().unwrap();
    // The command still holds the other end, and with it the terminal would never end.
    drop(command);
    ours.write_all(typed.as_bytes()).unwrap();
    let (mut shown, mut chunk) = (Vec::new(), [0; 4096]);
    loop {
        match ours.read(&mut chunk) {
            Ok(0) => break,
            Ok(read) => shown.extend_from_slice(&chunk[..read]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            // EIO: nobody has the other end open any more.
            Err(_) => break,
        }
    }
    (child.wait().unwrap().code(), String::from_utf8_lossy(&shown).replace("\r\n", "\n"))
}

fn pair() -> (File, OwnedFd) {
    let (mut ours, mut theirs) = (-1, -1);
    let null = std::ptr::null_mut();
    // SAFETY: both places live through the call, which writes file descriptors to them that nobody else owns.
    unsafe {
        let size = libc::winsize { ws_row: 24, ws_col: 100, ws_xpixel: 0, ws_ypixel: 0 };
        assert_eq!(libc::openpty(&mut ours, &mut theirs, null, null.cast(), &size), 0);
        // The child must not inherit our end.
        libc::fcntl(ours, libc::F_SETFD, libc::FD_CLOEXEC);
        (File::from_raw_fd(ours), OwnedFd::from_raw_fd(theirs))
    }
}
