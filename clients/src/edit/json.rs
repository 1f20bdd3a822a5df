//! JSON with comments: values are put in by the concrete syntax tree, and taken out by their place in the text.

use jsonc_parser::ast::Object;
use jsonc_parser::common::{Range, Ranged};
use jsonc_parser::cst::{CstContainerNode, CstInputValue, CstNode, CstObject, CstObjectProp, CstRootNode};
use jsonc_parser::errors::ParseError;
use jsonc_parser::tokens::{Token, TokenAndRange};
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, parse_to_ast};

use super::ConfigEditError;
use crate::document::{ConfigChange, ConfigValue, starts_program};

/// The name of the list of hooks in a group of hooks.
const GROUP: &str = "hooks";

pub(super) fn apply(text: &str, changes: &[ConfigChange]) -> Result<String, ConfigEditError> {
    let root = parse(text)?;
    let top = root.object_value_or_create().ok_or_else(|| ConfigEditError::NoMap("the file".to_owned()))?;
    let mut is_changed = false;
    for change in changes {
        let (section, last) = match change {
            ConfigChange::Entry { section, name, .. } => (&section[..], name),
            ConfigChange::Element { section: path, .. } => match path.split_last() {
                Some((last, section)) => (section, last),
                None => continue,
            },
            ConfigChange::Lines(_) => continue,
        };
        let mut map = top.clone();
        for part in section {
            has_once(&map, part)?;
            map = map.object_value_or_create(part).ok_or_else(|| ConfigEditError::NoMap(part.clone()))?;
        }
        has_once(&map, last)?;
        is_changed |= match change {
            ConfigChange::Element { value, .. } => set_element(&map, last, value)?,
            ConfigChange::Entry { value, .. } => set_entry(&map, last, value),
            ConfigChange::Lines(_) => false,
        };
    }
    Ok(if is_changed { root.to_string() } else { text.to_owned() })
}

/// Refuses a key that a map has twice. JavaScript reads the last one, other programs the first one.
fn has_once(map: &CstObject, name: &str) -> Result<(), ConfigEditError> {
    let same = map.properties().into_iter().filter(|property| property.decoded_name().is_some_and(|own| own == name));
    if same.count() > 1 { Err(ConfigEditError::Twice(name.to_owned())) } else { Ok(()) }
}

/// Changes an entry that is there. Where it starts a program already, its other keys are the user's, and stay, as does a
/// flag or a number. Tells whether anything changed.
fn put(property: &CstObjectProp, value: &ConfigValue) -> bool {
    match (property.object_value(), value) {
        (Some(own), ConfigValue::Map(entries)) if starts_program(|key| own.get(key).is_some()) => merge(&own, entries),
        _ if value.is_the_users() => false,
        _ => {
            property.set_value(input(value));
            true
        }
    }
}

/// Puts entries into a map, whose others stay. Tells whether anything changed.
fn merge(map: &CstObject, entries: &[(String, ConfigValue)]) -> bool {
    let mut is_changed = false;
    for (name, value) in entries {
        let inner = map.get(name).and_then(|old| old.object_value());
        is_changed |= match (inner, value) {
            (Some(inner), ConfigValue::Map(entries)) => merge(&inner, entries),
            (_, value) if value.is_the_users() && map.get(name).is_some() => false,
            _ => set_value(map, name, value),
        };
    }
    is_changed
}

/// Returns whether anything had to be changed.
fn set_entry(map: &CstObject, name: &str, value: &ConfigValue) -> bool {
    match map.get(name) {
        Some(property) if !is_there(&property, value) => put(&property, value),
        _ => set_value(map, name, value),
    }
}

/// Returns whether anything had to be changed.
fn set_value(map: &CstObject, name: &str, value: &ConfigValue) -> bool {
    match map.get(name) {
        Some(property) if is_there(&property, value) => return false,
        Some(property) => property.set_value(input(value)),
        None => drop(map.append(name, input(value))),
    }
    true
}

fn is_there(property: &CstObjectProp, value: &ConfigValue) -> bool {
    property.value().and_then(|value| read(&value)).is_some_and(|is| is.is_same(value))
}

/// Tells whether anything had to be changed. The first of several hooks of ours is replaced; the group that it is in
/// stays, because others in it are the user's.
fn set_element(map: &CstObject, name: &str, value: &ConfigValue) -> Result<bool, ConfigEditError> {
    let list = map.array_value_or_create(name).ok_or_else(|| ConfigEditError::NoList(name.to_owned()))?;
    let elements = list.elements();
    let own = elements.iter().find_map(|element| own_hook(element).map(|hook| (element, hook)));
    let Some((element, hook)) = own else {
        list.append(input(value));
        return Ok(true);
    };
    if read(element).is_some_and(|is| is.is_same(value)) {
        return Ok(false);
    }
    let (Some(is), Some(wanted)) = (read(&hook), value.own_hook()) else { return Ok(false) };
    if is.is_same(wanted) {
        return Ok(false);
    }
    if let CstNode::Container(CstContainerNode::Object(object)) = hook {
        object.replace_with(input(wanted));
    }
    Ok(true)
}

