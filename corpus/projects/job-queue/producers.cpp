// Two C++ threads put jobs into one queue, and main takes them: no job is lost. Correct.
#include "queue.h"

#include <cassert>
#include <functional>
#include <thread>

static void nothing(void *) {}

int main() {
    queue queue;
    bool has_memory = queue_init(&queue, 1);
    assert(has_memory);
    int first = 1, second = 2;
    auto put = [&queue](int &number) { queue_put(&queue, {nothing, &number}); };
    std::thread one(put, std::ref(first)), two(put, std::ref(second));
    int sum = 0;
    for (int i = 0; i < 2; i++) {
        job job;
        bool has_job = queue_take(&queue, &job);
        assert(has_job);
        sum += *static_cast<int *>(job.argument);
    }
    one.join();
    two.join();
    queue_destroy(&queue);
    assert(sum == 3);
}
