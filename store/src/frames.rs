//! The frames of a journal, and how they are read, also behind what a bad disk spoilt. A frame is a length, a checksum
//! and a body of JSON. A frame whose checksum is wrong, or whose length leads nowhere, hides nothing of what stands
//! behind it: the next whole frame is looked for from there.

const HEADER_BYTES: usize = 8;
/// The number of bytes after which the reader stops computing checksums in vain. A wrong length makes it compute one in
/// vain. Damage hardly ever looks like a length, but an attacker may plant lengths: once they have used up these bytes,
/// no further frame is looked for.
const READ_IN_VAIN: usize = 64 << 20;

/// Returns the body behind the header that belongs to it.
pub(crate) fn framed(body: &[u8]) -> Vec<u8> {
    // the length of what was read or encoded is bounded far below
    let length = u32::try_from(body.len()).unwrap_or(u32::MAX);
    [&length.to_le_bytes(), &crc32fast::hash(body).to_le_bytes(), body].concat()
}

/// The bodies that were found in the bytes of a journal, and how many bytes belong to none.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct FrameBodies<'a> {
    /// The bodies of whole frames.
    pub(crate) whole: Vec<&'a [u8]>,
    /// The number of bytes that were part of a frame once and are not any more.
    pub(crate) damaged: usize,
    /// The number of bytes of a last frame that was not written to its end. Nobody was told that it is stored.
    pub(crate) torn: usize,
}

pub(crate) fn split(bytes: &[u8]) -> FrameBodies<'_> {
    read(bytes, READ_IN_VAIN)
}

fn read(bytes: &[u8], mut in_vain: usize) -> FrameBodies<'_> {
    let mut found = FrameBodies::default();
    let mut at = 0;
    while at < bytes.len() {
        if let Some(body) = whole_body(&bytes[at..], &mut in_vain) {
            at += HEADER_BYTES + body.len();
            found.whole.push(body);
            continue;
        }
        let next = (at + 1..bytes.len()).find(|next| begins_frame(&bytes[*next..], &mut in_vain));
        let region = &bytes[at..next.unwrap_or(bytes.len())];
        match body_of_wrong_length(region) {
            Some(body) => found.whole.push(body),
            None if next.is_none() && is_torn(region) => found.torn = region.len(),
            None => found.damaged += region.len(),
        }
        at += region.len();
    }
    found
}

/// Reads the length and the checksum of a frame; `None` where there are too few bytes for a header.
fn header(bytes: &[u8]) -> Option<(usize, u32)> {
    let (header, _) = bytes.split_first_chunk::<HEADER_BYTES>()?;
    let [a, b, c, d, e, f, g, h] = *header;
    Some((u32::from_le_bytes([a, b, c, d]) as usize, u32::from_le_bytes([e, f, g, h])))
}

/// Returns the bytes that the header says are the body, and their checksum. Zeros, which a power loss leaves in a file,
/// are no header.
fn announced(bytes: &[u8]) -> Option<(&[u8], u32)> {
    let (length, checksum) = header(bytes)?;
    let body = bytes[HEADER_BYTES..].get(..length).filter(|body| !body.is_empty())?;
    Some((body, checksum))
}

fn whole_body<'a>(bytes: &'a [u8], in_vain: &mut usize) -> Option<&'a [u8]> {
    let (body, checksum) = announced(bytes).filter(|_| *in_vain > 0)?;
    if crc32fast::hash(body) == checksum {
        return Some(body);
    }
    *in_vain = in_vain.saturating_sub(body.len());
    None
}

/// Tells whether a whole frame begins here, in bytes that may be anything. The length of a frame has bytes that no JSON
/// has, so no frame is found within a body.
fn begins_frame(bytes: &[u8], in_vain: &mut usize) -> bool {
    let is_object = |body: &[u8]| body.starts_with(b"{") && body.ends_with(b"}");
    announced(bytes).is_some_and(|(body, _)| is_object(body)) && whole_body(bytes, in_vain).is_some()
}

/// Returns the body of a frame of which only the length was spoilt: the checksum still tells that the body, up to the
/// next frame, is whole.
fn body_of_wrong_length(region: &[u8]) -> Option<&[u8]> {
    let (_, checksum) = header(region)?;
    let body = &region[HEADER_BYTES..];
    (!body.is_empty() && crc32fast::hash(body) == checksum).then_some(body)
}

