/* unique-pointer-fixed: a thread and main share an object by std::shared_ptr.
   Main may return from the block before the thread uses the object. */
#include <atomic>
#include <memory>
#include <thread>

struct Counter {
    std::atomic<int> value{0};
};

int main() {
    std::thread worker;
    {
        auto counter = std::make_shared<Counter>();
        worker = std::thread([counter] { counter->value++; });
        counter->value++;
    }
    worker.join();
}
