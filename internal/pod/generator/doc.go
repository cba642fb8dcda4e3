// Package generator is the pod of a generator of our own. It is the software engine on interfaces of its
// network namespace, behind TRex's RPC, or one end of a test's TCP sessions. TRex's pod is package launch. The
// commands linerate generator and linerate sessions run the same on a person's machine.
package generator
