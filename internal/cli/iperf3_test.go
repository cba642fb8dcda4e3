package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/run/iperf3"
	"github.com/linerate-dev/linerate/test/rigs/tier"
)

// iperf3Server is a server on this machine, for as long as the test lasts.
func iperf3Server(t *testing.T) (address string) {
	t.Helper()
	l, err := iperf3.Listen(t.Context(), iperf3.Place{}, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var serving sync.WaitGroup
	serving.Go(func() { _ = iperf3.Server{}.Serve(ctx, l) })
	t.Cleanup(func() { cancel(); serving.Wait() })
	return l.Address().String()
}

// ran is what a command line did, in real time.
func ran(t *testing.T, args ...string) (data, messages string, code int) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	s := Streams{Stdout: &stdout, Stderr: &stderr}
	code = execute(t.Context(), newRoot(s), args, s)
	return stdout.String(), stderr.String(), code
}

func TestIperf3PrintsBothSides(t *testing.T) {
	server := iperf3Server(t)
	data, stderr, code := ran(t, "iperf3", server, "-u", "-b", "2mbps", "--bidir", "-P", "2", "-t", "1s", "-l", "500",
		"-o", "json")
	var d iperf3Document
	if err := json.Unmarshal([]byte(data), &d); err != nil || code != report.ExitOK {
		t.Fatalf("exit code %d, %v: %s", code, err, stderr)
	}
	if d.Version != iperf3Version || d.Protocol != iperf3.UDP || d.Parallel != 2 || len(d.Directions) != 2 {
		t.Fatalf("%+v", d)
	}
	for _, direction := range d.Directions {
		sent := direction.Sent
		if direction.Flow == iperf3.Reverse {
			sent = direction.Received
		}
		if sent.CountedBy != "this program" || len(sent.Intervals) == 0 ||
			direction.Sent.Bytes != 500*direction.Datagrams.Sent ||
			direction.Received.Bytes != 500*direction.Datagrams.Received || direction.Sent.Bytes == 0 {
			t.Errorf("%+v", direction)
		}
	}
	data, stderr, code = ran(t, "iperf3", server, "-R", "-b", "1mbps", "-t", "1s")
	for _, want := range []string{"direction", "server→client  sent", "server→client  received", "sent again"} {
		if code != report.ExitOK || !strings.Contains(data, want) {
			t.Errorf("exit code %d, without %q:\n%s%s", code, want, data, stderr)
		}
	}
}

// TestIperf3TakesItsLetters: a command line of iperf3's own measures the same.
func TestIperf3TakesItsLetters(t *testing.T) {
	tier.Plain(t)
	host, port, err := net.SplitHostPort(iperf3Server(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, letters := range []string{"-u -b 2M -l 500", "-b 0 -P 2"} {
		data, stderr, code := ran(t, append([]string{"iperf3", "-c", host, "-p", port, "-t", "1", "-i", "0.5", "-J"},
			strings.Fields(letters)...)...)
		var d iperf3Document
		if err := json.Unmarshal([]byte(data), &d); err != nil || code != report.ExitOK || d.Seconds != 1 ||
			len(d.Directions) != 1 {
			t.Errorf("%s: exit code %d, %v, %+v: %s", letters, code, err, d, stderr)
		}
	}
	for text, want := range map[string]string{"100M": "100mbps", "1.5g": "1.5gbps", "5": "5bps", "100mbps": "100mbps",
		"fast": "fast", "1KM": "1KM"} {
		if got := bitRateOfIperf3(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestIperf3SaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	l, err := iperf3.Listen(t.Context(), iperf3.Place{}, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	busyAddress := l.Address().String()
	for _, c := range []struct {
		line, want string
		code       int
	}{
		{"iperf3", "name a server, such as 192.0.2.1, or be one with --listen :5201", report.ExitBadInput},
		{"iperf3 192.0.2.1 --listen :0", "name a server", report.ExitBadInput},
		{"iperf3 192.0.2.1 -R --bidir", "give one of them", report.ExitBadInput},
		{"iperf3 192.0.2.1 -u", "--bitrate Unlimited", report.ExitBadInput},
		{"iperf3 192.0.2.1 -w 1K", "write a size of a byte or more, such as 1460, 128Ki", report.ExitBadInput},
		{"iperf3 192.0.2.1 -b fast", "such as 25gbps", report.ExitBadInput},
		{"iperf3 192.0.2.1 -t 500ms", "use whole seconds", report.ExitBadInput},
		{"iperf3 192.0.2.1 -o xml", "there is no such format", report.ExitBadInput},
		{"iperf3 192.0.2.1 -c 192.0.2.2", "name a server", report.ExitBadInput},
		{"iperf3 192.0.2.1 -t soon", "write a time such as 30s or 2m; a number alone is seconds", report.ExitBadInput},
		{"iperf3 -c 127.0.0.1 -p 1", "start one there (iperf3 -s -p 1)", report.ExitNotMeasured},
		{"iperf3 127.0.0.1:1", "start one there (iperf3 -s -p 1)", report.ExitNotMeasured},
		{"iperf3 --listen " + busyAddress, "the port is taken: end the program that has it", report.ExitBadInput},
	} {
		if _, stderr, code := ran(t, strings.Fields(c.line)...); code != c.code || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: exit code %d, %q; want %d, %q", c.line, code, stderr, c.code, c.want)
		}
	}
}
