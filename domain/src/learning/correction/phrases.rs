//! The phrases by which objections and what is none are known, in English, German, French, Spanish, Italian, Dutch,
//! Portuguese, Russian, Polish, Japanese and Chinese.

use std::sync::LazyLock;

use regex::{Regex, RegexBuilder};

/// Words on their own, and words of languages without spaces, which have no bounds.
fn pattern(words: &[&str], unspaced: &[&str], anywhere: &[&str]) -> Regex {
    let words = format!(r"\b(?:{})\b", words.join("|"));
    let all: Vec<&str> =
        std::iter::once(words.as_str()).chain(unspaced.iter().copied()).chain(anywhere.iter().copied()).collect();
    compiled(&all.join("|"))
}

#[allow(clippy::expect_used, reason = "the patterns are constant, and the tests compile every one")]
fn compiled(pattern: &str) -> Regex {
    RegexBuilder::new(pattern).case_insensitive(true).build().expect("a valid pattern")
}

/// What is surely said of the answer: that it is wrong, that something is still as it was, that it did damage.
pub(super) static SURE_OBJECTION: LazyLock<Regex> = LazyLock::new(|| {
    let words = [
        r"(?:still|again) (?:fail|get|see|broken|crash|not|wrong|throw|the same|an? error)\w*",
        r"still (?:does|did|is)(?: not|n['’]t)",
        r"same (?:error|problem|issue|failure)",
        r"(?:that|this|it) (?:does|did|is|was)(?: not|n['’]t) (?:work|help|fix|compile|build|pass|correct|right|what i)\w*",
        r"(?:that|this|it) (?:has )?never worked|(?:don['’]t|do not) (?:think|believe) (?:that|this|it) \w+",
        r"(?:that|this|it)(?: is| was|['’]s)(?: \w+ly)? (?:wrong|incorrect|false)|that(?: is|['’]s) not",
        r"you(?: are|['’]re| were) wrong|made (?:it|things) worse|(?:had|has) no effect",
        r"(?:undo|revert|roll back|take back) (?:that|this|it|your)",
        r"(?:it|that|this|you)(?: has| have|['’]ve)?(?: just)? (?:delet|wip|eras|destroy|corrupt)ed (?:all|everything|my|our)",
        r"(?:i|we)(?: have|['’]ve)?(?: just)? lost (?:all|everything)",
        r"(?:das|es|dies) (?:geht|klappt|funktioniert|stimmt|hilft|kompiliert)(?: \w+){0,3} nicht",
        r"(?:das|es|dies) hat(?: \w+){0,3} nicht (?:geholfen|geklappt|funktioniert)",
        r"(?:das|es|dies) (?:ist|war) (?:falsch|verkehrt|nicht (?:richtig|korrekt|wahr|was))|immer noch|derselbe fehler",
        r"n['’]est pas (?:correct|vrai|juste)|c['’]est (?:faux|incorrect)|toujours (?:la même|le même|pas)|même erreur",
        r"sigue (?:fallando|igual|sin)|mismo error|(?:eso|esto) (?:está|es) (?:mal|incorrecto)",
        r"stesso errore|ancora (?:lo stesso|non)|(?:questo|ciò) è (?:sbagliato|errato)",
        r"(?:dat|het|dit) (?:(?:werkt|klopt|helpt|compileert)(?: \w+){0,3} niet|is fout)|nog steeds|dezelfde fout",
        r"ainda (?:falha|não|dá|está|o mesmo)|continua (?:falhando|igual|dando|com)|mesmo erro",
        r"(?:isso|isto) (?:está|é|estava) (?:errado|incorreto)",
        r"(?:вс[её] (?:ещ[её]|равно)|по-прежнему) (?:не|ошибк\w*|пада\w+|выда\w+)|(?:та|то) же (?:сам\w+ )?(?:ошибк|проблем)\w*",
        r"это (?:неверно|неправильно|ошибка|не так|не то)",
        r"(?:nadal|wciąż|dalej) (?:nie|błąd|mam|dostaję)|(?:ten sam|to samo|taki sam) (?:błąd|problem)|to (?:jest |było )?(?:błędne|źle|złe|nieprawda)",
    ];
    let unspaced = [
        r"間違って(?:い)?(?:ます|る|ました)|違います|まだ(?:同じ|エラー|動|失敗|直)|同じエラー|うまくいき?(?:ません|かない)",
        r"还是(?:不|一样|报错|失败|有|同样)|仍然(?:是|失败|报错|不|有)|同样的错误|还在报错|(?:^|[^不没])错了",
    ];
    let first = [
        r"^\W{0,4}(?:nope|wrong|falsch|faux|incorrecto|sbagliato|fout|errado|неверно|неправильно|źle)\b",
        r"^\W{0,4}(?:no|nein|non|nee|não|нет|nie)(?:[,.!:;—]|$)|^\W{0,4}no (?:luck|dice|good|change|effect)\b",
        // A language that leaves the pronoun out speaks of the answer, as one with a single word before the verb does.
        r"^\W{0,4}(?:\w+\W+)?(?:não|no|non|не|nie|ne) (?:funcion|ajud|resolve|compil|ayud|funzion|aiut|работа|помо|сработа|dział|zadziała|pomog|marche|fonctionne)\w*",
        r"^\W{0,4}いいえ|^\W{0,4}(?:没有?用|没有?效果|不行|不对|不正确)",
    ];
    pattern(&words, &unspaced, &first)
});

