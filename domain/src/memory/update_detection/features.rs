//! The features of two clauses that differ in one value: each tells for or against that the newer clause updates the
//! older one. `clause_relation` says which clauses are compared at all.

use super::alignment::{Alignment, Candidate, Difference, UnsharedWords, align, is_other_tool};
use super::clause::Clause;
use super::dotted;
use super::values::ValueKind;
use super::{lexicon, relations, tools};

/// The most left-over words of a sort that count.
const MOST_LEFT: f64 = 3.0;

/// The evidence that a newer clause updates an older one: the name, the weight and the value of each sort.
pub(super) type UpdateEvidence = Vec<(&'static str, f64, f64)>;

/// Two clauses that differ in one value.
pub(super) struct ClausePair<'a> {
    newer: &'a Clause,
    older: &'a Clause,
    pub(super) difference: Difference,
    /// The values that differ, that of the newer clause first. None as in [`Alignment`].
    slots: Option<[Candidate<'a>; 2]>,
    pub(super) new: UnsharedWords,
    pub(super) old: UnsharedWords,
    /// The newer clause names the older value as the one before.
    pub(super) names_older: bool,
}

/// The features that tell for or against an update. A number of words counts at most [`MOST_LEFT`].
pub(super) struct UpdateFeatures {
    /// Both sides have words that the other does not say.
    nouns_both: bool,
    /// The verbs have different objects: `retry webhooks`, `retry uploads`.
    objects_both: bool,
    /// The number of nouns that one side speaks of.
    subjects_any: f64,
    /// One clause speaks of nouns, and the other leaves nothing over: it is one of its cases.
    exception: bool,
    /// The number of words before a noun, where both say the noun.
    modifiers_any: f64,
    /// The number of words that narrow one side.
    narrowing_any: f64,
    /// The number of words behind a preposition.
    behind_any: f64,
    /// Both sides have another value.
    values_both: bool,
    /// The number of other names.
    names_any: f64,
    /// Both sides have words beside the value, which tell what it measures.
    beside_both: bool,
    /// Other verbs stand beside two values of one type. They say more of their attribute than names do.
    typed_verbs: bool,
    /// Two things are done to the subject: `is formatted with`, `is linted with`.
    passive_verbs: bool,
    /// The subject does two things, or two things are said of it: `drives a car`, `parks it in the yard`.
    open_verbs: bool,
    /// Words differ, and not names or amounts.
    words: bool,
    /// One clause says what the subject is, and the other what is done to it: `is a monolith`, `is written in PHP`.
    being: bool,
    /// One clause says in words what the subject is, and the other what is done: `is plain text`, `is shipped by Vector`.
    being_words: bool,
    /// The values stand behind prepositions that say other things: `is done with` and `is done by`, or `is serviced by`
    /// and `runs at`.
    other_opening: bool,
    /// One side denies what the other affirms.
    polarity: bool,
    /// The newer clause says something beside that.
    polarity_left: bool,
    /// The values are two tools of different purposes.
    other_tool: bool,
    /// The newer clause says that something changed.
    marker: bool,
    /// The newer clause names the older value as the one before.
    names_older: bool,
    /// The verb may have several objects.
    additive: bool,
    /// One of several is meant, by its article: `a customer of ours is`.
    indefinite: bool,
    /// One of several is meant, by the title: `Sponsors`.
    of_several: bool,
    /// One of several occasions is meant: `when an order is created`.
    condition: bool,
    /// One side permits something, and there may be other permissions beside it.
    permission: bool,
    /// Both sides forbid something. Two prohibitions may hold side by side.
    both_denied: bool,
    /// Both sides advise something. Two advices may hold side by side.
    advice: bool,
    /// A name does something, and others may do it as well.
    subject_name: bool,
    /// One clause tells the duty of a person, and the other clause says nothing of the duty: `is on call for billing`.
    other_role: bool,
    /// Words before the verb differ.
    subject_phrase: bool,
    /// The value stands before the verb of one clause and behind that of the other.
    turned: bool,
    /// The value is the object of a verb, which may have several.
    object: bool,
    /// The newer clause tells what somebody did once.
    deed: bool,
}

impl UpdateFeatures {
    /// Returns the features with their weights. These are those of a logistic regression (Cox 1958), which
    /// `scripts/fit_updates.py` makes. Those of `open_verbs`, `being_words` and `other_role` are set by hand: in the pairs that it is
    /// fitted to, other verbs tell a change far more often than among statements that nobody chose.
    pub(super) fn evidence(&self) -> UpdateEvidence {
        let flag = |is: bool| f64::from(u8::from(is));
        vec![
            // The score of two clauses that differ in one value alone.
            ("one", 1.22, 1.0),
            ("nouns_both", -0.59, flag(self.nouns_both)),
            ("objects_both", -1.57, flag(self.objects_both)),
            ("subjects_any", -0.82, self.subjects_any),
            ("exception", -0.95, flag(self.exception)),
            ("modifiers_any", -2.15, self.modifiers_any),
            ("narrowing_any", -3.36, self.narrowing_any),
            ("behind_any", -1.80, self.behind_any),
            ("values_both", -1.90, flag(self.values_both)),
            ("names_any", -2.27, self.names_any),
            ("beside_both", -2.66, flag(self.beside_both)),
            ("typed_verbs", -1.40, flag(self.typed_verbs)),
            ("passive_verbs", -1.52, flag(self.passive_verbs)),
            ("open_verbs", -1.3, flag(self.open_verbs)),
            ("words", -0.29, flag(self.words)),
            ("being", -0.41, flag(self.being)),
            ("being_words", -1.0, flag(self.being_words)),
            ("other_opening", -1.70, flag(self.other_opening)),
            ("polarity", 0.98, flag(self.polarity)),
            ("polarity_left", -1.76, flag(self.polarity_left)),
            ("other_tool", -2.59, flag(self.other_tool)),
            ("marker", 1.52, flag(self.marker)),
            ("names_older", 3.34, flag(self.names_older)),
            ("additive", -2.97, flag(self.additive)),
            ("indefinite", -3.07, flag(self.indefinite)),
            ("of_several", -2.78, flag(self.of_several)),
            ("condition", -2.49, flag(self.condition)),
            ("permission", -3.21, flag(self.permission)),
            ("both_denied", -1.93, flag(self.both_denied)),
            ("advice", -2.99, flag(self.advice)),
            ("subject_name", -3.46, flag(self.subject_name)),
            ("other_role", -2.5, flag(self.other_role)),
            ("subject_phrase", -2.86, flag(self.subject_phrase)),
            ("turned", -1.05, flag(self.turned)),
            ("object", -1.07, flag(self.object)),
            ("deed", -1.86, flag(self.deed)),
        ]
    }
}

impl<'a> ClausePair<'a> {
    /// Holds a newer clause against an older one. None where they do not differ in one value.
    pub(super) fn of(newer: &'a Clause, older: &'a Clause) -> Option<Self> {
        let Alignment { difference, slots, new, mut old } = align(newer, older)?;
        // What does not hold any more holds in no case: `we no longer refund tickets`.
        let denies = difference == Difference::Polarity && !newer.is_affirmed;
        if denies && newer.announces && new.is_empty() {
            old = UnsharedWords { shared: old.shared, ..UnsharedWords::default() };
        }
        let names_older = names_as_former(newer, older);
        // What has another name has it everywhere: `acme-utils was renamed to acme-core`.
        let renames = names_older && newer.has_no_subject() && newer.outline.has_verb(&lexicon::verb("renamed"));
        if renames {
            old = UnsharedWords { shared: old.shared, ..UnsharedWords::default() };
        }
        Some(Self { newer, older, difference, slots, new, old, names_older })
    }

    pub(super) fn is(&self, difference: Difference) -> bool {
        self.difference == difference
    }

    pub(super) fn features(&self) -> UpdateFeatures {
        let Self { newer, older, new, old, names_older, .. } = self;
        let (is_open, is_other_verb) = (self.is_open(), self.has_other_verbs());
        let is_other_act = is_other_verb || newer.outline.does_otherwise(&older.outline);
        let is_bare_subject = self.has_bare_subject();
        let are_bare_subjects = is_bare_subject && self.are_on_one_side_of_the_verb();
        let has_name_or_number = self.is(Difference::Names) || self.are_values(ValueKind::Number);
        UpdateFeatures {
            nouns_both: self.on_both(|rest| rest.nouns + rest.subjects + rest.behind),
            objects_both: self.on_both(|rest| rest.nouns),
            subjects_any: self.in_all(|rest| rest.subjects),
            exception: (new.subjects > 0.0 && old.is_empty()) || (old.subjects > 0.0 && new.is_empty()),
            modifiers_any: self.in_all(|rest| rest.modifiers),
            narrowing_any: self.in_all(|rest| rest.narrowing),
            behind_any: self.in_all(|rest| rest.behind),
            values_both: self.on_both(|rest| rest.values),
            names_any: self.in_all(|rest| rest.names),
            beside_both: self.on_both(|rest| rest.beside),
            typed_verbs: (is_other_verb || self.has_verb_beside_words()) && self.is(Difference::Typed),
            passive_verbs: is_other_act && self.are_passive(),
            open_verbs: is_other_act && is_open && !self.are_passive(),
            words: self.is(Difference::Words),
            being: (newer.outline.is_copula && older.outline.is_passive)
                || (newer.outline.is_passive && older.outline.is_copula),
            being_words: self.is(Difference::Words)
                && ((newer.outline.is_copula && old.verbs > 0.0) || (older.outline.is_copula && new.verbs > 0.0)),
            other_opening: is_open && self.has_other_opening(),
            polarity: self.is(Difference::Polarity),
            polarity_left: self.is(Difference::Polarity) && !new.is_empty(),
            other_tool: self.are_other_tools() && !self.are_verbs_related() && !self.do_one_job(),
            marker: newer.announces,
            names_older: *names_older,
            additive: (is_open && self.may_have_several()) || self.tells_one_of_several(),
            indefinite: is_open && self.has_slot(|slot, clause| !slot.is_before_verb() && clause.is_indefinite),
            of_several: is_open && newer.is_of_several && older.is_of_several && !names_older,
            condition: is_open && self.has_slot(|slot, _| slot.part.is_some_and(|part| part.is_condition)),
            permission: is_open && (newer.outline.is_permission() || older.outline.is_permission()),
            both_denied: is_open && !newer.is_affirmed && !older.is_affirmed,
            advice: self.is(Difference::Words) && newer.is_advice && older.is_advice,
            subject_name: has_name_or_number && are_bare_subjects && !names_older,
            other_role: self.has_other_role(),
            subject_phrase: self.is(Difference::Words) && are_bare_subjects,
            turned: is_open && is_bare_subject && self.is_turned(),
            object: is_open && self.has_object(),
            deed: newer.is_deed && !older.is_deed && !newer.announces,
        }
    }

    /// Adds up the left-over words of a sort in both clauses.
    fn in_all(&self, of: fn(&UnsharedWords) -> f64) -> f64 {
        (of(&self.new) + of(&self.old)).min(MOST_LEFT)
    }

    /// Tells whether both clauses have left-over words of a sort.
    fn on_both(&self, of: fn(&UnsharedWords) -> f64) -> bool {
        of(&self.new) > 0.0 && of(&self.old) > 0.0
    }

    /// Tells whether one of the values has this in its clause.
    fn has_slot(&self, has: impl Fn(&Candidate<'_>, &Clause) -> bool) -> bool {
        self.slots.as_ref().is_some_and(|[new, old]| has(new, self.newer) || has(old, self.older))
    }

    fn are_values(&self, kind: ValueKind) -> bool {
        let is_of_kind = |slot: &Candidate<'_>| slot.value.is_some_and(|value| value.kind == kind);
        self.slots.as_ref().is_some_and(|slots| slots.iter().all(is_of_kind))
    }

    /// Tells whether there may be several such values. Amounts and times are one, while there may be several names,
    /// paths and words.
    fn is_open(&self) -> bool {
        self.is(Difference::Names) || self.is(Difference::Words) || self.are_values(ValueKind::Path)
    }

    fn may_have_several(&self) -> bool {
        self.has_slot(|slot, clause| !slot.is_before_verb() && takes_several(clause, slot)) && !self.names_older
    }

    /// Tells whether both clauses tell one of several things, or one of several times at which somebody is absent.
    fn tells_one_of_several(&self) -> bool {
        let (newer, older) = (self.newer, self.older);
        let tell_one = newer.tells_one_of_several && older.tells_one_of_several;
        let is_one = tell_one && (self.is_open() || self.is(Difference::Exclusive));
        let is_time = newer.tells_an_absence && older.tells_an_absence && self.are_values(ValueKind::Date);
        (is_one || is_time) && self.has_slot(|slot, _| !slot.is_before_verb()) && !self.names_older
    }

    fn has_object(&self) -> bool {
        let is_object = |slot: &Candidate<'_>, clause: &Clause| {
            clause.acts && slot.part.is_some_and(|part| !part.is_before_verb && part.opening.is_empty())
        };
        self.has_slot(is_object) && !self.names_older
    }

    /// Tells whether a value is the subject, and not one of a kind that only one can be.
    fn has_bare_subject(&self) -> bool {
        self.has_slot(|slot, clause| slot.is_before_verb() && !clause.outline.is_definite)
    }

    /// Tells whether a value is a person whose duty one clause tells, of which the other clause says nothing.
    fn has_other_role(&self) -> bool {
        let Some([new, old]) = self.slots.as_ref().filter(|_| !self.is(Difference::Exclusive)) else { return false };
        let is_other = |slot: &Candidate<'_>, own: &Clause, other: &Clause| {
            let is_said = |role: &String| other.outline.says(role) || other.outline.has_verb(role);
            let may_be_said = self.is(Difference::Names);
            slot.is_before_verb() && own.outline.role().is_some_and(|role| !(may_be_said && is_said(role)))
        };
        is_other(new, self.newer, self.older) || is_other(old, self.older, self.newer)
    }

    fn are_on_one_side_of_the_verb(&self) -> bool {
        self.slots.as_ref().is_some_and(|[new, old]| new.is_before_verb() == old.is_before_verb())
    }

    /// Tells whether one value stands before its verb and the other one behind it. The one who does something may stand
    /// before the verb or behind `by`.
    fn is_turned(&self) -> bool {
        let is_agent = |slot: &Candidate<'_>, clause: &Clause| {
            clause.outline.is_passive && slot.opening_behind_verb() == Some("by")
        };
        !self.are_on_one_side_of_the_verb() && !self.has_slot(is_agent)
    }

    fn are_other_tools(&self) -> bool {
        self.slots.as_ref().is_some_and(|[new, old]| is_other_tool(new, old))
    }

    /// Tells whether the tools that differ do one job, which both clauses tell of.
    fn do_one_job(&self) -> bool {
        let is_told = |word: &str| self.newer.outline.says(word) && self.older.outline.says(word);
        let tool = |slot: &Candidate<'_>| slot.tool().map(str::to_owned);
        let tools = self.slots.as_ref().and_then(|[new, old]| tool(new).zip(tool(old)));
        tools.is_some_and(|(new, old)| tools::do_one_job(&new, &old, is_told))
    }

    fn are_verbs_related(&self) -> bool {
        let (newer, older) = (&self.newer.outline.actions, &self.older.outline.actions);
        newer.iter().any(|new| older.iter().any(|old| relations::are_related(new, old)))
    }

    fn has_other_verbs(&self) -> bool {
        !self.are_verbs_related() && self.on_both(|rest| rest.verbs)
    }

    /// Tells whether one clause has another verb where the other one has other words beside the value.
    fn has_verb_beside_words(&self) -> bool {
        let Self { new, old, .. } = self;
        (new.verbs > 0.0 && old.beside > 0.0) || (old.verbs > 0.0 && new.beside > 0.0)
    }

    fn are_passive(&self) -> bool {
        self.newer.outline.is_passive && self.older.outline.is_passive
    }

    fn has_other_opening(&self) -> bool {
        let openings =
            self.slots.as_ref().and_then(|[new, old]| new.opening_behind_verb().zip(old.opening_behind_verb()));
        let Some((new, old)) = openings else { return false };
        let (kind_of_new, kind_of_old) = (relations::preposition(new), relations::preposition(old));
        let are_kinds = !kind_of_new.is_empty() && !kind_of_old.is_empty() && kind_of_new != kind_of_old;
        let is_other_verb = self.new.verbs + self.old.verbs > 0.0;
        let are_words = self.is(Difference::Words);
        match self.are_passive() {
            true => are_kinds || (are_words && new != old && !is_other_verb),
            // Who services something is another question than when it runs.
            false => are_kinds && are_words && is_other_verb,
        }
    }
}