/// Returns the programs that hooks of ours run, wherever they stand in the text.
pub(super) fn hook_programs(text: &str) -> Result<Vec<String>, ConfigEditError> {
    let mut programs = Vec::new();
    let mut open: Vec<CstNode> = parse(text)?.value().into_iter().collect();
    while let Some(node) = open.pop() {
        if let Some(program) = read(&node).as_ref().and_then(ConfigValue::hook_program) {
            programs.push(program.to_owned());
        } else if let Some(list) = node.as_array() {
            open.extend(list.elements());
        } else if let Some(map) = node.as_object() {
            open.extend(map.properties().iter().filter_map(CstObjectProp::value));
        }
    }
    programs.sort_unstable();
    programs.dedup();
    Ok(programs)
}

pub(super) fn entry(text: &str, section: &[String], name: &str) -> Result<Option<ConfigValue>, ConfigEditError> {
    let root = parse(text)?;
    Ok(find(&root, section).and_then(|map| map.get(name)?.value()).and_then(|value| read(&value)))
}

/// Reads a value that stands alone.
pub(super) fn value(text: &str) -> Option<ConfigValue> {
    read(&parse(text).ok()?.value()?)
}

/// Finds our hook in an element of a list: the element itself, or one of the hooks of a group.
fn own_hook(element: &CstNode) -> Option<CstNode> {
    let is_ours = |hook: &CstNode| read(hook).is_some_and(|is| is.is_our_hook());
    if is_ours(element) { Some(element.clone()) } else { group(element).into_iter().find(is_ours) }
}

/// Returns the hooks of a group; none where the element is no group.
fn group(element: &CstNode) -> Vec<CstNode> {
    element.as_object().and_then(|group| group.array_value(GROUP)).map(|hooks| hooks.elements()).unwrap_or_default()
}

pub(super) fn remove(text: &str, original: Option<&str>, changes: &[ConfigChange]) -> Result<String, ConfigEditError> {
    let mut text = text.to_owned();
    let before = original.map(parse).transpose()?;
    for change in changes {
        let (section, name, value) = match change {
            ConfigChange::Entry { section, name, value } => (section, name, value),
            ConfigChange::Element { section, .. } => {
                text = without_elements(&text, before.as_ref(), section)?;
                continue;
            }
            ConfigChange::Lines(_) => continue,
        };
        // The text of what was replaced may have what we never write, such as null, and comments.
        let replaced = match original {
            Some(original) => value_range(original, section, name)?.map(|range| &original[range.start..range.end]),
            None => None,
        };
        let has_others = find(&parse(&text)?, section).is_some_and(|map| map.properties().len() > 1);
        text = match (replaced, value_range(&text, section, name)?) {
            (Some(replaced), Some(own)) => format!("{}{replaced}{}", &text[..own.start], &text[own.end..]),
            (Some(_), None) => text,
            // What stands beside it may need it, such as a version.
            (None, _) if value.is_the_users() && has_others => text,
            (None, _) => without_property(&text, section, name)?,
        };
        text = without_empty_maps(text, before.as_ref(), section)?;
    }
    Ok(text)
}

/// Takes out the maps of a section that are empty, where they were not there before.
fn without_empty_maps(
    mut text: String,
    before: Option<&CstRootNode>,
    section: &[String],
) -> Result<String, ConfigEditError> {
    let Some(before) = before else { return Ok(text) };
    for depth in (1..=section.len()).rev() {
        let path = &section[..depth];
        let is_empty = find(&parse(&text)?, path).is_some_and(|map| map.properties().is_empty());
        if is_empty && find(before, path).is_none() {
            text = without_property(&text, &path[..depth - 1], &path[depth - 1])?;
        }
    }
    Ok(text)
}

/// Takes our hooks out of a list, each with its group where no other hook is left there, and the list and its maps
/// where they are empty and were not there before.
fn without_elements(text: &str, before: Option<&CstRootNode>, path: &[String]) -> Result<String, ConfigEditError> {
    let Some((name, section)) = path.split_last() else { return Ok(text.to_owned()) };
    let mut text = text.to_owned();
    let list = |root: &CstRootNode| find(root, section)?.array_value(name);
    let place = |element: &CstNode| {
        own_hook(element)?;
        let hooks = group(element);
        let is_ours = |hook: &CstNode| read(hook).is_some_and(|is| is.is_our_hook());
        Some(if hooks.len() > 1 { hooks.iter().position(is_ours) } else { None })
    };
    while let Some((position, within)) = list(&parse(&text)?).and_then(|list| {
        list.elements().iter().enumerate().find_map(|(position, element)| Some((position, place(element)?)))
    }) {
        text = cut(&text, |top| {
            let map = section.iter().try_fold(top, |map, part| map.get_object(part))?;
            let element = map.get_array(name)?.elements.get(position)?;
            match within {
                None => Some(element.range()),
                Some(within) => element.as_object()?.get_array(GROUP)?.elements.get(within).map(|hook| hook.range()),
            }
        })?;
    }
    let is_empty = list(&parse(&text)?).is_some_and(|list| list.elements().is_empty());
    if is_empty && before.is_some_and(|before| list(before).is_none()) {
        text = without_property(&text, section, name)?;
    }
    without_empty_maps(text, before, section)
}

