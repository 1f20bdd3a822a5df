//! The time of processors that a process has used so far, as the system counts it.

use std::fs;
use std::time::Duration;

/// Linux counts the time of a process in hundredths of a second, on every processor that this program is built for.
const TICKS_PER_SECOND: u32 = 100;

/// Returns the time that all threads of a process have computed. None where the system does not say.
pub(super) fn cpu_time(process: u32) -> Option<Duration> {
    ticks(&fs::read_to_string(format!("/proc/{process}/stat")).ok()?)
        .map(|ticks| Duration::from_secs(ticks) / TICKS_PER_SECOND)
}

/// Adds up the ticks of a process for itself and in the system. The name before them may have spaces and brackets in
/// it.
fn ticks(stat: &str) -> Option<u64> {
    let (_, after_name) = stat.rsplit_once(')')?;
    let mut fields = after_name.split_ascii_whitespace().skip(11);
    let (user, system): (u64, u64) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    Some(user + system)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_times_are_the_fourteenth_and_fifteenth_field() {
        let stat = "4711 (a (strange) name) S 1 2 3 4 5 6 7 8 9 10 250 50 0 0 20 0 9 0 12345 67 89";
        assert_eq!(ticks(stat), Some(300));
        assert_eq!(ticks("4711 (name"), None);
        assert_eq!(ticks("4711 (name) S 1 2"), None);
    }
}
