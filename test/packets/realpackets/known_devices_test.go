//go:build full

package realpackets

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/test/rigs/impaired"
	"github.com/linerate-dev/linerate/test/rigs/truth"
)

// mode is a way to ask for what a device can do.
type mode string

// The modes. The first two search for the limit, the others measure loads that are given.
const (
	together mode = "search, Together"
	each     mode = "search, Each"
	curved   mode = "curve"
	held     mode = "held load"
	most     mode = "overload"
)

// impairedDevice is a device that does to frames what real ones do, and the test that it is measured by. Neither file nor Plan knows anything of it.
type impairedDevice struct {
	name  string
	ports [2]impaired.Impairment
	mode  mode
	// inKernel: the kernel carries frames, as no process is so fast.
	inKernel bool
	// oneWay: there is traffic from west to east alone.
	oneWay bool
	// target is the most that a search offers; empty: 30kpps.
	target string
	// warmUp is before the load; 0: a second.
	warmUp time.Duration
	// confirm is for how long a search holds what it found; 0: four seconds. Where every load loses too much it holds 16 loads before it gives up.
	confirm time.Duration
	// fewFlows: 16 and not 254, so that the next frame of a flow follows soon. Else a device that lets some leave behind the next holds a dozen back at any time, each for 20 ms.
	fewFlows bool
	// noLoss: none is allowed, instead of 0.1 %.
	noLoss bool
	// finds are the directions whose limit has to be found, to 1 %, on a calm machine. The others may have any answer that is true.
	finds []string
}

// savesUp is for how long a limit without a queue saves up what it didn't forward: if the machine lets the generator wait that long, no frame is lost.
const savesUp = 10 * time.Millisecond

const (
	there = "west→east"
	back  = "east→west"
)

// impairedDevices are the rows: each impairment in each mode that shows it.
func impairedDevices() (list []impairedDevice) {
	type ports = [2]impaired.Impairment
	both := func(i impaired.Impairment) ports { return ports{i, i} }
	all := []string{there, back}
	add := func(d impairedDevice, modes ...mode) {
		for i, p := range d.ports {
			if p.Limit > 0 && p.Queue == 0 {
				d.ports[i].Saves = savesUp
			}
		}
		for _, d.mode = range modes {
			list = append(list, d)
		}
	}
	searches, loads := []mode{together, each}, []mode{curved, held, most}
	searchesAnd := func(more ...mode) []mode { return append(slices.Clone(searches), more...) }
	add(impairedDevice{name: "no impairment but a limit", ports: both(impaired.Impairment{Limit: 10_000}), finds: all}, searches...)
	asymmetric := impairedDevice{name: "asymmetric", ports: ports{{Limit: 10_000}, {Limit: 4_000}}, finds: []string{back}}
	add(asymmetric, together)
	asymmetric.finds = all
	add(asymmetric, each)
	add(asymmetric, loads...)
	add(impairedDevice{name: "20 ms of delay", ports: both(impaired.Impairment{Limit: 10_000, Delay: 20 * time.Millisecond}), finds: all}, searches...)
	add(impairedDevice{name: "loses 1 in 2000, as is allowed", ports: both(impaired.Impairment{Limit: 10_000, LoseOneIn: 2_000}), finds: all}, searches...)
	add(impairedDevice{name: "loses 1 in 500, twice what is allowed", ports: both(impaired.Impairment{Limit: 10_000, LoseOneIn: 500}), confirm: 2 * time.Second}, searchesAnd(held)...)
	add(impairedDevice{name: "loses 1 in 500 one way only", ports: ports{{Limit: 10_000}, {Limit: 10_000, LoseOneIn: 500}}, confirm: 2 * time.Second}, searches...)
	add(impairedDevice{name: "1 in 100 leaves twice", ports: both(impaired.Impairment{Limit: 10_000, DuplicateOneIn: 100})}, searchesAnd(curved)...)
	add(impairedDevice{name: "duplicates hide loss: 1 in 100 lost, and 1 in 100 twice", ports: both(impaired.Impairment{Limit: 10_000, LoseOneIn: 100, DuplicateOneIn: 99})}, searchesAnd(held)...)
	add(impairedDevice{name: "1 in 10 of each flow behind the next", ports: both(impaired.Impairment{Limit: 10_000, ReorderOneIn: 10}), fewFlows: true, finds: all}, searches...)
	add(impairedDevice{name: "collapses: less of more, nothing at 4 times its limit", ports: both(impaired.Impairment{Limit: 10_000, Wasted: 0.25}), finds: all}, searchesAnd(loads...)...)
	add(impairedDevice{name: "a queue of 100 ms", ports: both(impaired.Impairment{Limit: 10_000, Queue: 100 * time.Millisecond})}, searchesAnd(held)...)
	add(impairedDevice{name: "a soft knee: 0 to 2 % of loss from 95 % of its limit on", ports: both(impaired.Impairment{Limit: 10_000, Knee: &impaired.Knee{Begin: 0.95, Loss: 0.02}}), finds: all}, searchesAnd(curved)...)
	cold := impairedDevice{name: "a fifth worse in its first 10 s", ports: both(impaired.Impairment{Limit: 10_000, Cold: &impaired.Cold{Duration: 10 * time.Second, Share: 0.8}})}
	add(cold, searches...)
	cold.name, cold.warmUp, cold.finds = cold.name+", after a warm-up of 12 s", 12*time.Second, all
	add(cold, searches...)
	add(impairedDevice{name: "CPU-bound: 100 µs a frame", ports: ports{{Work: 100 * time.Microsecond}}, oneWay: true}, together, most)
	add(impairedDevice{name: "forwards more than the target", ports: both(impaired.Impairment{Limit: 25_000}), target: "15kpps"}, searches...)
	add(impairedDevice{name: "no loss allowed, and below its limit it loses none", ports: both(impaired.Impairment{Limit: 10_000}), noLoss: true, finds: all}, searches...)
	add(impairedDevice{name: "no loss allowed, and it loses 1 in 20 000", ports: both(impaired.Impairment{Limit: 10_000, LoseOneIn: 20_000}), noLoss: true}, searches...)
	add(impairedDevice{name: "500 000 packets/s", ports: ports{{Limit: 500_000}}, inKernel: true, oneWay: true, target: "700kpps"}, together, most)
	for i := range *again {
		add(impairedDevice{name: fmt.Sprintf("drawn at random, again %d", i+1), ports: ports{drawn(), drawn()}, fewFlows: true}, searches[i%2])
	}
	return list
}

