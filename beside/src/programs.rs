//! The programs that are checked. The macro defines them once, and each module contains all of them
//! with the types of one library.

macro_rules! programs {
    ($module:ident, $library:ident) => {
        pub mod $module {
            use std::sync::Arc;
            use $library::sync::Mutex;
            use $library::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering::SeqCst};
            use $library::thread::{self, JoinHandle};

            fn join(threads: Vec<JoinHandle<()>>) {
                for thread in threads {
                    thread.join().unwrap();
                }
            }

            fn zeros(n: usize) -> Arc<Vec<AtomicU32>> {
                Arc::new((0..n).map(|_| AtomicU32::new(0)).collect())
            }

            /// One thread writes a variable, and n threads read it.
            pub fn readers(n: usize) {
                let x = Arc::new(AtomicU32::new(0));
                let own = zeros(n);
                let mut threads = Vec::new();
                let written = Arc::clone(&x);
                threads.push(thread::spawn(move || written.store(1, SeqCst)));
                for index in 0..n {
                    let (x, own) = (Arc::clone(&x), Arc::clone(&own));
                    threads.push(thread::spawn(move || {
                        own[index].load(SeqCst);
                        x.load(SeqCst);
                    }));
                }
                join(threads);
            }

            /// Each of n threads writes an element of an array, and one thread searches for the
            /// last zero.
            pub fn lastzero(n: usize) {
                let array = zeros(n + 1);
                let mut threads = Vec::new();
                let places = Arc::clone(&array);
                threads.push(thread::spawn(move || {
                    places
                        .iter()
                        .rev()
                        .position(|place| place.load(SeqCst) == 0);
                }));
                for index in 0..n {
                    let array = Arc::clone(&array);
                    threads.push(thread::spawn(move || {
                        array[index + 1].store(array[index].load(SeqCst) + 1, SeqCst);
                    }));
                }
                join(threads);
            }

            /// Each thread increments a counter n times, under a lock.
            pub fn mutex(threads: u32, n: u32) {
                let shared = Arc::new((Mutex::new(()), AtomicU32::new(0)));
                let all = (0..threads).map(|_| {
                    let shared = Arc::clone(&shared);
                    thread::spawn(move || {
                        for _ in 0..n {
                            let _guard = shared.0.lock().unwrap();
                            shared.1.store(shared.1.load(SeqCst) + 1, SeqCst);
                        }
                    })
                });
                join(all.collect());
                assert_eq!(shared.1.load(SeqCst), threads * n);
            }

            /// Each thread inserts four keys into a hash table.
            pub fn indexer(threads: u32) {
                const PLACES: usize = 128;
                let table = zeros(PLACES);
                let all = (0..threads).map(|thread| {
                    let table = Arc::clone(&table);
                    thread::spawn(move || {
                        for message in 1..=4 {
                            let key = message * 11 + thread;
                            let mut hash = (key as usize * 7) % PLACES;
                            while table[hash]
                                .compare_exchange(0, key, SeqCst, SeqCst)
                                .is_err()
                            {
                                hash = (hash + 1) % PLACES;
                            }
                        }
                    })
                });
                join(all.collect());
            }

            struct Disk {
                inode_locks: Vec<Mutex<()>>,
                block_locks: Vec<Mutex<()>>,
                inodes: Vec<AtomicUsize>,
                busy: Vec<AtomicBool>,
            }

            /// Each thread creates a file: it takes an inode and a free block, under locks.
            pub fn filesystem(threads: usize) {
                const INODES: usize = 32;
                const BLOCKS: usize = 26;
                let disk = Arc::new(Disk {
                    inode_locks: (0..INODES).map(|_| Mutex::new(())).collect(),
                    block_locks: (0..BLOCKS).map(|_| Mutex::new(())).collect(),
                    inodes: (0..INODES).map(|_| AtomicUsize::new(0)).collect(),
                    busy: (0..BLOCKS).map(|_| AtomicBool::new(false)).collect(),
                });
                let all = (0..threads).map(|thread| {
                    let disk = Arc::clone(&disk);
                    thread::spawn(move || {
                        let inode = thread % INODES;
                        let _inode = disk.inode_locks[inode].lock().unwrap();
                        if disk.inodes[inode].load(SeqCst) != 0 {
                            return;
                        }
                        let mut block = (inode * 2) % BLOCKS;
                        loop {
                            let _block = disk.block_locks[block].lock().unwrap();
                            if !disk.busy[block].load(SeqCst) {
                                disk.busy[block].store(true, SeqCst);
                                disk.inodes[inode].store(block + 1, SeqCst);
                                return;
                            }
                            block = (block + 1) % BLOCKS;
                        }
                    })
                });
                join(all.collect());
            }

            /// Some threads push and others pop, on a Treiber stack. A node is an index into an
            /// array; 0 means no node.
            pub fn treiber(pushers: usize, poppers: usize) {
                let head = Arc::new(AtomicUsize::new(0));
                let next = zeros(pushers + 1);
                let mut threads = Vec::new();
                for node in 1..=pushers {
                    let (head, next) = (Arc::clone(&head), Arc::clone(&next));
                    threads.push(thread::spawn(move || {
                        let mut old = head.load(SeqCst);
                        loop {
                            next[node].store(old as u32, SeqCst);
                            match head.compare_exchange(old, node, SeqCst, SeqCst) {
                                Ok(_) => return,
                                Err(found) => old = found,
                            }
                        }
                    }));
                }
                for _ in 0..poppers {
                    let (head, next) = (Arc::clone(&head), Arc::clone(&next));
                    threads.push(thread::spawn(move || {
                        let mut old = head.load(SeqCst);
                        while old != 0 {
                            let after = next[old].load(SeqCst) as usize;
                            match head.compare_exchange(old, after, SeqCst, SeqCst) {
                                Ok(_) => return,
                                Err(found) => old = found,
                            }
                        }
                    }));
                }
                join(threads);
            }
        }
    };
}

programs!(with_mazurka, mazurka);
programs!(with_loom, loom);
programs!(with_shuttle, shuttle);