/// Returns the text without a property. The removal of the syntax tree would take comments beside it along.
fn without_property(text: &str, section: &[String], name: &str) -> Result<String, ConfigEditError> {
    cut(text, |top| {
        let map = section.iter().try_fold(top, |map, part| map.get_object(part))?;
        map.get(name).map(|property| property.range)
    })
}

/// Returns where the value of a property stands.
fn value_range(text: &str, section: &[String], name: &str) -> Result<Option<Range>, ConfigEditError> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &options()).map_err(|error| no_json(&error))?;
    let Some(top) = parsed.value.as_ref().and_then(|value| value.as_object()) else { return Ok(None) };
    let map = section.iter().try_fold(top, |map, part| map.get_object(part));
    Ok(map.and_then(|map| map.get(name)).map(|property| property.value.range()))
}

/// Cuts out what `find` finds, with the comma and the line that are only its own.
fn cut(text: &str, find: impl for<'a, 'b> Fn(&'b Object<'a>) -> Option<Range>) -> Result<String, ConfigEditError> {
    let collected = CollectOptions { comments: CommentCollectionStrategy::Separate, tokens: true };
    let parsed = parse_to_ast(text, &collected, &options()).map_err(|error| no_json(&error))?;
    let Some(range) = parsed.value.as_ref().and_then(|value| value.as_object()).and_then(find) else {
        return Ok(text.to_owned());
    };
    let tokens: Vec<_> = parsed.tokens.iter().flatten().collect();
    let comma_at =
        |token: Option<&&TokenAndRange<'_>>| token.filter(|token| token.token == Token::Comma).map(|token| token.range);
    let comma_before = comma_at(tokens.iter().rfind(|token| token.range.end <= range.start));
    let comma_after = comma_at(tokens.iter().find(|token| token.range.start >= range.end));
    let mut cut = range.start..comma_after.map_or(range.end, |comma| comma.end);
    let line_start = text[..cut.start].trim_end_matches([' ', '\t', '\r']);
    let line_end = text[cut.end..].trim_start_matches([' ', '\t', '\r']);
    let has_own_lines = line_start.ends_with('\n') && line_end.starts_with('\n');
    if has_own_lines {
        cut.start = line_start.len() - 1;
        cut.end = text.len() - line_end.len();
    }
    let before = &text[..cut.start];
    let before = match comma_before {
        Some(comma) if comma_after.is_none() => format!("{}{}", &before[..comma.start], &before[comma.end..]),
        _ => before.to_owned(),
    };
    Ok(format!("{before}{}", &text[cut.end..]))
}

/// Allows what JSON with comments has beyond JSON: comments and trailing commas.
fn options() -> ParseOptions {
    ParseOptions {
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        ..ParseOptions::default()
    }
}

fn parse(text: &str) -> Result<CstRootNode, ConfigEditError> {
    CstRootNode::parse(text, &options()).map_err(|error| no_json(&error))
}

fn no_json(error: &ParseError) -> ConfigEditError {
    ConfigEditError::Syntax { format: "JSON", reason: error.to_string() }
}

fn find(root: &CstRootNode, section: &[String]) -> Option<CstObject> {
    section.iter().try_fold(root.object_value()?, |map, part| map.object_value(part))
}

fn input(value: &ConfigValue) -> CstInputValue {
    match value {
        ConfigValue::Text(text) => CstInputValue::String(text.clone()),
        ConfigValue::Flag(flag) => CstInputValue::Bool(*flag),
        ConfigValue::Number(number) => CstInputValue::Number(number.to_string()),
        ConfigValue::List(values) => CstInputValue::Array(values.iter().map(input).collect()),
        ConfigValue::Map(entries) => {
            CstInputValue::Object(entries.iter().map(|(name, value)| (name.clone(), input(value))).collect())
        }
    }
}

/// Reads a value. One that has what we never write, such as null, is none.
fn read(node: &CstNode) -> Option<ConfigValue> {
    if let Some(text) = node.as_string_lit() {
        return text.decoded_value().ok().map(ConfigValue::Text);
    }
    if let Some(flag) = node.as_boolean_lit() {
        return Some(ConfigValue::Flag(flag.value()));
    }
    if let Some(number) = node.as_number_lit() {
        return number.to_string().parse().ok().map(ConfigValue::Number);
    }
    if let Some(list) = node.as_array() {
        return list.elements().iter().map(read).collect::<Option<_>>().map(ConfigValue::List);
    }
    let entries = node.as_object()?.properties().into_iter();
    entries
        .map(|property| Some((property.decoded_name()?, read(&property.value()?)?)))
        .collect::<Option<_>>()
        .map(ConfigValue::Map)
}
