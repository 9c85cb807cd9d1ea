/* transfer: two transfers between the same accounts, in opposite directions, each lock the account
   that they debit first. Repair: both lock the account with the smaller address first.
   (std::scoped_lock tries and backs off, which allows infinite executions.) */
#include <cassert>
#include <functional>
#include <mutex>
#include <thread>

struct Account {
    std::mutex mutex;
    int balance = 100;
};

static Account left, right;

static void transfer(Account &from, Account &to, int amount) {
#ifdef FIXED
    bool in_order = std::less<Account *>()(&from, &to);
    std::lock_guard<std::mutex> first(in_order ? from.mutex : to.mutex);
    std::lock_guard<std::mutex> second(in_order ? to.mutex : from.mutex);
#else
    std::lock_guard<std::mutex> take(from.mutex);
    std::lock_guard<std::mutex> give(to.mutex);
#endif
    from.balance -= amount;
    to.balance += amount;
}

int main() {
    std::thread other([] { transfer(right, left, 10); });
    transfer(left, right, 20);
    other.join();
    assert(left.balance == 90 && right.balance == 110);
}
