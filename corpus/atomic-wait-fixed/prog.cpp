/* atomic-wait-fixed: a thread waits for a change of an atomic (C++20), which is notified. */
#include <atomic>
#include <cassert>
#include <thread>

static std::atomic<int> state{0};
static int value;

int main() {
    std::thread producer([] {
        value = 42;
        state.store(1);
        state.notify_one();
    });
    state.wait(0);
    assert(value == 42);
    producer.join();
}
