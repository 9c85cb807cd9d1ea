/* virtual-destructor: a base class starts a thread in its constructor and joins it in its
   destructor. The thread calls a virtual function while the derived part is built or destroyed. */
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
