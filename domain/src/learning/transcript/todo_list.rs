//! The todo list of a session. Some agents write the whole list at each call, and some create and change its items one
//! by one.

use std::collections::HashMap;

use serde_json::Value;

use super::record::shortened;
use crate::memory::trace::PlanStep;

/// The most items of a list. Further ones are left out.
const ITEMS_MAX: usize = 200;
const ID_MAX_CHARS: usize = 40;
/// The words of Claude Code around the id of an item that it has created.
const CREATED: (&str, &str) = ("Task #", " created successfully");

/// Says whether a tool keeps a todo list or a plan, and changes nothing else.
pub(crate) fn keeps_plan(tool: &str) -> bool {
    let tool = tool.to_lowercase();
    tool.contains("todo") || tool.contains("plan") || tool == "taskcreate" || tool == "taskupdate"
}

/// A plan, and how far it is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RequestPlan {
    pub steps: Vec<PlanStep>,
    /// The id of the step in work.
    pub current: Option<String>,
    /// The ids of the steps that are done.
    pub done: Vec<String>,
}

#[derive(Debug, Default)]
pub(super) struct TodoList {
    items: Vec<TodoItem>,
    /// The titles of items whose calls were not answered yet, by the ids of the calls.
    asked: HashMap<String, String>,
}

#[derive(Debug)]
struct TodoItem {
    id: String,
    title: String,
    status: TodoStatus,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TodoStatus {
    Pending,
    InProgress,
    Done,
}

impl TodoList {
    /// Takes a call of a tool. Says whether it changes the list.
    pub(super) fn call(&mut self, call: &str, tool: &str, arguments: &Value) -> bool {
        let list = match tool {
            "TodoWrite" | "todo_write" | "write_todos" => arguments.get("todos"),
            "update_plan" => arguments.get("plan"),
            "TaskCreate" => {
                if let Some(title) = title_of(arguments).filter(|_| self.asked.len() < ITEMS_MAX) {
                    self.asked.insert(call.to_owned(), title);
                }
                return false;
            }
            "TaskUpdate" => return self.update(arguments),
            _ => None,
        };
        let Some(list) = list.and_then(Value::as_array) else { return false };
        let planned = list.iter().filter(|item| text(item, "status") != Some("cancelled"));
        let titled = planned.filter_map(|item| Some((title_of(item)?, status_of(item)))).take(ITEMS_MAX).enumerate();
        let item = |(n, (title, status)): (usize, (String, Option<TodoStatus>))| TodoItem {
            id: (n + 1).to_string(),
            title,
            status: status.unwrap_or(TodoStatus::Pending),
        };
        self.items = titled.map(item).collect();
        true
    }

    /// Takes the answer to a call. Says whether it changes the list: an item has its id from the answer.
    pub(super) fn result(&mut self, call: &str, output: &str) -> bool {
        let Some(title) = self.asked.remove(call) else { return false };
        let id = || output.split_once(CREATED.0)?.1.split_once(CREATED.1).map(|(id, _)| id.trim().to_owned());
        let is_id = |id: &String| (1..=ID_MAX_CHARS).contains(&id.chars().count());
        let Some(id) = id().filter(|id| is_id(id) && self.items.len() < ITEMS_MAX) else { return false };
        self.items.retain(|item| item.id != id);
        self.items.push(TodoItem { id, title, status: TodoStatus::Pending });
        true
    }

    /// Begins the next request. What is done is not a part of its plan.
    pub(super) fn begin_request(&mut self) {
        self.items.retain(|item| item.status != TodoStatus::Done);
        self.asked.clear();
    }

    pub(super) fn plan(&self) -> RequestPlan {
        let step =
            |item: &TodoItem| PlanStep { id: item.id.clone(), title: item.title.clone(), depends_on: Vec::new() };
        let of = |status: TodoStatus| self.items.iter().filter(move |item| item.status == status);
        RequestPlan {
            steps: self.items.iter().map(step).collect(),
            current: of(TodoStatus::InProgress).next().map(|item| item.id.clone()),
            done: of(TodoStatus::Done).map(|item| item.id.clone()).collect(),
        }
    }

