//! The check of operations that come together: all of them are possible, or none is carried out.

use std::borrow::Cow;

use jiff::Timestamp;

use super::WorkingMemory;
use super::operation::{Operation, WorkingInvalid};

impl WorkingMemory {
    /// Checks whether operations are possible one after the other. The error names the one that is not by its place
    /// among those of its kind, such as `set[2]`.
    pub fn check_all(&self, operations: &[Operation], at: Timestamp) -> Result<(), WorkingInvalid> {
        let mut memory = Cow::Borrowed(self);
        for (index, operation) in operations.iter().enumerate() {
            let (earlier, rest) = operations.split_at(index);
            operation.check(&memory).map_err(|invalid| invalid.of(operation, earlier))?;
            if rest.len() > 1 {
                memory.to_mut().apply(operation, at)?;
            }
        }
        Ok(())
    }
}

impl WorkingInvalid {
    /// Names the place of an operation that comes after others.
    fn of(self, operation: &Operation, earlier: &[Operation]) -> Self {
        let count = |is_such: fn(&Operation) -> bool| earlier.iter().filter(|earlier| is_such(earlier)).count();
        let place = match operation {
            Operation::Set(_) => format!("set[{}]", count(|of| matches!(of, Operation::Set(_)))),
            Operation::AddIntermediate { .. } => {
                format!("results[{}]", count(|of| matches!(of, Operation::AddIntermediate { .. })))
            }
            _ => return self,
        };
        match self {
            Self::Field { field, problem } => Self::Field { field: format!("{place}.{field}"), problem },
            Self::Full => Self::Field { field: place, problem: self.to_string() },
            other => other,
        }
    }
}

#[cfg(test)]
mod tests;