// drawn is a random impairment.
func drawn() impaired.Impairment {
	i := impaired.Impairment{Limit: 3_000 + rand.Int64N(15_001)}
	for _, change := range []func(){
		func() { i.Delay = time.Duration(rand.Int64N(int64(20 * time.Millisecond))) },
		func() { i.LoseOneIn = 200 + rand.Int64N(4_000) },
		func() { i.ReorderOneIn = 5 + rand.Int64N(100) },
		func() { i.Wasted = 0.4 * rand.Float64() },
		func() { i.Knee = &impaired.Knee{Begin: 0.9 + 0.09*rand.Float64(), Loss: 0.002 + 0.02*rand.Float64()} },
	} {
		if rand.IntN(3) == 0 {
			change()
		}
	}
	return i
}

// TestKnownAnswersOfImpairedDevices: whatever a device does to frames, the answer is its limit, a bound that is true, or why there is no figure, and
// never a wrong number. Each row is in the table, also a failed one, with how calm the machine was.
func TestKnownAnswersOfImpairedDevices(t *testing.T) {
	devices := impairedDevices()
	knownAnswers{section: "impaired devices", right: "as they should be",
		columns: []string{"device", "mode", "it forwards", "what is said of it", "the device counted (the Report)", "outcome", "took", "machine"},
	}.run(t, namesOf(devices, impairedDevice.title), func(t *testing.T, i int) knownAnswer {
		t.Helper()
		d, begun := devices[i], time.Now()
		a := d.measure(t)
		return knownAnswer{report: a.report, faults: d.faults(a), missing: d.missing(a), took: time.Since(begun),
			cells: []string{d.name, string(d.mode), d.known(), d.said(a), d.counted(a)}}
	})
}

func (d impairedDevice) title() string { return fmt.Sprintf("%s, %s", d.name, d.mode) }

// impairedAnswer is what linerate said of a device, and what the device counted meanwhile.
type impairedAnswer struct {
	report *report.Report // nil: there is none, for this reason
	why    string
	counts [2]impaired.Counts
}

