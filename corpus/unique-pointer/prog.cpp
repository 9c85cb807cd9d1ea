/* unique-pointer: a thread uses an object that a std::unique_ptr
   of main owns. Main may return from the block before that. */
#include <atomic>
#include <memory>
#include <thread>

struct Counter {
    std::atomic<int> value{0};
};

int main() {
    std::thread worker;
    {
        auto counter = std::make_unique<Counter>();
        worker = std::thread([&counter = *counter] { counter.value++; });
        counter->value++;
    }
    worker.join();
}
