package manifests

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/linerate-dev/linerate/internal/document/plan"
)

// Our pods have the least rights that their work needs. Setup, teardown and DUT have what their user's template
// gives them.
//
//	pod                   user  capabilities                    why
//	runner                any   none                            talks to the API server and to generators, over TCP
//	vitals                any   none                            looks at /proc/stat, answers over TCP
//	collector             any   none                            asks others over the network, with Secrets of the
//	                                                            author's; answers over TCP
//	init containers       any   none                            copy a program, write a file, look at sysfs
//	generator, Software   0     BPF, IPC_LOCK, NET_ADMIN,       see softwareRights
//	                            NET_RAW, SYS_NICE
//	end of sessions       0     NET_ADMIN, NET_RAW              see sessionsRights; also in the DUT's pod, where the
//	                                                            device is an end
//	generator, TRex       0     IPC_LOCK, NET_ADMIN, NET_RAW    see trexRights
//	DUT, Reference        0     NET_ADMIN; mode xdp: BPF;       see forwarderRights
//	                            mode userspace: NET_RAW;
//	                            mode tunnel: MKNOD
//
// "Any" is any user but root. It is 65532 by the image, and where a namespace has a range of users (OpenShift), one of
// these.
//
// No container is privileged, may gain rights (allowPrivilegeEscalation), sees the node's namespaces or mounts
// its file system. But Pod Security's level baseline refuses the added capabilities, so the namespace's level
// must be privileged.

// imageUser is the user of our image.
const imageUser = 65532

// restricted is what Pod Security's level restricted and OpenShift's restricted-v2 demand. It names no user,
// since restricted-v2 refuses users outside the namespace's range.
func restricted() *corev1.SecurityContext {
	return &corev1.SecurityContext{
		RunAsNonRoot:             new(true),
		AllowPrivilegeEscalation: new(false),
		ReadOnlyRootFilesystem:   new(true),
		Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		SeccompProfile:           runtimeSeccomp(),
	}
}

// runtimeSeccomp is the seccomp profile of the container runtime.
func runtimeSeccomp() *corev1.SeccompProfile {
	return &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}
}

// restrictedBeside is the same for our container in a pod of a user's template. If the template makes the whole
// pod run as root, ours gets a user of its own.
func restrictedBeside(pod *corev1.PodSecurityContext) *corev1.SecurityContext {
	c := restricted()
	root := func(id *int64) bool { return id != nil && *id == 0 }
	if pod != nil && (root(pod.RunAsUser) || root(pod.RunAsGroup)) {
		c.RunAsUser, c.RunAsGroup = new(int64(imageUser)), new(int64(imageUser))
	}
	return c
}

// root is user 0 with only these capabilities. It has to be user 0, since for other users added capabilities aren't
// effective, since Kubernetes has no ambient capabilities.
func root(capabilities ...corev1.Capability) *corev1.SecurityContext {
	return &corev1.SecurityContext{
		RunAsUser:                new(int64(0)),
		RunAsGroup:               new(int64(0)),
		AllowPrivilegeEscalation: new(false),
		Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}, Add: capabilities},
	}
}

// forwarderRights are the Reference's.
//
//	NET_ADMIN  addresses, routes, forwarding, bridges, nftables and tracked connections in its own network namespace
//	           (rtnetlink(7))
//	BPF        mode xdp only: its program (bpf(2))
//	NET_RAW    mode userspace only: testpmd's AF_PACKET sockets (packet(7))
//	MKNOD      mode tunnel only: /dev/net/tun, which a container's runtime allows and doesn't bring (mknod(2))
func forwarderRights(mode *plan.Mode) *corev1.SecurityContext {
	c := root("NET_ADMIN")
	switch {
	case mode == nil:
	case mode.XDP != nil:
		c = root("BPF", "NET_ADMIN")
	case mode.Userspace != nil:
		c = root("NET_ADMIN", "NET_RAW")
	case mode.Tunnel != nil:
		c = root("MKNOD", "NET_ADMIN")
	}
	c.ReadOnlyRootFilesystem = new(true)
	return c
}
