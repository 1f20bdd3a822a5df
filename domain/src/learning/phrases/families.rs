//! Families of words that objections are made of, with their inflections, one language after the other, and the shapes
//! of sentences that they are put together in.

/// The end, a sign or the beginning of a clause: one of them stands behind a word that ends what is said of the answer.
const END: &str = concat!(
    r"(?:\W*$|\s?[,.;:!?)–—]|\s(?:because|since|and|but|as|so|than|now|weil|da|denn|und|aber|als|geworden|gemacht|porque",
    r"|pero|que|y|ya|perché|ma|di|che|omdat|want|en|maar|dan|gemaakt)\b)",
);

/// These words may stand before the one that begins what happened.
const LINK: &str = "and|but|so|well|hm+|und|aber|y|pero|e|ma|en|maar|sorry";
/// Says of a thing how it is.
const IS: &str = "is|are|ist|sind|liegt|está|están|va|è|sono|zijn";

/// Says that a thing still takes a time or answers an error.
const STILL_AS_LONG: &str = concat!(
    r"\b(?:still|immer noch|noch immer|nog steeds|nog altijd|todavía|aún|sigue) (?:(?:takes?|taking|about|over|dauert|duurt",
    r"|tarda(?:ndo)?|mehr als|más de|meer dan|unos|etwa|ruim|da|dando|un) ){0,3}",
    r"(?:\d+ ?(?:s|ms|sec\w*|sek\w*|min\w*|segundos|hours?|stunden|horas)|error(?: [45]\d\d)?)\b|\bdà ancora (?:un )?errore\b",
);

/// The words of one language. Each field is an alternation, in small letters.
struct Words {
    /// Says that something did not change.
    still: &'static str,
    /// May stand between that and what is bad.
    degree: &'static str,
    /// Says that a thing is bad.
    bad: &'static str,
    /// Begins what happened behind the answer.
    now: &'static str,
    /// What the sentence then speaks of, before it says what happened.
    subject: &'static str,
    /// Says that a thing broke.
    fails: &'static str,
    /// Says that a thing became worse.
    worse: &'static str,
    /// The same, where it ends the clause.
    comparative: &'static str,
    /// Says that a deed was a mistake, where it ends the clause.
    mistake: &'static str,
    /// Says that the answer is wrong, where it ends the clause.
    wrong: &'static str,
    /// Says that the answer is not what was asked for.
    misread: &'static str,
    /// Says that the answer changed nothing.
    useless: &'static str,
    /// Asks for what was done to be taken back.
    undo: &'static str,
    /// Says that somebody took it back.
    undone: &'static str,
}

const LANGUAGES: [Words; 5] = [ENGLISH, GERMAN, SPANISH, ITALIAN, DUTCH];

