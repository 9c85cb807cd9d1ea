/* latch: two workers count down a std::latch (C++20) before they write their results, which main
   may then read too early. The repair: they write their results first. */
#include <cassert>
#include <latch>
#include <thread>

static std::latch finished(2);
static int results[2];

static void work(int me) {
#ifdef FIXED
    results[me] = me + 1;
    finished.count_down();
#else
    finished.count_down();
    results[me] = me + 1;
#endif
}

int main() {
    std::thread first(work, 0), second(work, 1);
    finished.wait();
    int sum = results[0] + results[1];
    first.join();
    second.join();
    assert(sum == 3);
}
