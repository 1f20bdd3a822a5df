//! Words of which users make standing rules, one language after the other: what asks for something to be remembered,
//! what begins from now on, what is so always or never, and what only looks like it.

use std::sync::LazyLock;

use regex::Regex;

use super::compiled;

/// The words of one language. Each field is an alternation, in small letters.
struct RuleWords {
    /// Begins a sentence whose rest is to be remembered.
    remember: &'static str,
    /// Is a sentence of its own, and asks for the one before it to be remembered.
    points_back: &'static str,
    /// Says that something begins to hold.
    from_now: &'static str,
    /// The same, where it begins the sentence.
    from_now_first: &'static str,
    /// Names the place at which something holds.
    here: &'static str,
    /// The same in so many words that it may begin a rule.
    in_project: &'static str,
    /// Says what people do there.
    habit: &'static str,
    /// Says that something is so each time, or at no time.
    ever: &'static str,
    /// Has one of these words and says something else.
    not_ever: &'static str,
    /// Names what is not to be done instead.
    contrast: &'static str,
    /// The verbs of orders, as they begin one.
    verbs: &'static str,
    /// Orders something for each time, at the beginning of a clause. `{verbs}` are those above.
    told: &'static str,
    /// Says what one has to do, or what may be done with things of a kind.
    due: &'static str,
    /// Says that something has to be.
    must: &'static str,
    /// Begins what is no thing of a kind: a pronoun, an article.
    definite: &'static str,
    /// Forbids something, at the beginning of a clause. `{verbs}` are those above.
    forbids: &'static str,
    /// Tells what a thing does that goes wrong.
    fails: &'static str,
    /// Tells of now and not of each time.
    now_only: &'static str,
    /// Tells of the speaker alone.
    speaker: &'static str,
    /// Begins an order for something new.
    orders: &'static str,
}

const LANGUAGES: [RuleWords; 7] = [ENGLISH, GERMAN, FRENCH, SPANISH, ITALIAN, DUTCH, PORTUGUESE];

const ENGLISH: RuleWords = RuleWords {
    remember: r"(?:please )?(?:remember|keep in mind|bear in mind|(?:do not|don['’]t) forget)(?: that\b|\s?:|,)|(?:please )?remember for (?:the future|next time|later)\s?[:,]|(?:one|another|a) (?:thing|rule|note) (?:to remember|to keep in mind|for (?:next time|the future|later))\s?:|for (?:the )?future(?: reference)?\s?[:,]|as a rule\s?[:,]|(?:general |house |project |our )?(?:rule|convention)\s?:",
    points_back: r"(?:please |and |so )*(?:remember|memori[sz]e|note) (?:that|this|it)(?: please| for (?:the future|next time|later))?|(?:please |and |so )*(?:keep|bear) (?:that|this|it) in mind(?: please| for (?:the future|next time|later))?|(?:please )?(?:do not|don['’]t) forget (?:that|this|it)",
    from_now: r"from now on|going forward|from here on(?: out)?|henceforth|from today on|as of today",
    from_now_first: r"in (?:the )?future|next time|in all future \w+",
    here: r"here|around here|in (?:this|our) (?:project|repo(?:sitory)?|code ?base|team|company|monorepo)|on this (?:project|team|repo)|at our (?:company|shop)",
    in_project: r"in (?:this|our) (?:project|repo(?:sitory)?|code ?base|team|company|monorepo)|on this (?:project|team|repo)|at our (?:company|shop)",
    habit: r"we(?: \w+ly)?(?: always| never| only| usually| do not| don['’]t)? (?:use|write|put|keep|store|name|call|run|test|commit|deploy|merge|squash|rebase|format|follow|prefer|avoid|require|log|import|mock|handle|throw|wrap|document|pin|tag|ship|release|prefix|validate|target|want|allow|add|create|branch|sign|structure|lint|build|push|edit|touch|change|hard-?code|catch|round|review|translate)",
    ever: r"always|never|only ever|(?:do not|don['’]t) ever",
    not_ever: r"never ?mind|never (?:again|before|ever)|as always|always (?:happy|glad|welcome|nice|good|great|fun|a pleasure)|almost (?:always|never)|(?:not|n['’]t) always",
    contrast: r", (?:and |but )?(?:not|never|no)\b|\b(?:instead of|rather than)\b",
    verbs: r"use|run|commit|push|deploy|merge|rebase|write|create|add|put|call|check|test|format|lint|log|store|save|name|prefix|document|ask|edit|touch|change|modify|delete|drop|remove|install|mock|catch|swallow|hard-?code|start|squash|sign|bump|update|upgrade|review|follow|prefer|include|go|work|branch|open|close|import|export|pin|force|skip|ignore|disable|throw|raise|wrap|validate|escape|sanitize|quote|translate|read|make|do|let|leave|keep|set|give|send|target|tag|release|publish|build|compile|generate|verify|confirm|append|declare|define|annotate|type|trust|expose|cache|query|index|migrate|back|begin|end|specify|reference|link|cite|mention|explain|answer|reply|respond|speak|stage|amend|revert|refactor|rename|move|copy|reuse|introduce|rely|mix|nest|inline|suppress|convert|round|compare|parse|pass|await|block|retry|inject|extend|override|overwrite|bypass|access|talk|connect|hit|clone|fork|be",
    told: r"(?:please )?(?:(?:make|be) sure (?:to |that you |you )|take care to )?(?:always|never|(?:do not|don['’]t) ever|not ever) (?:ever )?(?:{verbs})\b|(?:you|everyone|one)(?: really)? (?:should|must|may|have to|need to|has to) (?:always|never) (?:{verbs})\b|i (?:want|need|expect|prefer|(?:would|['’]d) (?:like|prefer)) (?:you to )?(?:\w+ ){0,3}?(?:always|never)\b",
    due: r"(?:must|may|shall) (?:always|never|only ever)",
    must: r"must|has to|have to|needs? to|should|may",
    definite: r"the|this|that|these|those|it|he|she|they|we|i|you|there|what|which|who|my|your|his|her|its|a|an|one|and|but|so|or",
    forbids: r"(?:please )?(?:do not|don['’]t) (?:{verbs})\b",
    fails: r"fail(?:s|ed|ing)?|pass(?:es|ed)?|crash(?:es|ed)?|hangs?|breaks?|times? out|gets?|got|is|are|was|were|been|worked|works|finish(?:es)?|loads?|shows?|appears?|returns?|happens?|had|has|have|saw|seen|(?:does|did|they do|we do|tests do|these do)(?: not|n['’]t)",
    now_only: r"yet|for now|right now|today|tonight|tomorrow|yesterday|this time|for the moment|at the moment|currently|until (?:i|we)|just (?:this|now|once)",
    speaker: r"i|i['’](?:m|ve|ll|d)|me|my",
    orders: r"(?:write|add|create|implement|build|make|generate|fix|refactor|rename|change|remove|show|display|let|ensure|give|develop|design|set up|extend|convert)(?: \w+)? (?:an?|the|this|that|me|us|some|sure|it|new|all|my|our)",
};

