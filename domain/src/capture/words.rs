//! The words that tell what a sentence does: a table of cues, each a pattern of closed classes of words (connectives,
//! modals, verbs of work done). Connectives and question words are there in several languages; elsewhere the structure
//! of an answer has to speak for it.

use std::sync::LazyLock;

use regex::{Regex, RegexSet};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cue {
    /// Says why.
    Cause,
    /// Says when, or what instead.
    Condition,
    /// Says what to do.
    Directive,
    /// Begins with a verb as a command.
    Imperative,
    /// Compares, defines, or says how something behaves in general.
    General,
    Thanks,
    Apology,
    Declines,
    /// Offers more, or asks to be told.
    Offer,
    AsksReader,
    Announces,
    FirstPersonDone,
    Done,
    DonePassive,
    ReportLead,
    PlanLead,
    /// Belongs to one day.
    Dated,
    /// Vague in itself.
    Vague,
    AskKnowledge,
    /// In the form that nobody asks for a fact of the day in.
    AskHow,
    AskOneOff,
    AskChat,
    AskAction,
    AskPlan,
}

use Cue::*;

/// Verbs of work on a project, in the past.
const WORK_DONE: &str = "added|addressed|adjusted|aligned|applied|bumped|changed|checked|cleaned|cleared|closed|\
    committed|completed|configured|confirmed|consolidated|converted|copied|created|deleted|deployed|disabled|documented|\
    dropped|enabled|exposed|extended|extracted|finished|fixed|formatted|generated|implemented|imported|improved|\
    inlined|inserted|installed|integrated|introduced|linted|merged|migrated|modified|moved|opened|optimi[sz]ed|\
    passed|patched|polished|pushed|ran|rebased|rebuilt|refactored|regenerated|registered|released|removed|renamed|\
    reordered|replaced|re-ran|reran|resolved|restored|restructured|reverted|reviewed|rewrote|saved|shipped|simplified|\
    sorted|staged|started|stopped|swapped|switched|tagged|tested|tidied|touched|tweaked|updated|upgraded|uploaded|validated|\
    verified|wired|wrapped|wrote";

