/* notify-without-lock: a flag is set and the condition notified without the mutex. Both may happen
   between the waiter's check of the flag and its sleep; then nothing wakes it. The repair: the flag
   is set under the mutex. */
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
#ifdef FIXED
        std::lock_guard<std::mutex> guard(mutex);
#endif
        is_ready = true;
    }
    changed.notify_one();
    waiter.join();
}
