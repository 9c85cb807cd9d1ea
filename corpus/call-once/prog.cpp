/* call-once: a thread that finds no table creates it. Two threads may find none. In the
   repaired program, std::call_once creates the table. */
#include <cassert>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

static std::unique_ptr<std::vector<int>> table;
#ifdef FIXED
static std::once_flag once;
#endif

static int square(int i) {
    auto make = [] { table = std::make_unique<std::vector<int>>(std::vector<int>{0, 1, 4, 9}); };
#ifdef FIXED
    std::call_once(once, make);
#else
    if (!table)
        make();
#endif
    return (*table)[i];
}

int main() {
    std::thread other([] { assert(square(2) == 4); });
    assert(square(3) == 9);
    other.join();
}
