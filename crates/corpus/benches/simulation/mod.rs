//! A discrete-event simulation of workers that share a measured search and communicate through a
//! message server.

use mazurka::Measured;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};

/// Constants of `mazurka worker`: the shortest and the longest duration of a slice in seconds, the
/// longest duration while there are few workers, and the number of results taken at once.
const SHORT: f64 = 0.1;
const LONG: f64 = 60.0;
const USUAL: f64 = 0.5;
const AT_ONCE: usize = 256;

/// Interval at which the leader measures how busy it is, in seconds.
const BEAT: f64 = 1.0;

/// The leader's time per slice is estimated as the shortest time measured so far, because a result
/// takes longer if few results are taken at once. With each measurement, the estimate may grow by
/// this factor.
const GROWTH: f64 = 1.01;

/// Fraction of the elapsed time that a slice may take, within the limits above.
const PART: f64 = 1.0 / 40.0;

/// Duration of the first slice, in which the strategy learns its heuristics, in seconds.
const LEARNING: f64 = 1.0;

/// Time that the leader needs per slice, besides waiting for the server, in seconds.
const LEADING: f64 = 100e-6;

/// Messages that the server forwards when a slice is given out. When the result of the slice is
/// taken, the server forwards as many messages again.
const MESSAGES: f64 = 4.0;

/// A measured search: a tree of small slices (items).
pub struct Search {
    items: Vec<Item>,
    children: Vec<Vec<u32>>,
    executions: f64,
    /// Time that a slice takes in addition to its executions, in seconds.
    overhead: f64,
}

/// A measured slice.
struct Item {
    executions: f64,
    share: f64,
}

/// The workers and the server that connects them.
pub struct Cluster {
    workers: usize,
    latency: f64,
    /// Number of messages per second that the server can forward.
    server: f64,
}

/// The result of a simulation.
pub struct Outcome {
    /// The time of one worker without a server, divided by the sum of the times of all workers.
    pub efficiency: f64,
    pub wall_s: f64,
    /// The greatest duration that was allowed for a slice.
    pub slice_s: f64,
    pub messages: f64,
    /// Time during which the leader was busy.
    pub leading_s: f64,
}

impl Search {
    pub fn of(slices: &[Measured]) -> Search {
        let mut children = vec![Vec::new(); slices.len()];
        for (index, slice) in slices.iter().enumerate() {
            if let Some(parent) = slice.parent {
                children[parent].push(index as u32);
            }
        }
        let executions: u64 = slices.iter().map(|slice| slice.executions).sum();
        // A measured slice has so few executions that it consists almost only of overhead.
        let mut least: Vec<f64> = slices.iter().map(|slice| slice.took_s).collect();
        least.sort_by(f64::total_cmp);
        Search {
            items: slices
                .iter()
                .map(|slice| Item {
                    executions: slice.executions as f64,
                    share: slice.share,
                })
                .collect(),
            children,
            executions: executions as f64,
            overhead: least[least.len() / 2],
        }
    }
}

impl Cluster {
    /// Creates workers that have this latency to a server that forwards 20,000 messages per second.
    pub fn of(workers: usize, latency: f64) -> Cluster {
        Cluster {
            workers,
            latency,
            server: 20_000.0,
        }
    }
}

/// A part of the search: its remaining items, the oldest first.
#[derive(Default)]
struct Part(VecDeque<u32>);

/// A slice that was given out.
struct Slice {
    part: Part,
    budget: f64,
    /// Number of parts to give away.
    wanted: usize,
}

enum Event {
    /// A slice arrives at the server.
    Given(Slice),
    /// A worker begins a slice.
    Begun(Slice),
    /// A worker has delivered a result and asks for the next slice.
    Asked,
    /// A result arrives at the server: the remaining parts.
    Brought(Vec<Part>),
    /// The leader checks for results.
    Look,
}

