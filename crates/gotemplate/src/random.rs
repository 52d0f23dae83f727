//! Random numbers: from the system, or from a seed.

use ring::rand::{SecureRandom as _, SystemRandom};
use sha2::{Digest as _, Sha256};

/// A source of random bytes. With a seed it gives the same bytes in every run.
pub struct Random {
    seed: Option<u64>,
    counter: u64,
    buffer: Vec<u8>,
    system: SystemRandom,
}

impl Random {
    /// A source from `seed`, or from the system without one.
    pub fn new(seed: Option<u64>) -> Self {
        Self { seed, counter: 0, buffer: Vec::new(), system: SystemRandom::new() }
    }

    /// True if every run gives the same bytes.
    pub fn is_seeded(&self) -> bool {
        self.seed.is_some()
    }

    /// Fills `out`.
    pub fn fill(&mut self, out: &mut [u8]) {
        for byte in out {
            if self.buffer.is_empty() {
                self.refill();
            }
            *byte = self.buffer.pop().unwrap_or(0);
        }
    }

    fn refill(&mut self) {
        let mut block = [0u8; 32];
        let filled = self.seed.is_none() && self.system.fill(&mut block).is_ok();
        if !filled {
            let mut hash = Sha256::new();
            hash.update(b"podsmith random");
            hash.update(self.seed.unwrap_or(0).to_be_bytes());
            hash.update(self.counter.to_be_bytes());
            block = hash.finalize().into();
            self.counter += 1;
        }
        self.buffer.extend_from_slice(&block);
    }

    /// A number below `bound`; zero if the bound is zero.
    pub fn below(&mut self, bound: u64) -> u64 {
        if bound == 0 {
            return 0;
        }
        // Throw away the numbers past the last full multiple, so that all results are equally likely.
        let limit = u64::MAX - u64::MAX % bound;
        loop {
            let mut bytes = [0; 8];
            self.fill(&mut bytes);
            let number = u64::from_be_bytes(bytes);
            if number < limit {
                return number % bound;
            }
        }
    }

    /// `count` characters out of `alphabet`.
    pub fn text(&mut self, count: usize, alphabet: &[u8]) -> String {
        (0..count)
            .filter_map(|_| {
                let index = usize::try_from(self.below(alphabet.len() as u64)).ok()?;
                alphabet.get(index).map(|byte| char::from(*byte))
            })
            .collect()
    }
}
