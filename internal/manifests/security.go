package manifests

import corev1 "k8s.io/api/core/v1"

// Our pods have the least rights that their work takes. Setup, teardown and DUT have what their user's template gives them.
//
//	pod                    user    capabilities                       why
//	runner                 65532   none                               talks to the API server and to generators, over TCP
//	init containers        65532   none                               copy a program, write a file, look at sysfs
//	generator, Software    0       BPF, IPC_LOCK, NET_ADMIN,          see engineRights
//	                               NET_RAW, SYS_NICE
//	generator, TRex        0       IPC_LOCK, NET_ADMIN, NET_RAW       see trexRights
//	DUT, Reference         0       NET_ADMIN                          see forwarderRights
//
// None is privileged, may gain rights (allowPrivilegeEscalation), sees the node's namespaces or mounts its file system. Pod Security's level baseline
// refuses the added capabilities all the same, so the namespace's level must be privileged.

// nobody is the user of what needs no rights at all.
const nobody = 65532

// restricted is what Pod Security's level restricted asks for.
func restricted() *corev1.SecurityContext {
	return &corev1.SecurityContext{
		RunAsNonRoot:             new(true),
		RunAsUser:                new(int64(nobody)),
		RunAsGroup:               new(int64(nobody)),
		AllowPrivilegeEscalation: new(false),
		ReadOnlyRootFilesystem:   new(true),
		Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		SeccompProfile:           &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}
}

// root is user 0 with these capabilities only. A container's added capabilities are effective from the start for user 0 alone: Kubernetes
// has no ambient ones for others.
func root(capabilities ...corev1.Capability) *corev1.SecurityContext {
	return &corev1.SecurityContext{
		RunAsUser:                new(int64(0)),
		RunAsGroup:               new(int64(0)),
		AllowPrivilegeEscalation: new(false),
		Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}, Add: capabilities},
	}
}

// engineRights are the software engine's.
//
//	NET_RAW    AF_PACKET and AF_XDP sockets: frames as they are, past the kernel's protocols (packet(7))
//	NET_ADMIN  sets its interfaces up, and binds AF_XDP sockets to them (netdevice(7); kernel: Documentation/networking/af_xdp.rst)
//	BPF        frames that come back are counted in the kernel, by a program on its own interfaces: what is copied out instead is lost
//	           whenever the node is busy, and the generator would be the bottleneck (capabilities(7))
//	IPC_LOCK   the frames that AF_XDP sends from are locked in memory, more of it than a container may otherwise
//	SYS_NICE   sends from real-time threads, as long as these have time to spare: else whatever runs on the node stretches gaps into
//	           bursts, which a device at its limit drops (sched(7))
//
// Where the node's kernel forbids the last three it does without, and says so in its log and in the Report.
func engineRights() *corev1.SecurityContext {
	c := root("BPF", "IPC_LOCK", "NET_ADMIN", "NET_RAW", "SYS_NICE")
	c.ReadOnlyRootFilesystem = new(true)
	return c
}

// trexRights are TRex's. Which driver its devices have is the node's affair and stands in no NetworkAttachmentDefinition, so that
// all get what mlx5 needs. The image's file system stays writable, as it is somebody else's image.
//
//	IPC_LOCK   huge pages and what the NIC writes to are locked in memory (VFIO, RDMA)
//	NET_RAW    raw packet queues of mlx5; AF_PACKET sockets on kernel interfaces. VFIO has no use for it
//	NET_ADMIN  promiscuous mode and MTU of mlx5 and kernel interfaces. VFIO has no use for it
//
// Device files come with the devices: the device plugin adds /dev/vfio/* or /dev/infiniband/* to the container that requests them.
func trexRights() *corev1.SecurityContext { return root("IPC_LOCK", "NET_ADMIN", "NET_RAW") }

// forwarderRights are the Reference's.
//
//	NET_ADMIN  addresses, routes, forwarding, bridges and nftables in its own network namespace (rtnetlink(7))
func forwarderRights() *corev1.SecurityContext {
	c := root("NET_ADMIN")
	c.ReadOnlyRootFilesystem = new(true)
	return c
}
