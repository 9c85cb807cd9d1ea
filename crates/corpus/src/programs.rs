//! The list of all programs. Each is a directory of `corpus/`.

use crate::entry::Entry;

pub(crate) const ALL: &[Entry] = &[
    aba_pointer::ENTRY,
    aba_pointer_fixed::ENTRY,
    aba_treiber::ENTRY,
    aba_treiber_fixed::ENTRY,
    abba_deadlock::ENTRY,
    abba_deadlock_fixed::ENTRY,
    accumulator::ENTRY,
    assume_order::ENTRY,
    async_mutex::ENTRY,
    async_mutex_fixed::ENTRY,
    barrier_reuse::ENTRY,
    barrier_reuse_fixed::ENTRY,
    bounded_buffer::ENTRY,
    casrot::ENTRY,
    casw::ENTRY,
    channel_order::ENTRY,
    channel_order_fixed::ENTRY,
    choices::ENTRY,
    circular_buffer::ENTRY,
    dekker::ENTRY,
    dekker_fixed::ENTRY,
    dining_philosophers::ENTRY,
    dining_philosophers_fixed::ENTRY,
    distributed_lock::ENTRY,
    double_checked_lock::ENTRY,
    double_checked_lock_fixed::ENTRY,
    double_registration::ENTRY,
    double_registration_fixed::ENTRY,
    expmem::ENTRY,
    failing_try_lock::ENTRY,
    failing_try_read::ENTRY,
    fib_bench::ENTRY,
    fibonacci::ENTRY,
    filesystem::ENTRY,
    floating_read::ENTRY,
    gossip::ENTRY,
    hang_up::ENTRY,
    hang_up_fixed::ENTRY,
    if_wait::ENTRY,
    if_wait_fixed::ENTRY,
    incr::ENTRY,
    indexer::ENTRY,
    init_twice::ENTRY,
    init_twice_fixed::ENTRY,
    lastwrite::ENTRY,
    lastzero::ENTRY,
    lastzero_actors::ENTRY,
    leader_election::ENTRY,
    leader_election_fixed::ENTRY,
    length::ENTRY,
    linuxrwlocks::ENTRY,
    load_load_store::ENTRY,
    lock_server::ENTRY,
    lock_server_fixed::ENTRY,
    lost_update::ENTRY,
    lost_update_fixed::ENTRY,
    mergesort::ENTRY,
    missed_wakeup::ENTRY,
    missed_wakeup_fixed::ENTRY,
    mutex::ENTRY,
    name_race::ENTRY,
    name_race_fixed::ENTRY,
    once_lock::ENTRY,
    once_lock_fixed::ENTRY,
    overdraft::ENTRY,
    overdraft_fixed::ENTRY,
    park_token::ENTRY,
    park_token_fixed::ENTRY,
    parts_by_arrival::ENTRY,
    parts_by_arrival_fixed::ENTRY,
    peterson::ENTRY,
    peterson_fixed::ENTRY,
    poison::ENTRY,
    poison_fixed::ENTRY,
    published_cuts::ENTRY,
    put_take::ENTRY,
    quicksort::ENTRY,
    readers::ENTRY,
    readers_actors::ENTRY,
    reference_count::ENTRY,
    reference_count_fixed::ENTRY,
    registration::ENTRY,
    relock::ENTRY,
    relock_fixed::ENTRY,
    rendezvous::ENTRY,
    rendezvous_fixed::ENTRY,
    ring_buffer::ENTRY,
    ring_buffer_fixed::ENTRY,
    rush_hour::ENTRY,
    search_twice::ENTRY,
    search_twice_fixed::ENTRY,
    select_cancel::ENTRY,
    select_cancel_fixed::ENTRY,
    semaphore_deadlock::ENTRY,
    semaphore_deadlock_fixed::ENTRY,
    semaphore_permits::ENTRY,
    semaphore_permits_fixed::ENTRY,
    seqlock::ENTRY,
    seqlock_fixed::ENTRY,
    sigma::ENTRY,
    spin_forever::ENTRY,
    spin_forever_fixed::ENTRY,
    spin_lock::ENTRY,
    spin_lock_fixed::ENTRY,
    stale_check::ENTRY,
    stale_check_fixed::ENTRY,
    stale_lock::ENTRY,
    stale_lock_fixed::ENTRY,
    store_buffer::ENTRY,
    succeeding_try_receive::ENTRY,
    supervisor::ENTRY,
    supervisor_fixed::ENTRY,
    three_tasks::ENTRY,
    ticket_lock::ENTRY,
    ticket_lock_fixed::ENTRY,
    timed_receive::ENTRY,
    timed_receive_fixed::ENTRY,
    torn_publish::ENTRY,
    torn_publish_fixed::ENTRY,
    try_lock::ENTRY,
    try_lock_fixed::ENTRY,
    two_fives::ENTRY,
    two_phase_commit::ENTRY,
    two_phase_commit_fixed::ENTRY,
    unregister_race::ENTRY,
    unregister_race_fixed::ENTRY,
    upgrade_deadlock::ENTRY,
    upgrade_deadlock_fixed::ENTRY,
    work_stealing::ENTRY,
    work_stealing_fixed::ENTRY,
    worker_pool::ENTRY,
    worker_pool_fixed::ENTRY,
    wrong_notify::ENTRY,
    wrong_notify_fixed::ENTRY,
];

