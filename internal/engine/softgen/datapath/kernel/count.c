// The counting program runs at an interface's ingress, before the network stack, and takes every frame. It counts the frame
// in total and by its flow's mark, passes the frames that the port wants to see through a ring, and drops the frame.
//
//	frame ─▶ not ours? ─▶ merged? ─▶ count ─▶ mark? ─┬─ flow ────▶ count by id
//	           │                                     ├─ latency ─▶ ring: time, stamp
//	           ▼                                     └─ ARP, NS, or all wanted ─▶ ring: time, frame
//	          drop
//
// A variant of the program follows stamped frames by itself (follow.h), another one records when the frames of trains
// arrive (train.h). The program runs at one of two hooks, which
// describe a frame in different ways. Its results are the same at both, and the same as those of inspect.go.
#include "count.h"
#include "follow.h"
#include "train.h"

char _license[] SEC("license") = "Apache-2.0";

// wanted has the bits of the frames that the port wants to see. User space changes it while the program runs.
volatile __u32 wanted;

// bpf2go makes Go types of these variables' types.
const struct record *record_for_go __attribute__((unused));
const struct buckets *buckets_for_go __attribute__((unused));
const struct arrival *arrival_for_go __attribute__((unused));
const enum shared *shared_for_go __attribute__((unused));

// The port's own address, by which XDP's program knows the port's frames.
const volatile __u8 own_mac[6] __attribute__((aligned(4)));

struct counters {
	__u64 packets;
	__u64 bytes;
};

// strays are part of all.
struct totals {
	struct counters all;
	struct counters strays;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct totals);
} totals SEC(".maps");

// The flows' counters, which all processors share and user space maps into its memory.
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, FLOWS);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct counters);
} flows SEC(".maps");

// count_stray counts the buffer's frames as strays. count_all has counted them already.
static __always_inline void count_stray(const struct frame *f)
{
	__u32 zero = 0;
	struct totals *t = bpf_map_lookup_elem(&totals, &zero);

	if (!t)
		return;
	t->strays.packets += f->frames;
	t->strays.bytes += f->length;
}

static __always_inline void count_all(const struct frame *f)
{
	__u32 zero = 0;
	struct totals *t = bpf_map_lookup_elem(&totals, &zero);

	if (!t)
		return;
	t->all.packets += f->frames;
	t->all.bytes += f->length;
}

static __always_inline void count_flow(const struct frame *f, __u32 id)
{
	struct counters *c = bpf_map_lookup_elem(&flows, &id);

	if (!c)
		return;
	__sync_fetch_and_add(&c->packets, f->frames);
	__sync_fetch_and_add(&c->bytes, f->length);
}

// payload_offset is where the payload of UDP or TCP begins in a merged buffer, or 0 if the buffer has other headers.
static __always_inline __u32 payload_offset(const struct frame *f)
{
	__u32 network = ETHERNET_HEADER;
	__u16 type;
	__u8 protocol, first;

	if (load(f, network - 2, &type, 2))
		return 0;
	if (type == big16(ETHERTYPE_VLAN) || type == big16(ETHERTYPE_QINQ)) {
		network += TAG;
		if (load(f, network - 2, &type, 2))
			return 0;
	}
	if (type == big16(ETHERTYPE_IPV4)) {
		struct ipv4_start ip;

		if (load(f, network, &ip, sizeof(ip)))
			return 0;
		protocol = ip.protocol;
		network += (ip.version_length & 15) * 4;
	} else if (type == big16(ETHERTYPE_IPV6)) {
		if (load(f, network + 6, &protocol, 1))
			return 0;
		network += sizeof(struct ipv6);
	} else {
		return 0;
	}
	if (protocol == PROTOCOL_UDP)
		return network + 8;
	if (protocol != PROTOCOL_TCP || load(f, network + 12, &first, 1))
		return 0;
	return network + (first >> 4) * 4;
}

// measure finds how many frames a buffer stands for, and how long they were together on the wire. Each frame
// of a merged buffer had headers of its own. A merged buffer that measure can't split counts as one frame.
static __always_inline void measure(struct frame *f)
{
	__u32 offset = f->segment ? payload_offset(f) : 0;

	if (offset && f->buffer > offset) {
		__u64 payload = f->buffer - offset;
		__u64 frames = (payload + f->segment - 1) / f->segment;

		if (frames > 1) {
			f->frames = frames;
			// The buffer has the headers once. The kernel has taken a VLAN tag out, which length includes.
			f->length += (f->length - payload) * (frames - 1);
			if (f->length < frames * SMALLEST_FRAME)
				f->length = frames * SMALLEST_FRAME;
			f->length += frames * FCS;
			return;
		}
	}
	if (f->length < SMALLEST_FRAME)
		f->length = SMALLEST_FRAME;
	f->length += FCS;
}

enum kind {
	OTHER,
	MARKED,
	STRAY,
	NEIGHBOUR, // a stray that the port may answer
};

