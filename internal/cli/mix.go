package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/linerate-dev/linerate/internal/cli/sidebyside"
	"github.com/linerate-dev/linerate/internal/document/capture"
	"github.com/linerate-dev/linerate/internal/document/exit"
	"github.com/linerate-dev/linerate/internal/document/intake"
	"github.com/linerate-dev/linerate/internal/document/profile"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

func newMix(s Streams) *cobra.Command {
	var o mixOptions
	cmd := &cobra.Command{
		Use:   "mix FILE",
		Short: "Make a mix of frame sizes of a capture, or of a histogram, to paste into a LoadTest",
		Example: "  linerate mix office.pcapng\n" +
			"  tcpdump -i eth0 -s 64 -c 100000 -w - | linerate mix -\n" +
			"  printf '64,36\\n80-160,3\\n594,5\\n1400,56\\n' | linerate mix -\n" +
			"  linerate mix my.py --trex-dir /opt/trex/v3.06",
		Long: "Reads a capture (pcap or pcapng, of tcpdump or Wireshark, packed with gzip or not) or a histogram, whose " +
			"lines are a size in bytes with FCS, or a range of sizes, and a count\n" +
			"or share; - is stdin. Prints the member traffic of a LoadTest with at most 16 sizes: of more, neighbours are " +
			"joined, and a comment says so.\n\n" +
			"With --pcap it prints the capture itself for profile PCAP: each frame's length, addresses, protocol and ports, " +
			"without its time and payload. Of a .py file of TRex's it prints the streams of one port, for profile Streams: " +
			"TRex's own library makes them, as nobody and without a network.\n\n" +
			"Exit codes: 0 printed, 2 bad input, 3 it could not be printed.",
		Args: cobra.MatchAll(sidebyside.AtLeast(1, "a capture or a histogram, or - for stdin"), cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, files []string) error {
			text, err := o.trafficText(cmd.Context(), s.Stdin, files[0])
			if err != nil {
				return exit.BadInput("%s: %w", files[0], err)
			}
			if _, err := io.WriteString(s.Stdout, text); err != nil {
				return exit.NotMeasured("print: %w", err)
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.whole, "pcap", false, "print the capture itself, for profile PCAP")
	f.StringVar(&o.trexFolder, "trex-dir", "", "folder of a TRex, whose Python library makes the streams of a .py file")
	f.IntVar(&o.port, "port", 0, "whose streams of a .py file are printed: 0 or 1, the first link's or the second's")
	return cmd
}

// mixOptions are mix's flags.
type mixOptions struct {
	whole      bool
	trexFolder string
	port       int
}

func (o mixOptions) trafficText(ctx context.Context, stdin io.Reader, name string) (string, error) {
	switch {
	case strings.HasSuffix(name, ".py"):
		return o.streamsText(ctx, name)
	case o.whole:
		data, err := packCapture(name, stdin)
		return "traffic:\n  profile: PCAP\n  pcap:\n    data: " + data + "\n", err
	}
	summary, err := summarize(stdin, name)
	if err != nil {
		return "", err
	}
	return mixText(name, summary), nil
}

// longestStreams is how much of streams a LoadTest takes, as the schema says.
const longestStreams = 256 << 10

// streamsText are the streams that TRex's library makes of a profile for one port. A LoadTest has them in one
// direction, as a router can't route the same addresses both ways.
func (o mixOptions) streamsText(ctx context.Context, name string) (string, error) {
	switch {
	case o.trexFolder == "":
		return "", errors.New("this file is a program that only TRex's own library can run: give TRex's folder as " +
			"--trex-dir")
	case o.port != 0 && o.port != 1:
		return "", fmt.Errorf("--port %d: a profile has the ports 0 and 1", o.port)
	}
	ports, err := pythonStreams(ctx, o.trexFolder, name)
	if err != nil {
		return "", err
	}
	var text bytes.Buffer
	if err := json.Compact(&text, ports[o.port]); err != nil {
		return "", err
	}
	p, err := profile.Build(profile.Spec{Kind: profile.Streams, Streams: text.Bytes()})
	if err != nil {
		return "", fmt.Errorf("port %d: %w", o.port, err)
	}
	if text.Len() > longestStreams {
		return "", fmt.Errorf("port %d: its %d streams are %d bytes of JSON, and a LoadTest takes %d: use linerate ramp "+
			"-p %s, or fewer streams", o.port, len(p.Streams), text.Len(), longestStreams, name)
	}
	return fmt.Sprintf("# %s: %d streams of port %d, for one direction\ntraffic:\n  profile: Streams\n  streams:\n"+
		"    json: '%s'\n", wording.Printable(filepath.Base(name)), len(p.Streams), o.port,
		strings.ReplaceAll(text.String(), "'", "''")), nil
}

// summarize reads a capture or a histogram, whichever the file is.
func summarize(stdin io.Reader, name string) (s capture.Summary, err error) {
	input := stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return s, err
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		input = f
	}
	r, err := intake.Stream(input)
	if err != nil {
		return s, err
	}
	if beginning, _ := r.Peek(4); capture.Is(beginning) {
		return capture.Summarize(r)
	}
	return capture.ReadHistogram(r)
}

// longestGenome is how many letters a genome in a comment may have.
const longestGenome = 60

// mixText is the member traffic of a LoadTest, with what was seen in comments.
func mixText(name string, s capture.Summary) string {
	var b strings.Builder
	line := func(format string, arguments ...any) { b.WriteString(fmt.Sprintf(format, arguments...) + "\n") }
	entries, exact := s.Mix()
	var mix []profile.MixEntry
	var frames, bytes int64
	for _, e := range entries {
		mix = append(mix, profile.MixEntry{Size: e.Size, Weight: e.Weight})
		frames, bytes = frames+e.Weight, bytes+e.Weight*int64(e.Size)
	}
	line("# %s: %s, %.1f bytes a frame on average, the largest %d", wording.Printable(name), countText(s), s.Mean(), s.Largest)
	if s.Flows > 0 {
		line("# %s", flowsText(s))
	}
	if !exact {
		line("# of %d sizes, this mix has %d; %.1f bytes a frame on average", len(s.Sizes), len(mix),
			float64(bytes)/float64(frames))
	}
	if genome, sizes := profile.WriteGenome(mix, longestGenome); genome != "" {
		line("# RFC 6985: %s", wording.JoinNonEmpty(", ", append([]string{genome}, sizes...)...))
	}
	line("traffic:\n  profile: Mix\n  mix:")
	for _, e := range mix {
		line("  - {frameSize: %d, weight: %d}", e.Size, e.Weight)
	}
	if s.Flows > 0 {
		line("  flows: %s", flowsMember(s.Flows))
	}
	return b.String()
}

// flowsMember is so many flows in default networks. More than those have addresses for differ by a port.
func flowsMember(flows int) string {
	const addresses, ports = 254, 1<<16 - 1024
	switch {
	case flows <= addresses:
		return fmt.Sprintf("{count: %d}", flows)
	case flows <= ports:
		return fmt.Sprintf("{count: %d, fields: [SourcePort]}", flows)
	}
	return fmt.Sprintf("{count: %d, fields: [SourcePort]} # of %d: more take wider networks, and addresses as fields",
		ports, flows)
}

func countText(s capture.Summary) string {
	if s.Names == nil {
		return fmt.Sprintf("a histogram of %d sizes", len(s.Sizes))
	}
	return fmt.Sprintf("%s frames of %d sizes", wording.Count(int64(s.Frames)), len(s.Sizes))
}

func flowsText(s capture.Summary) string {
	text := fmt.Sprintf("%s flows", wording.Count(int64(s.Flows)))
	if s.More {
		text = "at least " + text
	}
	for _, name := range slices.Sorted(maps.Keys(s.Names)) {
		text += fmt.Sprintf(", %s %.1f %%", name, 100*float64(s.Names[name])/s.Frames)
	}
	return text
}