/// Tells whether the end of a journal looks like a write that broke off, or like zeros that a power loss left.
fn is_torn(end: &[u8]) -> bool {
    let breaks_off = header(end).is_none_or(|(length, _)| length > end.len() - HEADER_BYTES);
    breaks_off || end.iter().all(|byte| *byte == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(number: u64) -> Vec<u8> {
        framed(format!("{{\"number\":{number},\"batch\":[]}}").as_bytes())
    }

    fn numbers(bytes: &[u8]) -> Vec<u64> {
        let number =
            |body: &&[u8]| serde_json::from_slice::<serde_json::Value>(body).unwrap()["number"].as_u64().unwrap();
        split(bytes).whole.iter().map(number).collect()
    }

    #[test]
    fn a_torn_end_is_dropped_and_what_was_before_it_stays() {
        let whole = [frame(1), frame(2)].concat();
        for cut in 1..frame(3).len() {
            let journal = [&whole[..], &frame(3)[..cut]].concat();
            let found = split(&journal);
            assert_eq!((found.whole.len(), found.damaged, found.torn), (2, 0, cut), "cut after {cut} bytes");
        }
        assert_eq!(numbers(&[whole, frame(3)].concat()), [1, 2, 3]);
    }

    #[test]
    fn zeros_after_a_power_loss_are_a_torn_end() {
        for zeros in [1, 8, 4096] {
            let journal = [frame(1), vec![0; zeros]].concat();
            assert_eq!((numbers(&journal), split(&journal).torn), (vec![1], zeros));
            assert_eq!(split(&vec![0; zeros]), FrameBodies { torn: zeros, ..FrameBodies::default() });
        }
    }

    #[test]
    fn no_bit_takes_more_with_it_than_the_frame_it_is_in() {
        let whole = [frame(1), frame(2), frame(3)].concat();
        let bounds = [frame(1).len(), frame(1).len() + frame(2).len()];
        for bit in 0..whole.len() * 8 {
            let mut spoilt = whole.clone();
            spoilt[bit / 8] ^= 1 << (bit % 8);
            let hit = 1 + bounds.iter().filter(|bound| bit / 8 >= **bound).count() as u64;
            let found = numbers(&spoilt);
            let others: Vec<u64> = [1, 2, 3].into_iter().filter(|n| *n != hit).collect();
            let is_length = {
                let start = if hit == 1 { 0 } else { bounds[hit as usize - 2] };
                bit / 8 - start < 4
            };
            // where the length alone is wrong the body is whole, and the checksum says so
            let expected = if is_length { vec![1, 2, 3] } else { others };
            assert_eq!(found, expected, "bit {bit}");
            let damaged = split(&spoilt).damaged;
            assert_eq!(damaged, if is_length { 0 } else { frame(hit).len() }, "bit {bit}");
        }
    }

    #[test]
    fn whole_frames_are_found_behind_garbage_of_every_kind() {
        let garbage: [Vec<u8>; 5] = [
            vec![0; 4096],
            vec![0xff; 4096],
            b"{\"batch\":[]}".repeat(300),
            (0..4096_u32).flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()).collect(),
            frame(9)[..20].to_vec(),
        ];
        for garbage in garbage {
            let journal = [frame(1), garbage.clone(), frame(2), garbage, frame(3)].concat();
            assert_eq!(numbers(&journal), [1, 2, 3]);
        }
    }

    #[test]
    fn planted_lengths_are_not_followed_for_ever() {
        // every other frame says that it reaches to the end; each is looked at once, and all of them are too much
        const PLANTED: usize = 4_000;
        let pair = |left: usize| [(left as u32).to_le_bytes(), [0; 4]].concat().into_iter().chain(frame(1));
        let bytes = PLANTED * (HEADER_BYTES + frame(1).len());
        let mut journal = Vec::with_capacity(bytes);
        while journal.len() < bytes {
            journal.extend(pair(bytes - journal.len() - HEADER_BYTES));
        }
        assert_eq!(read(&journal, usize::MAX).whole.len(), PLANTED);
        let few = read(&journal, 2 * bytes).whole.len();
        assert!((1..10).contains(&few), "{few}");
        assert_eq!(read(&frame(1), 1).whole.len(), 1);
    }
}
