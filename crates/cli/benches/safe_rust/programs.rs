//! Programs with the types of `std`, or of a library with the same names.

/// Defines the programs with the types of this library.
macro_rules! programs {
    ($library:ident) => {
        use $library::sync::atomic::{AtomicU32, Ordering::SeqCst};
        use $library::sync::{Arc, Mutex, RwLock, mpsc};
        use $library::thread;

        /// Returns the program of this name.
        pub fn find(name: &str) -> Option<fn()> {
            let program = match name {
                "lastzero" => lastzero,
                "indexer" => indexer,
                "transfers" => transfers,
                "pipeline" => pipeline,
                "cache" => cache,
                _ => return None,
            };
            Some(program)
        }

        /// One thread searches an array for a zero, sixteen fill the array (Abdulla et al., POPL
        /// 2014).
        fn lastzero() {
            const SIZE: usize = 16;
            let array: Arc<[AtomicU32; SIZE + 1]> = Arc::default();
            let shared = Arc::clone(&array);
            let reader = thread::spawn(move || {
                let place = (0..=SIZE)
                    .rev()
                    .find(|&place| shared[place].load(SeqCst) == 0);
                assert!(place.is_some());
            });
            let writers: Vec<_> = (1..=SIZE)
                .map(|place| {
                    let array = Arc::clone(&array);
                    thread::spawn(move || {
                        array[place].store(array[place - 1].load(SeqCst) + 1, SeqCst);
                    })
                })
                .collect();
            reader.join().unwrap();
            for writer in writers {
                writer.join().unwrap();
            }
        }

        /// Fifteen threads insert four keys each into a table (Flanagan, Godefroid, POPL 2005).
        fn indexer() {
            const PLACES: u32 = 128;
            let table: Arc<[AtomicU32; PLACES as usize]> =
                Arc::new(std::array::from_fn(|_| AtomicU32::new(0)));
            let threads: Vec<_> = (0..15)
                .map(|number| {
                    let table = Arc::clone(&table);
                    thread::spawn(move || {
                        for key in (1..=4).map(|message| message * 11 + number) {
                            let mut place = key * 7 % PLACES;
                            let insert = |place| {
                                let place: &AtomicU32 = &table[place as usize];
                                place.compare_exchange(0, key, SeqCst, SeqCst)
                            };
                            while insert(place).is_err() {
                                place = (place + 1) % PLACES;
                            }
                        }
                    })
                })
                .collect();
            for thread in threads {
                thread.join().unwrap();
            }
        }

        /// Three threads move money between two accounts, each of which has a lock.
        fn transfers() {
            let accounts = Arc::new([100, 100].map(Mutex::new));
            let threads: Vec<_> = (0..3)
                .map(|number| {
                    let accounts = Arc::clone(&accounts);
                    thread::spawn(move || {
                        *accounts[number % 2].lock().unwrap() -= 10;
                        *accounts[(number + 1) % 2].lock().unwrap() += 10;
                    })
                })
                .collect();
            for thread in threads {
                thread.join().unwrap();
            }
            let sum: i32 = accounts
                .iter()
                .map(|account| *account.lock().unwrap())
                .sum();
            assert_eq!(sum, 200);
        }

        /// A thread squares the numbers that another thread sends, and sends the squares on.
        fn pipeline() {
            let (numbers, receiver) = mpsc::sync_channel(2);
            let (squares, results) = mpsc::sync_channel(2);
            let producer = thread::spawn(move || {
                (1..=4).for_each(|number: u32| numbers.send(number).unwrap());
            });
            let worker = thread::spawn(move || {
                receiver
                    .iter()
                    .for_each(|number: u32| squares.send(number * number).unwrap());
            });
            assert_eq!(results.iter().sum::<u32>(), 30);
            producer.join().unwrap();
            worker.join().unwrap();
        }

        /// A thread fills a table that three others read.
        fn cache() {
            let table = Arc::new(RwLock::new(Vec::new()));
            let shared = Arc::clone(&table);
            let writer = thread::spawn(move || shared.write().unwrap().extend(0..8));
            let readers: Vec<_> = (0..3)
                .map(|_| {
                    let table = Arc::clone(&table);
                    thread::spawn(move || table.read().unwrap().iter().sum::<u32>())
                })
                .collect();
            writer.join().unwrap();
            for reader in readers {
                assert!([0, 28].contains(&reader.join().unwrap()));
            }
        }
    };
}

/// The programs without Mazurka.
pub mod plain {
    programs!(std);
}

/// The programs with the types of Mazurka, for verification and for runs under the safe trace.
pub mod hooked {
    programs!(mazurka);
}
