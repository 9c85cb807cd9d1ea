/* virtual-destructor: a base class starts a thread in its constructor and joins it in its
   destructor. The thread calls a virtual function while the derived part is built or destroyed.
   Repair: the thread is started after the whole object is built, and joined before it is
   destroyed. */
#include <atomic>
#include <thread>

struct Worker {
    std::atomic<int> done{0};
    std::thread thread;
    virtual void run() { done = 1; }
#ifdef FIXED
    void start() {
        thread = std::thread([this] { run(); });
    }
    void stop() { thread.join(); }
    virtual ~Worker() = default;
#else
    Worker() : thread([this] { run(); }) {}
    virtual ~Worker() { thread.join(); }
#endif
};

struct Doubler : Worker {
    void run() override { done = 2; }
};

int main() {
    Doubler doubler;
#ifdef FIXED
    doubler.start();
    doubler.stop();
#endif
}
