/* thread-local: each thread counts its own calls in a static variable, which the threads share.
   Repair: the variable is thread_local. Its destructor adds the count to a total when the thread
   ends. */
#include <atomic>
#include <cassert>
#include <thread>

static std::atomic<int> total{0};

struct Calls {
    int number = 0;
    ~Calls() { total += number; }
};

static void call() {
#ifdef FIXED
    static thread_local Calls calls;
#else
    static Calls calls;
#endif
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
#ifdef FIXED
    assert(total == 4);
#endif
}
