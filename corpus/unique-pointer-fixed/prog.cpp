/* unique-pointer-fixed: a thread uses what it shares with main by std::shared_ptr; main may return from the
   block before it does. */
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
