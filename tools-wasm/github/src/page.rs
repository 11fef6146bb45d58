//! Long lists come in pages.

use ringfence_sdk::http::{Request, Response};
use ringfence_sdk::prelude::*;
use ringfence_sdk::serde::de::DeserializeOwned;

use crate::api;

/// The first page, which is the one that a call without a number means.
pub(crate) fn first() -> u32 {
    1
}

/// How many entries a call without a number means.
pub(crate) fn usual_size() -> u8 {
    30
}

/// Asks for one page, and gives it with the number of the next; `None` where it is the last.
///
/// # Errors
/// GitHub does not answer, or not with that.
pub(crate) fn get<T: DeserializeOwned>(request: Request, page: u32, per_page: u8) -> Result<(T, Option<u32>), Failure> {
    let answer = api::answer(request.query("page", page).query("per_page", per_page))?;
    Ok((answer.json()?, next(&answer, page)))
}

/// The number of the page after `page`, where the answer links to one (RFC 8288).
fn next(answer: &Response, page: u32) -> Option<u32> {
    let links = answer.header("link")?;
    let is_next = |link: &str| link.split(';').skip(1).any(|part| matches!(part.trim(), "rel=\"next\"" | "rel=next"));
    if links.split(',').any(is_next) { page.checked_add(1) } else { None }
}

/// The line that says how to go on.
pub(crate) fn footer(next: Option<u32>) -> String {
    next.map(|page| format!("\nThere are more: ask for page {page}.")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_links_to_the_next_page() {
        let next = |link: &str| next(&Response::new(200, "").with_header("Link", link), 2);
        let last = "<https://api.github.com/search/issues?q=x&page=1>; rel=\"prev\"";
        assert_eq!(next(&format!("{last}, <https://api.github.com/search/issues?q=x&page=3>; rel=\"next\"")), Some(3));
        for link in [last, "", "next", "<https://x.test/a,rel=next>", "<rel=\"next\">; rel=\"last\"", ";;,;"] {
            assert_eq!(next(link), None, "{link}");
        }
        assert_eq!(super::next(&Response::new(200, ""), 1), None);
        let more = Response::new(200, "").with_header("link", "<x>; rel=next");
        assert_eq!(super::next(&more, u32::MAX), None);
    }
}
