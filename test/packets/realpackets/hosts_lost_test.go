//go:build full

package realpackets

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"github.com/linerate-dev/linerate/internal/document/report"
)

// ways are those in which the host of east is lost.
var ways = map[string]func(*hosts) error{
	"its generator is killed":       func(h *hosts) error { return h.host[1].generator.Process.Kill() },
	"its generator stands still":    func(h *hosts) error { return h.host[1].generator.Process.Signal(syscall.SIGSTOP) },
	"its control network is cut":    func(h *hosts) error { return h.cut(1) },
	"it is switched off":            func(h *hosts) error { _ = h.cut(1); return h.host[1].generator.Process.Kill() },
	"the runner is off the network": func(h *hosts) error { _ = h.cut(0); return h.cut(1) },
}

// TestALostHostEndsTheOthersTraffic: whichever way one host is lost, in a held load or in a trial, the other one sends nothing ten seconds later, although it knows no heartbeat, as a
// TRex, and the test ends with the lost host's name.
func TestALostHostEndsTheOthersTraffic(t *testing.T) {
	needRoot(t)
	for name, lose := range ways {
		for kind, procedure := range map[string]string{
			"a held load": "{type: ConstantLoad, constantLoad: {rate: 3kpps, warmupDuration: 1s, duration: 120s, window: 5s}}",
			"a trial":     "{type: FrameLoss, frameLoss: {maxRate: 3kpps, minRate: 1kpps, step: 1kpps, warmupDuration: 0s, trialDuration: 120s, cleanTrials: 0}}",
		} {
			t.Run(name+", in "+kind, func(t *testing.T) {
				beside(t)
				h, heartbeat := newHosts(t, 10_000), "0s"
				both := strings.Contains(name, "runner")
				if both { // nobody could stop west but itself
					heartbeat = "9s"
				}
				h.generateOn(t, 0, clock{}, "--path", "af_xdp", "--heartbeat", heartbeat)
				h.generateOn(t, 1, clock{}, "--path", "af_xdp", "--heartbeat", "9s")
				r := h.loseWhileLoaded(t, lose, "procedure: "+procedure)
				if r.Ending != report.GeneratorLost || !strings.Contains(r.Message, h.host[1].address) || strings.Contains(r.Message, h.host[0].address) != both {
					t.Errorf("%s: %s, want the lost host's address alone", r.Ending, r.Message)
				}
			})
		}
	}
}

