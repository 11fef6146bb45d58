//! Names that lead where a test says.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use ringfence_egress::{LookupPlace, Resolver};

/// The answers for each name, one after the other; the last one stays.
#[derive(Default)]
pub struct Names {
    answers: Mutex<HashMap<String, VecDeque<Vec<IpAddr>>>>,
    asked: Mutex<Vec<String>>,
}

impl Names {
    /// Each name with its answers; an answer is addresses with commas between them.
    pub fn new(names: &[(&str, &[&str])]) -> Arc<Self> {
        let addresses = |answer: &&str| answer.split_terminator(',').map(|ip| ip.parse().unwrap()).collect();
        let answers = names.iter().map(|(name, answers)| ((*name).to_owned(), answers.iter().map(addresses).collect()));
        Arc::new(Self { answers: Mutex::new(answers.collect()), asked: Mutex::default() })
    }

    /// The names that were asked for, in their order.
    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

#[async_trait]
impl Resolver for Names {
    async fn resolve(&self, name: &str, _place: LookupPlace) -> io::Result<Vec<IpAddr>> {
        self.asked.lock().unwrap().push(name.to_owned());
        let mut answers = self.answers.lock().unwrap();
        let answers = answers.get_mut(name).ok_or_else(|| io::Error::other("no such name"))?;
        Ok(if answers.len() > 1 { answers.pop_front().unwrap() } else { answers[0].clone() })
    }
}
