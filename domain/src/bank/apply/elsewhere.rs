//! Entries that the rules filed into a file that cannot take them go to another file, so that no text is refused for one
//! of its pieces.

use jiff::Timestamp;

use super::{BankChange, BankRefusal, apply, is_entry};
use crate::bank::{BankFiles, BankInvalid, BankOperation, BankOperationType, BankPath};

/// Validates and performs operations as [`apply`] does. Where a file cannot take its entries, they go to `notes.md`, and
/// the change says so.
///
/// # Errors
/// The text is too long for the bank, or no file can take it. Nothing has changed.
pub fn apply_filed(files: &BankFiles, operations: &[BankOperation], now: Timestamp) -> Result<BankChange, BankInvalid> {
    let (mut operations, mut displaced) = (operations.to_vec(), Vec::new());
    loop {
        let error = match apply(files, &operations, now) {
            Ok(change) => return Ok(BankChange { displaced, ..change }),
            Err(error) => error,
        };
        let Some(file) = refusing(&operations, &error) else { return Err(error) };
        operations = elsewhere(operations, &file, files);
        displaced.push(BankRefusal { target_file: file, problem: error.problem });
    }
}

/// Returns the file that cannot take an entry. None where another one would not take it either.
fn refusing(operations: &[BankOperation], error: &BankInvalid) -> Option<BankPath> {
    let (file, _) = error.field.rsplit_once(": ")?;
    let entries = operations.iter().filter(|of| is_entry(of.operation_type));
    entries.map(|of| &of.target_file).find(|path| path.as_str() == file && **path != BankPath::notes()).cloned()
}

/// Returns the operations with the entries for one file in `notes.md`, and without the sections that were to take them.
fn elsewhere(operations: Vec<BankOperation>, file: &BankPath, files: &BankFiles) -> Vec<BankOperation> {
    let notes = BankPath::notes();
    let creates = |of: &BankOperation| of.operation_type == BankOperationType::CreateFile && of.target_file == notes;
    let is_there = files.contains_key(&notes) || operations.iter().any(creates);
    let mut all = Vec::with_capacity(operations.len() + 1);
    for mut operation in operations {
        let is_own = operation.target_file == *file;
        if is_own && is_entry(operation.operation_type) {
            operation.target_file = notes.clone();
            operation.operation_type = BankOperationType::Append;
            operation.metadata.section = None;
        } else if is_own && operation.operation_type == BankOperationType::CreateSection {
            continue;
        }
        all.push(operation);
    }
    if !is_there {
        let metadata = all.first().map(|of| of.metadata.clone()).unwrap_or_default();
        let (operation_type, content) = (BankOperationType::CreateFile, "# Notes".to_owned());
        all.insert(0, BankOperation { target_file: notes, operation_type, content, metadata });
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_file_cannot_take_goes_to_another_and_the_rest_to_its_place() {
        let path = |name: &str| name.parse::<BankPath>().unwrap();
        let operation = |file: &str, section: &str, content: &str| {
            let mut operation = BankOperation {
                target_file: path(file),
                operation_type: BankOperationType::Append,
                content: content.to_owned(),
                metadata: Default::default(),
            };
            operation.metadata.section = Some(section.to_owned());
            operation
        };
        let text = |title: &str| format!("# {title}\n\n## Done\n\n- one\n");
        let mut files = BankFiles::from([(path("a.md"), text("A")), (path("b.md"), text("B"))]);
        let operations = [
            operation("a.md", "Blocked", "- two"),
            operation("a.md", "Done", "- three"),
            operation("b.md", "Done", "- four"),
        ];
        let now = "2026-11-25T12:00:00Z".parse().unwrap();
        let change = apply_filed(&files, &operations, now).unwrap();
        assert_eq!(change.changed[&path("notes.md")], "# Notes\n\n- two\n- three\n");
        assert!(change.changed[&path("b.md")].contains("- four") && !change.changed.contains_key(&path("a.md")));
        assert_eq!(change.displaced[0].target_file, path("a.md"));
        files.insert(path("notes.md"), text("Notes"));
        let change = apply_filed(&files, &operations, now).unwrap();
        assert!(change.changed[&path("notes.md")].ends_with("- one\n- two\n- three\n"), "{change:?}");
        let mut echo = operation("a.md", "Done", " ");
        assert!(apply_filed(&files, &[echo.clone()], now).is_err(), "no file takes it");
        echo.target_file = path("notes.md");
        assert!(apply_filed(&files, &[echo], now).is_err());
    }
}
