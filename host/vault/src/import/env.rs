//! `.env` lines, in the part of that format on which its programs agree.
//!
//! `NAME=value`, with `export ` before it or not. Between `'…'` everything is itself; between `"…"` a backslash stands
//! before n, r, t, $, a backtick, a quotation mark or a backslash; without quotation marks the value ends at ` #` or
//! at the end of the line. Nothing is expanded: `$` is a dollar sign. What programs read in different ways is refused, because a secret
//! that is silently another one is found late.

use zeroize::Zeroizing;

use super::{BadLine, Found, LineFault};

pub(super) fn parse(text: &str) -> Vec<Result<Found, BadLine>> {
    let numbered = text.lines().enumerate().map(|(i, line)| (i + 1, line.trim()));
    let filled = numbered.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    filled
        .map(|(line, text)| match assignment(text) {
            Ok((name, value)) => Ok((line, name, value)),
            Err(fault) => Err(BadLine { line, fault }),
        })
        .collect()
}

fn assignment(line: &str) -> Result<(String, Zeroizing<String>), LineFault> {
    let (name, value) = line.split_once('=').ok_or(LineFault::NotAssignment)?;
    let name = match name.split_once(char::is_whitespace) {
        Some(("export", name)) => name.trim(),
        _ => name.trim(),
    };
    if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-')) {
        return Err(LineFault::Name);
    }
    Ok((name.to_owned(), value_of(value)?))
}

fn value_of(text: &str) -> Result<Zeroizing<String>, LineFault> {
    // Never longer than the text, so it does not move while it grows.
    let mut value = Zeroizing::new(String::with_capacity(text.len()));
    let text = text.trim_start();
    let rest = if let Some(quoted) = text.strip_prefix('\'') {
        let (inside, rest) = quoted.split_once('\'').ok_or(LineFault::Unclosed)?;
        value.push_str(inside);
        rest
    } else if let Some(quoted) = text.strip_prefix('"') {
        unescaped(quoted, &mut value)?
    } else {
        value.push_str(bare(text)?);
        ""
    };
    let comment = rest.trim_start();
    let apart = comment.len() < rest.len() && comment.starts_with('#');
    if comment.is_empty() || apart { Ok(value) } else { Err(LineFault::AfterQuote) }
}

/// A value without quotation marks.
fn bare(text: &str) -> Result<&str, LineFault> {
    let comment = text.match_indices('#').map(|(at, _)| at).find(|at| {
        let before = text[..*at].chars().next_back();
        before.is_none_or(char::is_whitespace)
    });
    let value = text[..comment.unwrap_or(text.len())].trim_end();
    if value.contains(['\'', '"', '\\']) { Err(LineFault::Ambiguous) } else { Ok(value) }
}

/// Reads up to the closing `"` into `value`, and gives back what follows it.
fn unescaped<'a>(quoted: &'a str, value: &mut String) -> Result<&'a str, LineFault> {
    let mut chars = quoted.chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => return Ok(chars.as_str()),
            '\\' => value.push(match chars.next().ok_or(LineFault::Unclosed)? {
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                c @ ('"' | '\'' | '\\' | '$' | '`') => c,
                _ => return Err(LineFault::Escape),
            }),
            c => value.push(c),
        }
    }
    Err(LineFault::Unclosed)
}
