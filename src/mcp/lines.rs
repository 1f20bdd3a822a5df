//! Lines of bounded length out of a stream of bytes. `transport` says what the lines mean.

use std::io;

use tokio_util::bytes::{Bytes, BytesMut};
use tokio_util::codec::Decoder;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum InputLine {
    /// The line is without its end, be it LF or CRLF.
    Whole(Bytes),
    /// The line is longer than allowed, and was skipped as it came in.
    TooLong { bytes: usize },
}

#[derive(Debug)]
pub(super) struct LineDecoder {
    max: usize,
    /// This much of the buffer is known to hold no line end.
    scanned: usize,
    /// This much of the present line was skipped. It is above 0 for a line that is too long.
    skipped: usize,
}

impl LineDecoder {
    /// Makes a decoder for lines of at most `max` bytes, without the line end.
    pub(super) fn new(max: usize) -> Self {
        Self { max, scanned: 0, skipped: 0 }
    }

    fn finish(&mut self, mut line: BytesMut) -> InputLine {
        let skipped = std::mem::take(&mut self.skipped);
        self.scanned = 0;
        if skipped > 0 || line.len() > self.max {
            return InputLine::TooLong { bytes: skipped + line.len() };
        }
        if line.ends_with(b"\r") {
            line.truncate(line.len() - 1);
        }
        InputLine::Whole(line.freeze())
    }
}

impl Decoder for LineDecoder {
    type Item = InputLine;
    type Error = io::Error;

    fn decode(&mut self, buffer: &mut BytesMut) -> io::Result<Option<InputLine>> {
        if let Some(at) = buffer[self.scanned..].iter().position(|byte| *byte == b'\n') {
            let end = self.scanned + at;
            let mut line = buffer.split_to(end + 1);
            line.truncate(end);
            return Ok(Some(self.finish(line)));
        }
        if self.skipped > 0 || buffer.len() > self.max {
            self.skipped += buffer.len();
            buffer.clear();
        }
        self.scanned = buffer.len();
        Ok(None)
    }

    /// Decodes the last line, which counts without a line end too.
    fn decode_eof(&mut self, buffer: &mut BytesMut) -> io::Result<Option<InputLine>> {
        match self.decode(buffer)? {
            None if buffer.is_empty() && self.skipped == 0 => Ok(None),
            None => Ok(Some(self.finish(buffer.split()))),
            line => Ok(line),
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::StreamExt;
    use tokio_util::codec::FramedRead;

    use super::*;

    async fn lines(max: usize, chunks: &[&[u8]]) -> Vec<InputLine> {
        let mut reader = tokio_test_reader(chunks);
        let framed = FramedRead::new(&mut reader, LineDecoder::new(max));
        framed.map(|line| line.unwrap()).collect().await
    }

    /// Reads that return exactly these chunks, one each.
    fn tokio_test_reader(chunks: &[&[u8]]) -> impl tokio::io::AsyncRead + Unpin {
        let chunks: Vec<io::Result<Bytes>> = chunks.iter().map(|chunk| Ok(Bytes::copy_from_slice(chunk))).collect();
        tokio_util::io::StreamReader::new(futures::stream::iter(chunks))
    }

    fn whole(text: &'static str) -> InputLine {
        InputLine::Whole(Bytes::from_static(text.as_bytes()))
    }

    #[tokio::test]
    async fn lines_end_with_lf_or_crlf_and_the_last_with_neither() {
        assert_eq!(lines(10, &[b"a\r\nb\n\nc"]).await, [whole("a"), whole("b"), whole(""), whole("c")]);
    }

    #[tokio::test]
    async fn a_line_may_come_in_pieces() {
        assert_eq!(lines(10, &[b"ab", b"cd", b"e\nf", b"\r", b"\ng"]).await, [whole("abcde"), whole("f"), whole("g")]);
    }

    #[tokio::test]
    async fn a_line_that_is_too_long_is_skipped_and_the_next_one_read() {
        assert_eq!(lines(4, &[b"abcde\nfg\n"]).await, [InputLine::TooLong { bytes: 5 }, whole("fg")]);
        assert_eq!(lines(4, &[b"abcd\nfg\n"]).await, [whole("abcd"), whole("fg")]);
        assert_eq!(
            lines(4, &[b"abcdef", b"gh", b"i\njk\n"]).await,
            [InputLine::TooLong { bytes: 9 }, whole("jk")],
            "also when it comes in pieces"
        );
        assert_eq!(lines(4, &[b"abcdef", b"gh"]).await, [InputLine::TooLong { bytes: 8 }], "also at the end");
    }

    #[test]
    fn a_line_that_is_too_long_is_not_kept_in_memory() {
        let mut decoder = LineDecoder::new(1_000);
        let mut buffer = BytesMut::new();
        for _ in 0..1_000 {
            buffer.extend_from_slice(&[b'x'; 1_500]);
            assert_eq!(decoder.decode(&mut buffer).unwrap(), None);
            assert!(buffer.is_empty());
        }
        buffer.extend_from_slice(b"\n");
        assert_eq!(decoder.decode(&mut buffer).unwrap(), Some(InputLine::TooLong { bytes: 1_500_000 }));
    }
}