func (d impairedDevice) measure(t *testing.T) (a impairedAnswer) {
	t.Helper()
	if does, err := json.Marshal(d.ports); err != nil { // some are drawn at random
		t.Fatal(err)
	} else {
		t.Logf("what it does: %s", does)
	}
	r := newRig(t, 2)
	device := r.impair(t, impaired.Spec{Ports: d.ports, InKernel: d.inKernel})
	got := r.call(t, "run", writeFile(t, "test.yaml", d.yaml()), "-o", "json", "--save", "", "--ports", r.portList())
	var rep report.Report
	if err := json.Unmarshal([]byte(got.stdout), &rep); err != nil {
		said, _, _ := strings.Cut(strings.TrimSpace(got.stderr), "\n")
		if _, what, named := strings.Cut(said, "test.yaml:"); named {
			said = what // without the folder, which is another one each time
		}
		a.why = fmt.Sprintf("exit code %d, and no Report: %s", got.code, said)
		return a
	}
	a.report = &rep
	t.Logf("%s %s", rep.Message, rep.Answer.EvidenceText())
	for _, w := range rep.Windows {
		if w.Quality == report.Invalid {
			t.Logf("window %d says nothing: %s", w.Number, w.Reason)
		}
	}
	var err error
	if a.counts, err = device.Counts(); err != nil {
		t.Fatal(err)
	}
	return a
}

func (d impairedDevice) yaml() string {
	traffic := "{profile: FixedSize, frameSize: 64}"
	switch {
	case d.fewFlows:
		traffic = "{profile: FixedSize, frameSize: 64, flows: {count: 16}}"
	case d.oneWay:
		traffic = "{profile: FixedSize, frameSize: 64, directions: [{from: west, to: east}]}"
	}
	return fmt.Sprintf(`apiVersion: linerate.dev/v1alpha1
kind: LoadTest
metadata: {name: impaired}
spec:
  dut: {type: Device, forwarding: L2}
  links: [{name: west, lineRate: 1gbps}, {name: east, lineRate: 1gbps}]
  traffic: %s
  procedure: %s
`, traffic, d.procedure())
}

func (d impairedDevice) procedure() string {
	warmUp, goal, vary := cmp.Or(d.warmUp, time.Second), "", ""
	if d.noLoss {
		goal = `maxLossRatio: 0%, `
	}
	switch d.mode {
	case curved:
		return fmt.Sprintf("{%stype: FrameLoss, frameLoss: {maxRate: 20kpps, minRate: 2kpps, step: 6kpps, warmupDuration: %v, trialDuration: 2s, cleanTrials: 0}}", goal, warmUp)
	case held:
		return fmt.Sprintf("{%stype: ConstantLoad, constantLoad: {rate: 12kpps, warmupDuration: %v, duration: 6s, window: 2s}}", goal, warmUp)
	case most:
		return fmt.Sprintf("{%stype: MaximumOfferedLoad, maximumOfferedLoad: {rate: %s, warmupDuration: %v, trialDuration: 3s, trials: 2}}", goal, cmp.Or(d.target, "20kpps"), warmUp)
	case each:
		vary = "directions: Each, "
	case together:
	}
	return fmt.Sprintf("{%s%sramp: {warmupDuration: %v, targetRate: %s, rampDuration: 10s, stepDuration: 1s, settleDuration: 200ms, confirmDuration: %v, holdDuration: 0s, stopAtSaturation: true}}",
		goal, vary, warmUp, cmp.Or(d.target, "30kpps"), cmp.Or(d.confirm, 4*time.Second))
}

// truth is what is known of the device, for the loss that the test allows.
func (d impairedDevice) truth() truth.Device {
	if d.noLoss {
		return truthOf(d.ports, d.oneWay, 0)
	}
	return truthOf(d.ports, d.oneWay, 0.001)
}

// faults are the answer's claims that are false.
func (d impairedDevice) faults(a impairedAnswer) []string {
	if a.report == nil {
		return []string{a.why}
	}
	if d.cameTwice(a.report) {
		return nil
	}
	return append(d.truth().Faults(a.report), countFaults(a.report, a.counts)...)
}

// cameTwice says that the run ended before any load, as it was seen that the device sends frames twice, and that it does.
func (d impairedDevice) cameTwice(r *report.Report) bool {
	doubles := slices.ContainsFunc(d.ports[:], func(i impaired.Impairment) bool { return i.DuplicateOneIn > 0 })
	return doubles && r.Ending == report.PathNotProven && slices.ContainsFunc(r.Path, func(p report.PathCheck) bool { return p.Repeats != nil && p.Repeats.Twice > 0 })
}

// missing are limits that had to be found, and weren't.
func (d impairedDevice) missing(a impairedAnswer) (missing []string) {
	if a.report == nil || !d.searches() || d.cameTwice(a.report) {
		return nil
	}
	for _, direction := range d.finds {
		m, found := directionOf(a.report, direction)
		limit := float64(d.truth().Limits[direction])
		if off := math.Abs(float64(m.Received.PacketsPerSecond)/limit - 1); !found || !saturated(a.report, m) || off > 0.01 {
			missing = append(missing, fmt.Sprintf("%s: the limit isn't found to 1 %%", direction))
		}
	}
	return missing
}

