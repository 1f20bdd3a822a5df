//! The phrases by which objections and what is none are known, in English, German, French, Spanish, Italian, Dutch,
//! Portuguese, Russian, Polish, Japanese and Chinese. `families` has most words of objections, and `user_rules` those
//! of rules that users state, in the first seven of these languages. `unspaced_rules` has them in the last two, and
//! `rule_changes` has the words with which users take a rule back.

mod families;
mod rule_changes;
mod unspaced_rules;
mod user_rules;

use std::sync::LazyLock;

use regex::{Regex, RegexBuilder};

pub(super) use rule_changes::PATTERNS as CHANGE_PATTERNS;
pub(super) use unspaced_rules::{CHINESE, IS_JAPANESE, JAPANESE, OF_ONCE, UnspacedPatterns};
pub(super) use user_rules::{LanguagePatterns, PATTERNS as RULE_PATTERNS};

/// Makes a pattern of words that stand on their own, of words of languages without spaces, and of phrases with bounds
/// of their own.
fn pattern(words: &[&str], unspaced: &[&str], anywhere: &[&str]) -> Regex {
    let words = format!(r"\b(?:{})\b", words.join("|"));
    let all: Vec<&str> =
        std::iter::once(words.as_str()).chain(unspaced.iter().copied()).chain(anywhere.iter().copied()).collect();
    compiled(&all.join("|"))
}

/// Makes a pattern as [`pattern`] does, of shapes of sentences as well.
fn pattern_with(words: &[&str], unspaced: &[&str], anywhere: &[&str], shapes: &[String]) -> Regex {
    let anywhere: Vec<&str> = anywhere.iter().copied().chain(shapes.iter().map(String::as_str)).collect();
    pattern(words, unspaced, &anywhere)
}

#[allow(clippy::expect_used, reason = "the patterns are constant, and the tests compile every one")]
fn compiled(pattern: &str) -> Regex {
    RegexBuilder::new(pattern).case_insensitive(true).build().expect("a valid pattern")
}

/// These phrases surely speak of the answer: it is wrong, it did not work, it did damage.
pub(super) static SURE_OBJECTION: LazyLock<Regex> = LazyLock::new(|| {
    let words = [
        r"(?:that|this|it) (?:did|was)(?: not|n['’]t) (?:work|help|fix|compile|build|pass|correct|right|what i)\w*",
        r"that (?:does|is)(?: not|n['’]t) (?:work|help|fix|compile|build|pass|correct|right|what i)\w*",
        r"(?:that|this|it) (?:has )?never worked",
        r"(?:don['’]t|do not) (?:think|believe) (?:that|this|it)(?: \w+ly)? (?:works?|helps?|is (?:right|correct))",
        r"(?:that|this|it)(?: is| was|['’]s)(?: \w+ly)? (?:wrong|incorrect|false)",
        r"that(?: is|['’]s) not(?: quite)? (?:it|right|correct|true|valid|working|what|how)",
        r"you(?: are|['’]re| were) wrong|made (?:it|things) worse",
        r"(?:it|that|this|you)(?: has| have|['’]ve)?(?: just)? (?:delet|wip|eras|destroy|corrupt)ed (?:everything|(?:all )?(?:of )?(?:my|our))",
        r"(?:i|we)(?: have|['’]ve)?(?: just)? lost (?:all|everything)",
        r"(?:das|es|dies) (?:geht|klappt|funktioniert|stimmt|hilft|kompiliert)(?: \w+){0,3} nicht",
        r"(?:das|es|dies) hat(?: \w+){0,3} nicht (?:geholfen|geklappt|funktioniert)",
        r"(?:das|es|dies) (?:ist|war) (?:falsch|verkehrt|nicht (?:richtig|korrekt|wahr|was))",
        r"n['’]est pas (?:correct|vrai|juste)|c['’]est (?:faux|incorrect)|(?:eso|esto) (?:está|es) (?:mal|incorrecto)",
        r"(?:questo|ciò) è (?:sbagliato|errato)|(?:isso|isto) (?:está|é|estava) (?:errado|incorreto)",
        r"(?:dat|het|dit) (?:(?:werkt|klopt|helpt|compileert)(?: \w+){0,3} niet|is fout)",
        r"это (?:неверно|неправильно|ошибка|не так|не то)|to (?:jest |było )?(?:błędne|źle|złe|nieprawda)",
    ];
    let unspaced = [r"間違って(?:い)?(?:ます|る|ました)|違います|うまくいき?(?:ません|かない)", r"(?:^|[^不没])错了"];
    let first = [
        r"^\W{0,4}(?:nope|wrong|falsch|faux|incorrecto|sbagliato|fout|errado|неверно|неправильно|źle)\b",
        r"^\W{0,4}(?:no|nein|non|nee|não|нет|nie)(?:[,.!:;—]|$)|^\W{0,4}no (?:luck|dice|good|change|effect)\b",
        r"^\W{0,4}(?:(?:it|that|this|it['’]s) )?still (?:fail\w*|the same|broken|not working|does(?: not|n['’]t) \w+)\b",
        // A language that leaves the pronoun out speaks of the answer, as one with a single word before the verb does.
        r"^\W{0,4}(?:\w+\W+)?(?:não (?:funcion|ajud|resolve|compil)|no (?:funcion|ayud|resuelv)|non (?:funzion|aiut|risolv))\w*",
        r"^\W{0,4}(?:\w+\W+)?(?:no (?:compila|compiló|resolvió)|non compila|ne (?:marche|fonctionne|compile))\b",
        r"^\W{0,4}(?:\w+\W+)?(?:не (?:работа|помо|сработа)|nie (?:dział|zadziała|pomog))\w*",
        r"^\W{0,4}(?:lol|um+|uh+|er+m?|hell|god|oh|well|sorry|hm+|ha(?:ha)?) (?:no|nope)\W*$",
        r"^\W{0,4}いいえ|^\W{0,4}(?:没有?用|没有?效果|不行|不对|不正确)",
    ];
    pattern_with(&words, &unspaced, &first, &families::sure())
});

