package trex

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/linerate-dev/linerate/internal/engine/trex/wire"
)

// minLead is how far ahead of the server's clock a common start must be.
const minLead = 100 * time.Millisecond

// allCores lets every core of a port send.
const allCores = uint64(math.MaxUint64)

// Multiplier is the load that a port's streams are scaled to, all by the same factor. Latency streams keep their own
// rates and count towards it.
type Multiplier struct {
	Type  string  `json:"type"` // "raw", "pps", "bps" (layer 2), "bpsl1", "percentage" (of layer 1)
	Op    string  `json:"op"`   // "abs"; in updates also "add" and "sub"
	Value float64 `json:"value"`
}

// PPS is an absolute load in packets per second.
func PPS(v float64) Multiplier { return Multiplier{Type: "pps", Op: "abs", Value: v} }

// Raw is a plain factor on the streams' own rates. With 1 the streams go as written.
func Raw(v float64) Multiplier { return Multiplier{Type: "raw", Op: "abs", Value: v} }

func (m Multiplier) check() error {
	if !(m.Value > 0) || math.IsInf(m.Value, 0) {
		return fmt.Errorf("multiplier %v %s: must be positive", m.Value, m.Type)
	}
	return nil
}

// Start says how to start one port.
type Start struct {
	Port       int
	Multiplier Multiplier
	// Duration is how long the port sends, by its schedule. It must be positive, because a server knows no keepalive,
	// and would send for ever on behalf of a client that died. TRex sends a schedule that it can't keep up with to
	// its end, however late, unless it is stopped.
	Duration time.Duration
	// Instant is when to start on the server's clock (Ping), at least 100 ms ahead. 0 starts at once.
	Instant time.Duration
	// Force skips the checks for link, destination MAC and line rate, and the cap at line rate.
	Force bool
}

// Traffic loads, starts, changes and stops what the session's ports send.
type Traffic struct {
	session *Session
	mu      sync.Mutex
	loaded  map[int]bool // ports whose default profile exists on the server
}

// Started is a server's answer to a Start.
type Started struct {
	// Factor is what the streams' rates are multiplied by. It is infinite if there are only latency streams.
	Factor wire.Float `json:"multiplier"`
	// TS is the server's clock when it took the request.
	TS seconds `json:"ts"`
	// RunDuration is how long the port sends, by the server's schedule. That is a little longer than was asked for,
	// as a server needs time to take the requests for a common start.
	RunDuration time.Duration `json:"-"`
}

// StartTraffic starts ports in one exchange. After an error some ports may have been started all the same, so the
// caller must stop all of them.
func (t *Traffic) StartTraffic(ctx context.Context, starts ...Start) ([]Started, error) {
	started := make([]Started, len(starts))
	calls := make([]*call, len(starts))
	for i, s := range starts {
		k, err := t.startCall(ctx, s, &started[i])
		if err != nil {
			return nil, err
		}
		calls[i] = k
	}
	err := t.session.ownedBatch(ctx, calls)
	for i, s := range starts {
		started[i].RunDuration = s.Duration
		if s.Instant > 0 {
			started[i].RunDuration = started[i].TS.duration() + s.Duration - s.Instant
		}
	}
	return started, err
}

func (t *Traffic) startCall(ctx context.Context, s Start, result *Started) (*call, error) {
	if s.Duration <= 0 {
		return nil, &UnsafeError{Object: fmt.Sprintf("start of port %d for %v", s.Port, s.Duration),
			Reason: "without an end the server would send for ever if the client died"}
	}
	if s.Multiplier.Op != "abs" {
		return nil, fmt.Errorf("start of port %d: multiplier op %q: only abs can start", s.Port, s.Multiplier.Op)
	}
	if err := s.Multiplier.check(); err != nil {
		return nil, fmt.Errorf("start of port %d: %w", s.Port, err)
	}
	if err := t.requireProfile(ctx, s.Port, "start"); err != nil {
		return nil, err
	}
	p := params{
		"profile_id": defaultProfile,
		"mul":        s.Multiplier,
		"duration":   s.Duration.Seconds(),
		"force":      s.Force,
		"core_mask":  allCores,
	}
	if s.Instant > 0 {
		p["start_at_ts"] = s.Instant.Seconds()
	}
	return t.session.ownedCall(s.Port, "start_traffic", p, result)
}

// StartTogether starts ports at one instant, lead ahead on the server's clock (at least 100 ms, in which the server
// compiles all ports' streams). A server that took longer refuses some of the starts, which is a LateError. The
// server counts durations from its requests, so they are longer by the lead.
//
//	ping ├──── lead ────┤ all start
//	  request 0 ├────────────── lead + duration ──────────────┤
//	   request 1 ├────────────── lead + duration ──────────────┤
func (t *Traffic) StartTogether(ctx context.Context, lead time.Duration, starts ...Start) ([]Started, error) {
	clock, err := t.session.Ping(ctx)
	if err != nil {
		return nil, err
	}
	instant := clock + max(lead, minLead)
	appointed := make([]Start, len(starts))
	for i, s := range starts {
		s.Instant = instant
		if s.Duration > 0 {
			s.Duration += instant - clock
		}
		appointed[i] = s
	}
	started, err := t.StartTraffic(ctx, appointed...)
	if _, refused := errors.AsType[*RPCError](err); refused && t.isLate(ctx, instant, err) {
		err = &LateError{Lead: max(lead, minLead), Err: err}
	}
	return started, err
}

// isLate says whether a common start was refused for its instant. Either the server says so, or the instant has
// passed while the server was busy.
func (t *Traffic) isLate(ctx context.Context, instant time.Duration, err error) bool {
	if strings.Contains(err.Error(), "start_at_ts") {
		return true
	}
	clock, err := t.session.Ping(ctx)
	return err == nil && clock >= instant
}

// UpdateTraffic changes the loads of running ports in one exchange and without a gap. force skips the check
// against line rate. The factors come back by port.
func (t *Traffic) UpdateTraffic(ctx context.Context, loads map[int]Multiplier, force bool) (map[int]wire.Float, error) {
	ports := slices.Sorted(maps.Keys(loads))
	results := make([]Started, len(ports))
	calls := make([]*call, len(ports))
	for i, port := range ports {
		k, err := t.updateCall(port, loads[port], force, &results[i])
		if err != nil {
			return nil, err
		}
		calls[i] = k
	}
	if err := t.session.ownedBatch(ctx, calls); err != nil {
		return nil, err
	}
	factors := make(map[int]wire.Float, len(ports))
	for i, port := range ports {
		factors[port] = results[i].Factor
	}
	return factors, nil
}

func (t *Traffic) updateCall(port int, m Multiplier, force bool, result *Started) (*call, error) {
	if err := m.check(); err != nil {
		return nil, fmt.Errorf("update of port %d: %w", port, err)
	}
	return t.session.ownedCall(port, "update_traffic", params{"profile_id": defaultProfile, "mul": m, "force": force},
		result)
}

// StopTraffic ends the traffic of ports in one exchange, and returns when it has ended. Ports that don't send are
// left as they are. StopTraffic tries all ports, also after one of them failed.
func (t *Traffic) StopTraffic(ctx context.Context, ports ...int) error {
	var calls []*call
	var refused []error
	for _, port := range ports {
		k, err := t.session.ownedCall(port, "stop_traffic", params{"profile_id": defaultProfile}, nil)
		if err != nil {
			refused = append(refused, err)
			continue
		}
		calls = append(calls, k)
	}
	return errors.Join(append(refused, t.session.ownedBatch(ctx, calls))...)
}
