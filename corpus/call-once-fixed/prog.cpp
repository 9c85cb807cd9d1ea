/* call-once-fixed: std::call_once creates a table. */
#include <cassert>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

static std::unique_ptr<std::vector<int>> table;
static std::once_flag once;

static int square(int i) {
    auto make = [] { table = std::make_unique<std::vector<int>>(std::vector<int>{0, 1, 4, 9}); };
    std::call_once(once, make);
    return (*table)[i];
}

int main() {
    std::thread other([] { assert(square(2) == 4); });
    assert(square(3) == 9);
    other.join();
}
