/* growing-vector-fixed: a thread appends to a std::vector. Main uses a copy of it. */
#include <cassert>
#include <thread>
#include <vector>

int main() {
    std::vector<int> numbers{1};
    std::vector<int> copy = numbers;
    std::thread other([&numbers] { numbers.push_back(2); });
    assert(copy.front() == 1);
    other.join();
    assert(numbers.size() == 2);
}
