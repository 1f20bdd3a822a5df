//! The signs by which a piece of text is classified: words that name a category before a colon or as a heading, and
//! patterns in sentences, each with a weight. The weights of a category add up, and the heaviest category wins.

use std::sync::LazyLock;

use regex::{Regex, RegexBuilder, RegexSet, RegexSetBuilder};

use crate::bank::BankCategory::{self, *};

/// Names of categories, as people write them before a colon and as headings.
const LABELS: [(BankCategory, &str); 22] = [
    (
        Next,
        r"(still )?to[- ]?do'?s?( list)?|next( steps?| up| tasks?| actions?)?|follow[- ]?ups?|action items?|remaining( work| tasks?)?|plan(ned)?|upcoming|backlog|what'?s (left|next)( to (build|do))?|left to (build|do)|tasks?",
    ),
    (
        Done,
        r"done|completed( (work|tasks?))?|finished|shipped|implemented|released?|recent(ly)?( changes?| work| completed)?|changes?|changelog|what works|accomplish(ed|ments)|progress|achieved|delivered|merged|update",
    ),
    (Blocked, r"block(ed( by)?|ers?|ing)|waiting( (for|on))?|on hold|impediments?|stuck"),
    (
        Issue,
        r"(known |open )?(issues?|bugs?|defects?)|known (limitations?|problems?)|not working|broken|tech(nical)? debt|regressions?",
    ),
    (
        Fix,
        r"fix(es)?|solutions?|resolved|resolution|work-?arounds?|root causes?|gotchas?|pitfalls?|errors?|error messages?|troubleshooting|errors? (and|&) (fix(es)?|solutions?)|lessons? learned|solved",
    ),
    (
        Decision,
        r"((key|technical|design|key technical|architectur(e|al)) )?decisions?( log| record)?|decided|adr[ -#]?\d*|rationale|trade-?offs?|chosen|choice",
    ),
    (
        Architecture,
        r"(system )?architecture|components?( relationships?)?|system (overview|design|structure)|layers?|data ?(flow|model)|design|structure|modules?|services",
    ),
    (
        Convention,
        r"conventions?|(coding |code )?(style|standards?|guidelines?)( guide)?|(design |code )?patterns?( in use)?|rules?|best practices?|naming",
    ),
    (Preference, r"(user |my )?preferences?|preferred|likes?"),
    (
        Dependency,
        r"dependenc(y|ies)|(tech(nology)? )?stack|technologies( used)?|versions?|librar(y|ies)|packages?|built with|upgrades?|frameworks?",
    ),
    (
        Command,
        r"commands?|usage|(development |local |dev )?set-?up|how to (run|build|test|deploy)( .{0,20})?|scripts?|running|getting started|environment( variables)?|env( vars)?|installation|tooling",
    ),
    (Constraint, r"((technical|hard) )?(constraints?|limits?|limitations?)|quotas?|restrictions?"),
    (Link, r"links?|references?|resources?|see( also)?|doc(umentation|s)|further reading|urls?|bookmarks?"),
    (
        Goal,
        r"((project|main|primary|our|the) )?(goals?|objectives?|aims?|mission|vision|purpose)|success (criteria|metrics?)|kpis?|okrs?|milestones?",
    ),
    (
        Requirement,
        r"((core|functional|non-?functional|key|user|business|security) )?requirements?|acceptance criteria|must[- ]haves?|nfrs?",
    ),
    (Scope, r"(project |in |out of )?scope|non-?goals?|exclusions?|not in scope|out-of-scope|deliverables"),
    (
        Problem,
        r"(the )?problems?( statement|( (that )?(it|we))? solv(es?|ed)| to solve)?|motivation|why( this( project)?( exists)?)?|pain[- ]?points?|background",
    ),
    (User, r"((target|primary|end|our|main) )?(users?|audience|customers?)|personas?|stakeholders?"),
    (
        Behaviour,
        r"user (flows?|journeys?|stor(y|ies))|ux( goals?)?|user experience( goals?)?|how it (should )?works?|behaviou?r|expected behaviou?r|use cases?|workflow",
    ),
    (
        Focus,
        r"(current )?(work )?focus|current (work|task|status|state)|(work )?in[- ]progress|wip|now|today|doing|ongoing|active( work| task)?|status",
    ),
    (
        Question,
        r"(open |unresolved )?questions?|unclear|undecided|tbd|to be (decided|determined|clarified)|unknowns?|open points?|to discuss",
    ),
    (Profile, r"about( me)?|who i am|profile|background about me|role"),
];