// by_port tells bidirectional forwarding detection from other UDP (RFC 5881, 5883, 7130).
static __always_inline enum kind by_port(const struct frame *f, __u32 offset)
{
	__u16 port;

	if (load(f, offset, &port, 2))
		return OTHER;
	switch (big16(port)) {
	case 3784:
	case 3785:
	case 4784:
	case 6784:
		return STRAY;
	}
	return OTHER;
}

// is_router_protocol says whether routers speak the protocol to each other (IGMP, EIGRP, OSPF, PIM, VRRP).
static __always_inline bool is_router_protocol(__u8 protocol)
{
	switch (protocol) {
	case 2:
	case 88:
	case 89:
	case 103:
	case 112:
		return 1;
	}
	return 0;
}

static __always_inline enum kind inspect_ipv4(const struct frame *f, const struct head *h, __u32 network, __u16 *mark)
{
	if (h->ipv4.tos & 1 && big16(h->ipv4.id) >= MARK_BASE) {
		*mark = big16(h->ipv4.id);
		return MARKED;
	}
	if (is_router_protocol(h->ipv4.protocol))
		return STRAY;
	if (h->ipv4.protocol == PROTOCOL_UDP && h->ipv4.version_length == IPV4_WITHOUT_OPTIONS && h->ipv4.ttl == BFD_TTL)
		return by_port(f, network + sizeof(struct ipv4) + 2);
	return OTHER;
}

static __always_inline enum kind inspect_icmpv6(__u8 type)
{
	if (type == NEIGHBOUR_SOLICITATION)
		return NEIGHBOUR;
	if (type == LISTENER_REPORT || (type >= FIRST_OF_LINK && type <= LAST_OF_LINK))
		return STRAY;
	return OTHER;
}

static __always_inline enum kind inspect_ipv6(const struct frame *f, const struct head *h, __u32 network, __u16 *mark)
{
	__u32 transport = network + sizeof(struct ipv6);
	__u8 first;

	if (h->ipv6.class_label & 0x10 && big16(h->ipv6.label) >= MARK_BASE) {
		*mark = big16(h->ipv6.label);
		return MARKED;
	}
	if (load(f, transport, &first, 1))
		return OTHER;
	switch (h->ipv6.next_header) {
	case PROTOCOL_ICMPV6:
		return inspect_icmpv6(first);
	case PROTOCOL_UDP:
		return h->ipv6.hop_limit == BFD_TTL ? by_port(f, transport + 2) : OTHER;
	case HOP_BY_HOP:
		return first == PROTOCOL_ICMPV6 ? STRAY : OTHER;
	}
	return is_router_protocol(h->ipv6.next_header) ? STRAY : OTHER;
}

// inspect_type finds spanning tree, LACP and other protocols of a single link.
static __always_inline enum kind inspect_type(__u16 type)
{
	switch (type) {
	case ETHERTYPE_ARP:
		return NEIGHBOUR;
	case 0x8035:
	case 0x8809:
	case 0x888e:
	case 0x88cc:
	case 0x8902:
	case 0x9000:
		return STRAY;
	}
	return type < LEAST_TYPE ? STRAY : OTHER;
}

// inspect_headers looks behind up to two VLAN tags. A marked frame belongs to a stream, whatever else it looks like.
static __always_inline enum kind inspect_headers(const struct frame *f, __u16 *mark)
{
	struct head h;
	__u32 tags;

#pragma unroll
	for (tags = 0; tags <= MAX_TAGS; tags++) {
		if (load(f, tags * TAG, &h, sizeof(h)))
			return OTHER;
		if (h.type != big16(ETHERTYPE_VLAN) && h.type != big16(ETHERTYPE_QINQ))
			break;
	}
	if (tags > MAX_TAGS)
		tags = MAX_TAGS;
	if (h.type == big16(ETHERTYPE_IPV4))
		return inspect_ipv4(f, &h, ETHERNET_HEADER + tags * TAG, mark);
	if (h.type == big16(ETHERTYPE_IPV6))
		return inspect_ipv6(f, &h, ETHERNET_HEADER + tags * TAG, mark);
	return inspect_type(big16(h.type));
}

// inspect returns a frame's kind. No stream sends to a group or to everybody.
static __always_inline enum kind inspect(const struct frame *f, __u16 *mark)
{
	enum kind kind = inspect_headers(f, mark);
	__u8 first;

	if (kind == OTHER && !load(f, 0, &first, 1) && first & 1)
		return STRAY;
	return kind;
}

// pass_stamp passes on the end of a latency stream's frame. It returns 0 if the ring is full.
static __always_inline bool pass_stamp(const struct frame *f)
{
	struct record *r = reserve(f, sizeof(*r) + sizeof(struct stamp), RECORD_STAMP);

	if (!r)
		return 0;
	load(f, f->buffer - sizeof(struct stamp), r + 1, sizeof(struct stamp));
	bpf_ringbuf_submit(r, 0);
	return 1;
}

// pass_bytes passes on as much of a frame as a record of this size holds.
static __always_inline void pass_bytes(const struct frame *f, __u32 room)
{
	struct record *r = reserve(f, sizeof(*r) + room, RECORD_FRAME);
	__u32 bytes = f->buffer;

	if (!r)
		return;
	if (bytes > room)
		bytes = room;
	if (bytes == 0)
		bytes = 1;
	asm volatile("" : "+r"(bytes)); // the kernel's verifier has to see the bounds on this value
	if (bytes > 0 && bytes <= room)
		load(f, 0, r + 1, bytes);
	bpf_ringbuf_submit(r, 0);
}

