// Package host holds the packages about the machine that a program runs on, about its network and its files, and
// about who may talk to it. Nothing in it knows a test, a Plan or an engine.
//
//	machine      what this machine is: its processors, how they spend their time, who gets them first, its vital signs; keeps processors from sleeping
//	card         the machine's network cards: ports, virtual functions, drivers, NUMA nodes, hugepages, IOMMU, and what a port sets for its functions
//	reception    where this machine's kernel receives frames: queues, interrupts, threads, processors
//	ethtool      what a driver says of its card: link, module, rings, queues, offloads, clock, counters
//	profile      which functions processors run: stacks, sampled by a program in the kernel
//	signs        which vital signs a machine has: types, series, units
//	netif        interfaces, nameless network namespaces, and parts of nftables rules
//	sockets      what Go's net package lacks: socket options, and errors of the network beyond
//	aside        keeps control connections off the links under test
//	credential   has our servers answer only who proves an attempt's key
//	bounded      runs a program that a file names, and waits, both within a bound
//	outfile      writes files that appear complete or not at all, by open handles
//	sanitize     the writer that all output goes through: nothing drives a terminal, commands a runner of CI, or is a link in a comment
package host