const GERMAN: RuleWords = RuleWords {
    remember: r"(?:bitte )?(?:merke? (?:dir|euch)|merkt euch|denke? (?:bitte )?dar?an|beachte|vergiss (?:bitte )?nicht|nicht vergessen)(?: bitte)?(?:\s?:|,? dass\b)|(?:wichtig )?für (?:später|die zukunft|das nächste mal)\s?[:,]|(?:als |grund|haus)?regel\s?:",
    points_back: r"(?:bitte )?merke? (?:dir|euch) (?:das|dies)(?: bitte)?(?: für (?:die zukunft|später|das nächste mal))?(?: bitte)?|(?:das )?(?:bitte )?(?:merken|nicht vergessen)",
    from_now: r"ab (?:jetzt|sofort|heute|nun)|von (?:jetzt|nun) an|fortan",
    from_now_first: r"künftig|zukünftig|in zukunft|nächstes mal|beim nächsten mal",
    here: r"hier|bei uns|in diesem (?:projekt|repo(?:sitory)?|team)|in dieser codebasis|in unserem (?:projekt|repo|team|code)",
    in_project: r"bei uns|in diesem (?:projekt|repo(?:sitory)?|team)|in dieser codebasis|in unserem (?:projekt|repo|team|code)|im (?:ganzen )?projekt",
    habit: r"(?:wir|man) (?:\w+ ){0,2}?(?:verwenden|nutzen|benutzen|nehmen|schreiben|speichern|committen|machen|setzen|testen|arbeiten|deployen|mergen|benennen|legen|halten|formatieren|folgen|importieren|loggen|erlauben|wollen|mocken|verzichten|vermeiden|bevorzugen|übersetzen|dokumentieren|pushen|bauen)|(?:verwenden|nutzen|benutzen|nehmen|schreiben|speichern|committen|machen|setzen|testen|arbeiten|deployen|mergen|benennen|legen|halten|formatieren|folgen|importieren|loggen|erlauben|wollen|mocken|verzichten|vermeiden|bevorzugen|dokumentieren|pushen) wir",
    ever: r"immer|nie|niemals|stets|grundsätzlich|ausnahmslos",
    not_ever: r"immer (?:noch|wieder|gern\w*|mehr|langsamer|schlimmer)|noch (?:immer|nie)|nie (?:wieder|zuvor|gesehen)|wie immer|fast (?:immer|nie)|nicht immer|für immer",
    contrast: r", (?:und |aber )?(?:nicht|nie|niemals|kein\w*)\b|\b(?:statt|anstatt|anstelle)\b",
    verbs: r"verwende|nutze?|benutze?|nimm|schreibe?|committe|pushe?|lege?|speichere?|rufe?|starte|setze?|teste|prüfe?|ändere?|lösche?|führe?|frage?|erstelle?|arbeite|mache?|deploye?|merge|mocke?|importiere?|formatiere?|halte?|gib|baue?|füge?|vermeide?|logge?|fasse?|antworte|bevorzuge?|dokumentiere?",
    told: r"(?:bitte )?(?:immer|nie|niemals|stets|grundsätzlich)\b[^,;.:]*\b\w{2,}(?:en|ern|eln)\s*(?:$|[,.;:!–])|(?:bitte )?(?:{verbs})(?: \S+){0,6}? (?:immer|nie|niemals|stets|grundsätzlich)\b|(?:du|ihr|man) (?:musst|müsst|muss|sollst|solltest|solltet|sollte|darfst|dürft|darf) (?:\S+ ){0,3}?(?:immer|nie|niemals|stets)\b",
    due: r"(?:dürfen|müssen|sollen) (?:\S+ ){0,3}?(?:immer|nie|niemals|stets|grundsätzlich)",
    must: r"muss|müssen|darf|dürfen|sollen",
    definite: r"der|die|das|den|dem|des|dies\w*|jen\w*|er|sie|es|ich|du|wir|ihr|man|da|dort|ein\w*|mein\w*|dein\w*|und|aber|so|was|wer",
    forbids: r"(?:bitte )?(?:{verbs})\b[^,;.:]*\b(?:nicht|kein\w*)\b|nicht\b[^,;.:]*\b\w{2,}(?:en|ern|eln)\s*(?:$|[,.;:!–])",
    fails: r"schlägt|schlagen|stürzt|hängt|bricht|klappt|geht|ging|fehl\w*|startet|dauert|kommt|bekomm\w*|krieg\w*|läuft|lädt|leuchtet|zeigt|wirft|ist|sind|war|hat|habe|haben|funktionier\w*|wird|werde",
    now_only: r"noch nicht|vorerst|erst ?mal|diesmal|heute|morgen|gestern|gerade|im moment|momentan|bis (?:ich|wir)|fürs erste",
    speaker: r"ich|mir|mich|mein\w*",
    orders: r"(?:bitte )?(?:schreib|füge?|erstelle?|implementiere?|baue?|mache?|ändere?|behebe?|entferne?|zeige?|lösche?|refaktoriere?|benenne?)e? (?:bitte |mir |mal )*(?:ein\w*|den|die|das|dem|diese\w*|alle)",
};

