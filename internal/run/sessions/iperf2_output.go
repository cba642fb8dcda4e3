package sessions

import (
	"fmt"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// iperf2Output adds up the rows that iperf prints for each stream and interval. The rows of an interval count once
// all streams have theirs, so that counters and time belong to the same moment.
//
//	[  1] 0.0000-0.5000 sec …   ┐ a row, counted as soon as each stream has it
//	[  2] 0.0000-0.5000 sec …   ┘
//	[SUM] 0.0000-0.5000 sec …     iperf's own sums are not read, nor are those of the whole test
//
// It is safe for concurrent use.
type iperf2Output struct {
	streams int

	mu        sync.Mutex
	pending   map[string][]iperf2Row
	rowEnd    map[string]time.Duration // by iperf's number of the stream, where its latest interval ended
	ended     map[string]bool          // by stream, whether iperf has printed the row of its whole test
	sum       iperf2Counted
	peers     []string   // the addresses from which streams came to a server, in their order
	client    netip.Addr // the only address from which streams may come, or the zero Addr before it is known
	errorLine string     // the last line that looks like an error message
}

// iperf2Row is one stream's interval.
type iperf2Row struct {
	start, end, jitter time.Duration
	bytes, lost, sent  int64 // lost of sent datagrams, by the receiver's count
}

// iperf2Counted is what all streams had counted by a moment of iperf's clock.
type iperf2Counted struct {
	end, jitter              time.Duration
	bytes, total, lost, late int64
}

func newIperf2Output(s Shape) *iperf2Output {
	return &iperf2Output{streams: s.Connections, pending: map[string][]iperf2Row{}, rowEnd: map[string]time.Duration{},
		ended: map[string]bool{}}
}

var (
	iperf2Interval   = regexp.MustCompile(`^\[ *(\d+)\] +(\d+\.\d+)-(\d+\.\d+) sec +(\d+) Bytes +\d+ bits/sec +(.*)$`)
	iperf2Jitter     = regexp.MustCompile(`^(\d+\.\d+) ms +(-?\d+)/ *(\d+) `)
	iperf2OutOfOrder = regexp.MustCompile(`^\[ *(\d+)\] +\d+\.\d+-\d+\.\d+ sec +(\d+) datagrams received out-of-order`)
	iperf2Peer       = regexp.MustCompile(`^\[ *\d+\] local \S+ port \d+ connected with (\S+) port \d+`)
	iperf2Failed     = regexp.MustCompile(`(?i)failed|error|unable|unrecognized|invalid`)
)

// parse reads a line of iperf's output.
func (o *iperf2Output) parse(line string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if m := iperf2OutOfOrder.FindStringSubmatch(line); m != nil {
		if !o.ended[m[1]] {
			o.sum.late += count(m[2])
		}
		return
	}
	if m := iperf2Peer.FindStringSubmatch(line); m != nil {
		o.peers = append(o.peers, m[1])
		return
	}
	m := iperf2Interval.FindStringSubmatch(line)
	if m == nil {
		if iperf2Failed.MatchString(line) {
			o.errorLine = strings.TrimSpace(line)
		}
		return
	}
	row := iperf2Row{start: seconds(m[2]), end: seconds(m[3]), bytes: count(m[4])}
	if row.start != o.rowEnd[m[1]] { // the row of the whole test, at its end
		o.ended[m[1]] = true
		return
	}
	o.rowEnd[m[1]] = row.end
	if j := iperf2Jitter.FindStringSubmatch(m[5]); j != nil {
		row.jitter, row.lost, row.sent = seconds(j[1])/1000, count(j[2]), count(j[3])
	}
	o.pending[m[1]] = append(o.pending[m[1]], row)
	o.fold()
}

// fold counts the rows that all streams have.
func (o *iperf2Output) fold() {
	if len(o.pending) < o.streams {
		return
	}
	for {
		for _, rows := range o.pending {
			if len(rows) == 0 {
				return
			}
		}
		o.sum.jitter = 0
		for stream, rows := range o.pending {
			row := rows[0]
			o.pending[stream] = rows[1:]
			o.sum.end, o.sum.jitter = max(o.sum.end, row.end), max(o.sum.jitter, row.jitter)
			o.sum.bytes, o.sum.lost, o.sum.total = o.sum.bytes+row.bytes, o.sum.lost+row.lost, o.sum.total+row.sent
		}
	}
}

func (o *iperf2Output) read() iperf2Counted {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.sum
}

// expect sets the address from which a server's streams may come.
func (o *iperf2Output) expect(client netip.Addr) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.client = client
}

// stranger names another host that connected to a server. iperf accepts every client, and its figures include all of
// them. stranger is empty if none is known.
func (o *iperf2Output) stranger() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.client.IsValid() {
		return ""
	}
	for _, peer := range o.peers {
		if a, err := netip.ParseAddr(peer); err != nil || a.Unmap().WithZone("") != o.client {
			return fmt.Sprintf("%s sends to iperf's port %d, too, which is %s's alone: keep others off the link", peer,
				iperf2Port, o.client)
		}
	}
	if n := len(o.peers); n > o.streams {
		return fmt.Sprintf("%d streams came to iperf's port %d, and the test has %d: another program at %s sends "+
			"there, too", n, iperf2Port, o.streams, o.client)
	}
	return ""
}

// complaint is iperf's last error message, or empty if there was none.
func (o *iperf2Output) complaint() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.errorLine
}

// seconds and count are numbers that the patterns above let through.
func seconds(text string) time.Duration {
	v, _ := strconv.ParseFloat(text, 64)
	return time.Duration(v * float64(time.Second)).Round(time.Microsecond)
}

func count(text string) int64 {
	v, _ := strconv.ParseInt(text, 10, 64)
	return v
}
