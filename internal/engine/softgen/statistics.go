package softgen

import (
	"sync"
	"time"

	"github.com/linerate-dev/linerate/internal/engine/softgen/datapath"
	"github.com/linerate-dev/linerate/internal/host/machine"
)

// statistics answer with the counters of ports and the vital signs of the machine.
type statistics struct {
	ports  ports
	clock  clock
	signs  *machine.SignsReader
	vitals vitals
	theft  theft
	// unreadCounters has the counters of ports that the present request hasn't asked for yet, as of its first reading.
	unreadCounters map[int]datapath.Counters
}

// readCounters returns a reading of the port's counters and updates the port's gauges. All ports are read at
// the same moment, so that a client that asks for several in a batch can compare one port's sent frames with
// another's received frames.
func (s *statistics) readCounters(port *port) datapath.Counters {
	counters, ahead := s.unreadCounters[port.index]
	if !ahead {
		s.unreadCounters = s.readAll()
		counters = s.unreadCounters[port.index]
	}
	delete(s.unreadCounters, port.index)
	port.sent.read(counters.ReadAt, counters.Sent)
	port.received.read(counters.ReadAt, counters.Received)
	return counters
}

// All ports must be read within acceptableWidth, or they are read again. Frames that pass between the readings
// of two ports look like loss, or hide loss.
const (
	acceptableWidth = 200 * time.Microsecond
	readTries       = 3
)

// readAll reads all ports at about the same moment. It returns the shortest of a few readings.
func (s *statistics) readAll() map[int]datapath.Counters {
	best := s.readOnce()
	for try := 1; try < readTries && readingWidth(best) > acceptableWidth; try++ {
		if reading := s.readOnce(); readingWidth(reading) < readingWidth(best) {
			best = reading
		}
	}
	byPort := make(map[int]datapath.Counters, len(best))
	for i, port := range s.ports {
		byPort[port.index] = best[i]
	}
	return byPort
}

// readingWidth is how long reading took, from the first counter to the last.
func readingWidth(readings []datapath.Counters) time.Duration {
	if len(readings) == 0 {
		return 0
	}
	begin, end := readings[0].ReadAt, readings[0].ReadAt
	for _, c := range readings {
		begin, end = min(begin, c.ReadAt-c.Uncertainty), max(end, c.ReadAt+c.Uncertainty)
	}
	return end - begin
}

// readOnce reads all ports concurrently.
func (s *statistics) readOnce() []datapath.Counters {
	readings := make([]datapath.Counters, len(s.ports))
	var wg sync.WaitGroup
	for i, port := range s.ports {
		wg.Go(func() { readings[i] = port.path.Counters() })
	}
	wg.Wait()
	return readings
}

// portStats answers get_port_stats. Counters are since the port was opened, and bytes include the FCS. TRex doesn't
// have these members:
//
//	ts, ts_width   the server's clock at the reading, and its uncertainty, in seconds
//	behind         packets that should have left by then and have not
//	queue_full     retries
//	peer_full      sent packets that found the far end of a veth full
//	link_flaps     changes of the link
//	sending        seconds from the first frame of the latest run of finite streams to its last
//	waited         seconds until just before the reading in which sending threads waited for a processor
//	waiting        how much more that may be after the reading
//	damaged        packets with a wrong checksum or length, which TRex has in ierrors
//	kernel         frames that the interface received, sent and dropped, by the kernel's own count
//	send_drops     packets of opackets that the driver dropped later
//	stray_packets  the part of ipackets that keeps the link up, such as ARP; stray_bytes: of ibytes
func (s *statistics) portStats(port *port, _ *params) (any, error) {
	c := s.readCounters(port)
	return object{
		"opackets": c.Sent.Packets, "obytes": c.Sent.Bytes, "ipackets": c.Received.Packets, "ibytes": c.Received.Bytes,
		"oerrors": c.SendErrors, "ierrors": c.ReceiveErrors, "damaged": c.Damaged, "send_drops": c.SendDrops,
		"stray_packets": c.Strays.Packets, "stray_bytes": c.Strays.Bytes, "m_cpu_util": real(c.CPUPercent),
		"m_total_tx_pps": real(port.sent.pps), "m_total_tx_bps": real(port.sent.layer2),
		"m_total_rx_pps": real(port.received.pps), "m_total_rx_bps": real(port.received.layer2),
		"kernel": []int64{c.Kernel.Received, c.Kernel.Sent, c.Kernel.Dropped},
		"ts":     real(c.ReadAt.Seconds()), "ts_width": real(c.Uncertainty.Seconds()), "behind": c.Behind,
		"queue_full": c.QueueFull, "peer_full": c.PeerFull, "link_flaps": port.path.Info().LinkFlaps,
		"sending": real(c.Sending.Seconds()), "waited": real(c.Waited.Seconds()), "waiting": real(c.Waiting.Seconds()),
	}, nil
}

// totals are the sums over all ports.
type totals struct {
	datapath.Counters
	sent, received gauge
}

