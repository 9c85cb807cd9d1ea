/* virtual-destructor-fixed: a thread calls a virtual function of an object. The
   object starts the thread when it is complete, and joins it while it is. */
#include <atomic>
#include <thread>

struct Worker {
    std::atomic<int> done{0};
    std::thread thread;
    virtual void run() { done = 1; }
    void start() {
        thread = std::thread([this] { run(); });
    }
    void stop() { thread.join(); }
    virtual ~Worker() = default;
};

struct Doubler : Worker {
    void run() override { done = 2; }
};

int main() {
    Doubler doubler;
    doubler.start();
    doubler.stop();
}
