//go:build full

package realpackets

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/host/netif"
)

// mortal is a procedure, and how many frames the device has received of it by its middle, roughly.
type mortal struct {
	name, procedure string
	middle          uint64
}

// mortals are the procedures of frames, as short as they may be.
var mortals = []mortal{
	{"ConstantLoad", "{type: ConstantLoad, constantLoad: {rate: 8kpps, warmupDuration: 1s, duration: 5s, window: 1s}}", 50_000},
	{"Ramp", "{type: Ramp, ramp: {warmupDuration: 1s, targetRate: 30kpps, rampDuration: 6s, stepDuration: 500ms, settleDuration: 200ms, confirmDuration: 1s, holdDuration: 0s, stopAtSaturation: true}}", 80_000},
	{"Search", `{type: Search, maxLossRatio: 0.1%, search: {classification: Sequential, minRate: 4kpps, maxRate: 30kpps, warmupDuration: 1s, goals: [{name: PDR, lossRatio: 0.1%, finalTrialDuration: 1s, durationSum: 3s, width: 5%}]}}`, 80_000},
	{"Soak", `{type: Soak, soak: {lossRatio: 0.1%, duration: 8s, firstTrialDuration: 1s, minRate: 4kpps, maxRate: 30kpps, warmupDuration: 1s}}`, 80_000},
	{"FrameLoss", "{type: FrameLoss, frameLoss: {maxRate: 20kpps, minRate: 8kpps, step: 6kpps, warmupDuration: 1s, trialDuration: 2s, cleanTrials: 0}}", 90_000},
	{"BackToBack", "{type: BackToBack, backToBack: {rate: 40kpps, warmupDuration: 1s, trialDuration: 1s, maxBurstDuration: 500ms, repetitions: 3}}", 60_000},
}

// death is what becomes of a device in the middle of a run; back: it returns.
type death struct {
	name string
	dies func(*rig) error
	back func(*rig) error
}

var deaths = []death{
	{"both links go down for good", func(r *rig) error { return r.setPorts(netlink.LinkSetDown, 0, 1) }, nil},
	{"one link goes down for good", func(r *rig) error { return r.setPorts(netlink.LinkSetDown, 1) }, nil},
	{"it forwards nothing for 1 to 3 s", func(r *rig) error { return r.forward("0") }, func(r *rig) error {
		time.Sleep(time.Second + rand.N(2*time.Second)) // for how long it is away
		return r.forward("1")
	}},
	{"it reboots: links down for 1 s, then up, and it forwards 1 s later", func(r *rig) error { return r.setPorts(netlink.LinkSetDown, 0, 1) }, func(r *rig) error {
		time.Sleep(time.Second)
		if err := r.forward("0"); err != nil {
			return err
		}
		if err := r.setPorts(netlink.LinkSetUp, 0, 1); err != nil {
			return err
		}
		time.Sleep(time.Second)
		return r.forward("1")
	}},
	{"it renegotiates a link, in 0.1 to 0.3 s", func(r *rig) error { return r.setPorts(netlink.LinkSetDown, 0) }, func(r *rig) error {
		time.Sleep(100*time.Millisecond + rand.N(200*time.Millisecond))
		return r.setPorts(netlink.LinkSetUp, 0)
	}},
}

