/* notify-without-lock-fixed: a flag is set under the mutex, so that
   cannot happen between the waiter's check of the flag and its sleep. */
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

static std::mutex mutex;
static std::condition_variable changed;
static std::atomic<bool> is_ready{false};

int main() {
    std::thread waiter([] {
        std::unique_lock<std::mutex> lock(mutex);
        changed.wait(lock, [] { return is_ready.load(); });
    });
    {
        std::lock_guard<std::mutex> guard(mutex);
        is_ready = true;
    }
    changed.notify_one();
    waiter.join();
}
