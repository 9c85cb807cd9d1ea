//! Memory that is freed and allocated again while threads keep its address (ABA).

use crate::operations::{bug, checked, verified};

/// A cell whose content may be replaced by another object with the same address.
const CELL: &str = "static _Atomic(long *) cell; static atomic_int changes;
    static void *run(void *p) {
        long *old = atomic_exchange(&cell, 0);
        if (!old) return p;
        free(old);
        long *new = malloc(sizeof *new);
        atomic_fetch_add(&changes, 1);
        atomic_store(&cell, new);
        return p;
    }
    int main(void) {
        atomic_store(&cell, malloc(sizeof(long)));
        start(run);
        long *old = atomic_load(&cell);
        int before = atomic_load(&changes);
        if (old && atomic_compare_exchange_strong(&cell, &old, 0)) { assert(atomic_load(&changes) == before); free(old); }
        join();
        free(atomic_load(&cell));
    }";

/// A Treiber stack. In main, `pop` protects the top by a hazard pointer. It does this until it has
/// taken the top (`CLEARS` 0), or only while it reads the next node (`CLEARS` 1).
const STACK: &str = "struct node { struct node *next; int value; };
    static _Atomic(struct node *) top, hazard;
    static struct node *retired[2];
    static struct node *pop(int clears) {
        struct node *old = atomic_load(&top);
        while (old) {
            if (clears >= 0) {
                atomic_store(&hazard, old);
                struct node *again = atomic_load(&top);
                if (again != old) { old = again; continue; }
            }
            struct node *next = old->next;
            if (clears == 1) atomic_store(&hazard, 0);
            if (atomic_compare_exchange_strong(&top, &old, next)) break;
        }
        if (clears >= 0) atomic_store(&hazard, 0);
        return old;
    }
    static void push(int value) {
        struct node *node = malloc(sizeof *node), *old = atomic_load(&top);
        node->value = value;
        do node->next = old; while (!atomic_compare_exchange_strong(&top, &old, node));
    }
    static void retire(struct node *node, int number) {
        if (atomic_load(&hazard) == node) retired[number] = node; else free(node);
    }
    static void *run(void *p) {
        struct node *first = pop(-1), *second = pop(-1);
        if (first) retire(first, 0);
        if (second) { push(3); retire(second, 1); }
        return p;
    }
    int main(void) {
        push(1);
        push(2);
        start(run);
        struct node *own = pop(CLEARS);
        join();
        free(own);
        for (struct node *node; (node = pop(-1)); free(node)) assert(node->value > 0);
        free(retired[0]);
        free(retired[1]);
    }";

/// A lock protects the pointer, so equal addresses do not matter.
const LOCKED: &str =
    "static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; static int *top, sum;
    static void change(void) {
        pthread_mutex_lock(&lock);
        sum += *top;
        free(top);
        top = malloc(sizeof *top);
        *top = 1;
        pthread_mutex_unlock(&lock);
    }
    static void *run(void *p) { change(); return p; }
    int main(void) {
        top = malloc(sizeof *top);
        *top = 1;
        start(run);
        change();
        join();
        assert(sum == 2);
        free(top);
    }";

/// Only one thread frees memory, and it allocates only before that.
const WRITER: &str = "static _Atomic(int *) current; static atomic_int reads;
    static void *run(void *p) { int *new = malloc(sizeof *new); *new = 2; int *old = atomic_exchange(&current, new);
        while (!atomic_load(&reads)) {} free(old); return p; }
    int main(void) {
        int *first = malloc(sizeof *first); *first = 1;
        atomic_store(&current, first);
        start(run);
        int *own = atomic_load(&current); assert(*own > 0);
        atomic_store(&reads, 1);
        join();
        free(atomic_load(&current));
    }";

#[test]
fn reused_memory_is_mistaken_for_the_old_object() {
    for options in [&["--reuse", "1"][..], &["--reuse", "2", "--plain", "sc"]] {
        bug("assertion", "cell.c", CELL, options);
    }
    for algorithm in ["source", "optimal", "random"] {
        let options = ["--reuse", "1", "--algorithm", algorithm];
        bug("assertion", "cell.c", CELL, &options);
    }
    let clears = ["--reuse", "1", "--", "-DCLEARS=1"];
    let (verdict, error) = checked("stack.c", STACK, &clears);
    assert_eq!(verdict, "bug", "{error}");
    verified("stack.c", STACK, &["--reuse", "1", "--", "-DCLEARS=0"]);
    verified("locked.c", LOCKED, &["--reuse", "2"]);
}

/// The cell is replaced twice, by blocks of one size. It gets its first address again only after
/// two reuses.
#[test]
fn more_reuse_of_memory_than_the_limit_is_a_bound() {
    let twice = CELL.replace("start(run);", "start(again);").replace(
        "int main",
        "static void *again(void *p) { return run(run(p)); }
        int main",
    );
    for (most, expected) in [("1", "bounded"), ("2", "verified")] {
        // A compare-exchange may take the new object for the old one. This does not matter here.
        let options = [
            "--allow",
            "assertion",
            "--accept",
            "suppressed",
            "--reuse",
            most,
        ];
        let (verdict, error) = checked("twice.c", &twice, &options);
        assert_eq!(verdict, expected, "{most}: {error}");
    }
}

#[test]
fn memory_that_is_not_reused_is_a_bound_where_reuse_may_matter() {
    for (name, source) in [("cell.c", CELL), ("stack.c", STACK)] {
        let (verdict, error) = checked(name, source, &["--", "-DCLEARS=1"]);
        assert_eq!(verdict, "bounded", "{name}: {error}");
        verified(name, source, &["--accept", "reuse", "--", "-DCLEARS=1"]);
    }
    verified("locked.c", LOCKED, &[]);
    verified("writer.c", WRITER, &[]);
}

#[test]
fn use_after_free_is_found_where_memory_is_reused() {
    let source = "static _Atomic(int *) shared;
        static void *run(void *p) { int *own = atomic_load(&shared); if (own) *own = 2; return p; }
        int main(void) {
            int *own = malloc(sizeof *own);
            atomic_store(&shared, own);
            start(run);
            free(own);
            int *other = malloc(sizeof *other);
            *other = 1;
            join();
            free(other);
        }";
    for options in [&[][..], &["--reuse", "1"]] {
        bug("use_after_free", "free.c", source, options);
    }
}