// ports sets ports of the device down or up, which then have their routes again.
func (r *rig) setPorts(set func(netlink.Link) error, ports ...int) error {
	return r.device.Do(func() error {
		for _, i := range ports {
			link, err := netlink.LinkByName(fmt.Sprintf("d%d", i))
			if err != nil {
				return err
			}
			if err := set(link); err != nil {
				return err
			}
			if link, err = netlink.LinkByIndex(link.Attrs().Index); err != nil || link.Attrs().Flags&1 == 0 { // IFF_UP
				continue
			}
			if err := routeTo(link, i, networks[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

func (r *rig) forward(value string) error {
	return r.device.Do(func() error { return netif.WriteSysctl("ipv4/ip_forward", value) })
}

// received is how many frames the device's ports have received.
func (r *rig) received() (sum uint64, err error) {
	err = r.device.Do(func() error {
		for i := range r.ports {
			link, err := netlink.LinkByName(fmt.Sprintf("d%d", i))
			if err != nil {
				return err
			}
			sum += link.Attrs().Statistics.RxPackets
		}
		return nil
	})
	return sum, err
}

// mortalRow is a row: a procedure and a death, with the device's limit and when it dies, which stand in no file.
type mortalRow struct {
	mortal
	death
	limit int64
	after uint64 // frames that the device has received
}

func (m mortalRow) title() string { return m.mortal.name + ", " + m.death.name }

func mortalRows() (rows []mortalRow) {
	for _, m := range mortals {
		for _, d := range deaths {
			rows = append(rows, mortalRow{m, d, hidden(), m.middle/2 + rand.Uint64N(m.middle)})
		}
	}
	return rows
}

// TestKnownAnswersOfDevicesThatDie: whatever happens to a device in the middle of a procedure, nothing passes, and no figure stands without its condition. The device dies once it has received so many frames.
func TestKnownAnswersOfDevicesThatDie(t *testing.T) {
	rows := mortalRows()
	knownAnswers{section: "devices that die", right: "as they should be",
		columns: []string{"procedure", "what becomes of the device", "after frames", "what is said", "verdict", "outcome", "took", "machine"},
	}.run(t, namesOf(rows, mortalRow.title), func(t *testing.T, i int) knownAnswer {
		t.Helper()
		m := rows[i]
		code, r, died := m.measure(t)
		return knownAnswer{report: r, faults: m.faults(r, code, died), took: lasted(r),
			cells: []string{m.mortal.name, m.death.name, fmt.Sprint(m.after), m.said(r), string(r.Verdict.Outcome)}}
	})
}

// measure returns the exit code, the Report, and whether the device died meanwhile.
func (m mortalRow) measure(t *testing.T) (code int, rep *report.Report, died bool) {
	t.Helper()
	r := newRig(t, 2)
	r.route(t)
	r.limitEach(t, saved, m.limit, m.limit)
	ctx, end := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		var err error
		died, err = m.live(ctx, r)
		done <- err
	}()
	got := r.call(t, "run", writeFile(t, "test.yaml", m.yaml()), "-o", "json", "--save", "", "--ports", r.portList())
	end()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	rep = &report.Report{}
	if err := json.Unmarshal([]byte(got.stdout), rep); err != nil {
		t.Fatalf("exit code %d, no report: %v\nstderr:\n%s", got.code, err, got.stderr)
	}
	t.Logf("%s %s; %+v", rep.Message, rep.Answer.Message, rep.Interruptions)
	return got.code, rep, died
}

// live is the device's life until the run ends.
func (m mortalRow) live(ctx context.Context, r *rig) (died bool, err error) {
	for {
		switch came, err := r.received(); {
		case err != nil || ctx.Err() != nil:
			return false, err
		case came >= m.after:
			if err := m.dies(r); err != nil || m.back == nil {
				return true, err
			}
			return true, m.back(r)
		}
		time.Sleep(10 * time.Millisecond) // between two readings of its counters
	}
}

func (m mortalRow) yaml() string {
	criteria := `{name: some, metric: PacketsPerSecond, min: "100"}`
	switch m.mortal.name {
	case "Soak": // which finds the rate at which a given share is lost
	case "ConstantLoad": // whose figures may count what was lost
		criteria += `, {name: nothing-is-lost, metric: LossRatio, max: 0.1%}`
	default:
		criteria += `, {name: not-all-is-lost, metric: LossRatio, max: 60%}`
	}
	return fmt.Sprintf(`apiVersion: linerate.dev/v1alpha1
kind: LoadTest
metadata: {name: mortal}
spec:
  dut: {type: Device}
  links: [{name: west, lineRate: 1gbps}, {name: east, lineRate: 1gbps}]
  traffic: {profile: IMIX}
  criteria: [%s]
  procedure: %s
`, criteria, m.procedure)
}

// faults are what must not be said of a device that died.
func (m mortalRow) faults(r *report.Report, code int, died bool) (faults []string) {
	if !died {
		return []string{"the device did not die before the run was over"}
	}
	if r.Verdict.Outcome == report.Passed || code == 0 {
		faults = append(faults, fmt.Sprintf("the verdict is %s, and the exit code %d", r.Verdict.Outcome, code))
	}
	results := []report.Answer{r.Answer}
	for _, g := range r.Answer.Goals {
		results = append(results, g.Answer)
	}
	for _, one := range results {
		if one.Saturated || one.Confirmed || slices.ContainsFunc(one.Directions, func(d report.Direction) bool { return d.Limit != nil && (d.Limit.Saturated || d.Limit.Confirmed) }) {
			faults = append(faults, fmt.Sprintf("a limit or a confirmation is claimed: %s", one.Message))
		}
		if r.Ending == report.Completed && one.Measured && one.NotHeld == "" && r.Verdict.Outcome != report.DidFail {
			faults = append(faults, fmt.Sprintf("a figure without a condition: %s, %s", one.Reason, one.Message))
		}
	}
	if slices.ContainsFunc(r.Figures, func(f report.Figure) bool { return f.Confirmed }) {
		faults = append(faults, "a figure is confirmed")
	}
	return faults
}

// said is why there is no answer.
func (m mortalRow) said(r *report.Report) string {
	text := r.Answer.NotHeld
	if text == "" {
		text = r.Message + " " + r.Answer.Message
	}
	said, _, _ := strings.Cut(text, ": ")
	if r.Ending != report.Completed {
		return fmt.Sprintf("%s: %s", r.Ending, strings.ReplaceAll(r.Message, "|", "\\|"))
	}
	return fmt.Sprintf("%s: %s", r.Answer.Reason, strings.ReplaceAll(said, "|", "\\|"))
}