#[rustfmt::skip] // a row is a cue
const TABLE: &[(Cue, &str)] = &[
    (Cause, r"\b(because|due to|owing to|caused by|root cause|turns? out|turned out|the (real |actual |underlying |main )?(reason|cause|culprit)|which is why|that is why|that's why|so that|therefore|thus|hence|as a result|consequently|otherwise|leads? to|results? in|in order to|means|meaning( that)?|under the hood|the (real |actual |underlying )?(problem|issue|bug|catch|trap|trick|difference|point|key|idea) (is|was|here|lies)|happens (when|because|if)|comes from|stems from|boils down)\b"),
    (Cause, r"(,|;| and) so (that |the |it |you |a |an |they |each |every |no |your |its |any |this |all |only )|[a-z)`] since [a-z`]|— (it|the|this|that|they) "),
    (Cause, r"\b(weil|daher|deshalb|dadurch|damit|sonst|ursache|grund|nämlich|sodass|parce qu|puisqu|afin (de|qu)|sinon|donc|à cause|c'est pourquoi|ainsi|car (le|la|les|il|elle|un|une|l')|porque|ya que|por eso|debido a|para que|de lo contrario|así que|perché|poiché|quindi|altrimenti|per questo|pois|por isso|caso contrário|portanto|ponieważ|dlatego|omdat|daardoor|anders|çünkü|потому|поэтому|так как|чтобы|иначе|из-за|причин\w*|поскольку)"),
    (Cause, r"因为|由于|所以|因此|否则|原因|这样|從而|从而|なぜなら|ため(に|、|。)|ので|からです|原因|によって|때문|그래서|이유|므로"),
    (Condition, r"\b(when|whenever|if|unless|while|whereas|however|although|though|instead|rather than|only (if|when)|as (long|soon) as|even if|whether|note that|unlike|versus|compared (to|with)|except|until|before|after|once|by default)\b"),
    (Condition, r"\b(wenn|falls|statt|anstatt|allerdings|sobald|während|lorsqu|quand|si (vous|tu|le|la|on|un)|mais|au lieu|tandis|cuando|si (el|la|se|no|un)|pero|en lugar|mientras|quando|invece|mentre|finché|enquanto|em vez|когда|если|вместо|однако|gdy|jeśli|wanneer|als je)\b|如果|当|但是|而不是|场合|とき|場合|ただし|代わりに|(하|으)면|대신"),
    (General, r"\b(ensures?|prevents?|avoids?|guarantees?|requires?|allows?|lets|keeps|forces|makes (it|the|sure|every|each)|returns?|behaves?|defaults to|depends on|refers to|consists of|holds|creates|blocks|evaluates|resolves to|throws|raises|copies|shares|compares|differs?|always|never|only|each|every|typically|usually|in general|for example|e\.g\.|i\.e\.|such as|is (not )?(a|an|the)|are (not )?(a|an|the)|works by|at (compile|run|build) ?-?time)\b"),
    (Directive, r"\b(you (should|must|need|can|could|have to|want to|may|might|don't need|also need)|should|must|never|always|avoid|prefer|make sure|ensure|remember to|don't|do not|instead of|it is best|it's best|best practice|recommended|the fix is|the solution is|to (fix|solve|avoid|prevent|do) (this|it|that))\b"),
    (Directive, r"\b(musst|muss(t|en)?|soll(te|ten|test)|verwende|nutze|setze|benutze|vermeide|führe|starte|installiere|achte|prüfe|füge|utilis(e|ez|er)|il faut|ajout(e|ez|er)|évit(e|ez|er)|exécut(e|ez)|vérifi(e|ez)|lance[zr]?|préfér(e|ez)|utiliza|usa|debes?|hay que|ejecuta|evita|añade|agrega|configura|comprueba|devi|bisogna|aggiungi|esegui|usare|conviene|use|adicione|execute|evite|deve|używaj|należy|gebruik|используйте|используй|нужно|следует|добавьте|запустите|избегайте|проверьте|установите)\b|使用|应该|應該|需要|必须|避免|不要|运行|添加|建议|ください|使う|使い|使っ|べき|必要があ|避け|하세요|사용|해야"),
    (Imperative, r"^(then|first|next|finally|also|instead|now|second|third|lastly|to [^,]{3,60},|for [^,]{3,40},|if [^,]{3,80},|when [^,]{3,80},|in [^,]{3,40},)?,? ?(activate|add|adjust|allow|annotate|append|apply|assert|assign|attach|avoid|await|batch|bind|break|build|bump|cache|call|capture|catch|change|check|choose|clamp|clean|clear|clone|close|collect|combine|compare|compile|compute|configure|connect|convert|copy|count|create|declare|decide|decode|decorate|define|delete|deploy|derive|disable|divide|do|don't|drop|dump|edit|enable|encode|escape|exclude|execute|export|expose|extract|fetch|filter|find|fix|flush|follow|force|format|generate|get|give|go|group|guard|handle|hash|hold|hook|import|include|increase|index|initiali[sz]e|inject|insert|inspect|install|invalidate|invoke|isolate|iterate|join|keep|label|launch|leave|let|limit|link|list|load|lock|log|look|loop|lower|make|map|mark|match|measure|memoi[sz]e|merge|mock|monitor|mount|move|name|normali[sz]e|open|order|override|parse|pass|patch|pin|pipe|place|point|prefer|prefix|print|profile|pull|push|put|query|raise|read|rebase|rebuild|recreate|redirect|reduce|register|reload|remember|remove|rename|repeat|replace|reset|resolve|restart|restore|retry|return|reuse|revert|rotate|round|run|sanitize|save|scan|schedule|select|send|separate|serialize|set|share|ship|skip|sort|specify|split|start|stop|store|stream|strip|subscribe|swap|switch|take|test|throw|time|track|treat|trim|try|turn|unset|unwrap|update|upgrade|use|validate|verify|wait|watch|wrap|write|yield)\b"),
    (Thanks, r"^\W*(thanks|thank you|you're (very |most )?welcome|you are welcome|no problem|my pleasure|any ?time|glad|happy to|hello|hi|hey|good (morning|afternoon|evening|night|luck)|great (question|job|work)|nice (work|job)|good question|cheers|have a (great|nice|good)|welcome|congrat|well done|sure( thing)?|of course|certainly|absolutely|perfect|awesome|sounds good|got it|understood|gern|bitte schön|danke|hallo|merci|de rien|bonjour|gracias|de nada|hola|prego|grazie|ciao|obrigad|спасибо|пожалуйста|привет|不客气|谢谢|你好|こんにちは|ありがとう|どういたしまして|안녕|감사)(\b|\W|$)"),
    (Apology, r"\b(sorry|apologi[sz]e|apologies|my (mistake|bad)|you('re| are) (absolutely |totally |completely |quite )?(right|correct)|good catch|i (misread|misunderstood|overlooked|missed)|entschuldig|désolé|lo siento|perdón|mi dispiace|desculp|извин|抱歉|对不起|すみません|申し訳|죄송)"),
    (Declines, r"\b(i|we)( am|'m)? ?(can't|cannot|can not|won't|will not|(am |'m )?(not able|unable) to|don't have (access|the ability|information|any information|real-?time|enough|memory|visibility|permission)|do not have (access|the ability|information|real-?time|permission)|have no (access|way)|must decline|can only)\b|\bas an ai\b|\bas a language model\b|against (my|the) (guidelines|policy|policies)|not (something|able) i can|ich kann (dir |ihnen |das |leider )*(dabei |hierbei |damit )?(nicht|leider)|je ne peux pas|no puedo|non posso|não posso|не могу|我无法|我不能|できません"),
    (Offer, r"\b(let me know|feel free|hope (this|that|it) helps|if you('d| would)? (like|want|need|have|prefer)( me| any|,| to know| more| help)|would you like|do you want me|shall i|want me to|i can also|i('m| am) (here|ready|happy|available)|i'd be (happy|glad)|just (ask|tell|say|let)|reach out|looking forward|happy (coding|hacking)|sag(en sie)? (mir )?(bescheid|einfach)|n'hésit|no dudes en|fammi sapere|дай(те)? знать|随时|お気軽に)"),
    (AsksReader, r"\b(you|your|do we|should (i|we)|shall|which|what|could you|can you|is it|are (there|these|you)|where|who|how (many|much|often|large)|prefer|sie|du|dein|ihr|vous|votre|tu|usted|su|вы|ваш|ты)\b|您|你|か？|ますか"),
    (Announces, r"^\W*(ok(ay)?|all ?right|great|good|perfect|right|now|next|first|then|so|and|finally|before that|sure|excellent|interesting|hmm+|wait|got it|understood|done|also|meanwhile|in the meantime|to start|to begin|let's see)?[,.!:;—– -]* ?(now |first |next |then |also |just )*(let me (?:[^e]|e[^x])|i('ll| will|'m going to| am going to|'m about to|'m now| am now| need to| should| want to|'d like to| plan to|'ve got to| have to| still need|'m still|'m (looking|checking|reading|running|working|starting|searching|waiting|trying|going|investigating|getting|examining|reviewing|exploring)| am (looking|checking|reading|running|working|starting|searching|waiting|trying|going|investigating|examining|reviewing|exploring)| see (that |the |a |an |two |three |some |several )?| can see| think (i|we|the next)| notice| wonder)\b|we('ll| will|'re going to| are going to| still need)\b|let's (start|take|look|check|run|see(?: what| if| how| whether)|fix|go|try|do|get|begin|move|continue|dive|find|verify|explore|update|add|write|make|read|first|now|also|examine|search)\b|(looking|checking|reading|running|searching|starting|investigating|waiting|working|continuing|proceeding|moving|inspecting|exploring|examining|grepping|opening|fetching|compiling|building|installing|rerunning|re-running) (at|on|for|the|into|through|now|with|to|it|this|that|again|all|both|each|my|our|a|an|up)\b|going to |time to |on to the |moving on|one moment|give me a|hold on|just a (moment|second)|bear with|working on it|on it\b)"),
    (Announces, r"^\W*(ich (werde|schaue|prüfe|sehe|muss|starte|suche)|lass mich|als nächstes|je vais|laisse(z)?-moi|voy a|déjame|vamos a|ora (controllo|vado)|vou |сейчас (я )?|давай(те)? |我(来|先|会|将|现在)|让我|接下来|これから|まず.*(確認|見て)し?ます)"),
    (Done, r"\b(tests?|specs?|test suite|suite|builds?|lints?|linter|clippy|ci|pipelines?|type ?checks?|compilation)\b[^.]{0,40}\b(pass(es|ed|ing)?|green|clean|succeed(s|ed)?|succeeded|successful(ly)?|(is|are) (done|ready|in place|set up|up to date)|works? now)\b|\beverything (works|is|compiles|passes|looks|runs)\b"),
    (Done, r"\b(has been|have been|'s been|(is|are) (now|already|all|also now|now also)|got) (now |all |already |also |successfully |fully |just )*(WORKDONE|done|complete|ready|in place|gone|live|up and running|up to date)\b|\b(is|are) (done|complete|in place|ready to (be )?(merge|review|deploy|use|go)\w*|up to date|pushed|merged|deployed|implemented|live)\b"),
    (DonePassive, r"\b(was|were) (now |all |also |successfully |fully |just )*(WORKDONE)\b"),
    (Done, r"^\W*(done|finished|completed|success|fixed|pushed|committed|merged|deployed|all (done|set|good)|no (errors|issues|changes|warnings|regressions)|ready|fertig|erledigt|terminé|listo|hecho|fatto|pronto|готово|完成|已|完了|できました)\b"),
    (Done, r"^\W*(also |then |and |now |successfully |finally )?(WORKDONE)\b( |$)"),
    (Done, r"\b(ich habe|wir haben|j'ai|nous avons|he (actualizado|añadido|creado|corregido|eliminado|cambiado)|ho (aggiornato|aggiunto|creato|corretto|rimosso)|atualizei|adicionei|corrigi|criei|я (обновил|добавил|исправил|создал|удалил|переименовал|переписал)|обновлен|добавлен|исправлен)|我已|已经|已将|しました|했습니다"),
    (FirstPersonDone, r"\b(i|we)('ve| have|'d| had)? (also |now |just |already |then |successfully |finally |only |both |additionally |even |not )*(WORKDONE|made|built|put|took|found|saw|did|got|left|kept|read|sent|gave|went|looked|tried|used|noticed|discovered|identified|investigated|searched|traced|hit|chose|decided|been|run|written|split|set( up)?|done)\b"),
    (ReportLead, r"^\W*(changes?|testing|tests?|overview|summary|verification|files?|what changed|done|outcome|notes on testing)\W*$"),
    (ReportLead, r"\b(changes? (made|summary|include|are|overview)|summary( of (the )?(changes|work|what))?|what (i|was|we|has been)('ve| have)? ?(did|changed|done|added|fixed|happened)|files? (changed|modified|touched|created|updated|added)|modified files|here's what (i|changed|was)|here is what (i|changed|was)|here are the changes|work (done|completed)|completed( tasks| work| so far)?|remaining( work| tasks)?|current (state|status)|status( update| report)?|progress( so far| report| update)?|test results|results|verification|zusammenfassung|änderungen|resumen|résumé|summary|итог)\b"),
    (PlanLead, r"\b(my|the|a|our|proposed|rough|initial|high-level|here's (a|the|my)|implementation|action|rollout|this) (action |implementation |rollout |test |migration )?(plan|roadmap|approach|strategy|proposal|todo|to-do list|outline)( is| for| would|:|$| to)|^\W*(phase|milestone|sprint|week|stage|day) (\d|one|two|i\b)|\bnext steps?\b|\bto-?dos?\b|i (propose|suggest we|plan|recommend we)|we (should|could|would|can|need to) (first|start|then|also|begin)|(the )?steps (will be|would be|are as follows|i'll take)|^\W*(plan|proposal|approach|outline|roadmap|goals?|objectives?|timeline|deliverables)\W*$"),
    (Dated, r"\b(today|yesterday|tomorrow|tonight|this (morning|afternoon|evening|week|weekend|month|quarter|year|sprint)|last (night|week|month|quarter|year|sprint|monday|tuesday|wednesday|thursday|friday)|next (week|month|quarter|sprint|monday|tuesday|wednesday|thursday|friday)|on (monday|tuesday|wednesday|thursday|friday|saturday|sunday)|(monday|tuesday|wednesday|thursday|friday|saturday|sunday)s? (at|morning|afternoon|evening|the)|(january|february|march|april|may|june|july|august|september|october|november|december) \d{1,2}|\d{1,2}(st|nd|rd|th)? (of )?(january|february|march|april|may|june|july|august|september|october|november|december)|q[1-4]( 20\d\d)?|20\d\d-\d\d-\d\d|\d{1,2}(:\d\d)? ?(am|pm|a\.m\.|p\.m\.)|\d{1,2}:\d\d|as of now|currently|so far|right now|at the moment|heute|gestern|morgen um|aujourd'hui|hier|demain|hoy|ayer|mañana|oggi|ieri|domani|сегодня|вчера|завтра|今天|昨天|明天|今日|昨日|明日)\b"),
    (Vague, r"\b(it (really |all |always )?depends|many (factors|ways|options|things)|various (factors|things|ways|options)|there are (many|several|lots|a lot|various|a number)|best practices|as needed|and so on|in (many|some|most) cases|it('s| is) (important|crucial|essential|always a good idea|worth|generally|usually|great|really|very)|a (great|good|solid|nice|wonderful|fantastic|popular|powerful) (choice|option|idea|way|tool|language|framework|question|start)|keep (it )?(up|learning)|practice|passion|journey|exciting|amazing|world of|modern|robust|scalable|seamless|cutting-edge|powerful|versatile|maintainable|holistic|leverage|stakeholders?|synergy|align(ment|ed)?|user experience|ecosystem|community|rapidly|ever-changing|consider your|your (specific )?(needs|requirements|goals|use case|situation))\b"),
    (AskKnowledge, r"\b(how (do|can|could|should|to|does|did|would|come|is|are)|why|what (is|are|does|do|causes?|happens?|would|should)|what's|difference|when (should|do|would|to|is it|does)|which|best (way|practice)|explain|is (it|there|this)|should i|can i|can you explain|does|pros and cons|vs\.?|versus|recommended|idiomatic|correct way|proper(ly)?|without|possible)\b|\b(wie|warum|weshalb|wieso|was ist|was bedeutet|welche|wann|comment|pourquoi|qu'est-ce|quelle|quand|cómo|por qué|qué|cuál|cuándo|perché|come|cos'è|qual|como|o que|quando|как|почему|зачем|что такое|какой|jak|dlaczego|hoe|waarom|nasıl|neden)\b|如何|怎么|怎样|为什么|什么|哪|どう|なぜ|とは|方法|어떻게|왜|방법"),
    (AskHow, r"\b(how (do|can|should|could|would) (i|one|we)\b|how to\b|why (is|does|do|are|did|would|can|isn't|doesn't|don't|won't|can't)\b|what's the (difference|right way|best way|correct way)|what is the (difference|right way|best way|correct way))"),
    (AskOneOff, r"\b(what time|what day|what('s| is| was| are| were) (the |today's |our |my |this )?(current |latest |total |exact )?(date|time( is| in| now|\?|$)|weather|capital|score|price|status|total|population|temperature|size of|number|amount|balance|value of|count|version (of|are|is)|headcount|budget|name of|address|phone|exchange rate|agenda|schedule|deadline|ip|url|port)|how (many|much|old|tall|far|big is|long (is|was|did|does (it|the) (run|build|drive)|until|will))|when (is|was|are|were|did|will|does (the|our|my))|who (is|was|are|wrote|did|owns|made|won|has|reviewed)|where (is|are|was|did|do) (the|my|our|we|i)|translate|translation|summari[sz]e|summary of|tl;?dr|draft|proof ?read|rephrase|reword|paraphrase|rewrite (this|the following|my)|write (me )?(a|an|some|the|my|our) ([\w'-]+ ){0,4}(e-?mail|poem|haiku|story|tweet|song|joke|letter|message|limerick|bio|slogan|announcement|speech|toast|invitation|caption|description|standup|pr description|commit message|changelog|release notes?|blog post|post|reply|press release|tagline|pitch)|tell me (a|an|about yours)|recommend (a|some|me) (book|movie|song|restaurant|name|gift|place|podcast|show|film)|name (for|ideas)|brainstorm|ideas for|horoscope|what did (we|i|you|the|he|she|they)|did (we|i|you|anyone|the)|are (we|there) (any|still)|is (there )?(any|our|my|the (server|site|build|deploy|staging|prod)))\b"),
    (AskOneOff, r"\b(übersetz|fasse .* zusammen|wie viele|wie spät|wann (ist|war|kommt)|wer (ist|war|hat)|combien|quelle heure|traduis|traduisez|résume|cuánt[oa]s|qué hora|traduce|resume|quanti|quante|traduci|riassumi|quant[oa]s|сколько|переведи|который час|когда (будет|был))|翻译|几点|多少|几个|天气|翻訳|何時|いくつ|何人|天気|몇|번역|날씨"),
    (AskChat, r"^\W*(hi|hello|hey|yo|thanks|thank|thx|ty|cheers|good (morning|night|evening|afternoon|job|work)|nice|great|awesome|cool|wow|lol|haha|perfect|amazing|brilliant|excellent|love it|well done|you rock|bye|see you|hallo|danke|merci|bonjour|gracias|hola|ciao|grazie|obrigad\w+|привет|спасибо|你好|谢谢|こんにちは|ありがとう)\b"),
    (AskChat, r"\b(how are you|how's it going|how was your|are you (an ai|human|real|ok|okay|there|sure|conscious|alive|happy|better|smarter|chatgpt|claude|a robot|a bot)|do you (like|love|enjoy|feel|dream|remember me|have (a|any) (feelings|favou?rite|name|opinion|friends|hobb))|who are you|who (made|created|built|trained) you|what('s| is) your|what are you|what can you (do|help)|tell me about yourself|you('re| are) (great|awesome|amazing|the best|so|a (genius|lifesaver|star))|favou?rite|what do you think (of|about) (me|life|humans)|weekend|good day|i('m| am) (so |really |very )?(tired|happy|sad|bored|stressed|excited|hungry|frustrated|back)|having (fun|a)|wie geht|comment (ça|vas|allez)|cómo estás|como vai|come stai|как дела|你好吗|元気)\b"),
    (AskAction, r"^\W*(please |ok(ay)?,? |yes,? |great,? |now,? |and,? |can you |could you |also |then |alright,? |good,? |no,? |actually,? )*(continue|go on|go ahead|proceed|yes|yep|ok(ay)?|do (it|that|so|the|both|all)|commit|push|merge|run (the|all|it|tests?|cargo|npm|pytest|make)|keep going|try again|retry|lgtm|ship it|looks good|finish|fix (it|that|this|the|all|those|them)|update the|rename|add (a |an |the |some |tests?|unit|docs|types|logging|error)|remove (the|all|unused|that|this)|delete (the|all|that)|refactor|clean (it )?up|bump|rebase|deploy|implement|create (a|an|the)|make (it|the|a|that|sure)|move (the|it|this)|change (the|it|this)|apply|start|wire|write (the|tests?|unit|a test|docs)|open a pr|undo|revert|format|lint|migrate|upgrade|set up|check (if|the|that|whether)|look (at|into)|investigate|review|next( task| step| one)?|same for|work on|take care)\b"),
    (AskPlan, r"\b(plan|roadmap|outline|how (would|will|should) (you|we) (approach|tackle|go about|start|structure|do)|what('s| is| are) (left|next|the next|your plan|remaining|your approach|the status|your strategy)|next steps?|status|progress|any (progress|update|news)|are (you|we) (done|finished|ready)|where are we|how far|proposal|propose|strategy|todo|break (this|it) down|approach for|planung|ziele)\b"),
];

