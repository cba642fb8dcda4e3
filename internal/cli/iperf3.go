package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/linerate-dev/linerate/internal/cli/sidebyside"
	"github.com/linerate-dev/linerate/internal/document/exit"
	"github.com/linerate-dev/linerate/internal/host/credential"
	"github.com/linerate-dev/linerate/internal/pod"
	"github.com/linerate-dev/linerate/internal/run/iperf3"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// iperf3Options are the flags of the verb iperf3. Their letters are iperf3's own.
type iperf3Options struct {
	listen, client, window, length, rate, congestion, iface, format string
	serves, json, udp, reverse, bidirectional                       bool
	port, parallel, maxTests                                        int
	longest                                                         time.Duration
	duration, omit, interval                                        span
}

// span is a duration in iperf3's notation, where a number without a unit is seconds.
type span time.Duration

// Set implements pflag.Value.
func (s *span) Set(text string) error {
	if seconds, err := strconv.ParseFloat(text, 64); err == nil {
		text = strconv.FormatFloat(seconds, 'f', -1, 64) + "s"
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return errors.New("write a time such as 30s or 2m; a number alone is seconds")
	}
	*s = span(d)
	return nil
}

func (s *span) String() string { return time.Duration(*s).String() }

// Type implements pflag.Value.
func (*span) Type() string { return "duration" }

func newIperf3(s Streams) *cobra.Command {
	var o iperf3Options
	formats := []string{"text", "json"}
	cmd := &cobra.Command{
		Use:   "iperf3 SERVER | iperf3 --listen ADDRESS",
		Short: "Measure TCP or UDP with an iperf3 server, or be one",
		Example: "  linerate iperf3 192.0.2.1 -P 4 -t 30s -O 5s\n" +
			"  linerate iperf3 192.0.2.1 -u -b 100mbps --bidir -o json\n  linerate iperf3 --listen :5201",
		Long: "Speaks iperf3's protocol, with linerate or iperf3 (3.2 and later) at the other end. What was sent and " +
			"what was received are two figures, counted by who sent and who\n" +
			"received; a test for which one side's counters are missing has no result. Totals are sums of intervals, " +
			"without the time that --omit leaves out.\n\n" +
			"With --listen it is a server, and runs several tests at once until Ctrl-C. The protocol has no " +
			"authentication: whoever reaches the address can make this machine send.\n\n" +
			"Exit codes: 0 measured, 2 bad input, 3 not measured, 130 interrupted.",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkFormat(o.format, formats); err != nil {
				return err
			}
			if o.json {
				o.format = "json"
			}
			if o.client != "" {
				args = append(args, o.client)
			}
			if o.serves && o.listen == "" {
				o.listen = net.JoinHostPort("", strconv.Itoa(o.port))
			}
			switch {
			case o.listen != "" && len(args) == 0:
				return o.serve(cmd.Context(), s)
			case o.listen == "" && len(args) == 1:
				return o.measure(cmd.Context(), s, args[0])
			}
			return exit.BadInput("linerate iperf3: name a server, such as 192.0.2.1, or be one with --listen :%d (-s)",
				iperf3.Port)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.listen, "listen", "", "be a server at this address, such as :5201")
	f.BoolVarP(&o.serves, "server", "s", false, "be a server at all of this machine's addresses, at --port")
	f.StringVarP(&o.client, "client", "c", "", "the server to measure with, in place of SERVER")
	f.IntVarP(&o.port, "port", "p", iperf3.Port, "the server's port, where its address names none")
	f.BoolVarP(&o.json, "json", "J", false, "the same as --output json")
	f.IntVar(&o.maxTests, "most", 8, "server: how many tests may run at once")
	f.DurationVar(&o.longest, "longest", time.Hour, "server: how long a test may last")
	f.BoolVarP(&o.udp, "udp", "u", false, "send datagrams; needs --bitrate")
	f.BoolVarP(&o.reverse, "reverse", "R", false, "the server sends")
	f.BoolVar(&o.bidirectional, "bidir", false, "both send at the same time")
	f.IntVarP(&o.parallel, "parallel", "P", 1, "streams in each direction")
	o.duration, o.interval = span(10*time.Second), span(time.Second)
	f.VarP(&o.duration, "time", "t", "how long payload is counted, in whole seconds")
	f.VarP(&o.omit, "omit", "O", "how long to send before the counted time begins")
	f.StringVarP(&o.window, "window", "w", "",
		"size of each socket's buffers, such as 256Ki (default: the kernels' own)")
	f.StringVarP(&o.length, "length", "l", "",
		"bytes of each write, such as 128Ki; with --udp the payload of a datagram")
	f.StringVarP(&o.rate, "bitrate", "b", "",
		"payload of each stream, such as 100mbps or 100M; 0 or Unlimited: all that the sockets take (default with TCP)")
	f.StringVarP(&o.congestion, "congestion", "C", "", "congestion control, by its name in Linux")
	f.VarP(&o.interval, "interval", "i", "how often counters are read")
	f.StringVar(&o.iface, "interface", "", "the interface that all sockets are bound to")
	sidebyside.FormatFlag(cmd, &o.format, formats)
	return cmd
}