const ENGLISH: Words = Words {
    still: "still|remains|stays",
    degree: r"all|so|too|very|really|quite|pretty|way|much|far|just|as|completely|totally|is|are|takes?|extremely",
    bad: r"slow(?:er|ly)?|sluggish|laggy|broken|wrong|red|failing|unusable|flaky|unstable|bad|worse|too (?:slow|long|big|large|many|much)|long",
    now: r"now|since then|since (?:the|that|this|your)(?: \w+)?|afterwards|after (?:that|your) change|as a result",
    subject: r"the|my|our|your|all|every\w*|it|this|that|they|half|nothing|some|most|login|we|i|users",
    fails: r"(?:is|are|got|gets?|runs?|loads?)(?: \w+)? (?:broken|down|failing|crashing|gone|dead|offline|unreachable|wors(?:e|ened)|slower)|(?:more |even )+slowly|crash(?:es)?|fails?|hangs?|freezes?|breaks|times? out|(?:answers?|returns?|responds?|gives?|says?|throws?|reports?|shows?|gets?)(?: \w+){0,3} (?:[45]\d\d|errors?|exceptions?)|(?:does|do|will|wo)(?: not|n['’]t) (?:work|start|load|open|build|compile|run)",
    worse: r"(?:made|makes|making)(?: \w+){0,4} (?:worse|slower|harder|longer|bigger|heavier|less \w+)|(?:froze|crashed|hung|broke|died|failed|stopped)(?: \w+)? (?:after|since|as soon as) (?:i|we|that|this|your|doing|the change)|slow(?:ed|s) (?:\w+ ){1,3}down|(?:is|are|was|got|gets|became|runs|even|now|much)(?: \w+){0,2} (?:slower|worse) (?:than (?:before|it was|ever|previously)|now)|(?:it|that|this|things|everything)(?: \w+)? (?:worsened|degraded)|(?:that|this|it|which|your \w+)(?: has| have| just| also){0,2} (?:caused|causes|triggered|triggers|introduced|introduces|created|creates|brought|led to|leads to|resulted in)(?: \w+){0,3} (?:outages?|incidents?|downtime|crash(?:es)?|regressions?|deadlocks?|leaks?|races?|bugs?|failures?|errors?|exceptions?|loss|problems?|trouble|timeouts?|duplicates)|broken (?:since|because of|after) (?:that|this|your)|i regret (?:that|this|it|\w+ing)|(?:performance|throughput|speed|latency|response times?|memory use|load)(?: \w+){0,2} (?:dropped|doubled|tripled|exploded|suffered|degraded)|cost (?:us|me) (?:\w+ ){0,3}(?:hours?|days?|week|night|morning|afternoon|money|customers)",
    comparative: r"(?:is|it['’]s|are|got|gets|became|runs|loads) (?:\w+ ){0,2}(?:slower|more slowly|worse)|(?:made|makes) no difference|(?:twice|just|exactly) as (?:slow|long)|as slow as (?:before|ever)",
    mistake: r"(?:was|were|is|(?:that|it|this)['’]s|turned out to be|proved to be) (?:clearly |really |such |just |simply |very |quite )*(?:an? |the )?(?:\w+ )?(?:mistake|error|blunder|(?:bad|terrible|poor|awful|horrible|wrong|misguided) (?:idea|advice|choice|decision|call|move|suggestion|tip|approach))|what an? (?:bad|terrible|awful|horrible|stupid) (?:idea|advice|suggestion|tip)|(?:advice|suggestion|idea|approach|tip|answer|proposal) (?:was|is) (?:\w+ )?(?:bad|terrible|poor|awful|horrible|useless|rubbish|no good)",
    wrong: r"(?:that|this|it|advice|suggestion|answer)(?: is| was|['’]s)(?: \w+)? (?:wrong|incorrect|bogus|nonsense|mistaken|bad)",
    misread: r"not what (?:i|we) (?:asked|wanted|meant|need)\w*|misunderst\w+ (?:me|us|the|my)",
    useless: r"(?:^|see |saw |was |is |had |has |with )no (?:improvement|difference|effect|change)|(?:was|is) (?:\w+ )?(?:useless|pointless|no (?:help|use))|(?:did|does|has|had)(?: not|n['’]t| nothing)(?: \w+)? (?:help\w*|change\w* (?:anything|a thing)|improve\w*|solve\w*|do anything)|did nothing|(?:did|does)(?: not|n['’]t)(?: \w+)? do the trick|nothing (?:has )?(?:changed|improved|happens|happened)|(?:does|did)(?: not|n['’]t) do anything|to no avail|without (?:success|effect)",
    undo: r"(?:undo|revert|roll back|back out|take back) (?:that|this|it|your|the (?:last )?changes?)|(?:put|change|roll|take) (?:it|that|this|everything) back",
    undone: r"(?:had|have|forced|needed) to (?:\w+ )?(?:undo|revert|roll back|back out|take back) (?:it|that|this|your|everything|the change)|(?:had|have|forced|needed) to (?:\w+ )?(?:roll|take|put|back) (?:it|that|this|everything|your \w+|the \w+) (?:back|out)|ended up (?:undoing|reverting|rolling|backing)|(?:i|we)(?: have|['’]ve)?(?: just)? (?:undid|undone|reverted|rolled back|backed out) (?:it|that|this|your|everything)|(?:rolled|backed|took|put) (?:it|that|this|everything) (?:back|out)|(?:went|going|gone|switched|back) (?:back )?to the (?:old|previous|last|earlier|original) \w+|^(?:rolled back|reverted)",
};

