/* atomic-wait: a thread waits at an atomic (C++20) until it changes; who changes it forgets to notify. */
#include <atomic>
#include <cassert>
#include <thread>

static std::atomic<int> state{0};
static int value;

int main() {
    std::thread producer([] {
        value = 42;
        state.store(1);
    });
    state.wait(0);
    assert(value == 42);
    producer.join();
}
