/* promise-exception: a task fails with an exception if it runs too early. The bug: main gets the
   exception from future.get() and does not catch it, so std::terminate is called. The repair:
   main catches it. */
#include <atomic>
#include <cassert>
#include <future>
#include <stdexcept>

static std::atomic<bool> is_open{false};

static int read() {
    if (!is_open)
        throw std::runtime_error("not open");
    return 42;
}

int main() {
    auto result = std::async(std::launch::async, read);
    is_open = true;
#ifdef FIXED
    try {
        int value = result.get();
        assert(value == 42);
    } catch (const std::runtime_error &) {
        assert(is_open);
    }
#else
    int value = result.get();
    assert(value == 42);
#endif
}
