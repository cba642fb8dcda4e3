package softgen

import (
	"sync"
	"time"

	"github.com/linerate-dev/linerate/internal/engine/softgen/datapath"
)

// read returns a reading of the port's counters and brings its gauges up to date. All ports are read at the same moment: a client that asks for
// several, one after the other in a batch, compares what one sent with what another received.
func (s *Server) read(at *port) datapath.Counters {
	now, ahead := s.ahead[at.index]
	if !ahead {
		s.ahead = s.readAll()
		now = s.ahead[at.index]
	}
	delete(s.ahead, at.index)
	at.sent.read(now.At, now.Sent)
	at.received.read(now.At, now.Received)
	return now
}

// The time within which all ports must be read, or they are read again: frames that pass between the readings of two ports look like loss, or hide loss.
const (
	narrowEnough = 200 * time.Microsecond
	readTries    = 3
)

// readAll reads all ports at about the same moment: it takes a few readings and returns the shortest.
func (s *Server) readAll() map[int]datapath.Counters {
	best := s.readOnce()
	for try := 1; try < readTries && width(best) > narrowEnough; try++ {
		if again := s.readOnce(); width(again) < width(best) {
			best = again
		}
	}
	byPort := make(map[int]datapath.Counters, len(best))
	for i, at := range s.ports {
		byPort[at.index] = best[i]
	}
	return byPort
}

// width is how long reading took, from the first counter that was read to the last.
func width(readings []datapath.Counters) time.Duration {
	if len(readings) == 0 {
		return 0
	}
	first, last := readings[0].At, readings[0].At
	for _, c := range readings {
		first, last = min(first, c.At-c.Uncertainty), max(last, c.At+c.Uncertainty)
	}
	return last - first
}

// readOnce reads all ports at once.
func (s *Server) readOnce() []datapath.Counters {
	readings := make([]datapath.Counters, len(s.ports))
	var wg sync.WaitGroup
	for i, at := range s.ports {
		wg.Go(func() { readings[i] = at.path.Counters() })
	}
	wg.Wait()
	return readings
}

// getPortStats is get_port_stats: counters since the port was opened, bytes with FCS. In addition to TRex's members: ts is the server's clock at
// the reading, give or take ts_width seconds; behind is how many packets should have left by then and have not; queue_full counts
// retries; peer_full is how many of those sent found the far end of a veth full; link_flaps counts link changes; sending is how many seconds the latest run of finite streams took, from its first frame to its last; waited is for how many seconds the sending threads were ready to run while others had the processors, until
// just before the reading, and waiting how much more that may be after it; damaged are packets that came with a wrong checksum
// or length, which TRex has in ierrors; kernel are the frames that the interface received, sent and dropped by the kernel's own count; send_drops those of opackets that the driver dropped later; stray_packets and stray_bytes are what of ipackets and ibytes keeps the link up, such as ARP.
func (s *Server) getPortStats(p *params) (any, error) {
	at, err := s.port(p)
	if err != nil {
		return nil, err
	}
	c := s.read(at)
	return object{
		"opackets": c.Sent.Packets, "obytes": c.Sent.Bytes, "ipackets": c.Received.Packets, "ibytes": c.Received.Bytes,
		"oerrors": c.SendErrors, "ierrors": c.ReceiveErrors, "damaged": c.Damaged, "send_drops": c.SendDrops, "stray_packets": c.Strays.Packets, "stray_bytes": c.Strays.Bytes, "m_cpu_util": real(c.CPUPercent),
		"m_total_tx_pps": real(at.sent.pps), "m_total_tx_bps": real(at.sent.layer2),
		"m_total_rx_pps": real(at.received.pps), "m_total_rx_bps": real(at.received.layer2),
		"kernel": []int64{c.Kernel.Received, c.Kernel.Sent, c.Kernel.Dropped},
		"ts":     real(c.At.Seconds()), "ts_width": real(c.Uncertainty.Seconds()), "behind": c.Behind, "queue_full": c.QueueFull, "peer_full": c.PeerFull, "link_flaps": at.path.Info().LinkFlaps,
		"sending": real(c.Sending.Seconds()), "waited": real(c.Waited.Seconds()), "waiting": real(c.Waiting.Seconds()),
	}, nil
}

// totals are the sums over all ports.
type totals struct {
	datapath.Counters
	sent, received gauge
}

