//! Changes of a bank, as a model or the rules describe them.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::BankPath;
use crate::safety::secrets::{Removed, Scrub};

/// The separator between the headings of a section's path, as in `Decisions > Storage`.
pub const SECTION_SEPARATOR: &str = " > ";

/// The effect of an operation on its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum BankOperationType {
    /// Adds the content at the end of a section, or of the file where no section is named.
    Append,
    /// Adds the content at the beginning of a section, which has its newest entry first.
    PrependEntry,
    /// Puts the content in the place of what stands directly under the heading. Subsections stay.
    ReplaceSection,
    /// Adds a section with this heading at the end of the file, or under the section that its path names.
    CreateSection,
    CreateFile,
    /// Ticks the open item that says what the content says.
    CompleteItem,
}

impl BankOperationType {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Append => "append",
            Self::PrependEntry => "prepend_entry",
            Self::ReplaceSection => "replace_section",
            Self::CreateSection => "create_section",
            Self::CreateFile => "create_file",
            Self::CompleteItem => "complete_item",
        }
    }
}

/// The topic of a piece of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum BankCategory {
    Goal,
    Requirement,
    Scope,
    Problem,
    User,
    Behaviour,
    Focus,
    Next,
    Question,
    Architecture,
    Decision,
    Convention,
    Preference,
    Dependency,
    Command,
    Constraint,
    Link,
    Done,
    Blocked,
    Issue,
    Fix,
    Profile,
    Note,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum BankImportance {
    Low,
    #[default]
    Normal,
    /// It is kept as it is when the bank is optimised.
    High,
}

/// The author of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum BankSource {
    Llm,
    #[default]
    Rules,
}

/// The metadata of the content of an operation.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct BankMetadata {
    /// The headings that lead to the section, with ` > ` between them. One heading is enough where no other is the
    /// same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub section: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category: Option<BankCategory>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    pub importance: BankImportance,
    pub source: BankSource,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversation_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<Timestamp>,
    /// The sections that the content belongs with, each as `file#section`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub relations: Vec<String>,
}

/// A change of one file of a bank.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BankOperation {
    pub target_file: BankPath,
    pub operation_type: BankOperationType,
    pub content: String,
    #[serde(default)]
    pub metadata: BankMetadata,
}

impl Scrub for BankOperation {
    fn scrub(&mut self) -> Removed {
        let metadata = &mut self.metadata;
        self.content.scrub()
            + metadata.section.scrub()
            + metadata.tags.scrub()
            + metadata.relations.scrub()
            + metadata.conversation_id.scrub()
    }
}