/// These words begin a sentence that speaks of what was said or done before it.
static SPEAKS_OF_BEFORE: LazyLock<Regex> = LazyLock::new(|| {
    let words = [
        r"that (?:did|does|has|is|was|made|broke|caused)\w*|das (?:hat|war|ist|macht|machte|geht|ging|bringt|brachte|half|hilft)",
        r"eso (?:no |lo |l[oa]s? )?\w+|questo (?:ha|non|è)|dat (?:heeft|is|was|werkte?|helpt|hielp|maakte?|klopte?|loste?)",
    ];
    compiled(&format!(r"^\W{{0,4}}(?:(?:{})\b|それ(?:では|は|で))", words.join("|")))
});

/// Tells whether a sentence surely objects to what was said before it, and asks nothing.
pub(super) fn surely_objects(sentence: &str) -> bool {
    let objects =
        SURE_OBJECTION.is_match(sentence) || (SPEAKS_OF_BEFORE.is_match(sentence) && OBJECTION.is_match(sentence));
    objects && !NO_OBJECTION.is_match(sentence)
}

/// These phrases speak of the answer or of something else, which does not work or is still as it was.
pub(super) static OBJECTION: LazyLock<Regex> = LazyLock::new(|| {
    let words = [
        r"(?:still|again) (?:fail|crash|throw|break)\w*|(?:still|again) (?:broken|not|wrong|the same|an? error)",
        r"(?:still|again) (?:get|see)(?:s|ting|ing)? (?:(?:\w+ ){0,3}\w*(?:error|exception|failure|warning)s?|it|that|this)",
        r"still (?:does|did|is)(?: not|n['’]t)|same (?:error|problem|issue|failure)",
        r"(?:does|did|do|is|was)(?: not|n['’]t) (?:work|help|fix|compile|build|pass|correct|right|true|fixed|what i)\w*",
        r"not (?:working|correct|right|true|fixed)|(?:it|this) (?:broke|fails?|failed|crashe[sd])|no effect",
        r"(?:got|gets|getting|(?:made|makes) (?:it|things|that|this|everything))(?: even| much)? (?:worse|slower)",
        r"still (?:nothing|hangs?|hanging|stuck|missing|leaks?|leaking|times? out|timing out|runs? out|running out|out of|happen(?:s|ing)?)",
        r"(?:error|exception|problem|issue|failure|crash|bug)s?(?: is| are| came| comes|['’]s)(?: \w+ly)? back",
        r"(?:that|this|it)(?: has| have| just){0,2} (?:brought|taken|took) (?:down|(?:\w+ ){1,3}down)|broke (?:the|our|my|everything)",
        r"you(?: have|['’]ve)?(?: \w+ly)? (?:misunderstood|misunderstand|misread)",
        r"(?:(?:do|does|is|was)(?: not|n['’]t)|not)(?: (?:think|believe|that|it|this|is|was|really|(?:that|it)['’]s)){0,4} the (?:cause|reason|culprit)",
        r"(?:that|this|your)(?: \w+){0,3} (?:does|do|did)(?: not|n['’]t) exist|there is no such \w+",
        r"now (?:i|we)(?: just)? get (?:an?|another|\w*(?:error|exception|fault)|fatal|panic\w*|[45]\d\d|permission denied|connection refused)",
        r"(?:do|did) (?:it|that|this) differently|(?:i|we) can(?:not|['’]t) (?:use|do) (?:that|this|it)",
        r"(?:geht|klappt|funktioniert|stimmt|hilft|kompiliert)(?: \w+){0,3} nicht|nicht (?:geholfen|geklappt|funktioniert)",
        r"immer noch (?:nicht|kein\w*|kaputt|rot|falsch|fehler\w*|ein\w* fehler|d\w+ (?:gleiche|selbe)\w*)|de[rn]selben? fehler",
        r"ne (?:marche|fonctionne|compile) (?:pas|toujours)|n['’]a pas (?:marché|fonctionné|aidé)|ça marche pas",
        r"toujours (?:l[ae] même|pas)|même erreur",
        r"no (?:funciona|funcionar|funcionó|compila|ayudó|es correcto)|sigue (?:fallando|igual|sin)|mismo error",
        r"non (?:funziona|va|compila|aiuta|è corretto|è vero|ha funzionato|ha aiutato)|ancora (?:lo stesso|non)|stesso errore",
        r"(?:werkt|klopt|helpt|compileert)(?: \w+){0,3} niet|niet (?:geholpen|gewerkt)",
        r"nog steeds (?:niet|geen|fout|kapot|dezelfde|een fout)|dezelfde fout",
        r"não (?:funciona|funcionou|ajuda|ajudou|resolveu|compila|deu certo|está (?:certo|correto))",
        r"ainda (?:falha|dá|está (?:errado|igual)|o mesmo)|continua (?:falhando|igual|dando)|mesmo erro",
        r"не (?:работает|работало|помогло|помогает|сработало|компилируется|запускается|получилось|решило|проходит)",
        r"(?:вс[её] (?:ещ[её]|равно)|по-прежнему) (?:ошибк\w*|пада\w+|выда\w+)|(?:та|то) же (?:сам\w+ )?(?:ошибк|проблем)\w*",
        r"nie (?:działa|zadziałało|pomogło|pomaga|kompiluje|przechodzi|udało)",
        r"(?:nadal|wciąż|dalej) (?:błąd|mam błąd|dostaję)|(?:ten sam|to samo|taki sam) (?:błąd|problem)",
    ];
    let unspaced = [
        r"動(?:きません|かない|かなかった)|直(?:りません|っていません|らない)|解決し(?:ません|ていません|ない)|失敗しま(?:す|した)",
        r"まだ(?:同じ|エラー|動|失敗|直)|同じエラー",
        r"不对|不正确|不行|没有?(?:用|效果|解决|成功)|不起作用|无法(?:工作|运行|编译)|不工作|无效",
        r"还是(?:不行|不对|一样|报错|失败|有(?:错|问题)|同样)|仍然(?:是同样|失败|报错|不行|有(?:错|问题))|同样的错误|还在报错",
    ];
    let first = [
        r"(?:^\W{0,4}(?:\w+\W+)?|\bplease )(?:undo|revert|roll back|take back) (?:that|this|it|your)\b",
        // Behind a noun it would say which one.
        r"(?:^|[,;:]\s?|\b(?:but|and|so|then|now|hm+|sorry)\W{1,2})\W{0,3}that (?:broke|fails?|failed|crashe[sd])\b",
        // Somebody contradicts, and does not speak of themselves.
        r"^\W{0,4}but (?:\w{3,}|it)(?: \w+){0,4} (?:do|does|is|are|can|will|has|have|did|was|were|ca|wo)(?: not|n['’]t|not)\b",
        r"^\W{0,4}but (?:\w{3,}|it)(?: \w+){0,3} \w+n['’]t\b",
        r"^\W{0,4}(?:no,? |please |rather ){0,2}(?:use|take) (?:\S+ ){1,4}instead\b",
    ];
    pattern_with(&words, &unspaced, &first, &families::unsure())
});