/// Simulates the search with slower executions, which take this number of seconds altogether.
pub fn simulate(search: &Search, seconds: f64, cluster: &Cluster) -> Outcome {
    let mut simulation = Simulation {
        search,
        cluster,
        scale: seconds / search.executions,
        now: 0.0,
        number: 0,
        events: BinaryHeap::new(),
        pending: HashMap::new(),
        free: None,
        server_free: 0.0,
        idle: cluster.workers,
        queue: VecDeque::new(),
        results: VecDeque::new(),
        waiting: BinaryHeap::new(),
        given: 0,
        longest: USUAL,
        each: 0.0,
        busy: 0.0,
        taken: 0.0,
        beaten: 0.0,
        outcome: Outcome {
            efficiency: 0.0,
            wall_s: 0.0,
            slice_s: SHORT,
            messages: 0.0,
            leading_s: 0.0,
        },
    };
    simulation.wait_for(Part(VecDeque::from([0])));
    simulation.at(0.0, Event::Look);
    simulation.run();
    let mut outcome = simulation.outcome;
    outcome.wall_s = simulation.now;
    outcome.efficiency = seconds / (cluster.workers as f64 * outcome.wall_s);
    outcome
}

struct Simulation<'s> {
    search: &'s Search,
    cluster: &'s Cluster,
    /// Duration of one simulated execution, in seconds.
    scale: f64,
    now: f64,
    number: u64,
    /// The times (in nanoseconds) and the numbers of the pending events.
    events: BinaryHeap<Reverse<(u64, u64)>>,
    pending: HashMap<u64, Event>,
    /// The time from which the leader can check for results; `None` if the next check is scheduled.
    free: Option<f64>,
    /// The time at which the server has forwarded all its messages.
    server_free: f64,
    /// Number of workers that wait for a slice.
    idle: usize,
    /// Slices at the server.
    queue: VecDeque<Slice>,
    /// Results at the server.
    results: VecDeque<Vec<Part>>,
    /// Parts that wait at the leader, ordered by their shares.
    waiting: BinaryHeap<(u64, Reverse<u64>, WaitingPart)>,
    /// Number of slices that are given out and not delivered yet.
    given: usize,
    /// The greatest duration that a slice may have now, in seconds.
    longest: f64,
    /// Time that the leader needs per slice, in seconds.
    each: f64,
    /// The time for which the leader has been busy since its last measurement.
    busy: f64,
    /// The number of results since the last measurement.
    taken: f64,
    /// The time of the last measurement.
    beaten: f64,
    outcome: Outcome,
}

/// A part in a heap whose order does not depend on the part.
struct WaitingPart(Part);

impl PartialEq for WaitingPart {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for WaitingPart {}

impl PartialOrd for WaitingPart {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for WaitingPart {
    fn cmp(&self, _: &Self) -> std::cmp::Ordering {
        std::cmp::Ordering::Equal
    }
}

impl Simulation<'_> {
    fn at(&mut self, time: f64, event: Event) {
        self.number += 1;
        self.pending.insert(self.number, event);
        let time = (time * 1e9) as u64;
        self.events.push(Reverse((time, self.number)));
    }

    fn run(&mut self) {
        while let Some(Reverse((time, number))) = self.events.pop() {
            self.now = time as f64 / 1e9;
            let event = self.pending.remove(&number);
            match event.expect("an event happens once") {
                Event::Given(slice) => {
                    self.queue.push_back(slice);
                    self.hand_out();
                }
                Event::Asked => {
                    self.idle += 1;
                    self.hand_out();
                }
                Event::Begun(slice) => self.work(slice),
                Event::Brought(parts) => {
                    self.results.push_back(parts);
                    if let Some(free) = self.free.take() {
                        self.at(free.max(self.now), Event::Look);
                    }
                }
                Event::Look => self.lead(),
            }
            if self.given == 0 && self.waiting.is_empty() {
                return;
            }
        }
        unreachable!("the search ends when nothing is left");
    }

    /// Returns the time at which the server will have forwarded the messages of a slice or result
    /// that arrives now.
    fn pass(&mut self) -> f64 {
        self.outcome.messages += MESSAGES;
        self.server_free = self.server_free.max(self.now) + MESSAGES / self.cluster.server;
        self.server_free
    }