const GERMAN: Words = Words {
    still: "immer noch|noch immer|weiterhin|nach wie vor|bleibt|noch",
    degree: r"viel|zu|sehr|so|ganz|alles|genauso|genau|ziemlich|dauert|ist|sind|deutlich|extrem",
    bad: r"langsam(?:er)?|lahm|fehl|kaputt|rot|falsch|schlecht(?:er)?|schlimm(?:er)?|defekt|fehlerhaft|instabil|zu (?:lange?|groß|viel\w*)|lange",
    now: r"jetzt|nun|seitdem|seither|danach|dadurch|damit|seit (?:der|dem|dieser|diesem|deiner|deinem) \w+",
    subject: r"\w+",
    fails: r"kaputt|langsamer|schlimmer|schlechter|instabiler|unzuverlässiger|rot|fehl|stürzt|stürzen|abgestürzt|crasht|crashen|hängt|hängen|scheitert|scheitern|offline|tot|(?:antwortet|liefert|meldet|wirft|gibt|kommt)(?: \w+){0,5} (?:[45]\d\d|fehler\w*|exception)|(?:startet|läuft|lädt|baut|geht)(?: \w+){0,4} nicht",
    worse: r"(?:doppelt|dreimal|genauso) so (?:lange?|langsam)|genauso langsam|was für eine? (?:schlechte|miese|dumme)r? (?:idee|rat|ratschlag|tipp|vorschlag)|(?:langsamer|schlimmer|schlechter|instabiler|unzuverlässiger|kaputt|komplizierter)(?: nur| noch)? (?:gemacht|geworden)|(?:macht|machte)(?: \w+){0,4} (?:langsamer|schlimmer|schlechter|instabiler|unzuverlässiger|kaputt)|verschlimmert|verschlechtert|verlangsamt|kaputt ?gegangen|(?:führte?|geführt|verursachte?|verursacht|löste|ausgelöst|brachte)(?: \w+){0,4} (?:ausfall|ausfälle\w*|absturz|abstürze\w*|fehlern?|problemen?|störung(?:en)?|datenverlust|deadlocks?|lecks?)|(?:ausfall|absturz|fehler|probleme|störung|datenverlust) (?:verursacht|ausgelöst|geführt)|(?:langsamer|schlechter|schlimmer) als (?:vorher|zuvor|davor|früher|je)",
    comparative: r"(?:wurde|wird|ist|sind|wurden|läuft|geht)(?: \w+){0,4} (?:langsamer|schlimmer|schlechter|instabiler|unzuverlässiger)",
    mistake: r"(?:war|waren|ist)(?: \w+)? (?:ein |eine |der |die |leider |wohl )*(?:\w+er )?(?:fehler|irrtum|fehlentscheidung|(?:schlechte|miese|dumme|falsche)[rs]? (?:idee|rat|ratschlag|tipp|vorschlag|entscheidung|weg|ansatz)|(?:\w+ )?(?:unsinn|quatsch|mist)|keine gute idee|kein guter (?:rat|tipp))|(?:idee|vorschlag|rat|tipp|ansatz|lösung|antwort) (?:war|ist)(?: \w+)? (?:schlecht|mies|nutzlos|nichts|falsch)",
    wrong: r"(?:ist|war)(?: \w+)? (?:falsch|verkehrt|unsinn|quatsch|mist|müll|inkorrekt)",
    misread: r"(?:falsch|nicht richtig|miss?) ?verstanden|nicht das,? was ich|so (?:war das|habe ich das) nicht gemeint",
    useless: r"(?:nichts|nicht|nix)(?: \w+)? (?:gebracht|geholfen|genützt|genutzt|geändert|verändert|verbessert|gelöst|geklappt)|(?:bringt|brachte|half|hilft|nützt|nutzt|ändert|änderte|löst|löste|behebt|behob|lief|läuft)(?: \w+){0,4} (?:nichts|nicht|nix)|kein(?:e|en)? (?:unterschied|besserung|wirkung|verbesserung|effekt)|(?:gleiche|selbe)[rs]? (?:fehler|problem|ergebnis)|ohne (?:erfolg|wirkung)|funktionierte(?: \w+){0,3} nicht|klappte(?: \w+){0,3} nicht|ging(?: \w+){0,3} nicht",
    undo: r"(?:mach|nimm|setz|dreh|roll|stell)e? (?:das|es|dies|alles|die (?:letzte )?änderung(?:en)?|deine \w+)(?: \w+){0,3} (?:rückgängig|zurück)|(?:das|es|alles|die änderung)(?: \w+){0,2} (?:rückgängig machen|zurücknehmen)",
    undone: r"(?:musste\w*|habe?n?|hat)(?:['’]s)?(?: \w+){0,5} (?:rückgängig|zurück ?(?:ge)?(?:nommen|nehmen|rollt|rollen|setzt|setzen|dreht|drehen|baut|bauen)|revert\w*)|(?:wieder|zurück) (?:zur|auf die) (?:alten?|vorherigen?|vorigen?|letzten?|früheren?) \w+",
};

