package stl

import (
	"cmp"
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/engine/trex"
	"github.com/linerate-dev/linerate/internal/engine/trex/wire"
	"github.com/linerate-dev/linerate/internal/units"
)

// driver names the extended statistics of a port's driver that split the sums of get_port_stats. There ierrors counts
// all frames that arrived and weren't received, whatever the reason, and oerrors all frames that weren't sent. The
// names are DPDK's (rte_eth_xstats).
type driver struct {
	// missed are frames that reached the port whole and found no room there. damaged frames came with a wrong
	// checksum or length.
	missed, damaged []string
	// dropped are frames that are counted in opackets but never left. So are those in oerrors, unless errorsAreUnsent.
	dropped         []string
	errorsAreUnsent bool
	// drops says whether the driver counts all frames that it has no room for. It is empty where the driver's source
	// code hasn't been checked.
	drops engine.Visibility
	// registers says who else reads the port's counters.
	registers registers
}

// registers are the hardware's counters, from which TRex makes get_port_stats. With the zero value, DPDK reads them
// for TRex, too, and adds them up.
type registers int

const (
	// sharedRegisters are cleared by reading, and both TRex (for get_port_stats) and DPDK (for the extended
	// statistics) read them. What one has read the other misses, and the sum has everything.
	sharedRegisters registers = iota + 1
	// guardedRegisters are shared, too, and no extended statistic has all of what DPDK has read. So linerate never
	// requests extended statistics there.
	guardedRegisters
)

// DPDK itself gives these names to struct rte_eth_stats (lib/ethdev/rte_ethdev.c, eth_dev_stats_strings). Every
// driver has them, also a driver that never counts.
var (
	genericMissed  = []string{"rx_missed_errors", "rx_mbuf_allocation_errors"}
	genericDamaged = []string{"rx_errors"}
)

// driverOf knows what drivers count, from their source in DPDK (stats_get and xstats of each) and from TRex's
// get_extended_stats, which sums it up.
func driverOf(name string) driver {
	d := drivers()[name]
	if d.missed == nil {
		d.missed = genericMissed
	}
	if d.damaged == nil {
		d.damaged = genericDamaged
	}
	d.drops = cmp.Or(d.drops, engine.VisibilityUnknown)
	return d
}

func drivers() map[string]driver {
	return map[string]driver{
		// The socket's ring (PACKET_STATISTICS). What the kernel drops before the socket is not the port's to know.
		"net_af_packet": {drops: engine.Counted, errorsAreUnsent: true},
		// Of the port and of its main VSI.
		"net_i40e": {drops: engine.Counted, errorsAreUnsent: true},
		"net_ice":  {drops: engine.Counted, errorsAreUnsent: true},
		// rx_discards of the function's own VSI, by its physical function.
		"net_iavf": {drops: engine.Counted},
		// TRex reads registers itself, and leaves missed frames out of ierrors. The ierrors of igb include pause
		// frames. DPDK reports the bytes that ixgbe's queues received, and not those that it read from the register
		// of the port.
		"net_ixgbe":     {drops: engine.Hidden, registers: guardedRegisters},
		"net_e1000_igb": {drops: engine.Counted, registers: sharedRegisters},
		// ipackets are the virtual port's, with frames that found no buffer. The physical port comes before it, and a
		// virtual function doesn't see that port. TRex adds out_of_buffer to ierrors twice, and symbol errors, which
		// are no frames.
		"net_mlx5": {drops: engine.Counted, missed: append(slices.Clone(genericMissed), "rx_phy_discard_packets"),
			damaged: []string{"rx_phy_crc_errors", "rx_phy_in_range_len_errors"},
			dropped: []string{"tx_phy_discard_packets"}},
		// drop_total is the device's. Wrong checksums count as errors, and are received all the same.
		"net_ena":     {drops: engine.Counted, dropped: []string{"tx_drops"}},
		"net_vmxnet3": {drops: engine.Counted, errorsAreUnsent: true},
		"net_bnxt":    {drops: engine.Counted},
		"net_gve":     {drops: engine.Counted},
		"net_netvsc":  {drops: engine.Counted},
		// These drivers count frames that they received, and no frames that found no room. They have
		// rx_missed_errors, and it is always 0.
		"net_ixgbe_vf":     {drops: engine.Hidden},
		"net_e1000_igb_vf": {drops: engine.Hidden},
		"net_virtio":       {drops: engine.Hidden},
		"net_mana":         {drops: engine.Hidden},
		"net_memif":        {drops: engine.Hidden},
		"net_tap":          {drops: engine.Hidden},
	}
}

