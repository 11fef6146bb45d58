//! The search itself.

use ringfence_sdk::prelude::*;

use crate::country::Country;
use crate::freshness::Freshness;
use crate::refusal;
use crate::results::{Answer, Results};

/// The arguments of [`search_web`](fn@search_web).
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Search {
    /// What to search for: at most 400 characters and 50 words. `"…"` holds words together, `-` excludes one, `site:`
    /// names a site.
    #[schemars(length(min = 1, max = 400))]
    pub query: String,
    /// How many results: 10 unless given, at most 20.
    #[serde(default = "ten")]
    #[schemars(range(min = 1, max = 20))]
    pub count: u8,
    /// How many pages of results to skip: 0 unless given, at most 9.
    #[serde(default)]
    #[schemars(range(min = 0, max = 9))]
    pub offset: u8,
    /// Whose results come first: a country's two letters, or `ALL`.
    pub country: Option<Country>,
    /// How new the pages have to be: `day`, `week`, `month`, `year` (the last one of them), or two days such as
    /// `2026-01-01to2026-06-30`.
    pub freshness: Option<Freshness>,
    /// What is left out because not everybody should see it.
    #[serde(default)]
    pub safesearch: SafeSearch,
}

fn ten() -> u8 {
    10
}

/// What is left out because not everybody should see it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SafeSearch {
    /// Nothing.
    Off,
    /// Explicit images and videos, but no pages.
    #[default]
    Moderate,
    /// All explicit content.
    Strict,
}

/// The API's own limits of a query.
const MAX_CHARACTERS: usize = 400;
const MAX_WORDS: usize = 50;

/// Searches the web: titles, addresses and descriptions of pages, what fits best first.
#[tool(
    title = "Search the web",
    read_only,
    idempotent,
    open_world,
    categories("web", "search"),
    short_doc = "Searches the web.",
    output = Results,
    example(description = "News of a week", input = { "query": "webassembly component model", "freshness": "week" }),
    example(
        description = "One site, in German",
        input = { "query": "site:de.wikipedia.org Fuchsschwanz", "country": "DE", "count": 3 },
    ),
)]
pub fn search_web(args: Search) -> Result<Output, Failure> {
    check(&args.query)?;
    let safesearch = match args.safesearch {
        SafeSearch::Off => "off",
        SafeSearch::Moderate => "moderate",
        SafeSearch::Strict => "strict",
    };
    let answer = http::get("https://api.search.brave.com/res/v1/web/search")
        .query("q", &args.query)
        .query("count", args.count)
        .query("offset", args.offset)
        .optional_query("country", args.country.as_ref())
        .optional_query("freshness", args.freshness.as_ref())
        .query("safesearch", safesearch)
        .query("result_filter", "web")
        .query("text_decorations", false)
        .header("accept", "application/json")
        .send()?;
    if !answer.is_success() {
        return Err(refusal::failure(&answer));
    }
    let results = answer.json::<Answer>()?.into_results(args.offset);
    Output::text(results.text()).with_structured(&results)
}

fn check(query: &str) -> Result<(), Failure> {
    let (characters, words) = (query.chars().count(), query.split_whitespace().count());
    match (characters, words) {
        (_, 0) => Err(Failure::invalid_params("`query` is empty. Say what to search for.")),
        (..=MAX_CHARACTERS, ..=MAX_WORDS) => Ok(()),
        _ => Err(Failure::invalid_params(format!(
            "`query` has {characters} characters and {words} words; at most {MAX_CHARACTERS} and {MAX_WORDS} are \
             taken. Shorten it."
        ))),
    }
}
