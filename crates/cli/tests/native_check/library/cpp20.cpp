// Additions of C++20: semaphores, latches, barriers, stop tokens, waits on atomics.
#include <atomic>
#include <barrier>
#include <cassert>
#include <latch>
#include <semaphore>
#include <stop_token>
#include <thread>

static int plain, completed;

static void semaphores() {
    std::counting_semaphore<4> permits(0);
    std::binary_semaphore binary(1);
    std::jthread posts([&] { binary.acquire(); plain++; binary.release(); permits.release(2); });
    permits.acquire();
    permits.acquire();
    if (binary.try_acquire()) binary.release();
    assert(plain == 1);
}

static void latches() {
    std::latch latch(2);
    std::jthread counts([&] { plain = 5; latch.count_down(); });
    latch.arrive_and_wait();
    assert(latch.try_wait() && plain == 5);
}

static void barriers() {
    auto complete = []() noexcept { completed++; };
    std::barrier barrier(2, complete);
    std::jthread arrives([&] { barrier.arrive_and_wait(); barrier.arrive_and_drop(); });
    barrier.arrive_and_wait();
    assert(completed == 1);
    barrier.arrive_and_wait();
}

static void stops() {
    int called = 0;
    std::jthread runs([](std::stop_token token) {
        while (!token.stop_requested()) {}
    });
    std::stop_callback callback(runs.get_stop_token(), [&] { called++; });
    assert(runs.request_stop() && !runs.request_stop() && called == 1);
}

static void waits() {
    std::atomic<int> value{0};
    std::atomic_flag flag{};
    int bare = 0;
    std::jthread notifies([&] {
        value.store(1);
        value.notify_one();
        std::atomic_ref<int>(bare).fetch_add(2);
        flag.test_and_set();
        flag.notify_all();
    });
    value.wait(0);
    flag.wait(false);
    assert(std::atomic_ref<int>(bare).load() == 2 && flag.test());
}

int main(int argc, char **) {
    void (*const all[])() = {semaphores, latches, barriers, stops, waits};
    all[argc - 1]();
    return 0;
}
