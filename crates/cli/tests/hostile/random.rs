//! Random changes to files, reproducible from a seed.

/// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ (bits >> 31)) % bound.max(1) as u64) as usize
    }
}

/// Returns a fixed seed and a fresh one, which is printed.
pub fn seeds() -> [u64; 2] {
    let now = std::time::SystemTime::now();
    let since = now.duration_since(std::time::UNIX_EPOCH);
    let fresh = since.map_or(1, |since| since.as_nanos() as u64);
    println!("fresh seed: {fresh}");
    [1, fresh]
}

/// Returns a random range of at most `most` bytes.
fn part(random: &mut Random, length: usize, most: usize) -> std::ops::Range<usize> {
    let start = random.below(length);
    start..(start + 1 + random.below(most)).min(length)
}

/// Changes bytes in one to four ways.
pub fn mutate(random: &mut Random, bytes: &mut Vec<u8>) {
    for _ in 0..=random.below(4) {
        if bytes.is_empty() {
            return;
        }
        let at = random.below(bytes.len());
        match random.below(8) {
            0 => bytes[at] ^= 1 << random.below(8),
            1 => bytes[at] = random.below(256) as u8,
            2 => bytes[at] = [0, 1, 0x7f, 0x80, 0xff][random.below(5)],
            3 => drop(bytes.drain(part(random, bytes.len(), 8))),
            4 => {
                let copy = bytes[part(random, bytes.len(), 40)].to_vec();
                bytes.splice(at..at, copy);
            }
            5 => bytes.truncate(at),
            // The largest numbers of 32 and 64 bits.
            6 => drop(bytes.splice(at..=at, [0xff, 0xff, 0xff, 0xff, 0x0f])),
            _ => drop(bytes.splice(at..=at, [[0xff; 9].as_slice(), &[0x01]].concat())),
        }
    }
}