static __always_inline void pass_frame(const struct frame *f)
{
	if (f->buffer <= SMALL_RECORD)
		pass_bytes(f, SMALL_RECORD);
	else if (f->buffer <= LARGE_RECORD)
		pass_bytes(f, LARGE_RECORD);
	else
		pass_bytes(f, HUGE_RECORD);
}

// follow_marked follows a marked frame whose stamp belongs to its flow and has a possible time.
// A latency stream's frame is counted by its flow here, because only the stamp has its id.
static __always_inline void follow_marked(const struct frame *f, __u16 mark)
{
	__u32 id = mark - MARK_BASE;
	struct stamp s;
	__u64 transit;

	if (!read_stamp(f, &s, &transit))
		return;
	if (mark == MARK_LATENCY) {
		id = little16(s.id);
		if (id > LAST_FLOW)
			return;
		if ((__s64)transit < 0) // clocks that disagree
			transit = 0;
		count_flow(f, id);
	} else if (little16(s.id) != id || transit >> TRANSIT_LIMIT_BITS) {
		return;
	}
	follow(f, id, &s, transit);
}

// What a variant of the program does with stamps.
enum variant {
	COUNTS,
	FOLLOWS,
	RECORDS,
};

// receive takes a frame that is for the port. A frame of trains is counted in total only.
static __always_inline void receive(struct frame *f, __u32 wants, enum variant variant, __u64 now)
{
	enum kind kind;
	__u16 mark;

	measure(f);
	count_all(f);
	if (variant == RECORDS && f->frames == 1 && record_arrival(f, now))
		return;
	kind = inspect(f, &mark);
	if (kind == MARKED) {
		if (mark != MARK_LATENCY)
			count_flow(f, mark - MARK_BASE);
		if (variant == FOLLOWS)
			follow_marked(f, mark);
		else if (mark == MARK_LATENCY && !pass_stamp(f))
			return; // the ring is full
	} else if (kind != OTHER) {
		count_stray(f);
	}
	if (wants & (kind == NEIGHBOUR ? WANTS_ALL | WANTS_NEIGHBOURS : WANTS_ALL))
		pass_frame(f);
}

// Traffic control's hook gets the frames of the kernel's stack. The kernel has taken
// one VLAN tag out, has merged the frames that it could merge, and reports both.
static __always_inline int receive_buffer(struct __sk_buff *skb, enum variant variant)
{
	__u32 wants = wanted;
	__u64 now = variant == RECORDS ? bpf_ktime_get_ns() : 0;
	struct frame f = {
		.skb = skb,
		.frames = 1,
		.length = skb->len,
		.buffer = skb->len,
		.segment = skb->gso_size,
		.tci = skb->vlan_tci,
		.tagged = skb->vlan_present,
	};

	if (!(wants & WANTS_PROMISCUOUS) && skb->pkt_type == PACKET_OTHERHOST)
		return TCX_DROP;
	if (f.tagged)
		f.length += TAG;
	receive(&f, wants, variant, now);
	return TCX_DROP;
}

static __always_inline bool is_for_port(struct xdp_md *xdp)
{
	struct ethernet *e = (void *)(long)xdp->data;
	const volatile __u16 *own = (const volatile __u16 *)own_mac;

	if ((void *)(e->destination + 3) > (void *)(long)xdp->data_end)
		return 0;
	if (*(__u8 *)e & 1)
		return 1;
	return e->destination[0] == own[0] && e->destination[1] == own[1] && e->destination[2] == own[2];
}

// The express data path gets the frames of the network card's driver
// one by one, before merging. Frames may be longer than a page.
static __always_inline int receive_frame(struct xdp_md *xdp, enum variant variant)
{
	__u32 wants = wanted;
	__u64 now = variant == RECORDS ? bpf_ktime_get_ns() : 0;

	if (!(wants & WANTS_PROMISCUOUS) && !is_for_port(xdp))
		return XDP_DROP;
	struct frame f = {.express = 1, .xdp = xdp, .frames = 1, .buffer = bpf_xdp_get_buff_len(xdp)};

	f.length = f.buffer;
	receive(&f, wants, variant, now);
	return XDP_DROP;
}

SEC("tc")
int count_buffer(struct __sk_buff *skb) { return receive_buffer(skb, COUNTS); }

SEC("tc")
int follow_buffer(struct __sk_buff *skb) { return receive_buffer(skb, FOLLOWS); }

SEC("tc")
int record_buffer(struct __sk_buff *skb) { return receive_buffer(skb, RECORDS); }

SEC("xdp.frags")
int count_frame(struct xdp_md *xdp) { return receive_frame(xdp, COUNTS); }

SEC("xdp.frags")
int follow_frame(struct xdp_md *xdp) { return receive_frame(xdp, FOLLOWS); }

SEC("xdp.frags")
int record_frame(struct xdp_md *xdp) { return receive_frame(xdp, RECORDS); }