/// Tells whether there may be several of a value behind the verb: `depends on`, `is allergic to`.
fn takes_several(clause: &Clause, value: &Candidate<'_>) -> bool {
    let opening = value.opening_behind_verb();
    let is_object = opening.is_some_and(|opening| matches!(opening, "" | "to" | "on" | "for" | "against" | "into"))
        || (opening == Some("in") && value.is_path())
        // A preposition right behind a verb belongs to it: `works with`, `is tested in`.
        || value.is_next_to_verb();
    (clause.is_additive && is_object) || (clause.outline.joins() && opening == Some("to"))
}

/// Tells whether the newer clause names the older value as the one before: `from Jenkins to Buildkite`.
pub(super) fn names_as_former(newer: &Clause, older: &Clause) -> bool {
    !newer.former.is_empty()
        && older.values.iter().any(|value| {
            let is_former = |word: &String| {
                newer.former.iter().any(|former| {
                    dotted::bare_name(former) == word
                        || lexicon::canonical(former) == *word
                        || is_amount_of(former, word)
                })
            };
            value.words.iter().all(is_former) || (value.kind == ValueKind::Name && value.words.iter().any(is_former))
        })
}

fn is_amount_of(former: &str, word: &str) -> bool {
    let digits: String = former.chars().filter(|c| c.is_ascii_digit() || *c == '.').collect();
    !digits.is_empty() && digits == word
}
