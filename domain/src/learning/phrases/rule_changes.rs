//! Words with which users take back a rule, say something else in its place, or permit what it forbade, in English,
//! German, French, Spanish, Italian, Dutch, Portuguese, Russian, Polish, Japanese and Chinese.

use std::sync::LazyLock;

use regex::Regex;

use super::compiled;

/// Take back what their speaker said before.
const REVOKES: [&str; 10] = [
    r"(?:please |just )?(?:forget|scratch|ignore|disregard|strike|cancel|revoke|skip) (?:that|this|it|(?:about )?what i (?:just )?(?:said|wrote)|(?:that|this|the|my) (?:[\w-]+ ){0,3}(?:rule|one|instruction|convention)|my last \w+)(?: (?:about|on|with|regarding) [^,.;:!–—]{1,60})?|(?:i|we)(?: have|['’]ve)? changed (?:my|our) minds?(?: about [^,.;:!–—]{1,60})?|i take (?:that|it) back|(?:that|this|the) (?:[\w-]+ ){0,3}(?:rule|convention) (?:is (?:wrong|gone|obsolete|off|void|outdated|no longer (?:valid|true))|(?:does not|doesn['’]t|no longer) (?:apply|applies|hold|holds)(?: any ?more)?)",
    r"doch nicht|vergiss (?:das|es|was ich (?:gesagt|geschrieben) habe|die regel)(?: (?:wieder|bitte))?(?: mit [^,.;:!–—]{1,60})?|vergesst (?:das|es)|streich(?:e)? (?:das|die regel)|(?:das )?nehme ich zurück|ich nehme das zurück|(?:ich|wir) hab(?:e|en)? (?:es |mich |uns )?(?:anders überlegt|umentschieden)|kommando zurück|(?:das|die regel) gilt nicht mehr",
    r"oublie[sz]? (?:ça|cela|ce que j['’]ai dit|(?:cette|la) règle)|laisse[sz]? tomber (?:ça|cela|(?:cette|la) règle)|finalement non|(?:j['’]ai|on a) changé d['’]avis|(?:annule|ignore)[sz]? (?:ça|cela|(?:cette|la) règle)|(?:cette|la) règle ne vaut plus",
    r"olvida(?:lo| eso| esto| lo (?:anterior|que dije)| (?:esa|la) regla)|olvídalo|ignora (?:eso|esto|(?:esa|la) regla)|mejor no|(?:he )?cambi(?:é|ado) de (?:opinión|idea)|(?:esa|la) regla ya no vale",
    r"dimentica(?:lo|telo| (?:questo|quello|ciò|quello che ho detto|(?:quella|la) regola))|lascia (?:perdere|stare)(?: (?:quella|la) regola)?|come non detto|ho cambiato idea|anzi,? no|ignora (?:questo|quello|(?:quella|la) regola)",
    r"vergeet (?:dat|het|wat ik zei|(?:die|de) regel)(?: maar)?|toch niet|laat (?:dat|maar)(?: zitten)?|ik (?:ben van gedachten veranderd|heb me bedacht)|(?:die|de) regel geldt niet meer|negeer (?:dat|(?:die|de) regel)",
    r"esque(?:ce|ça)(?: isso| o que (?:eu )?disse| (?:essa|a) regra)?|deixa (?:isso|pra lá)|mudei de ideia|(?:pensando melhor,? )?melhor não|ignor[ae] (?:isso|(?:essa|a) regra)|(?:essa|a) regra não vale mais",
    r"забудь(?:те)? (?:это|об этом|про это)|я передумал\w*|это правило больше не действует|zapomnij o tym|jednak nie|zmieni(?:łem|łam) zdanie",
    r"(?:やっぱり|やはり)?(?:それ|これ|今の|さっきの)(?:話|ルール)?(?:は|を|のは)?(?:忘れて|無視して|なし(?:で|に)|取り消|撤回)[^、。]{0,8}|やっぱり(?:やめ(?:て|ます|よう)|違います|なしで)[^、。]{0,6}",
    r"(?:忘了|忘掉|忽略|别管)(?:那个|这个|那条|这条|刚才)?(?:规则|说的)?|算了|我?改(?:变)?主意了|(?:刚才|之前)(?:说)?的(?:规则)?(?:不算|作废|取消)",
];

