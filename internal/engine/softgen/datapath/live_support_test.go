package datapath

import (
	"errors"
	"strings"
	"testing"
)

func TestRoomForLiveFrames(t *testing.T) {
	for _, c := range []struct {
		threads, processors int
		fits                bool
	}{{1, 2, false}, {1, 3, true}, {2, 4, false}, {2, 5, true}, {8, 16, false}} {
		if err := checkLiveProcessors(c.threads, c.processors); (err == nil) != c.fits {
			t.Errorf("%d threads on %d processors: %v", c.threads, c.processors, err)
		}
	}
}

// TestLiveFramesByThemselves: a port without a chosen path uses live frames where they do no harm, and gives a
// reason for any other path.
func TestLiveFramesByThemselves(t *testing.T) {
	a, b := liveCable(t, Options{})
	p := a.(*port)
	for name, c := range map[string]struct {
		path  Path
		plain bool
		cpus  int
		nic   string
		want  string
	}{
		"with processors enough": {PathAuto, false, 16, "veth", "sends by live frames, "},
		"as the default":         {"", false, 16, "veth", "sends by live frames, "},
		"on two processors": {PathAuto, false, 2, "veth",
			"sends by AF_XDP (not by live frames: threads that send (2), " +
				"the far ends of their cables and all else would need 5 processors, of 2 here), "},
		"on a network card": {PathAuto, false, 16, "mlx5_core",
			"sends by AF_XDP (not by live frames: what west has no room for would count as sent, " +
				"so they have to be asked for), "},
		"where AF_XDP is asked for":      {PathXDP, false, 16, "veth", "sends by AF_XDP, "},
		"where AF_PACKET is asked for":   {PathPacket, false, 16, "veth", "sends by AF_XDP, "},
		"where plain sockets are wanted": {PathAuto, true, 16, "veth", "sends by AF_XDP, "},
	} {
		t.Run(name, func(t *testing.T) {
			p.options.Path, p.options.Plain, p.cpus, p.nic.Driver = c.path, c.plain, c.cpus, c.nic
			p.playback = nil
			for _, moment := range []string{"before a run", "in one"} {
				if got := a.Info().Path; !strings.HasPrefix(got, c.want) {
					t.Errorf("%s it %s, want it %s", moment, got, c.want)
				}
				if moment == "before a run" {
					noError(t, a.Start(runTo(b, 1, continuous(1000, frame(60)))))
				}
			}
			noError(t, a.Stop())
		})
	}
	t.Run("a run that live frames can't carry is sent by AF_XDP", func(t *testing.T) {
		p.options.Path, p.options.Plain, p.cpus, p.nic.Driver = PathAuto, false, 16, "veth"
		s := addressed(burst(1, 1000, frame(60)))
		s.Mode.Type, s.Mode.PacketsPerBurst, s.Mode.Count, s.Mode.InterBurstGap = "multi_burst", 5, 3, 1000
		noError(t, a.Start(Run{Streams: streams(s), Factor: 1, NextHop: macOf(b)}))
		if got, want := a.Info().Path, "sends by AF_XDP (not by live frames: stream 1 sends bursts again and "+
			"again), "; !strings.HasPrefix(got, want) {
			t.Errorf("it %s, want it %s", got, want)
		}
		finish(t, a)
		noError(t, a.Stop())
	})
	noError(t, setGRO("east", false))
	if err := refuseLive(p); !errors.Is(err, errNotLive) || !strings.Contains(err.Error(), "ethtool -K PEER gro on") {
		t.Errorf("before a far end that takes none: %v", err)
	}
}