// test is the test that the flags describe.
func (o iperf3Options) test() (t iperf3.Test, err error) {
	t = iperf3.Test{Protocol: iperf3.TCP, Flow: iperf3.Forward, Duration: time.Duration(o.duration),
		Omit: time.Duration(o.omit), Parallel: o.parallel, CongestionControl: o.congestion}
	switch {
	case o.reverse && o.bidirectional:
		return t, exit.BadInput("--reverse and --bidir: give one of them")
	case o.reverse:
		t.Flow = iperf3.Reverse
	case o.bidirectional:
		t.Flow = iperf3.Bidirectional
	}
	if o.udp {
		t.Protocol = iperf3.UDP
	}
	if t.WindowBytes, err = sizeFlag("--window", o.window); err != nil {
		return t, err
	}
	if t.MessageBytes, err = sizeFlag("--length", o.length); err != nil {
		return t, err
	}
	switch o.rate {
	case "Unlimited", "0":
	case "":
		if o.udp {
			return t, exit.BadInput("--udp: datagrams have no rate of their own: name one, such as --bitrate " +
				"100mbps, or --bitrate Unlimited for all that the sockets take")
		}
	default:
		rate, err := units.ParseBitRate(bitRateOfIperf3(o.rate))
		if err != nil {
			return t, exit.BadInput("--bitrate: %w", err)
		}
		t.BitsPerSecond = int64(rate)
	}
	return t, nil
}

// bitRateOfIperf3 converts a rate from iperf3's notation, 100M, to linerate's, 100mbps. It returns any other
// text unchanged.
func bitRateOfIperf3(text string) string {
	number := strings.TrimRight(text, "KMGTkmgt")
	if _, err := strconv.ParseFloat(number, 64); err != nil || len(text)-len(number) > 1 {
		return text
	}
	return strings.ToLower(text) + "bps"
}

// sizeFlag parses a size in bytes. 0 means that none is given.
func sizeFlag(flag, text string) (int, error) {
	if text == "" {
		return 0, nil
	}
	q, err := resource.ParseQuantity(text)
	if err != nil || q.Value() < 1 || q.Value() > math.MaxInt32 {
		return 0, exit.BadInput("%s %s: write a size of a byte or more, such as 1460, 128Ki or 1Mi", flag, text)
	}
	return int(q.Value()), nil
}

func (o iperf3Options) measure(ctx context.Context, s Streams, server string) error {
	test, err := o.test()
	if err != nil {
		return err
	}
	if _, _, err := net.SplitHostPort(server); err != nil {
		server = net.JoinHostPort(server, strconv.Itoa(o.port))
	}
	r, err := iperf3.Client{Server: server, Place: iperf3.Place{Interface: o.iface},
		Interval: time.Duration(o.interval)}.Measure(ctx, test)
	switch {
	case err != nil && ctx.Err() != nil:
		return exit.Interrupted("%w", err)
	case errors.Is(err, iperf3.ErrRefused):
		return exit.BadInput("%w", err)
	case err != nil:
		return exit.NotMeasured("%w", err)
	}
	if err := writeIperf3(s.Stdout, r, o.format); err != nil {
		return exit.NotMeasured("print: %w", err)
	}
	return nil
}

