//! The vocabulary of computing, by stems that languages share: what a sentence is about, whatever language it is in.

use std::collections::{BTreeSet, HashSet};
use std::sync::LazyLock;

use regex::Regex;

use crate::safety::secrets::PASSWORD_WORDS;

/// Stems in lower case that stand inside of compounds as well.
#[rustfmt::skip] // a list of words
const STEMS: &[&str] = &[
    "datenbank", "databas", "base de dat", "base de donn", "base di dat", "base di donn", "banco de dados",
    "baza danych", "bazy danych", "база данн", "базы данн", "базе данн", "базу данн", "server", "serveur",
    "servidor", "сервер", "thread", "hilo de", "goroutin", "coroutin", "processuor", "processsor", "prozess",
    "processus", "proceso", "processo", "процесс", "cache", "кеш", "кэш", "index", "индекс", "índice", "indice",
    "abfrage", "requête", "consulta", "запрос", "queri", "query", "token", "токен", "cookie", "sitzung", "hash",
    "хеш", "byte", "octet", "байт", "memory", "mémoire", "memoria", "memória", "speicher", "geheugen", "minne",
    "pamię", "памят", "container", "containér", "conteneur", "contenedor", "контейнер", "cluster", "replica",
    "replik", "реплик", "shard", "partition", "partici", "партици", "latenc", "latenz", "throughput", "timeout",
    "таймаут", "proxy", "прокси", "socket", "сокет", "packet", "paket", "protocol", "protokoll", "протокол",
    "transacc", "transact", "transakc", "transakt", "transaç", "транзакц", "rollback", "schema", "esquema",
    "migrat", "migrac", "migrer", "миграц", "verrou", "bloqueo", "mutex", "atomic", "atomique", "blockier",
    "klassen", "interface", "interfaz", "interfaccia", "schnittstelle", "интерфейс", "objekt", "objet", "oggett",
    "object", "объект", "functi", "funcci", "funkti", "funkci", "fonction", "função", "funzion", "функци",
    "variabl", "variabel", "variabil", "variável", "переменн", "array", "integer", "float", "flottant",
    "flotante", "décimal", "decimal", "dezimal", "binär", "binary", "binair", "binari", "плавающ", "compil",
    "kompil", "компил", "runtime", "garbage", "heap", "pointer", "algorit", "algorytm", "алгорит", "encrypt",
    "chiffr", "cifra", "versleutel", "verschlüssel", "шифр", "authent", "autent", "аутентиф", "authoris",
    "authoriz", "autoris", "autoriz", "авториз", "passw", "contraseñ", "парол", "certifica",
    "zertifi", "сертиф", "browser", "navigate", "navigato", "navegador", "браузер", "warteschlange", "wachtrij",
    "очеред", "konfigur", "config", "конфиг", "parall", "paralel", "concurr", "nebenläufig", "gleichzeitig",
    "simult", "одновремен", "microserv", "microsserv", "monolit", "disque dur", "schijf", "datenträger",
    "network", "netzwerk", "netwerk", "réseau", "сетев", "compress", "komprim", "kompres", "сжат", "repositor",
    "репозитор", "abhängigkeit", "dependenc", "dépendance", "dipendenz", "afhankelijkh", "dependênc",
    "зависимост", "deadlock", "constraint", "contrainte", "restricci", "checksum", "prüfsumm", "kubernetes",
    "docker", "postgres", "redis", "kafka", "nginx", "linux", "python", "javascript", "typescript", "github",
    "terraform", "elasticsearch", "mongodb", "mysql", "sqlite", "webhook", "middleware", "callback", "backend",
    "frontend", "kernel", "asíncron", "asincron", "synchron", "idempoten", "immutab", "polymorph", "inherit",
    "vererb", "recurs", "rekurs", "iterat", "itérat", "parser", "seriali", "конструктор", "потоки", "потока",
    "потоко", "потокв", "соединен", "заголов", "типизац", "хранилищ", "verbindung", "connexion", "conexi",
    "conexão", "connession", "connection", "verbinding", "połącze", "データベース", "サーバ", "メモリ", "スレッド", "プロセス",
    "キャッシュ", "インデックス", "クエリ", "トランザクション", "接続", "暗号", "ハッシュ", "関数", "変数", "クラス", "コンテナ", "非同期", "並列", "並行",
    "ロック", "ソケット", "プロトコル", "認証", "証明書", "コンパイル", "ポインタ", "配列", "ブラウザ", "レイヤー", "モジュール", "ライブラリ", "リクエスト",
    "レスポンス", "コンポーネント", "数据库", "服务器", "内存", "线程", "进程", "缓存", "索引", "查询", "事务", "连接", "加密", "哈希", "函数", "变量",
    "容器", "接口", "请求", "响应", "超时", "重试", "并发", "乐观锁", "悲观锁", "解释器", "编译", "浮点", "整数", "字节", "镜像", "端口", "证书",
    "密钥", "队列", "分区", "副本", "主键", "优化器", "依赖", "信号量", "堆栈", "熔断", "流量", "데이터베이스", "서버", "메모리", "스레드", "프로세스",
    "캐시", "인덱스", "쿼리", "트랜잭션", "연결", "암호", "해시", "함수", "변수", "컨테이너", "의존성", "레이어", "인스턴스", "таблиц", "строк",
    "колонк", "файл", "ядр", "syntax", "sintax", "exception", "excepci", "exceção", "eccezion", "ausnahme",
    "исключен", "infrastruct", "infrastrukt", "infraestruct", "herencia", "héritage", "ereditar", "overerving",
    "herança", "наследован", "method", "méthode", "método", "metodo", "метод", "parameter", "parámetro",
    "paramètre", "parametro", "parâmetro", "параметр", "argument", "argomento", "аргумент", "component",
    "komponent", "composant", "компонент", "schleife", "boucle", "bucle", "debug", "depur", "отлад",
    "planificateur", "planejador", "planificador", "optimiz", "optimier", "optimis", "kodierung", "encoding",
    "кодиров", "zeitzone", "fuseau", "timezone", "timestamp", "zeitstempel", "horodatage", "endpoint",
    "endpunkt", "эндпоинт", "en-tête", "cabecera", "encabezado", "intestazion", "cabeçalho", "firewall",
    "pare-feu", "cortafuegos", "брандмауэр", "balanc", "балансиров", "lastverteil", "équilibreur", "регулярн",
    "dictionar", "dictionnaire", "diccionario", "dizionario", "dicionário", "wörterbuch", "словар", "unittest",
    "integrationstest", "integratietest", "identificat", "identificador", "identifik", "идентификатор",
    "aleator", "aleatór", "zufäll", "syscall", "daemon", "démon", "segment", "répertoire", "verzeichnis",
    "directorio", "carpeta", "ファイル", "ディレクトリ", "パッケージ", "パラメータ", "引数", "戻り値", "例外", "イベント", "ループ", "オブジェクト",
    "文字列", "スタック", "キュー", "再試行", "冪等", "分散", "テーブル", "トークン", "モック", "デプロイ", "ビルド", "文件", "目录", "构建", "部署", "参数",
    "返回值", "异常", "事件", "循环", "对象", "字符串", "版本", "幂等", "分布式", "磁盘", "操作系统", "代码", "编码", "时区", "网关", "负载均衡", "防火墙",
    "算法", "排序", "全表", "组件", "测试", "파일", "패키지", "예외", "이벤트", "객체", "문자열", "테이블", "배포", "저장소", "테스트", "커밋",
];

