package cli

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/profile"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// pcapOf is a capture of UDP frames of these sizes with FCS, each in a flow of its own.
func pcapOf(sizes ...int) string {
	order := binary.LittleEndian
	b := append(order.AppendUint32(nil, 0xa1b2c3d4), 2, 0, 4, 0)
	b = order.AppendUint32(order.AppendUint32(append(b, make([]byte, 8)...), 65535), 1)
	for i, size := range sizes {
		frame := append(make([]byte, 12), 0x08, 0x00, 0x45, 0, 0, 0, 0, 1, 0, 0, 64, 17, 0, 0, 10, 0, 0, byte(i), 192, 0, 2, 9, 3, 232, 0, 53)
		b = order.AppendUint32(append(b, make([]byte, 8)...), uint32(len(frame)))
		b = append(order.AppendUint32(b, uint32(size-4)), frame...)
	}
	return string(b)
}

func TestMixes(t *testing.T) {
	for name, c := range map[string]struct {
		stdin, want string
		args        []string
	}{
		"a capture": {pcapOf(64, 64, 64, 1518, 594), `# -: 5 frames of 3 sizes, 460.8 bytes a frame on average, the largest 1518
# 5 flows, UDP 100.0 %
# RFC 6985: aaaAg, A: 594
traffic:
  profile: Mix
  mix:
  - {frameSize: 64, weight: 3}
  - {frameSize: 594, weight: 1}
  - {frameSize: 1518, weight: 1}
  flows: {count: 5}
`, nil},
		"a histogram": {"size,share\n64,36\n80-160,3\n594,5\n1400,56\n", `# -: a histogram of 4 sizes, 840.3 bytes a frame on average, the largest 1400
traffic:
  profile: Mix
  mix:
  - {frameSize: 64, weight: 36}
  - {frameSize: 120, weight: 3}
  - {frameSize: 594, weight: 5}
  - {frameSize: 1400, weight: 56}
`, nil},
	} {
		stdout, stderr, code := typed(t, c.stdin, append([]string{"mix", "-"}, c.args...)...)
		if code != report.ExitOK || stdout != c.want {
			t.Errorf("%s: exit code %d, %s\ngot  %s\nwant %s", name, code, stderr, stdout, c.want)
		}
	}
	for input, want := range map[string]string{"": "it has no frames", "64,1\n1,1\n": "line 2: frame size 1 is outside 64 to 9216",
		pcapOf(64)[:70]: "frame 1: the file ends within it"} {
		if stdout, stderr, code := typed(t, input, "mix", "-"); code != report.ExitBadInput || !strings.Contains(stderr, want) || stdout != "" {
			t.Errorf("%q: exit code %d, %q, want %q", input, code, stderr, want)
		}
	}
}

// What mix --pcap prints, and the file that a LoadTest names, are sent alike.
func TestACaptureInALoadTest(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string) string {
		name = filepath.Join(folder, name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	capture := write("office.pcap", pcapOf(64, 64, 594))
	printed, stderr, code := typed(t, "", "mix", "--pcap", capture)
	if code != report.ExitOK {
		t.Fatal(stderr)
	}
	const head = "apiVersion: linerate.dev/v1alpha1\nkind: LoadTest\nmetadata: {name: x}\nspec:\n  dut: {type: Reference}\n" +
		"  links: [{name: west, lineRate: 1gbps}, {name: east, lineRate: 1gbps}]\n"
	data := write("data.yaml", head+"  "+strings.ReplaceAll(strings.TrimSuffix(printed, "\n"), "\n", "\n  ")+"\n    directions: [{from: west, to: east}]\n")
	file := write("file.yaml", head+"  traffic: {profile: PCAP, pcap: {file: office.pcap}, directions: [{from: west, to: east}]}\n")
	var digests []string
	for _, name := range []string{data, file} {
		loaded, err := readInputs(nil, []string{name})
		if err != nil {
			t.Fatal(err)
		}
		p := loaded.plans[0]
		if mix, err := profile.MixOf(p.Generators[0].Ports[0].Streams); err != nil || mix.Packets != 3 || mix.Bytes != 722 {
			t.Errorf("%s: %v, %v", name, mix, err)
		}
		digests = append(digests, p.Method())
	}
	if digests[0] != digests[1] {
		t.Errorf("the same capture makes two methods: %q", digests)
	}
	missing := write("missing.yaml", head+"  traffic: {profile: PCAP, pcap: {file: none.pcap}}\n")
	if _, err := readInputs(nil, []string{missing}); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Error(err)
	}
}

// The streams that mix prints are bounded as the schema bounds the field that takes them.
func TestStreamsOfMixAreAsLongAsTheSchemaAllows(t *testing.T) {
	file := filepath.Join(t.TempDir(), "long.yaml")
	text := "apiVersion: linerate.dev/v1alpha1\nkind: LoadTest\nmetadata: {name: long}\nspec:\n  dut: {type: Loopback}\n" +
		"  links: [{name: west}, {name: east}]\n  traffic: {profile: Streams, streams: {json: '" +
		strings.Repeat("x", longestStreams+1) + "'}}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readInputs(nil, []string{file}); err == nil || !strings.Contains(err.Error(),
		strconv.Itoa(longestStreams)) {
		t.Errorf("%v, want the bound %d", err, longestStreams)
	}
}