const FRENCH: RuleWords = RuleWords {
    remember: r"(?:s['’]il te plaît,? )?(?:n['’]oublie[sz]? pas|souviens-toi|souvenez-vous|retiens|retenez|rappelle-toi|garde[sz]? (?:bien )?en tête|à retenir|note[sz]? bien)\s?(?::|,|que\b|qu['’])|pour (?:la suite|l['’]avenir|la prochaine fois)\s?[:,]|règle(?: générale)?\s?:",
    points_back: r"(?:s['’]il (?:te|vous) plaît,? )?(?:souviens-t['’]en|retiens[- ](?:le|ça|cela)|retenez[- ](?:le|ça|cela)|n['’]oublie[sz]? pas (?:ça|cela)|garde[sz]? (?:bien )?(?:ça|cela) en tête|note[sz]?[- ]le)(?:,? s['’]il (?:te|vous) plaît)?(?: pour (?:la suite|l['’]avenir))?",
    from_now: r"à partir (?:de maintenant|d['’]aujourd['’]hui)|désormais|dorénavant",
    from_now_first: r"à l['’]avenir|la prochaine fois",
    here: r"ici|chez nous|dans (?:ce|notre) (?:projet|dépôt|code|équipe)|dans cette (?:équipe|base de code)|sur ce projet|dans notre équipe",
    in_project: r"chez nous|dans (?:ce|notre) (?:projet|dépôt|code)|dans (?:cette|notre) (?:équipe|base de code)|sur ce projet",
    habit: r"(?:on|nous) (?:n['’]|ne )?(?:utilis\w+|écri\w+|met\w*|pass\w+|nomm\w+|test\w+|stock\w+|déplo\w+|commit\w*|préf\w+|suiv\w*|suit|évit\w+|format\w+|gard\w+|rang\w+|document\w+|valid\w+|fusionn\w+|fait|faisons|emplo\w+|merge\w*|push\w*|pouss\w+|import\w+|mock\w*|touch\w+|modifi\w+)",
    ever: r"toujours|jamais|systématiquement",
    not_ever: r"toujours (?:pas|aussi|l[ae] même|les mêmes|en panne)|(?:pas|est|sont|a|ai|comme) toujours|jamais (?:vu|eu|entendu)|presque (?:toujours|jamais)|plus jamais",
    contrast: r", (?:et |mais )?(?:pas|jamais|non)\b|\b(?:au lieu d|plutôt qu)",
    verbs: r"utilise|passe|mets?|écris|lance|fais|crée|ajoute|vérifie|préfère|commite|pousse|teste|nomme|garde|range|déploie|demande|documente|valide|appelle|importe|suis|stocke|évite|réponds",
    told: r"(?:s['’]il te plaît,? |merci de )?(?:(?:ne |n['’])\w+(?:-\w+)? jamais\b|ne jamais \w+(?:er|ir|re)\b|toujours \w+(?:er|ir|re)\b|(?:{verbs})(?:z|ez)? (?:bien )?(?:toujours|systématiquement)\b|il ne faut jamais\b|il faut (?:toujours|systématiquement)\b|(?:tu|vous|on) (?:dois|devez|doit) (?:toujours|systématiquement)\b|(?:tu|vous|on) ne (?:dois|devez|doit) jamais\b)",
    due: r"(?:ne )?doivent (?:toujours|jamais|systématiquement)",
    must: r"doit|doivent|faut",
    definite: r"le|la|l['’]\w+|ce|cette|ça|cela|il|elle|ils|elles|je|j['’]\w+|tu|on|nous|vous|un|une|mon|ma|et|mais|c['’]\w+|qui",
    forbids: r"(?:ne |n['’])(?:{verbs})(?:z|ez)? (?:pas|plus)\b|ne pas \w+(?:er|ir|re)\b",
    fails: r"march\w+|fonctionn\w+|répond\w*|démarr\w+|plant\w+|échou\w+|affich\w+|charg\w+|est|sont|a|ont|termin\w+|arriv\w+|se|s['’]\w+",
    now_only: r"pour l['’]instant|pour le moment|cette fois|pas encore|aujourd['’]hui|demain|hier soir|tout de suite",
    speaker: r"j['’]\w*|je|me|m['’]\w+|moi|mon|ma|mes",
    orders: r"(?:écris|ajoute|crée|implémente|corrige|supprime|renomme|change|modifie|montre|affiche|génère|fais)(?:-moi)? (?:un|une|le|la|les|ce|cette|l['’]\w+|des)",
};