/// Which cues a text has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Cues(u32);

impl Cues {
    pub(super) fn of(text: &str) -> Self {
        let found = COMPILED.matches(text).into_iter();
        Self(found.fold(0, |cues, index| cues | bit(TABLE[index].0)))
    }

    pub(super) fn has(self, cue: Cue) -> bool {
        self.0 & bit(cue) != 0
    }
}

fn bit(cue: Cue) -> u32 {
    1 << cue as u32
}

#[allow(clippy::expect_used, reason = "the table is constant, and the tests compile every pattern in it")]
static COMPILED: LazyLock<RegexSet> = LazyLock::new(|| {
    let sources = TABLE.iter().map(|(_, pattern)| format!("(?i){}", pattern.replace("WORKDONE", WORK_DONE)));
    let builder = regex::RegexSetBuilder::new(sources).size_limit(64 << 20).build();
    builder.expect("every cue is a valid pattern")
});

/// What is written as in code: names with signs in them, calls, flags, files, abbreviations.
const TERM: &str = r"`[^`]+`|\b[a-zA-Z][a-z0-9]*_[a-zA-Z0-9_]+\b|\b[a-z]+[A-Z]\w*\b|\b[A-Z][a-z0-9]+[A-Z]\w*\b|\b\w+\(\)|--[a-z][\w-]+|\b\w+::\w+|\b[A-Z][A-Z0-9]+\b|\b[\w-]+\.(?:rs|py|js|ts|tsx|go|java|toml|json|ya?ml|sh|sql|cpp|rb|conf|env|lock|cfg|ini|kt|cs|php|xml|html|css)\b|@\w+|\b\w+\.\w+\(|[A-Z]\w+(?:Error|Exception)\b";

#[allow(clippy::expect_used, reason = "the pattern is constant, and the tests compile it")]
static TERMS: LazyLock<Regex> = LazyLock::new(|| Regex::new(TERM).expect("a valid pattern"));

/// Abbreviations that name nothing technical.
const NO_TERMS: [&str; 14] = ["AM", "PM", "OK", "AI", "US", "UK", "EU", "TV", "CEO", "FAQ", "TODO", "PR", "CI", "USA"];

/// The different technical terms of a text, as they are written.
pub(super) fn terms(text: &str) -> impl Iterator<Item = &str> {
    TERMS.find_iter(text).map(|found| found.as_str()).filter(|term| !NO_TERMS.contains(term))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles_and_every_cue_has_a_bit() {
        assert_eq!(COMPILED.len(), TABLE.len());
        assert!(terms("call `x` with max_size and parseInt()").count() >= 3);
        assert!((AskPlan as u32) < 32);
        assert!(Cues::of("It fails because of that").has(Cause));
        assert!(!Cues::of("It is fine").has(Cause));
    }
}
