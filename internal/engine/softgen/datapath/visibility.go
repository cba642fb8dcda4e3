package datapath

// Whether an interface counts an event, in the RPC's words.
const (
	countedFrames = "counted"
	hiddenFrames  = "hidden"
	unknownFrames = "unknown"
	noSuchFrames  = "none"
)

// receiveDrops says whether an interface's driver counts frames that it had no room for (rx_missed_errors, rx_fifo_errors or rx_dropped), from the drivers' source in Linux. What
// the host drops of a guest's frames, or a card's physical function of a virtual one's, the guest's driver doesn't see.
func receiveDrops(driver string) string {
	switch driver {
	case "veth", "i40e", "ice", "iavf", "ixgbe", "igb", "igc", "e1000", "e1000e", "mlx5_core", "mlx4_core", "bnxt_en", "ena", "vmxnet3", "gve", "tg3", "r8169", "nfp", "sfc", "cxgb4", "qede", "atlantic":
		return countedFrames
	case "virtio_net", "ixgbevf", "igbvf", "mana":
		return hiddenFrames
	}
	return unknownFrames // also interfaces on top of another one, which counts the drops
}

// pauseFrames says the same of pause frames: cards report theirs by ethtool, which isn't read, and a virtual cable has none.
func pauseFrames(driver string) string {
	if driver == "veth" {
		return noSuchFrames
	}
	return unknownFrames
}
