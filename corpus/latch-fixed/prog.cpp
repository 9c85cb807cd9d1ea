/* latch-fixed: two workers count down a std::latch (C++20) after writing their results. */
#include <cassert>
#include <latch>
#include <thread>

static std::latch finished(2);
static int results[2];

static void work(int me) {
    results[me] = me + 1;
    finished.count_down();
}

int main() {
    std::thread first(work, 0), second(work, 1);
    finished.wait();
    int sum = results[0] + results[1];
    first.join();
    second.join();
    assert(sum == 3);
}