const SPANISH: Words = Words {
    still: "sigue|siguen|sigo|todavía|aún|continúan?",
    degree: r"siendo|está|están|es|son|va|van|igual de|igual|tan|muy|demasiado|más|bastante|tarda|tardan|todo",
    bad: r"lent[oa]s?|lentísim[oa]s?|mal|rot[oa]s?|fallando|falla|fallan|caíd[oa]s?|peor|en rojo|demasiado|tardando|colgad[oa]",
    now: r"ahora|desde entonces|desde (?:el|la|ese|esa|este|tu) \w+|después de eso|con es[eo](?: cambio)?|por eso",
    subject: r"el|la|los|las|mi|nuestr\w+|todo|nada|me|se|no|es|está|están|va|van|tod[oa]s|da|un|una",
    fails: r"fallan?|se (?:caen?|cuelgan?|rompen?|bloquean?)|cae|rot[oa]s?|caíd[oa]s?|más lent[oa]s?|peor|da(?: \w+)? error\w*|(?:devuelve|responde|sale|da)(?: \w+){0,3} [45]\d\d|no (?:funcionan?|arrancan?|cargan?|compilan?|abren?)",
    worse: r"igual de (?:lent[oa]s?|mal)|el doble de (?:lent[oa]|tiempo)|qué (?:mal|mala|pésim[oa]) (?:consejo|idea|recomendación|sugerencia)|empeor(?:ó|a|an|aron|ado)|(?:caus|provoc|gener|introdu)(?:ó|a|aron|an|jo|ce|ado)(?: \w+){0,3} (?:caídas?|cortes?|fallos?|errores?|error|problemas?|interrupci\w+|fugas?|pérdidas?|bloqueos?)|ralentiz(?:ó|a|aron|ado)|(?:rompió|ha roto|rompe|estropeó|ha estropeado|tiró|tumbó) (?:el|la|los|las|mi|todo|nuestr\w+|producción)|(?:más lent[oa]s?|peor) que (?:antes|nunca)",
    comparative: r"(?:hizo|hace|hecho|volvió|vuelto|puso|quedó|es|está|va|fue|ahora)(?: \w+){0,3} (?:más lent[oa]s?|peor)",
    mistake: r"(?:fue|fueron|era|ha sido|resultó(?: ser)?)(?: \w+)? ?(?:un |una )?(?:gran |grave |claro )?(?:error|equivocación|fallo|(?:mal|mala|pésim[oa]) (?:idea|consejo|decisión|recomendación|elección|sugerencia))|(?:idea|consejo|sugerencia|solución|respuesta) (?:era|fue|es)(?: \w+)? (?:mal[oa]|pésim[oa]|inútil)",
    wrong: r"(?:está|es|estaba|era)(?: \w+)? (?:mal|incorrect[oa]|equivocad[oa]|fals[oa]|erróne[oa])|no (?:es|era|está) (?:correct[oa]|ciert[oa]|verdad|así|bien|eso)|te equivoca(?:s|ste)",
    misread: r"me (?:has )?(?:entendido|entendiste|malinterpret\w+) mal|no es lo que (?:pedí|quería|necesito)\w*|no me (?:has entendido|entendiste)",
    useless: r"no (?:me |nos |l[oa]s? |ha |han |hubo |hay |se )*(?:arregl\w+|sirve|sirven|sirvió|sirvieron|servido|ayud\w+|funcionado|funcionó|funcionaron|mejor(?:a|ó|ado)|cambi(?:a|ó|ado) nada|diferencia|efecto|resuelve|resolvió|solucion(?:a|ó))|tampoco(?: \w+)? (?:funcion\w+|sirv\w+|ayud\w+|va|anda|resuelv\w+|resolvió|compil\w+)|sin (?:éxito|efecto|mejora)",
    undo: r"deshaz(?:l[oa]s?| (?:eso|esto|todo|el cambio|los cambios|tu\w* \w+))|reviértel[oa]s?|revierte (?:eso|esto|el cambio|los cambios|tu\w* \w+)|vuelve (?:atrás|a como estaba)|(?:déjal|ponl|hazl)[oa] como (?:antes|estaba)|quítal[oa]",
    undone: r"(?:tuve|tuvimos|hubo|hay|tengo|tenemos|tenido) que (?:\w+ )?(?:revertir\w*|deshacer\w*|volver atrás|quitar(?:l[oa]s?))|l[oa]s? (?:revertí|deshice|revertimos|deshicimos|(?:he|hemos) (?:revertido|deshecho))|(?:volví|volvimos|vuelto|volver) (?:atrás|a la (?:versión|configuración) \w+)|acab\w+ (?:por )?(?:revirti|deshaci|reverti|deshac)\w+",
};

