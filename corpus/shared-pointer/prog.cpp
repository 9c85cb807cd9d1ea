/* shared-pointer: a thread assigns a std::shared_ptr while another copies it. The bug: it is
   copied without a lock, but only its count is atomic, not the pointer itself. The repair: both
   hold a mutex. */
#include <cassert>
#include <memory>
#include <mutex>
#include <thread>

static std::shared_ptr<int> current = std::make_shared<int>(1);
static std::mutex mutex;

static std::shared_ptr<int> copy() {
#ifdef FIXED
    std::lock_guard<std::mutex> guard(mutex);
#endif
    return current;
}

int main() {
    std::thread writer([] {
        auto next = std::make_shared<int>(2);
        std::lock_guard<std::mutex> guard(mutex);
        current = next;
    });
    auto seen = copy();
    assert(*seen == 1 || *seen == 2);
    seen.reset();
    writer.join();
    assert(*current == 2);
}
