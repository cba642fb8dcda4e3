package apiserver

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/compile"
	"github.com/linerate-dev/linerate/internal/compile/admission"
	"github.com/linerate-dev/linerate/internal/units"
)

// quantity is a kind of text that a person writes into a LoadTest.
type quantity struct {
	name     string
	line     string // of YAML, with the text's place in it
	alphabet string // what typing errors are made of
	right    []string
	read     func(v1alpha1.LoadTestSpec) error
}

// quantities are all kinds of quantity that linerate's rules check. It is never assigned to.
var quantities = []quantity{
	{"duration", "activeDeadline: %s", "0195.hms-+ µund", []string{"1h", "90m", "1h30m", "30.5s", "10000ms", "000100s", "1.000000001h"},
		func(s v1alpha1.LoadTestSpec) error { _, err := s.ActiveDeadline.Std(); return err }},
	{"deadline", "schedulingDeadline: %s", "0195.hms-+ µund", []string{"10s", "2h", "90m", "8760h", "000100s", "1h0m0.000000001s"},
		func(s v1alpha1.LoadTestSpec) error { _, err := s.SchedulingDeadline.Std(); return err }},
	{"span", "ttlAfterFinished: %s", "0195.hms-+ µund", []string{"0s", "24h", "90m", "8760h", "0.5ms"},
		func(s v1alpha1.LoadTestSpec) error { _, err := s.TTLAfterFinished.Std(); return err }},
	{"delay", "dut: {type: Reference, readyDelay: %s}", "0195.hms-+ µund", []string{"0s", "5s", "1h", "59m59.9s"},
		func(s v1alpha1.LoadTestSpec) error { _, err := s.DUT.ReadyDelay.Std(); return err }},
	{"hook", "dut: {type: Reference, setup: {template: {}, deadline: %s}}", "0195.hms-+ µund", []string{"1s", "5m", "24h", "1000ms"},
		func(s v1alpha1.LoadTestSpec) error { _, err := s.DUT.Setup.Deadline.Std(); return err }},
	{"memory", "generator: {engine: Software, memory: %s}", "0195.KMGTi-+eE", []string{"512Mi", "4Gi", "1Ti", "999999999999Ki", "100Ti"},
		func(s v1alpha1.LoadTestSpec) error {
			_, err := resource.ParseQuantity(string(s.Generator.Memory))
			return err
		}},
	{"network name", "links: [{name: a, lineRate: 1gbps, network: %s}, {name: b, lineRate: 1gbps}]", "az-./_A 0", []string{"sriov-west", "lab/sriov-west", "a.b.c", "0/0"},
		func(s v1alpha1.LoadTestSpec) error {
			if strings.Count(string(s.Links[0].Network), "/") > 1 {
				return errors.New("more than a namespace and a name")
			}
			return nil
		}},
	{"image", "generator: {engine: TRex, trex: {image: %s}}", "trex:1. \t", []string{"trex", "registry.lab/trex:3.08", "a@sha256:00"},
		func(s v1alpha1.LoadTestSpec) error {
			if len(strings.Fields(s.Generator.TRex.Image)) != 1 {
				return errors.New("not one word")
			}
			return nil
		}},
	{"trial", "procedure: {type: FrameLoss, frameLoss: {trialDuration: %s}}", "0195.hms-+ µund", []string{"1s", "60s", "1h", "0.5m", "59m59.9s"},
		func(s v1alpha1.LoadTestSpec) error {
			_, err := s.Procedure.FrameLoss.TrialDuration.Std()
			return err
		}},
	{"rate", "procedure: {ramp: {targetRate: %s}}", "0195.kmgpbsl%- e", []string{"1kpps", "14.88mpps", "10mbps", "10mbpsl1", "95%", "0.000001%", "9bps", "500pps"},
		func(s v1alpha1.LoadTestSpec) error {
			_, err := units.ParseRate(string(s.Procedure.Ramp.TargetRate))
			return err
		}},
	{"share", "procedure: {maxLossRatio: %s}", "0195.%-e", []string{"100%", "0%", "0.5%", "50%", "1.000000%"},
		func(s v1alpha1.LoadTestSpec) error {
			_, err := units.ParseShare(string(s.Procedure.MaxLossRatio))
			return err
		}},
	{"decimal", "criteria: [{name: a, metric: PacketsPerSecond, min: %s}]", "0195.-eE_", []string{"0", "95", "0.001", "1488095", "12345678901234.1234"},
		func(s v1alpha1.LoadTestSpec) error {
			_, err := strconv.ParseFloat(string(s.Criteria[0].Min), 64)
			return err
		}},
	{"network", "traffic: {allowedPrefixes: [%s]}", "0195.:/af%", []string{"10.0.0.0/8", "2001:2::/48", "::/0", "192.0.2.1/32", "198.18.0.0/15"},
		func(s v1alpha1.LoadTestSpec) error {
			_, err := netip.ParsePrefix(string(s.Traffic.AllowedPrefixes[0]))
			return err
		}},
	{"address", "links: [{name: a, lineRate: 1gbps, generator: {address: %s}}, {name: b, lineRate: 1gbps}]", "0195.:/af%",
		[]string{"198.18.0.2/24", "2001:2::2/64", "10.1.2.3/8", "::ffff:1.2.3.4/120", "192.0.2.7/31"},
		func(s v1alpha1.LoadTestSpec) error {
			_, err := netip.ParsePrefix(string(s.Links[0].Generator.Address))
			return err
		}},
}