/// Words in lower case that are found only by themselves, because they are so short that they stand in other words by
/// chance.
#[rustfmt::skip] // a list of words
const WORDS: &[&str] = &[
    "диск", "диска", "диске", "диски", "festplatte", "disques", "discos", "dischi", "schijven", "cursor", "cursors", "curseur", "курсор",
    "pool", "pools", "core", "cores", "kerne", "kern", "cœurs", "cœur", "núcleos", "núcleo", "nodes", "node",
    "ports", "port", "stack", "queue", "queues", "cola", "fila", "locks", "lock", "locked", "locking", "rows",
    "row", "columns", "column", "tables", "table", "tabelle", "tabellen", "tabla", "tablas", "tabella",
    "spalten", "spalte", "zeilen", "zeile", "colonnes", "colonne", "lignes", "ligne", "columnas", "columna",
    "filas", "colonna", "righe", "coluna", "linhas", "kolom", "rijen", "keys", "key", "schlüssel", "clés", "clé",
    "claves", "clave", "chiave", "chiavi", "sleutel", "chaves", "chave", "ключ", "ключа", "ключи", "ключей",
    "ключу", "ключом", "ключам", "class", "classe", "classes", "klasse", "clase", "класс", "класса", "классы",
    "классов", "types", "type", "typen", "tipo", "lists", "list", "strings", "string", "errors", "error",
    "fehler", "erreurs", "erreur", "errores", "client", "clients", "brokers", "broker", "consumers", "consumer",
    "producers", "producer", "topics", "topic", "offsets", "offset", "commits", "commit", "branches", "branche",
    "merges", "merged", "merge", "rebase", "deploy", "deploys", "deployed", "deployment", "builds", "build",
    "tests", "test", "mocks", "mock", "stubs", "stub", "primary", "backups", "backup", "restores", "restore",
    "logs", "log", "trigger", "triggers", "joins", "join", "views", "view", "url", "urls", "dns", "ttl", "http",
    "https", "tcp", "json", "api", "sdk", "orm", "retries", "retry", "batch", "batches", "counters", "counter",
    "contention", "traffic", "requests", "request", "responses", "response", "respuestas", "respuesta",
    "sessions", "session", "sesión", "sesiones", "pods", "pod", "images", "image", "imagen", "volume", "volumes",
    "disks", "disk", "disque", "disco", "bits", "bit", "cpu", "gpu", "ram", "ssd", "gc", "jvm", "null", "void",
    "async", "await", "scope", "closure", "modules", "module", "modulos", "modulo", "moduls", "modul",
    "packages", "package", "files", "file", "dateien", "dateie", "fichiers", "fichier", "ficheros", "fichero",
    "archivos", "archivo", "узла", "узлы", "узлов", "узел", "salt", "event", "events", "evento", "eventos",
    "ereignis", "ereignisse", "événement", "eventi", "job", "jobs", "worker", "workers", "render", "loop",
    "loops", "ciclo", "lus", "laço", "цикл", "цикла", "циклы", "цикле", "regex", "lambda", "generics", "trait",
    "traits", "struct", "enum", "tuple", "tupla", "tupel", "кортеж", "git", "ssh", "tls", "ssl", "oauth", "jwt",
    "csv", "xml", "yaml", "utf", "unicode", "teste", "testes", "signal", "señal", "sinal", "segnale", "сигнал",
    "baum", "tree", "árbol", "albero", "árvore", "arbre", "boom", "дерево", "undo", "sperre", "permission",
    "permissions", "permiso", "permesso", "droits", "rechten", "rechte", "vacuum", "scan", "scans", "insert",
    "delete", "select", "flag", "flags", "pid", "swap", "inode", "state", "zustand", "estado", "stato", "état",
    "toestand", "состояние", "состояния", "dom", "css", "html", "sse", "grpc", "rest", "kb", "mb", "gb",
];

