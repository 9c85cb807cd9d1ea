//! The list of all programs. Each program has a directory in `corpus/`, which it shares with its
//! repaired version.

use crate::entry::Entry;

pub(crate) const ALL: &[Entry] = &[
    aba_pointer::ENTRY,
    aba_pointer::FIXED,
    aba_treiber::ENTRY,
    aba_treiber::FIXED,
    abba_deadlock::ENTRY,
    abba_deadlock::FIXED,
    accumulator::ENTRY,
    assume_order::ENTRY,
    async_mutex::ENTRY,
    async_mutex::FIXED,
    barrier_reuse::ENTRY,
    barrier_reuse::FIXED,
    bounded_buffer::ENTRY,
    casrot::ENTRY,
    casw::ENTRY,
    channel_order::ENTRY,
    channel_order::FIXED,
    choices::ENTRY,
    circular_buffer::ENTRY,
    dekker::ENTRY,
    dekker::FIXED,
    dining_philosophers::ENTRY,
    dining_philosophers::FIXED,
    distributed_lock::ENTRY,
    double_checked_lock::ENTRY,
    double_checked_lock::FIXED,
    double_registration::ENTRY,
    double_registration::FIXED,
    expmem::ENTRY,
    failing_try_lock::ENTRY,
    failing_try_read::ENTRY,
    fib_bench::ENTRY,
    fibonacci::ENTRY,
    filesystem::ENTRY,
    floating_read::ENTRY,
    gossip::ENTRY,
    hang_up::ENTRY,
    hang_up::FIXED,
    if_wait::ENTRY,
    if_wait::FIXED,
    incr::ENTRY,
    indexer::ENTRY,
    init_twice::ENTRY,
    init_twice::FIXED,
    lastwrite::ENTRY,
    lastzero::ENTRY,
    lastzero_actors::ENTRY,
    leader_election::ENTRY,
    leader_election::FIXED,
    length::ENTRY,
    linuxrwlocks::ENTRY,
    load_load_store::ENTRY,
    lock_server::ENTRY,
    lock_server::FIXED,
    lost_update::ENTRY,
    lost_update::FIXED,
    mergesort::ENTRY,
    missed_wakeup::ENTRY,
    missed_wakeup::FIXED,
    mutex::ENTRY,
    name_race::ENTRY,
    name_race::FIXED,
    once_lock::ENTRY,
    once_lock::FIXED,
    overdraft::ENTRY,
    overdraft::FIXED,
    park_token::ENTRY,
    park_token::FIXED,
    parts_by_arrival::ENTRY,
    parts_by_arrival::FIXED,
    peterson::ENTRY,
    peterson::FIXED,
    poison::ENTRY,
    poison::FIXED,
    put_take::ENTRY,
    quicksort::ENTRY,
    readers::ENTRY,
    readers_actors::ENTRY,
    reference_count::ENTRY,
    reference_count::FIXED,
    registration::ENTRY,
    relock::ENTRY,
    relock::FIXED,
    rendezvous::ENTRY,
    rendezvous::FIXED,
    ring_buffer::ENTRY,
    ring_buffer::FIXED,
    rush_hour::ENTRY,
    search_twice::ENTRY,
    search_twice::FIXED,
    select_cancel::ENTRY,
    select_cancel::FIXED,
    semaphore_deadlock::ENTRY,
    semaphore_deadlock::FIXED,
    semaphore_permits::ENTRY,
    semaphore_permits::FIXED,
    seqlock::ENTRY,
    seqlock::FIXED,
    sigma::ENTRY,
    spin_forever::ENTRY,
    spin_forever::FIXED,
    spin_lock::ENTRY,
    spin_lock::FIXED,
    stale_check::ENTRY,
    stale_check::FIXED,
    stale_lock::ENTRY,
    stale_lock::FIXED,
    store_buffer::ENTRY,
    succeeding_try_receive::ENTRY,
    supervisor::ENTRY,
    supervisor::FIXED,
    three_tasks::ENTRY,
    ticket_lock::ENTRY,
    ticket_lock::FIXED,
    timed_receive::ENTRY,
    timed_receive::FIXED,
    torn_publish::ENTRY,
    torn_publish::FIXED,
    try_lock::ENTRY,
    try_lock::FIXED,
    two_fives::ENTRY,
    two_phase_commit::ENTRY,
    two_phase_commit::FIXED,
    unregister_race::ENTRY,
    unregister_race::FIXED,
    upgrade_deadlock::ENTRY,
    upgrade_deadlock::FIXED,
    weak_arc::ENTRY,
    weak_arc::FIXED,
    weak_chase_lev::ENTRY,
    weak_chase_lev::FIXED,
    weak_dekker::ENTRY,
    weak_dekker::FIXED,
    weak_lazy_init::ENTRY,
    weak_lazy_init::FIXED,
    weak_michael_scott_queue::ENTRY,
    weak_michael_scott_queue::FIXED,
    weak_peterson::ENTRY,
    weak_peterson::FIXED,
    weak_read_copy_update::ENTRY,
    weak_read_copy_update::FIXED,
    weak_ring_buffer::ENTRY,
    weak_ring_buffer::FIXED,
    weak_seqlock::ENTRY,
    weak_seqlock::FIXED,
    weak_spin_lock::ENTRY,
    weak_spin_lock::FIXED,
    weak_treiber_stack::ENTRY,
    weak_treiber_stack::FIXED,
    work_stealing::ENTRY,
    work_stealing::FIXED,
    worker_pool::ENTRY,
    worker_pool::FIXED,
    wrong_notify::ENTRY,
    wrong_notify::FIXED,
];

