//! Databases of other programs, opened so that nothing is ever written: neither the database nor a file beside it.

use std::collections::HashSet;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, Row};

use crate::failure::SourceError;

/// The time that is waited for the program that owns the database.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);
const HEADER: &[u8; 16] = b"SQLite format 3\0";
/// The number in the header that stands for a write-ahead log.
const WITH_LOG: u8 = 2;

/// Opens a database that must have a table.
pub(crate) fn open(path: &Path, table: &str) -> Result<Connection, SourceError> {
    let mut header = [0; 20];
    let read = File::open(path)?.take(header.len() as u64).read(&mut header)?;
    if read < header.len() || header[..16] != HEADER[..] {
        return Err(SourceError::NotOfSource("it is no SQLite database".to_owned()));
    }
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    // A database without a log has no writer. To read such a database otherwise, SQLite would make files beside it.
    let is_at_rest = header[18] == WITH_LOG && !PathBuf::from(log).exists();
    let mode = if is_at_rest { "mode=ro&immutable=1" } else { "mode=ro" };
    let name = format!("file:{}?{mode}", quoted(path)?);
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let database = Connection::open_with_flags(name, flags)?;
    database.busy_timeout(BUSY_TIMEOUT)?;
    if columns(&database, table)?.is_empty() {
        return Err(SourceError::NotOfSource(format!("it is a database without the table {table}")));
    }
    Ok(database)
}

/// Writes a path as the name of a database takes it.
fn quoted(path: &Path) -> Result<String, SourceError> {
    let path = path.canonicalize()?;
    let text = path.to_str().ok_or_else(|| SourceError::NotOfSource("its path is not UTF-8".to_owned()))?;
    Ok(text.replace('%', "%25").replace('?', "%3f").replace('#', "%23"))
}

fn columns(database: &Connection, table: &str) -> Result<HashSet<String>, SourceError> {
    let mut statement = database.prepare("SELECT name FROM pragma_table_info(?1)")?;
    let names = statement.query_map([table], |row| row.get(0))?;
    Ok(names.collect::<Result<_, _>>()?)
}

/// Reads the rows of a table one by one. A column that an older version of the program does not have is empty.
pub(crate) fn rows(
    database: &Connection,
    table: &str,
    wanted: &[&str],
    order: &str,
    mut each: impl FnMut(&Row<'_>) -> Result<(), SourceError>,
) -> Result<(), SourceError> {
    let there = columns(database, table)?;
    let columns: Vec<String> = wanted
        .iter()
        .map(|name| if there.contains(*name) { (*name).to_owned() } else { format!("NULL AS {name}") })
        .collect();
    let mut statement = database.prepare(&format!("SELECT {} FROM {table} ORDER BY {order}", columns.join(", ")))?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        each(row)?;
    }
    Ok(())
}

/// Returns the text of a column, empty where there is none. A number is written out, and what is no UTF-8 is replaced.
pub(crate) fn text(row: &Row<'_>, column: &str) -> Result<String, SourceError> {
    use rusqlite::types::ValueRef;
    Ok(match row.get_ref(column)? {
        ValueRef::Null => String::new(),
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Real(number) => number.to_string(),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => String::from_utf8_lossy(bytes).into_owned(),
    })
}

/// Returns the number of a column.
pub(crate) fn number(row: &Row<'_>, column: &str) -> Result<Option<f64>, SourceError> {
    Ok(text(row, column)?.parse().ok())
}
