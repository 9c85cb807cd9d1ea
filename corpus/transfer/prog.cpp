/* transfer: two transfers between the same accounts, in opposite
   directions, each lock the account that they debit first. */
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
    std::lock_guard<std::mutex> take(from.mutex);
    std::lock_guard<std::mutex> give(to.mutex);
    from.balance -= amount;
    to.balance += amount;
}

int main() {
    std::thread other([] { transfer(right, left, 10); });
    transfer(left, right, 20);
    other.join();
    assert(left.balance == 90 && right.balance == 110);
}