func (s *Server) total() totals {
	var t totals
	for _, at := range s.ports {
		c := s.read(at)
		t.Sent, t.Received = t.Sent.Add(c.Sent), t.Received.Add(c.Received)
		t.QueueFull += c.QueueFull
		t.CPUPercent += c.CPUPercent / float64(len(s.ports))
		t.sent.pps, t.sent.layer2 = t.sent.pps+at.sent.pps, t.sent.layer2+at.sent.layer2
		t.received.pps, t.received.layer2 = t.received.pps+at.received.pps, t.received.layer2+at.received.layer2
	}
	return t
}

// getGlobalStats is get_global_stats. What a stateless engine on kernel interfaces doesn't have is 0. In addition to TRex's members, where the kernel reports them: stolen
// is how many seconds of a processor's time the machine's host gave to others, up to stolen_ts on the server's clock; processors is what each of the machine's
// did, up to processors_ts, with the parameter processors; signs is the machine's vital signs of the types that the parameter signs names. TRex
// has neither.
func (s *Server) getGlobalStats(p *params) (any, error) {
	wanted, signs := p.flag("processors"), p.texts("signs")
	if err := p.failed(); err != nil {
		return nil, err
	}
	t, now := s.total(), s.cfg.Now()
	stats := object{
		"m_cpu_util": real(t.CPUPercent), "m_cpu_util_raw": real(t.CPUPercent), "m_platform_factor": real(1),
		"m_tx_pps": real(t.sent.pps), "m_tx_bps": real(t.sent.layer2), "m_rx_pps": real(t.received.pps), "m_rx_bps": real(t.received.layer2),
		"m_rx_drop_bps": real(max(t.sent.layer2-t.received.layer2, 0)), "m_rx_core_pps": real(t.received.pps),
		"m_total_tx_pkts": t.Sent.Packets, "m_total_tx_bytes": t.Sent.Bytes,
		"m_total_rx_pkts": t.Received.Packets, "m_total_rx_bytes": t.Received.Bytes, "m_total_queue_full": t.QueueFull,
	}
	if wanted {
		if s.vitals.refresh(now); s.vitals.known {
			stats["processors"], stats["processors_ts"] = s.vitals.table(), real(s.vitals.at.Seconds())
		}
	}
	if len(signs) > 0 {
		stats["signs"] = s.cfg.Signs.Read(signs, s.cfg.Now)
	}
	if s.theft.refresh(now, &s.vitals); s.theft.known {
		stats["stolen"], stats["stolen_ts"] = real(s.theft.total.Seconds()), real(s.theft.at.Seconds())
	}
	for _, name := range []string{
		"m_total_queue_drop", "m_total_alloc_error", "m_total_clients", "m_total_servers", "m_active_sockets", "m_total_nat_active",
		"m_total_nat_learn_error", "m_total_nat_no_fid", "m_total_nat_open", "m_total_nat_syn_wait", "m_total_nat_time_out",
		"m_total_nat_time_out_wait_ack",
	} {
		stats[name] = 0
	}
	for _, name := range []string{
		"m_bw_per_core", "m_rx_cpu_util", "m_tx_cps", "m_tx_expected_cps", "m_tx_expected_pps", "m_tx_expected_bps", "m_active_flows",
		"m_open_flows", "m_socket_util",
	} {
		stats[name] = real(0)
	}
	return stats, nil
}

// extended are the port's counters under the names that a kernel interface's driver gives them in TRex.
func (s *Server) extended(p *params) (names []string, values []int64, err error) {
	at, err := s.port(p)
	if err != nil {
		return nil, nil, err
	}
	c := s.read(at)
	for _, one := range []struct {
		name  string
		value int64
	}{
		{"rx_good_packets", c.Received.Packets}, {"tx_good_packets", c.Sent.Packets},
		{"rx_good_bytes", c.Received.Bytes}, {"tx_good_bytes", c.Sent.Bytes},
		{"rx_missed_errors", c.ReceiveErrors}, {"rx_errors", c.Damaged}, {"tx_errors", c.SendErrors}, {"tx_dropped", c.SendDrops},
		{"tx_queue_full", c.QueueFull}, {"tx_peer_full", c.PeerFull}, {"tx_behind", c.Behind},
	} {
		names, values = append(names, one.name), append(values, one.value)
	}
	return names, values, nil
}

// getExtendedNames is get_port_xstats_names.
func (s *Server) getExtendedNames(p *params) (any, error) {
	names, _, err := s.extended(p)
	return object{"xstats_names": names}, err
}

// getExtendedValues is get_port_xstats_values, in the order of the names.
func (s *Server) getExtendedValues(p *params) (any, error) {
	_, values, err := s.extended(p)
	return object{"xstats_values": values}, err
}