/// These phrases say of a deed that it was a mistake.
pub(super) static MISTAKE: LazyLock<Regex> = LazyLock::new(|| compiled(&families::mistakes().join("|")));

/// These phrases take back what their speaker said before.
pub(super) static RETRACTION: LazyLock<Regex> = LazyLock::new(|| {
    let words = [
        r"i(?: was|['’]m| am)(?: \w+)? (?:wrong|mistaken|incorrect)(?: (?:about|earlier|before))?|i (?:have to|need to|must|should) correct (?:myself|my|what i)|i misspoke",
        r"my (?:previous|earlier|last|first|original) (?:answer|advice|suggestion|reply|message|recommendation)(?: \w+){0,2} (?:wrong|incorrect|mistaken|bad|false)",
        r"what i (?:said|told you|wrote|suggested)(?: \w+){0,4} (?:was|is) (?:wrong|incorrect|false)|i (?:told|gave) you (?:\w+ ){0,3}(?:wrong|incorrect|bad|false)|(?:ignore|disregard|scratch) (?:my|what i) \w+",
        r"ich (?:lag|habe mich|hatte mich)(?: \w+){0,2} (?:falsch|geirrt|vertan|getäuscht)|da (?:lag|habe) ich (?:mich )?(?:falsch|geirrt)|ich muss mich (?:korrigieren|berichtigen)|meine (?:vorherige|letzte|erste|vorige) (?:antwort|empfehlung)(?: \w+){0,2} (?:falsch|fehlerhaft)",
        r"me equivoqué|estaba equivocad[oa]|mi (?:respuesta|consejo|recomendación)(?: \w+){0,3} (?:incorrect[oa]|equivocad[oa]|mal)|(?:debo|tengo que) corregir(?:me| mi| lo que)",
        r"mi (?:sono sbagliat[oa]|sbagliavo)|ho sbagliato|la mia (?:risposta|raccomandazione)(?: \w+){0,3} (?:sbagliata|errata)|(?:devo|mi devo) corregger(?:mi|e)",
        r"ik (?:had|zat)(?: \w+){0,3} (?:fout|verkeerd|mis|ongelijk|naast)|ik heb (?:me|mij) vergist|mijn (?:vorige|eerdere|eerste) (?:antwoord|advies)(?: \w+){0,2} (?:fout|onjuist|verkeerd)|ik moet (?:mezelf|me) (?:corrigeren|verbeteren)",
        r"je me suis trompée?|j['’]avais tort|eu me enganei|eu estava errad[oa]|я (?:ошиб\w+|был\w* неправ\w*)|(?:pomyliłem|pomyliłam) się",
    ];
    let unspaced = [
        r"(?:先ほど|さっき|前|以前)の(?:回答|説明|答え|提案)は(?:間違|誤)|間違えました|私が?(?:間違って|誤って)いました|訂正(?:します|いたします|させて)",
        "我(?:之前|刚才)?(?:说|弄|搞)?错了|我之前的回答(?:是错|有误)",
    ];
    pattern(&words, &unspaced, &[r"^\W{0,4}(?:correction|korrektur|corrección|correzione|correctie|rectification)\s?:"])
});

