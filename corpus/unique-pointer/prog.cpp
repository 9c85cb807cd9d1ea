/* unique-pointer: a thread uses an object that a std::unique_ptr of main owns. Main may leave the
   block, and so destroy the object, before that. Repair: the thread and main share the object by
   std::shared_ptr. */
#include <atomic>
#include <memory>
#include <thread>

struct Counter {
    std::atomic<int> value{0};
};

int main() {
    std::thread worker;
    {
#ifdef FIXED
        auto counter = std::make_shared<Counter>();
        worker = std::thread([counter] { counter->value++; });
#else
        auto counter = std::make_unique<Counter>();
        worker = std::thread([&counter = *counter] { counter.value++; });
#endif
        counter->value++;
    }
    worker.join();
}