/// What sentences say, with the weight of each sign.
const SIGNS: &[(BankCategory, u32, &str)] = &[
    // Goals, requirements, scope.
    (
        Goal,
        6,
        r"\b(goals?|objectives?|aims?|mission|purpose) (of|is|are|was|here)\b|\b(our|the|main|primary|overall) (\w+ )?(goal|objective|aim|mission)s?\b",
    ),
    (
        Goal,
        5,
        r"\b(project|product|tool|app|service|system|we) aims? (to|at)\b|\baim(s|ing)? to\b|\bsuccess (means|criteria|is measured)\b",
    ),
    (
        Goal,
        3,
        r"\bwe want to (reach|reduce|cut|increase|improve|get|become|make|enable|let)\b|\bby (the end of )?(q[1-4]|summer|winter|spring|next year|20\d\d)\b|\b(want|hope) to (reduce|cut|double|halve)\b",
    ),
    (Requirement, 5, r"\bshall\b|\b(is|are) (required|mandatory)( to)?\b|\brequirement\b|\bit is required\b"),
    (
        Requirement,
        4,
        r"\b(service|system|tool|app|application|product|api|platform|software|pages?|site|data|backups?|users?|customers?|reports?|ui|interface|response|responses|change|record|records|passwords?|client|library|cli|solution|everything|dashboard|it)( of [\w ]{1,20}| [\w]+)? (must|(has|have|needs?) to)( not)?\b",
    ),
    (
        Requirement,
        2,
        r"\b(must|has to|have to|needs? to) (not )?(be|work|run|support|answer|handle|comply|respond|survive|keep|store|stay|remain|leave|load|scale|start|finish|allow|provide|pass)\b",
    ),
    (
        Requirement,
        3,
        r"\b(gdpr|hipaa|soc ?2|wcag|pci|accessib\w+|iso 27001)\b|\b(99(\.\d+)? ?%|availability|uptime|latency (below|under)|within \d+ ?(ms|milliseconds|seconds|s)\b)",
    ),
    (
        Scope,
        8,
        r"\b(out of|in|outside( of)?|beyond the|within|not in|part of the) scope\b|\bnon-?goals?\b|\bnot (a )?part of (this|the|our) (project|product|release|version|work|mvp|scope)\b",
    ),
    (
        Scope,
        5,
        r"\bwe (will not|won't|do not|don't) (support|build|cover|handle|include|offer|implement)\b|\b(not|won't be|will not be) (supported|covered|included|built)( in| for| by)?\b.{0,30}\b(version|release|v\d|mvp|phase|first|now|project|initially)\b|\b(first|initial) (release|version) (covers|includes|only|contains|will only)\b|\bonly (covers?|includes?)\b|\bmvp (includes|covers|contains|consists)\b",
    ),
    // The product and its users.
    (
        Problem,
        6,
        r"\b(problem|pain)( point)?s? (we|that we|it|this|the) \w*\s?(want|solv|remov|address|is|try)|\bproblem (we|to) solve|\bpain\b|\bexists (because|to)\b|\bwe (exist|built this|are building this|started this)( project)? (because|since|as)\b",
    ),
    (
        Problem,
        4,
        r"\b(today|currently|at present|right now|so far|until now|at the moment),? (\w+ )?(\w+ )?(have to|has to|must|spend|need to|copy|reconcile|enter|lose|do|type|print|maintain|manage|track)s? .{0,60}\b(by hand|manually|in excel|on paper|spreadsheets?|hours|days|each (day|week|month)|every (day|week|month))",
    ),
    (
        Problem,
        4,
        r"\b(spends?|wastes?|loses?|costs?|takes?) (\w+ )?(hours?|days|much time|too (long|much)|weeks|a lot of time|time)\b.{0,60}(each|every|per|between|by|on|copying|searching)|\bby hand (in|every|each|today)\b|\bnobody knows\b|\b(customers?|users?|people|clients?|teams?) (complain(ed)?|struggle|are frustrated|get lost|have no way|keep asking|lose|cannot find|can't find|often forget)\b|\bfrustrat\w+",
    ),
    (
        User,
        6,
        r"\b(our|the|main|primary|target|typical|end) (\w+ )?(users?|audience|customers?|personas?)( group)? (are|is|include|work|have|come)\b|\bpersonas?\b|\btarget (audience|group|users?|market)\b|\b(product|app|tool|service|it) is (made |built |meant |intended |aimed )?(for|at) (\w+ ){0,4}(firms?|teams?|companies|people|users|developers|engineers|analysts|clerks|students|teachers|nurses|doctors|lawyers|shops?|businesses|freelancers|admins?|agencies|operators|managers)\b",
    ),
    (
        User,
        5,
        r"\bused (mainly |mostly |primarily )?by (\w+ ){0,3}(clerks?|teams?|people|developers|engineers|analysts|students|teachers|nurses|doctors|lawyers|managers|operators|staff|admins|agents|accountants)\b|\b(users|customers) are (mostly|mainly|typically|usually|often)\b",
    ),
    (
        Behaviour,
        5,
        r"\b(when|if|after|once|as soon as) (a|the|an|someone|somebody) ?(\w+ ){0,5}(user|customer|visitor|admin|payment|order|person|somebody|someone|scan|driver|player|reader|clerk|member|guest)?\b.{0,80}\b(should (show|see|ask|be|get|open|offer|return|stay|receive|go)|sees?|can (try|see|choose|undo|edit)|is (shown|asked|taken|sent|redirected|offered|told)|gets? (a|an)|receives?)\b",
    ),
    (
        Behaviour,
        4,
        r"\b(the )?(users?|customers?|visitors?|people|they|admins?|clients?|members?|readers?|drivers?) (should|can|may|will|is able|are able|must) (be able to |only |always |then )?(drag|see|find|pick|choose|click|try|edit|undo|upload|search|share|export|get|open|invite|select|filter|sort|sign|log|book|cancel|pay|create|swipe|scroll|switch|start|type)\b|\bshould be able to\b|\b(user|customer) (flow|journey|experience)\b|\bone click\b|\bas an? \w+,? i (want|can)\b",
    ),
    // What is at hand.
    (
        Focus,
        6,
        r"\b(i'?m|we'?re|i am|we are|team is|currently|now|still|busy) (currently |now |still |just |busy |mainly |mostly |actively )*(working on|focus(s)?ing on|busy with|in the middle of|rewriting|migrating|refactoring|preparing|implementing|building|porting|debugging|investigating|finishing|moving|adding|splitting)\b",
    ),
    (
        Focus,
        5,
        r"^(currently|right now|at the moment|now|today|this (week|sprint|month)|in progress|work in progress|wip)\b|\b(current|main) (focus|priority|task)\b|\bfocus (is|of|this|for|on)\b|\b(is|are) (in progress|under ?way|ongoing|being (rewritten|migrated|built|reworked|refactored|developed|implemented|tested))\b|\bin the middle of\b|\bthis (week|sprint) is\b",
    ),
    (
        Next,
        6,
        r"\b(to ?do|fixme)\b[:( ]|\bnext,? (we|i|up|is|step|steps|comes?|on)\b|\bnext (step|task|thing|item|action|milestone)\b|\bfollow[- ]?up\b|\bstill (to do|have to|has to|need(s|ed)? to|must be|missing|open|outstanding|to be (done|written|added))\b|\b(remains|left) to (be done|do)\b|\bnot (yet )?(implemented|started|done)( yet)?\b",
    ),
    (
        Next,
        5,
        r"\b(i'll|we'll|i will|we will|going to|plan(s|ned|ning)? (is )?to|we should|i should|let's|remember to|don't forget to|want to) (\w+ )?(add|write|move|rename|update|implement|fix|refactor|clean|remove|migrate|test|document|check|wire|look|split|switch|build|create|review|deploy|release|improve|extract|replace|investigate|set|publish|start|do|drop|upgrade)\b|\bthe plan is to\b|^(tomorrow|later|afterwards|after that|then|soon|next week|next sprint|next month)\b",
    ),
    (
        Next,
        4,
        r"^((we|i) )?(still )?(need|needs|have|has|should|must) (to )?(add|write|move|rename|update|implement|fix|refactor|clean|remove|migrate|test|document|check|wire|look|split|switch|build|create|review|deploy|release|improve|extract|replace|investigate|set|publish|upgrade|be)\b|\b(needs|have|has) to be (written|updated|added|removed|done|migrated|documented|tested|cleaned|reviewed|replaced|refactored|renamed|moved)\b|\bbefore (the|we) (release|launch|go|ship|beta|merge)\b",
    ),
    (
        Next,
        2,
        r"^(add|write|move|rename|update|implement|refactor|clean up|remove|migrate|test|document|check|wire|investigate|create|review|deploy|improve|extract|replace|publish|upgrade|finish|set up) (the|a|an|all|our|some|more|unit|integration|support|missing|\w+s)\b",
    ),
    (Question, 7, r"\?\s*$|\?\s+[A-Z(]"),
    (
        Question,
        7,
        r"\b(open|unresolved) (question|point)s?\b|\b(not|n't|never) (yet )?(been )?(decided|agreed|settled|clear|clarified|figured out|sure)( yet)?\b|\bundecided\b|\bunclear\b|\bto be (decided|determined|clarified|discussed)\b|\btbd\b|\bit('s| is) (still |not yet |yet )?(unclear|open|unknown|undecided|not (yet )?(clear|known|decided))\b|\b(unsure|not sure|wondering|don't know|do not know|no idea|needs? clarif\w+|need to (decide|clarify|find out)|have to (decide|clarify|find out)|remains? (open|to be seen))\b",
    ),
    // How the system is built.
    (
        Decision,
        7,
        r"\b(decided|chose|opted|picked|agreed|settled|voted|committed) (to|on|for|against|that|in favou?r|not)\b|\b(we|i|team|they|have|was|were) (have )?(chose|picked|selected|chosen|rejected|dismissed|discarded|ruled out|settled)\b|\bdecision\b|\b(went|going|go|gone) (with|for)\b|\badr[ -]?\d+\b|^rejected\b|\bdecided\b|\bchosen\b",
    ),
    (
        Decision,
        4,
        r"\b(instead of|rather than|in favou?r of|over) \w+.{0,80}\b(because|since|as|so that|due to|mostly|mainly|to (get|avoid|keep|reduce))\b|\btrade-?offs?\b|\brationale\b|\breason(ing)?( for this| behind|:| is| was)|\b(switched|moved|migrated|changed) from .{1,60} to .{1,80}\b(because|since|so that|as|to (get|avoid|keep|reduce|have|make|save)|due to)\b|\bpros? and cons?\b|\balternatives? (were|was|considered)\b",
    ),
    (
        Decision,
        2,
        r"\b(because|so that|therefore|in order to|since) (we|it|the|they|this|that|only|two|both)\b|\binstead of\b|\brather than\b|\bin favou?r of\b",
    ),
    (
        Architecture,
        5,
        r"\b(consists?|is composed|is made up|is built|built up|made) (of|from|out of|up of) \w+.{0,60}\b(services?|components?|modules?|layers?|parts|packages|crates|processes)?|\b(talks?|connects?|forwards?|routes?|delegates?|publishes|subscribes?|writes|reads|pushes|pulls|sends?|streams|flows?) (\w+ ){0,4}(to|from|into|through|over|via|between)\b",
    ),
    (
        Architecture,
        4,
        r"\b(gateway|load balancer|microservices?|event bus|message (queue|broker)|bff|sidecar|orchestrator|aggregator|reverse proxy|data ?flow|pipeline|event[- ]sourc\w+|cqrs|hexagonal|layered|monolith|pub/?sub|read model|replicas?|shard(s|ed|ing)?|middleware|architecture|upstream|downstream|multi-tenant|topology)\b",
    ),
    (
        Architecture,
        4,
        r"\b(sits|lives|runs|stands) (between|behind|in front of|on top of)\b|\b(is|are) (handled|owned|stored|served|processed|managed|rendered|persisted|exposed|coordinated|invalidated|partitioned) (by|in|as|through|via|on)\b|\bpass(es)? through\b|\bin front of\b|\s(->|→|=>)\s.{1,40}\s?(->|→|=>)|\b(each|every) (tenant|service|module|component|worker|node|shard|region) (has|owns|runs|gets|is|writes|reads)\b|\blayers?\b|\bcomponents?\b.{0,40}\b(talk|communicat|issue|own|handle|depend)|\bdoes not know( about)? the\b|\bdepends? only on\b",
    ),
    (
        Architecture,
        2,
        r"\b(service|worker|queue|database|frontend|backend|client|server|cache|storage|scheduler|broker|kafka|redis|s3|api|bucket|event|events|job|jobs|component|module|daemon|process|proxy)\b.{0,60}\b(service|worker|queue|database|frontend|backend|client|server|cache|storage|scheduler|broker|kafka|s3|api|bucket|event|events|component|module|daemon|process|proxy|handler|subdomain|schema|store)\b",
    ),
    (
        Convention,
        6,
        r"\bconventions?\b|\b(snake|camel|kebab|pascal)[_-]?case\b|\bnaming\b|\bcoding (style|standard)|\bstyle ?guide\b|\bconventional commits\b|\bbest practices?\b|\brule of thumb\b",
    ),
    (
        Convention,
        5,
        r"^(never|always|don't|do not|avoid|prefer|use|keep|make sure|every|all|no|each|only|please) (\w+ ){0,3}(handlers?|functions?|tests?|test files|endpoints?|components?|classes|files?|modules?|commits?|branch(es)?|pull requests?|prs?|errors?|migrations?|imports?|logs?|names?|variables?|hooks?|types?|queries|repositories|services?|controllers?|requests?|bodies|secrets?|composition|inheritance|exceptions?|nulls?|globals?|comments?|constants?|methods?|tables?|columns?|routes?|structs?|interfaces?|code|strings?|prices|dates?|times?)\b",
    ),
    (
        Convention,
        4,
        r"\b(errors?|exceptions|tests?|test files|names?|files?|modules?|migrations?|branches|commits?|commit messages?|repositories|components?|handlers?|functions?|ids|columns|tables|dates|endpoints|branch names|snapshots|pull requests|prs|classes|types|services|dtos|timestamps|imports|logs|strings|constants) (are|is|must|should|has|have|follow|live|sit|go|start|end|return|get|use|never|always|belong|begin|stay|need)s?\b.{0,80}\b(always|never|everywhere|only|prefix(ed)?|suffix(ed)?|named|next to|wrapped|through|with|in one|instead|before|must|camel\w*|conventional|utc|plural|singular|lower ?case|imperative|reviewed?|the same)\b|\bwe (always|never|use \w+_?case|name|prefix|write|wrap|put|keep|format|squash|follow|avoid|prefer|stick)\b|\beverywhere\b|\bone \w+ per (pull request|pr|file|feature|class|module|commit)\b|\bfollow(s|ing)? (the )?(repository|factory|observer|builder|strategy|singleton|mvc|mvvm|adapter) pattern\b",
    ),
    (
        Preference,
        7,
        r"\bi('d| would)? (really |much |generally |always |usually )?(prefer|like|love|hate|dislike|rather|favou?r|don't (want|like|need)|do not (want|like|need)|want you|expect|appreciate)\b|\bmy (preferred|favou?rite|preference)|\b(user|he|she) (prefers|likes|dislikes|wants|hates)\b",
    ),
    (
        Preference,
        5,
        r"^(please )?(always |never )?(answer|reply|respond|explain|write|show|give|ask|keep (your|answers)|be (brief|concise|direct)|don't|do not|use|avoid)\b.{0,80}\b(me|my|answers?|answer|code you|german|english|french|brief|concise|short|explanations?|examples?|emoji|comments?|you|tone|apolog\w+|bullet|summar\w+|before (you|chang\w+|edit\w+))\b|\bfor me\b|\bmy (editor|ide|shell|terminal|theme|keyboard|browser|setup|dotfiles|prompt)\b|\bi (always )?use (\w+ ){0,3}(as my|with|for|instead)\b",
    ),
    // What it is built with and run by.
    (
        Dependency,
        5,
        r#"\b(upgrad|bump|downgrad|pinn?|updat)(ed|ing|e|s)? (\w[\w.@/-]* )?(to|from|at|version|v?\d)|\b(bumped|pinned|upgraded|downgraded)\b|\b(dependency|dependencies|devdependency|tech(nology)? stack)\b|\b(added|removed|installed|dropped) [\w.@/-]+ (as a|from the|from our) (dev )?dependenc|^[\w-]+ ?= ?"[\^~>=]*\d+\.\d|[\w-]+(==|>=|<=|~=|@\^?|<)\d+(\.\d+)*"#,
    ),
    (
        Dependency,
        4,
        r"\b(uses?|using|requires?|on|with|needs?|runs? on|based on|built (with|on)|written in|depends? on|stays? on|in|by|are|is) ([A-Z][\w.+#/-]*|[a-z][\w-]*[A-Z]\w*|[a-z-]+) ?(version )?v?\d+(\.\d+){0,3}\b",
    ),
    (
        Dependency,
        4,
        r"\b(node|node\.js|python|django|react|vue|angular|svelte|rust|go|golang|java|kotlin|typescript|postgres(ql)?|mysql|redis|fastapi|flask|rails|ruby|php|laravel|spring boot|spring|next\.js|tokio|axum|serde|numpy|pandas|sqlalchemy|vite|webpack|tailwind|electron|flutter|swift|dotnet|\.net|elixir|phoenix|kafka|elasticsearch|terraform|kubernetes|helm|pytorch|tensorflow|bun|deno|npm|pnpm|jdk|llvm|gcc|bazel|gradle|maven)( version)? v?\d+(\.\d+)*\b",
    ),
    (
        Dependency,
        3,
        r"\b(written|implemented|built) (in|with|on top of) (rust|go|python|typescript|javascript|java|kotlin|swift|ruby|php|c\+\+|c#|elixir|scala|react|vue|svelte|next\.js|django|rails)\b|\b(orm|framework|library|package|crate|gem|sdk|runtime|toolchain) (is|we use|of choice)\b|\b(is|are) (the )?(orm|framework|library|test runner|bundler|linter|database driver)\b|\bwe use [A-Z]\w+ (for|as|with)\b|^[A-Z][\w.+#-]+(, [A-Z][\w.+#-]+){2,}",
    ),
    (
        Command,
        7,
        r"^(\$ |((run|execute|use|start|type|call) )?`)(\./|\$ )?(npm|npx|yarn|pnpm|cargo|make|docker|docker-compose|docker compose|kubectl|git|python3?|pip|poetry|uv|go|terraform|helm|gradle|\./gradlew|mvn|bundle|rails|rake|php|composer|deno|bun|pytest|just|ansible\S*|aws|gcloud|az|psql|ssh|curl|brew|apt(-get)?|systemctl|bash|sh|node|tox|nx|turbo|bazel|cmake|ninja|flutter|dotnet|mix|sbt|alembic|manage\.py|jq|redis-cli|supabase|vercel|fly|heroku|ruff|eslint|pre-commit)\b[ `]",
    ),
    (
        Command,
        6,
        r"```(sh|bash|shell|console|zsh|powershell)\b|(^|\s)\./[\w/.-]+(\.sh|\.py|\.ps1)?\b|\b(npm|yarn|pnpm|bun) (run |install|ci|test|start|build)|\bnpx \w|\bcargo (run|test|build|check|clippy|fmt|install|bench)|\bdocker(-| )compose \w|\bdocker (run|build|system|exec|pull|push|logs)\b|\bmake [a-z][\w-]*\b.{0,10}($|[.`,]| &&| to| and| then)|\bkubectl (-\w+ \S+ )?\w+|\bgit (log|rebase|bisect|push|pull|commit|checkout|switch|stash|worktree|fetch|clone)\b|\bpip install|\bpython3? -m \w|\bgo (test|run|build|generate|mod)\b|\bpoetry (run|install)|\buv (run|sync|pip)|\bterraform (plan|apply|init)|\bhelm (upgrade|install)|\bpytest\b|\brails \w+:?\w*|\bmvn \w|\bgradlew? \w|\bmanage\.py \w|\bpsql \S|\bcurl -",
    ),
    (
        Command,
        5,
        r"^(to |for )?(run|start|build|deploy|test|reset|seed|regenerat\w+|generat\w+|install|lint|format|migrat\w+|launch|execut\w+|releas\w+|debug|connect|restart|rebuild)\w*\b.{0,80}(`|\brun\b|: |\bwith \./|\bwith `|\bexecute\b|\buse\b)|\b[A-Z][A-Z0-9]+(_[A-Z0-9]+)+\b.{0,60}(\bin|\bto|\bbefore|\benv|=)|\b(set|export|unset) [A-Z][A-Z0-9_]{2,}\b|\.env\b|\benvironment variables?\b|`[a-z][\w.-]* (--?[\w-]+|[\w:./-]+)[^`]*` (runs?|starts?|builds?|restarts?|shows?|resets?|lists?|creates?|is what|generates?|deploys?|does|applies|rolls|checks|formats|prints)",
    ),
    (
        Constraint,
        5,
        r"\b(at most|no more than|maximum( of)?|up to|limited to|limit(s|ed)? (of|to|is|us)|only|just|allows?( us)?( only)?|not more than|max\.?|caps?|capped at|rate[- ]limit\w*|quota)\b.{0,40}\b\d+([.,]\d+)* ?(%|kb|mb|gb|tb|ms|s|seconds?|minutes?|hours?|requests?|calls?|connections?|cores?|bytes|kib|mib|gib|files|items|rows|mhz|ghz|per (second|minute|hour|day))\b",
    ),
    (
        Constraint,
        4,
        r"\b(constraint|limitation|restricted|restriction|rate limit|quota)s?\b|\b(larger|bigger|longer|more) than \d+ ?\w* (is|are|will be|get) (rejected|refused|cut|dropped|truncated)|\b\d+ ?(kb|mb|gb) of (ram|memory|disk|flash|storage)\b|\b(can't|cannot|can not|may not|must not|not allowed to|unable to|are not allowed to|not possible to) (use|run|install|upgrade|access|open|store|connect|rely|be|call|exceed|add)\b.{0,80}(:|\bbecause\b|\bsince\b|\bdue to\b|\bas\b|firewall|proxy|polic\w+|licen[sc]e|air-?gapped|offline|on-?prem\w*)|\blimited to\b|\b(proxy|firewall) (closes|blocks|drops|forbids|only)\b|\bhas to (be|stay) (below|under)\b|\b(stay|be|kept?) (below|under|within) \d|\bwe are stuck on\b|\bno (internet|network|root|outbound|gpu) (access|connection)?\b|\bair-?gapped\b",
    ),
    (
        Link,
        6,
        r"^\[[^\]]+\]\(https?://|^<?https?://\S+>?\s*$|^[^.!?\n]{0,70}[:–—-]? ?\(?<?https?://\S+$|\b(see|docs?( are)?( at)?|documentation|article|runbook|mockups?|wiki|figma|reference|spec|guide|cheat ?sheet|tutorial|dashboard|link|blog( post)?|video|paper|tracker|board|read)\b.{0,60}https?://",
    ),
    (Link, 4, r"https?://\S+"),
    // How far it is.
    (
        Done,
        6,
        r"^(\w+ )?(done|finished|completed?|implemented|shipped|released|merged|deployed|delivered|added|fixed|migrated|refactored|removed|replaced|set up|rewrote|wrote|built|created|landed|closed|cleaned up|extracted|introduced|enabled|moved|renamed|updated|integrated|documented|published|launched|split|optimi[sz]ed|reworked|wired|polished|hooked up|converted|ported|improved|reduced)\b",
    ),
    (
        Done,
        5,
        r"\b(is|are|was|were|has been|have been|got) (now |finally |all |fully |already )?(done|finished|complete(d)?|implemented|shipped|released|merged|deployed|live|rolled out|in production|delivered|migrated|in place|verified|closed|removed|replaced|rewritten|working( now)?|up and running|passing|green)\b|\b(now works|works now|works as expected|all tests? pass|tests? (are )?(pass|green)|went live|now live|is through|in main|on main|in master)\b|\ball \d+ (tests? )?pass\b|\bpr #?\d+\b",
    ),
    (
        Done,
        5,
        r"\b(i|we|i've|we've|i have|we have|have|has|team) (just |now |finally |already |successfully |today )?(finished|completed|implemented|shipped|released|merged|deployed|added|migrated|refactored|removed|replaced|set up|rewrote|written|wrote|built|created|landed|closed|cleaned up|extracted|introduced|enabled|moved|renamed|updated|integrated|documented|published|launched|rolled out|got \w+ working)\b",
    ),
    (
        Blocked,
        8,
        r"\bblock(ed|er|ers|ing|s)\b (by|on|until|for|us|is|the|:)|\b(is|are|was|still|currently|i'm|we're|am|remains?) (\w+ )?(blocked|stuck|on hold|paused)\b|\bwait(ing|s)? (on|for)\b|\bon hold\b|\bblocked\b|\bblocker\b|\bpending (approval|review|access|sign-?off|feedback|legal|security)\b|\bdepends on (the )?(\w+ )?(team|vendor|customer|ops|legal)\b",
    ),
    (
        Blocked,
        7,
        r"\b(can't|cannot|can not|unable to|not able to|couldn't|won't be able to|impossible to) (\w+ )?(continue|proceed|release|start|ship|deploy|merge|test|go|move|finish|begin|launch|complete|progress|publish|work)\b.{0,80}\b(until|before|unless|without|as long as|because|since|while)\b|\bno (access|credentials|answer|response|reply|feedback) (to|from|yet)\b|\b(hasn't|has not|haven't|have not|didn't|did not) (yet )?(replied|answered|responded|given us|granted|approved|provided|sent|signed|delivered)\b",
    ),
    (
        Issue,
        7,
        r"\b(known|open) (issue|bug|limitation|problem)s?\b|\b(not|never|n't) (yet )?(been )?(fixed|looked at|investigated|resolved|solved)( it)?( yet)?\b|\bnobody has (looked|fixed|investigated)\b|\b(still|is|are|remains?|currently) (broken|failing|buggy|flaky|wrong|leaking|crashing|incorrect)\b|\bregression\b|\bunfixed\b|\bunresolved bug\b|\bno (fix|workaround)( yet)?\b|\bcause (is )?(still )?unknown\b",
    ),
    (
        Issue,
        4,
        r"\b(bug|glitch|defect|memory leak)\b|\b(times? out|crash(es)?|fails?|hangs?|freezes?|flickers?|overlaps?|ignores?|leaks?|disappears?|breaks|doesn't work|does not work|is lost|are lost|gets lost|shows? (the )?wrong|displays? (the )?wrong|returns? (the )?wrong|renders? (the )?wrong|misaligned|too slow|is slow|shows up twice|duplicates?|incorrect|sometimes (fails?|crash\w*|hangs?|returns|shows|misses))\b",
    ),
    (
        Fix,
        7,
        r"\b(fix|solution|workaround|remedy|cure|root cause|cause|resolution) ?(:|is|was|were|to)\b|\b(solved|fixed|resolved|cured|worked around|avoided) (it|this|that|the|by|with|with a|when|after|in)\b|\b(fixed|solved|resolved|helped|helps|cures|fixes|solves|resolves) (it|this|that)\b|\b(was|were|is|comes?|came) (caused|due|triggered) (by|to|from)\b|\broot cause\b|\bcaused by\b|\bturned out (to be|that)\b|\bthe (reason|culprit|cause) (was|is|were)\b",
    ),
    (
        Fix,
        5,
        r"\b(error|exception|panic|traceback|segfault|stack ?trace|[A-Z]\w+(Error|Exception)|E[A-Z]{5,}|exit code \d+|no space left|permission denied|not found|undefined|out of memory|oom|deadlock|race( condition)?|does not exist|cannot read|connection refused|status (code )?[45]\d\d|http [45]\d\d|[45]\d\d errors?)\b.{0,200}\b(fix(ed|es)?|solv(ed|es)|resolv(ed|es)|cause[ds]?|because|helps?|kill|restart(ing)?|install(ing|ed)?|run(ning)?|by|set(ting)?|delet(e|ing)|clear(ing)?|increas(e|ing)|add(ing|ed)?|upgrad(e|ing)|downgrad(e|ing)|was|were|use)\b",
    ),
    (
        Fix,
        4,
        r"\bif (you|we|it|the \w+) (see|get|run into|hit|encounter|fails?|shows?|complains?|crash\w*)s?\b|\bwhen (\w+ ){1,4}(says?|fails? with|complains?|reports?|throws?|crashes with)\b|\bfixed\b.{0,60}\bby\b|\bfailed with\b|\bsolved by\b|\b[A-Z][a-zA-Z]+(Error|Exception)\b|\bfailing\b.{0,60}\bbecause\b",
    ),
    (
        Profile,
        7,
        r"\bmy name is\b|\bi('m| am) (a|an|the) (\w+ ){0,4}(engineer|developer|programmer|student|teacher|manager|designer|scientist|architect|analyst|lead|consultant|founder|admin\w*|researcher|freelancer|cto|writer)\b|\bi (work|live|study) (as|at|in|for|with|from)\b|\bmy (role|job|team|company|background|time ?zone|native language) (is|are|has|consists)\b|\bi('ve| have) \w+ years\b|\bi lead\b",
    ),
    (
        Dependency,
        8,
        r"\b(added|removed|installed|dropped|introduced) `?[\w.@/-]+`? (as a|as|to the|from the|from our|to our) (new )?(dev )?dependenc",
    ),
    (Dependency, 6, r"\bmy (laptop|machine|desktop|computer|workstation|server|os|operating system|phone|gpu)\b"),
    (Constraint, 9, r"\b(limited|restricted|confined|bound) to\b|\b(are|is|we're) stuck (on|with) [A-Z]\w+ \d"),
    (
        Fix,
        6,
        r"^fixed\b.{0,300}\bby \w+ing\b|^(fixed|solved|resolved) .{0,10}[`'\x22](\w+ ){0,3}\w*(error|cannot|failed|exception)",
    ),
];