/// Lead from what was said before to something else.
const TURNS: [&str; 8] = [
    r"actually|on second thou?ghts?|never ?mind(?: that)?|(?:i was|that was|this was) (?:wrong|a mistake)(?: about (?:that|it))?|my (?:mistake|bad)|i misspoke|correction|(?:no|nope|nein|non|nee|não|oh),? (?:wait|sorry|stop|actually|hold on|halt|moment|warte|attends|espera|perdón|aspetta|scusa|wacht)|no|nope|wait|hold on|stop|sorry|oops|instead",
    r"eigentlich|halt|moment(?: mal)?|das war falsch|mein fehler|korrektur|nein|doch(?: lieber| besser)?|stattdessen",
    r"en fait|finalement|au temps pour moi|c['’]était (?:faux|une erreur)|attends?|attendez|non|désolée?|plutôt",
    r"en realidad|de hecho|espera|me equivoqué|eso estaba mal|no|perdón|mejor",
    r"anzi|in realtà|a ripensarci|ripensandoci|aspetta|mi sono sbagliat[oa]|no|scusa|piuttosto",
    r"eigenlijk|wacht|bij nader inzien|dat was fout|nee|toch(?: maar| liever)?|in plaats daarvan",
    r"na verdade|aliás|pensando (?:bem|melhor)|espera|me enganei|não|desculpa|нет|стоп|nie|czekaj",
    r"いや|いいえ|すみません|やっぱり|やはり|代わりに|不对|不|等等|还是|其实|抱歉",
];

/// May stand before either.
const FILLERS: &str = r"ok|okay|well|oh|ah|hm+|and|so|then|please|also|bitte|und|et|y|e|en|gut|bon|bueno|bene|goed|bem";

/// Names what is taken back, in what takes it back.
const ABOUT: &str =
    r"\b(?:about|on|with|regarding|mit) (.+)$|\b(?:that|this|the|my) (.+) (?:rule|convention|instruction)\b";

/// Stand before the verb of an order that denies.
const BEFORE_VERB: &str =
    r"^\W*(?:(?:please|bitte|do|not|don['’]t|never|stop|we|you|no|longer|ne|non|não|nunca|on|nous|wir|wij|ya)\b\W*)*";

/// Say that something is not to be done, or not so.
const DENIES: &str = r"\b(?:not|never|no longer|no more|stop|don['’]t|won['’]t|nicht|kein\w*|nie|niemals|ne|n['’]|pas|jamais|plus|no|nunca|jamás|ya no|non|mai|niet|geen|nooit|não|jamais|не|никогда|nie|nigdy)\b|\bn['’]\w|ない|ません|禁止|不(?:要|能|可|得|用|再)|别|勿";

/// Permit something.
const PERMITS: &str = r"\b(?:is|are) (?:now |actually |also |perfectly |all )?(?:fine|okay|ok|good|allowed|welcome|permitted|all right|alright)|(?:you|we|one) (?:may|can)|(?:ist|sind) (?:doch |jetzt )?(?:okay|ok|erlaubt|in ordnung|gut)|(?:du|ihr|man|wir) (?:darfst|dürft|darf|dürfen|kannst|könnt|kann)|(?:est|sont) (?:autorisée?s?|permise?s?|ok|bien)|(?:tu|on) (?:peux|peut)|(?:está|están) (?:bien|permitid[oa]s?)|(?:puedes|se puede|podemos)|(?:va|vanno) bene|(?:è|sono) (?:ammess[oaie]|consentit[oaie]|permess[oaie])|(?:puoi|si può|possiamo)|(?:is|zijn) (?:toegestaan|prima|oké|goed)|(?:je|we) (?:mag|mogen)|(?:está|estão) (?:ok|bem|permitid[oa]s?|liberad[oa]s?)|(?:pode|podemos)\b|(?:てもいい|てもよい|て構い|問題ありません)|可以|允许";

