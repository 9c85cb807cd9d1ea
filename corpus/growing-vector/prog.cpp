/* growing-vector: a thread appends to a std::vector, which may move its elements, while main reads
   the first element. The repair: main reads a copy, which it makes before it starts the thread. */
#include <cassert>
#include <thread>
#include <vector>

int main() {
    std::vector<int> numbers{1};
#ifdef FIXED
    std::vector<int> copy = numbers;
#endif
    std::thread other([&numbers] { numbers.push_back(2); });
#ifdef FIXED
    assert(copy.front() == 1);
#else
    assert(numbers.front() == 1);
#endif
    other.join();
    assert(numbers.size() == 2);
}
