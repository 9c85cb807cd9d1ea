/* growing-vector: a thread appends to a std::vector, which may
   move its elements, while main reads the first element. */
#include <cassert>
#include <thread>
#include <vector>

int main() {
    std::vector<int> numbers{1};
    std::thread other([&numbers] { numbers.push_back(2); });
    assert(numbers.front() == 1);
    other.join();
    assert(numbers.size() == 2);
}