/// What is said of the answer, or of something else that does not work.
pub(super) static OBJECTION: LazyLock<Regex> = LazyLock::new(|| {
    let words = [
        r"(?:does|did|do|is|was)(?: not|n['’]t) (?:work|help|fix|compile|build|pass|correct|right|true|fixed|what i)\w*",
        r"not (?:working|correct|right|true|fixed)|(?:it|that|this) (?:broke|fails?|failed|crashe[sd])|no effect",
        r"(?:geht|klappt|funktioniert|stimmt|hilft|kompiliert)(?: \w+){0,3} nicht|nicht (?:geholfen|geklappt|funktioniert)",
        r"ne (?:marche|fonctionne|compile) (?:pas|toujours)|n['’]a pas (?:marché|fonctionné|aidé)|ça marche pas",
        r"no (?:funciona|funcionar|funcionó|compila|ayudó|es correcto)",
        r"non (?:funziona|va|compila|aiuta|è corretto|è vero|ha funzionato|ha aiutato)",
        r"(?:werkt|klopt|helpt|compileert)(?: \w+){0,3} niet|niet (?:geholpen|gewerkt)",
        r"não (?:funciona|funcionou|ajuda|ajudou|resolveu|compila|deu certo|está (?:certo|correto))",
        r"не (?:работает|работало|помогло|помогает|сработало|компилируется|запускается|получилось|решило|проходит)",
        r"nie (?:działa|zadziałało|pomogło|pomaga|kompiluje|przechodzi|udało)",
    ];
    let unspaced = [
        r"動(?:きません|かない|かなかった)|直(?:りません|っていません|らない)|解決し(?:ません|ていません|ない)|失敗しま(?:す|した)",
        r"不对|不正确|不行|没有?(?:用|效果|解决|成功)|不起作用|无法(?:工作|运行|编译)|不工作|无效",
    ];
    pattern(&words, &unspaced, &[])
});

/// What says that an answer was right.
pub(super) static PRAISE: LazyLock<Regex> = LazyLock::new(|| {
    let words = [
        r"great|perfect|nice|works|worked|fixed it|no longer",
        r"super|klasse|funktioniert jetzt|parfait|perfecto|perfetto|perfeito|funcionou",
        r"отлично|супер|работает|заработало|помогло|świetnie|działa|zadziałało|pomogło",
    ];
    let unspaced =
        ["完璧|うまくいきました|動きました|直りました|解決しました|助かりました", "不错|很好|完美|可以了|没问题"];
    pattern(&words, &unspaced, &[])
});

/// What turns to the contrary of what was said before.
pub(super) static CONTRAST: LazyLock<Regex> = LazyLock::new(|| {
    let words = [
        "but|however|unfortunately|sadly|aber|jedoch|leider|mais|malheureusement|pero|desafortunadamente|purtroppo",
        "ma|però|maar|helaas|mas|porém|infelizmente|но|однако|увы|ale|jednak|niestety",
    ];
    pattern(&words, &["でも|しかし|ですが", "但|可是|不过"], &[])
});

/// The beginning of a condition or of a question before an objection, or what denies it.
pub(super) static CONDITION: LazyLock<Regex> = LazyLock::new(|| {
    let words = [
        "if|how|why|what|whether|unless|in case|wenn|falls|ob|wie|warum|si|comment|pourquoi|quand|cómo|por qué|cuando",
        "come|perché|quando|se|als|hoe|waarom|como|если|как|почему|когда|jeśli|jak|dlaczego|kiedy",
    ];
    pattern(
        &words,
        &[],
        &[r"\b(?:when|once|until|after|before)\b[^,]*$", r"(?:no longer|\bnot|n['’]t) (?:get|see|have)\b[^,]*$"],
    )
});

/// A question, and phrases that look like objections.
pub(super) static NO_OBJECTION: LazyLock<Regex> = LazyLock::new(|| {
    let words = [
        r"(?:not|\w+n['’]t)(?: quite| really)? (?:clear|sure|understand)",
        r"not (?:a|the|any) (?:problem|issue)|not (?:bad|urgent|needed|necessary|all)",
    ];
    let unspaced = [
        r"(?:ない|ません|エラー)の?(?:場合|とき|時|なら|ければ)|なかったら|なぜ|どうすれ|か。?\s*$",
        r"吗。?\s*$|怎么|如何|为什么|如果|要是|是否",
    ];
    let anywhere = [
        r"[?？]\W*$",
        r"^\W{0,4}no,? (?:problem|worries|thanks|thank you|need|more|further|that(?: is|['’]s) (?:all|it|fine)\b)",
    ];
    pattern(&words, &unspaced, &anywhere)
});

/// What is said before an objection, such as a sigh, or that somebody tried it.
pub(super) static LEADS_ON: LazyLock<Regex> = LazyLock::new(|| {
    compiled(concat!(
        r"^\W*(?:h+m+|wait|sorry|ugh|oh|oops|argh|damn)\W*$",
        r"|\b(?:i|we)(?: have|['’]ve)?(?: just)? (?:tried|did|ran|run|applied|used|followed|installed|restarted)",
        r" (?:it|that|this|your|both|exactly)\b",
        r"|\b(?:versucht|probiert|essayé|probé|probado|provato|geprobeerd|tentei|попробовал\w*|s?próbowa\w*)\b|試し|试了",
    ))
});
