// Rows of channels and the memory they lie in.
#pragma once
#include <algorithm>
#include <cstddef>
#include <utility>

static inline int up(int n, int multiple) { return (n + multiple - 1) / multiple * multiple; }

template <class T>
struct Rows {  // `count` rows of `width` channels, `stride` elements apart; rows before and behind count as zeros
    T* data = nullptr;
    int count = 0, width = 0;
    long stride = 0;
    T* row(long t) const { return data + t * stride; }
    bool has(long t) const { return t >= 0 && t < count; }
};

// Whole pages straight from the system, large ones where it can: what is dropped is given back at once, whatever the
// allocator would rather keep.
void* take_pages(size_t bytes);
void give_pages(void* data, size_t bytes);

template <class T>
struct Aligned {  // grows, never shrinks until dropped
    T* get(size_t n) {
        if (n > size_) {
            drop();
            data_ = static_cast<T*>(take_pages(n * sizeof(T)));
            size_ = n;
        }
        return data_;
    }
    void drop() {
        if (data_) give_pages(data_, size_ * sizeof(T));
        data_ = nullptr;
        size_ = 0;
    }
    size_t bytes() const { return size_ * sizeof(T); }
    void swap(Aligned& other) { std::swap(data_, other.data_), std::swap(size_, other.size_); }
    ~Aligned() { drop(); }
    Aligned() = default;
    Aligned(const Aligned&) = delete;
    Aligned& operator=(const Aligned&) = delete;

private:
    T* data_ = nullptr;
    size_t size_ = 0;
};

// What layers hand to each other. Where an utterance is left in its midst for another one, the other's rows lie aside.
template <class T>
struct Working {
    T* get(size_t n) { return here_.get(n); }
    void turn() { here_.swap(aside_); }  // pointers into either stay good
    void drop() { here_.drop(); }
    void drop_aside() { aside_.drop(); }
    size_t bytes() const { return here_.bytes(); }
    size_t bytes_aside() const { return aside_.bytes(); }

private:
    Aligned<T> here_, aside_;
};
