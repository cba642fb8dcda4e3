// Live frames are frames on which the kernel runs these programs again and again (BPF_PROG_TEST_RUN
// with live frames). A program sends or drops each frame. It waits by dropping.
//
//	one port           linerate_entry ─▶ its linerate_send
//	several            linerate_entry ─▶ linerate_rotor ─▶ the send whose turn it is ─▶ the next one ─▶ … ─▶ drop
//	trains             linerate_entry ─▶ linerate_train, which keeps no pace
//
// Each thread has an entry and a rotor. Each port's part of a run on a thread has a send of its own:
//
//	lease over? ─▶ new order? ─▶ before the start, paused? ─▶ next frame due? ─▶ make the frame ─▶ who is next ─▶ send
//	  │                │                 │                          │
//	  │                ▼                 ▼                          ▼
//	  │           carry it out         wait ◀──────────────────── not yet
//	  │                                  │
//	  └──────────────────────────────────┴─▶ send of the next port on this thread; no other has a frame due either: drop
//
// The pace is pacer's, in whole numbers and for each frame. But nothing sleeps in between, so
// fewer frames may leave at once. After a single stall nearly none do, and more do the more
// time is owed. So frames come one by one on a quiet machine, and the rate is kept on a busy
// one, or where a device's work on a frame takes most of the time until the next frame.
//
//	at once    8 frames ┤        ________
//	                    │    ╱
//	          3/4 frame ┤╱                    owed: an eighth of it leaves at once
//	                    └┬───────────────▶
//	                     0
#include "send.h"

char _license[] SEC("license") = "Apache-2.0";

volatile struct part part SEC(".data.part");
volatile struct thread thread SEC(".data.thread");
volatile struct trains trains SEC(".data.trains");

// bpf2go makes Go types of these variables' types.
const enum shared *shared_for_go __attribute__((unused));

// These constants of a part are set before it runs.
const volatile __u32 streams;
const volatile bool has_end;  // the run ends by itself
const volatile bool timed;    // all streams are finite
const volatile __u64 max_lag; // ns

// slots are a thread's programs. linerate_entry continues with slot 0.
struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, SLOTS + 1);
	__type(key, __u32);
	__type(value, __u32);
} slots SEC(".maps");

// The interface that a part sends on.
struct {
	__uint(type, BPF_MAP_TYPE_DEVMAP);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} outlet SEC(".maps");

// sendings are how long each train took, from its first frame to its last, in ns.
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); // as many as there are trains
	__type(key, __u32);
	__type(value, __u64);
} sendings SEC(".maps");

// make_frame makes a stream's frame with this index, and returns the verdict on it. User space composes the
// function of the instructions of the run's streams, and has the program jump there and back in place of this call
// (live_code.go). So the call is the last thing that the program does, and no register needs to outlive it.
static __noinline int make_frame(struct xdp_md *xdp, volatile struct stream *s, __u32 k, __u64 index, int verdict)
{
	asm volatile("" : "+r"(verdict) : "r"(xdp), "r"(s), "r"(k), "r"(index));
	return verdict;
}

// give_up stretches the schedule by a time. Frames due after the run's end were not given up.
static __always_inline void give_up(volatile struct part *p, __u64 time)
{
	__u64 offset = p->offset;

	p->offset = offset + time;
	if (has_end) {
		__u64 rest = p->end - offset - p->next;

		if (time > rest)
			time = rest;
	}
	p->slip += time;
}

// find_next stores the stream whose frame is due first as next_stream, and returns when that frame
// is due. User space composes this function, too. A line of comparisons, one for each stream, takes
// the kernel's verifier a few states. A loop takes too many for a user without CAP_PERFMON.
static __noinline __u64 find_next(volatile struct part *p)
{
	__u64 due;

	asm volatile("%0 = 0" : "=r"(due) : "r"(p));
	return due;
}