const SPANISH: RuleWords = RuleWords {
    remember: r"(?:por favor,? )?(?:recuerda|recordad|recuerde|acuérdate de|ten en cuenta|no olvides)\s?(?::|,|que\b)|para (?:el futuro|la próxima(?: vez)?)\s?[:,]|regla(?: general)?\s?:",
    points_back: r"(?:por favor,? )?(?:recuérdalo|recuerda (?:eso|esto)|acuérdate(?: de (?:eso|esto))?|tenlo en cuenta|no lo olvides)(?:,? por favor)?(?: para (?:el futuro|la próxima))?",
    from_now: r"(?:de|a partir de) ahora en adelante|a partir de (?:ahora|hoy)|desde ahora|en lo sucesivo",
    from_now_first: r"en el futuro|en adelante|la próxima vez",
    here: r"aquí|en (?:este|nuestro) (?:proyecto|repo(?:sitorio)?|equipo|código)|en esta base de código",
    in_project: r"en (?:este|nuestro) (?:proyecto|repo(?:sitorio)?|equipo|código)|en esta base de código",
    habit: r"usamos|utilizamos|escribimos|guardamos|ponemos|seguimos|preferimos|evitamos|probamos|desplegamos|hacemos|nombramos|formateamos|llamamos|trabajamos|validamos|documentamos|subimos|queremos|permitimos|almacenamos|creamos|tocamos|importamos",
    ever: r"siempre|nunca|jamás",
    not_ever: r"(?:casi|como|desde) siempre|siempre (?:me|te|nos|da|sale|falla)|nunca (?:había|he|hemos|ha|han)|para siempre|no siempre",
    contrast: r", (?:y |pero )?(?:no|nunca|jamás)\b|\b(?:en (?:vez|lugar) de)\b",
    verbs: r"usa|utiliza|haz|ejecuta|pon|escribe|crea|llama|añade|agrega|corre|pasa|guarda|revisa|comprueba|prueba|pregunta|sigue|actualiza|valida|documenta|importa|nombra|despliega|formatea|responde|evita|prefiere",
    told: r"(?:por favor,? )?(?:nunca (?:\w{2,}(?:es|as)|\w+(?:ar|er|ir))\b|(?:no )?(?:hay que|se debe) (?:siempre|nunca)\b|(?:siempre|nunca) (?:hay que|debes|tienes que|se debe)\b|(?:debes|tienes que) (?:siempre|nunca)\b|siempre que [^,]+, (?:{verbs}|no|hay que)\b|siempre (?:{verbs}|\w+(?:ar|er|ir))\b|(?:no )?(?:{verbs}) (?:siempre|nunca)\b|no \w+(?:es|as) (?:nunca|jamás)\b)",
    due: r"(?:(?:siempre|nunca) deben|deben (?:siempre|nunca)|nunca se (?:deben?|pueden?))",
    must: r"debe|deben|tiene que|tienen que|hay que",
    definite: r"el|la|este|esta|esto|eso|ese|esa|él|ella|yo|tú|un|una|mi|y|pero|se|me|lo",
    forbids: r"(?:por favor,? )?no (?:uses|utilices|hagas|ejecutes|pongas|escribas|crees|llames|añadas|agregues|corras|pases|guardes|pruebes|despliegues|subas|toques|borres|mezcles|importes|instales|cambies|modifiques|edites|publiques|confíes|expongas)\b",
    fails: r"falla\w*|funciona\w*|sale\w*|da|tarda\w*|arranca\w*|carga\w*|rompe\w*|termina\w*|responde|cuelga\w*|es|está|son|ha|han|aparece\w*",
    now_only: r"por ahora|todavía|aún|esta vez|hoy|mañana|ayer|de momento|por el momento",
    speaker: r"yo|me|mi|mis|conmigo",
    orders: r"(?:escribe|añade|agrega|crea|implementa|corrige|borra|elimina|renombra|cambia|muestra|genera|haz)(?:me)? (?:un|una|el|la|los|las|este|esta)",
};

