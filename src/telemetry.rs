//! The log, to stderr or a file, as text or JSON, with every line free of secrets. It never goes to stdout, which
//! belongs to protocols and answers. The spans are in `actors/src/spans.rs`.

mod line;
mod stderr;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use reasoning_bank_store::files::{create_dir, open_private};
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::writer::BoxMakeWriter;
use tracing_subscriber::prelude::*;
use tracing_subscriber::{Registry, reload};

use self::line::RedactingLines;
use self::stderr::QueuedStderr;
use crate::settings::{LogFormat, LogLevel, LogSection};

#[derive(Debug, thiserror::Error)]
#[error("log.file: {path} cannot be opened: {cause}")]
pub struct TelemetryError {
    path: PathBuf,
    cause: io::Error,
}

/// The filter of the log that is in force.
static FILTER: OnceLock<reload::Handle<Targets, Registry>> = OnceLock::new();

/// Flushing waits this long for a stderr that nobody reads.
const FLUSH_LIMIT: Duration = Duration::from_secs(1);

/// Starts logging for the whole process; the first call counts. `level` is in force instead of `log.level`. From then
/// on a panic is a line of the log. What `serves` is never held up by a stderr that its client does not read.
///
/// # Errors
/// The log file cannot be opened for appending.
pub fn init(settings: &LogSection, level: LogLevel, serves: bool) -> Result<(), TelemetryError> {
    let (to_file, json) = (!settings.file.as_os_str().is_empty(), settings.format == LogFormat::Json);
    let writer = if to_file {
        BoxMakeWriter::new(RedactingLines::to(file(&settings.file)?, json))
    } else {
        match serves.then(QueuedStderr::start) {
            Some(Ok(queued)) => BoxMakeWriter::new(RedactingLines::to(queued, json)),
            _ => BoxMakeWriter::new(RedactingLines::to(io::stderr, json)),
        }
    };
    let layer = tracing_subscriber::fmt::layer()
        .with_writer(writer)
        .with_ansi(!to_file && io::IsTerminal::is_terminal(&io::stderr()));
    let layer = match settings.format {
        LogFormat::Text => layer.boxed(),
        LogFormat::Json => layer.json().boxed(),
    };
    // One filter for all: a filter of a layer's own can lose a span after a check of somebody else's.
    let (filter, handle) = reload::Layer::new(targets(level));
    if tracing_subscriber::registry().with(filter).with(layer).try_init().is_ok() {
        let _ = FILTER.set(handle);
        std::panic::set_hook(Box::new(|panic| {
            let at = panic.location().map(ToString::to_string);
            tracing::error!(at, reason = panic.payload_as_str(), "panicked");
        }));
    }
    Ok(())
}

/// Logs from another level on.
pub fn set_level(level: LogLevel) {
    if let Some(Err(error)) = FILTER.get().map(|filter| filter.reload(targets(level))) {
        tracing::error!(%error, "the level of the log stays as it was");
    }
}

/// Waits until what was logged is written, at the latest for a second.
pub fn flush() {
    stderr::flush(FLUSH_LIMIT);
}

/// These targets warn of what is no fault: every partition of an index that none of some new rows is in, as it is with
/// few, and every compaction that another write comes before, which upkeep does again.
const CHATTY: [&str; 2] = ["lance::index::vector::builder", "lance::dataset::optimize"];

/// Lets libraries speak from warnings on: rmcp logs whole messages, with the text of memories, and the database logs
/// much.
fn targets(level: LogLevel) -> Targets {
    let level = match level {
        LogLevel::Off => LevelFilter::OFF,
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Debug => LevelFilter::DEBUG,
        LogLevel::Trace => LevelFilter::TRACE,
    };
    let library = level.min(LevelFilter::WARN);
    let chatty = level.min(LevelFilter::ERROR);
    let quieter = CHATTY.map(|target| (target, chatty));
    Targets::new().with_default(library).with_targets(quieter).with_target("reasoning_bank", level)
}

/// Opens the log file, and makes its directory where it is missing. Logs can hold what users work on, so only the owner
/// may read them.
fn file(path: &Path) -> Result<File, TelemetryError> {
    let made = create_dir(path.parent().unwrap_or(path));
    let opened = made.and_then(|()| open_private(path, File::options().append(true)));
    opened.map_err(|cause| TelemetryError { path: path.to_owned(), cause })
}

#[cfg(test)]
mod tests {
    use tracing::Level;

    use super::*;

    #[test]
    fn libraries_speak_from_warnings_on_and_no_louder_than_the_level() {
        let debug = targets(LogLevel::Debug);
        assert!(debug.would_enable("reasoning_bank::mcp", &Level::DEBUG));
        assert!(debug.would_enable("reasoning_bank_actors::store", &Level::DEBUG));
        for library in ["rmcp::service", "lance_index", "lancedb", "datafusion_physical_plan"] {
            assert!(debug.would_enable(library, &Level::WARN), "{library}");
            assert!(!debug.would_enable(library, &Level::INFO), "{library}");
        }
        for chatty in CHATTY {
            assert!(debug.would_enable(chatty, &Level::ERROR) && !debug.would_enable(chatty, &Level::WARN), "{chatty}");
        }
        assert!(!targets(LogLevel::Error).would_enable("rmcp::service", &Level::WARN));
        assert!(!targets(LogLevel::Off).would_enable("reasoning_bank", &Level::ERROR));
    }
}
