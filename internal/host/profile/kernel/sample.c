// Counts what processors run: once for each sample of a clock, by the process and its stacks in user space and in the
// kernel.
#include "../../bpf/bpf.h"

// The kernel gives stacks (bpf_get_stackid) to programs under the GPL alone. So this one may be had under it, too.
char _license[] SEC("license") = "Dual BSD/GPL";

enum {
	COMMAND = 16, // TASK_COMM_LEN
	DEPTH = 127,  // kernel.perf_event_max_stack
};

// What ran: 0 is the process of an idle processor. A stack is its index in stacks, or an error below 0: -EFAULT where
// there is none, -EEXIST where its place was taken.
struct running {
	__u32 process;
	__s32 kernel;
	__s32 user;
	__u8 command[COMMAND];
};

struct {
	__uint(type, BPF_MAP_TYPE_STACK_TRACE);
	__uint(max_entries, 16384);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, DEPTH * sizeof(__u64));
} stacks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 32768);
	__type(key, struct running);
	__type(value, __u64);
} counts SEC(".maps");

// Samples for which counts had no room.
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} uncounted SEC(".maps");

SEC("perf_event")
int linerate_sample(void *context)
{
	struct running running = {};
	running.process = bpf_get_current_pid_tgid() >> 32;
	bpf_get_current_comm(running.command, sizeof(running.command));
	running.kernel = bpf_get_stackid(context, &stacks, 0);
	running.user = bpf_get_stackid(context, &stacks, BPF_F_USER_STACK);

	__u64 *count = bpf_map_lookup_elem(&counts, &running);
	if (!count) {
		__u64 none = 0;
		bpf_map_update_elem(&counts, &running, &none, BPF_NOEXIST);
		count = bpf_map_lookup_elem(&counts, &running);
	}
	__u32 only = 0;
	if (!count)
		count = bpf_map_lookup_elem(&uncounted, &only);
	if (count)
		__sync_fetch_and_add(count, 1);
	return 0;
}