    fn hand_out(&mut self) {
        while self.idle > 0
            && let Some(slice) = self.queue.pop_front()
        {
            self.idle -= 1;
            let passed = self.pass();
            self.at(passed + self.cluster.latency, Event::Begun(slice));
        }
    }

    /// Simulates the work of a worker on a slice. The items are processed depth first.
    fn work(&mut self, slice: Slice) {
        let Slice {
            mut part,
            budget,
            wanted,
        } = slice;
        let mut took = self.search.overhead;
        let mut done = 0.0;
        while done < budget
            && let Some(item) = part.0.pop_back()
        {
            done += match item {
                0 => LEARNING,
                _ => self.search.items[item as usize].executions * self.scale,
            };
            part.0.extend(&self.search.children[item as usize]);
        }
        took += done;
        let mut left = Vec::new();
        while left.len() < wanted && part.0.len() > 1 {
            let oldest = part.0.pop_front().into_iter().collect();
            left.push(Part(oldest));
        }
        if !part.0.is_empty() {
            left.push(part);
        }
        let latency = self.cluster.latency;
        let brought = self.now + took + latency;
        self.at(brought, Event::Brought(left));
        // The server confirms the result before the worker asks for the next slice.
        self.at(brought + 2.0 * latency, Event::Asked);
    }

    /// Takes the results at the server and gives out the slices that are needed.
    fn lead(&mut self) {
        let latency = self.cluster.latency;
        let taken = self.results.len().min(AT_ONCE);
        let now = self.now;
        let passed = (0..taken).map(|_| self.pass()).fold(now, f64::max);
        let taken: Vec<Vec<Part>> = self.results.drain(..taken).collect();
        let count = taken.len();
        self.given -= count;
        for part in taken.into_iter().flatten() {
            self.wait_for(part);
        }
        let slices = self.slices();
        let busy = LEADING * count.max(slices.len()) as f64;
        // One way for the request, one for the results.
        let ready = passed + 2.0 * latency + busy;
        let confirmed = match slices.is_empty() {
            true => ready,
            false => ready + 2.0 * latency,
        };
        self.busy += confirmed - ready + busy;
        self.taken += count as f64;
        if self.now >= self.beaten + BEAT {
            if self.taken > 0.0 {
                let each = self.busy / self.taken;
                self.each = match self.each > 0.0 {
                    true => each.min(self.each * GROWTH),
                    false => each,
                };
            }
            let jobs = self.cluster.workers as f64;
            self.longest = (8.0 * self.each * jobs).clamp(USUAL, LONG);
            self.outcome.slice_s = self.outcome.slice_s.max(self.longest);
            (self.busy, self.taken, self.beaten) = (0.0, 0.0, self.now);
        }
        self.outcome.leading_s += confirmed - ready + busy;
        for slice in slices {
            self.at(ready + latency, Event::Given(slice));
        }
        match self.results.is_empty() {
            true => self.free = Some(confirmed),
            false => self.at(confirmed, Event::Look),
        }
    }

    /// Returns the slices to give out now.
    fn slices(&mut self) -> Vec<Slice> {
        let workers = self.cluster.workers;
        let most = workers + workers / 2 + 1;
        let mut slices = Vec::new();
        while self.given < most
            && let Some((_, _, WaitingPart(part))) = self.waiting.pop()
        {
            self.given += 1;
            let short = (4.0 * self.each * self.given as f64).clamp(SHORT, LONG);
            let usual = (self.now * PART).clamp(short, self.longest.max(short));
            let is_short = self.waiting.len() + 1 < workers;
            slices.push(Slice {
                part,
                budget: if is_short { short } else { usual },
                wanted: match workers {
                    1 => 0,
                    _ => (2 * workers).saturating_sub(self.waiting.len()),
                },
            });
        }
        slices
    }

    fn wait_for(&mut self, part: Part) {
        let share: f64 = part
            .0
            .iter()
            .map(|item| self.search.items[*item as usize].share)
            .sum();
        self.number += 1;
        let key = (share * 1e15) as u64;
        self.waiting
            .push((key, Reverse(self.number), WaitingPart(part)));
    }
}
