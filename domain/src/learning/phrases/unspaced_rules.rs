//! Words of which users make standing rules in Japanese and Chinese, which have no spaces between words.

use std::sync::LazyLock;

use regex::Regex;

use super::compiled;

/// The patterns of one of the languages.
pub(in crate::learning) struct UnspacedPatterns {
    /// Orders something for each time, or tells what is done in a project.
    pub(in crate::learning) told: Regex,
    /// Tells of one person, of what went wrong, or of what was.
    pub(in crate::learning) other: Regex,
    /// Orders something new.
    pub(in crate::learning) orders: Regex,
    /// Names the place at which something holds.
    pub(in crate::learning) here: Regex,
}

/// Tells that a text is Japanese.
const KANA: &str = r"[\u{3040}-\u{30ff}]";

const HERE_JAPANESE: &str = "(?:この|本)(?:プロジェクト|リポジトリ|チーム|コードベース)|当社|弊社|うち(?:のチーム)?(?:では|は)|私たち|我々|ここでは";
const HERE_CHINESE: &str =
    "(?:这个|本|我们的?|這個|我們的?)(?:项目|仓库|团队|專案|倉庫|團隊|代码库)|我们|我們|这里|這裡";

/// These say of one piece of work, or of one day, what the text says.
const ONCE: &str = concat!(
    "今回|とりあえず|今のところ|今日|明日|昨日|一旦|いったん|(?:この|本)(?:タスク|作業|PR|チケット|ブランチ|セッション|変更|依頼)",
    "|(?:終わる|出る|済む|完了する|リリース(?:する)?)まで",
    "|这次|這次|本次|暂时|暫時|目前|今天|明天|昨天|(?:这个|本|该|這個)(?:任务|分支|PR|提交|会话|工单|需求|任務)|直到|先别|先不要",
    "|在[^，。]{1,14}之前，?(?:请|都)?(?:永远|绝对)?(?:不要|别)",
);

pub(in crate::learning) static IS_JAPANESE: LazyLock<Regex> = LazyLock::new(|| compiled(KANA));

pub(in crate::learning) static OF_ONCE: LazyLock<Regex> = LazyLock::new(|| compiled(ONCE));

pub(in crate::learning) static JAPANESE: LazyLock<UnspacedPatterns> = LazyLock::new(|| {
    let ever = "(?:決して|絶対に?|必ず|常に|毎回|いつも|今後は?|これからは?|以後)";
    let ordered = concat!(
        "(?:こと|ください|下さい|べき(?:です|だ|ではない|ではありません)?|なければ(?:なりません|ならない|いけない|いけません)",
        "|ないで(?:ください|下さい|ね)?|禁止(?:です|とします)?|て(?:は|も)(?:いけ|なり)(?:ない|ません)|しない|せよ|しろ)",
    );
    let done = "(?:ます|ません|する|しない|です)";
    UnspacedPatterns {
        told: compiled(&format!(
            "{ever}[^。！？?]*{ordered}[。！!]?$|(?:{HERE_JAPANESE}|今後は?|これからは?)[^。！？?]*{ever}[^。！？?]*{done}[。！!]?$\
             |(?:今後|これから)は[^。！？?]*{done}[。！!]?$|(?:{HERE_JAPANESE})[^。！？?]*(?:ではなく|じゃなく|の代わりに)[^。！？?]*{done}[。！!]?$"
        )),
        other: compiled(
            "エラー(?:に|が)|失敗|落ち|止ま(?:っ|り|る)|動か|なりま(?:す|した)|出ま(?:す|した)|表示され|返っ|ました|でした|遅[いく]|タイムアウト|私は|僕は|俺は",
        ),
        orders: compiled("を[^。]{0,12}(?:書いて|作って|作成して|実装して|追加して|直して|修正して|消して|削除して)"),
        here: compiled(HERE_JAPANESE),
    }
});

pub(in crate::learning) static CHINESE: LazyLock<UnspacedPatterns> = LazyLock::new(|| UnspacedPatterns {
    told: compiled(&format!(
        "(?:永远|永遠|绝对|絕對|千万|千萬|决|決|绝|絕)(?:都)?(?:不要|不能|不可以|不可|不得|不允许|别|別|不)\
         |务必|務必|一定要|严禁|嚴禁|前(?:都)?(?:必须|必須)\
         |(?:^|[，。：:；])\\W{{0,2}}(?:请|請)?(?:总是|總是|始终|始終|一律|每次都|从不|從不|禁止)\
         |(?:从现在|從現在)(?:开始|開始|起)|今后|今後|以后(?:都|请|要|不要|一律)|以後(?:都|請|要|不要|一律)\
         |(?:{HERE_CHINESE})(?:里|中|都|只|统一|一直|總是|总是)*(?:使用|用)[^，。]+，?(?:不用|而不是|不是|从不|不使用)"
    )),
    other: compiled(
        "吗|嗎|为什么|為什麼|怎么|怎麼|报错|報錯|失败|失敗|崩溃|出错|超时|卡住|很慢|太慢|有问题|谢谢|謝謝|(?:^|[^们們])我(?:[^们們]|$)|客户|客戶|文档(?:说|里)",
    ),
    orders: compiled("(?:写|寫|实现|實作|添加|创建|建立|帮我|幫我|编写|生成|做)一?(?:个|個|段|份|下)"),
    here: compiled(HERE_CHINESE),
});
