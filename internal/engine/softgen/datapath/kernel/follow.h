// The counting program follows stamped frames. It finds whether all came, once and in order, and how
// long they took. record in follow.go does the same in Go, and describes the words of a window.
#pragma once
#include "count.h"

enum {
	// Of internal/units/transit.
	TRANSIT_FINE_BITS = 8,
	TRANSIT_LIMIT_BITS = 34,
	TRANSIT_BEYOND = ((TRANSIT_LIMIT_BITS - TRANSIT_FINE_BITS) << (TRANSIT_FINE_BITS - 1)) + (1 << TRANSIT_FINE_BITS),
};

// followed is the evidence of the stamps of a stream's frames.
struct followed {
	struct bpf_spin_lock lock; // first: a user without CAP_PERFMON may not compute an address that is the lock's
	__u32 run;                 // the sender's generation | RUN_KNOWN
	__u32 next;                // the sequence after the highest
	__u32 timed;               // 1: last is of a frame of this run
	__u64 received;
	__u64 bytes;
	__u64 lost;       // sequences that were skipped and have not come since
	__u64 duplicates;
	__u64 reordered;  // came late
	__u64 stale;      // so late that it may be a duplicate
	__u64 too_high;   // so far off that the sender must have begun anew
	__u64 too_low;
	__u64 sum;        // ns, as are the next three
	__u64 shortest;
	__u64 longest;
	__u64 last;
	__u64 jitter;     // sixteenths of a ns
	__u64 merged;     // frames of merged buffers, in which only the last stamp can be read: none is followed
	__u64 uncounted;  // followed, and in no bucket: the flow had no buckets yet, and the ring had no room
	__u64 varied;     // sum of the differences between successive frames' times in one run, ns
	__u64 changes;    // number of those differences
	__u64 recent[RECENT_WORDS];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, FLOWS);
	__type(key, __u32);
	__type(value, struct followed);
} followed SEC(".maps");

// buckets are a flow's transit times, each processor's own. User space makes a flow's buckets
// after the flow's first stamp, because they take 28 KiB for each processor.
struct buckets {
	__u64 frames[TRANSIT_BEYOND + 1];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, FLOWS);
	__type(key, __u32);
	__array(values, struct {
		__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
		__uint(max_entries, 1);
		__uint(key_size, sizeof(__u32));
		__uint(value_size, sizeof(struct buckets));
	});
} transits SEC(".maps");

// read_stamp reads the stamp at a frame's end and the frame's transit time. It returns 0 without a stamp.
static __always_inline bool read_stamp(const struct frame *f, struct stamp *s, __u64 *transit)
{
	if (load(f, f->buffer - sizeof(*s), s, sizeof(*s)) || s->magic != STAMP_MAGIC)
		return 0;
	*transit = bpf_ktime_get_ns() - little64(s->sent);
	return 1;
}

// recent_word is the word at an index. Its address is computed in two steps, the first of which passes the lock.
static __always_inline __u64 *recent_word(struct followed *state, __u32 index)
{
	__u64 *words = state->recent;

	asm volatile("" : "+r"(words));
	return words + index % RECENT_WORDS;
}

static __always_inline void empty_recent(struct followed *state)
{
#pragma unroll
	for (int i = 0; i < RECENT_WORDS; i++)
		state->recent[i] = 0;
}

static __always_inline __u64 recent_bit(__u32 sequence) { return 1ull << (sequence & 63); }

// begin_anew empties the window and puts this sequence at its end.
static __always_inline void begin_anew(struct followed *state, __u32 sequence)
{
	empty_recent(state);
	state->next = sequence + 1;
	*recent_word(state, sequence >> 6) |= recent_bit(sequence);
}

// advance empties the words that the window enters.
static __always_inline void advance(struct followed *state, __u32 sequence)
{
	__u32 highest = state->next - 1;
	__u32 entered = (sequence - (highest & ~63)) >> 6;

#pragma unroll
	for (__u32 i = 0; i < RECENT_WORDS; i++) {
		if (i < entered)
			*recent_word(state, (highest >> 6) + 1 + i) = 0;
	}
	state->next = sequence + 1;
	*recent_word(state, sequence >> 6) |= recent_bit(sequence);
}

// judge_late distinguishes late frames and duplicates.
static __always_inline void judge_late(struct followed *state, __u32 sequence)
{
	__u64 *word = recent_word(state, sequence >> 6);

	if ((((state->next - 1) | 63) - sequence) >> 6 >= RECENT_WORDS) {
		state->stale++;
	} else if (*word & recent_bit(sequence)) {
		state->duplicates++;
	} else {
		state->reordered++;
		if (state->lost > 0)
			state->lost--;
		*word |= recent_bit(sequence);
	}
}

