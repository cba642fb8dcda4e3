package admission_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strconv"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/compile"
	"github.com/linerate-dev/linerate/internal/compile/admission"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/test/rigs/tier"
)

// A value that Go can't read must never be storable: it would be refused by the first program that lists the objects.
func TestWhatTheSchemaTakesGoCanRead(t *testing.T) {
	tier.Plain(t)
	server := newServer(t)
	for _, q := range []struct {
		name, alphabet, yaml string
		examples             []string
		read                 func(v1alpha1.LoadTestSpec) error
	}{
		{"durations", "0195.hms-+ µund", "  activeDeadline: %q\n", []string{"1h", "90m", "1h30m", "30.5s", "10000ms",
			"000100s", "1.000000001h"},
			func(s v1alpha1.LoadTestSpec) error { _, err := s.ActiveDeadline.Std(); return err }},
		{"trials' durations", "0195.hms-+ µund", "  procedure: {type: FrameLoss, frameLoss: {trialDuration: %q}}\n",
			[]string{"1s", "60s", "1h", "0.5m", "000100s", "59m59.999999999s"}, func(s v1alpha1.LoadTestSpec) error {
				_, err := s.Procedure.FrameLoss.TrialDuration.Std()
				return err
			}},
		{"rates", "0195.kmgpbsl%- ", "  procedure: {ramp: {targetRate: %q}}\n", []string{"1kpps", "14.88mpps", "10gbps",
			"10gbpsl1", "95%", "0.000001%", "1.5pps", "9bps"}, func(s v1alpha1.LoadTestSpec) error {
			_, err := units.ParseRate(string(s.Procedure.Ramp.TargetRate))
			return err
		}},
		{"shares", "0195.%-", "  procedure: {maxLossRatio: %q}\n", []string{"0%", "0.5%", "50%", "100%", "1.000000%", "0.0000001%"},
			func(s v1alpha1.LoadTestSpec) error {
				_, err := units.ParseShare(string(s.Procedure.MaxLossRatio))
				return err
			}},
		{"decimals", "0195.-eE", "  criteria: [{name: a, metric: PacketsPerSecond, min: %q}]\n",
			[]string{"0", "95", "0.001", "123456789012345.123456789"[:20]}, func(s v1alpha1.LoadTestSpec) error {
				_, err := strconv.ParseFloat(string(s.Criteria[0].Min), 64)
				return err
			}},
		{"networks", "0195.:/af", "  traffic: {allowedPrefixes: [%q]}\n", []string{"10.0.0.0/8", "2001:2::/48", "::/0",
			"192.0.2.1/32"}, func(s v1alpha1.LoadTestSpec) error {
			if _, err := netip.ParsePrefix(string(s.Traffic.AllowedPrefixes[0])); err == nil || refused(s) {
				return nil
			}
			return errors.New("the compiler takes what can't be read")
		}},
	} {
		t.Run(q.name, func(t *testing.T) {
			for _, example := range q.examples {
				if accepted(t, server, fmt.Sprintf(q.yaml, example), q.read) == 0 {
					t.Errorf("%q is not taken", example)
				}
			}
			random, count := rand.New(rand.NewPCG(1, 2)), 0
			for range 200 {
				count += accepted(t, server, fmt.Sprintf(q.yaml, mutate(random, q.examples, q.alphabet)), q.read)
			}
			if count < 4 {
				t.Errorf("only %d of the random values were taken: the test says little", count)
			}
		})
	}
}

// refused says that the compiler refuses a spec.
func refused(spec v1alpha1.LoadTestSpec) bool {
	_, errs := compile.Compile(&v1alpha1.LoadTest{Spec: spec})
	return len(errs) > 0
}

// accepted is 1 if the server takes the text; then Go must be able to read it.
func accepted(t *testing.T, server *admission.Server, text string, read func(v1alpha1.LoadTestSpec) error) int {
	t.Helper()
	objects, err := server.Load("x.yaml", strings.NewReader(minimal+text))
	if err != nil {
		return 0
	}
	if err := read(objects[0].LoadTest.Spec); err != nil {
		t.Errorf("%s is storable, but %v", strings.TrimSpace(text), err)
	}
	return 1
}

// mutate changes a few letters of an example.
func mutate(random *rand.Rand, examples []string, alphabet string) string {
	letters := []rune(alphabet)
	text := []rune(examples[random.IntN(len(examples))])
	for range 1 + random.IntN(3) {
		position := random.IntN(len(text) + 1)
		letter := letters[random.IntN(len(letters))]
		switch {
		case position < len(text) && random.IntN(2) == 0:
			text[position] = letter
		default:
			text = append(text[:position], append([]rune{letter}, text[position:]...)...)
		}
	}
	return string(text)
}
