/* thread-local: each thread counts its own calls in a variable that is shared, not thread_local. */
#include <atomic>
#include <cassert>
#include <thread>

static std::atomic<int> total{0};

struct Calls {
    int number = 0;
    ~Calls() { total += number; }
};

static void call() {
    static Calls calls;
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
}
