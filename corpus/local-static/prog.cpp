/* local-static: two threads use a static variable of a function, initialized at the first use.
   The bug is the flag -fno-threadsafe-statics in expect.toml, with which both may initialize it.
   The repair: fixed.toml does not have the flag, so one thread initializes it. */
#include <cassert>
#include <string>
#include <thread>

static int made;

struct Config {
    std::string name;
    Config() : name("a name that is too long to be inside the string") { made++; }
};

static const Config &config() {
    static Config only;
    return only;
}

int main() {
    std::thread other([] { assert(config().name.size() > 20); });
    assert(config().name.size() > 20);
    other.join();
    assert(made == 1);
}
