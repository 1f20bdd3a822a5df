//! The words for a password in languages other than English. They tell what a value behind them is, and also that a
//! sentence speaks of computing.

/// The words in lower case, and again with capitals where these are no letters of ASCII. Words that are part of other
/// words or have other meanings, such as `parola`, are no such words.
#[rustfmt::skip] // a list of words
pub(crate) const PASSWORD_WORDS: &[&str] = &[
    "passwort", "kennwort", "contraseña", "contraseÑa", "contrasena", "mot de passe", "palavra-passe", "wachtwoord",
    "пароль", "Пароль", "ПАРОЛЬ", "密码", "密碼", "口令", "パスワード", "비밀번호", "hasło", "hasŁo", "haslo", "heslo",
    "lösenord", "lÖsenord", "lösenordet", "losenord", "passord", "passordet", "adgangskode", "adgangskoden", "kodeord",
    "kodeordet", "salasana", "jelszó", "jelszÓ", "şifre", "Şifre", "mật khẩu", "Mật khẩu", "kata sandi", "lozinka",
];

/// Returns a pattern of the words.
pub(super) fn pattern() -> String {
    PASSWORD_WORDS.join("|").replace(' ', "[ _]")
}

/// Returns letters such that each of the words has some of them in it: the last part of a word.
pub(super) fn letters() -> impl Iterator<Item = &'static str> {
    PASSWORD_WORDS.iter().filter_map(|word| word.rsplit(' ').next())
}

/// Tells whether a text in lower case has one of the words.
pub(super) fn are_in(text: &str) -> bool {
    let text = text.replace('_', " ");
    PASSWORD_WORDS.iter().any(|word| text.contains(word) || text.contains(&word.to_ascii_lowercase()))
}
