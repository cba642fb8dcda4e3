package sessions

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/run/iperf3"
	"github.com/linerate-dev/linerate/internal/run/runner"
)

// An end's own fault proves nothing of the path, and neither does it disprove it.
func TestWhoIsAtFaultIfEndsDoNotConnect(t *testing.T) {
	dialled := func(err error) error {
		return fmt.Errorf("connect from 198.18.0.2: %w", &net.OpError{Op: "dial", Net: "tcp4", Err: err})
	}
	_, foreignAddress := iperf3.Client{Server: "127.0.0.1:5201",
		Place: iperf3.Place{Address: netip.MustParseAddr("192.0.2.1")}}.Connect(t.Context(),
		iperf3.Test{Duration: time.Second})
	for name, c := range map[string]struct {
		err  error
		path bool
	}{
		"nobody answers in time": {dialled(os.ErrDeadlineExceeded), true},
		"the far end refuses":    {dialled(os.NewSyscallError("connect", unix.ECONNREFUSED)), true},
		"the device has no way":  {dialled(os.NewSyscallError("connect", unix.ENETUNREACH)), true},
		"a connection is reset":  {dialled(os.NewSyscallError("write", unix.ECONNRESET)), true},
		"the others did not arrive": {fmt.Errorf("3 of 4 connections came to 198.18.1.2, and %w: %w",
			errMissing, context.DeadlineExceeded), true},
		"what an end said of its path":        {unansweredError("connect from 198.18.0.2: i/o timeout"), true},
		"the end has no files left":           {dialled(os.NewSyscallError("socket", unix.EMFILE)), false},
		"the end hasn't that address":         {dialled(os.NewSyscallError("bind", unix.EADDRNOTAVAIL)), false},
		"the end may not":                     {dialled(os.NewSyscallError("setsockopt", unix.EPERM)), false},
		"iperf3's client hasn't that address": {foreignAddress, false},
		"the end's kernel says too little":    {errors.New("read TCP_INFO: the kernel says only 192 bytes"), false},
	} {
		if fromPath(c.err) != c.path {
			t.Errorf("%s: %v is the path's: %v, want %v", name, c.err, !c.path, c.path)
		}
	}
}

// endThatSays is an end that answers each verb with a line, and those that aren't among them with nothing to say.
func endThatSays(t *testing.T, lines map[string]string) (server string) {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	noError(t, err)
	var talks sync.WaitGroup
	talks.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			talks.Go(func() {
				defer func() { _ = conn.Close() }()
				asked := json.NewDecoder(conn)
				for {
					var r request
					if asked.Decode(&r) != nil {
						return
					}
					_, _ = fmt.Fprintln(conn, cmp.Or(lines[r.Verb], "{}"))
				}
			})
		}
	})
	t.Cleanup(func() { _ = l.Close(); talks.Wait() })
	return l.Addr().String()
}

// An end says whether the device or the end itself is the reason why it isn't connected.
func TestAnEndThatIsNotConnectedProvesNoPath(t *testing.T) {
	const unproven, endFault = "the path west→east is not proven: ",
		"link west: its end can't connect to east, and the device isn't the reason: "
	for name, c := range map[string]struct {
		connectAnswer string // to connect
		ending        report.Ending
		message       string
	}{
		"the end hears nothing": {`{"error":"connect from 198.18.0.2: i/o timeout","path":true}`, report.PathNotProven,
			unproven + "connect from 198.18.0.2: i/o timeout"},
		"the end's own fault": {`{"error":"connect from 198.18.0.2: too many open files"}`, report.Failed, endFault +
			"connect from 198.18.0.2: too many open files"},
	} {
		t.Run(name, func(t *testing.T) {
			welcome := `{"welcome":{"product":"linerate sessions","interface":"eth1",` +
				`"macAddress":"02:6c:72:00:00:02","machine":{}}}`
			server := endThatSays(t, map[string]string{doHello: welcome, doConnect: c.connectAnswer})
			p := &plan.Plan{
				Version: plan.Version, Engine: "Software", DUT: plan.DUT{Type: "Device", Forwarding: plan.L2},
				Sessions:   &plan.Sessions{Protocol: "TCP", Parallel: 1, MessageBytes: 128 << 10},
				Directions: []plan.Direction{{From: "west", To: "east"}},
				Generators: []plan.Generator{{Name: "generator-0"}},
				Procedure: plan.Procedure{Type: plan.TypeConstantLoad, ConstantLoad: &plan.ConstantLoad{Unlimited: true,
					Duration: plan.Duration(time.Second), Window: plan.Duration(time.Second)}},
			}
			var places []Place
			for i, link := range []string{"west", "east"} {
				p.Links = append(p.Links, plan.Link{Name: link})
				p.Generators[0].Ports = append(p.Generators[0].Ports, plan.GeneratorPort{Link: link, ShareOf: 1,
					Addresses: []netip.Prefix{netip.PrefixFrom(netip.AddrFrom4([4]byte{198, 18, 0, byte(i + 2)}), 24)}})
				places = append(places, Place{Link: link, Server: server})
			}
			rep := runner.Run(t.Context(), p, New(places, Options{}), runner.Options{})
			if rep.Ending != c.ending || !strings.HasPrefix(rep.Message, c.message) {
				t.Errorf("%s: %s\nwant %s: %s…", rep.Ending, rep.Message, c.ending, c.message)
			}
		})
	}
}

// broke is a listener whose machine has no files left for a while.
type broke struct {
	net.Listener
	times int
}

func (b *broke) Accept() (net.Conn, error) {
	if b.times--; b.times >= 0 {
		return nil, &net.OpError{Op: "accept", Err: os.NewSyscallError("accept4", unix.EMFILE)}
	}
	return b.Listener.Accept()
}

func TestAnEndSurvivesALackOfFiles(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	noError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- Ends{{Link: "west", Interface: "lo"}}.Serve(ctx, &broke{l, 2}) }()
	// More drivers connect than may at once. The end closes those beyond, and goes on.
	var conns []net.Conn
	for range maxDrivers {
		c, err := net.Dial("tcp4", l.Addr().String())
		noError(t, err)
		conns = append(conns, c)
	}
	refused, err := net.Dial("tcp4", l.Addr().String())
	noError(t, err)
	noError(t, refused.SetReadDeadline(time.Now().Add(DriverSilence/2)))
	if n, err := refused.Read(make([]byte, 1)); n > 0 || err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("one driver too many: %d bytes, %v", n, err)
	}
	for _, c := range append(conns, refused) {
		_ = c.Close()
	}
	cancel()
	noError(t, <-served)
}