// serve runs the tests of clients until ctx ends, and prints the result of each.
func (o iperf3Options) serve(ctx context.Context, s Streams) error {
	l, err := iperf3.Listen(ctx, iperf3.Place{Interface: o.iface}, o.listen)
	if err != nil {
		return exit.BadInput("--listen: %w", err)
	}
	fmt.Fprintf(s.Stderr, "serving iperf3 clients at %s; Ctrl-C ends\n", l.Address())
	pod.WarnOpen(s.Stderr, credential.Verifier{}, fmt.Sprint(l.Address()),
		"make this machine send, as iperf3's protocol asks for no proof",
		"--listen ADDRESS:PORT serves one network alone, such as 127.0.0.1:5201 this machine")
	var mu sync.Mutex // prints one result at a time
	server := iperf3.Server{MaxTests: o.maxTests, Longest: o.longest, Interval: time.Duration(o.interval),
		Ended: func(client netip.AddrPort, r *iperf3.Result, err error) {
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				fmt.Fprintf(s.Stderr, "the test of the client at %s:\n", client)
				err = writeIperf3(s.Stdout, r, o.format)
			}
			if err != nil {
				fmt.Fprintf(s.Stderr, "the test of the client at %s: %s\n", client, wording.Printable(err.Error()))
			}
		}}
	if err := server.Serve(ctx, l); err != nil {
		return exit.NotMeasured("%w", err)
	}
	return nil
}

// iperf3Version is the kind and version of the document that -o json writes.
const iperf3Version = "linerate.dev/iperf3.v1alpha1"

// iperf3Document is a test's result as a document. Times are in seconds, or in microseconds where their name says so.
type iperf3Document struct {
	Version    string            `json:"version"`
	Producer   string            `json:"producer"`
	Protocol   iperf3.Protocol   `json:"protocol"`
	Flow       iperf3.Flow       `json:"flow"`
	Parallel   int               `json:"parallel"`
	Seconds    float64           `json:"seconds"`
	Omitted    float64           `json:"omittedSeconds"`
	Directions []iperf3Direction `json:"directions"`
}

type iperf3Direction struct {
	Flow           iperf3.Flow      `json:"flow"` // Forward: the client sends
	Sent           iperf3Side       `json:"sent"`
	Received       iperf3Side       `json:"received"`
	Datagrams      *iperf3Datagrams `json:"datagrams,omitempty"`
	Unacknowledged int64            `json:"unacknowledgedBytes,omitempty"`
	Remarks        []string         `json:"remarks,omitempty"`
}

type iperf3Datagrams struct {
	Sent       int64   `json:"sent"`
	Received   int64   `json:"received"` // each once
	Lost       int64   `json:"lost"`
	LossRatio  float64 `json:"lossRatio"`
	Reordered  int64   `json:"reordered"`
	Duplicates int64   `json:"duplicates"`
	Dropped    int64   `json:"droppedByReceiver"` // in lost: came, and the receiver's own sockets had no room
	Jitter     int64   `json:"jitterMicroseconds"`
	WholeRun   bool    `json:"wholeRun,omitempty"` // with what was omitted
}

type iperf3Side struct {
	CountedBy         string           `json:"countedBy"` // this program, or the other side
	Bytes             int64            `json:"bytes"`
	Seconds           float64          `json:"seconds"`
	BitsPerSecond     float64          `json:"bitsPerSecond"`
	Retransmits       *int64           `json:"retransmits,omitempty"`
	CongestionControl string           `json:"congestionControl,omitempty"`
	Intervals         []iperf3Interval `json:"intervals,omitempty"`
}

type iperf3Interval struct {
	Start             float64 `json:"startSeconds"`
	End               float64 `json:"endSeconds"`
	Omitted           bool    `json:"omitted,omitempty"`
	Draining          bool    `json:"draining,omitempty"`
	Bytes             int64   `json:"bytes"`
	Datagrams         int64   `json:"datagrams,omitempty"`
	Lost              int64   `json:"lost,omitempty"`
	Retransmits       int64   `json:"retransmits,omitempty"`
	RoundTrip         int64   `json:"roundTripMicroseconds,omitempty"`
	LongestRoundTrip  int64   `json:"longestRoundTripMicroseconds,omitempty"`
	ShortestRoundTrip int64   `json:"shortestRoundTripMicroseconds,omitempty"`
	CongestionWindow  int64   `json:"congestionWindowBytes,omitempty"`
	DeliveryRate      int64   `json:"deliveryBitsPerSecond,omitempty"`
}

