/* unjoined-thread-fixed: main returns early if the worker
   has failed already. It joins the worker on every path. */
#include <atomic>
#include <thread>

static std::atomic<bool> has_failed{false};

int main() {
    std::thread worker([] { has_failed = true; });
    if (has_failed) {
        worker.join();
        return 0;
    }
    worker.join();
}