// schedule sets whose frame is next, and when. Streams that are due together leave one
// by one. The next frame is never due sooner than nearly a mean gap after the last.
static __always_inline void schedule(volatile struct part *p)
{
	__u64 next = find_next(p);

	if (next < p->earliest)
		next = p->earliest;
	p->next = next;
	if (has_end && (next == NEVER || next + p->offset >= p->end)) {
		p->next = NEVER;
		p->finished = 1;
	}
}

// rescale gives a stream its new gap. It stretches the rest of a wait that has begun in proportion.
static __always_inline void rescale(volatile struct stream *s, __u64 now)
{
	__u64 due = s->due, gap = s->new_gap;

	if (due == NEVER || s->fixed_rate)
		return;
	if (due > now && s->index != 0 && due - now <= s->gap)
		s->due = now + (((due - now) << PROPORTION_BITS) / s->gap * gap >> PROPORTION_BITS);
	s->gap = gap;
	s->fraction = s->new_fraction;
}

// change_factor gives up overdue frames beyond a burst, as pacer.discardOverdue does, and
// gives each stream its new gap, as timeline.rescale does. now stands still in a pause.
static __always_inline void change_factor(volatile struct part *p, __u64 now, __u64 lag)
{
	__u64 given_up = lag >> LAG_BITS;
	__u64 horizon = now - p->offset - given_up;
	__u64 next = p->next;
	__u32 n = streams;

	if (horizon > next && horizon - next > p->max_burst)
		given_up += horizon - next - p->max_burst;
	p->lag = 0;
	give_up(p, given_up);
	p->slip_at_order = p->slip;
	p->earliest = 0;
	now -= p->offset;
	for (__u32 k = 0; k < STREAMS && k < n; k++)
		rescale(&p->streams[k], now);
}

// obey carries out an order at once, or at the start if that is still
// to come. It returns 1 if the streams' due times have changed.
static __always_inline bool obey(volatile struct part *p, __u64 now, __u64 lag, __u64 version)
{
	__u64 paused_at = p->paused_at;

	p->executed = version;
	if (now < p->start)
		now = p->start;
	switch (p->order) {
	case CHANGE_FACTOR:
		change_factor(p, paused_at ? paused_at : now, lag);
		return 1;
	case RESUME:
		p->offset += now - paused_at;
		p->paused_at = 0;
		break;
	default:
		p->paused_at = now;
	}
	return 0;
}

// pass has the next port of the thread send on the same frame, if that port has
// one due. After all ports were asked, the time since the last run was idle.
static __always_inline int pass(struct xdp_md *xdp, volatile struct part *p, __u64 idle)
{
	__u64 after = p->next_slot;

	if (after != 0 && after != thread.asked_slot) {
		bpf_tail_call(xdp, &slots, after);
		return XDP_DROP; // that port has just stopped
	}
	thread.idle += idle;
	return XDP_DROP;
}

// advance says when the stream's next frame is due.
static __always_inline void advance(volatile struct stream *s)
{
	__u64 fraction = s->due_fraction + s->fraction;
	__u64 due = s->due + s->gap + (fraction >> 32);
	__u64 left = s->remaining;

	s->due_fraction = (__u32)fraction;
	if (left != 0) {
		s->remaining = left - 1;
		if (left == 1)
			due = NEVER;
	}
	s->due = due;
}

