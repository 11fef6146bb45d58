//! What was found.

use ringfence_sdk::prelude::*;

/// What was found.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub struct Results {
    /// The pages, what fits best first.
    pub results: Vec<Page>,
    /// What was searched for in place of a query that seems misspelt; null where it was taken as it stands.
    pub corrected_query: Option<String>,
    /// The offset of the next page of results; null where this is the last.
    pub next_offset: Option<u8>,
}

/// A page of the web.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub struct Page {
    /// What it is called.
    pub title: String,
    /// Where it is.
    pub url: String,
    /// What it says about the query.
    pub description: String,
    /// When it was made or changed, as the API says it: `3 days ago`, or a date.
    pub age: Option<String>,
    /// Its language, such as `en`.
    pub language: Option<String>,
}

/// The API's answer, as far as it is used. Without a hit there is no `web`.
#[derive(Deserialize)]
pub(crate) struct Answer {
    query: Query,
    #[serde(default)]
    web: Web,
}

#[derive(Deserialize)]
struct Query {
    altered: Option<String>,
    #[serde(default)]
    more_results_available: bool,
}

#[derive(Default, Deserialize)]
struct Web {
    #[serde(default)]
    results: Vec<Found>,
}

#[derive(Deserialize)]
struct Found {
    url: String,
    #[serde(default)]
    title: String,
    #[serde(default)]
    description: String,
    age: Option<String>,
    language: Option<String>,
}

/// The API gives no more pages than these, from 0.
pub(crate) const MAX_OFFSET: u8 = 9;

impl Answer {
    /// What was found on the page at `offset`.
    pub(crate) fn into_results(self, offset: u8) -> Results {
        let is_last = !self.query.more_results_available || offset >= MAX_OFFSET;
        Results {
            results: self.web.results.into_iter().map(Found::into_page).collect(),
            corrected_query: self.query.altered,
            next_offset: (!is_last).then(|| offset + 1),
        }
    }
}

impl Found {
    fn into_page(self) -> Page {
        let Self { url, title, description, age, language } = self;
        Page { title: plain(&title), url, description: plain(&description), age, language }
    }
}

/// A text without the entities of HTML, on one line.
fn plain(text: &str) -> String {
    let decoded = html_escape::decode_html_entities(text);
    decoded.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl Results {
    /// All of it, for a model.
    pub(crate) fn text(&self) -> String {
        let corrected = self.corrected_query.as_ref().map(|query| format!("Searched for {query:?}.\n\n"));
        let pages: Vec<_> = self.results.iter().enumerate().map(|(place, page)| page.text(place + 1)).collect();
        let pages = if pages.is_empty() { "Nothing was found.".to_owned() } else { pages.join("\n\n") };
        let more = self.next_offset.map(|offset| format!("\n\nThere are more: ask with offset {offset}."));
        format!("{}{pages}{}", corrected.unwrap_or_default(), more.unwrap_or_default())
    }
}

impl Page {
    fn text(&self, number: usize) -> String {
        let title = if self.title.is_empty() { "No title" } else { &self.title };
        let age = self.age.as_ref().map(|age| format!(" ({age})")).unwrap_or_default();
        let description = if self.description.is_empty() { String::new() } else { format!("\n{}", self.description) };
        format!("{number}. {title}{age}\n{}{description}", self.url)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entities_become_letters_and_lines_one() {
        assert_eq!(plain("It&#x27;s &lt;b&gt; &amp;\n\n Caf&eacute;"), "It's <b> & Café");
        assert_eq!(plain("AT&T &bogus; &#xFFFFFFFF;"), "AT&T &bogus; &#xFFFFFFFF;");
    }
}