#[path = "../programs/aba-pointer/program.rs"]
mod aba_pointer;
#[path = "../programs/aba-treiber/program.rs"]
mod aba_treiber;
#[path = "../programs/abba-deadlock/program.rs"]
mod abba_deadlock;
#[path = "../programs/accumulator/program.rs"]
mod accumulator;
#[path = "../programs/assume-order/program.rs"]
mod assume_order;
#[path = "../programs/async-mutex/program.rs"]
mod async_mutex;
#[path = "../programs/barrier-reuse/program.rs"]
mod barrier_reuse;
#[path = "../programs/bounded-buffer/program.rs"]
mod bounded_buffer;
#[path = "../programs/casrot/program.rs"]
mod casrot;
#[path = "../programs/casw/program.rs"]
mod casw;
#[path = "../programs/channel-order/program.rs"]
mod channel_order;
#[path = "../programs/choices/program.rs"]
mod choices;
#[path = "../programs/circular-buffer/program.rs"]
mod circular_buffer;
#[path = "../programs/dekker/program.rs"]
mod dekker;
#[path = "../programs/dining-philosophers/program.rs"]
mod dining_philosophers;
#[path = "../programs/distributed-lock/program.rs"]
mod distributed_lock;
#[path = "../programs/double-checked-lock/program.rs"]
mod double_checked_lock;
#[path = "../programs/double-registration/program.rs"]
mod double_registration;
#[path = "../programs/expmem/program.rs"]
mod expmem;
#[path = "../programs/failing-try-lock/program.rs"]
mod failing_try_lock;
#[path = "../programs/failing-try-read/program.rs"]
mod failing_try_read;
#[path = "../programs/fib-bench/program.rs"]
mod fib_bench;
#[path = "../programs/fibonacci/program.rs"]
mod fibonacci;
#[path = "../programs/filesystem/program.rs"]
mod filesystem;
#[path = "../programs/floating-read/program.rs"]
mod floating_read;
#[path = "../programs/gossip/program.rs"]
mod gossip;
#[path = "../programs/hang-up/program.rs"]
mod hang_up;
#[path = "../programs/if-wait/program.rs"]
mod if_wait;
#[path = "../programs/incr/program.rs"]
mod incr;
#[path = "../programs/indexer/program.rs"]
mod indexer;
#[path = "../programs/init-twice/program.rs"]
mod init_twice;
#[path = "../programs/lastwrite/program.rs"]
mod lastwrite;
#[path = "../programs/lastzero/program.rs"]
mod lastzero;
#[path = "../programs/lastzero-actors/program.rs"]
mod lastzero_actors;
#[path = "../programs/leader-election/program.rs"]
mod leader_election;
#[path = "../programs/length/program.rs"]
mod length;
#[path = "../programs/linuxrwlocks/program.rs"]
mod linuxrwlocks;
#[path = "../programs/load-load-store/program.rs"]
mod load_load_store;
#[path = "../programs/lock-server/program.rs"]
mod lock_server;
#[path = "../programs/lost-update/program.rs"]
mod lost_update;
#[path = "../programs/mergesort/program.rs"]
mod mergesort;
#[path = "../programs/missed-wakeup/program.rs"]
mod missed_wakeup;
#[path = "../programs/mutex/program.rs"]
mod mutex;
#[path = "../programs/name-race/program.rs"]
mod name_race;
#[path = "../programs/once-lock/program.rs"]
mod once_lock;
#[path = "../programs/overdraft/program.rs"]
mod overdraft;
#[path = "../programs/park-token/program.rs"]
mod park_token;
#[path = "../programs/parts-by-arrival/program.rs"]
mod parts_by_arrival;
#[path = "../programs/peterson/program.rs"]
mod peterson;
#[path = "../programs/poison/program.rs"]
mod poison;
#[path = "../programs/put-take/program.rs"]
mod put_take;
#[path = "../programs/quicksort/program.rs"]
mod quicksort;
#[path = "../programs/readers/program.rs"]
mod readers;
#[path = "../programs/readers-actors/program.rs"]
mod readers_actors;
#[path = "../programs/reference-count/program.rs"]
mod reference_count;
#[path = "../programs/registration/program.rs"]
mod registration;
#[path = "../programs/relock/program.rs"]
mod relock;
#[path = "../programs/rendezvous/program.rs"]
mod rendezvous;
#[path = "../programs/ring-buffer/program.rs"]
mod ring_buffer;
#[path = "../programs/rush-hour/program.rs"]
mod rush_hour;
#[path = "../programs/search-twice/program.rs"]
mod search_twice;
#[path = "../programs/select-cancel/program.rs"]
mod select_cancel;
#[path = "../programs/semaphore-deadlock/program.rs"]
mod semaphore_deadlock;
#[path = "../programs/semaphore-permits/program.rs"]
mod semaphore_permits;
#[path = "../programs/seqlock/program.rs"]
mod seqlock;
#[path = "../programs/sigma/program.rs"]
mod sigma;
#[path = "../programs/spin-forever/program.rs"]
mod spin_forever;
#[path = "../programs/spin-lock/program.rs"]
mod spin_lock;
#[path = "../programs/stale-check/program.rs"]
mod stale_check;
#[path = "../programs/stale-lock/program.rs"]
mod stale_lock;
#[path = "../programs/store-buffer/program.rs"]
mod store_buffer;
#[path = "../programs/succeeding-try-receive/program.rs"]
mod succeeding_try_receive;
#[path = "../programs/supervisor/program.rs"]
mod supervisor;
#[path = "../programs/three-tasks/program.rs"]
mod three_tasks;
#[path = "../programs/ticket-lock/program.rs"]
mod ticket_lock;
#[path = "../programs/timed-receive/program.rs"]
mod timed_receive;
#[path = "../programs/torn-publish/program.rs"]
mod torn_publish;
#[path = "../programs/try-lock/program.rs"]
mod try_lock;
#[path = "../programs/two-fives/program.rs"]
mod two_fives;
#[path = "../programs/two-phase-commit/program.rs"]
mod two_phase_commit;
#[path = "../programs/unregister-race/program.rs"]
mod unregister_race;
#[path = "../programs/upgrade-deadlock/program.rs"]
mod upgrade_deadlock;
#[path = "../programs/weak-arc/program.rs"]
mod weak_arc;
#[path = "../programs/weak-chase-lev/program.rs"]
mod weak_chase_lev;
#[path = "../programs/weak-dekker/program.rs"]
mod weak_dekker;
#[path = "../programs/weak-lazy-init/program.rs"]
mod weak_lazy_init;
#[path = "../programs/weak-michael-scott-queue/program.rs"]
mod weak_michael_scott_queue;
#[path = "../programs/weak-peterson/program.rs"]
mod weak_peterson;
#[path = "../programs/weak-read-copy-update/program.rs"]
mod weak_read_copy_update;
#[path = "../programs/weak-ring-buffer/program.rs"]
mod weak_ring_buffer;
#[path = "../programs/weak-seqlock/program.rs"]
mod weak_seqlock;
#[path = "../programs/weak-spin-lock/program.rs"]
mod weak_spin_lock;
#[path = "../programs/weak-treiber-stack/program.rs"]
mod weak_treiber_stack;
#[path = "../programs/work-stealing/program.rs"]
mod work_stealing;
#[path = "../programs/worker-pool/program.rs"]
mod worker_pool;
#[path = "../programs/wrong-notify/program.rs"]
mod wrong_notify;
