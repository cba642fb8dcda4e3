package trex

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// fetchFrames is how many frames one fetch may bring.
const fetchFrames = 50

// Captures receives and sends single frames on the session's ports.
type Captures struct {
	session  *Session
	settings Settings
}

// Capture is a running capture of received frames. It works on ports in service mode only.
type Capture struct {
	session *Session
	id      int
}

// CapturedFrame is a frame as the server recorded it, without FCS.
type CapturedFrame struct {
	Port    int
	Instant time.Duration // the server's clock
	Bytes   []byte
}

// StartCapture records what the ports receive, at most limit frames, those that match filter (BPF syntax, "" for
// all).
func (c Captures) StartCapture(ctx context.Context, ports []int, limit int, filter string) (*Capture, error) {
	var result struct {
		ID int `json:"capture_id"`
	}
	p := params{"command": "start", "limit": limit, "mode": "fixed", "tx": []int{}, "rx": ports, "filter": filter}
	if err := c.session.invoke(ctx, call{method: "capture", port: -1, params: p, result: &result}); err != nil {
		return nil, fmt.Errorf("start capture: %w", err)
	}
	return &Capture{session: c.session, id: result.ID}, nil
}

// Fetch returns the frames recorded since the last Fetch, in order of arrival. There may be none.
func (k *Capture) Fetch(ctx context.Context) ([]CapturedFrame, error) {
	var frames []CapturedFrame
	for {
		fetched, pending, err := k.fetch(ctx)
		if err != nil {
			return nil, err
		}
		frames = append(frames, fetched...)
		if pending == 0 || len(fetched) == 0 {
			return frames, nil
		}
	}
}

func (k *Capture) fetch(ctx context.Context) (frames []CapturedFrame, pending int, err error) {
	var result struct {
		Pending int `json:"pending"`
		Packets []struct {
			Binary []byte  `json:"binary"`
			Port   int     `json:"port"`
			TS     seconds `json:"ts"`
			Origin string  `json:"origin"`
		} `json:"pkts"`
	}
	p := params{"command": "fetch", "capture_id": k.id, "pkt_limit": fetchFrames, "snaplen": 0}
	if err := k.session.invoke(ctx, call{method: "capture", port: -1, params: p, result: &result}); err != nil {
		return nil, 0, fmt.Errorf("fetch captured frames: %w", err)
	}
	for _, f := range result.Packets {
		if f.Origin != "TX" {
			frames = append(frames, CapturedFrame{Port: f.Port, Instant: f.TS.duration(), Bytes: f.Binary})
		}
	}
	return frames, result.Pending, nil
}

// Close ends the capture and removes it from the server.
func (k *Capture) Close(ctx context.Context) error {
	for _, command := range []string{"stop", "remove"} {
		p := params{"command": command, "capture_id": k.id}
		if err := k.session.invoke(ctx, call{method: "capture", port: -1, params: p}); err != nil {
			return fmt.Errorf("%s capture: %w", command, err)
		}
	}
	return nil
}

// listed is a capture in the server's list.
type listed struct {
	ID     int `json:"id"`
	Filter struct {
		TX portSet `json:"tx"`
		RX portSet `json:"rx"`
	} `json:"filter"`
}

// portSet is a set of ports, which servers write as a list or as a number with a bit for each.
type portSet []int

// UnmarshalJSON reads either form.
func (s *portSet) UnmarshalJSON(text []byte) error {
	var mask uint64
	if json.Unmarshal(text, &mask) != nil {
		return json.Unmarshal(text, (*[]int)(s))
	}
	*s = nil
	for port := range 64 {
		if mask>>port&1 == 1 {
			*s = append(*s, port)
		}
	}
	return nil
}

// RemoveCaptures ends the captures on a port that an earlier client left behind. Captures have no owner and
// outlive the client that started them, and a port with one can't leave service mode.
func (c Captures) RemoveCaptures(ctx context.Context, port int) error {
	var captures []listed
	if err := c.session.invoke(ctx, call{method: "capture", port: -1, params: params{"command": "status"},
		result: &captures}); err != nil {
		return fmt.Errorf("list captures: %w", err)
	}
	for _, k := range captures {
		if !slices.Contains(k.Filter.TX, port) && !slices.Contains(k.Filter.RX, port) {
			continue
		}
		if err := (&Capture{session: c.session, id: k.ID}).Close(ctx); err != nil {
			return err
		}
	}
	return nil
}

// pushed is a frame as push_pkts takes it.
type pushed struct {
	Binary      []byte `json:"binary"`
	Destination bool   `json:"use_port_dst_mac"`
	Source      bool   `json:"use_port_src_mac"`
}

// weight is an upper bound for its size in JSON.
func (p pushed) weight() int { return len(p.Binary)*4/3 + 100 }

// PushFrames sends frames once, as they are and in order, out of a port that isn't sending. The server pads
// them to the minimum size.
func (c Captures) PushFrames(ctx context.Context, port int, frames [][]byte) error {
	var batch []pushed
	size := 0
	for _, f := range frames {
		p := pushed{Binary: f}
		if len(batch) > 0 && size+p.weight() > batchBytes {
			if err := c.push(ctx, port, batch); err != nil {
				return err
			}
			batch, size = nil, 0
		}
		batch, size = append(batch, p), size+p.weight()
	}
	if len(batch) == 0 {
		return nil
	}
	return c.push(ctx, port, batch)
}

func (c Captures) push(ctx context.Context, port int, batch []pushed) error {
	var result struct {
		Sent int `json:"sent"`
	}
	p := params{"port_id": port, "pkts": batch, "force": true, "ipg_usec": 0}
	if err := c.session.invoke(ctx, call{method: "push_pkts", port: port, params: p, result: &result}); err != nil {
		return err
	}
	if result.Sent != len(batch) {
		return fmt.Errorf("push_pkts on port %d: %d of %d frames were sent", port, result.Sent, len(batch))
	}
	return nil
}