func (s *statistics) total() totals {
	var t totals
	for _, port := range s.ports {
		c := s.readCounters(port)
		t.Sent, t.Received = t.Sent.Add(c.Sent), t.Received.Add(c.Received)
		t.QueueFull += c.QueueFull
		t.CPUPercent += c.CPUPercent / float64(len(s.ports))
		t.sent.pps, t.sent.layer2 = t.sent.pps+port.sent.pps, t.sent.layer2+port.sent.layer2
		t.received.pps, t.received.layer2 = t.received.pps+port.received.pps, t.received.layer2+port.received.layer2
	}
	return t
}

// globalStats answers get_global_stats. Members that a stateless engine on kernel interfaces doesn't have are
// 0. TRex doesn't have the members that come where the kernel reports them. stolen is how many seconds of a
// processor's time the machine's host gave to others, up to stolen_ts on the server's clock. processors, asked
// for by the parameter processors, is how each of the machine's processors spent its time up to processors_ts.
// signs are the machine's vital signs of the types that the parameter signs names.
func (s *statistics) globalStats(p *params) (any, error) {
	withProcessors, signs := p.flag("processors"), p.texts("signs")
	if err := p.failed(); err != nil {
		return nil, err
	}
	t, instant := s.total(), s.clock()
	stats := object{
		"m_cpu_util": real(t.CPUPercent), "m_cpu_util_raw": real(t.CPUPercent), "m_platform_factor": real(1),
		"m_tx_pps": real(t.sent.pps), "m_tx_bps": real(t.sent.layer2), "m_rx_pps": real(t.received.pps),
		"m_rx_bps":      real(t.received.layer2),
		"m_rx_drop_bps": real(max(t.sent.layer2-t.received.layer2, 0)), "m_rx_core_pps": real(t.received.pps),
		"m_total_tx_pkts": t.Sent.Packets, "m_total_tx_bytes": t.Sent.Bytes,
		"m_total_rx_pkts": t.Received.Packets, "m_total_rx_bytes": t.Received.Bytes, "m_total_queue_full": t.QueueFull,
	}
	if withProcessors {
		if s.vitals.refresh(instant); s.vitals.available {
			stats["processors"], stats["processors_ts"] = s.vitals.table(), real(s.vitals.readAt.Seconds())
		}
	}
	if len(signs) > 0 {
		stats["signs"] = s.signs.Read(signs, s.clock)
	}
	if s.theft.refresh(instant, &s.vitals); s.theft.available {
		stats["stolen"], stats["stolen_ts"] = real(s.theft.total.Seconds()), real(s.theft.readAt.Seconds())
	}
	for _, name := range []string{
		"m_total_queue_drop", "m_total_alloc_error", "m_total_clients", "m_total_servers", "m_active_sockets",
		"m_total_nat_active",
		"m_total_nat_learn_error", "m_total_nat_no_fid", "m_total_nat_open", "m_total_nat_syn_wait",
		"m_total_nat_time_out",
		"m_total_nat_time_out_wait_ack",
	} {
		stats[name] = 0
	}
	for _, name := range []string{
		"m_bw_per_core", "m_rx_cpu_util", "m_tx_cps", "m_tx_expected_cps", "m_tx_expected_pps", "m_tx_expected_bps",
		"m_active_flows",
		"m_open_flows", "m_socket_util",
	} {
		stats[name] = real(0)
	}
	return stats, nil
}

// extended returns the port's counters under the names that a kernel interface's driver gives them in TRex.
func (s *statistics) extended(port *port) (names []string, values []int64) {
	c := s.readCounters(port)
	for _, counter := range []struct {
		name  string
		value int64
	}{
		{"rx_good_packets", c.Received.Packets}, {"tx_good_packets", c.Sent.Packets},
		{"rx_good_bytes", c.Received.Bytes}, {"tx_good_bytes", c.Sent.Bytes},
		{"rx_missed_errors", c.ReceiveErrors}, {"rx_errors", c.Damaged}, {"tx_errors", c.SendErrors},
		{"tx_dropped", c.SendDrops}, {"tx_queue_full", c.QueueFull}, {"tx_peer_full", c.PeerFull},
		{"tx_behind", c.Behind},
	} {
		names, values = append(names, counter.name), append(values, counter.value)
	}
	return names, values
}

// extendedNames answers get_port_xstats_names.
func (s *statistics) extendedNames(port *port, _ *params) (any, error) {
	names, _ := s.extended(port)
	return object{"xstats_names": names}, nil
}

// extendedValues answers get_port_xstats_values, in the order of the names.
func (s *statistics) extendedValues(port *port, _ *params) (any, error) {
	_, values := s.extended(port)
	return object{"xstats_values": values}, nil
}

// utilization answers get_utilization with the present load of each port's sending threads. There are no packet
// buffers to count.
func (s *statistics) utilization(*params) (any, error) {
	cpus := []object{}
	for _, port := range s.ports {
		cpus = append(cpus, object{"history": []int{int(port.path.Counters().CPUPercent)}, "ports": []int{port.index,
			-1}})
	}
	return object{"cpu": cpus, "mbuf_stats": object{}}, nil
}