/// These phrases say that an answer was right.
pub(super) static PRAISE: LazyLock<Regex> = LazyLock::new(|| {
    let words = [
        r"great|perfect|nice|works|worked|no longer|passes|lgtm|(?:tests?|build|everything|all) pass(?:ed)?",
        r"(?:that|this|it|which)(?: has| also| really| just){0,2} (?:solved|fixed|helped)|(?:fixed|solved) (?:it|that|the)",
        r"(?:is|are|got|been|now|all) (?:solved|fixed|resolved)|(?:that|this|it) did (?:it|the trick)",
        r"super|klasse|funktioniert|klappt|parfait|ça marche|perfecto|funciona|perfetto|funziona|werkt|perfeito|funcionou",
        r"отлично|супер|работает|заработало|помогло|świetnie|działa|zadziałało|pomogło",
    ];
    let unspaced =
        ["完璧|うまくいきました|動きました|直りました|解決しました|助かりました", "不错|很好|完美|可以了|没问题"];
    pattern(&words, &unspaced, &[])
});

/// These phrases say that an error does not come any more.
pub(super) static OVER: LazyLock<Regex> = LazyLock::new(|| {
    let words = [
        r"(?:is|are|now|all) gone|no more|nicht mehr|niet meer|(?:kein|geen)\w* (?:\w+ )?me(?:hr|er)",
        r"n['’](?:ai|apparaît|y a) plus|ne (?:vois|sort|vient|reçois|se produit) plus",
        r"ya no (?:me )?(?:sale|aparece|da|hay|tengo|ocurre)|non (?:c['’]è|appare|vedo|ho) più|não (?:\w+ )?(?:dá|aparece|tenho|há) mais",
        r"больше (?:нет|не появляется|не возникает)|już nie (?:ma|występuje|pojawia)",
    ];
    pattern(&words, &["(?:出|起き|発生し|が|は)なくな", "不再|消失|没有了"], &[])
});

