package iperf3

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// theirs is what iperf3 itself prints of a test (-J), as far as it is read here. Its totals with -O are wrong
// before 3.14, so its intervals are added up instead.
type theirs struct {
	Error     string `json:"error"`
	Intervals []struct {
		Streams []struct {
			Bytes   int64 `json:"bytes"`
			Omitted bool  `json:"omitted"`
			Sender  bool  `json:"sender"`
		} `json:"streams"`
	} `json:"intervals"`
}

// sums is what iperf3 itself counted after the omitted time.
func (o theirs) sums() (sent, received int64) {
	for _, i := range o.Intervals {
		for _, s := range i.Streams {
			switch {
			case s.Omitted:
			case s.Sender:
				sent += s.Bytes
			default:
				received += s.Bytes
			}
		}
	}
	return sent, received
}

// program is iperf3 itself, of Debian's package.
func program(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("iperf3")
	switch {
	case err == nil:
		return path
	case os.Getenv("CI") == "true":
		t.Fatal("this test wants iperf3 itself: hack/ci-packages installs it")
	}
	t.Skip("needs iperf3 itself: apt-get install iperf3")
	return ""
}

// theirServer is iperf3 as a server for one test, and what it prints of that in the end.
func theirServer(t *testing.T) (address string, printed func() theirs) {
	t.Helper()
	free, err := Listen(t.Context(), Place{}, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := free.Address()
	_ = free.Close()
	output := start(t, "-s", "-1", "-J", "-B", "127.0.0.1", "-p", fmt.Sprint(server.Port()))
	for deadline := time.Now().Add(30 * time.Second); !listens(t, server.Port()); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("iperf3 doesn't listen")
		}
	}
	return server.String(), output
}

// listens says whether somebody listens on a port, without connecting, which iperf3 would take for a test.
func listens(t *testing.T, port uint16) bool {
	t.Helper()
	table, err := os.ReadFile("/proc/net/tcp")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Contains(string(table), fmt.Sprintf(":%04X 00000000:0000 0A", port))
}

// start runs iperf3, and returns a function that waits for its end and reads its output.
func start(t *testing.T, arguments ...string) (printed func() theirs) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, program(t), arguments...)
	var output strings.Builder
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() {
		cancel()
		ended <- <-ended
	})
	return func() (o theirs) {
		err := <-ended
		ended <- err
		text := output.String()
		text = text[max(0, strings.Index(text, "{")):] // behind its warning of datagrams above a segment's size
		if bad := json.Unmarshal([]byte(text), &o); err != nil || bad != nil || o.Error != "" {
			t.Fatalf("iperf3 %s: %v, %v, %s\n%s", strings.Join(arguments, " "), err, bad, o.Error, output.String())
		}
		return o
	}
}

// theirArguments are iperf3's for a test against a server.
func theirArguments(test Test, address string) []string {
	host, port, _ := net.SplitHostPort(address)
	arguments := []string{"-J", "-c", host, "-p", port, "-t", fmt.Sprint(int(test.Duration.Seconds())), "-b",
		fmt.Sprint(test.BitsPerSecond), "-i", "0.5"}
	for option, wanted := range map[string]bool{"-u": test.Protocol == UDP, "-R": test.Flow == Reverse,
		"--bidir": test.Flow == Bidirectional, "-N": test.NoDelay} {
		if wanted {
			arguments = append(arguments, option)
		}
	}
	for option, n := range map[string]int{"-P": test.Parallel, "-w": test.WindowBytes, "-O": int(test.Omit.Seconds()),
		"-l": test.MessageBytes, "-M": test.SegmentBytes, "-S": test.TOS} {
		if n != 0 {
			arguments = append(arguments, option, fmt.Sprint(n))
		}
	}
	if test.CongestionControl != "" {
		arguments = append(arguments, "-C", test.CongestionControl)
	}
	return arguments
}

// asTheirClient makes a test by iperf3 itself against a server of ours.
func asTheirClient(t *testing.T, test Test) (*Result, theirs) {
	t.Helper()
	address, tests := serve(t, Server{})
	printed := start(t, theirArguments(test, address)...)()
	e := <-tests
	if e.err != nil {
		t.Fatal(e.err)
	}
	return e.result, printed
}

// asTheirServer makes a test by a client of ours against iperf3 itself.
func asTheirServer(t *testing.T, test Test) (*Result, theirs) {
	t.Helper()
	address, printed := theirServer(t)
	r, err := Client{Server: address}.Measure(t.Context(), test)
	if err != nil {
		t.Fatal(err)
	}
	return r, printed()
}

// TestIperf3Itself makes tests with us, both ways round. Both sides' figures are there, and none is larger than what
// was sent.
func TestIperf3Itself(t *testing.T) {
	t.Parallel()
	program(t)
	for name, test := range map[string]Test{
		"TCP": {Protocol: TCP, Flow: Forward},
		"TCP, all": {Protocol: TCP, Flow: Bidirectional, Parallel: 2, WindowBytes: 64 << 10, NoDelay: true,
			CongestionControl: "reno", TOS: 32, SegmentBytes: 1000},
		"UDP":      {Protocol: UDP, Flow: Forward, MessageBytes: 1000},
		"UDP, all": {Protocol: UDP, Flow: Bidirectional, Parallel: 2, WindowBytes: 128 << 10, MessageBytes: 500},
		"smallest": {Protocol: UDP, Flow: Bidirectional, MessageBytes: 16},
		"largest":  {Protocol: UDP, Flow: Bidirectional, MessageBytes: 65507, WindowBytes: 1 << 20},
		"reverse":  {Protocol: UDP, Flow: Reverse, MessageBytes: 1000},
	} {
		test.Duration, test.BitsPerSecond = time.Second, 8_000_000
		for role, make := range map[string]func(*testing.T, Test) (*Result, theirs){"client": asTheirClient,
			"server": asTheirServer} {
			t.Run(name+" as a "+role, func(t *testing.T) {
				t.Parallel()
				r, printed := make(t, test)
				theySent, theyReceived := printed.sums()
				for _, d := range directions(t, r, test.Flow) {
					if d.Sent.CountedHere {
						if d.Received.Bytes != theyReceived || theyReceived == 0 || theyReceived > d.Sent.Bytes {
							t.Errorf("%s: we sent %d bytes, and heard that %d were received; it prints %d", d.Flow,
								d.Sent.Bytes, d.Received.Bytes, theyReceived)
						}
					} else if d.Sent.Bytes != theySent || theySent == 0 || d.Received.Bytes > theySent {
						t.Errorf("%s: we received %d bytes, and heard that %d were sent; it prints %d", d.Flow,
							d.Received.Bytes, d.Sent.Bytes, theySent)
					}
					if g := d.Datagrams; g != nil && (g.Sent != g.Received+g.Lost || g.Lost < 0 || g.Received == 0) {
						t.Errorf("%s: %+v", d.Flow, *g)
					}
				}
			})
		}
	}
}

// A server of iperf3 makes one test at a time, and has one whose client has agreed on it.
func TestARealIperf3ServerIsBusy(t *testing.T) {
	t.Parallel()
	program(t)
	address, _ := theirServer(t)
	test := Test{Duration: time.Second}
	agreed(t, address, test)
	if _, err := (Client{Server: address}).Measure(t.Context(), test); !errors.Is(err, ErrBusy) ||
		!strings.Contains(err.Error(), "wait for its end") {
		t.Error(err)
	}
}