#[path = "../programs/aba-pointer/program.rs"]
mod aba_pointer;
#[path = "../programs/aba-pointer-fixed/program.rs"]
mod aba_pointer_fixed;
#[path = "../programs/aba-treiber/program.rs"]
mod aba_treiber;
#[path = "../programs/aba-treiber-fixed/program.rs"]
mod aba_treiber_fixed;
#[path = "../programs/abba-deadlock/program.rs"]
mod abba_deadlock;
#[path = "../programs/abba-deadlock-fixed/program.rs"]
mod abba_deadlock_fixed;
#[path = "../programs/accumulator/program.rs"]
mod accumulator;
#[path = "../programs/assume-order/program.rs"]
mod assume_order;
#[path = "../programs/async-mutex/program.rs"]
mod async_mutex;
#[path = "../programs/async-mutex-fixed/program.rs"]
mod async_mutex_fixed;
#[path = "../programs/barrier-reuse/program.rs"]
mod barrier_reuse;
#[path = "../programs/barrier-reuse-fixed/program.rs"]
mod barrier_reuse_fixed;
#[path = "../programs/bounded-buffer/program.rs"]
mod bounded_buffer;
#[path = "../programs/casrot/program.rs"]
mod casrot;
#[path = "../programs/casw/program.rs"]
mod casw;
#[path = "../programs/channel-order/program.rs"]
mod channel_order;
#[path = "../programs/channel-order-fixed/program.rs"]
mod channel_order_fixed;
#[path = "../programs/choices/program.rs"]
mod choices;
#[path = "../programs/circular-buffer/program.rs"]
mod circular_buffer;
#[path = "../programs/dekker/program.rs"]
mod dekker;
#[path = "../programs/dekker-fixed/program.rs"]
mod dekker_fixed;
#[path = "../programs/dining-philosophers/program.rs"]
mod dining_philosophers;
#[path = "../programs/dining-philosophers-fixed/program.rs"]
mod dining_philosophers_fixed;
#[path = "../programs/distributed-lock/program.rs"]
mod distributed_lock;
#[path = "../programs/double-checked-lock/program.rs"]
mod double_checked_lock;
#[path = "../programs/double-checked-lock-fixed/program.rs"]
mod double_checked_lock_fixed;
#[path = "../programs/double-registration/program.rs"]
mod double_registration;
#[path = "../programs/double-registration-fixed/program.rs"]
mod double_registration_fixed;
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
#[path = "../programs/hang-up-fixed/program.rs"]
mod hang_up_fixed;
#[path = "../programs/if-wait/program.rs"]
mod if_wait;
#[path = "../programs/if-wait-fixed/program.rs"]
mod if_wait_fixed;
#[path = "../programs/incr/program.rs"]
mod incr;
#[path = "../programs/indexer/program.rs"]
mod indexer;
#[path = "../programs/init-twice/program.rs"]
mod init_twice;
#[path = "../programs/init-twice-fixed/program.rs"]
mod init_twice_fixed;
#[path = "../programs/lastwrite/program.rs"]
mod lastwrite;
#[path = "../programs/lastzero/program.rs"]
mod lastzero;
#[path = "../programs/lastzero-actors/program.rs"]
mod lastzero_actors;
#[path = "../programs/leader-election/program.rs"]
mod leader_election;
#[path = "../programs/leader-election-fixed/program.rs"]
mod leader_election_fixed;
#[path = "../programs/length/program.rs"]
mod length;
#[path = "../programs/linuxrwlocks/program.rs"]
mod linuxrwlocks;
#[path = "../programs/load-load-store/program.rs"]
mod load_load_store;
#[path = "../programs/lock-server/program.rs"]
mod lock_server;
#[path = "../programs/lock-server-fixed/program.rs"]
mod lock_server_fixed;
#[path = "../programs/lost-update/program.rs"]
mod lost_update;
#[path = "../programs/lost-update-fixed/program.rs"]
mod lost_update_fixed;
#[path = "../programs/mergesort/program.rs"]
mod mergesort;
#[path = "../programs/missed-wakeup/program.rs"]
mod missed_wakeup;
#[path = "../programs/missed-wakeup-fixed/program.rs"]
mod missed_wakeup_fixed;
#[path = "../programs/mutex/program.rs"]
mod mutex;
#[path = "../programs/name-race/program.rs"]
mod name_race;
#[path = "../programs/name-race-fixed/program.rs"]
mod name_race_fixed;
#[path = "../programs/once-lock/program.rs"]
mod once_lock;
#[path = "../programs/once-lock-fixed/program.rs"]
mod once_lock_fixed;
#[path = "../programs/overdraft/program.rs"]
mod overdraft;
#[path = "../programs/overdraft-fixed/program.rs"]
mod overdraft_fixed;
#[path = "../programs/park-token/program.rs"]
mod park_token;
#[path = "../programs/park-token-fixed/program.rs"]
mod park_token_fixed;
#[path = "../programs/parts-by-arrival/program.rs"]
mod parts_by_arrival;
#[path = "../programs/parts-by-arrival-fixed/program.rs"]
mod parts_by_arrival_fixed;
#[path = "../programs/peterson/program.rs"]
mod peterson;
#[path = "../programs/peterson-fixed/program.rs"]
mod peterson_fixed;
#[path = "../programs/poison/program.rs"]
mod poison;
#[path = "../programs/poison-fixed/program.rs"]
mod poison_fixed;
#[path = "../programs/published-cuts/program.rs"]
mod published_cuts;
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
#[path = "../programs/reference-count-fixed/program.rs"]
mod reference_count_fixed;
#[path = "../programs/registration/program.rs"]
mod registration;
#[path = "../programs/relock/program.rs"]
mod relock;
#[path = "../programs/relock-fixed/program.rs"]
mod relock_fixed;
#[path = "../programs/rendezvous/program.rs"]
mod rendezvous;
#[path = "../programs/rendezvous-fixed/program.rs"]
mod rendezvous_fixed;
#[path = "../programs/ring-buffer/program.rs"]
mod ring_buffer;
#[path = "../programs/ring-buffer-fixed/program.rs"]
mod ring_buffer_fixed;
#[path = "../programs/rush-hour/program.rs"]
mod rush_hour;
#[path = "../programs/search-twice/program.rs"]
mod search_twice;
#[path = "../programs/search-twice-fixed/program.rs"]
mod search_twice_fixed;
#[path = "../programs/select-cancel/program.rs"]
mod select_cancel;
#[path = "../programs/select-cancel-fixed/program.rs"]
mod select_cancel_fixed;
#[path = "../programs/semaphore-deadlock/program.rs"]
mod semaphore_deadlock;
#[path = "../programs/semaphore-deadlock-fixed/program.rs"]
mod semaphore_deadlock_fixed;
#[path = "../programs/semaphore-permits/program.rs"]
mod semaphore_permits;
#[path = "../programs/semaphore-permits-fixed/program.rs"]
mod semaphore_permits_fixed;
#[path = "../programs/seqlock/program.rs"]
mod seqlock;
#[path = "../programs/seqlock-fixed/program.rs"]
mod seqlock_fixed;
#[path = "../programs/sigma/program.rs"]
mod sigma;
#[path = "../programs/spin-forever/program.rs"]
mod spin_forever;
#[path = "../programs/spin-forever-fixed/program.rs"]
mod spin_forever_fixed;
#[path = "../programs/spin-lock/program.rs"]
mod spin_lock;
#[path = "../programs/spin-lock-fixed/program.rs"]
mod spin_lock_fixed;
#[path = "../programs/stale-check/program.rs"]
mod stale_check;
#[path = "../programs/stale-check-fixed/program.rs"]
mod stale_check_fixed;
#[path = "../programs/stale-lock/program.rs"]
mod stale_lock;
#[path = "../programs/stale-lock-fixed/program.rs"]
mod stale_lock_fixed;
#[path = "../programs/store-buffer/program.rs"]
mod store_buffer;
#[path = "../programs/succeeding-try-receive/program.rs"]
mod succeeding_try_receive;
#[path = "../programs/supervisor/program.rs"]
mod supervisor;
#[path = "../programs/supervisor-fixed/program.rs"]
mod supervisor_fixed;
#[path = "../programs/three-tasks/program.rs"]
mod three_tasks;
#[path = "../programs/ticket-lock/program.rs"]
mod ticket_lock;
#[path = "../programs/ticket-lock-fixed/program.rs"]
mod ticket_lock_fixed;
#[path = "../programs/timed-receive/program.rs"]
mod timed_receive;
#[path = "../programs/timed-receive-fixed/program.rs"]
mod timed_receive_fixed;
#[path = "../programs/torn-publish/program.rs"]
mod torn_publish;
#[path = "../programs/torn-publish-fixed/program.rs"]
mod torn_publish_fixed;
#[path = "../programs/try-lock/program.rs"]
mod try_lock;
#[path = "../programs/try-lock-fixed/program.rs"]
mod try_lock_fixed;
#[path = "../programs/two-fives/program.rs"]
mod two_fives;
#[path = "../programs/two-phase-commit/program.rs"]
mod two_phase_commit;
#[path = "../programs/two-phase-commit-fixed/program.rs"]
mod two_phase_commit_fixed;
#[path = "../programs/unregister-race/program.rs"]
mod unregister_race;
#[path = "../programs/unregister-race-fixed/program.rs"]
mod unregister_race_fixed;
#[path = "../programs/upgrade-deadlock/program.rs"]
mod upgrade_deadlock;
#[path = "../programs/upgrade-deadlock-fixed/program.rs"]
mod upgrade_deadlock_fixed;
#[path = "../programs/work-stealing/program.rs"]
mod work_stealing;
#[path = "../programs/work-stealing-fixed/program.rs"]
mod work_stealing_fixed;
#[path = "../programs/worker-pool/program.rs"]
mod worker_pool;
#[path = "../programs/worker-pool-fixed/program.rs"]
mod worker_pool_fixed;
#[path = "../programs/wrong-notify/program.rs"]
mod wrong_notify;
#[path = "../programs/wrong-notify-fixed/program.rs"]
mod wrong_notify_fixed;
