// What programs in the kernel need of Linux: the structures, constants and helpers that linerate's programs use, with
// the layouts and numbers of include/uapi/linux/bpf.h. So they are compiled without the kernel's or libbpf's headers,
// and the objects are the same on each machine that has this clang.
#pragma once

typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef int __s32;
typedef unsigned long long __u64;
typedef long long __s64;
typedef _Bool bool;

#define SEC(name) __attribute__((section(name), used))
#define __always_inline inline __attribute__((always_inline))
#define __noinline __attribute__((noinline))

// A map's definition is the type of a variable in the section .maps, from which the loader reads it.
#define __uint(name, value) int(*name)[value]
#define __type(name, value) typeof(value) *name
#define __array(name, value) typeof(value) *name[]

enum {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PROG_ARRAY = 3,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_STACK_TRACE = 7,
	BPF_MAP_TYPE_ARRAY_OF_MAPS = 12,
	BPF_MAP_TYPE_DEVMAP = 14,
	BPF_MAP_TYPE_RINGBUF = 27,

	BPF_NOEXIST = 1,
	BPF_F_USER_STACK = 1 << 8,
	BPF_F_MMAPABLE = 1 << 10,
};

enum {
	XDP_DROP = 1,
	XDP_PASS = 2,
	XDP_REDIRECT = 4,
	TCX_DROP = 2,
};

struct bpf_spin_lock {
	__u32 val;
};

// A frame as the express data path (XDP) gives it to a program.
struct xdp_md {
	__u32 data;
	__u32 data_end;
	__u32 data_meta;
	__u32 ingress_ifindex;
	__u32 rx_queue_index;
	__u32 egress_ifindex;
};

// A frame as traffic control gives it to a program.
struct __sk_buff {
	__u32 len;
	__u32 pkt_type;
	__u32 mark;
	__u32 queue_mapping;
	__u32 protocol;
	__u32 vlan_present;
	__u32 vlan_tci;
	__u32 vlan_proto;
	__u32 priority;
	__u32 ingress_ifindex;
	__u32 ifindex;
	__u32 tc_index;
	__u32 cb[5];
	__u32 hash;
	__u32 tc_classid;
	__u32 data;
	__u32 data_end;
	__u32 napi_id;
	__u32 family;
	__u32 remote_ip4;
	__u32 local_ip4;
	__u32 remote_ip6[4];
	__u32 local_ip6[4];
	__u32 remote_port;
	__u32 local_port;
	__u32 data_meta;
	__u64 flow_keys __attribute__((aligned(8)));
	__u64 tstamp;
	__u32 wire_len;
	__u32 gso_segs;
	__u64 sk __attribute__((aligned(8)));
	__u32 gso_size;
};

// A question to the kernel's routing table, and its answer.
struct bpf_fib_lookup {
	__u8 family;
	__u8 l4_protocol;
	__u16 sport;
	__u16 dport;
	__u16 tot_len;
	__u32 ifindex;
	union {
		__u8 tos;
		__u32 flowinfo;
		__u32 rt_metric;
	};
	union {
		__u32 ipv4_src;
		__u32 ipv6_src[4];
	};
	union {
		__u32 ipv4_dst;
		__u32 ipv6_dst[4];
	};
	__u16 h_vlan_proto;
	__u16 h_vlan_TCI;
	__u16 smac[3];
	__u16 dmac[3];
};

static void *(*const bpf_map_lookup_elem)(void *map, const void *key) = (void *)1;
static long (*const bpf_map_update_elem)(void *map, const void *key, const void *value, __u64 flags) = (void *)2;
static __u64 (*const bpf_ktime_get_ns)(void) = (void *)5;
static long (*const bpf_tail_call)(void *context, void *programs, __u32 index) = (void *)12;
static __u64 (*const bpf_get_current_pid_tgid)(void) = (void *)14;
static long (*const bpf_get_current_comm)(void *buffer, __u32 bytes) = (void *)16;
static long (*const bpf_redirect)(__u32 ifindex, __u64 flags) = (void *)23;
static long (*const bpf_skb_load_bytes)(const void *skb, __u32 offset, void *to, __u32 bytes) = (void *)26;
static long (*const bpf_get_stackid)(void *context, void *stacks, __u64 flags) = (void *)27;
static long (*const bpf_redirect_map)(void *map, __u64 key, __u64 flags) = (void *)51;
static long (*const bpf_xdp_adjust_tail)(struct xdp_md *xdp, int delta) = (void *)65;
static long (*const bpf_fib_lookup)(void *context, struct bpf_fib_lookup *params, int size, __u32 flags) = (void *)69;
static long (*const bpf_spin_lock)(struct bpf_spin_lock *lock) = (void *)93;
static long (*const bpf_spin_unlock)(struct bpf_spin_lock *lock) = (void *)94;
static void *(*const bpf_ringbuf_reserve)(void *ring, __u64 bytes, __u64 flags) = (void *)131;
static void (*const bpf_ringbuf_submit)(void *record, __u64 flags) = (void *)132;
static __u64 (*const bpf_xdp_get_buff_len)(struct xdp_md *xdp) = (void *)188;
static long (*const bpf_xdp_load_bytes)(struct xdp_md *xdp, __u32 offset, void *to, __u32 bytes) = (void *)189;

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define big16(x) ((__u16)__builtin_bswap16(x))
#define little16(x) ((__u16)(x))
#define little32(x) ((__u32)(x))
#define little64(x) ((__u64)(x))
#else
#define big16(x) ((__u16)(x))
#define little16(x) ((__u16)__builtin_bswap16(x))
#define little32(x) ((__u32)__builtin_bswap32(x))
#define little64(x) ((__u64)__builtin_bswap64(x))
#endif

enum {
	ETHERNET_HEADER = 14,
	ETHERTYPE_IPV4 = 0x0800,
	ETHERTYPE_ARP = 0x0806,
	ETHERTYPE_VLAN = 0x8100,
	ETHERTYPE_QINQ = 0x88a8,
	ETHERTYPE_IPV6 = 0x86dd,
	IPV4_WITHOUT_OPTIONS = 0x45,
	PROTOCOL_TCP = 6,
	PROTOCOL_UDP = 17,
	PROTOCOL_ICMPV6 = 58,
};

struct ipv4 {
	__u8 version_length;
	__u8 tos;
	__u16 length;
	__u16 id;
	__u16 fragment;
	__u8 ttl;
	__u8 protocol;
	__u16 checksum;
	__u32 source;
	__u32 destination;
} __attribute__((packed, aligned(2)));

struct ipv6 {
	__u8 version_class;
	__u8 class_label;
	__u16 label;
	__u16 length;
	__u8 next_header;
	__u8 hop_limit;
	__u32 source[4];
	__u32 destination[4];
} __attribute__((packed, aligned(2)));

struct ethernet {
	__u16 destination[3];
	__u16 source[3];
	__u16 type;
};