// readOrRefused reads the text, unless the compiler refuses it.
func (q quantity) readOrRefused(spec v1alpha1.LoadTestSpec) error {
	err := q.read(spec)
	if err == nil {
		return nil
	}
	if _, faults := compile.Compile(&v1alpha1.LoadTest{Spec: spec}); len(faults) > 0 {
		return nil
	}
	return err
}

const textsPerQuantity = 100

// What the server takes, admission takes, and the other way round; and whatever was taken, Go can read, or the
// compiler refuses it.
func TestTheServerAndAdmissionAgreeOnEveryText(t *testing.T) {
	admit := newAdmission(t)
	for _, q := range quantities {
		t.Run(q.name, func(t *testing.T) {
			namespace, random := newNamespace(t), rand.New(rand.NewPCG(1, 2))
			taken := map[string]admission.Object{}
			for i := range textsPerQuantity {
				name := strings.ReplaceAll(fmt.Sprintf("%s-%d", q.name, i), " ", "-")
				if object, ok := judgedAlike(t, admit, namespace, q.document(name, q.text(random, i))); ok {
					taken[name] = object
				}
			}
			if len(taken) < textsPerQuantity/10 || len(taken) > textsPerQuantity*9/10 {
				t.Errorf("%d of %d texts were taken: that says little", len(taken), textsPerQuantity)
			}
			t.Logf("%d of %d texts were taken", len(taken), textsPerQuantity)
			listedAsTaken(t, namespace, taken, q.readOrRefused)
		})
	}
}

// text is a right one at first, and then one with up to three typing errors, quoted or not.
func (q quantity) text(random *rand.Rand, i int) string {
	if i < len(q.right) {
		return strconv.Quote(q.right[i])
	}
	text := []rune(q.right[random.IntN(len(q.right))])
	for range random.IntN(4) {
		text = mistyped(random, text, []rune(q.alphabet))
	}
	if random.IntN(4) == 0 {
		return string(text)
	}
	return strconv.Quote(string(text))
}

// mistyped has one letter more, less or another one.
func mistyped(random *rand.Rand, text, alphabet []rune) []rune {
	at, letter := random.IntN(len(text)+1), alphabet[random.IntN(len(alphabet))]
	changed := append([]rune{}, text[:at]...)
	switch random.IntN(3) {
	case 0:
		changed = append(changed, letter)
	case 1:
		return append(append(changed, letter), text[min(at+1, len(text)):]...)
	default:
		return append(changed, text[min(at+1, len(text)):]...)
	}
	return append(changed, text[at:]...)
}

// document is a LoadTest with the text in it. What stands in a link brings the links along, what stands in the device its type.
func (q quantity) document(name, text string) []byte {
	links := "  links: [{name: a, lineRate: 1gbps}, {name: b, lineRate: 1gbps}]\n"
	if strings.HasPrefix(q.line, "links:") {
		links = ""
	}
	device := "  dut: {type: Reference}\n"
	if strings.HasPrefix(q.line, "dut:") {
		device = ""
	}
	return fmt.Appendf(nil, "apiVersion: linerate.dev/v1alpha1\nkind: LoadTest\nmetadata: {name: %s}\nspec:\n%s%s  "+q.line+"\n", name, links, device, text)
}

// judgedAlike asks both; ok says that both take it.
func judgedAlike(t *testing.T, admit *admission.Server, namespace string, document []byte) (object admission.Object, ok bool) {
	t.Helper()
	objects, faults := admit.Load("text.yaml", bytes.NewReader(document))
	_, err := create(t, namespace, document)
	if err != nil && !apierrors.IsInvalid(err) && !apierrors.IsBadRequest(err) {
		t.Fatalf("the server doesn't judge: %v", err)
	}
	if (err == nil) != (faults == nil) {
		t.Errorf("%s\nthe server says %v\nadmission says  %v", document, err, faults)
		return admission.Object{}, false
	}
	if err != nil {
		return admission.Object{}, false
	}
	return objects[0], true
}

// listedAsTaken lists as a controller would, and reads each text.
func listedAsTaken(t *testing.T, namespace string, taken map[string]admission.Object, read func(v1alpha1.LoadTestSpec) error) {
	t.Helper()
	var list v1alpha1.LoadTestList
	if err := typed.List(t.Context(), &list, client.InNamespace(namespace)); err != nil {
		t.Fatal(err)
	}
	if len(list.Items) != len(taken) {
		t.Errorf("%d were taken, %d are listed", len(taken), len(list.Items))
	}
	for _, test := range list.Items {
		if diff := cmp.Diff(taken[test.Name].LoadTest.Spec, test.Spec); diff != "" {
			t.Errorf("spec of %s: admission (-), server (+):\n%s", test.Name, diff)
		}
		if err := read(test.Spec); err != nil {
			t.Errorf("%s is stored, but %v", test.Name, err)
		}
	}
}
