// Package reception reads where this machine's kernel receives frames: the queues of interfaces and who takes frames
// from them, which is an interrupt's processor, a kernel thread (threaded NAPI) or the processor that sends, receive
// packet steering, and what each processor received. It reads /proc, sysfs, and the netlink families netdev and
// ethtool, in the calling thread's network namespace, and changes nothing. A fact that the kernel doesn't tell is zero.
//
//	frame ─▶ queue ─▶ interrupt, thread or sender ─▶ rps_cpus ─▶ protocols, counted by processor (softnet_stat)
//
// Counters only grow. Package observe makes a window's placement of two readings.
package reception