func iperf3SideOf(s iperf3.Side) iperf3Side {
	d := iperf3Side{
		CountedBy: "the other side", Bytes: s.Bytes, Seconds: s.Lasted.Seconds(),
		BitsPerSecond: math.Round(s.BitsPerSecond()),
		Retransmits:   s.Retransmits, CongestionControl: s.CongestionControl,
	}
	if s.CountedHere {
		d.CountedBy = "this program"
	}
	for _, i := range s.Intervals {
		d.Intervals = append(d.Intervals, iperf3Interval{
			Start: i.Start.Seconds(), End: i.End.Seconds(), Omitted: i.Omitted, Draining: i.Draining, Bytes: i.Bytes,
			Datagrams: i.Datagrams, Lost: i.Lost, Retransmits: i.Retransmits,
			RoundTrip: i.RoundTrip.Microseconds(), LongestRoundTrip: i.LongestRoundTrip.Microseconds(),
			ShortestRoundTrip: i.ShortestRoundTrip.Microseconds(),
			CongestionWindow:  i.CongestionWindow, DeliveryRate: i.DeliveryRate,
		})
	}
	return d
}

func writeIperf3(stdout io.Writer, r *iperf3.Result, format string) error {
	if format == "text" {
		return writeIperf3Text(stdout, r)
	}
	document := iperf3Document{
		Version: iperf3Version, Producer: producer(), Protocol: r.Test.Protocol, Flow: r.Test.Flow,
		Parallel: r.Test.Parallel,
		Seconds:  r.Test.Duration.Seconds(), Omitted: r.Test.Omit.Seconds(),
	}
	for _, d := range r.Directions {
		direction := iperf3Direction{
			Flow: d.Flow, Sent: iperf3SideOf(d.Sent), Received: iperf3SideOf(d.Received),
			Unacknowledged: d.Unacknowledged, Remarks: d.Remarks,
		}
		if g := d.Datagrams; g != nil {
			direction.Datagrams = &iperf3Datagrams{
				Sent: g.Sent, Received: g.Received, Lost: g.Lost, LossRatio: g.LossRatio(), Reordered: g.Reordered,
				Duplicates: g.Duplicates, Dropped: g.Dropped, Jitter: g.Jitter.Microseconds(), WholeRun: g.WholeTest,
			}
		}
		document.Directions = append(document.Directions, direction)
	}
	return sidebyside.WriteJSON(stdout, document)
}

func directionText(d iperf3.Direction) string {
	if d.Flow == iperf3.Reverse {
		return wording.Direction("server", "client")
	}
	return wording.Direction("client", "server")
}

// writeIperf3Text writes a table with a line for each side of each direction, and the remarks below it.
func writeIperf3Text(stdout io.Writer, r *iperf3.Result) error {
	table := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "direction\t\tbytes\trate\ttime\tsent again")
	for _, d := range r.Directions {
		retransmits := ""
		if d.Sent.Retransmits != nil {
			retransmits = wording.Count(*d.Sent.Retransmits)
		}
		line := func(side string, s iperf3.Side, retransmits string) {
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", directionText(d), side, wording.Count(s.Bytes),
				wording.BitRate(int64(math.Round(s.BitsPerSecond()))), wording.Span(s.Lasted), retransmits)
		}
		line("sent", d.Sent, retransmits)
		line("received", d.Received, "")
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, d := range r.Directions {
		var lines []string
		if g := d.Datagrams; g != nil {
			lines = append(lines, fmt.Sprintf("%s: of %s datagrams %s were lost: %s; %s came late, %s twice; jitter %s",
				directionText(d), wording.Count(g.Sent), wording.Count(g.Lost),
				wording.Loss(units.RatioOf(g.Lost, g.Sent)), wording.Count(g.Reordered), wording.Count(g.Duplicates),
				wording.Microseconds(g.Jitter.Microseconds())))
		}
		for _, remark := range d.Remarks {
			lines = append(lines, directionText(d)+": "+remark)
		}
		for _, l := range lines {
			if _, err := fmt.Fprintln(stdout, wording.Printable(l)); err != nil {
				return err
			}
		}
	}
	return nil
}
