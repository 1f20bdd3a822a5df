//! TOML, by a document that keeps comments and spaces.

use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike, Value};

use super::ConfigEditError;
use crate::document::{ConfigChange, ConfigValue, starts_program};

pub(super) fn apply(text: &str, changes: &[ConfigChange]) -> Result<String, ConfigEditError> {
    let mut document = parse(text)?;
    let mut is_changed = false;
    for change in changes {
        let ConfigChange::Entry { section, name, value } = change else { continue };
        let mut map: &mut dyn TableLike = document.as_table_mut();
        for part in section {
            let mut made = Table::new();
            made.set_implicit(true);
            let item = map.entry(part).or_insert(Item::Table(made));
            map = item.as_table_like_mut().ok_or_else(|| ConfigEditError::NoMap(part.clone()))?;
        }
        is_changed |= put(map, name, value);
    }
    let mut edited = if is_changed { document.to_string() } else { text.to_owned() };
    if is_changed && !edited.ends_with('\n') {
        edited.push('\n');
    }
    Ok(edited)
}

/// Puts a value in its place. Where an entry starts a program already, its other keys are the user's, and stay. Tells
/// whether anything changed.
fn put(map: &mut dyn TableLike, name: &str, value: &ConfigValue) -> bool {
    let own = map.get_mut(name).and_then(Item::as_table_like_mut);
    if let (Some(own), ConfigValue::Map(entries)) = (own, value)
        && starts_program(|key| own.contains_key(key))
    {
        let mut is_changed = false;
        for (name, value) in entries {
            let old = own.get(name).and_then(read);
            let value = value.united(name, old.as_ref());
            let stays = value.is_the_users() && own.contains_key(name);
            if !stays && !old.is_some_and(|old| old.is_same(&value)) {
                set(own, name, item(&value));
                is_changed = true;
            }
        }
        return is_changed;
    }
    if map.get(name).and_then(read).is_some_and(|is| is.is_same(value)) {
        return false;
    }
    map.insert(name, item(value));
    true
}

/// Sets a value, and leaves the comments at its line and above it where they are.
fn set(map: &mut dyn TableLike, name: &str, mut new: Item) {
    let Some(own) = map.get_mut(name) else {
        map.insert(name, new);
        return;
    };
    if let (Item::Value(old), Item::Value(new)) = (&*own, &mut new) {
        new.decor_mut().clone_from(old.decor());
    }
    *own = new;
}

pub(super) fn remove(text: &str, original: Option<&str>, changes: &[ConfigChange]) -> Result<String, ConfigEditError> {
    let mut document = parse(text)?;
    let before = original.map(parse).transpose()?;
    for change in changes {
        let ConfigChange::Entry { section, name, .. } = change else { continue };
        let replaced = before.as_ref().and_then(|before| find(before, section)?.get(name).cloned());
        if let Some(map) = find_mut(&mut document, section) {
            match replaced {
                Some(item) if map.contains_key(name) => drop(map.insert(name, item)),
                _ => drop(map.remove(name)),
            }
        }
        let Some(before) = &before else { continue };
        for depth in (1..=section.len()).rev() {
            let path = &section[..depth];
            let is_empty = find(&document, path).is_some_and(TableLike::is_empty);
            if is_empty
                && find(before, path).is_none()
                && let Some(map) = find_mut(&mut document, &path[..depth - 1])
            {
                map.remove(&path[depth - 1]);
            }
        }
    }
    Ok(document.to_string())
}

pub(super) fn entry(text: &str, section: &[String], name: &str) -> Result<Option<ConfigValue>, ConfigEditError> {
    let document = parse(text)?;
    Ok(find(&document, section).and_then(|map| map.get(name)).and_then(read))
}

fn parse(text: &str) -> Result<DocumentMut, ConfigEditError> {
    text.parse().map_err(|error: toml_edit::TomlError| ConfigEditError::Syntax {
        format: "TOML",
        reason: error.to_string().trim_end().to_owned(),
    })
}

fn find<'a>(document: &'a DocumentMut, section: &[String]) -> Option<&'a dyn TableLike> {
    let top: &dyn TableLike = document.as_table();
    section.iter().try_fold(top, |map, part| map.get(part)?.as_table_like())
}

fn find_mut<'a>(document: &'a mut DocumentMut, section: &[String]) -> Option<&'a mut dyn TableLike> {
    let mut map: &mut dyn TableLike = document.as_table_mut();
    for part in section {
        map = map.get_mut(part)?.as_table_like_mut()?;
    }
    Some(map)
}

/// A map is a table of its own, what is in it stands on one line each.
fn item(value: &ConfigValue) -> Item {
    match value {
        ConfigValue::Map(entries) => {
            let mut table = Table::new();
            for (name, value) in entries {
                table.insert(name, Item::Value(inline(value)));
            }
            Item::Table(table)
        }
        value => Item::Value(inline(value)),
    }
}

fn inline(value: &ConfigValue) -> Value {
    match value {
        ConfigValue::Text(text) => text.as_str().into(),
        ConfigValue::Flag(flag) => (*flag).into(),
        ConfigValue::Number(number) => i64::from(*number).into(),
        ConfigValue::List(values) => Value::Array(values.iter().map(inline).collect::<Array>()),
        ConfigValue::Map(entries) => Value::InlineTable(
            entries.iter().map(|(name, value)| (name.as_str(), inline(value))).collect::<InlineTable>(),
        ),
    }
}

/// Reads a value. One that has what we never write, such as a date, is none.
fn read(item: &Item) -> Option<ConfigValue> {
    if let Some(text) = item.as_str() {
        return Some(ConfigValue::Text(text.to_owned()));
    }
    if let Some(flag) = item.as_bool() {
        return Some(ConfigValue::Flag(flag));
    }
    if let Some(number) = item.as_integer() {
        return u32::try_from(number).ok().map(ConfigValue::Number);
    }
    if let Some(list) = item.as_array() {
        let values = list.iter().map(|value| read(&Item::Value(value.clone())));
        return values.collect::<Option<_>>().map(ConfigValue::List);
    }
    let entries = item.as_table_like()?.iter().map(|(name, item)| Some((name.to_owned(), read(item)?)));
    entries.collect::<Option<_>>().map(ConfigValue::Map)
}
