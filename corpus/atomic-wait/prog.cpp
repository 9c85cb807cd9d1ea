/* atomic-wait: a thread waits for a change of an atomic (C++20), but the thread
   that changes it does not notify. In the repaired program, it does. */
#include <atomic>
#include <cassert>
#include <thread>

static std::atomic<int> state{0};
static int value;

int main() {
    std::thread producer([] {
        value = 42;
        state.store(1);
#ifdef FIXED
        state.notify_one();
#endif
    });
    state.wait(0);
    assert(value == 42);
    producer.join();
}