const ITALIAN: RuleWords = RuleWords {
    remember: r"(?:per favore,? )?(?:ricorda(?:ti|te|tevi)?|tieni (?:a mente|presente|conto)|non dimenticar(?:e|ti))\s?(?::|,|che\b)|per (?:il futuro|la prossima volta)\s?[:,]|regola(?: generale)?\s?:",
    points_back: r"(?:per favore,? )?(?:ricordatelo|ricordalo|ricordati (?:questo|di questo)|tienilo a mente|tienilo presente|non dimenticarlo)(?:,? per favore)?(?: per (?:il futuro|la prossima volta))?",
    from_now: r"d['’]ora in (?:poi|avanti)|da (?:ora|adesso|oggi) in (?:poi|avanti)|a partire da (?:ora|adesso|oggi)",
    from_now_first: r"in futuro|la prossima volta",
    here: r"qui|da noi|in questo (?:progetto|repo(?:sitory)?|team)|nel nostro (?:progetto|team|codice|repo)|in questa codebase",
    in_project: r"da noi|in questo (?:progetto|repo(?:sitory)?|team)|nel nostro (?:progetto|team|codice|repo)|in questa codebase",
    habit: r"usiamo|utilizziamo|scriviamo|salviamo|mettiamo|seguiamo|preferiamo|evitiamo|testiamo|facciamo|chiamiamo|formattiamo|lavoriamo|validiamo|documentiamo|committiamo|vogliamo|teniamo|deployiamo|rilasciamo|pubblichiamo|importiamo|tocchiamo",
    ever: r"sempre|mai",
    not_ever: r"come sempre|da sempre|per sempre|sempre (?:più|lo stesso|la stessa|gentil\w*)|mai visto|(?:ha|hai|ho|abbiamo) mai|quasi (?:sempre|mai)|non sempre",
    contrast: r", (?:e |ma )?(?:non|mai)\b|\b(?:invece (?:di|che)|anziché|al posto di)\b",
    verbs: r"usa|scrivi|metti|fai|esegui|crea|chiama|aggiungi|lancia|passa|salva|controlla|segui|aggiorna|prova|chiedi|valida|documenta|importa|formatta|preferisci|rispondi|evita",
    told: r"(?:per favore,? )?(?:non \w+(?:are|ere|ire|rre)(?:l[oaie])? mai\b|(?:mai|sempre) \w+(?:are|ere|ire|rre)\b|(?:{verbs}) sempre\b|(?:bisogna|si deve|devi|dovete) sempre\b|non (?:bisogna|si deve|devi|dovete) mai\b|non si \w+ mai\b)",
    due: r"(?:non )?(?:devono|vanno|possono) (?:\S+ )?(?:sempre|mai)",
    must: r"deve|devono|vanno|va|bisogna",
    definite: r"il|lo|la|l['’]\w+|quest\w+|quell\w+|lui|lei|io|tu|noi|un|una|mio|mia|e|ma|si|mi",
    forbids: r"(?:per favore,? )?non (?:usare|scrivere|mettere|fare|eseguire|creare|chiamare|aggiungere|lanciare|passare|salvare|toccare|modificare|importare|pubblicare|rilasciare|deployare|committare|pushare|installare|cancellare)\b",
    fails: r"funziona\w*|fallisc\w+|dà|parte|carica|blocca\w*|rompe|risponde|svuota|finisce|crasha\w*|è|sono|ha|hanno|appare|compare",
    now_only: r"per ora|ancora|stavolta|questa volta|oggi|domani|ieri|per il momento|prima di tutto",
    speaker: r"io|mi|mio|mia|miei",
    orders: r"(?:scrivi|aggiungi|crea|implementa|correggi|rimuovi|cancella|rinomina|cambia|mostra|genera|fai)(?:mi)? (?:un|una|il|lo|la|i|gli|le|questo|questa|l['’]\w+)",
};

const DUTCH: RuleWords = RuleWords {
    remember: r"(?:onthoud|vergeet niet|denk eraan)(?: alsjeblieft| graag| goed)?(?:\s?:|,? dat\b)|voor (?:de toekomst|later|de volgende keer)\s?[:,]|(?:vuist)?regel\s?:",
    points_back: r"(?:alsjeblieft )?(?:onthoud (?:dat|dit)(?: goed| graag)?|vergeet (?:dat|dit) niet|(?:dat |dit )?graag onthouden)(?:,? alsjeblieft)?(?: voor (?:later|de toekomst|de volgende keer))?",
    from_now: r"voortaan|vanaf (?:nu|vandaag)|van nu af aan|in het vervolg",
    from_now_first: r"in de toekomst|(?:de )?volgende keer",
    here: r"hier|bij ons|in (?:dit|ons) (?:project|team)|in deze (?:repo(?:sitory)?|codebase)|in onze (?:code|codebase|repo)",
    in_project: r"bij ons|in (?:dit|ons) (?:project|team)|in deze (?:repo(?:sitory)?|codebase)|in onze (?:code|codebase|repo)",
    habit: r"(?:we|wij) (?:\S+ ){0,3}?(?:gebruiken|schrijven|zetten|bewaren|testen|deployen|mergen|committen|volgen|doen|maken|noemen|formatteren|werken|valideren|documenteren|vermijden|kiezen|willen|houden|loggen|importeren|mocken|pushen|bouwen)|(?:gebruiken|schrijven|zetten|bewaren|testen|deployen|mergen|committen|volgen|doen|maken|noemen|formatteren|werken|valideren|documenteren|vermijden|kiezen|willen|houden|loggen|importeren|mocken|pushen) (?:we|wij)",
    ever: r"altijd|nooit|steevast",
    not_ever: r"nog (?:nooit|altijd)|altijd (?:leuk|fijn|graag|al|weer|welkom)|(?:bijna|vrijwel) (?:altijd|nooit)|niet altijd|zoals altijd|nooit (?:meer|eerder)",
    contrast: r", (?:en |maar )?(?:niet|nooit|geen)\b|\bin plaats van\b",
    verbs: r"gebruik|schrijf|zet|maak|doe|push|commit|deploy|merge|test|draai|controleer|vraag|volg|noem|roep|sla|importeer|formatteer|werk|houd|voeg|kies|log|mock|pas|wijzig|begin|antwoord|vermijd",
    told: r"(?:graag |alsjeblieft )?(?:(?:altijd|nooit)\b[^,;.:]*\b\w{2,}en\s*(?:$|[,.;:!–])|(?:{verbs})(?: \S+){0,6}? (?:altijd|nooit)\b|(?:je|jij|jullie|men|u) (?:moet|moeten|mag|mogen|dient) (?:\S+ ){0,3}?(?:altijd|nooit)\b)",
    due: r"(?:moeten|mogen|horen) (?:\S+ ){0,3}?(?:altijd|nooit)",
    must: r"moet|moeten|mag|mogen|dient|dienen",
    definite: r"de|het|dit|dat|deze|die|hij|zij|ze|ik|jij|je|wij|we|een|mijn|en|maar|er|wat",
    forbids: r"(?:graag |alsjeblieft )?(?:{verbs})\b[^,;.:]*\b(?:niet|geen)\b",
    fails: r"werkt|werkte|faalt|crasht|hangt|gaat|duurt|krijg\w*|geeft|lukt|komt|laadt|is|zijn|was|heb|heeft|wordt|start",
    now_only: r"nog niet|voorlopig|deze keer|vandaag|morgen|gisteren|op dit moment|eerst even",
    speaker: r"ik|mij|me|mijn",
    orders: r"(?:schrijf|voeg|maak|implementeer|verwijder|hernoem|wijzig|toon|genereer|herstel|verander) (?:een|de|het|dit|deze|die|me|alle)",
};

