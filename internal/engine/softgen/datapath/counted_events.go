package datapath

// These words say over the RPC whether an interface counts an event.
const (
	countedFrames = "counted"
	hiddenFrames  = "hidden"
	unknownFrames = "unknown"
	noFrames      = "none"
)

// receiveDrops says whether an interface's driver counts frames that it had no room for (rx_missed_errors,
// rx_fifo_errors or rx_dropped), from the drivers' source in Linux. A guest's driver doesn't see frames that
// the host drops, and a virtual function's driver doesn't see those that the physical function drops.
func receiveDrops(driver string) string {
	switch driver {
	case "veth", "i40e", "ice", "iavf", "ixgbe", "igb", "igc", "e1000", "e1000e", "mlx5_core", "mlx4_core", "bnxt_en",
		"ena", "vmxnet3", "gve", "tg3", "r8169", "nfp", "sfc", "cxgb4", "qede", "atlantic":
		return countedFrames
	case "virtio_net", "ixgbevf", "igbvf", "mana":
		return hiddenFrames
	}
	return unknownFrames // such as an interface on top of another one, which counts the drops
}

// pauseFrames says whether an interface counts pause frames. Cards report theirs by ethtool, which isn't read,
// and a virtual cable has none.
func pauseFrames(driver string) string {
	if driver == "veth" {
		return noFrames
	}
	return unknownFrames
}