static __always_inline void judge_order(struct followed *state, __u32 sequence)
{
	__s32 ahead = sequence - state->next;

	if (ahead > FAR_OFF) {
		state->too_high++;
		begin_anew(state, sequence);
	} else if (ahead >= 0) {
		state->lost += ahead;
		advance(state, sequence);
	} else if (ahead < -FAR_OFF) {
		state->too_low++;
		begin_anew(state, sequence);
	} else {
		judge_late(state, sequence);
	}
}

// add_time adds a transit time. Jitter is RFC 3550's, in the whole numbers of its appendix A.8.
static __always_inline void add_time(struct followed *state, __u64 transit, __u64 length)
{
	if (state->received == 0 || transit < state->shortest)
		state->shortest = transit;
	if (transit > state->longest)
		state->longest = transit;
	state->received++;
	state->bytes += length;
	state->sum += transit;
	if (state->timed) {
		__s64 change = transit - state->last;

		if (change < 0)
			change = -change;
		state->varied += change;
		state->changes++;
		state->jitter += change - (state->jitter >> 4);
	}
	state->timed = 1;
	state->last = transit;
}

// bucket_of is the bucket of a transit time (transit.Index). It is the time shifted by its bits above TRANSIT_FINE_BITS.
// They are found by halves, without branches, because the kernel's verifier would try all ways.
static __always_inline __u32 bucket_of(__u64 transit)
{
	__u64 rest = transit >> TRANSIT_FINE_BITS;
	__u32 shift = 0;

	if (transit >> TRANSIT_LIMIT_BITS)
		return TRANSIT_BEYOND;
#pragma unroll
	for (__u32 half = 16; half > 0; half /= 2) {
		__u64 bits = ((1ull << half) - 1 - rest) >> 63 << __builtin_ctz(half); // half where rest has more bits, else 0

		rest >>= bits;
		shift += bits;
	}
	shift += rest; // its last bit
	return (shift << (TRANSIT_FINE_BITS - 1)) + (transit >> shift);
}

// count_transit counts into this processor's buckets of the flow. While the flow has none, the stamp
// goes up the ring, whose reader makes some. A stamp that finds the ring full is uncounted.
static __always_inline void count_transit(const struct frame *f, struct followed *state, __u32 id, const struct stamp *s,
					  __u64 transit)
{
	__u32 zero = 0, bucket = bucket_of(transit);
	void *of_flow = bpf_map_lookup_elem(&transits, &id);
	struct buckets *b = of_flow ? bpf_map_lookup_elem(of_flow, &zero) : 0;
	struct record *r;

	if (b) {
		if (bucket > TRANSIT_BEYOND)
			bucket = TRANSIT_BEYOND;
		b->frames[bucket]++;
		return;
	}
	r = reserve(f, sizeof(*r) + sizeof(*s), RECORD_STAMP);
	if (!r) {
		__sync_fetch_and_add(&state->uncounted, 1);
		return;
	}
	r->time = little64(s->sent) + transit; // when the frame was followed
	*(struct stamp *)(r + 1) = *s;
	bpf_ringbuf_submit(r, 0);
}

// follow takes in a frame with a stamp of this flow.
//
//	lock ─▶ order ─▶ time ─▶ unlock ─▶ bucket + 1, or ring where there are no buckets yet, or uncounted + 1
static __always_inline void follow(const struct frame *f, __u32 id, const struct stamp *s, __u64 transit)
{
	struct followed *state = bpf_map_lookup_elem(&followed, &id);
	__u32 run = s->generation | RUN_KNOWN;

	if (!state)
		return;
	if (f->frames != 1) {
		__sync_fetch_and_add(&state->merged, f->frames);
		return;
	}
	bpf_spin_lock(&state->lock);
	if (state->run != run) { // what is known is of an earlier run of the sender
		state->run = run;
		state->next = 0;
		state->timed = 0;
		empty_recent(state);
	}
	// next is read anew: a user without CAP_PERFMON may not compute an address from what is known on one way to here.
	asm volatile("" ::: "memory");
	judge_order(state, little32(s->sequence));
	add_time(state, transit, f->length);
	bpf_spin_unlock(&state->lock);
	count_transit(f, state, id, s, transit);
}
