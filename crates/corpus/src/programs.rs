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

#[path = "../../../corpus/aba-pointer/program.rs"]
mod aba_pointer;
#[path = "../../../corpus/aba-pointer-fixed/program.rs"]
mod aba_pointer_fixed;
#[path = "../../../corpus/aba-treiber/program.rs"]
mod aba_treiber;
#[path = "../../../corpus/aba-treiber-fixed/program.rs"]
mod aba_treiber_fixed;
#[path = "../../../corpus/abba-deadlock/program.rs"]
mod abba_deadlock;
#[path = "../../../corpus/abba-deadlock-fixed/program.rs"]
mod abba_deadlock_fixed;
#[path = "../../../corpus/accumulator/program.rs"]
mod accumulator;
#[path = "../../../corpus/assume-order/program.rs"]
mod assume_order;
#[path = "../../../corpus/async-mutex/program.rs"]
mod async_mutex;
#[path = "../../../corpus/async-mutex-fixed/program.rs"]
mod async_mutex_fixed;
#[path = "../../../corpus/barrier-reuse/program.rs"]
mod barrier_reuse;
#[path = "../../../corpus/barrier-reuse-fixed/program.rs"]
mod barrier_reuse_fixed;
#[path = "../../../corpus/bounded-buffer/program.rs"]
mod bounded_buffer;
#[path = "../../../corpus/casrot/program.rs"]
mod casrot;
#[path = "../../../corpus/casw/program.rs"]
mod casw;
#[path = "../../../corpus/channel-order/program.rs"]
mod channel_order;
#[path = "../../../corpus/channel-order-fixed/program.rs"]
mod channel_order_fixed;
#[path = "../../../corpus/choices/program.rs"]
mod choices;
#[path = "../../../corpus/circular-buffer/program.rs"]
mod circular_buffer;
#[path = "../../../corpus/dekker/program.rs"]
mod dekker;
#[path = "../../../corpus/dekker-fixed/program.rs"]
mod dekker_fixed;
#[path = "../../../corpus/dining-philosophers/program.rs"]
mod dining_philosophers;
#[path = "../../../corpus/dining-philosophers-fixed/program.rs"]
mod dining_philosophers_fixed;
#[path = "../../../corpus/distributed-lock/program.rs"]
mod distributed_lock;
#[path = "../../../corpus/double-checked-lock/program.rs"]
mod double_checked_lock;
#[path = "../../../corpus/double-checked-lock-fixed/program.rs"]
mod double_checked_lock_fixed;
#[path = "../../../corpus/double-registration/program.rs"]
mod double_registration;
#[path = "../../../corpus/double-registration-fixed/program.rs"]
mod double_registration_fixed;
#[path = "../../../corpus/expmem/program.rs"]
mod expmem;
#[path = "../../../corpus/failing-try-lock/program.rs"]
mod failing_try_lock;
#[path = "../../../corpus/failing-try-read/program.rs"]
mod failing_try_read;
#[path = "../../../corpus/fib-bench/program.rs"]
mod fib_bench;
#[path = "../../../corpus/fibonacci/program.rs"]
mod fibonacci;
#[path = "../../../corpus/filesystem/program.rs"]
mod filesystem;
#[path = "../../../corpus/floating-read/program.rs"]
mod floating_read;
#[path = "../../../corpus/gossip/program.rs"]
mod gossip;
#[path = "../../../corpus/hang-up/program.rs"]
mod hang_up;
#[path = "../../../corpus/hang-up-fixed/program.rs"]
mod hang_up_fixed;
#[path = "../../../corpus/if-wait/program.rs"]
mod if_wait;
#[path = "../../../corpus/if-wait-fixed/program.rs"]
mod if_wait_fixed;
#[path = "../../../corpus/incr/program.rs"]
mod incr;
#[path = "../../../corpus/indexer/program.rs"]
mod indexer;
#[path = "../../../corpus/init-twice/program.rs"]
mod init_twice;
#[path = "../../../corpus/init-twice-fixed/program.rs"]
mod init_twice_fixed;
#[path = "../../../corpus/lastwrite/program.rs"]
mod lastwrite;
#[path = "../../../corpus/lastzero/program.rs"]
mod lastzero;
#[path = "../../../corpus/lastzero-actors/program.rs"]
mod lastzero_actors;
#[path = "../../../corpus/leader-election/program.rs"]
mod leader_election;
#[path = "../../../corpus/leader-election-fixed/program.rs"]
mod leader_election_fixed;
#[path = "../../../corpus/length/program.rs"]
mod length;
#[path = "../../../corpus/linuxrwlocks/program.rs"]
mod linuxrwlocks;
#[path = "../../../corpus/load-load-store/program.rs"]
mod load_load_store;
#[path = "../../../corpus/lock-server/program.rs"]
mod lock_server;
#[path = "../../../corpus/lock-server-fixed/program.rs"]
mod lock_server_fixed;
#[path = "../../../corpus/lost-update/program.rs"]
mod lost_update;
#[path = "../../../corpus/lost-update-fixed/program.rs"]
mod lost_update_fixed;
#[path = "../../../corpus/mergesort/program.rs"]
mod mergesort;
#[path = "../../../corpus/missed-wakeup/program.rs"]
mod missed_wakeup;
#[path = "../../../corpus/missed-wakeup-fixed/program.rs"]
mod missed_wakeup_fixed;
#[path = "../../../corpus/mutex/program.rs"]
mod mutex;
#[path = "../../../corpus/name-race/program.rs"]
mod name_race;
#[path = "../../../corpus/name-race-fixed/program.rs"]
mod name_race_fixed;
#[path = "../../../corpus/once-lock/program.rs"]
mod once_lock;
#[path = "../../../corpus/once-lock-fixed/program.rs"]
mod once_lock_fixed;
#[path = "../../../corpus/overdraft/program.rs"]
mod overdraft;
#[path = "../../../corpus/overdraft-fixed/program.rs"]
mod overdraft_fixed;
#[path = "../../../corpus/park-token/program.rs"]
mod park_token;
#[path = "../../../corpus/park-token-fixed/program.rs"]
mod park_token_fixed;
#[path = "../../../corpus/parts-by-arrival/program.rs"]
mod parts_by_arrival;
#[path = "../../../corpus/parts-by-arrival-fixed/program.rs"]
mod parts_by_arrival_fixed;
#[path = "../../../corpus/peterson/program.rs"]
mod peterson;
#[path = "../../../corpus/peterson-fixed/program.rs"]
mod peterson_fixed;
#[path = "../../../corpus/poison/program.rs"]
mod poison;
#[path = "../../../corpus/poison-fixed/program.rs"]
mod poison_fixed;
#[path = "../../../corpus/published-cuts/program.rs"]
mod published_cuts;
#[path = "../../../corpus/put-take/program.rs"]
mod put_take;
#[path = "../../../corpus/quicksort/program.rs"]
mod quicksort;
#[path = "../../../corpus/readers/program.rs"]
mod readers;
#[path = "../../../corpus/readers-actors/program.rs"]
mod readers_actors;
#[path = "../../../corpus/reference-count/program.rs"]
mod reference_count;
#[path = "../../../corpus/reference-count-fixed/program.rs"]
mod reference_count_fixed;
#[path = "../../../corpus/registration/program.rs"]
mod registration;
#[path = "../../../corpus/relock/program.rs"]
mod relock;
#[path = "../../../corpus/relock-fixed/program.rs"]
mod relock_fixed;
#[path = "../../../corpus/rendezvous/program.rs"]
mod rendezvous;
#[path = "../../../corpus/rendezvous-fixed/program.rs"]
mod rendezvous_fixed;
#[path = "../../../corpus/ring-buffer/program.rs"]
mod ring_buffer;
#[path = "../../../corpus/ring-buffer-fixed/program.rs"]
mod ring_buffer_fixed;
#[path = "../../../corpus/rush-hour/program.rs"]
mod rush_hour;
#[path = "../../../corpus/search-twice/program.rs"]
mod search_twice;
#[path = "../../../corpus/search-twice-fixed/program.rs"]
mod search_twice_fixed;
#[path = "../../../corpus/select-cancel/program.rs"]
mod select_cancel;
#[path = "../../../corpus/select-cancel-fixed/program.rs"]
mod select_cancel_fixed;
#[path = "../../../corpus/semaphore-deadlock/program.rs"]
mod semaphore_deadlock;
#[path = "../../../corpus/semaphore-deadlock-fixed/program.rs"]
mod semaphore_deadlock_fixed;
#[path = "../../../corpus/semaphore-permits/program.rs"]
mod semaphore_permits;
#[path = "../../../corpus/semaphore-permits-fixed/program.rs"]
mod semaphore_permits_fixed;
#[path = "../../../corpus/seqlock/program.rs"]
mod seqlock;
#[path = "../../../corpus/seqlock-fixed/program.rs"]
mod seqlock_fixed;
#[path = "../../../corpus/sigma/program.rs"]
mod sigma;
#[path = "../../../corpus/spin-forever/program.rs"]
mod spin_forever;
#[path = "../../../corpus/spin-forever-fixed/program.rs"]
mod spin_forever_fixed;
#[path = "../../../corpus/spin-lock/program.rs"]
mod spin_lock;
#[path = "../../../corpus/spin-lock-fixed/program.rs"]
mod spin_lock_fixed;
#[path = "../../../corpus/stale-check/program.rs"]
mod stale_check;
#[path = "../../../corpus/stale-check-fixed/program.rs"]
mod stale_check_fixed;
#[path = "../../../corpus/stale-lock/program.rs"]
mod stale_lock;
#[path = "../../../corpus/stale-lock-fixed/program.rs"]
mod stale_lock_fixed;
#[path = "../../../corpus/store-buffer/program.rs"]
mod store_buffer;
#[path = "../../../corpus/succeeding-try-receive/program.rs"]
mod succeeding_try_receive;
#[path = "../../../corpus/supervisor/program.rs"]
mod supervisor;
#[path = "../../../corpus/supervisor-fixed/program.rs"]
mod supervisor_fixed;
#[path = "../../../corpus/three-tasks/program.rs"]
mod three_tasks;
#[path = "../../../corpus/ticket-lock/program.rs"]
mod ticket_lock;
#[path = "../../../corpus/ticket-lock-fixed/program.rs"]
mod ticket_lock_fixed;
#[path = "../../../corpus/timed-receive/program.rs"]
mod timed_receive;
#[path = "../../../corpus/timed-receive-fixed/program.rs"]
mod timed_receive_fixed;
#[path = "../../../corpus/torn-publish/program.rs"]
mod torn_publish;
#[path = "../../../corpus/torn-publish-fixed/program.rs"]
mod torn_publish_fixed;
#[path = "../../../corpus/try-lock/program.rs"]
mod try_lock;
#[path = "../../../corpus/try-lock-fixed/program.rs"]
mod try_lock_fixed;
#[path = "../../../corpus/two-fives/program.rs"]
mod two_fives;
#[path = "../../../corpus/two-phase-commit/program.rs"]
mod two_phase_commit;
#[path = "../../../corpus/two-phase-commit-fixed/program.rs"]
mod two_phase_commit_fixed;
#[path = "../../../corpus/unregister-race/program.rs"]
mod unregister_race;
#[path = "../../../corpus/unregister-race-fixed/program.rs"]
mod unregister_race_fixed;
#[path = "../../../corpus/upgrade-deadlock/program.rs"]
mod upgrade_deadlock;
#[path = "../../../corpus/upgrade-deadlock-fixed/program.rs"]
mod upgrade_deadlock_fixed;
#[path = "../../../corpus/work-stealing/program.rs"]
mod work_stealing;
#[path = "../../../corpus/work-stealing-fixed/program.rs"]
mod work_stealing_fixed;
#[path = "../../../corpus/worker-pool/program.rs"]
mod worker_pool;
#[path = "../../../corpus/worker-pool-fixed/program.rs"]
mod worker_pool_fixed;
#[path = "../../../corpus/wrong-notify/program.rs"]
mod wrong_notify;
#[path = "../../../corpus/wrong-notify-fixed/program.rs"]
mod wrong_notify_fixed;
