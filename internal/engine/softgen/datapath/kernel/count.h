// This is the counting program's description of a frame, and of its records for user space.
#pragma once
#include "../../../../host/bpf/bpf.h"

enum {
	FLOWS = 1024,
	RING_BYTES = 2 << 20,
	FCS = 4,
	TAG = 4,
	MAX_TAGS = 2, // in front of an IP header
	SMALLEST_FRAME = 60,
	PACKET_OTHERHOST = 3, // __sk_buff's pkt_type

	// What keeps a link up (internal/document/stream).
	LEAST_TYPE = 0x600, // a smaller Ethernet type is a length
	BFD_TTL = 255,
	HOP_BY_HOP = 0, // IPv6 options that each router looks at
	FIRST_OF_LINK = 130, // of ICMPv6's types
	LAST_OF_LINK = 137,
	NEIGHBOUR_SOLICITATION = 135,
	LISTENER_REPORT = 143,

	// Room for a frame in a record.
	SMALL_RECORD = 256,
	LARGE_RECORD = 9248,
	HUGE_RECORD = 1 << 16, // a merged buffer
};

// Go's code has these constants from this enum.
enum shared {
	WANTS_PROMISCUOUS = 1,
	WANTS_ALL = 2,
	WANTS_NEIGHBOURS = 4,

	RECORD_STAMP = 1,
	RECORD_FRAME = 2,
	RECORD_TAGGED = 4, // the frame had a VLAN tag, which the kernel has taken out

	MARK_BASE = 0xfc00,
	MARK_LATENCY = 0xffff,
	LAST_FLOW = MARK_LATENCY - MARK_BASE - 1,

	STAMP_MAGIC = 0xab,
	RUN_KNOWN = 0x100,
	FAR_OFF = 100000, // sequences: the sender began anew
	TRAIN_FLOW = LAST_FLOW, // the id in the stamps and marks of trains
	RECENT_WORDS = 16,
};

// A frame, or the buffer of merged frames that the kernel made of several.
struct frame {
	bool express; // it came by the express data path, else by traffic control
	struct xdp_md *xdp;
	struct __sk_buff *skb;
	__u32 buffer;  // its bytes
	__u32 segment; // of a merged buffer, the most bytes of payload that each frame has; else 0
	__u16 tci;     // of the VLAN tag that the kernel has taken out
	bool tagged;   // the kernel has taken one out
	__u64 frames;  // that the buffer stands for
	__u64 length;  // on the wire, of all of them
};

// A head has the Ethernet header and the start of the IP header, behind tags.
struct ipv4_start {
	__u8 version_length;
	__u8 tos;
	__u16 length;
	__u16 id;
	__u16 fragment;
	__u8 ttl;
	__u8 protocol;
};

struct ipv6_start {
	__u8 version_class;
	__u8 class_label;
	__u16 label;
	__u16 length;
	__u8 next_header;
	__u8 hop_limit;
};

struct head {
	__u8 addresses[12];
	__u16 type;
	union {
		struct ipv4_start ipv4;
		struct ipv6_start ipv6;
	};
};

// A stamp ends a frame (stamp.go). Its numbers are little endian.
struct stamp {
	__u8 magic;
	__u8 generation;
	__u16 id;
	__u32 sequence;
	__u64 sent; // ns
};

// A record of the ring is followed by the stamp or by the frame's bytes.
struct record {
	__u64 time;   // ns
	__u32 length; // on the wire, of all frames that the buffer stands for
	__u16 tci;
	__u16 kind;    // RECORD_…
	__u32 buffer;  // its bytes
	__u32 segment; // payload of each frame in it; 0: nothing was merged
};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, RING_BYTES);
} ring SEC(".maps");

// load copies bytes of a frame. It returns 0, or an error where the frame has fewer.
static __always_inline long load(const struct frame *f, __u32 offset, void *to, __u32 bytes)
{
	return f->express ? bpf_xdp_load_bytes(f->xdp, offset, to, bytes) : bpf_skb_load_bytes(f->skb, offset, to, bytes);
}

// reserve begins a record in the ring. It returns 0 if the ring is full.
static __always_inline struct record *reserve(const struct frame *f, __u64 bytes, __u16 kind)
{
	struct record *r = bpf_ringbuf_reserve(&ring, bytes, 0);

	if (!r)
		return 0;
	r->time = bpf_ktime_get_ns();
	r->length = f->length;
	r->tci = f->tci;
	r->kind = kind | (f->tagged ? RECORD_TAGGED : 0);
	r->buffer = f->buffer;
	r->segment = f->segment;
	return r;
}