const ITALIAN: Words = Words {
    still: "ancora|tuttora|sempre|continua(?:no)? a|rimane|rimangono|resta|restano",
    degree: r"è|sono|essere|troppo|molto|così|più|tutto|impiega|tanto",
    bad: r"lent[oaei]|lentissim[oaei]|rott[oaei]|fallire|dare errore|sbagliat[oaei]|in rosso|troppo|peggio|bloccat[oaei]|instabil[ei]",
    now: "ora|adesso|da allora|da quel momento|da quando l['’]ho fatto|dopo (?:quella|questa) modifica|così",
    subject: r"il|lo|la|i|gli|le|tutto|tutti|niente|mi|si|non|è|sono|va|dà|un|una|l",
    fails: r"rott[oaei]|giù|più lent[oaei]|peggio\w*|falli(?:sce|scono|re)|si (?:blocca|rompe|pianta)(?:no)?|va in (?:crash|errore)|crasha\w*|dà (?:\w+ )?errore|(?:restituisce|risponde|dà)(?: \w+){0,3} [45]\d\d|non (?:funziona|va|parte|carica|compila|si (?:avvia|apre))(?:no)?",
    worse: r"(?:lent[oaei]|male) come prima|il doppio del tempo|che (?:cattiv|pessim|brutt)[oa] (?:idea|consiglio|suggerimento)|(?:caus|provoc|introd)(?:at[oaei]|a|ò|ott[oaei])(?: \w+){0,3}[ '’](?:interruzion\w+|guast[oi]|error[ei]|problem[ai]|crash|blocc[oh]i?|perdit[ae])|peggiorat[oaei]|peggiora(?:no)? (?:le|la|tutto|solo)|rallentat[oaei]|rallenta tutto|(?:ha|hanno) (?:rotto|distrutto|bloccato|mandato giù) (?:il|lo|la|i|gli|le|tutto|l)|(?:più lent[oaei]|peggio) di prima",
    comparative: r"(?:reso|rende|diventat[oaei]|è|va|sono)(?: \w+){0,3} (?:più lent[oaei]|peggio)",
    mistake: r"(?:è stat[oa]|era|fu|sono stat[ie]|si è rivelat[oa]) (?:un |una |un['’])?(?:grosso |grande |grave |vero )?(?:errore|sbaglio|(?:cattiv|pessim|brutt)[oa] (?:idea|scelta|consiglio|decisione|suggerimento))|era una? (?:cattiv|pessim|brutt)[oa] \w+|(?:idea|consiglio|soluzione|risposta) (?:era|è)(?: \w+)? (?:pessim[oa]|cattiv[oa]|inutile)",
    wrong: r"(?:è|era)(?: \w+)? (?:sbagliat[oa]|errat[oa]|scorrett[oa]|fals[oa])|non (?:è|era) (?:corrett[oa]|giust[oa]|ver[oa]|così)|ti sbagli",
    misread: r"(?:mi )?hai (?:frainteso|capito male)|non (?:mi )?hai capito|non è quello che (?:ho chiesto|volevo|intendevo)",
    useless: r"non (?:\w+ ){0,2}(?:servit[oa]|serve a (?:niente|nulla)|aiuta\w*|funzionat[oa]|funzionava|cambia\w* (?:niente|nulla)|migliora(?:t[oa])?|risolt[oa]|risolve)|nessun(?:a|['’])? ?(?:miglioramento|effetto|cambiamento|differenza)|continua(?:no)? a non|senza (?:successo|effetto)|neanche (?:questo|così) (?:funziona|va)",
    undo: r"annulla(?:l[oaie]| tutto| questo| (?:la|le|questa|tua) modific\w+)|ripristina(?:l[oa]| tutto| com['’]era)|torna (?:indietro|a com['’]era)|rimetti(?:l[oa]| tutto| com['’]era)|toglil[oa]",
    undone: r"(?:ho|abbiamo) (?:dovuto |poi )(?:\w+ )?(?:annulla|ripristina|torna|rimuove|toglie|disfa)\w*|(?:ho|abbiamo) (?:annullat|ripristinat|disfatt)[oaie]|(?:sono|siamo) (?:tornat|ritornat)[oaie] (?:indietro|all[ao] \w+ (?:precedente|vecchi[oa]))",
};

