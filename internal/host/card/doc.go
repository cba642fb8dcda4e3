// Package card reads what a machine's network cards are and how they are set: ports, virtual functions, drivers, NUMA
// nodes, hugepages, IOMMU groups, and what a port sets for its functions. Read and DeviceOf read files of the kernel,
// below a root that a test may record. Settings asks the kernel by netlink.
package card
