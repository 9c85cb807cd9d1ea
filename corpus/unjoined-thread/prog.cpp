/* unjoined-thread: main returns early if the worker has failed already, without joining it. The
   destructor of a joinable std::thread calls std::terminate. Repair: main joins the worker on
   every path. */
#include <atomic>
#include <thread>

static std::atomic<bool> has_failed{false};

int main() {
    std::thread worker([] { has_failed = true; });
    if (has_failed) {
#ifdef FIXED
        worker.join();
#endif
        return 0;
    }
    worker.join();
}