/// These phrases say that somebody is content in spite of what was said before them.
pub(super) static CONTENT: LazyLock<Regex> = LazyLock::new(|| {
    let words = [
        r"(?:but|still|yet)(?: [\w'’]+){0,3} (?:fine|ok|okay|good enough|acceptable|all right|alright|no problem)",
        r"(?:aber|doch)(?: \w+){0,3} (?:okay|ok|in ordnung|gut genug|kein problem|akzeptabel|nicht schlimm)",
        r"pero(?: \w+){0,3} (?:bien|aceptable|suficiente|no importa|no pasa nada|vale)",
        r"(?:ma|però)(?: \w+){0,3} (?:bene|accettabile|basta|abbastanza|nessun problema)",
        r"maar(?: \w+){0,3} (?:prima|goed genoeg|oké|ok|acceptabel|geen probleem|niet erg)",
    ];
    pattern(&words, &["(?:問題|大丈夫|構い)(?:は|が)?(?:ありません|ない|です|ません)|十分です|許容範囲"], &[])
});

/// These words deny what stands behind them, such as praise. They are the end of the text before it.
pub(super) static DENIED_BEFORE: LazyLock<Regex> = LazyLock::new(|| {
    let words =
        r"not|never|no|none|nothing|only|nicht|kein\w*|nichts|pas|rien|non|ne|niet|geen|não|nada|не|ничего|nie|nic";
    compiled(&format!(r"(?:\b(?:{words})|n['’]t)(?: \w+){{0,2}}\s*$"))
});

/// These words deny what stands before them. They are the beginning of the text behind it.
pub(super) static DENIED_BEHIND: LazyLock<Regex> =
    LazyLock::new(|| compiled(r"^(?: \w+){0,3} (?:nicht|niet|pas|nothing)\b"));

/// These words turn to the contrary of what was said before.
pub(super) static CONTRAST: LazyLock<Regex> = LazyLock::new(|| {
    let words = [
        "but|however|unfortunately|sadly|aber|jedoch|leider|mais|malheureusement|pero|desafortunadamente|purtroppo",
        "ma|però|maar|helaas|mas|porém|infelizmente|но|однако|увы|ale|jednak|niestety",
    ];
    pattern(&words, &["でも|しかし|ですが", "但|可是|不过"], &[])
});