    fn update(&mut self, arguments: &Value) -> bool {
        let id = match arguments.get("taskId") {
            Some(Value::String(id)) => id.clone(),
            Some(Value::Number(id)) => id.to_string(),
            _ => return false,
        };
        let Some(place) = self.items.iter().position(|item| item.id == id) else { return false };
        if text(arguments, "status") == Some("deleted") {
            self.items.remove(place);
            return true;
        }
        let item = &mut self.items[place];
        let (title, status) = (text(arguments, "subject").map(shortened), status_of(arguments));
        let is_changed = title.is_some() || status.is_some();
        item.title = title.unwrap_or_else(|| std::mem::take(&mut item.title));
        item.status = status.unwrap_or(item.status);
        is_changed
    }
}

fn text<'a>(item: &'a Value, name: &str) -> Option<&'a str> {
    item.get(name)?.as_str()
}

fn title_of(item: &Value) -> Option<String> {
    let title = ["content", "step", "title", "subject", "description"].iter().find_map(|name| text(item, name));
    title.map(str::trim).filter(|title| !title.is_empty()).map(shortened)
}

/// Reads a status. None where there is none.
fn status_of(item: &Value) -> Option<TodoStatus> {
    Some(match text(item, "status")? {
        "completed" | "done" => TodoStatus::Done,
        "in_progress" => TodoStatus::InProgress,
        _ => TodoStatus::Pending,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn told(plan: &RequestPlan) -> (Vec<(&str, &str)>, Option<&str>, Vec<&str>) {
        let steps = plan.steps.iter().map(|step| (step.id.as_str(), step.title.as_str())).collect();
        (steps, plan.current.as_deref(), plan.done.iter().map(String::as_str).collect())
    }

    #[test]
    fn a_list_that_is_written_whole_replaces_the_one_before() {
        let mut todos = TodoList::default();
        assert!(todos.call("a", "TodoWrite", &json!({"todos": [{"content": "One", "status": "pending"}]})));
        let plan = json!({"plan": [{"step": "One", "status": "completed"}, {"step": "Two", "status": "in_progress"}, {},
            {"step": "No more", "status": "cancelled"}]});
        assert!(todos.call("b", "update_plan", &plan));
        assert_eq!(told(&todos.plan()), (vec![("1", "One"), ("2", "Two")], Some("2"), vec!["1"]));
        assert!(!todos.call("c", "Bash", &json!({"todos": []})) && !todos.call("d", "TodoWrite", &json!({})));
        assert_eq!(todos.plan().steps.len(), 2);
    }

    #[test]
    fn items_that_are_created_and_changed_one_by_one_have_the_ids_of_their_answers() {
        let mut todos = TodoList::default();
        for (call, title) in [("a", "Reproduce it"), ("b", "Mend it"), ("c", "Never answered")] {
            assert!(!todos.call(call, "TaskCreate", &json!({"subject": title, "description": "At length"})));
        }
        assert!(todos.result("a", "Task #4 created successfully: Reproduce it"));
        assert!(todos.result("b", "Task #5 created successfully: Mend it") && !todos.result("b", "again"));
        assert!(todos.call("d", "TaskUpdate", &json!({"taskId": "4", "status": "completed"})));
        assert!(todos.call("e", "TaskUpdate", &json!({"taskId": "5", "status": "in_progress", "subject": "Mend all"})));
        assert!(!todos.call("f", "TaskUpdate", &json!({"taskId": "9", "status": "completed"})));
        assert_eq!(told(&todos.plan()), (vec![("4", "Reproduce it"), ("5", "Mend all")], Some("5"), vec!["4"]));
        todos.begin_request();
        assert_eq!(told(&todos.plan()), (vec![("5", "Mend all")], Some("5"), vec![]));
        assert!(todos.call("g", "TaskUpdate", &json!({"taskId": "5", "status": "deleted"})));
        assert_eq!(todos.plan(), RequestPlan::default());
    }
}