const PORTUGUESE: RuleWords = RuleWords {
    remember: r"(?:por favor,? )?(?:lembre-se|lembra-te|lembra|lembre|tenha em mente|não (?:se )?esqueça|não te esqueças)\s?(?::|,|(?:de )?que\b)|(?:para|da) (?:o futuro|a próxima(?: vez)?|próxima(?: vez)?)\s?[:,]|regra(?: geral)?\s?:",
    points_back: r"(?:por favor,? )?(?:lembre-se (?:disso|disto)|lembra-te (?:disso|disto)|não (?:se )?esqueça(?: disso)?|guarda isso|tenha isso em mente)(?:,? por favor)?(?: para (?:o futuro|a próxima))?",
    from_now: r"de agora em diante|a partir de (?:agora|hoje)|daqui (?:em|para a?) (?:diante|frente)|doravante",
    from_now_first: r"no futuro|da próxima vez",
    here: r"aqui|(?:neste|no nosso) (?:projeto|repositório|time|código)|nesta equipe|na nossa equipa?e?",
    in_project: r"(?:neste|no nosso) (?:projeto|repositório|time|código)|nesta equipe|na nossa equipa?e?",
    habit: r"(?:usamos|utilizamos|escrevemos|guardamos|colocamos|seguimos|preferimos|evitamos|testamos|fazemos|nomeamos|formatamos|chamamos|trabalhamos|validamos|documentamos|subimos|queremos|permitimos|armazenamos|criamos|mexemos|importamos|salvamos|publicamos|rodamos)|a gente (?:usa|escreve|guarda|segue|prefere|evita|testa|faz|roda|valida|documenta)",
    ever: r"sempre|nunca|jamais",
    not_ever: r"(?:quase|como|desde) sempre|sempre (?:me|dá|sai|falha|que eu|o mesmo|a mesma)|nunca (?:vi|tinha|havia|tive|mais)|para sempre|nem sempre",
    contrast: r", (?:e |mas )?(?:não|nunca|jamais)\b|\b(?:em vez de|ao invés de|no lugar de)\b",
    verbs: r"use|usa|utilize|faça|faz|rode|roda|execute|executa|escreva|escreve|crie|cria|adicione|verifique|teste|guarde|salve|commite|comite|suba|chame|siga|atualize|valide|documente|importe|nomeie|formate|responda|evite|prefira|coloque|pergunte|publique|altere|apague|exclua|remova|mexa|edite|confie|exponha|grave|armazene|passe|deixe|mantenha|abra|envie|implante|desative|ignore|instale|revise|confirme|mescle|logue|toque",
    told: r"(?:por favor,? )?(?:(?:sempre|nunca|jamais) (?:{verbs}|\w{2,}(?:ar|er|ir))\b|(?:{verbs}) (?:sempre|nunca)\b|não (?:{verbs}) (?:nunca|jamais)\b|sempre que [^,]+, (?:{verbs}|não)\b|(?:você |vocês )?(?:deve|devem|precisa|precisam|tem que) (?:sempre|nunca)\b|(?:sempre|nunca) (?:se )?(?:deve|devem|precisa|pode)\b)",
    due: r"(?:(?:sempre|nunca) (?:devem|podem)|(?:devem|podem) (?:sempre|nunca)|nunca se deve)",
    must: r"deve|devem|tem que|têm que|precisa|precisam",
    definite: r"[oa]s?|est[ea]s?|ess[ea]s?|isso|isto|ele|ela|eu|você|tu|uma?|meu|minha|e|mas|se",
    forbids: r"(?:por favor,? )?não (?:{verbs})\b",
    fails: r"falha\w*|funciona\w*|sai|dá|demora\w*|inicia\w*|carrega\w*|quebra\w*|termina\w*|responde|trava\w*|é|está|são|foi|tem|aparece\w*|volta\w*",
    now_only: r"por enquanto|ainda não|ainda|desta vez|dessa vez|hoje|amanhã|ontem|no momento|por ora",
    speaker: r"eu|me|mim|meu|minha|comigo",
    orders: r"(?:escreva|escreve|adicione|crie|implemente|corrija|apague|remova|renomeie|altere|mostre|gere|faça)(?:-me)? (?:um|uma|o|a|os|as|este|esta|esse|essa)",
};

