/* async-future-fixed: two tasks of std::async return their results, and main adds them. */
#include <cassert>
#include <future>

static int square(int i) {
    return i * i;
}

int main() {
    auto first = std::async(std::launch::async, square, 3);
    auto second = std::async(std::launch::async, square, 4);
    int sum = first.get() + second.get();
    assert(sum == 25);
}
