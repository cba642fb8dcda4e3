// Package machine brings up emulated machines whose network cards have virtual functions. QEMU emulates the machine
// and Intel's 82576 with SR-IOV; the kernel and its drivers are Debian's. The machine's root is this host's root, read
// only below an overlay in the machine's memory: what was built here runs there, under the same path. Start brings the
// machines of a Lab up, Command runs a program in one, and Close ends all. No file is left but the cache.
package machine
