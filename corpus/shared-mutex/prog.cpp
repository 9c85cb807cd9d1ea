/* shared-mutex: a cache with a std::shared_mutex. The bug: it is filled under the read lock. The
   repair: it is filled under the write lock. */
#include <cassert>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <thread>

static std::shared_mutex mutex;
static std::map<int, int> cache;

static int square(int i) {
    {
        std::shared_lock<std::shared_mutex> reading(mutex);
        auto found = cache.find(i);
        if (found != cache.end())
            return found->second;
    }
#ifdef FIXED
    std::unique_lock<std::shared_mutex> writing(mutex);
#else
    std::shared_lock<std::shared_mutex> writing(mutex);
#endif
    return cache[i] = i * i;
}

int main() {
    std::thread other([] {
        int nine = square(3);
        assert(nine == 9);
    });
    int nine = square(3);
    assert(nine == 9);
    other.join();
}
