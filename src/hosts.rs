//! The distance to the host of a URL: what a request shows on its way, and whether a proxy may be on it.

use std::net::IpAddr;

use reqwest::Url;

/// Tells whether a URL leads to this machine. `localhost` and the names below it mean this machine everywhere (RFC
/// 6761, section 6.3).
pub(crate) fn is_this_machine(url: &Url) -> bool {
    match address(url) {
        Ok(address) => address.is_loopback(),
        Err(name) => name == "localhost" || name.ends_with(".localhost"),
    }
}

/// Tells whether a token may be sent to a URL: encrypted, or to this machine.
pub(crate) fn may_carry_token(url: &Url) -> bool {
    url.scheme() == "https" || is_this_machine(url)
}

/// Tells whether a URL leads to this machine or into its private network.
pub(crate) fn is_private(url: &Url) -> bool {
    is_this_machine(url)
        || match address(url) {
            Ok(IpAddr::V4(address)) => address.is_private() || address.is_link_local(),
            Ok(IpAddr::V6(address)) => address.is_unique_local() || address.is_unicast_link_local(),
            // A name without a dot is one of the local network.
            Err(name) => !name.contains('.') || [".local", ".internal", ".lan"].iter().any(|end| name.ends_with(end)),
        }
}

/// Returns the address that a URL names, or the name.
fn address(url: &Url) -> Result<IpAddr, &str> {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host.parse().map_err(|_| host)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("http://localhost:8787/mcp", true, true)]
    #[case("http://bank.localhost", true, true)]
    #[case("http://127.8.0.1", true, true)]
    #[case("http://[::1]:8787", true, true)]
    #[case("http://192.168.0.4", false, true)]
    #[case("http://[fd00::1]", false, true)]
    #[case("http://nas", false, true)]
    #[case("http://nas.lan", false, true)]
    #[case("http://localhost.example", false, false)]
    #[case("http://notlocalhost.example", false, false)]
    #[case("http://8.8.8.8", false, false)]
    #[case("http://[2001:db8::1]", false, false)]
    fn a_host_is_this_machine_a_private_one_or_any(#[case] url: &str, #[case] is_own: bool, #[case] is_near: bool) {
        let url = Url::parse(url).unwrap();
        assert_eq!((is_this_machine(&url), is_private(&url)), (is_own, is_near), "{url}");
    }
}