/// The beginning of a condition, of a question or of a request before an objection, or what denies it.
pub(super) static CONDITION: LazyLock<Regex> = LazyLock::new(|| {
    let words = [
        "if|how|why|what|whether|unless|in case|wenn|falls|ob|wie|warum|si|comment|pourquoi|quand|cómo|por qué|cuando",
        "come|perché|quando|se|als|hoe|waarom|como|если|как|почему|когда|jeśli|jak|dlaczego|kiedy",
    ];
    pattern(
        &words,
        &[],
        &[
            r"\b(?:when|until)\b[^,]*$|\b(?:once|after|before)\s*$",
            r"(?:no longer|\bnot|n['’]t) (?:get|see|have)\b[^,]*$",
            r"^\W{0,4}(?:please |now |then )?(?:add|write|create|document|explain|tell|describe|make (?:it|sure))\b[^,;]*$",
        ],
    )
});

/// These are questions, and phrases that look like objections.
pub(super) static NO_OBJECTION: LazyLock<Regex> = LazyLock::new(|| {
    let words = [
        r"(?:not|\w+n['’]t)(?: quite| really)? (?:clear|sure|understand)",
        r"(?:not|\w+n['’]t) (?:a|the|any) (?:problem|issue)|(?:not|\w+n['’]t) (?:bad|urgent|needed|necessary|important|critical|all)",
        r"(?:i|we)(?: still)?(?: have| did| could)?(?: not|n['’]t)(?: yet)? (?:tested|tried|checked|test|try|check)",
        r"nicht (?:getestet|ausprobiert|probiert|versucht)|niet (?:getest|geprobeerd)|pas (?:testé|essayé)",
        r"no (?:lo )?he probado|non (?:l['’])?ho (?:provato|testato)|não (?:testei|tentei)",
        r"не (?:тестировал|пробовал|проверял)\w*|nie (?:testował|próbował|sprawdz)\w*",
    ];
    let unspaced = [
        r"(?:ない|ません|エラー)の?(?:場合|とき|時|なら|ければ)|なかったら|なぜ|どうすれ|か。?\s*$",
        r"吗。?\s*$|怎么|如何|为什么|如果|要是|是否",
    ];
    let anywhere = [r"[?？]\W*$", r"^\W{0,4}no,? (?:problem|worries|need|more|further)\b"];
    pattern(&words, &unspaced, &anywhere)
});

/// This is a "no" with thanks, or with the word that all is well: it answers an offer.
pub(super) static NO_WITH_THANKS: LazyLock<Regex> = LazyLock::new(|| {
    let said = [
        r"thanks|thank you|thx|danke|merci|gracias|grazie|obrigad[oa]|bedankt|dank (?:je|u)|спасибо|dzięki|dziękuję",
        r"(?:that|this|it|everything|all) works|all (?:good|fine|set)|(?:that|it)(?: is|['’]s) (?:all|it|fine|good|ok|okay)",
        r"alles (?:gut|klar|bestens|goed)|das (?:war['’]?s|passt|reicht|geht so)|passt|c['’]est (?:bon|tout)|tout va bien",
        r"todo bien|está bien|eso es todo|tutto (?:bene|ok)|va bene|basta così|tudo (?:bem|certo)|é só isso|dat is alles",
        r"вс[её] (?:хорошо|в порядке|работает)|это вс[её]|wszystko (?:dobrze|gra|działa|w porządku)|to wszystko",
    ];
    compiled(&format!(
        r"^\W{{0,4}}(?:(?:no|nope|nein|non|nee|não|нет|nie)\W+(?:{})\b|(?:いいえ|いや)\W*(?:大丈夫|結構|問題(?:ない|ありません)|ありがとう)|不(?:用|需要)?了?\W*(?:谢谢|没问题))",
        said.join("|")
    ))
});

