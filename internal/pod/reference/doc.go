// Package reference is the Reference's pod. It makes the kernel of its network namespace forward, or starts
// what forwards in user space, a gateway of a tunnel or testpmd. It serves the device's vital signs, and resets
// it.
package reference