/// Tells of one piece of work, of a while or of one day, in any of the languages.
const ONCE: &str = concat!(
    r"\b(?:just |only )?(?:for|in|on|during|with) (?:this|that|the current|the next|today['’]s) (?:one |single )?(?:task|change|pr|pull request|merge request|commit|branch|ticket|time|one|session|request|feature|release|issue|call|conversation|occasion|run|sprint|week)\b(?: only)?",
    r"|^\W{0,3}(?:until|till|as long as)\b|\b(?:until|during) (?:the |this |next |our )?(?:\w+ )?(?:release|launch|freeze|sprint|migration|demo|deadline|week\w*|month|monday|tuesday|wednesday|thursday|friday|saturday|sunday|holidays?|audit|go-live|incident|cutover|further notice)\b",
    r"|\b(?:temporarily|this (?:week|sprint|month|once)|just once)\b",
    r"|\b(?:nur |bloß )?(?:für|bei|in|mit) (?:dies\w+|den aktuellen|die aktuelle|der aktuellen) (?:eine\w* )?(?:aufgabe|änderung|pr|pull request|commit|branch|ticket|sitzung|anfrage|fall|mal|release|sprint|woche)\b|^\W{0,3}(?:bis|solange)\b|\bbis (?:zum|zur|das|die|der) (?:release|freeze|sprint|umstellung|wochenende|nächsten?|ende)\b|\b(?:vorübergehend|ausnahmsweise|nur (?:dieses|dies|das) eine mal|diese woche)\b",
    r"|\b(?:uniquement |seulement )?(?:pour|dans|sur|lors de) (?:cette|ce) (?:seule |seul )?(?:tâche|pr|branche|commit|ticket|session|fois|demande|changement|modification|version|sprint|semaine)\b|^\W{0,3}(?:jusqu['’]|tant que\b)|\bjusqu['’](?:à|au) (?:la |le )?(?:release|sortie|prochaine?|gel|fin)\b|\b(?:temporairement|exceptionnellement|cette semaine)\b",
    r"|\b(?:s[oó]lo |solamente )?(?:para|en|por|durante) (?:esta|este) (?:única? )?(?:tarea|cambio|pr|rama|commit|ticket|sesión|vez|petición|versión|sprint|semana)\b|^\W{0,3}(?:hasta|mientras)\b|\b(?:temporalmente|esta semana|excepcionalmente)\b",
    r"|\b(?:solo |soltanto )?(?:per|in|durante) quest[oa] (?:sol[oa] )?(?:compito|attività|modifica|pr|branch|commit|ticket|sessione|volta|richiesta|task|release|sprint|settimana)\b|^\W{0,3}(?:fino a\w*|finché)\b|\b(?:temporaneamente|eccezionalmente|questa settimana)\b",
    r"|\b(?:alleen )?(?:voor|in|bij|tijdens) (?:deze|dit) (?:ene )?(?:taak|wijziging|pr|branch|commit|ticket|sessie|keer|verzoek|opdracht|release|sprint|week)\b|^\W{0,3}(?:tot|totdat|zolang)\b|\b(?:tijdelijk|bij uitzondering|deze week)\b",
    r"|\b(?:só |somente |apenas )?(?:para|nest[ae]|ness[ae]|durante) ?(?:est[ae]|ess[ae])? ?(?:tarefa|mudança|alteração|pr|branch|commit|ticket|sessão|pedido|versão|sprint|semana)\b|^\W{0,3}(?:até|enquanto)\b|\b(?:temporariamente|excepcionalmente|desta vez|esta semana)\b",
);

/// Begins an order that holds each time.
const EACH_TIME: &str =
    r"^\W{0,3}(?:please )?(?:(?:make|be) sure (?:to |that you |you )|take care to )(?:always|never)\b";

/// Begins what is to be noted.
const NOTED: &str = r"^\W{0,3}(?:note|nb|n\.b\.|important|reminder|heads[- ]up|hinweis|achtung|wichtig|notiz|remarque|à noter|nota|importante|ojo|attenzione|let op|belangrijk|opmerking|observação|obs|atenção)\s?[:–]\s*";

/// Tells of a choice that was made, and of what was not chosen or why.
const DECIDED: &str = concat!(
    r"^\W{0,3}(?:we|the team)(?: have|['’]ve)? (?:decided (?:on|for|against)|chose|chosen|picked|settled on|agreed on|went with|opted for|standardi[sz]ed on) .*\b(?:instead of|over|rather than|because|due to|since)\b|^\W{0,3}(?:we|the team)(?: have|['’]ve)? (?:decided|agreed|chose|chosen) to (?:use|keep|store|write|go|stay|run) .*\b(?:instead of|over|rather than)\b",
    r"|^\W{0,3}wir haben uns (?:für|gegen) .*entschieden|^\W{0,3}wir haben .*\b(?:gewählt|vereinbart|beschlossen)\b.*\b(?:statt|weil|wegen)|^\W{0,3}(?:nous avons|on a) (?:choisi|opté pour|retenu|décidé d['’]utiliser) .*\b(?:au lieu d|plutôt qu|parce qu|car|à cause)",
    r"|^\W{0,3}(?:hemos (?:elegido|optado por|acordado)|elegimos|optamos por|decidimos usar) .*\b(?:en (?:vez|lugar) de|porque|por)\b|^\W{0,3}abbiamo (?:scelto|optato per|deciso di usare) .*\b(?:invece d|anziché|perché|al posto)",
    r"|^\W{0,3}(?:we|wij) (?:hebben (?:gekozen|besloten)|kozen) .*\b(?:in plaats van|omdat|vanwege)\b|^\W{0,3}(?:escolhemos|optamos por|decidimos usar) .*\b(?:em vez de|ao invés de|porque|por causa)\b",
);

/// Is the beginning of what holds for one thing alone.
const ONE_THING: &str = r"\b(?:the|this|that|these|those|it|them|my|your|der|die|das|den|dem|dies\w*|le|la|les|ce|cet|cette|l['’]\w+|el|los|las|est[ea]|es[ea]|il|lo|gli|quest\w+|het|deze|dit|ess[ae])\b";

