//! A genealogy as text, as Graphviz DOT and as Mermaid. People and models wrote the titles; whatever these hold, a line
//! stays a line and a label a label.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::{Edge, EdgeKind, Genealogy, Node};
use crate::memory::ids::MemoryId;
use crate::prompt::one_line;

/// The deepest level that is indented further. Without this limit, the text of a long line of descent would grow with
/// the square of its length.
const MAX_INDENT: usize = 40;

struct TreeLine {
    id: MemoryId,
    depth: usize,
    /// The signs that are drawn before the memory on its own line. Those before the lines below it are in `below`.
    branch: String,
    below: String,
}

impl Genealogy {
    /// Draws the tree with one line for each memory and what came from it below; `*` marks the memory that was asked
    /// for. A memory with several sources stands below each of them, but what came from it is drawn only the first
    /// time.
    pub(super) fn text(&self) -> String {
        let nodes: BTreeMap<MemoryId, &Node> = self.nodes().map(|node| (node.id, node)).collect();
        let mut children: BTreeMap<MemoryId, Vec<MemoryId>> = BTreeMap::new();
        let mut is_child = BTreeSet::new();
        for Edge { from, to, .. } in &self.edges {
            children.entry(*from).or_default().push(*to);
            is_child.insert(*to);
        }
        // A cycle has no oldest memory; it is entered where it is met.
        let oldest = nodes.keys().filter(|id| !is_child.contains(id)).chain(nodes.keys());
        let (mut drawn, mut text) = (BTreeSet::new(), String::new());
        for root in oldest {
            if drawn.contains(root) {
                continue;
            }
            let mut waiting = vec![TreeLine { id: *root, depth: 0, branch: String::new(), below: String::new() }];
            while let Some(line) = waiting.pop() {
                let Some(node) = nodes.get(&line.id) else { continue };
                let first = drawn.insert(line.id);
                let _ = writeln!(text, "{}{}", line.branch, self.label(node, first));
                let children = children.get(&line.id).filter(|_| first).map(Vec::as_slice).unwrap_or_default();
                for (n, child) in children.iter().enumerate().rev() {
                    waiting.push(TreeLine::below(&line, *child, n + 1 == children.len()));
                }
            }
        }
        text
    }

    fn label(&self, node: &Node, first: bool) -> String {
        let mark = if node.id == self.memory.id { "* " } else { "" };
        let warning = if node.warning { "warning, " } else { "" };
        let again = if first { "" } else { " (see above)" };
        format!(
            "{mark}{} [{warning}{}, stage {}, confidence {:.2}, {}] {}{again}",
            one_line(&node.title),
            node.outcome.as_str(),
            node.evolution_stage,
            node.confidence,
            node.status.as_str(),
            node.id
        )
    }

    /// Returns the graph in the DOT language of Graphviz.
    pub fn dot(&self) -> String {
        let mut dot = "digraph genealogy {\n  rankdir=TB;\n  node [shape=box];\n".to_owned();
        for node in self.nodes() {
            let style = match (node.id == self.memory.id, node.warning) {
                (true, _) => ", style=bold",
                (false, true) => ", style=dashed",
                (false, false) => "",
            };
            let _ = writeln!(dot, "  \"{}\" [label=\"{}\"{style}];", node.id, dot_text(&node.title));
        }
        for Edge { from, to, kind } in &self.edges {
            let _ = writeln!(dot, "  \"{from}\" -> \"{to}\" [label=\"{}\"];", kind.as_str());
        }
        dot.push_str("}\n");
        dot
    }

    pub fn mermaid(&self) -> String {
        let number: BTreeMap<MemoryId, usize> = self.nodes().enumerate().map(|(n, node)| (node.id, n)).collect();
        let mut mermaid = "graph TD\n".to_owned();
        for (n, node) in self.nodes().enumerate() {
            let _ = writeln!(mermaid, "  m{n}[\"{}\"]", mermaid_text(&node.title));
        }
        for Edge { from, to, kind } in &self.edges {
            let arrow = if *kind == EdgeKind::Parent { "-->" } else { "-.->" };
            if let (Some(from), Some(to)) = (number.get(from), number.get(to)) {
                let _ = writeln!(mermaid, "  m{from} {arrow}|{}| m{to}", kind.as_str());
            }
        }
        mermaid.push_str("  style m0 stroke-width:3px\n");
        mermaid
    }
}

impl TreeLine {
    fn below(parent: &Self, id: MemoryId, is_last: bool) -> Self {
        let depth = parent.depth + 1;
        if depth > MAX_INDENT {
            let branch = format!("{}[level {depth}] ", parent.below);
            return Self { id, depth, branch, below: parent.below.clone() };
        }
        let (branch, below) = if is_last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
        Self { id, depth, branch: format!("{}{branch}", parent.below), below: format!("{}{below}", parent.below) }
    }
}

/// Returns the text as part of a DOT string. Quotes and backslashes are escaped. Line breaks and other control
/// characters, which a terminal might obey, become spaces.
fn dot_text(text: &str) -> String {
    one_line(text).replace('\\', "\\\\").replace('"', "\\\"")
}

/// Returns the text with entities of Mermaid for everything that Mermaid, or the HTML it makes, could read as more than
/// text.
fn mermaid_text(text: &str) -> String {
    let mut out = String::new();
    for c in one_line(text).chars() {
        if c.is_alphanumeric() || " .,:-_'!?/+".contains(c) {
            out.push(c);
        } else {
            let _ = write!(out, "#{};", u32::from(c));
        }
    }
    out
}
