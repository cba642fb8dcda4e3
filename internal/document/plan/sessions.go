package plan

import "github.com/linerate-dev/linerate/internal/units"

// The protocols of sessions, and the applications that speak them.
const (
	TCP               = "TCP"
	UDP               = "UDP"
	ApplicationIperf3 = "Iperf3"
	ApplicationIperf2 = "Iperf2"
)

// Sessions are bulk transfers in each direction, between a program at each link. The kernels make their frames.
type Sessions struct {
	Protocol string `json:"protocol"` // TCP or UDP
	// Application is Iperf3 (its protocol, spoken by linerate) or Iperf2 (the program iperf itself). It is empty
	// for linerate's own transfer over TCP.
	Application string `json:"application,omitempty"`
	// Parallel is how many connections each direction has.
	Parallel int `json:"parallel"`
	// WindowBytes is the size of each connection's buffers at either end. With 0 the kernels choose.
	WindowBytes int64 `json:"windowBytes,omitempty"`
	// MessageBytes is how much is written, and read, at a time.
	MessageBytes int64 `json:"messageBytes"`
	// CongestionControl is the senders' algorithm, by Linux' name. It is empty for the ends' default.
	CongestionControl string `json:"congestionControl,omitempty"`
}

// BitsPerSecond is the payload that all connections of a direction together are to carry in a constant load, or 0
// for as much as they can. A rate in packets counts datagrams.
func (s *Sessions) BitsPerSecond(p Procedure) int64 {
	held, ok := p.HeldLoad()
	if !ok || held.Unlimited {
		return 0
	}
	const whole = 1_000_000 // of a rate's Micros
	rate := held.Rate
	if rate.Kind == units.Packets {
		return rate.Micros / whole * 8 * s.MessageBytes
	}
	return rate.Micros / whole
}