const DUTCH: Words = Words {
    still: "nog steeds|nog altijd|blijft|nog",
    degree: r"veel|te|erg|heel|zo|allemaal|alles|even|net|is|duurt|zeer",
    bad: r"traag|trager|langzaam|langzamer|kapot|fout|stuk|rood|slecht|slechter|erger|verkeerd|instabiel|te (?:lang|groot|veel)|lang",
    now: r"nu|sindsdien|daardoor|hierdoor|daarna|sinds (?:de|die|deze|je) \w+",
    subject: r"\w+",
    fails: r"stuk|kapot|trager|langzamer|erger|slechter|rood|offline|plat|crasht|crashen|faalt|falen|mislukt|mislukken|hangt|vastgelopen|(?:antwoordt|geeft|meldt|krijg)(?: \w+){0,5} (?:[45]\d\d|fout\w*|error\w*)|(?:start|laadt|draait|gaat)(?: \w+){0,4} niet",
    worse: r"(?:trager|langzamer|erger|slechter|kapot)(?: \w+)? (?:gemaakt|geworden|gegaan)|(?:maakt|maakte)(?: \w+){0,4} (?:trager|langzamer|erger|slechter|kapot)|gesloopt|gebroken|kapotgemaakt|(?:net zo|twee keer zo) (?:traag|langzaam|lang)|wat een (?:slechte?|dom) (?:idee|advies|tip)|(?:veroorzaakte?|leidde tot|gaf|geleid tot)(?: \w+){0,3} (?:storing(?:en)?|crash(?:es)?|fout(?:en)?|problemen?|uitval|deadlocks?|dataverlies|lek(?:ken)?)|(?:storing|fouten|problemen) (?:veroorzaakt|opgeleverd)|(?:ligt|liggen|lag)(?: \w+){0,2} (?:uit|plat)|verergerd|verslechterd|vertraagd|(?:trager|langzamer|slechter|erger) dan (?:eerst|voorheen|ervoor|daarvoor|ooit)",
    comparative: r"(?:werd|werden|wordt|is|zijn|gaat|ging|draait|loopt)(?: \w+){0,4} (?:trager|langzamer|erger|slechter)",
    mistake: r"(?:was|waren|bleek)(?: \w+)? ?(?:een |de )?(?:grote |domme |duidelijke )?(?:vergissing|fout|misser|(?:slechte?|waardelo(?:os|ze)|verkeerde?|dom|domme) (?:idee|advies|keuze|plan|tip|beslissing)|geen goed (?:idee|advies))|(?:idee|advies|voorstel|tip|oplossing|antwoord) (?:was|is)(?: \w+)? (?:slecht|waardeloos|niks)",
    wrong: r"(?:is|was)(?: \w+)? (?:fout|onjuist|verkeerd|onzin|incorrect)|(?:is|was) niet (?:juist|correct|goed|waar|wat ik \w+)",
    misread: r"(?:verkeerd|niet goed|fout) begrepen|niet wat ik (?:bedoel|vroeg|wil)\w*",
    useless: r"(?:werkte|werkten|hielp|hielpen|klopte|lukte|werkt|helpt|klopt|lukt|scheelt|scheelde|compileerde|ging|verandert|veranderde)(?: \w+){0,3} (?:niet|niets|niks)|(?:niet|niets|niks) (?:geholpen|gewerkt|opgelost|uitgemaakt|veranderd|gelukt|opgeleverd|verbeterd)|geen (?:verschil|effect|verbetering)|loste?(?: \w+){0,3} niet(?:s)? op|zonder (?:succes|effect)",
    undo: r"(?:draai|zet|rol|haal|maak) (?:dat|dit|het|alles|de (?:laatste )?wijziging(?:en)?|je \w+)(?: \w+){0,3} (?:terug|ongedaan|weg)",
    undone: r"(?:heb|hebben|moest\w*)(?: \w+){1,5} (?:terug ?(?:gedraaid|draaien|gezet|zetten|gerold|rollen|genomen)|ongedaan)|(?:terug|teruggegaan|teruggekeerd) naar de (?:vorige|oude) \w+",
};