// extended holds the indexes of the counters that matter among a port's extended statistics.
type extended struct {
	names                    int // how many there are, and as many values
	missed, damaged, dropped []int
	pauses, pausesSent       []int
	// good are the places of rx_good_packets, rx_good_bytes, tx_good_packets and tx_good_bytes.
	good []int
	// split means that the driver counts frames that it dropped and frames that arrived damaged separately.
	split bool
}

// wanted says whether there is any counter to read.
func (x extended) wanted() bool {
	return x.split || len(x.dropped)+len(x.pauses)+len(x.pausesSent) > 0
}

// findExtended finds the places by the names.
func findExtended(d driver, names []string) extended {
	x := extended{names: len(names), missed: indexesOf(names, d.missed), damaged: indexesOf(names, d.damaged),
		dropped: indexesOf(names, d.dropped),
		good:    indexesOf(names, []string{"rx_good_packets", "rx_good_bytes", "tx_good_packets", "tx_good_bytes"})}
	x.split = len(x.missed) > 0 && len(x.damaged) > 0
	for at, name := range names {
		switch {
		case isPause(name, "rx"):
			x.pauses = append(x.pauses, at)
		case isPause(name, "tx"):
			x.pausesSent = append(x.pausesSent, at)
		}
	}
	return x
}

// indexesOf are the indexes of the wanted names that exist.
func indexesOf(names, wanted []string) (indexes []int) {
	for _, name := range wanted {
		if i := slices.Index(names, name); i >= 0 {
			indexes = append(indexes, i)
		}
	}
	return indexes
}

// isPause matches the drivers' names of pause frames in a direction, "rx" or "tx", such as rx_xoff_packets,
// rx_flow_control_xoff_packets, rx_priority0_xoff_packets, priority_xoff_rx_tc0, rx_pause_frames and rx_pfc_frames,
// but no names of durations or transitions. By sent pause frames the port held the device up, as it had no room itself.
func isPause(name, direction string) bool {
	name = strings.ToLower(name)
	pauses := strings.Contains(name, "xoff") || strings.Contains(name, "pause") || strings.Contains(name, "pfc")
	for _, other := range []string{"duration", "transition", "xon_to_xoff", "xon_2_xoff", "xon2xoff"} {
		pauses = pauses && !strings.Contains(name, other)
	}
	return pauses && (strings.HasPrefix(name, direction+"_") || strings.Contains(name, "_"+direction+"_"))
}

// tally holds the counters in one reading of the extended statistics, -1 where the statistics don't have a counter.
type tally struct {
	missed, damaged, dropped, pauses, pausesSent int64
}

func (x extended) tally(values []wire.Count) tally {
	t := tally{pauses: -1, pausesSent: -1, missed: sumAt(values, x.missed), damaged: sumAt(values, x.damaged),
		dropped: sumAt(values, x.dropped)}
	if len(x.pauses) > 0 {
		t.pauses = sumAt(values, x.pauses)
	}
	if len(x.pausesSent) > 0 {
		t.pausesSent = sumAt(values, x.pausesSent)
	}
	return t
}

func sumAt(values []wire.Count, places []int) (sum int64) {
	for _, at := range places {
		if at < len(values) {
			sum += int64(values[at])
		}
	}
	return sum
}

// addTo adds the frames that extended statistics took from registers that they share with a port's counters.
// DPDK leaves out the frame check sequence, which the counters have.
func (x extended) addTo(c *trex.PortStats, values []wire.Count) {
	received, sent := values[x.good[0]], values[x.good[2]]
	c.ReceivedPackets, c.ReceivedBytes = c.ReceivedPackets+received, c.ReceivedBytes+values[x.good[1]]+
		units.FCSBytes*received
	c.SentPackets, c.SentBytes = c.SentPackets+sent, c.SentBytes+values[x.good[3]]+units.FCSBytes*sent
}