/// Says when or where something holds.
const WHERE: &str = r"\b(?:before|after|on|in|during|without|at|to|into|from|unless|when|with|vor|nach|an|am|im|während|ohne|bei|zu|auf|mit|avant|après|dans|sans|sur|pendant|en|antes|después|sin|durante|prima|dopo|senza|su|voor|na|op|zonder|tijdens|bij|naar|met|depois|em|na|no|sem|às)\b";

/// Somebody else, and what they say.
const REPORTED: &str = concat!(
    r"\b(?:docs?|documentation|readme|manual|article|guide|changelog|ticket|issue|linter|compiler|customers?|clients?|users?",
    r"|he|she|they|boss|doku\w*|handbuch|kund\w+|er|chef\w*|documentación|clientes?|documentazione|clienti?|documentatie|klant\w*)\b",
    r"[^,.]{0,30}\b(?:says?|said|states?|tells?|told|claims?|complains?|wants?|sagt|sagen|schreib\w+|meint|will|dit|disent|veut|dicen?",
    r"|quieren?|dicono|vuole|vogliono|zegt|zeggen|staat|wil|willen)\b",
);

/// The patterns of all languages together, and of each where words of several would be mixed up.
pub(in crate::learning) struct RulePatterns {
    pub(in crate::learning) remember: Regex,
    pub(in crate::learning) points_back: Regex,
    /// The same, as the end of the sentence that is to be remembered.
    pub(in crate::learning) points_back_last: Regex,
    /// Tells what somebody else says.
    pub(in crate::learning) reported: Regex,
    pub(in crate::learning) not_ever: Regex,
    pub(in crate::learning) now_only: Regex,
    /// Tells of one piece of work, of a while or of one day.
    pub(in crate::learning) once: Regex,
    /// Begins an order that holds each time.
    pub(in crate::learning) each_time: Regex,
    /// Begins what is to be noted.
    pub(in crate::learning) noted: Regex,
    pub(in crate::learning) decided: Regex,
    pub(in crate::learning) one_thing: Regex,
    pub(in crate::learning) where_it_holds: Regex,
    pub(in crate::learning) orders: Regex,
    pub(in crate::learning) languages: Vec<LanguagePatterns>,
}

pub(in crate::learning) struct LanguagePatterns {
    pub(in crate::learning) from_now: Regex,
    pub(in crate::learning) here: Regex,
    pub(in crate::learning) in_project: Regex,
    pub(in crate::learning) habit: Regex,
    pub(in crate::learning) ever: Regex,
    pub(in crate::learning) contrast: Regex,
    /// An order to do one thing rather than another.
    pub(in crate::learning) prefers: Regex,
    pub(in crate::learning) told: Regex,
    pub(in crate::learning) due: Regex,
    pub(in crate::learning) must: Regex,
    pub(in crate::learning) definite: Regex,
    /// Forbids something.
    pub(in crate::learning) forbids: Regex,
    pub(in crate::learning) fails: Regex,
    pub(in crate::learning) speaker: Regex,
}

/// The beginning of a clause: that of the sentence, or a sign before it.
const CLAUSE: &str =
    r"(?:^\W{0,3}|[,.;:–—] ?(?:and |but |so |und |sondern |et |mais |y |pero |e |ma |en |maar |mas )?)";

pub(in crate::learning) static PATTERNS: LazyLock<RulePatterns> = LazyLock::new(|| {
    let words = |of: &str| compiled(&format!(r"\b(?:{of})(?:\b|$)"));
    let first = |of: &str| compiled(&format!(r"^\W{{0,3}}(?:{of})(?:\W|$)"));
    let all = |of: fn(&RuleWords) -> &'static str| LANGUAGES.iter().map(of).collect::<Vec<_>>().join("|");
    let language = |of: &RuleWords| LanguagePatterns {
        from_now: compiled(&format!(r"\b(?:{})\b|^\W{{0,3}}(?:{})\b", of.from_now, of.from_now_first)),
        here: words(of.here),
        in_project: first(of.in_project),
        habit: words(of.habit),
        ever: words(of.ever),
        contrast: compiled(of.contrast),
        prefers: compiled(&format!(r"{CLAUSE}(?:please |bitte )?(?:{})\b", of.verbs)),
        told: compiled(&format!("{CLAUSE}(?:{})", of.told.replace("{verbs}", of.verbs))),
        due: words(of.due),
        must: words(of.must),
        definite: first(of.definite),
        forbids: compiled(&format!("{CLAUSE}(?:{})", of.forbids.replace("{verbs}", of.verbs))),
        fails: words(of.fails),
        speaker: words(of.speaker),
    };
    RulePatterns {
        remember: compiled(&format!(r"^\W{{0,3}}(?:and |also |und |et |y |e |en )?(?:{})", all(|of| of.remember))),
        points_back: compiled(&format!(r"^\W{{0,3}}(?:{})\W*$", all(|of| of.points_back))),
        points_back_last: compiled(&format!(r"\s?[,;–—-]\s?(?:{})\W*$", all(|of| of.points_back))),
        reported: compiled(REPORTED),
        not_ever: words(&all(|of| of.not_ever)),
        now_only: words(&all(|of| of.now_only)),
        once: compiled(ONCE),
        each_time: compiled(EACH_TIME),
        noted: compiled(NOTED),
        decided: compiled(DECIDED),
        one_thing: compiled(ONE_THING),
        where_it_holds: compiled(WHERE),
        orders: compiled(&format!(r"^\W{{0,3}}(?:please |bitte |now |then )?(?:{})\b", all(|of| of.orders))),
        languages: LANGUAGES.iter().map(language).collect(),
    }
});