func (d impairedDevice) searches() bool { return d.mode == together || d.mode == each }

func directionOf(r *report.Report, direction string) (m report.Direction, found bool) {
	i := slices.IndexFunc(r.Answer.Directions, func(m report.Direction) bool { return truth.Direction(m.From, m.To) == direction })
	if i < 0 || !r.Answer.Measured {
		return report.Direction{}, false
	}
	return r.Answer.Directions[i], true
}

// saturated says whether the Report claims that a direction's figure is the device's limit.
func saturated(r *report.Report, m report.Direction) bool {
	if m.Limit != nil {
		return m.Limit.Saturated
	}
	return r.Answer.Saturated
}

// known is what the device forwards with no more loss than is allowed, in each direction.
func (d impairedDevice) known() string {
	limits := d.truth().Limits
	text := packets(limits[there])
	if !d.oneWay {
		text += ", " + packets(limits[back])
	}
	return text
}

func packets(limit int64) string {
	if limit == 0 {
		return "no load with so little loss"
	}
	return fmt.Sprint(limit, " pps")
}

// said is what the Report has of each direction.
func (d impairedDevice) said(a impairedAnswer) string {
	if a.report == nil {
		return "nothing"
	}
	if d.cameTwice(a.report) {
		var said []string
		for _, p := range a.report.Path {
			if p.Repeats != nil {
				said = append(said, fmt.Sprintf("%d of %d frames", p.Repeats.Twice, p.Repeats.Received))
			}
		}
		return "no figure: of those that came before any load more than once came " + strings.Join(said, ", and ")
	}
	if !a.report.Answer.Measured {
		return fmt.Sprintf("no figure: %s", a.report.Answer.Reason)
	}
	var said []string
	for _, m := range a.report.Answer.Directions {
		if d.searches() {
			said = append(said, d.found(a.report, m))
		}
	}
	for _, m := range d.loads(a.report) {
		said = append(said, fmt.Sprintf("%d → %d, %.2f %% lost (%.2f %%)", m.Offered.PacketsPerSecond, m.Received.PacketsPerSecond, 100*float64(m.LossRatio)/float64(units.One), 100*d.loses(m)))
	}
	return strings.Join(said, "<br>")
}

// found is a direction's figure, by its interval.
func (d impairedDevice) found(r *report.Report, m report.Direction) string {
	name := truth.Direction(m.From, m.To)
	i := slices.IndexFunc(r.Figures, func(f report.Figure) bool {
		return f.Metric == figures.PacketsPerSecond && f.Direction == name && f.Load == 0
	})
	if i < 0 {
		return "no figure"
	}
	f := r.Figures[i]
	if f.High == "" {
		reason := r.Answer.Reason
		if m.Limit != nil {
			reason = m.Limit.Reason
		}
		return fmt.Sprintf("at least %.0f: %s", f.Low.Float(), reason)
	}
	return fmt.Sprintf("limit: %.0f to %.0f", f.Low.Float(), f.High.Float())
}

// loads are the directions at each load that was given: of a curve its trials', the highest first.
func (d impairedDevice) loads(r *report.Report) (all []report.Direction) {
	switch {
	case d.searches():
		return nil
	case r.Plan.Procedure.Type != plan.TypeFrameLoss:
		return r.Answer.Directions
	}
	for _, w := range r.Windows {
		if w.Phase == report.Trial && w.Quality != report.Invalid {
			all = append(all, w.Directions...)
		}
	}
	return all
}

// loses is the share that the device loses of what a direction was offered.
func (d impairedDevice) loses(m report.Direction) float64 {
	load := float64(max(1, m.Offered.PacketsPerSecond))
	return max(0, 1-d.ports[entry[m.From]].Forwards(load)/load)
}

// counted is what the device counted, and in parentheses what the Report did.
func (d impairedDevice) counted(a impairedAnswer) string {
	if a.report == nil {
		return "-"
	}
	var said []string
	for _, total := range a.report.Totals {
		c := a.counts[entry[total.From]]
		text := fmt.Sprintf("%d came (%d), %d lost, %d left (%d)", c.Came, total.Sent.Packets, c.Lost(), c.Departed, total.Returned.Packets+total.ReceiveErrors)
		if c.Doubled > 0 {
			text += fmt.Sprintf(", %d of them again", c.Doubled)
		}
		said = append(said, text)
	}
	return strings.Join(said, "<br>")
}