/// This is a "no" that is a sentence on its own.
pub(super) static BARE_NO: LazyLock<Regex> =
    LazyLock::new(|| compiled(r"^\W*(?:no|nope|nein|non|nee|não|нет|nie|いいえ|不)\W*$"));

/// These phrases come before an objection, such as a sigh, or that somebody tried it.
pub(super) static LEADS_ON: LazyLock<Regex> = LazyLock::new(|| {
    compiled(concat!(
        r"^\W*(?:h+m+|wait|sorry|ugh|oh|oops|argh|damn)\W*$",
        r"|\b(?:i|we)(?: have|['’]ve)?(?: just)? (?:tried|did|ran|run|applied|used|followed|installed|restarted)",
        r" (?:it|that|this|your|both|exactly)\b",
        r"|\b(?:versucht|probiert|essayé|probé|probado|provato|geprobeerd|tentei|попробовал\w*|s?próbowa\w*)\b|試し|试了",
    ))
});

/// These words thank, agree, or say that somebody will try what was said.
pub(super) static GOES_ALONG: LazyLock<Regex> = LazyLock::new(|| {
    let words = [
        r"thanks?(?: you)?(?: (?:so|very))?(?: much| a lot)?|thx|cheers|got it|understood|makes sense|will do|perfect|nice",
        r"(?:i|we)(?:['’]ll| will|['’]m going to| am going to)(?: \w+ly)? (?:try|test|check|deploy|apply|run|use|do)(?: (?:it|that|this|them|out|so))*(?: (?:first|later|now|then|today|tonight|tomorrow))?",
        r"(?:(?:i|we)(?:['’]ve| have)? )?(?:applied|deployed|merged|committed|shipped|done)(?: (?:it|that|this))?",
        r"let me (?:try|test|check|see|do)(?: (?:it|that|this|out|first|now))*|apply (?:it|that|this)",
        r"danke(?: schön| sehr| dir)?|vielen dank|alles klar|verstanden|super|gut|prima|(?:ich )?(?:probiere|teste|versuche|mache)(?: (?:ich|es|das|mal|gleich|jetzt|heute|morgen|aus))*",
        r"merci(?: beaucoup)?|d['’]accord|compris|parfait|je (?:vais |l['’])?(?:essaie|essayer|teste|tester)(?: (?:ça|cela|demain))*",
        r"(?:muchas )?gracias|vale|entendido|de acuerdo|lo (?:probaré|pruebo)|voy a probar(?:lo)?",
        r"grazie(?: mille)?|va bene|capito|perfetto|(?:ci )?provo(?: subito)?|lo provo",
        r"bedankt|dank je(?: wel)?|oké|begrepen|ik (?:probeer|test) (?:het|dat)",
        r"(?:muito )?obrigad[oa]|entendi|certo|vou (?:testar|tentar)(?: isso)?",
        r"(?:большое )?спасибо|понятно|понял\w*|хорошо|(?:сейчас )?(?:попробую|проверю)",
        r"dzięki|dziękuję|rozumiem|dobrze|(?:zaraz )?(?:spróbuję|sprawdzę)",
    ];
    let unspaced = [
        r"ありがとう(?:ございます|ございました)?|了解(?:です|しました)?|わかりました|(?:試して|やって)み(?:ます|る)",
        r"谢谢(?:你|您)?|好的?|明白了?|知道了|我(?:先|来|去)?试(?:试|一下)",
    ];
    pattern(&words, &unspaced, &[])
});

/// These words ask for more than was said, so that what follows is an answer of its own.
pub(super) static ASKS_FOR_MORE: LazyLock<Regex> =
    LazyLock::new(|| pattern(&[r"continue|proceed|carry on|keep going|go on|next(?: (?:one|step|part))?"], &[], &[]));

/// These terms are in objections to anything, so that they do not say what one is about.
pub(super) const SAYS_LITTLE: [&str; 24] = [
    "again", "back", "chang", "correct", "did", "error", "fail", "fix", "get", "help", "issu", "make", "need", "out",
    "problem", "run", "same", "still", "thank", "tri", "use", "work", "wrong", "you",
];