/// Choose one thing over another, at the beginning of an order or behind `we`.
const CHOOSES: &str = r"(?:(?:we|let['’]?s)(?: will|['’]ll| just)? )?(?:use|take|keep|stay|stick|go|prefer|switch|return|do|run|put|write|leave|pick|choose|do not|don['’]t|never)\b|(?:wir )?(?:nimm|nehmt|verwende\w*|nutze\w*|benutze\w*|bleib\w*|behalt\w*|lass\w*|mach\w*|schreib\w*|setz\w*|nehmen)\b|(?:on |nous |ne |n['’])?(?:prends|prenez|utilise\w*|garde\w*|reste\w*|passe\w*|mets|mettez|écris|préfère)\b|(?:no )?(?:usa|usamos|utiliza|seguimos|quédate|nos quedamos|pon|toma|volvemos|uses|utilices)\b|(?:non )?(?:usa|usiamo|usare|restiamo|teniamo|rimaniamo|metti|prendi|torniamo)\b|(?:we |wij )?(?:gebruik\w*|neem|nemen|blijf|blijven|houd\w*|hou|zet|schrijf)\b|(?:não )?(?:use|usa|usamos|ficamos|fica|fique|mantenha|mantém|volte|voltamos|coloque)\b|используй\w*|оставь\w*|używaj\w*|zostaj\w*";

/// Words that do not say what a rule is about.
const LITTLE: &str = r"\b(?:use[sd]?|using|uses|take|keep|stay|stick|prefer|run|runs|do|does|always|never|ever|not|no|any|more|longer|again|now|on|from|instead|only|please|fine|okay|ok|allowed|may|can|all|every\w*|each|here|rule|project|repo|verwenden?|nutzen?|benutzen?|nimm|nehmen|immer|nie|niemals|nicht|kein\w*|mehr|ab|jetzt|sofort|bitte|wir|man|hier|bei|uns|für|und|oder|der|die|das|den|dem|des|ein\w*|im|in|am|an|auf|zum|zur|mit|von|sind|ist|erlaubt|utilise\w*|toujours|jamais|pas|plus|les?|la|des?|du|une?|et|ou|pour|dans|sur|avec|on|nous|désormais|usa\w*|uses?|utiliza\w*|siempre|nunca|el|los|las|una?|por|para|con|en|de|del|que|y|ahora|adelante|sempre|mai|non|il|lo|gli|i|per|nel\w*|con|di|da|d['’]ora|poi|gebruik\w*|altijd|nooit|niet|geen|het|een|voor|met|van|op|we|wij|voortaan|sempre|não|os?|as?|um|uma|no|na|nos|nas|do|da|dos|das|com|sim)\b";

pub(in crate::learning) struct ChangePatterns {
    /// Is the beginning of a sentence, or all of it, that takes back what was said before.
    pub(in crate::learning) revokes: Regex,
    /// Is the beginning of a sentence that says something else than before.
    pub(in crate::learning) turns: Regex,
    /// Is the beginning of a sentence that says nothing.
    pub(in crate::learning) fillers: Regex,
    pub(in crate::learning) denies: Regex,
    pub(in crate::learning) permits: Regex,
    /// Has what is taken back as one of its groups.
    pub(in crate::learning) about: Regex,
    pub(in crate::learning) before_verb: Regex,
    /// Is the beginning of a sentence that chooses.
    pub(in crate::learning) chooses: Regex,
    pub(in crate::learning) little: Regex,
}

/// The end of the beginning of a sentence.
const END: &str = r"(?:\W*$|\s*[,.;:!–—、。，！]+\s*|\s+(?:and|und|et|y|e|en|then|please)\s+)";

pub(in crate::learning) static PATTERNS: LazyLock<ChangePatterns> = LazyLock::new(|| ChangePatterns {
    revokes: compiled(&format!(r"^\W{{0,3}}(?:{}){END}", REVOKES.join("|"))),
    turns: compiled(&format!(
        r"^\W{{0,3}}(?:(?:{}){END}|(?:actually|doch lieber|finalement|en fait|mejor|anzi|toch|na verdade|instead|stattdessen)\s+)",
        TURNS.join("|")
    )),
    fillers: compiled(&format!(r"^\W{{0,3}}(?:{FILLERS})(?:\s*[,.;:!–—]+\s*|\s+)")),
    about: compiled(ABOUT),
    before_verb: compiled(BEFORE_VERB),
    denies: compiled(DENIES),
    permits: compiled(PERMITS),
    chooses: compiled(&format!(r"^\W{{0,3}}(?:{CHOOSES})")),
    little: compiled(LITTLE),
});
