// Package generator is the pod of a generator of our own: the software engine on interfaces of its network namespace, behind TRex's RPC, or one end of a test's TCP sessions.
// TRex's pod is package launch. linerate generator and linerate sessions are the same on a machine of a person's.
package generator
