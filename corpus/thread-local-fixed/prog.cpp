/* thread-local-fixed: each thread counts its own calls in a thread_local
   variable, which reports the count at the end of the thread. */
#include <atomic>
#include <cassert>
#include <thread>

static std::atomic<int> total{0};

struct Calls {
    int number = 0;
    ~Calls() { total += number; }
};

static void call() {
    static thread_local Calls calls;
    calls.number++;
}

int main() {
    auto work = [] {
        call();
        call();
    };
    std::thread first(work), second(work);
    first.join();
    second.join();
    assert(total == 4);
}
