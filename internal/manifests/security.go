package manifests

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/linerate-dev/linerate/internal/plan"
)

// Our pods have the least rights that their work takes. Setup, teardown and DUT have what their user's template gives them.
//
//	pod                    user    capabilities                       why
//	runner                 65532   none                               talks to the API server and to generators, over TCP
//	vitals                 65532   none                               looks at /proc/stat, answers over TCP
//	init containers        65532   none                               copy a program, write a file, look at sysfs
//	generator, Software    0       BPF, IPC_LOCK, NET_ADMIN,          see softwareRights
//	                               NET_RAW, SYS_NICE
//	end of sessions        0       NET_ADMIN, NET_RAW                 see sessionsRights
//	generator, TRex        0       IPC_LOCK, NET_ADMIN, NET_RAW       see trexRights
//	DUT, Reference         0       NET_ADMIN; mode xdp: BPF           see forwarderRights
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

// forwarderRights are the Reference's.
//
//	NET_ADMIN  addresses, routes, forwarding, bridges, nftables and tracked connections in its own network namespace (rtnetlink(7))
//	BPF        mode xdp only: its program (bpf(2))
func forwarderRights(mode *plan.Mode) *corev1.SecurityContext {
	c := root("NET_ADMIN")
	if mode != nil && mode.XDP != nil {
		c = root("BPF", "NET_ADMIN")
	}
	c.ReadOnlyRootFilesystem = new(true)
	return c
}
