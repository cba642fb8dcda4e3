//go:build full

package sriov

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lineratev1alpha1 "github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/delivery"
	"github.com/linerate-dev/linerate/test/pages/walkthrough"
	"github.com/linerate-dev/linerate/test/rigs/statustest"
)

// TestTheStepsOfANode types what the page has before Kubernetes, on one machine.
func TestTheStepsOfANode(t *testing.T) {
	p, err := readPage()
	if err != nil {
		t.Fatal(err)
	}
	l := &lab{T: t, names: []string{"gen-1"}}
	l.start()
	for _, step := range p.steps {
		switch {
		case !numbered.MatchString(step.Title) || step.Title >= "4.":
			continue
		case strings.HasPrefix(step.Title, "3."):
			l.nameFunctions()
		}
		for _, a := range step.Actions {
			l.do(a, p.changes)
		}
	}
}

// TestThePage types docs/sriov.md from its first step to its last.
func TestThePage(t *testing.T) {
	p, err := readPage()
	if err != nil {
		t.Fatal(err)
	}
	limit := 40 + rand.Int64N(41) // packets/s
	p.changes[limitOnPage] = fmt.Sprintf("packetsPerSecond: %d", limit)
	if os.Getenv("SRIOV_CNI") == "" {
		from, to := networkChange()
		p.changes[from] = to
	}
	t.Logf("the device plugin is %q and the CNI plugin %q; where a name is empty it is the tests' own, and host-device", os.Getenv("SRIOVDP"), os.Getenv("SRIOV_CNI"))
	l := bringUp(t)
	if err := l.findKubectl(); err != nil {
		t.Fatal(err)
	}
	if *keep { // what machines of the last time left in the cluster
		l.mustOnDesk("kubectl delete node gen-1 dut-1 --ignore-not-found && kubectl delete namespace lab --ignore-not-found")
	}
	var before string
	for _, step := range p.steps {
		if !numbered.MatchString(step.Title) {
			continue
		}
		t.Logf("step %s", step.Title)
		switch number, _, _ := strings.Cut(step.Title, "."); number {
		case "3":
			l.nameFunctions()
		case "4":
			l.join()
			l.preferred()
		case "6":
			l.namespace()
		case "8":
			l.loadGenerator()
			before = l.functions()
		case "9":
			l.hurryNodes()
			l.loadTRex()
		}
		for _, a := range step.Actions {
			l.do(a, p.changes)
			if strings.Contains(a.Command, "wait pod -l linerate.dev/test=known,") {
				l.calmNodes()
			}
		}
	}
	l.answers("known", limit)
	l.complete("capacity", lineratev1alpha1.ReasonMeasured)
	if os.Getenv("TREX") == "" { // what stands for TRex sends the device nothing
		l.complete("first", lineratev1alpha1.ReasonPathNotProven)
		l.noFigure("first")
	}
	l.givenBack(before)
	for _, command := range p.symptoms() {
		l.inside("gen-1", command)
	}
	l.faults(limit, l.functions())
}

// do does what the page says: it types a command where that belongs, or writes a file.
func (l *lab) do(a walkthrough.Action, changes map[string]string) {
	l.Helper()
	a.Command = walkthrough.Change(a.Command, changes)
	for i := range a.Shows {
		a.Shows[i] = walkthrough.Change(a.Shows[i], changes)
	}
	switch file := walkthrough.Change(a.File, changes); {
	case a.Command == "" && a.Path == "": // a part of the kernel's command line, which the machine has
		for _, word := range []string{"intel_iommu=on", "iommu=pt"} {
			if line := l.inside("gen-1", "cat /proc/cmdline"); !strings.Contains(a.File, word) || !strings.Contains(line, word) {
				l.Fatalf("line %d: %s is missing on the page, or on gen-1, whose kernel has %s", a.Line, word, line)
			}
		}
	case strings.HasPrefix(a.Path, "/"):
		l.everywhere(func(name string) { l.inside(name, fmt.Sprintf("cat >>%s <<'END'\n%sEND", a.Path, file)) })
	case a.Path != "":
		if err := os.WriteFile(filepath.Join(l.desk, a.Path), []byte(file), 0o600); err != nil {
			l.Fatal(err)
		}
	case strings.HasPrefix(a.Command, "kubectl "):
		l.typeOnDesk(a)
		if strings.HasPrefix(a.Command, "kubectl apply -f sriovdp-config") {
			l.startPlugins()
		}
	default:
		l.everywhere(func(name string) {
			if output := l.inside(name, a.Command); !a.Matches(output) {
				l.Errorf("line %d: on %s the command %q shows\n%s\nand on the page\n%s", a.Line, name, a.Command, output,
					strings.Join(a.Shows, "\n"))
			}
		})
	}
}