/// The compiled patterns have at most this many bytes.
const SET_MAX_BYTES: usize = 64 << 20;
/// What a thread remembers of texts that it has matched has at most this many bytes.
const CACHE_MAX_BYTES: usize = 16 << 20;

struct BankSigns {
    set: RegexSet,
    weights: Vec<(BankCategory, u32)>,
    labels: Vec<(BankCategory, Regex, Regex)>,
}

static ALL: LazyLock<Option<BankSigns>> = LazyLock::new(|| {
    // Names and variables begin with a capital letter, whatever the case of the rest.
    let written =
        |pattern: &str| format!("(?i){}", pattern.replace("[A-Z]", "(?-i:[A-Z])").replace(r"\b", r"(?-u:\b)"));
    let patterns = SIGNS.iter().map(|(_, _, pattern)| written(pattern));
    let set = RegexSetBuilder::new(patterns).size_limit(SET_MAX_BYTES).dfa_size_limit(CACHE_MAX_BYTES).build().ok()?;
    let labels = LABELS.iter().map(|(category, names)| {
        let build = |pattern: String| RegexBuilder::new(&pattern).case_insensitive(true).build().ok();
        let label = build(format!(r"^(\*\*|__)?({names})(\([^)\n]{{0,30}}\))?(\*\*|__)?\s*(:|\s[–—-]\s)(\*\*|__)?"))?;
        let heading = build(format!(r"^[^\w]*({names})[^\w]*$"))?;
        Some((*category, label, heading))
    });
    let labels = labels.collect::<Option<Vec<_>>>()?;
    Some(BankSigns { set, weights: SIGNS.iter().map(|(category, weight, _)| (*category, *weight)).collect(), labels })
});

/// Returns the categories that a text has signs of, with their weights.
pub(super) fn signs_of(text: &str) -> Vec<(BankCategory, u32)> {
    let Some(signs) = &*ALL else { return Vec::new() };
    let found = signs.set.matches(text).into_iter().filter_map(|index| signs.weights.get(index).copied());
    found.collect()
}

/// Returns the category that a text names before a colon.
pub(super) fn label_of(text: &str) -> Option<BankCategory> {
    let signs = ALL.as_ref()?;
    signs.labels.iter().find(|(_, label, _)| label.is_match(text)).map(|(category, ..)| *category)
}

/// Returns the category that a heading names.
pub(super) fn heading_of(title: &str) -> Option<BankCategory> {
    let signs = ALL.as_ref()?;
    signs.labels.iter().find(|(.., heading)| heading.is_match(title)).map(|(category, ..)| *category)
}
