use reasoning_bank_domain::prompt::Template;

use super::*;

const CONTRAST: &str = include_str!("../../../config/prompts/contrast.md");

fn with_prompts(files: &[(&str, &str)]) -> Place {
    let place = Place::new().user_file("llm.prompts_dir = '../prompts'");
    fs::create_dir_all(place.path("prompts")).unwrap();
    files.iter().fold(place, |place, (name, text)| place.file(&format!("prompts/{name}"), text))
}

#[test]
fn prompts_of_the_users_own_take_the_place_of_those_built_in() {
    let own = CONTRAST.replace("You compare", "Compare, please,");
    let prompts = with_prompts(&[("contrast.md", &own)]).load().settings.llm.prompts;
    assert!(prompts.instructions(Template::Contrast).starts_with("Compare, please,"));
    assert_eq!(prompts.instructions(Template::Think), Template::Think.instructions());
    assert_eq!(*Place::new().load().settings.llm.prompts, Default::default());
}

#[test]
fn every_file_that_cannot_be_a_prompt_is_named_with_what_is_wrong() {
    let place = with_prompts(&[
        ("contrast.md", &CONTRAST.replace("{{{attempts}}}", "")),
        ("notes.txt", "mine"),
        ("think.md", "\u{0}"),
    ]);
    let user = place.path("config/reasoning-bank/config.toml").display().to_string();
    let problems = place.problems();
    assert_eq!(problems.len(), 3, "{problems:?}");
    for ((key, problem, layer), (file, wrong)) in problems.iter().zip([
        ("contrast.md", "the input must have {{{attempts}}}"),
        ("notes.txt", "is no prompt"),
        ("think.md", "must have instructions"),
    ]) {
        assert_eq!((key.as_str(), layer), ("llm.prompts_dir", &user));
        assert!(problem.contains(file) && problem.contains(wrong), "{problem}");
    }
    let (_, problem, _) = Place::new().user_file("llm.prompts_dir = '/nowhere/at/all'").problem();
    assert!(problem.starts_with("/nowhere/at/all cannot be read"), "{problem}");
}
