// The locks, threads and futures of C++17.
#include <atomic>
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <future>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

static std::mutex first, second;
static std::timed_mutex timed;
static std::recursive_mutex recursive;
static std::recursive_timed_mutex recursive_timed;
static std::shared_mutex shared;
static std::shared_timed_mutex shared_timed;
static std::condition_variable changed;
static std::condition_variable_any any_changed;
static std::once_flag once;
static int count, initialized, is_ready, is_any_ready;
static thread_local int own = 1;

static void locks() {
    { std::scoped_lock both(first, second); count++; }
    if (timed.try_lock_for(1ms)) timed.unlock();
    { std::lock_guard<std::recursive_mutex> outer(recursive), inner(recursive); }
    if (recursive_timed.try_lock_until(std::chrono::steady_clock::now() + 1s)) recursive_timed.unlock();
}

static void shares() {
    { std::shared_lock<std::shared_mutex> reads(shared); }
    { std::unique_lock<std::shared_mutex> writes(shared); count++; }
    if (shared_timed.try_lock_shared_for(1ms)) shared_timed.unlock_shared();
    if (shared_timed.try_lock()) shared_timed.unlock();
}

static void conditions() {
    std::thread notifies([] {
        { std::lock_guard<std::mutex> guard(first); is_ready = 1; }
        changed.notify_all();
        { std::unique_lock<std::shared_mutex> guard(shared); is_any_ready = 1; }
        any_changed.notify_one();
    });
    {
        std::unique_lock<std::mutex> guard(first);
        changed.wait_for(guard, 1s, [] { return is_ready > 0; });
    }
    {
        std::shared_lock<std::shared_mutex> guard(shared);
        any_changed.wait(guard, [] { return is_any_ready == 1; });
    }
    notifies.join();
}

static void futures() {
    std::promise<int> promise;
    std::shared_future<int> future = promise.get_future().share();
    std::packaged_task<int(int)> task([](int x) { return x + own; });
    std::future<int> result = task.get_future();
    std::thread runs(std::move(task), 2);
    std::future<int> later = std::async(std::launch::async, [future] { return future.get(); });
    promise.set_value(4);
    assert(result.get() == 3 && later.get() == 4 && future.wait_for(0s) == std::future_status::ready);
    runs.join();
}

int main(int argc, char **) {
    auto initialize = [] { std::call_once(once, [] { initialized++; }); };
    if (argc == 1) {
        std::thread other([&] { locks(); initialize(); });
        initialize();
        { std::lock_guard<std::mutex> one(first); count++; }
        other.join();
        assert(count == 2 && initialized == 1);
    } else if (argc == 2) {
        std::thread other(shares);
        shares();
        other.join();
        assert(count == 2);
    } else if (argc == 3) {
        conditions();
    } else {
        futures();
    }
    std::this_thread::yield();
    std::this_thread::sleep_for(1ms);
    assert(std::thread::hardware_concurrency() >= 1);
    auto pointer = std::make_shared<int>(1);
    std::thread reads([pointer] { assert(*std::atomic_load(&pointer) == 1); });
    assert(reads.get_id() != std::this_thread::get_id() && reads.joinable());
    reads.join();
    return 0;
}
