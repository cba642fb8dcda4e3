package forwarder

import (
	"net"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// The counters are the interface's own, so loopback counts what this process sends as received, too.
func TestADevicesInterfaceIsCounted(t *testing.T) {
	c, err := OpenCounters(nil, Spec{Links: []Link{{Interface: "lo"}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	first, err := c.Read()
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("udp4", "127.0.0.1:9")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	const datagrams = 20
	for range datagrams {
		_, _ = conn.Write([]byte("counted")) // refused, as nobody listens: sent all the same
	}
	second, err := c.Read()
	if err != nil || second[0].Interface != "lo" || second[0].Sent-first[0].Sent < datagrams/2 ||
		second[0].Received-first[0].Received < datagrams/2 {
		t.Errorf("%+v after %+v, %v; want %d frames more, or half where every second is answered by a refusal", second,
			first, err, datagrams)
	}
}

func TestAMissingInterfaceIsNamed(t *testing.T) {
	c, err := OpenCounters(nil, Spec{Links: []Link{{Interface: "nowhere"}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if _, err := c.Read(); err == nil || err.Error() != "the device's interface nowhere can't be read: Link not found" {
		t.Error(err)
	}
}

// BenchmarkCounters is what a reading of two interfaces costs, in processor time.
func BenchmarkCounters(b *testing.B) {
	c, err := OpenCounters(nil, Spec{Links: []Link{{Interface: "lo"}, {Interface: "lo"}}})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = c.Close() })
	used := func() time.Duration {
		var u unix.Rusage
		_ = unix.Getrusage(unix.RUSAGE_SELF, &u)
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	began := used()
	for b.Loop() {
		if _, err := c.Read(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64((used()-began).Microseconds())/float64(b.N), "cpu-µs/op")
}
