// The counting program records when each frame of trains arrives.
#pragma once
#include "count.h"

// An arrival is when a frame of a train came. User space makes as much room as the trains need, and finds as many
// arrivals as came, in order.
struct arrival {
	__u64 time;     // ns
	__u32 sequence; // the frame's number in all trains of the run
	__u32 recorded; // 1: the other members are valid
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct arrival);
} arrivals SEC(".maps");

volatile __u64 arrived SEC(".data.arrived"); // frames of the trains, also those without room

// This constant tells the trains from earlier ones whose frames may still be on their way.
const volatile __u8 train_generation;

// record_arrival records a frame of the trains. It returns 0 for other frames.
static __always_inline bool record_arrival(const struct frame *f, __u64 now)
{
	struct stamp s;
	struct arrival *a;
	__u32 place;

	if (load(f, f->buffer - sizeof(s), &s, sizeof(s)) || s.magic != STAMP_MAGIC || little16(s.id) != TRAIN_FLOW ||
	    s.generation != train_generation)
		return 0;
	place = __sync_fetch_and_add(&arrived, 1);
	a = bpf_map_lookup_elem(&arrivals, &place);
	if (a) {
		a->time = now;
		a->sequence = little32(s.sequence);
		*(volatile __u32 *)&a->recorded = 1;
	}
	return 1;
}
