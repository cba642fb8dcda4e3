package plan

import "github.com/linerate-dev/linerate/internal/units"

// The protocols of sessions, and the applications that speak them.
const (
	TCP               = "TCP"
	UDP               = "UDP"
	ApplicationIperf3 = "iperf3"
	ApplicationIperf2 = "iperf2"
)

// Sessions are bulk transfers in each direction, between a program at each link. Their frames are the kernels' affair.
type Sessions struct {
	Protocol string `json:"protocol"` // TCP or UDP
	// Application is what the programs speak: iperf3, or iperf2, which is that program; empty: linerate's own transfer over TCP.
	Application string `json:"application,omitempty"`
	// Parallel is how many connections each direction has.
	Parallel int `json:"parallel"`
	// WindowBytes is the size of each connection's buffers at either end; 0: the kernels' own, which grow as they see fit.
	WindowBytes int64 `json:"windowBytes,omitempty"`
	// MessageBytes is how much is written, and read, at a time.
	MessageBytes int64 `json:"messageBytes"`
	// CongestionControl is Linux' name of it; empty: the ends' own choice.
	CongestionControl string `json:"congestionControl,omitempty"`
}

// BitsPerSecond is the payload that all connections of a direction are to carry together, in a constant load; 0: all that they can. A rate in packets is of datagrams.
func (s *Sessions) BitsPerSecond(p Procedure) int64 {
	if p.ConstantLoad == nil || p.ConstantLoad.Unlimited {
		return 0
	}
	const one = 1_000_000 // of a rate's Micros
	rate := p.ConstantLoad.Rate
	if rate.Kind == units.Packets {
		return rate.Micros / one * 8 * s.MessageBytes
	}
	return rate.Micros / one
}
