//! The search of one body on its way out: what can be let go, and what has to wait for the next piece.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};

use super::Leak;
use super::forms::{Forms, State};

/// Of a known value that it finds, nothing was let go before.
pub(crate) struct Lookout {
    forms: Arc<Forms>,
    state: State,
    /// Bytes with which a known value may begin.
    held: BytesMut,
}

impl Lookout {
    pub(super) fn new(forms: Arc<Forms>) -> Self {
        let state = forms.start();
        Self { forms, state, held: BytesMut::new() }
    }

    /// Takes the next bytes, and gives those that are certain.
    ///
    /// # Errors
    /// [`Leak`] where a known value ends in them.
    pub(crate) fn pass(&mut self, piece: &[u8]) -> Result<Bytes, Leak> {
        let (state, found) = self.forms.first_after(self.state, piece);
        if let Some(secret) = found {
            return Err(Leak { secret: secret.to_owned(), place: "body" });
        }
        self.state = state;
        self.held.extend_from_slice(piece);
        let certain = self.held.len().saturating_sub(self.forms.depth(state));
        Ok(self.held.split_to(certain).freeze())
    }

    /// Gives the rest. The body is at its end.
    pub(crate) fn finish(&mut self) -> Bytes {
        self.held.split().freeze()
    }
}

#[cfg(test)]
mod tests {
    use ringfence_core::Secret;

    use super::super::Scanner;

    const VALUE: &str = "s3cret-value";

    fn passed(pieces: &[&str]) -> Result<String, String> {
        let scanner = Scanner::new(&[("key".to_owned(), Secret::new(VALUE.into()))]).unwrap();
        let (mut lookout, mut sent) = (scanner.lookout(), String::new());
        for piece in pieces {
            match lookout.pass(piece.as_bytes()) {
                Ok(certain) => sent.push_str(std::str::from_utf8(&certain).unwrap()),
                Err(leak) => {
                    assert_eq!((leak.secret.as_str(), leak.place), ("key", "body"));
                    return Err(sent);
                }
            }
        }
        sent.push_str(std::str::from_utf8(&lookout.finish()).unwrap());
        Ok(sent)
    }

    #[test]
    fn nothing_of_a_value_is_let_go_however_it_is_cut() {
        for at in 0..=VALUE.len() {
            let (first, second) = VALUE.split_at(at);
            assert_eq!(passed(&["before ", first, second, " after"]), Err("before ".into()), "{at}");
        }
        let single: Vec<String> = VALUE.chars().map(String::from).collect();
        assert_eq!(passed(&single.iter().map(String::as_str).collect::<Vec<_>>()), Err(String::new()));
    }

    #[test]
    fn what_is_no_value_arrives_whole() {
        for pieces in [vec![], vec!["s3cret-valu"], vec!["s3cret-", "valu", "x s3c"], vec!["", "a", "", "s3", ""]] {
            assert_eq!(passed(&pieces), Ok(pieces.concat()));
        }
    }
}
