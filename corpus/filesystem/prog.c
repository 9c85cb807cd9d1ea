/* filesystem(N): N threads create files. Thread t takes inode t mod 32 and
   searches for a free block from block 2t mod 26 on. Each inode and each block has
   a mutex (Flanagan and Godefroid, POPL 2005). 2^(N-13) traces for N >= 14. */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

enum { INODES = 32, BLOCKS = 26 };

static pthread_mutex_t inode_locks[INODES], block_locks[BLOCKS];
static int inodes[INODES]; /* the inode's block plus one; 0 for none */
static bool busy[BLOCKS];

/* Assigns the block to the inode if it is free. */
static bool take(int block, int inode) {
    pthread_mutex_lock(&block_locks[block]);
    bool is_free = !busy[block];
    if (is_free) {
        busy[block] = true;
        inodes[inode] = block + 1;
    }
    pthread_mutex_unlock(&block_locks[block]);
    return is_free;
}

static void *create(void *number) {
    int inode = (int)(intptr_t)number % INODES;
    pthread_mutex_lock(&inode_locks[inode]);
    if (inodes[inode] == 0) {
        int block = inode * 2 % BLOCKS;
        while (!take(block, inode))
            block = (block + 1) % BLOCKS;
    }
    pthread_mutex_unlock(&inode_locks[inode]);
    return NULL;
}

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 16;
    if (n < 1 || n > BLOCKS)
        return 2;
    for (int i = 0; i < INODES; i++)
        pthread_mutex_init(&inode_locks[i], NULL);
    for (int i = 0; i < BLOCKS; i++)
        pthread_mutex_init(&block_locks[i], NULL);
    pthread_t threads[BLOCKS];
    for (int i = 0; i < n; i++)
        pthread_create(&threads[i], NULL, create, (void *)(intptr_t)i);
    for (int i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
