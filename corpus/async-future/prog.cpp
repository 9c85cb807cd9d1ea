/* async-future: two tasks of std::async add their results to one variable without
   synchronization. In the repaired program, they return their results and main adds them. */
#include <cassert>
#include <future>

#ifndef FIXED
static int sum;
#endif

static int square(int i) {
#ifndef FIXED
    sum += i * i;
#endif
    return i * i;
}

int main() {
    auto first = std::async(std::launch::async, square, 3);
    auto second = std::async(std::launch::async, square, 4);
#ifdef FIXED
    int sum = first.get() + second.get();
#else
    first.get();
    second.get();
#endif
    assert(sum == 25);
}