/// The shapes of a language without spaces. The word that ends a clause is followed by its ending.
const JAPANESE: Unspaced = Unspaced {
    sure: &[
        r"(?:^|[^のが])(?:間違い|失敗|ミス|誤り)(?:でした|だった)|^(?:それ|これ)?は?(?:間違い|誤り)(?:です|だ)(?:。|$)",
        r"正しく(?:ありません|ない|なかった)|違いました|違う(?:。|$|よ|ね|と思)",
        r"(?:そういう|そんな)(?:意味|こと)(?:では|じゃ)(?:ありません|ない)|誤解して|勘違いし|そう(?:では|じゃ)(?:ありません|ない)",
        r"うまくい(?:きません|かな)|解決にな(?:りません|らな)|(?:戻さざる|戻すしか)|役に立(?:ちません|たな)",
        r"^(?:\W|それを|これを|全部|すぐに?|やはり|やっぱり|今の|その|変更を|変更は|すべて)*(?:元に戻して|取り消して|戻して)|(?:前|元|以前)の(?:状態|バージョン|コード)に戻して",
        r"(?:良くない|よくない|悪い|だめな|ダメな|ひどい|間違った)(?:アイデア|案|方法|考え|アドバイス|助言)(?:でした|だった|です)",
    ],
    unsure: &[
        r"(?:動|直|治|効|利|機能し|解決し|改善し|成功し|起動し|表示され|変わ|通)(?:きません|かな|りません|らな|きなく|ません|ていません|てない|てな|っていません|いていません|いてな|な(?:い|かった|くなり))",
        r"(?:遅|悪|ひど|重|不安定に|おかし)く?な(?:りました|った|って(?:い|し|き|る))|悪化し|壊れ(?:ました|て(?:い|しま)|た(?:。|$|よ))|(?:落ち|クラッシュし|固まり|止まり)(?:ます|ました|た(?:。|$|よ))",
        r"(?:動か|使え|開け|でき|入れ|見え|つながら|起動し)なくな(?:りました|った|って)|[45]\d\d(?:エラー)?(?:を返|が返|にな|が出)",
        r"エラーが?(?:出(?:ます|ました|る|た)|発生し(?:ます|ました)|にな(?:ります|りました|る|った))",
        r"(?:まだ|相変わらず|依然として|やはり|今も)(?:とても|かなり|少し|ずっと)?(?:遅|重|壊れ|だめ|ダメ|駄目|うまく|時間が|改善|ひど|落ち|失敗|エラーが)",
        r"(?:だめ|ダメ|駄目)(?:でした|です|だった|だ|みたい|。|$)|(?:効果|意味|改善|変化)(?:が|は)?(?:ありません|ない|なかった|なし|見られ)",
        r"(?:障害|不具合|問題|停止)が(?:起き|発生し|出)(?:ました|た(?:。|$))|(?:元に戻し|バージョンに戻し|取り消し|差し戻し|巻き戻し|ロールバックし)(?:ました|た(?:。|$))|(?:戻す|取り消す)(?:必要|羽目|こと)(?:が|に)(?:あり|なり)",
    ],
};

