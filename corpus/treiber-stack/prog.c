/* treiber-stack: a Treiber stack of allocated nodes (IBM, 1986). A thread frees a popped node at
   once, although another thread that has read the node as the top may be about to read its
   successor. Repair: nodes are freed after all threads have ended. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

struct node {
    struct node *next;
    int value;
};

static _Atomic(struct node *) top;
#ifdef FIXED
static struct node *nodes[2];
#endif

static struct node *push(int value) {
    struct node *node = malloc(sizeof *node), *seen = atomic_load(&top);
    node->value = value;
    do
        node->next = seen;
    while (!atomic_compare_exchange_weak(&top, &seen, node));
    return node;
}

/* Returns 0 if the stack is empty. */
static int pop(void) {
    struct node *seen = atomic_load(&top);
    while (seen != NULL && !atomic_compare_exchange_weak(&top, &seen, seen->next))
        ;
    if (seen == NULL)
        return 0;
    int value = seen->value;
#ifndef FIXED
    free(seen);
#endif
    return value;
}

static void *popper(void *unused) {
    (void)unused;
    return (void *)(intptr_t)pop();
}

int main(void) {
    pthread_t thread;
    for (int i = 0; i < 2; i++)
#ifdef FIXED
        nodes[i] = push(i + 1);
#else
        push(i + 1);
#endif
    pthread_create(&thread, NULL, popper, NULL);
    int mine = pop();
    void *others;
    pthread_join(thread, &others);
    assert(mine + (int)(intptr_t)others == 3);
#ifdef FIXED
    for (int i = 0; i < 2; i++)
        free(nodes[i]);
#endif
    return 0;
}
