/* unjoined-thread: main returns early if the worker has failed already, without
   joining it. The destructor of a joinable std::thread calls std::terminate. */
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
