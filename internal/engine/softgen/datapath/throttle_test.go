package datapath_test

import (
	"testing"

	"github.com/linerate-dev/linerate/internal/document/stream"
	"github.com/linerate-dev/linerate/internal/engine/softgen/datapath"
	"github.com/linerate-dev/linerate/internal/units"
)

// recorder records its calls.
type recorder struct {
	datapath.Port
	factor float64
}

func (r *recorder) Start(run datapath.Run) error   { r.factor = run.Factor; return nil }
func (r *recorder) SetFactor(factor float64) error { r.factor = factor; return nil }

func continuous(rule string, kind string, value float64) datapath.RunStream {
	s := stream.Stream{Mode: stream.Mode{Type: "continuous", Rate: stream.Rate{Type: kind, Value: value}}}
	s.FlowStats = stream.Flow{Enabled: rule != "", RuleType: rule}
	return datapath.RunStream{Stream: s}
}

func TestThrottle(t *testing.T) {
	imix := []datapath.RunStream{continuous("", "pps", 28), continuous("", "pps", 16), continuous("", "pps", 4)}
	for name, c := range map[string]struct {
		streams     []datapath.RunStream
		asked, want float64
	}{
		"less than the most goes through": {imix, 50, 50},
		"more is cut to the most":         {imix, 1000, 100},
		"latency streams are beside the load": {append([]datapath.RunStream{continuous("latency", "pps", 1000)},
			imix...), 1000, 100},
		"what has no rate in packets is untouched": {[]datapath.RunStream{continuous("", "percentage", 1)}, 1000, 1000},
	} {
		t.Run(name, func(t *testing.T) {
			inner := &recorder{}
			p := datapath.Throttle(inner, 4800*units.PacketPerSecond)
			if err := p.Start(datapath.Run{Streams: c.streams, Factor: c.asked}); err != nil || inner.factor != c.want {
				t.Errorf("a start with factor %v reached the port as %v (%v), want %v", c.asked, inner.factor, err,
					c.want)
			}
		})
	}
	t.Run("an update's rate is capped too", func(t *testing.T) {
		inner := &recorder{}
		p := datapath.Throttle(inner, 4800*units.PacketPerSecond)
		if err := p.Start(datapath.Run{Streams: imix, Factor: 1}); err != nil {
			t.Fatal(err)
		}
		if err := p.SetFactor(101); err != nil || inner.factor != 100 {
			t.Errorf("factor 101 reached the port as %v (%v), want 100", inner.factor, err)
		}
	})
}
