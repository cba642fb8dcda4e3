package main

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/engine/softgen/datapath"
	"github.com/linerate-dev/linerate/test/packets/burstiness"
	"github.com/linerate-dev/linerate/test/pages/published"
)

var update = flag.Bool("update", false, "write the golden files")

// madeUp are the results of a run that has one of each.
func madeUp() results {
	ours := contender{name: "linerate, AF_XDP", options: &datapath.Options{}, refuses: plays}
	two := base()
	two.threads = 2
	s := scene{title: "64-byte frames | one way", note: "A note.", dut: forwarder, yardstick: trafgenName, entries: []entry{
		{contender: ours, load: base()}, {contender: contender{name: trafgenName}, load: base()}, {contender: ours, load: two}, {contender: contender{name: "hping3"}, load: base()}, {contender: contender{name: "hping3"}, load: two},
	}}
	outcomes := []outcome{
		{entry: s.entries[0], turns: []turn{{410_000, 400_000, 1, 0, 0.02}, {400_000, 400_000, 1.25, 0, 0.02}, {500_000, 410_000, 1, 0.01, 0.02}, {405_000, 405_000, 1, 0, 0.02}}},
		{entry: s.entries[1], turns: []turn{{300_000, 300_000, 1, 0, 0.02}, {298_000, 298_000, 1, 0.02, 0.02}}},
		{entry: s.entries[2], turns: []turn{{800_000, 790_000, 2, 0, 0.02}, {800_000, 810_000, 2, 0, 0.02}}},
		{entry: s.entries[3], failure: "not installed | apt-get install hping3"},
		{entry: s.entries[4], failure: "not installed | apt-get install hping3"},
	}
	var arrivals []time.Duration
	for i := range 100_000 {
		arrivals = append(arrivals, time.Duration(i/2)*20*time.Microsecond)
	}
	return results{
		scenes: []scene{s}, outcomes: [][]outcome{outcomes},
		pace:   []pace{{sender: ours.name, path: ownProcessor, share: 0.8, intended: 320_000, seconds: []second{{320_000, false}, {319_000, false}, {300_000, true}}, others: 0.01, lost: 3, unsent: 19_000, taken: 70 * time.Millisecond, processorPercent: 71, together: 2.14}},
		bursts: []evenness{{ours.name, sink, 0.5, 100_000, burstiness.Judge(arrivals, 100_000, []burstiness.Span{{Start: 0, End: 15 * time.Millisecond}})}},
	}
}

func TestTables(t *testing.T) {
	for name, got := range map[string]string{"tables.txt": madeUp().text(), "tables.md": madeUp().markdown()} {
		golden := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s differs (-update writes it anew):\n%s", golden, got)
		}
	}
}

// TestThePageHasRoomForTheTables: docs/measured/speed.md has the marks that -markdown writes between.
func TestThePageHasRoomForTheTables(t *testing.T) {
	text, err := os.ReadFile("../../docs/measured/speed.md")
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(t.TempDir(), "speed.md")
	if err := os.WriteFile(copied, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := published.Section(copied, "bench", "made by a test\n"); err != nil {
		t.Error(err)
	}
}

func TestOnlyLineratesRowsFailTheBench(t *testing.T) {
	r := madeUp()
	if failed := r.failures(); failed != nil {
		t.Errorf("nothing failed: %v", failed)
	}
	r.outcomes[0][1].failed, r.outcomes[0][1].failure = true, "trafgen ended by itself"
	if failed := r.failures(); failed != nil {
		t.Errorf("only trafgen failed: %v", failed)
	}
	r.outcomes[0][0].failed, r.outcomes[0][0].failure = true, "send on g0: gone"
	if failed := r.failures(); len(failed) != 1 {
		t.Errorf("ours failed: %v", failed)
	}
}

func TestAMachineThatIsntCalmIsSaidToBe(t *testing.T) {
	r := madeUp()
	if said := r.disturbed(); said != "" {
		t.Errorf("others had 2 %%: %s", said)
	}
	for _, o := range r.outcomes[0] {
		for i := range o.turns {
			o.turns[i].neighbours = 0.125
		}
	}
	if said := r.disturbed(); !strings.Contains(said, "12.5 %") {
		t.Errorf("others had 12.5 %%: %s", said)
	}
}