// loseWhileLoaded runs a test, loses a host under its load, and returns the Report. Ten seconds later neither host may send.
func (h *hosts) loseWhileLoaded(t *testing.T, lose func(*hosts) error, rest string) (r report.Report) {
	t.Helper()
	cmd := exec.Command(linerate, h.file(t, rest)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	var out strings.Builder
	cmd.Stdout = &out
	talk, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	in(t, h.runner, cmd.Start)
	awaitLine(t, newReader(talk), "about")
	proven := h.sent(t)
	eventually(t, time.Minute, "no load comes", func() bool { return h.sent(t) > proven+4_000 })
	time.Sleep(rand.N(time.Second)) // any moment between two readings
	if err := lose(h); err != nil {
		t.Fatal(err)
	}
	lost := time.Now()
	for i, quiet := range h.quietAfter(t, lost) {
		if quiet > 10*time.Second {
			t.Errorf("host %s sends until %v after the loss, want 10 s", h.host[i].name, quiet)
		}
		t.Logf("host %s is quiet after %v", h.host[i].name, quiet.Round(100*time.Millisecond))
	}
	_ = cmd.Wait()
	if err := json.Unmarshal([]byte(out.String()), &r); err != nil {
		t.Fatal(err)
	}
	t.Logf("after %v: %s: %s", time.Since(lost).Round(100*time.Millisecond), r.Ending, r.Message)
	return r
}

// cut takes a host off the control network, which looks to it as if everybody else were switched off.
func (h *hosts) cut(i int) error {
	return h.runner.Do(func() error {
		link, err := netlink.LinkByName(h.host[i].name)
		if err != nil {
			return err
		}
		return netlink.LinkSetNoMaster(link)
	})
}

// quietAfter is for how long after a moment each host sent more than the odd frame.
func (h *hosts) quietAfter(t *testing.T, moment time.Time) (last [2]time.Duration) {
	t.Helper()
	const stray = 3 // frames that are no load: answers to the device's address resolution
	before := h.crossed(t)
	for time.Since(moment) < 15*time.Second {
		time.Sleep(50 * time.Millisecond)
		after := h.crossed(t)
		for i := range last {
			if after[i].in > before[i].in+stray {
				last[i] = time.Since(moment)
			}
		}
		before = after
	}
	return last
}

// TestSessionsBetweenTwoHosts: the datagrams that an overload loses are those that the device dropped, and a load below the device's limit arrives whole.
func TestSessionsBetweenTwoHosts(t *testing.T) {
	beside(t)
	limit := 2_000 + rand.Int64N(2_001)
	h := newHosts(t, limit)
	for i, link := range []string{"west", "east"} {
		h.serve(t, i, clock{ahead: time.Duration(3*i) * time.Second}, "answers on", "sessions", "--link", link, "--interface", fmt.Sprintf("g%d", i))
	}
	for rate, lossy := range map[string]bool{"1500pps": false, "5kpps": true} {
		before := h.dropped(t)
		r := reportFrom(t, h.runner, h.file(t, `traffic: {type: Sessions, directions: [{from: west, to: east}], sessions: {protocol: UDP, parallel: 2, messageSize: "512"}}
  procedure: {type: ConstantLoad, constantLoad: {rate: `+rate+`, warmupDuration: 1s, duration: 4s, window: 1s}}`)...)
		if !r.Answer.Measured || len(r.Answer.Directions) != 1 {
			t.Fatalf("%s: %s: %s %s", rate, r.Ending, r.Answer.Message, r.Message)
		}
		dropped := h.dropped(t)[0] - before[0]
		t.Logf("%s: %s; the device dropped %d at %d", rate, r.Answer.Directions[0].Reason, dropped, limit)
		if (dropped > 0) != lossy {
			t.Errorf("at %s the device dropped %d", rate, dropped)
		}
	}
}

// TestTwoHostsThroughTunnels: generators that listen on loopback alone are driven through tunnels that have the same address at both ends, as ssh -L makes them. A tunnel
// with another address is refused: the proof of the secret is for one address.
func TestTwoHostsThroughTunnels(t *testing.T) {
	beside(t)
	h := newHosts(t, 5_000)
	for i := range h.host {
		in(t, h.host[i].Namespace, func() error { loopbackUp(); return nil })
		h.host[i].address = fmt.Sprintf("127.0.0.1:%d", 4501+i)
		h.generateOn(t, i, clock{})
		h.tunnel(t, i, h.host[i].address)
	}
	const procedure = "procedure: {type: ConstantLoad, constantLoad: {rate: 1kpps, warmupDuration: 500ms, duration: 2s, window: 1s}}"
	if r := reportFrom(t, h.runner, h.file(t, procedure)...); r.Ending != report.Completed || !r.Answer.Measured {
		t.Errorf("%s: %s", r.Ending, r.Message)
	}
	h.tunnel(t, 1, "127.0.0.1:4503")
	h.host[1].address = "127.0.0.1:4503"
	if got := callIn(t, h.runner, h.file(t, procedure)...); got.code == 0 || !strings.Contains(got.stderr, "the address that was called isn't the server's own") {
		t.Errorf("exit code %d: %s", got.code, got.stderr)
	}
}

// tunnel carries what the runner sends to an address of its own loopback to the generator on a host's.
func (h *hosts) tunnel(t *testing.T, i int, entry string) {
	t.Helper()
	var l net.Listener
	exit := h.host[i].address
	in(t, h.runner, func() (err error) {
		loopbackUp()
		l, err = net.Listen("tcp", entry)
		return err
	})
	var carried sync.WaitGroup
	t.Cleanup(func() {
		_ = l.Close()
		carried.Wait()
	})
	carried.Go(func() {
		for {
			outside, err := l.Accept()
			if err != nil {
				return
			}
			var inside net.Conn
			if err := h.host[i].Do(func() (err error) { inside, err = net.Dial("tcp", exit); return err }); err != nil {
				_ = outside.Close()
				continue
			}
			for from, to := range map[net.Conn]net.Conn{outside: inside, inside: outside} {
				carried.Go(func() {
					_, _ = io.Copy(to, from)
					_, _ = from.Close(), to.Close()
				})
			}
		}
	})
}

// TestALostEndEndsTheOthersConnections: the same of sessions, whose ends drop all connections.
func TestALostEndEndsTheOthersConnections(t *testing.T) {
	needRoot(t)
	for name, lose := range ways {
		t.Run(name, func(t *testing.T) {
			beside(t)
			h, both := newHosts(t, 10_000), strings.Contains(name, "runner")
			for i, link := range []string{"west", "east"} {
				h.serve(t, i, clock{}, "answers on", "sessions", "--link", link, "--interface", fmt.Sprintf("g%d", i))
			}
			r := h.loseWhileLoaded(t, lose, `traffic: {type: Sessions, sessions: {protocol: UDP, parallel: 2, messageSize: "512"}}
  procedure: {type: ConstantLoad, constantLoad: {rate: 1500pps, warmupDuration: 1s, duration: 120s, window: 5s}}`)
			if r.Ending != report.GeneratorLost || !strings.Contains(r.Message, "link east") || strings.Contains(r.Message, "link west") && !both {
				t.Errorf("%s: %s, want the lost host's link alone", r.Ending, r.Message)
			}
		})
	}
}