SEC("xdp")
int linerate_send(struct xdp_md *xdp)
{
	__u64 now = bpf_ktime_get_ns(), since, lag, horizon, next, overdue, burst, k, index, longer;
	volatile struct part *p = &part;
	volatile struct stream *s;
	int verdict;

	asm volatile("" : "+r"(p)); // in a register: clang would load a constant of ten bytes at each use
	p->runs++;
	if (p->lease < now)
		return pass(xdp, p, 0);
	since = now - p->last_run;
	p->last_run = now;
	lag = p->lag;
	lag -= lag < since ? lag : since;
	p->lag = lag;

	__u64 version = p->version;
	if (version != p->executed) {
		if (obey(p, now, lag, version))
			schedule(p);
		return XDP_DROP;
	}
	next = p->next;
	horizon = now - p->offset - (lag >> LAG_BITS);
	if (now < p->start || p->paused_at || horizon < next)
		return pass(xdp, p, since < LONGEST_WAIT ? since : LONGEST_WAIT);

	// The pace is kept as pacer.advance keeps it.
	overdue = horizon - next;
	burst = p->min_burst + (lag >> (LAG_BITS + BURST_OWED_BITS));
	if (burst > p->max_burst)
		burst = p->max_burst;
	if (overdue > burst) {
		lag += (overdue - burst) << LAG_BITS;
		if (lag > max_lag << LAG_BITS) {
			give_up(p, (lag - (max_lag << LAG_BITS)) >> LAG_BITS);
			lag = max_lag << LAG_BITS;
		}
		p->lag = lag;
	}
	if (timed) {
		p->last_frame = now;
		if (p->first_frame == 0)
			p->first_frame = now;
	}
	verdict = bpf_redirect_map(&outlet, 0, XDP_DROP); // XDP_DROP where the interface is gone
	k = p->next_stream;
	if (k >= STREAMS)
		return XDP_DROP;
	s = &p->streams[k];
	longer = s->longer;
	if (longer != 0 && bpf_xdp_adjust_tail(xdp, longer))
		return XDP_DROP;
	index = s->index;
	s->index = index + s->step;
	s->packets++;
	advance(s);
	p->earliest = p->next + p->spacing;
	schedule(p);
	thread.turn_slot = p->next_slot;
	return make_frame(xdp, s, k, index, verdict);
}

// linerate_entry continues with slot 0. The slot is a constant, so the kernel makes
// it a jump of a few ns, and the program in the slot can change between two frames.
SEC("xdp")
int linerate_entry(struct xdp_md *xdp)
{
	bpf_tail_call(xdp, &slots, 0);
	return XDP_DROP;
}

// linerate_rotor continues with the program whose turn it is. Each program that sends sets the next
// turn, so none of several ports goes short that together could send more than the thread does.
SEC("xdp")
int linerate_rotor(struct xdp_md *xdp)
{
	__u64 turn = thread.turn_slot;

	if (turn == 0)
		turn = thread.entry_slot;
	thread.asked_slot = turn;
	bpf_tail_call(xdp, &slots, turn);
	thread.turn_slot = 0; // that port has just stopped
	return XDP_DROP;
}

// linerate_train sends trains. All frames of a train leave at once, without a pace. The pause begins with the program's
// first run after the train's last batch. A device that works on this processor works between the two. In a pause the
// program drops frames.
//
//	batches   │ train ████████│ device, if it is here │ drop │ … │ train ████████│
//	                                                  ◀── pause ─▶
SEC("xdp")
int linerate_train(struct xdp_md *xdp)
{
	__u64 now = bpf_ktime_get_ns(), place, left, coming, index;
	volatile struct trains *t = &trains;
	int verdict;

	asm volatile("" : "+r"(t)); // as in linerate_send
	t->runs++;
	place = t->place;
	t->place = place + 1 < t->batch ? place + 1 : 0;
	left = t->left;
	coming = t->coming;
	if (left == 0) {
		if (t->due == 0)
			t->due = now + t->pause;
		if (place != 0 || coming == 0 || now < t->due || now < t->start || t->lease < now)
			return XDP_DROP;
		left = t->frames;
		t->due = 0;
		t->first_frame = now;
	}
	t->left = left - 1;
	if (left == 1) {
		__u32 number = coming - 1;
		__u64 *sending = bpf_map_lookup_elem(&sendings, &number);

		if (sending)
			*sending = now - t->first_frame;
		t->coming = coming - 1;
	}
	verdict = bpf_redirect_map(&outlet, 0, XDP_DROP);
	index = t->stream.index;
	t->stream.index = index + 1;
	t->stream.packets++;
	return make_frame(xdp, &t->stream, 0, index, verdict);
}

// linerate_try shows whether this process may send live frames on this kernel.
SEC("xdp")
int linerate_try(struct xdp_md *xdp) { return XDP_DROP; }
