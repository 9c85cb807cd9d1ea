/* async-future: two tasks of std::async add their results to one variable. */
#include <cassert>
#include <future>

static int sum;

static int square(int i) {
    sum += i * i;
    return i * i;
}

int main() {
    auto first = std::async(std::launch::async, square, 3);
    auto second = std::async(std::launch::async, square, 4);
    first.get();
    second.get();
    assert(sum == 25);
}
