// A few threads that share out numbered tasks and meet at the end: what OpenMP would do, without a second OpenMP
// runtime beside torch's.
#pragma once
#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

class Pool {
public:
    explicit Pool(int threads) {
        for (int i = 1; i < threads; ++i) workers_.emplace_back([this] { live(); });
    }

    ~Pool() {
        {
            std::lock_guard<std::mutex> lock(mutex_);
            closing_ = true;
            ++round_;
        }
        wake_.notify_all();
        for (auto& worker : workers_) worker.join();
    }

    // Runs task(0) .. task(count - 1) on all threads, the caller's included; returns when all are done.
    template <class Task>
    void run(int count, Task&& task) {
        if (count <= 1 || workers_.empty()) {
            for (int i = 0; i < count; ++i) task(i);
            return;
        }
        std::function<void(int)> work = std::ref(task);
        {
            std::lock_guard<std::mutex> lock(mutex_);
            work_ = &work;
            count_ = count;
            next_.store(0, std::memory_order_relaxed);
            busy_.store(int(workers_.size()), std::memory_order_relaxed);
            round_.fetch_add(1, std::memory_order_release);
        }
        wake_.notify_all();
        share(work, count);
        for (int spins = 0; busy_.load(std::memory_order_acquire) > 0; ++spins)
            if (spins > kSpins) std::this_thread::yield();
    }

    // Called between layers, where all that an utterance needs lies in its own rows: what it does may run another one.
    std::function<void()> between = [] {};

private:
    static constexpr int kSpins = 2000;  // some 50 microseconds: the next task of a network comes sooner than that

    void share(const std::function<void(int)>& work, int count) {
        for (int i; (i = next_.fetch_add(1, std::memory_order_relaxed)) < count;) work(i);
    }

    void live() {
        unsigned seen = 0;
        for (;;) {
            for (int spins = 0; spins < kSpins && round_.load(std::memory_order_acquire) == seen; ++spins) pause();
            if (round_.load(std::memory_order_acquire) == seen) {
                std::unique_lock<std::mutex> lock(mutex_);
                wake_.wait(lock, [&] { return round_.load(std::memory_order_acquire) != seen; });
            }
            seen = round_.load(std::memory_order_acquire);
            if (closing_) return;
            share(*work_, count_);
            busy_.fetch_sub(1, std::memory_order_release);
        }
    }

    static void pause() {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
    }

    std::vector<std::thread> workers_;
    std::mutex mutex_;
    std::condition_variable wake_;
    std::atomic<unsigned> round_{0};
    std::atomic<int> next_{0}, busy_{0};
    const std::function<void(int)>* work_ = nullptr;
    int count_ = 0;
    std::atomic<bool> closing_{false};
};
