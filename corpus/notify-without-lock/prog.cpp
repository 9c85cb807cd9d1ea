/* notify-without-lock: a flag is set and the condition notified without the mutex: both may come between the
   waiter's look at the flag and its sleep, from which nobody wakes it. */
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
    is_ready = true;
    changed.notify_one();
    waiter.join();
}
