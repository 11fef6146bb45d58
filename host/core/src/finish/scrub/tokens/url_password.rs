//! Passwords in URLs: they have no form of their own but where they stand.

use std::ops::Range;

use crate::finish::scrub::chars::{breaks, run};

/// The passwords in front of the host, in URLs.
pub(super) fn url_passwords(text: &[u8]) -> impl Iterator<Item = Range<usize>> {
    memchr::memchr_iter(b'@', text).filter_map(|at| url_password(text, at))
}

/// The password in the authority of which the first `@` stands here.
fn url_password(text: &[u8], at: usize) -> Option<Range<usize>> {
    let start = text[..at].iter().rposition(|byte| *byte == b'@' || !is_authority(*byte))? + 1;
    if !text[..start].ends_with(b"://") {
        return None;
    }
    // A password can hold an `@`, and a user no `:`.
    let authority = &text[start..run(text, at, is_authority)];
    let userinfo = &authority[..memchr::memrchr(b'@', authority)?];
    let password = &userinfo[memchr::memchr(b':', userinfo)? + 1..];
    let placeholders = ["{", "$", "[", "*", "%s", "%("];
    let filled_in = !password.is_empty() && !placeholders.iter().any(|p| password.starts_with(p.as_bytes()));
    let end = start + userinfo.len();
    filled_in.then_some(end - password.len()..end)
}

pub(super) fn is_authority(byte: u8) -> bool {
    !breaks(byte) && !b"/?#".contains(&byte)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn passwords_are_found_by_the_at_as_by_the_slashes(text in "[ab:/@?\\{ \"\u{e4}]{0,40}", url in "(://a?:?b?@?[ab]?){0,3}") {
            let text = text + &url;
            let authorities = text.match_indices("://").map(|(slashes, _)| {
                let rest = &text[slashes + 3..];
                (slashes + 3, rest.split(|c: char| "/?# \"".contains(c)).next().unwrap())
            });
            let passwords = authorities.filter_map(|(start, authority)| {
                let (userinfo, _) = authority.rsplit_once('@')?;
                let (user, password) = userinfo.split_once(':')?;
                let start = start + user.len() + 1;
                (!password.is_empty() && !password.starts_with('{')).then_some(start..start + password.len())
            });
            let found = url_passwords(text.as_bytes());
            prop_assert_eq!(found.collect::<Vec<_>>(), passwords.collect::<Vec<_>>());
        }
    }
}
