// The programs that send live frames share this with user space, which maps it into its
// memory. Each word has one writer. Times are of the kernel's monotonic clock in ns. Schedule
// time begins with the run, and stands still in pauses and while time is given up.
#pragma once
#include "../../../../host/bpf/bpf.h"

// Go's code has these constants from this enum.
enum shared {
	STREAMS = 64,         // of a run, at most
	SLOTS = 32,           // ports that send on a thread, at most: the kernel follows 33 programs that go on to the next
	LAG_BITS = 8,         // lag has a fraction of so many bits: it shrinks by a unit per ns, which is catchUpRate
	BURST_OWED_BITS = 3,  // an eighth of the time that is owed leaves at once
	PROPORTION_BITS = 20, // of the fraction of two gaps' proportion: twice a gap's bits, and these, fit 64
	LONGEST_WAIT = 400,   // ns between two runs of the program that count as idle: what is longer was a stall, or work

	CHANGE_FACTOR = 1,
	PAUSE = 2,
	RESUME = 3,
};

#define NEVER (~0ull)

// A stream's words. A gap is whole ns and a fraction in units of 2⁻³², so that the rate is right to a frame in days.
struct stream {
	// Written by user space. A new gap is valid with the next order.
	__u64 new_gap;
	__u64 new_fraction;
	__u64 step;         // by how much the index of this thread's frames grows
	__u64 longer;     // how many bytes longer its frames are than those that the kernel runs the program on, as a signed number
	__u64 fixed_rate;   // 1: the factor doesn't change its rate

	// Written by the program, after user space has set their first values.
	__u64 gap;
	__u64 fraction;
	__u64 due;          // when the stream's next frame of this thread is due, in schedule time; NEVER: it has no more
	__u64 due_fraction;
	__u64 index;        // that frame's
	__u64 packets;      // sent so far
	__u64 bytes;        // the same, with FCS, of a stream whose frames differ in length
	__u64 remaining;    // frames to come, of a finite stream; 0: it has no end
};

// The words of a port's part of a run on one thread.
struct part {
	// Written by user space.
	__u64 lease;     // past this time nothing leaves; 0: never again
	__u64 start;     // the run's first instant
	__u64 version;   // grows with each order, once what it says is written
	__u64 order;
	__u64 min_burst; // how much overdue schedule time may leave at once where nothing is owed
	__u64 max_burst; // the same at most
	__u64 spacing;   // the least schedule time between two frames of the thread
	__u64 end;       // no frame that is due at or after this time leaves
	__u64 next_slot; // the slot of the port that the thread asks after this one; 0: no other port sends on the thread

	// Written by the program, after user space has set their first values.
	__u64 runs;          // of the program
	__u64 executed;      // the version carried out last
	__u64 last_run;      // when the program last ran
	__u64 lag;           // time lost to a stall and being made up for, with a fraction of LAG_BITS
	__u64 offset;        // schedule time zero: the start, and all pauses and slip since
	__u64 slip;          // schedule time that was given up
	__u64 slip_at_order; // what of it was before the last change of factor
	__u64 paused_at;     // 0: not paused
	__u64 next;          // when the next frame is due, in schedule time
	__u64 next_stream;   // whose it is
	__u64 earliest;      // before this schedule time none leaves
	__u64 finished;      // 1: nothing is left to send
	__u64 first_frame;   // when the first frame of a run of finite streams was made; 0: none was
	__u64 last_frame;    // the same of the latest frame


	// The last one belongs to no stream. A user without CAP_PERFMON may not compute
	// an address behind the part's end, as a loop over all streams does.
	struct stream streams[STREAMS + 1];
};

// The words of a thread, the same for all ports that send on it.
struct thread {
	__u64 entry_slot; // written by user space: the slot of a port that sends

	__u64 turn_slot;  // the slot of the port that is asked first; 0: that of entry_slot
	__u64 asked_slot; // the slot of the port that was asked first in the present run of the program
	__u64 idle;       // time in which no port had anything due
};

// The words of trains, which one thread sends for one port. A train begins with one of the kernel's batches.
struct trains {
	// Written by user space.
	__u64 lease;  // past this time no train begins
	__u64 start;  // nor before this time
	__u64 frames; // of a train
	__u64 batch;  // frames that the kernel sends as one batch, dropped ones included
	__u64 pause;  // before each train

	// Written by the program, after user space has set their first values.
	__u64 runs;   // of the program
	__u64 place;  // of the present run in its batch
	__u64 coming; // trains that have not ended
	__u64 left;   // frames to come of the present train; 0: none is on its way
	__u64 due;    // when the next train may begin; 0: not known yet
	__u64 first_frame; // when the present train's first frame was made
	struct stream stream;
};