#[allow(clippy::expect_used, reason = "the pattern is constant, and the tests compile it")]
static STEM: LazyLock<Regex> = LazyLock::new(|| {
    let stems: Vec<&str> = STEMS.iter().chain(PASSWORD_WORDS).copied().collect();
    Regex::new(&stems.join("|")).expect("a valid pattern")
});

static WORD: LazyLock<HashSet<&str>> = LazyLock::new(|| WORDS.iter().copied().collect());

/// A number with a unit of time, of size or of rate, which holds today and tomorrow, unlike a number of customers.
const QUANTITY: &str = r"(?i)(?-u:\b)[0-9][0-9.,]* ?(?:ms|µs|ns|[kmgt]i?b|[kmg]o|[кмг]б|мс|[kmg]bit|[kmg]hz|px|bits?|bytes?|octets|байт[a-zа-я]*|mb/s|gb/s|(?:milli|mili|nano|mikro|micro)?se[ck]ond[a-zа-я]*|(?:mili)?segundos?|(?:milli)?secondi|(?:milli)?secondes?|(?:милли)?секунд[a-zа-я]*|minut[a-zа-я]*|минут[a-zа-я]*)(?:[^0-9a-zа-я]|$)|[0-9] ?(?:ミリ秒|毫秒|秒|초|バイト|字节)";

#[allow(clippy::expect_used, reason = "the pattern is constant, and the tests compile it")]
static QUANTITIES: LazyLock<Regex> = LazyLock::new(|| Regex::new(QUANTITY).expect("a valid pattern"));

/// Returns the different words of computing in a text, in lower case.
pub(in crate::learning::capture) fn subjects(text: &str) -> BTreeSet<String> {
    let lower = text.to_lowercase();
    let stems = STEM.find_iter(&lower).map(|found| found.as_str());
    let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| WORD.contains(word));
    stems.chain(words).map(str::to_owned).collect()
}

/// Tells whether a text has a number with a unit in it.
pub(in crate::learning::capture) fn has_quantity(text: &str) -> bool {
    QUANTITIES.is_match(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_computing_are_known_in_many_languages() {
        for text in [
            "Verbindungspool der Datenbank",
            "la mémoire du serveur",
            "кеш и индекс",
            "キャッシュとメモリ",
            "缓存和索引",
        ] {
            assert_eq!(subjects(text).len(), 2, "{text}: {:?}", subjects(text));
        }
        assert!(subjects("We had dinner by the sea, and it was lovely").is_empty());
    }

    #[test]
    fn a_quantity_has_a_unit() {
        assert!(has_quantity("after 30 seconds") && has_quantity("150 Mo") && has_quantity("50ミリ秒"));
        assert!(!has_quantity("1,284 users, 12% more"));
    }
}
