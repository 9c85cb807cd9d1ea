/* hazard-pointer: hazard pointers (Michael, TPDS 2004). The reader announces the record that it
   will read. The bug: it does not check again that this record is still current, so the writer may
   have freed it in between. The repair: it announces again until the record is current. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static _Atomic(int *) present, hazard;

static int *new_record(int value) {
    int *record = malloc(sizeof *record);
    *record = value;
    return record;
}

static void *reader(void *unused) {
    (void)unused;
    int *record = atomic_load(&present);
    atomic_store(&hazard, record);
#ifdef FIXED
    while (atomic_load(&present) != record) {
        record = atomic_load(&present);
        atomic_store(&hazard, record);
    }
#endif
    assert(*record == 1 || *record == 2);
    atomic_store(&hazard, NULL);
    return NULL;
}

int main(void) {
    atomic_store(&present, new_record(1));
    pthread_t thread;
    pthread_create(&thread, NULL, reader, NULL);
    int *old = atomic_exchange(&present, new_record(2));
    if (atomic_load(&hazard) != old) {
        free(old);
        old = NULL;
    }
    pthread_join(thread, NULL);
    free(old);
    free(atomic_load(&present));
    return 0;
}
