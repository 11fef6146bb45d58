//! How things look in a terminal.

use comfy_table::{ContentArrangement, Table, presets};
use ringfence_core::limit::LimitSet;

/// A table without lines, as wide as the terminal.
pub(super) fn table<const N: usize>(head: [&str; N], rows: impl IntoIterator<Item = [String; N]>) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic).set_header(head);
    for row in rows {
        // What a cell says must not look like a row of its own.
        table.add_row(
            row.map(|cell| cell.split(char::is_control).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")),
        );
    }
    // The first column begins at the margin.
    table
        .to_string()
        .lines()
        .map(|line| line.strip_prefix(' ').unwrap_or(line).trim_end())
        .collect::<Vec<_>>()
        .join("\n")
}

/// Limits with their values, on one line; `None` where none is set.
pub(super) fn limits(set: &LimitSet) -> Option<String> {
    let limits: Vec<_> = set.iter().map(|(kind, value)| format!("{} {value}", kind.key())).collect();
    (!limits.is_empty()).then(|| limits.join(", "))
}

/// A time, in milliseconds since the Unix epoch.
pub(super) fn time(ms: u64) -> String {
    let time = i64::try_from(ms).ok().and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok());
    time.map_or_else(String::new, |time| time.strftime("%Y-%m-%d %H:%M:%S UTC").to_string())
}

/// So many things, whose name `one` is that of one of them.
pub(super) fn count(number: u64, one: &str) -> String {
    format!("{number} {one}{}", if number == 1 { "" } else { "s" })
}

/// A digest, short enough to read.
pub(super) fn short(digest: &str) -> String {
    digest.chars().take(12).collect()
}

/// An amount of bytes.
pub(super) fn bytes(count: u64) -> String {
    match count {
        0..1024 => format!("{count} B"),
        1024..1_048_576 => format!("{:.1} KiB", count as f64 / 1024.0),
        _ => format!("{:.1} MiB", count as f64 / 1_048_576.0),
    }
}
