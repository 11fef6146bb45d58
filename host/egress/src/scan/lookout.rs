//! The search of one body on its way out: what can be let go, and what has to wait for the next piece.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use ringfence_core::finish::scrub::FormsInStream;

use super::forms::{Forms, State};
use super::{Leak, Scanner};

/// Of a credential that it finds, nothing was let go before.
pub(crate) struct Lookout {
    others: FormsInStream,
    values: Vec<Values>,
}

/// The search for the values that one automaton knows.
struct Values {
    forms: Arc<Forms>,
    state: State,
    /// Bytes with which a known value may begin.
    held: BytesMut,
}

impl Lookout {
    pub(super) fn new(scanner: &Scanner) -> Self {
        Self {
            others: FormsInStream::default(),
            values: scanner.known().map(|known| Values::new(&known.forms)).collect(),
        }
    }

    /// Takes the next bytes, and gives those that are certain.
    ///
    /// # Errors
    /// [`Leak`] where a credential ends in them.
    pub(crate) fn pass(&mut self, piece: &[u8]) -> Result<Bytes, Leak> {
        let certain = self.others.feed(|held| held.extend_from_slice(piece));
        self.free_of_forms()?;
        self.values.iter_mut().try_fold(certain, |bytes, values| values.pass(&bytes))
    }

    /// Whether there is something that [`idle`](Self::idle) may give.
    pub(crate) fn is_waiting(&self) -> bool {
        self.others.is_waiting()
    }

    /// Gives what nothing but the beginning of a word holds back, because nothing has come for a while.
    ///
    /// # Errors
    /// [`Leak`] where a known value ends in it.
    pub(crate) fn idle(&mut self) -> Result<Bytes, Leak> {
        let certain = self.others.idle();
        self.values.iter_mut().try_fold(certain, |bytes, values| values.pass(&bytes))
    }

    /// Gives the rest. The body is at its end.
    ///
    /// # Errors
    /// [`Leak`] where the rest is a credential, or holds one.
    pub(crate) fn finish(&mut self) -> Result<Bytes, Leak> {
        let rest = self.others.finish();
        self.free_of_forms()?;
        self.values.iter_mut().try_fold(rest, |bytes, values| {
            let mut passed = BytesMut::from(values.pass(&bytes)?);
            passed.extend_from_slice(&values.held);
            Ok(passed.freeze())
        })
    }

    fn free_of_forms(&self) -> Result<(), Leak> {
        self.others.first().map_or(Ok(()), |kind| Err(Leak::Form { kind, place: "body" }))
    }
}

impl Values {
    fn new(forms: &Arc<Forms>) -> Self {
        Self { forms: forms.clone(), state: forms.start(), held: BytesMut::new() }
    }

    fn pass(&mut self, piece: &[u8]) -> Result<Bytes, Leak> {
        let (state, found) = self.forms.first_after(self.state.clone(), piece);
        if let Some(secret) = found {
            return Err(Leak::Value { secret: secret.to_owned(), place: "body" });
        }
        self.state = state;
        self.held.extend_from_slice(piece);
        let certain = self.held.len().saturating_sub(self.forms.depth(&self.state));
        Ok(self.held.split_to(certain).freeze())
    }
}

#[cfg(test)]
mod tests {
    use ringfence_core::Secret;

    use super::super::{Leak, Scanner};

    const VALUE: &str = "s3cret-value";

    fn passed(pieces: &[&str]) -> Result<String, String> {
        let scanner = Scanner::new(&[("key".to_owned(), Secret::new(VALUE.into()))]).unwrap();
        let (mut lookout, mut sent) = (scanner.lookout(), String::new());
        for piece in pieces.iter().map(Some).chain([None]) {
            let certain = match piece {
                Some(piece) => lookout.pass(piece.as_bytes()),
                None => lookout.finish(),
            };
            match certain {
                Ok(certain) => sent.push_str(std::str::from_utf8(&certain).unwrap()),
                Err(leak) => {
                    assert_eq!(leak, Leak::Value { secret: "key".into(), place: "body" });
                    return Err(sent);
                }
            }
        }
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

    #[test]
    fn nothing_of_a_credential_of_a_known_form_is_let_go() {
        let scanner = Scanner::new(&[]).unwrap();
        let token = "ghp_aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0fGhI";
        for at in 1..token.len() {
            let (mut lookout, (first, second)) = (scanner.lookout(), token.split_at(at));
            let before = lookout.pass(format!("x={first}").as_bytes()).unwrap();
            let after = lookout.pass(second.as_bytes()).and_then(|_| lookout.finish());
            assert_eq!(after, Err(Leak::Form { kind: "github", place: "body" }), "{at}");
            assert!(!String::from_utf8_lossy(&before).contains("ghp_a"), "{at}");
        }
    }
}
