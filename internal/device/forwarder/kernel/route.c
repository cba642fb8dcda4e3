// A router in the links' receive path, before the kernel's stack, by the kernel's routes and neighbours.
#include "../../../host/bpf/bpf.h"

// The kernel lends its routing table (bpf_fib_lookup) to programs under the GPL alone. So this one may be had under it, too.
char _license[] SEC("license") = "Dual BSD/GPL";

enum {
	FAMILY_IPV4 = 2,
	FAMILY_IPV6 = 10,
};

// ask_ipv4 asks for a packet without options whose TTL another hop may lower. It returns 0 for any other.
static __always_inline bool ask_ipv4(const struct ipv4 *ip, struct bpf_fib_lookup *route)
{
	if (ip->version_length != IPV4_WITHOUT_OPTIONS || ip->ttl <= 1)
		return 0;
	route->family = FAMILY_IPV4;
	route->l4_protocol = ip->protocol;
	route->tot_len = big16(ip->length);
	route->tos = ip->tos;
	route->ipv4_src = ip->source;
	route->ipv4_dst = ip->destination;
	return 1;
}

static __always_inline bool ask_ipv6(const struct ipv6 *ip, struct bpf_fib_lookup *route)
{
	if (ip->hop_limit <= 1)
		return 0;
	route->family = FAMILY_IPV6;
	route->l4_protocol = ip->next_header;
	route->tot_len = big16(ip->length) + sizeof(*ip);
	for (int i = 0; i < 4; i++) {
		route->ipv6_src[i] = ip->source[i];
		route->ipv6_dst[i] = ip->destination[i];
	}
	return 1;
}

// lower_ttl mends the header's checksum, too. It is of the complement, and the TTL is the upper byte of its word (RFC 1624).
static __always_inline void lower_ttl(struct ipv4 *ip)
{
	__u32 sum = big16(ip->checksum) + 0x100;

	ip->ttl--;
	ip->checksum = big16(sum + (sum >> 16));
}

// linerate_route forwards a frame as a router does. The kernel's stack gets what has no route, or no neighbour yet, or
// is for the device itself.
SEC("xdp.frags")
int linerate_route(struct xdp_md *xdp)
{
	void *end = (void *)(long)xdp->data_end;
	struct ethernet *frame = (void *)(long)xdp->data;
	struct ipv4 *ipv4 = (void *)(frame + 1);
	struct ipv6 *ipv6 = (void *)(frame + 1);
	struct bpf_fib_lookup route = {};
	bool asks = 0;

	if ((void *)(ipv4 + 1) > end)
		return XDP_PASS;
	if (frame->type == big16(ETHERTYPE_IPV4))
		asks = ask_ipv4(ipv4, &route);
	else if (frame->type == big16(ETHERTYPE_IPV6) && (void *)(ipv6 + 1) <= end)
		asks = ask_ipv6(ipv6, &route);
	if (!asks)
		return XDP_PASS;
	route.ifindex = xdp->ingress_ifindex;
	if (bpf_fib_lookup(xdp, &route, sizeof(route), 0))
		return XDP_PASS;
	for (int i = 0; i < 3; i++) {
		frame->destination[i] = route.dmac[i];
		frame->source[i] = route.smac[i];
	}
	if (route.family == FAMILY_IPV4)
		lower_ttl(ipv4);
	else
		ipv6->hop_limit--;
	return bpf_redirect(route.ifindex, 0);
}
