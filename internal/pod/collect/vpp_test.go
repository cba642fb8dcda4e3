package collect_test

import (
	"encoding/binary"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/pod/collect"
)

// segment is a VPP's statistics segment as it stands in memory, of version 2: a header, a directory, and
// vectors with their lengths before them. Pointers are VPP's own, from base on.
//
//	0        8      16      24           32          40
//	version  base   epoch   in progress  directory   errors
type segment struct{ bytes []byte }

const (
	segmentBase  = 0x1000_0000
	headerBytes  = 48
	entryBytes   = 144 // type (4), nothing (4), a pointer (8), name (128)
	simpleVector = 2
	nameVector   = 4
)

// vector adds a vector, and is the pointer to what it holds.
func (s *segment) vector(length int, data []byte) uint64 {
	for len(s.bytes)%8 != 0 {
		s.bytes = append(s.bytes, 0)
	}
	s.bytes = binary.LittleEndian.AppendUint64(s.bytes, uint64(length))
	pointer := segmentBase + uint64(len(s.bytes))
	s.bytes = append(s.bytes, data...)
	return pointer
}

func (s *segment) numbers(values ...uint64) uint64 {
	var data []byte
	for _, n := range values {
		data = binary.LittleEndian.AppendUint64(data, n)
	}
	return s.vector(len(values), data)
}

// counters are a counter of each node on each thread.
func (s *segment) counters(threads ...[]uint64) uint64 {
	var pointers []uint64
	for _, t := range threads {
		pointers = append(pointers, s.numbers(t...))
	}
	return s.numbers(pointers...)
}

func (s *segment) names(list ...string) uint64 {
	var pointers []uint64
	for _, name := range list {
		pointers = append(pointers, s.vector(len(name)+1, append([]byte(name), 0)))
	}
	return s.numbers(pointers...)
}

type entry struct {
	kind    int
	name    string
	pointer uint64
}

// finish writes the directory, and the header before it all.
func (s *segment) finish(version uint64, entries ...entry) []byte {
	var data []byte
	for _, e := range entries {
		data = binary.LittleEndian.AppendUint64(data, uint64(e.kind))
		data = binary.LittleEndian.AppendUint64(data, e.pointer)
		name := make([]byte, 128)
		copy(name, e.name)
		data = append(data, name...)
	}
	directory := s.vector(len(entries), data)
	for i, v := range []uint64{version, segmentBase, 7, 0, directory, 0} {
		binary.LittleEndian.PutUint64(s.bytes[8*i:], v)
	}
	return s.bytes
}

// nodes is the segment of a VPP with three nodes, of which packets pass two, on two threads.
func nodes() []byte {
	s := &segment{make([]byte, headerBytes)}
	return s.finish(2,
		entry{nameVector, "/sys/node/names", s.names("unused", "ip4-lookup", "dpdk-input")},
		entry{simpleVector, "/sys/node/clocks", s.counters([]uint64{0, 2000, 9000}, []uint64{5, 1000, 0})},
		entry{simpleVector, "/sys/node/vectors", s.counters([]uint64{0, 70, 70}, []uint64{0, 30, 0})},
		entry{simpleVector, "/sys/node/calls", s.counters([]uint64{0, 7, 20}, []uint64{1, 3, 0})},
		entry{simpleVector, "/if/rx", s.counters([]uint64{1})})
}

// handsOver serves a file at a socket, as VPP hands over its segment, until the test ends.
func handsOver(t *testing.T, text []byte) (socket string) {
	t.Helper()
	return handsOverAfter(t, text, func() {})
}

// handsOverAfter does so once ready returns, which it calls for each who asks.
func handsOverAfter(t *testing.T, text []byte, ready func()) (socket string) {
	t.Helper()
	socket = filepath.Join(t.TempDir(), "stats.sock")
	fd, err := unix.MemfdCreate("segment", unix.MFD_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	file := os.NewFile(uintptr(fd), "segment")
	if _, err := file.Write(text); err != nil {
		t.Fatal(err)
	}
	listener, err := net.ListenUnix("unixpacket", &net.UnixAddr{Net: "unixpacket", Name: socket})
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			c, err := listener.AcceptUnix()
			if err != nil {
				return
			}
			ready()
			_, _, _ = c.WriteMsgUnix([]byte{0}, unix.UnixRights(fd), nil)
			_ = c.Close()
		}
	})
	t.Cleanup(func() { _ = listener.Close(); serving.Wait(); _ = file.Close() })
	return socket
}

func nodesAt(socket string) plan.Observer {
	return plan.Observer{Type: plan.ObserveVPP, Observed: plan.OfDUT, VPP: &plan.VPPStats{Socket: socket}}
}

func TestAVPPTellsOfEachNodeThatPacketsPass(t *testing.T) {
	a := answered(t, nodesAt(handsOver(t, nodes())), "")
	for name, want := range map[string]float64{"clocks": 3000, "vectors": 100, "calls": 10} {
		if n := number(t, a, name, "ip4-lookup"); n.Value != want || n.Kind != report.Counter {
			t.Errorf("%s of ip4-lookup: %+v, want %g over both threads", name, n, want)
		}
	}
	if len(a.Numbers) != 6 || a.Numbers[0].Part != "dpdk-input" {
		t.Errorf("%+v, want three series of two nodes, those first that took the most", a.Numbers)
	}
}

func TestWhatIsNoSegmentIsMissing(t *testing.T) {
	missing(t, answered(t, nodesAt("/nonexistent/stats.sock"), ""),
		"/nonexistent/stats.sock: stats socket file /nonexistent/stats.sock is not ready")
	s := &segment{make([]byte, headerBytes)}
	missing(t, answered(t, nodesAt(handsOver(t, s.finish(9))), ""), "stat segment version is not supported: 9")
	s = &segment{make([]byte, headerBytes)}
	missing(t, answered(t, nodesAt(handsOver(t, s.finish(2, entry{simpleVector, "/if/rx", s.counters([]uint64{1})}))),
		""), "its statistics have no nodes (/sys/node/names)")
	s = &segment{make([]byte, headerBytes)}
	endless := s.vector(1<<26, binary.LittleEndian.AppendUint64(nil, 1))
	missing(t, answered(t, nodesAt(handsOver(t, s.finish(2, entry{nameVector, "/sys/node/names", s.names("a")},
		entry{simpleVector, "/sys/node/clocks", s.numbers(endless)}))), ""),
		"what it handed over is no statistics segment that can be read")
}

// Whoever accepts and hands nothing over is asked once, however often the observer's time comes.
func TestAVPPThatHandsNothingOverIsAskedOnce(t *testing.T) {
	asked, ready := make(chan struct{}, 100), make(chan struct{})
	socket := handsOverAfter(t, nodes(), func() { asked <- struct{}{}; <-ready })
	open := sync.OnceFunc(func() { close(ready) })
	t.Cleanup(open)
	o := nodesAt(socket)
	c := collect.Start(t.Context(), []plan.Observer{o}, "")
	<-asked
	c.Close() // gives the reading up, as the end of its time does
	for range 3 {
		missing(t, answered(t, o, ""), socket+
			": an earlier reading still waits for what it hands over: restart VPP, or name its socket in vpp.socket")
	}
	open()
	for end := time.Now().Add(time.Minute); len(answered(t, o, "").Numbers) == 0; {
		if time.Now().After(end) {
			t.Fatal("it hands its segment over, and nobody reads it")
		}
	}
}
