// Package machine reads this machine's state, as its kernel tells it in /proc and /sys. It says what the machine is
// as far as figures depend on it, which is its processors, its kernel, whose virtual machine it is, and what
// network cards are behind its interfaces (machine.go). It says how processors spent their time and for whom, and
// gives them to senders and to judges before others (processors.go, waits.go, precedence.go). It keeps processors
// from sleeping (awake.go), and reads vital signs (signs.go). A fact that the kernel doesn't tell is empty.
package machine
