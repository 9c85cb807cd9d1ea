/* unjoined-thread: main returns early if the worker has failed already, and forgets to join it: the
   destructor of a std::thread that can be joined calls std::terminate. */
#include <atomic>
#include <thread>

static std::atomic<bool> has_failed{false};

int main() {
    std::thread worker([] { has_failed = true; });
    if (has_failed) {
        return 0;
    }
    worker.join();
}