struct Unspaced {
    sure: &'static [&'static str],
    unsure: &'static [&'static str],
}

/// Returns a shape whose fillers are made of any signs but spaces and the ends of clauses. The class of all letters of all
/// scripts is much larger when it is compiled, and fillers repeat.
fn lean(shape: &str) -> String {
    shape.replace(r"\w", r"[^\s.,;:!?]")
}

/// Returns the shapes that surely speak of the answer.
pub(super) fn sure() -> Vec<String> {
    let of = |words: &Words| {
        let Words { mistake, wrong, misread, undo, .. } = words;
        // A request begins the message, or follows on a word or two.
        [
            format!(r"\b(?:{mistake}){END}|\b(?:{wrong}){END}|\b(?:{misread})\b"),
            format!(r"(?:^\W{{0,4}}(?:\w+\W+)?|\b(?:please|bitte|por favor|per favore|alsjeblieft) )(?:{undo})\b"),
        ]
    };
    LANGUAGES
        .iter()
        .flat_map(of)
        .map(|shape| lean(&shape))
        .chain(JAPANESE.sure.iter().map(|&shape| shape.to_owned()))
        .collect()
}

/// Returns the shapes that speak of the answer or of something else.
pub(super) fn unsure() -> Vec<String> {
    let of = |words: &Words| {
        let Words { still, degree, bad, now, subject, fails, worse, comparative, useless, undone, .. } = words;
        [
            format!(r"\b(?:{still}) (?:(?:{degree}) ){{0,3}}(?:{bad})\b"),
            format!(r"\b(?:{fails})(?: \w+){{0,3}} (?:{still})\b"),
            format!(r"\b(?:{still}) (?:\w+ ){{0,2}}[45]\d\d\b"),
            // It begins the sentence or a clause. Elsewhere it may belong to a request.
            format!(
                r"(?:^|[,;:–—]\s?)\W{{0,4}}(?:(?:{LINK})\W+)?(?:{now}),? (?:(?:{subject})['’ ](?:\w+ ){{0,4}})?(?:{fails})\b"
            ),
            format!(r"\b(?:(?:{IS}) (?:{now})|(?:{now}) (?:{IS})) (?:\w+ )?(?:{fails}|{bad})\b"),
            format!(r"\b(?:{worse}|{useless}|{undone})\b|\b(?:{comparative}){END}"),
        ]
    };
    LANGUAGES
        .iter()
        .flat_map(of)
        .chain([STILL_AS_LONG.to_owned()])
        .map(|shape| lean(&shape))
        .chain(JAPANESE.unsure.iter().map(|&shape| shape.to_owned()))
        .collect()
}

/// Returns the shapes that call a deed a mistake.
pub(super) fn mistakes() -> Vec<String> {
    let of = |Words { mistake, .. }: &Words| lean(&format!(r"\b(?:{mistake}){END}"));
    LANGUAGES.iter().map(of).chain([r"のは(?:間違い|失敗|ミス|誤り)(?:でした|だった)".to_owned()]).collect()
}
