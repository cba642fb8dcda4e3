//go:build full

package realcards

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/cli/qualify"
	"github.com/linerate-dev/linerate/test/rigs/built"
	"github.com/linerate-dev/linerate/test/rigs/machine"
)

// TestWhatQualifyShows qualifies two ports of igb that a cable joins, and two virtual functions that the card's own
// switch joins. igbvf hides what it has no room for. Alone it is started by
//
//	go test -tags full -count=1 -timeout 30m ./test/packets/realcards -run TestWhatQualifyShows -v
func TestWhatQualifyShows(t *testing.T) {
	linerate, err := built.Program("linerate")
	if err != nil {
		t.Fatal(err)
	}
	rig, err := machine.Start(t.Context(), machine.Lab{Machines: []machine.Description{{Ports: []machine.Port{{}, {},
		{Functions: 2}}}}, Cables: []machine.Cable{{"ens1f0", "ens1f1"}}}, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(rig.Close)
	l := &lab{machine: rig.Machine(""), linerate: linerate}
	for name, c := range map[string]struct {
		ports [2]string
		says  []string
	}{
		"two ports": {[2]string{"ens1f0", "ens1f1"}, []string{
			"machine: it is a virtual machine",
			"port ens1f0: its clock stamps PTP frames alone",
			"ens1f0→ens1f1: no AF_XDP in zero copy: operation not supported",
		}},
		"two functions": {[2]string{"ens1f2v0", "ens1f2v1"}, []string{
			"port ens1f2v0: it is a virtual function",
			"port ens1f2v0: its clock stamps no frames",
			"ens1f2v0→ens1f2v1: no live frames: the driver of ens1f2v0 (igbvf) sends nothing for XDP",
			"ens1f2v0→ens1f2v1: no AF_XDP in zero copy: operation not supported",
			"drops of ens1f2v1: it lost",
			"in a test they look like the device's loss",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			said, _ := l.answer(t, "", linerate, "qualify", "--ports", strings.Join(c.ports[:], ","), "--window", "1s", "--save", "",
				"-q", "-o", "json")
			var d qualify.Document
			if err := json.Unmarshal([]byte(said[max(0, strings.Index(said, "{")):]), &d); err != nil {
				t.Fatalf("%v: %s", err, said)
			}
			var findings strings.Builder
			for _, f := range d.Findings {
				findings.WriteString(f.Check + ": " + f.Message + "\n")
			}
			for _, want := range c.says {
				if !strings.Contains(findings.String(), want) {
					t.Errorf("no finding says %q", want)
				}
			}
			for _, way := range d.Directions {
				if way.Clean == nil || way.Answer == nil || way.Overload == nil {
					t.Errorf("%s→%s was not measured to its end: %+v", way.From, way.To, way)
				}
			}
			t.Logf("%s\n%s\n%s", d.Summary, d.Message, &findings)
		})
	}
}
