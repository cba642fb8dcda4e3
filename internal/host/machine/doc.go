// Package machine reads this machine's state, as its kernel tells it in /proc and /sys. It says what the machine is as far as figures depend on that: its
// processors, its kernel, whose virtual machine it is, what network cards are behind its interfaces (machine.go). It says how processors spent their time and
// for whom, and gives them to who sends or asks before others (processors.go, waits.go, precedence.go), keeps them from sleeping (awake.go), and reads vital
// signs (signs.go). What the kernel doesn't tell is empty.
package machine
