/* virtual-destructor: a class starts its thread in the base and joins it in the base's destructor: the thread
   calls a virtual function while the derived part comes and goes. */
#include <atomic>
#include <thread>

struct Worker {
    std::atomic<int> done{0};
    std::thread thread;
    virtual void run() { done = 1; }
    Worker() : thread([this] { run(); }) {}
    virtual ~Worker() { thread.join(); }
};

struct Doubler : Worker {
    void run() override { done = 2; }
};

int main() {
    Doubler doubler;
}