// typeOnDesk types a command again until it shows what the page has, as a person does who waits for a cluster.
func (l *lab) typeOnDesk(a walkthrough.Action) {
	l.Helper()
	l.Logf("$ %s", a.Command)
	deadline := time.Now().Add(patience)
	for {
		output, err := l.onDesk(a.Command)
		if err == nil && a.Matches(output) {
			return
		}
		if time.Now().After(deadline) {
			state, _ := l.onDesk("kubectl get nodes,pods -A -o wide; kubectl -n lab get events --sort-by .lastTimestamp | tail; kubectl -n lab get loadtest -o yaml")
			l.Fatalf("line %d: the command %q shows\n%s%v\nand on the page\n%s\n%s", a.Line, a.Command, output, err,
				strings.Join(a.Shows, "\n"), state)
		}
		time.Sleep(time.Second)
	}
}

func (l *lab) findKubectl() error {
	env, err := l.Cluster.Run(l.Context(), "", "env")
	if err != nil {
		return err
	}
	_, rest, _ := strings.Cut(env, "export PATH='")
	l.path, _, _ = strings.Cut(rest, "'")
	return nil
}

// namespace is what step 6 sends its reader to install.md for; the chart is installed already.
func (l *lab) namespace() {
	l.mustOnDesk("kubectl create namespace lab && kubectl label namespace lab pod-security.kubernetes.io/enforce=privileged")
}

// answers: the test is complete, and each direction was measured as the limit, within 1 %.
func (l *lab) answers(name string, limit int64) {
	l.Helper()
	var test lineratev1alpha1.LoadTest
	if err := l.Client.Get(l.Context(), client.ObjectKey{Namespace: "lab", Name: name}, &test); err != nil {
		l.Fatal(err)
	}
	r := test.Status.Result
	if r == nil || !r.Claim.Confirmed || r.Reason != "MaximumOffered" {
		l.Errorf("want what comes back above the limit of %d packets/s, got %+v", limit, test.Status)
		l.showWindows(&test)
		l.FailNow()
	}
	received := statustest.Received(r)
	if len(received) != 2 {
		l.Errorf("the result has the directions %v, want two", received)
	}
	for i, got := range received {
		off := 100 * float64(got-limit) / float64(limit)
		l.Logf("direction %d: %d packets/s, %+.2f %% off %d", i, got, off, limit)
		if off > 1 || off < -1 {
			l.Errorf("direction %d: %d packets/s, %.2f %% off %d", i, got, off, limit)
		}
	}
}

// showWindows shows what decided a test that ended in another way than it should: its windows, with their reasons.
func (l *lab) showWindows(test *lineratev1alpha1.LoadTest) {
	l.Helper()
	if test.Status.Report == nil {
		return
	}
	var in corev1.ConfigMap
	key := client.ObjectKey{Namespace: test.Namespace, Name: test.Status.Report.ConfigMap}
	if err := l.Client.Get(l.Context(), key, &in); err != nil {
		l.Error(err)
		return
	}
	r, _, err := delivery.DecodeReport(in.BinaryData, in.Annotations)
	if err != nil {
		l.Error(err)
		return
	}
	for _, w := range r.Windows {
		l.Logf("window %d, %s at %s for %s: %s, %s", w.Number, w.Phase, w.Load, w.Duration.Std(), w.Quality, w.Reason)
		for _, d := range w.Directions {
			l.Logf("  %s→%s: sent %v, returned %v, %s", d.From, d.To, d.Sent, d.Returned, d.Reason)
		}
	}
	l.Logf("%+v", r.Notes)
}

// functions lists what each machine has of interfaces and functions: names, MAC addresses, VLANs, spoof checks.
func (l *lab) functions() string {
	var all strings.Builder
	for _, name := range l.names {
		all.WriteString(name + "\n" + l.inside(name, "ip -br link show | grep -o '^ens[^ ]*' | sort; ip link show ens1f0 | grep vf; ip link show ens1f1 | grep vf"))
	}
	if os.Getenv("SRIOV_CNI") == "" { // then nobody sets these MAC addresses, and igb forgets them when vfio-pci resets a function
		return functionOnVFIO.ReplaceAllString(all.String(), "$1")
	}
	return all.String()
}

// functionOnVFIO is the line of a function that the page binds to vfio-pci.
var functionOnVFIO = regexp.MustCompile(`(vf [01] +link/ether) [0-9a-f:]+`)

// givenBack: once the test is deleted, all functions are again as they were before it.
func (l *lab) givenBack(before string) {
	l.Helper()
	l.hurryNodes()
	l.mustOnDesk(fmt.Sprintf("kubectl -n lab delete loadtest --all --wait && timeout %.0f bash -c "+
		`'until [ -z "$(kubectl -n lab get pods -o name)" ]; do sleep 1; done'`, patience.Seconds()))
	deadline := time.Now().Add(time.Minute)
	after := l.functions()
	for ; after != before && time.Now().Before(deadline); after = l.functions() {
		time.Sleep(time.Second)
	}
	if after != before {
		l.Errorf("functions were not given back: before the test\n%s\nand after it\n%s", before, after)
	}
}
