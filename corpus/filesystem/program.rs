//! filesystem(N): N threads create files. Each inode and each
//! block has a mutex (Flanagan and Godefroid, POPL 2005).

use crate::entry::{Entry, Parameter};
use mazurka::sync::Mutex;
use mazurka::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use mazurka::thread;
use std::array;

pub(crate) const ENTRY: Entry = Entry {
    name: "filesystem",
    about: "N threads take an inode each and search for a free block; each inode and block has a mutex",
    // One block for each of the first 26 threads. A further one would search forever.
    parameters: &[Parameter::new("N", 16, 1..=26)],
    body: |sizes| filesystem(sizes[0] as usize),
    expect: include_str!("expect.toml"),
};

const INODES: usize = 32;
const BLOCKS: usize = 26;

struct Disk {
    inode_locks: [Mutex<()>; INODES],
    block_locks: [Mutex<()>; BLOCKS],
    /// The inode's block plus one; 0 for none.
    inodes: [AtomicUsize; INODES],
    busy: [AtomicBool; BLOCKS],
}

fn filesystem(n: usize) {
    let disk = Disk {
        inode_locks: array::from_fn(|_| Mutex::new(())),
        block_locks: array::from_fn(|_| Mutex::new(())),
        inodes: array::from_fn(|_| AtomicUsize::new(0)),
        busy: array::from_fn(|_| AtomicBool::new(false)),
    };
    thread::scope(|scope| {
        for thread in 0..n {
            let disk = &disk;
            scope.spawn(move || disk.create(thread % INODES));
        }
    });
}

impl Disk {
    fn create(&self, inode: usize) {
        let _inode = self.inode_locks[inode].lock().unwrap();
        if self.inodes[inode].load(SeqCst) == 0 {
            let mut block = (inode * 2) % BLOCKS;
            while !self.take(block, inode) {
                block = (block + 1) % BLOCKS;
            }
        }
    }

    /// Assigns the block to the inode if the block is free. Returns whether it was free.
    fn take(&self, block: usize, inode: usize) -> bool {
        let _block = self.block_locks[block].lock().unwrap();
        let is_free = !self.busy[block].load(SeqCst);
        if is_free {
            self.busy[block].store(true, SeqCst);
            self.inodes[inode].store(block + 1, SeqCst);
        }
        is_free
    }
}
